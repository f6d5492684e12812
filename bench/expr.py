"""bench expr: the most used functions over a column in memory, against DuckDB's equivalent, one thread each, in turn."""
import json, math, os, subprocess, sys

import setting

PAGE = os.path.join(setting.ROOT, "bench", "expr.md")
ROWS, SMOKE_ROWS = 1000000, 20000
HEAD = """# Functions: rows a second

Made by `millrace bench expr` on %s: %d rows in memory, one thread, the best of %d rounds in turn; the time is that of the operator
that evaluates the call (DuckDB %s: its profiler's PROJECTION, UNNEST or AGGREGATE). Both have read the texts and lists when the clock begins:
DuckDB's scan has made views of them, `bench_expr` reads them. A load above 1 means that others used the machine too:
rates are then lower than on a quiet one, and only the ratio in a row, taken in turn, tells something. One row in 19 of `i`, `s` and `d` is
null. The results of both agree in rows, values that are not null and a sum over them, except where `*` says that the two mean something else.

"""

# The table: (name, Spark's SQL, DuckDB's); id is 0, 1, ..
N = "CASE WHEN id %% 19 = 0 THEN NULL ELSE %s END"
MIXED = "(id * 7919) % 1000003"
TABLE = [
    ("id", "id", "id"),
    ("i", N % ("CAST(%s AS INT)" % MIXED), None),
    ("l", "(id * 2654435761) % 1000000007 - 500000000", None),
    ("d", N % ("CAST(%s AS DOUBLE) / 8 - 50000" % MIXED), None),
    ("x", "(CAST(%s AS DOUBLE) + 1) / 1000004" % MIXED, None),
    ("c", "CAST(CAST(%s AS DOUBLE) / 4 AS DECIMAL(12,2))" % MIXED, None),
    ("b", "id % 3 = 0", None),
    ("k", "'type_' || CAST(id % 32 AS STRING)", None),
    ("s", N % ("'user_' || CAST(%s AS STRING) || ',Blue Item ' || CAST(id %% 97 AS STRING)" % MIXED), None),
    ("st", "'  user_' || CAST(id % 1000 AS STRING) || ' in a room   '", None),
    ("n", "CAST(%s AS STRING)" % MIXED, None),
    ("f", "CAST(CAST(%s AS DOUBLE) / 8 - 50000 AS STRING)" % MIXED, None),
    ("ts", "timestamp_micros(1700000000000000 + id * 37000123)", "make_timestamp(1700000000000000 + id * 37000123)"),
    ("dt", "CAST(timestamp_micros(1700000000000000 + id * 37000123) AS DATE)", "CAST(make_timestamp(1700000000000000 + id * 37000123) AS DATE)"),
    ("tt", "date_format(timestamp_micros(1700000000000000 + id * 37000123), 'yyyy-MM-dd HH:mm:ss')",
     "strftime(make_timestamp(1700000000000000 + id * 37000123), '%Y-%m-%d %H:%M:%S')"),
    ("js", "concat('{\"a\":', CAST(id AS STRING), ',\"b\":\"type_', CAST(id % 32 AS STRING), '\",\"c\":{\"d\":[1,2,', CAST(id % 10 AS STRING), ']}}')", None),
    ("b64", "base64(CAST('user_' || CAST(%s AS STRING) AS BINARY))" % MIXED, "base64(encode('user_' || CAST(%s AS STRING)))" % MIXED),
    ("ai", "array(CAST(id % 10 AS INT), CAST(id % 7 AS INT), 3, CAST(id % 5 AS INT), CAST(id % 3 AS INT))",
     "list_value(CAST(id % 10 AS INT), CAST(id % 7 AS INT), 3, CAST(id % 5 AS INT), CAST(id % 3 AS INT))"),
    ("words", "array('type_' || CAST(id % 32 AS STRING), 'b', 'cde')", "list_value('type_' || CAST(id % 32 AS STRING), 'b', 'cde')"),
    ("m", "map('type_' || CAST(id % 32 AS STRING), CAST(id % 10 AS INT), 'x', 1)", "MAP {'type_' || CAST(id % 32 AS STRING): CAST(id % 10 AS INT), 'x': 1}"),
]

