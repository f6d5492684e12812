"""bench events, dedup, keys: NDJSON files -> windows, on millrace and on its peers, interleaved."""
import glob, json, mmap, os, re, shutil, statistics, subprocess, sys, tempfile, time

import setting

SPARK_EVENTS = 4000000  # compared by rate
GOALS = {"events": {"simdjson loop": 0.8, "duckdb": 3, "spark": 30}, "dedup": {"duckdb": 3}, "keys": {"duckdb": 3}}
STATE_BYTES = 100  # of keys, per group
FILES_PER_EPOCH = 4  # of dedup: 2 M events
WINDOWS = "SELECT window.start AS s, %s AS k, count(*) AS n, sum(amount) AS a FROM %s GROUP BY window(event_ts, '%s'), %s"


def spec_of(args, name, events):
    """What a bench reads and asks for; scaling changes some of it."""
    key = "user_id" if name == "keys" else "event_type"
    return {"folder": setting.generate(args, events, max(1, events // 20) if name == "keys" else 100000), "key": key,
            "dedup": name == "dedup", "window": "5 minutes"}


def sql_of(spec): return WINDOWS % (spec["key"], "unique" if spec["dedup"] else "events", spec["window"].replace(", ", "', '"), spec["key"])


def job(spec, tmp):
    steps = []
    if spec["dedup"]:
        steps = [{"as": "timed", "watermark": {"input": "events", "column": "event_ts", "delay": "10 minutes"}},
                 {"as": "unique", "dedup": {"input": "timed", "keys": ["event_id", "event_ts"]}}]
    steps.append({"as": "result", "sql": sql_of(spec)})
    options = {"maxFilesPerTrigger": FILES_PER_EPOCH} if spec["dedup"] else {}
    return {"name": "bench", "sources": {"events": {"format": "json", "path": spec["folder"], "schema": setting.SCHEMA, "options": options}},
            "steps": steps, "sink": {"format": "noop", "output_mode": "update" if spec["dedup"] else "complete"},
            "checkpoint": os.path.join(tmp, "checkpoint"), "trigger": {"available_now": True}}


ROW = re.compile(rb'"s":"([^"]*)","k":"([^"]*)","n":(\d+),"a":([\d.E]+)')


def summary_of(path, update):
    """(groups, events, amount) of a record: rows replace those of earlier epochs. Without reading it all into memory."""
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as text:
        if update:
            last = {m.group(1, 2): (int(m.group(3)), float(m.group(4))) for m in ROW.finditer(text)}
            return len(last), sum(n for n, _ in last.values()), round(sum(a for _, a in last.values()), 2)
        groups, events, amount = 0, 0, 0.0
        for m in ROW.finditer(text, text.rfind(b'"rows"')):
            groups, events, amount = groups + 1, events + int(m.group(3)), amount + float(m.group(4))
        return groups, events, round(amount, 2)


def run_millrace(args, spec, workers=None, record=False):
    """(seconds, summary, bytes of state per group). Rows are recorded in a run of their own: timed ones use the noop sink."""
    tmp = tempfile.mkdtemp(prefix="mr-bench-")
    try:
        path, out, engine = (os.path.join(tmp, n) for n in ("job.yaml", "out.json", "engine.yaml"))
        with open(path, "w") as f: json.dump(job(spec, tmp), f)
        with open(engine, "w") as f: json.dump({"workers": workers or args.workers}, f)
        command = [args.millrace, "run", "--progress", "json", "--config", engine] + (["--record", out] if record else []) + [path]
        start = time.perf_counter()
        p = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        seconds = time.perf_counter() - start
        if p.returncode: raise setting.Failed("millrace run: " + p.stderr.strip().splitlines()[-1])
        told = [json.loads(line) for line in p.stderr.splitlines() if line.startswith("{")]
        state = [e["stateOperators"][0] for e in told if e.get("stateOperators")][-1]
        return seconds, summary_of(out, spec["dedup"]) if record else None, state["memoryUsedBytes"] / max(1, state["numRowsTotal"])
    finally: shutil.rmtree(tmp, ignore_errors=True)


DUCKDB = """
import duckdb, sys, time
con = duckdb.connect()
con.execute("SET threads TO %d" % int(sys.argv[1]))
con.execute("SET enable_progress_bar = false")
start = time.perf_counter()
rows = con.execute(sys.argv[2]).fetchall()
print(time.perf_counter() - start, rows[0][0], rows[0][1], round(rows[0][2], 2))
"""


def run_duckdb(args, spec):
    columns = "{event_id: 'VARCHAR', user_id: 'VARCHAR', event_type: 'VARCHAR', amount: 'DOUBLE', event_ts: 'TIMESTAMP'}"
    table = "read_json('%s/*.json', format='newline_delimited', columns=%s)" % (spec["folder"], columns)
    if spec["dedup"]: table = "(SELECT DISTINCT ON (event_id, event_ts) event_type, amount, event_ts FROM %s)" % table
    query = ("SELECT count(*), sum(n), sum(a) FROM (SELECT time_bucket(INTERVAL 5 MINUTES, event_ts) AS s, %s AS k, count(*) AS n,"
             " sum(amount) AS a FROM %s GROUP BY 1, 2)") % (spec["key"], table)
    p = subprocess.run([setting.PEERS, "-c", DUCKDB, str(args.workers), query], capture_output=True, text=True)
    if p.returncode: raise setting.Failed("DuckDB: " + p.stderr.strip().splitlines()[-1])
    seconds, groups, events, amount = p.stdout.strip().splitlines()[-1].split()
    return float(seconds), (int(groups), int(events), float(amount))


def run_loop(args, spec):
    loop = setting.program(args, "bench_plain_loop")
    p = subprocess.run([loop, str(args.workers)] + sorted(glob.glob(spec["folder"] + "/*.json")), check=True, capture_output=True, text=True)
    events, seconds, amount = p.stdout.split()
    return float(seconds), (None, int(events), round(float(amount), 2))


class Spark:
    """A warm session for the whole bench; it rests while others run."""
    def __init__(self, args, spec):
        script = os.path.join(setting.ROOT, "bench", "spark_peer.py")
        self.log = tempfile.TemporaryFile("w+")
        self.p = subprocess.Popen([setting.PEERS, script, spec["folder"], str(args.workers), setting.SCHEMA, sql_of(spec)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        groups, events, amount = self.answer().split()
        self.summary = int(groups), int(events), float(amount)

    def answer(self):
        line = self.p.stdout.readline()
        if line: return line
        self.log.seek(0)
        raise setting.Failed("Spark: " + (self.log.read().strip().splitlines() or ["no answer"])[-1])

    def run(self):
        print(file=self.p.stdin, flush=True)
        return float(self.answer()), self.summary

    def close(self):
        self.p.stdin.close()
        self.p.wait()


def agree(checks, wanted): return all(c[1:] == wanted[1:] and c[0] in (None, wanted[0]) for c in checks)


def measure(args, name, spec, spark):
    engines = {"millrace": lambda: run_millrace(args, spec)}
    if name == "events" and setting.program(args, "bench_plain_loop"): engines["simdjson loop"] = lambda: run_loop(args, spec)
    if setting.has_peers(args): engines["duckdb"] = lambda: run_duckdb(args, spec)
    if spark: engines["spark"] = spark.run
    times, checks, state = {e: [] for e in engines}, {"millrace": run_millrace(args, spec, record=True)[1]}, 0
    for _ in range(args.rounds):
        for e, run in engines.items():
            seconds, summary, *more = run()
            times[e].append(seconds)
            if summary: checks[e] = summary
            if more: state = more[0]
    return times, checks, state


def bench(args, name):
    events = args.events or (200000 if args.smoke else 20000000)
    spec, spark, small = spec_of(args, name, events), None, None
    if name == "events" and setting.has_peers(args):
        small = spec if events <= SPARK_EVENTS else spec_of(args, name, SPARK_EVENTS)
        spark = Spark(args, small)
    try: times, checks, state = measure(args, name, spec, spark)
    finally:
        if spark: spark.close()
    wanted = checks["millrace"]
    ours = statistics.median(times["millrace"]) / wanted[1]
    print("\n%s: %d events, %d groups, %d workers, %d rounds; seconds min, median, max" % (name, wanted[1], wanted[0], args.workers, args.rounds))
    for e, t in times.items():
        setting.show(args, e, checks[e][1], t, ours, GOALS[name].get(e), "checksum %d events, amount %.2f" % checks[e][1:])
    if name == "keys": print("  state: %.0f bytes per group, %s" % (state, setting.verdict(args, state, STATE_BYTES, at_most=True)))
    good = agree([c for e, c in checks.items() if e != "spark"], wanted)
    if spark: good = agree([checks["spark"]], run_millrace(args, small, record=True)[1]) and good
    return good
