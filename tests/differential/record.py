#!/usr/bin/env python3
"""Records what Spark gives for generated expressions: recorded.jsonl.xz.

usage: PYTHON record.py [--seed N] [--count N] [--out FILE] [EXPRESSION..]     PYTHON: one with pyspark 4.2 (tools/setup-peers makes it)

Each expression is analyzed and optimized by Spark over a table that it can't fold, then evaluated row by row by its own
interpreter, so that the error of a row is that row's alone. EXPRESSIONs given by hand are shown over the tables, not written.
"""
import argparse, json, lzma, os, sys, time

import generate

HERE = os.path.dirname(os.path.abspath(__file__))


# Compiled by the compiler that Spark has for its own code: a call from Python for each row would be slow.
JAVA = """
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BindReferences;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.SparkSession;

public class Evaluator {
    private final SparkSession spark;
    private final java.util.ArrayList rows = new java.util.ArrayList();

    public Evaluator(SparkSession spark) { this.spark = spark; }

    private static String condition(Throwable e) {
        String name = e instanceof SparkThrowable ? ((SparkThrowable) e).getCondition() : null;
        return "!" + (name != null ? name : e.getClass().getSimpleName());
    }

    private LogicalPlan plan(String sql) { return this.spark.sql(sql).queryExecution().optimizedPlan(); }

    public void addRow(String select) {
        this.rows.add(((Expression) this.plan(select).expressions().apply(0)).eval(null));
    }

    /* The row that a chain of projections gives: bound anew for each, as an error may leave a builder half filled. */
    private InternalRow project(LogicalPlan plan, InternalRow row) {
        if (!(plan instanceof Project)) return row;
        InternalRow in = this.project(((Project) plan).child(), row);
        Object[] values = new Object[plan.expressions().size()];
        for (int i = 0; i < values.length; i++)
            values[i] = BindReferences.bindReference((Expression) plan.expressions().apply(i), plan.allAttributes(), false).eval(in);
        return new GenericInternalRow(values);
    }

    /* A line for each of n rows, or one for an error of the analysis. */
    public String evaluate(String sql, boolean ansi, String zone, int from, int n) {
        StringBuilder out = new StringBuilder();
        LogicalPlan plan;
        this.spark.conf().set("spark.sql.ansi.enabled", ansi ? "true" : "false");
        this.spark.conf().set("spark.sql.session.timeZone", zone);
        try { plan = this.plan(sql); }
        catch (Throwable e) { return condition(e); }
        for (int i = from; i < from + n; i++) {
            if (i > from) out.append("\\n");
            try { out.append(this.project(plan, (InternalRow) this.rows.get(i)).getUTF8String(0).toString()); }
            catch (Throwable e) { out.append(condition(e)); }
        }
        return out.toString();
    }
}
"""


class Spark:
    def __init__(self, tables):
        from pyspark.sql import SparkSession
        b = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
        self.spark = b.config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC").getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")
        compiler = self.spark._jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(self.spark._jvm.java.lang.Thread.currentThread().getContextClassLoader())
        compiler.cook(JAVA)
        self.evaluator = compiler.getClassLoader().loadClass("Evaluator").getConstructors()[0].newInstance(self.arguments(self.spark._jsparkSession))
        for row in (row for table in tables for row in table):
            columns = ", ".join("%s AS %s" % c for c in zip(generate.constants(row), generate.COLUMNS.values()))
            self.evaluator.addRow("SELECT struct(%s)" % columns)
        made = self.spark.sql("SELECT " + columns)._jdf
        view = self.spark._jsparkSession.internalCreateDataFrame(made.queryExecution().toRdd(), made.schema().asNullable(), False)
        view.createOrReplaceTempView("t")  # only its columns count

    def arguments(self, *values):
        out = self.spark.sparkContext._gateway.new_array(self.spark._jvm.java.lang.Object, len(values))
        for i, v in enumerate(values): out[i] = v
        return out

    def evaluate(self, x):
        """A list of texts and !CONDITIONs, one a row; or one !CONDITION of the analysis."""
        lines = self.evaluator.evaluate("SELECT %s AS v FROM t" % generate.wrapped(x["sql"]), x["ansi"], x["zone"],
                                        x["table"] * generate.ROWS, generate.ROWS).split("\n")
        return lines if len(lines) > 1 else lines[0]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=3500)
    p.add_argument("--out", default=os.path.join(HERE, "recorded.jsonl.xz"))
    p.add_argument("expressions", nargs="*")
    args = p.parse_args()
    tables, expressions = generate.generate(args.seed, args.count)
    spark = Spark(tables)
    if args.expressions:
        for sql in args.expressions:
            for ansi in (True, False): print(sql, ansi, spark.evaluate({"sql": sql, "ansi": ansi, "zone": "UTC", "table": 0}))
        return
    start, recorded = time.time(), []
    for i, x in enumerate(expressions):
        x["out"] = spark.evaluate(x)
        recorded.append(x)
        if i % 200 == 199: print("%d expressions, %.0f s" % (i + 1, time.time() - start), file=sys.stderr, flush=True)
    with lzma.open(args.out, "wt", preset=9 | lzma.PRESET_EXTREME) as f:
        f.write(json.dumps({"spark": spark.spark.version, "seed": args.seed, "tables": tables}, ensure_ascii=False) + "\n")
        for x in recorded: f.write(json.dumps(x, ensure_ascii=False) + "\n")
    print("%d expressions, %d rows, %d bytes" % (len(recorded), sum(len(x["out"]) for x in recorded if isinstance(x["out"], list)), os.path.getsize(args.out)))


if __name__ == "__main__":
    main()