# (Spark's SQL, DuckDB's: None where it is the same, "" where there is none); a name with * means something else there.
FUNCTIONS = """
concat(s, k)|s || k
concat_ws('-', s, k)
length(s)
lower(s)
upper(s)
trim(st)
ltrim(st)
rtrim(st)
substring(s, 3, 5)
substring_index(s, ',', 1)|split_part(s, ',', 1)
left(s, 5)
right(s, 5)
split(s, ',')|string_split(s, ',')
split_part(s, ',', 2)
regexp_extract(s, 'user_([0-9]+)', 1)
regexp_replace(s, '[0-9]+', '#')|regexp_replace(s, '[0-9]+', '#', 'g')
s RLIKE '[0-9]{4},'|regexp_matches(s, '[0-9]{4},')
s LIKE '%Item%4%'
contains(s, 'Item')
startswith(s, 'user_1')|starts_with(s, 'user_1')
endswith(s, '2')|suffix(s, '2')
locate('Item', s)|instr(s, 'Item')
instr(s, 'Item')
replace(s, 'Item', 'Thing')
lpad(s, 40, '*')
rpad(s, 40, '*')
reverse(s)
base64(CAST(n AS BINARY))|base64(encode(n))
unbase64(b64)|from_base64(b64)
hex(s)
to_timestamp(tt)|CAST(tt AS TIMESTAMP)
to_timestamp(tt, 'yyyy-MM-dd HH:mm:ss')|strptime(tt, '%Y-%m-%d %H:%M:%S')
to_date(tt, 'yyyy-MM-dd HH:mm:ss')|CAST(strptime(tt, '%Y-%m-%d %H:%M:%S') AS DATE)
date_format(ts, 'yyyy-MM-dd HH:mm')|strftime(ts, '%Y-%m-%d %H:%M')
unix_timestamp(ts)|CAST(floor(epoch(ts)) AS BIGINT)
from_unixtime(id)|strftime(make_timestamp(id * 1000000), '%Y-%m-%d %H:%M:%S')
timestamp_seconds(id)|make_timestamp(id * 1000000)
timestamp_millis(id)|epoch_ms(id)
unix_millis(ts)|epoch_ms(ts)
date_trunc('HOUR', ts)
date_trunc('MONTH', ts)*
date_add(dt, 7)|dt + 7
date_sub(dt, 7)|dt - 7
datediff(dt, DATE '2020-01-01')|dt - DATE '2020-01-01'
year(ts)
month(dt)
dayofmonth(dt)
dayofweek(dt)|dayofweek(dt) + 1
hour(ts)
minute(ts)
second(ts)
from_utc_timestamp(ts, 'America/New_York')|ts AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York'
to_utc_timestamp(ts, 'Asia/Tokyo')|ts AT TIME ZONE 'Asia/Tokyo' AT TIME ZONE 'UTC'
window(ts, '5 minutes').start|time_bucket(INTERVAL 5 MINUTE, ts)
from_json(js, 'a BIGINT, b STRING')|json_transform(js, '{"a":"BIGINT","b":"VARCHAR"}')
to_json(named_struct('a', i, 'b', k))*|to_json({'a': i, 'b': k})
get_json_object(js, '$.b')|json_extract_string(js, '$.b')
get_json_object(js, '$.c.d[2]')|json_extract_string(js, '$.c.d[2]')
json_tuple(js, 'a', 'b') AS (v, w)*|json_extract_string(js, ['a', 'b'])
from_csv(s, 'a STRING, b STRING')|
array(id, l, 2)|list_value(id, l, 2)
array_contains(ai, 4)|list_contains(ai, 4)
array_distinct(ai)|list_distinct(ai)
array_join(words, '-')|array_to_string(words, '-')
sort_array(ai)|list_sort(ai)
size(ai)|len(ai)
element_at(ai, 2)|ai[2]
ai[1]|ai[2]
explode(ai)|unnest(ai)
posexplode(ai) AS (p, v)*|unnest(ai)
transform(ai, x -> x + 1)|list_transform(ai, lambda x: x + 1)
filter(ai, x -> x > 2)|list_filter(ai, lambda x: x > 2)
aggregate(ai, 0, (a, x) -> a + x)|list_reduce(ai, lambda a, x: a + x)
map(k, i)|MAP {k: i}
map_keys(m)
map_values(m)
map_from_arrays(array(k, 'x'), array(i, 2))|MAP(list_value(k, 'x'), list_value(i, 2))
struct(i, k)|row(i, k)
named_struct('a', i, 'b', k)|{'a': i, 'b': k}
coalesce(s, k)
if(b, i, 0)|CASE WHEN b THEN i ELSE 0 END
CASE WHEN i < 1000 THEN 1 WHEN i < 500000 THEN 2 ELSE 3 END
nvl(i, 7)|coalesce(i, 7)
nullif(i, 5)
isnull(s)|s IS NULL
isnotnull(s)|s IS NOT NULL
i IN (1, 5, 9, 77777, 12345)
k IN ('type_1', 'type_7', 'nothing')
i BETWEEN 1000 AND 500000
greatest(id, l, 7)
least(id, l, 7)
CAST(i AS STRING)
CAST(d AS STRING)
CAST(n AS INT)
CAST(f AS DOUBLE)
CAST(i AS DOUBLE)
CAST(d AS BIGINT)*
CAST(ts AS STRING)*
CAST(tt AS TIMESTAMP)
CAST(ts AS DATE)
CAST(c AS STRING)
i + 1
l * 3
c + c
d / 3
i > 500000
s = k
abs(l)
ceil(d)
floor(d)
round(d, 1)
sqrt(x)
pow(x, 3)
exp(x)
ln(x)
log(x)|ln(x)
mod(i, 7)|i % 7
pmod(l, 7)|((l % 7) + 7) % 7
hash(s)*
xxhash64(s)*|hash(s)
md5(s)
sha2(s, 256)|sha256(s)
uuid()*|uuid()
"""
AGGREGATES = """
count(s)
sum(i)
sum(l)
sum(d)
sum(c)
avg(d)
min(d)
max(l)
min(s)
max(s)
first(i)|first(i)
last(i)|last(i)
min_by(k, l)
max_by(k, l)
collect_list(i)*|list(i)
collect_set(k)|list(DISTINCT k)
approx_count_distinct(s)*
percentile_approx(d, 0.5)*|approx_quantile(d, 0.5)
stddev(d)
variance(d)|var_samp(d)
count_if(b)
"""

