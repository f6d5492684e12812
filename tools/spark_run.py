"""The job file on Apache Spark: see tools/spark-run, which calls this inside its virtual environment."""
import argparse, datetime, glob, json, os, re, sys

import yaml


class UserError(Exception):
    pass


def substitute(value):
    """${env:NAME} and ${file:path}, as millrace reads them."""
    def one(m):
        kind, name = m.group(1), m.group(2)
        if kind == "env":
            if name not in os.environ: raise UserError("${env:%s}: the variable is not set" % name)
            return os.environ[name]
        with open(name) as f: return f.read().rstrip("\n")
    if isinstance(value, str): return re.sub(r"\$\{(env|file):([^}]*)\}", one, value)
    if isinstance(value, dict): return {k: substitute(v) for k, v in value.items()}
    if isinstance(value, list): return [substitute(v) for v in value]
    return value


def text(value):
    """An option's value as Spark wants it."""
    if isinstance(value, bool): return "true" if value else "false"
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def session(args, query):
    from pyspark.sql import SparkSession
    b = SparkSession.builder.appName(query.get("name", "millrace job"))
    if args.remote: b = b.remote(args.remote)
    else:
        jars = ",".join(sorted(glob.glob(os.path.join(args.jars, "*.jar"))))
        b = b.master(args.master).config("spark.jars", jars).config("spark.ui.enabled", "false")
        if args.master.startswith("local"): b = b.config("spark.sql.shuffle.partitions", str(os.cpu_count()))
    spark = b.getOrCreate()
    if not args.remote: spark.sparkContext.setLogLevel("ERROR")
    for k, v in (query.get("conf") or {}).items(): spark.conf.set(k, text(v))
    return spark


def source(spark, s):
    """A streaming source as a view's frame. Options that only millrace has are left out."""
    r = spark.readStream.format(s["format"])
    for k, v in (s.get("options") or {}).items(): r = r.option(k, text(v))
    if s.get("schema"): r = r.schema(s["schema"])
    return r.load(s["path"]) if s.get("path") else r.load()


def table(spark, t):
    if "rows" not in t:
        r = spark.read.format(t["format"])
        for k, v in (t.get("options") or {}).items(): r = r.option(k, text(v))
        return r.schema(t["schema"]).load(t["path"])
    from pyspark.sql.types import StructType, StructField, StringType
    target = spark.createDataFrame([], t["schema"]).schema
    raw = StructType([StructField("c%d" % i, StringType()) for i in range(len(target.fields))])
    rows = [tuple(None if v is None else text(v) for v in row) for row in t["rows"]]
    casts = ["CAST(c%d AS %s) AS `%s`" % (i, f.dataType.simpleString(), f.name) for i, f in enumerate(target.fields)]
    return spark.createDataFrame(rows, raw).selectExpr(*casts)


def step(spark, s):
    if "sql" in s: return spark.sql(s["sql"])
    if "watermark" in s:
        w = s["watermark"]
        return spark.table(w["input"]).withWatermark(w["column"], str(w["delay"]))
    d = s["dedup"]
    frame = spark.table(d["input"])
    return frame.dropDuplicatesWithinWatermark(d.get("keys")) if d.get("within_watermark") else frame.dropDuplicates(d.get("keys"))


def trigger(writer, t):
    if not t: return writer
    if t.get("available_now"): return writer.trigger(availableNow=True)
    if t.get("once"): return writer.trigger(once=True)
    return writer.trigger(processingTime=str(t["processing_time"]))


def build(spark, query):
    frame = None
    for name, s in query["sources"].items():
        f = source(spark, s)
        f.createOrReplaceTempView(name)
        frame = frame if frame is not None else f
    for name, t in (query.get("tables") or {}).items(): table(spark, t).createOrReplaceTempView(name)
    for s in query.get("steps") or []:
        frame = step(spark, s)
        frame.createOrReplaceTempView(s["as"])
    return frame


def recorder(batches):
    from pyspark.sql import functions as F

    def record(frame, batch_id):
        options = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
        packed = frame.select(F.to_json(F.struct(*[F.col("`%s`" % c) for c in frame.columns]), options).alias("j"))
        batches[batch_id] = [json.loads(r.j) for r in packed.collect()]
    return record


def start(frame, query, args, batches):
    sink = query["sink"]
    w = frame.writeStream.queryName(query.get("name")).outputMode(sink.get("output_mode", "append"))
    checkpoint = args.checkpoint or (query.get("checkpoint") and query["checkpoint"] + ".spark")
    if checkpoint: w = w.option("checkpointLocation", checkpoint)
    w = trigger(w, query.get("trigger"))
    if args.record: return w.foreachBatch(recorder(batches)).start()
    for k, v in (sink.get("options") or {}).items(): w = w.option(k, text(v))
    if sink.get("partition_by"): w = w.partitionBy(*sink["partition_by"])
    w = w.format(sink["format"])
    return w.start(sink["path"]) if sink.get("path") else w.start()


def run(args):
    with open(args.job) as f: job = substitute(yaml.safe_load(f))
    queries = job.get("queries") or [job]
    if args.record and len(queries) != 1: raise UserError("--record takes a job of one query, this has %d" % len(queries))
    spark, batches = session(args, queries[0]), {}
    running = [start(build(spark, q), q, args, batches) for q in queries]
    began = datetime.datetime.now()
    for q in running: q.awaitTermination()
    seconds = (datetime.datetime.now() - began).total_seconds()
    rows = sum(p.numInputRows for q in running for p in q.recentProgress)
    print("spark-run: %d rows in %.2f s" % (rows, seconds), file=sys.stderr)
    if args.record:
        with open(args.record, "w") as f:
            json.dump({"batches": [{"batch": i, "rows": batches[i]} for i in sorted(batches)]}, f, indent=1)
    spark.stop()


def main():
    p = argparse.ArgumentParser(prog="tools/spark-run", description="Run a job file on Apache Spark.")
    p.add_argument("job", metavar="JOB.yaml")
    where = p.add_mutually_exclusive_group()
    where.add_argument("--master", default="local[*]", help="spark://HOST:7077, yarn, ..; default local[*]")
    where.add_argument("--remote", help="a Spark Connect server: sc://HOST")
    p.add_argument("--record", metavar="FILE", help="write what each micro-batch gave instead of using the sink")
    p.add_argument("--checkpoint", metavar="DIR", help="instead of the job's own (default: that with .spark added)")
    p.add_argument("--jars", help=argparse.SUPPRESS)
    args = p.parse_args()
    try: run(args)
    except (UserError, OSError, KeyError, yaml.YAMLError) as e:
        print("spark-run: error: %s: %s" % (args.job, e), file=sys.stderr)
        return 2
    except Exception as e:
        print("spark-run: error: %s" % str(e).strip().split("\n")[0], file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__": sys.exit(main())