DUCKDB = r"""
import duckdb, json, sys
con = duckdb.connect()
con.execute("SET threads TO 1")
con.execute("SET enable_progress_bar = false")
def table(rows, columns):
    con.execute("CREATE TABLE t AS SELECT %s FROM (SELECT range AS id FROM range(%d))" % (columns, rows))
SUMS = {"VARCHAR": "sum(strlen(v))", "BLOB": "sum(octet_length(v))", "BOOLEAN": "sum(v::INT)", "DATE": "sum(v - DATE '1970-01-01')", "UUID": "sum(36)",
        "TIMESTAMP": "sum(epoch_us(v)::DOUBLE)"}
def total(sql):
    # rows, values, and the sum that bench/expr_loop.c makes
    kind = con.execute("SELECT typeof(%s) FROM t LIMIT 1" % sql).fetchone() if "unnest" not in sql else ["INTEGER"]
    kind = kind[0]
    if kind.endswith("[]"): by = "sum(len(v))"
    elif kind.startswith("MAP"): by = "sum(cardinality(v))"
    elif kind.startswith("STRUCT"): by = "0"
    elif kind.startswith("DECIMAL"): by = "sum(v::DOUBLE) * 10 ** %d" % int(kind.rstrip(")").split(",")[1])
    else: by = SUMS.get(kind, "sum(v::DOUBLE)")
    return con.execute("SELECT count(*), count(v), coalesce(%s, 0)::DOUBLE FROM (SELECT %s AS v FROM t)" % (by, sql)).fetchone()
NAMES = ("PROJECTION", "UNNEST", "HASH_JOIN", "COLUMN_DATA_SCAN", "UNGROUPED_AGGREGATE", "SIMPLE_AGGREGATE", "HASH_GROUP_BY", "PERFECT_HASH_GROUP_BY")
def seconds(node, scalar):
    # of the lowest operators above the scan; any_value() on top is only there to use what the projection gives
    own = 0 if node.get("operator_name", "").strip() not in NAMES else node["operator_timing"]
    if scalar and "AGGREGATE" in node.get("operator_name", ""): own = 0
    return own + sum(seconds(c, scalar) for c in node.get("children", []))
def run(sql, scalar):
    query = "SELECT any_value(v) FROM (SELECT %s AS v FROM t)" % sql if scalar else "SELECT %s FROM t" % sql
    told = con.execute("EXPLAIN (ANALYZE, FORMAT json) " + query).fetchall()[0][1]
    return seconds(json.loads(told), scalar)
print(duckdb.__version__, flush=True)
for line in sys.stdin:
    what, *rest = json.loads(line)
    try: print(json.dumps({"table": table, "total": total, "run": run}[what](*rest)), flush=True)
    except Exception as e: print(json.dumps({"error": str(e).splitlines()[0]}), flush=True)
"""


class Program:
    """One that answers each line with a line."""
    def __init__(self, command):
        self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        print(line, file=self.p.stdin, flush=True)
        return self.answer()

    def answer(self):
        line = self.p.stdout.readline()
        if not line: raise setting.Failed("%s ended" % self.p.args[0])
        return line.rstrip("\n")

    def close(self):
        self.p.stdin.close()
        self.p.wait()


class Ours(Program):
    def __init__(self, path, rows):
        super().__init__([path])
        self.get("table\t%d\tSELECT %s FROM ids" % (rows, ", ".join("%s AS %s" % (spark, name) for name, spark, _ in TABLE)))

    def get(self, line):
        told = self.ask(line)
        if told.startswith("!"): raise setting.Failed("%s: %s" % (line.split("\t")[-1], told[2:]))
        seconds, rows, values, total = told.split()
        return float(seconds), (int(rows), int(values), float(total))

    def run(self, sql): return self.get("run\t" + sql)


class DuckDB(Program):
    def __init__(self, rows):
        super().__init__([setting.PEERS, "-c", DUCKDB])
        self.version = self.answer()
        told = self.get("table", rows, ", ".join("%s AS %s" % (duckdb or spark, name) for name, spark, duckdb in TABLE))
        if isinstance(told, dict): raise setting.Failed("DuckDB: " + told["error"])

    def get(self, *command): return json.loads(self.ask(json.dumps(command)))


def entries(text, scalar):
    """(Spark's SQL, DuckDB's or None, do they mean the same, is it a scalar function)."""
    for line in text.strip().splitlines():
        ours, bar, theirs = line.partition("|")
        same = not ours.endswith("*")
        ours = ours.rstrip("*")
        yield ours, (theirs if bar else ours) or None, same, scalar


def agree(ours, theirs):
    return ours[:2] == tuple(theirs[:2]) and math.isclose(ours[2], theirs[2], rel_tol=1e-9, abs_tol=1e-6)


def measure(args, ours, peer, entry):
    """(our seconds, theirs or None, what is wrong or None)."""
    sql, other, same, scalar = entry
    times, peers, result = [], [], None
    for _ in range(args.rounds):
        seconds, result = ours.run(sql)
        times.append(seconds)
        if peer is None or other is None: continue
        told = peer.get("run", other, scalar)
        if isinstance(told, dict): return min(times), None, "DuckDB: " + told["error"]
        peers.append(told)
    wrong = None
    if peers and same:
        told = peer.get("total", other)
        if isinstance(told, dict): wrong = "DuckDB: " + told["error"]
        elif not agree(result, told): wrong = "results differ: %s, DuckDB %s" % (result, told)
    return min(times), min(peers) if peers else None, wrong


def row_of(entry, rows, ours, theirs):
    name = "`%s`%s" % (entry[0].replace("|", "\\|"), "" if entry[2] else "*")
    if not theirs: return "| %s | %.1f | | |" % (name, rows / ours / 1e6)
    return "| %s | %.1f | %.1f | %.2f |" % (name, rows / ours / 1e6, rows / theirs / 1e6, theirs / ours)


def bench(args):
    path = setting.program(args, "bench_expr")
    if not path: raise setting.Failed("bench_expr is not built: tools/build release benches")
    rows = args.events or (SMOKE_ROWS if args.smoke else ROWS)
    ours, peer = Ours(path, rows), DuckDB(rows) if setting.has_peers(args) else None
    lines, slower, good, compared = [], [], True, 0
    try:
        for entry in list(entries(FUNCTIONS, True)) + list(entries(AGGREGATES, False)):
            mine, theirs, wrong = measure(args, ours, peer, entry)
            if wrong: print("  %s: %s" % (entry[0], wrong), file=sys.stderr)
            good = good and (not wrong or wrong.startswith("DuckDB"))
            lines.append(row_of(entry, rows, mine, theirs))
            compared += theirs is not None
            if theirs and theirs < mine: slower.append((theirs / mine, entry[0]))
    finally:
        ours.close()
        if peer: peer.close()
    told = "| call | millrace, M rows/s | DuckDB, M rows/s | millrace is |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"
    told += "\n%d calls, %d compared, %d slower than DuckDB%s.\n" % (len(lines), compared, len(slower), ": " + ", ".join("`%s` %.2f" % (name.replace("|", "\\|"), ratio) for ratio, name in sorted(slower)) if slower else "")
    print("\nexpr: %d rows in memory, one thread, %d rounds\n%s" % (rows, args.rounds, told), end="")
    if peer and not args.smoke:
        with open(PAGE, "w") as f: f.write(HEAD % (setting.machine(), rows, args.rounds, peer.version) + told)
        print("written to %s" % os.path.relpath(PAGE), file=sys.stderr)
    return good
