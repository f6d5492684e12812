#!/usr/bin/env python3
"""Measures millrace against its yardstick and its peers on the same input and cores, interleaved in one run.

usage: millrace bench NAME [--smoke] [--events N] [--rounds N] [--workers N] [--no-peers]

names
  events   NDJSON files -> 5-minute windows by event type (12 types); yardstick: a plain simdjson loop; peer: DuckDB
  dedup    the same, duplicates by event_id dropped first; peer: DuckDB
  keys     NDJSON files -> 5-minute windows by user; peer: DuckDB
  kafka    a topic -> from_json -> 5-minute windows; yardstick: librdkafka's own consumer loop (starts a broker of its own)
  latency  100 k events/s from the rate source, windowed counts in update mode: from the event to the durable commit
  start    a whole `millrace run` of a tiny job, cold
  all      each of them

Every engine's result is summed up (groups, events, amount): a table with different checksums ends with exit code 1.
--smoke is small and quick, for tests. Real sizes want a quiet machine; figures are ratios of medians in one run.
"""
import argparse, glob, json, os, shutil, signal, statistics, subprocess, sys, tempfile, threading, time

import kafka

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "millrace")
SCHEMA = "event_id STRING, user_id STRING, event_type STRING, amount DOUBLE, event_ts TIMESTAMP"


def generate(args, events, users, duplicates):
    """A folder of NDJSON files, made once per size."""
    folder = os.path.join(CACHE, "bench", "events-%d-%d-%g" % (events, users, duplicates))
    if not os.path.isdir(folder):
        print("generating %d events in %s" % (events, folder), file=sys.stderr)
        made = folder + ".new"
        shutil.rmtree(made, ignore_errors=True)
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        subprocess.run([args.millrace, "gen", str(events), "--out", made, "--files", str(max(2, events // 1000000 * 2)),
                        "--users", str(users), "--duplicates", str(duplicates), "--span", "3600"], check=True)
        os.rename(made, folder)
    return folder


def job(folder, tmp, sql, dedup, files_per_epoch):
    steps = []
    if dedup: steps.append({"as": "timed", "watermark": {"input": "events", "column": "event_ts", "delay": "10 minutes"}})
    if dedup: steps.append({"as": "unique", "dedup": {"input": "timed", "keys": ["event_id", "event_ts"]}})
    steps.append({"as": "result", "sql": sql % ("unique" if dedup else "events")})
    options = {"maxFilesPerTrigger": files_per_epoch} if files_per_epoch else {}
    return {"name": "bench", "sources": {"events": {"format": "json", "path": folder, "schema": SCHEMA, "options": options}},
            "steps": steps, "sink": {"format": "noop", "output_mode": "update" if dedup else "complete"},
            "checkpoint": os.path.join(tmp, "checkpoint"), "trigger": {"available_now": True}}


def run_millrace(args, spec, record):
    """(seconds, summary). The rows are recorded in a run of their own: the timed ones use the noop sink."""
    tmp = tempfile.mkdtemp(prefix="mr-bench-")
    try:
        path, out = os.path.join(tmp, "job.yaml"), os.path.join(tmp, "out.json")
        with open(path, "w") as f: json.dump(job(spec["folder"], tmp, spec["sql"], spec["dedup"], spec["files"]), f)
        engine = os.path.join(tmp, "engine.yaml")
        with open(engine, "w") as f: json.dump({"workers": args.workers}, f)
        command = [args.millrace, "run", "--progress", "none", "--config", engine] + (["--record", out] if record else []) + [path]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
        if not record: return seconds, None
        with open(out) as f: batches = json.load(f)["batches"]
        last = {}
        for b in batches:
            for r in b["rows"]: last[(r["s"], r["k"])] = r
        return seconds, (len(last), sum(r["n"] for r in last.values()), round(sum(r["a"] for r in last.values()), 2))
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
    python = os.path.join(CACHE, "peers", "venv", "bin", "python")
    p = subprocess.run([python, "-c", DUCKDB, str(args.workers), query], check=True, capture_output=True, text=True)
    seconds, groups, events, amount = p.stdout.strip().splitlines()[-1].split()
    return float(seconds), (int(groups), int(events), float(amount))


def run_loop(args, spec):
    loop = os.path.join(os.path.dirname(args.millrace), "bench_plain_loop")
    p = subprocess.run([loop, str(args.workers)] + sorted(glob.glob(spec["folder"] + "/*.json")), check=True, capture_output=True, text=True)
    events, seconds, amount = p.stdout.split()
    return float(seconds), (None, int(events), round(float(amount), 2))


def spec_of(args, name):
    events = args.events or (200000 if args.smoke else 20000000)
    sql = "SELECT window.start AS s, %s AS k, count(*) AS n, sum(amount) AS a FROM %%s GROUP BY window(event_ts, '5 minutes'), %s"
    if name == "keys":
        return {"folder": generate(args, events, events // 20, 0), "sql": sql % ("user_id", "user_id"), "key": "user_id", "dedup": False, "files": 0}
    dedup = name == "dedup"
    return {"folder": generate(args, events, 100000, 0), "sql": sql % ("event_type", "event_type"), "key": "event_type",
            "dedup": dedup, "files": 2 if dedup else 0}


def bench_engines(args, name):
    spec = spec_of(args, name)
    engines = {"millrace": lambda: run_millrace(args, spec, False)}
    checks = {"millrace": run_millrace(args, spec, True)[1]}
    if name == "events" and os.path.exists(os.path.join(os.path.dirname(args.millrace), "bench_plain_loop")):
        engines["simdjson loop"] = lambda: run_loop(args, spec)
    if not args.no_peers and os.path.exists(os.path.join(CACHE, "peers", "venv")):
        engines["duckdb"] = lambda: run_duckdb(args, spec)
    times = {e: [] for e in engines}
    for _ in range(args.rounds):
        for e, run in engines.items():
            seconds, summary = run()
            times[e].append(seconds)
            if summary: checks[e] = summary
    events = checks["millrace"][1]
    ours = statistics.median(times["millrace"])
    print("\n%s: %d events, %d workers, %d rounds; seconds min/median/max" % (name, events, args.workers, args.rounds))
    for e, t in times.items():
        m = statistics.median(t)
        print("  %-14s %7.3f %7.3f %7.3f   %6.2f M events/s   millrace is %.2fx   checksum %s" % (e, min(t), m, max(t), events / m / 1e6, m / ours, checks[e]))
    wanted = checks["millrace"]
    return all(c[1:] == wanted[1:] and c[0] in (None, wanted[0]) for c in checks.values())


def bench_start(args):
    tmp = tempfile.mkdtemp(prefix="mr-bench-")
    try:
        os.makedirs(os.path.join(tmp, "in"))
        with open(os.path.join(tmp, "in", "one.json"), "w") as f: f.write('{"id": 1}\n')
        path = os.path.join(tmp, "job.yaml")
        times = []
        for i in range(max(args.rounds, 5)):
            with open(path, "w") as f:
                json.dump({"name": "start", "sources": {"t": {"format": "json", "path": os.path.join(tmp, "in"), "schema": "id INT"}},
                           "sink": {"format": "noop", "output_mode": "append"}, "checkpoint": os.path.join(tmp, "c%d" % i), "trigger": {"available_now": True}}, f)
            start = time.perf_counter()
            subprocess.run([args.millrace, "run", "--progress", "none", path], check=True)
            times.append(time.perf_counter() - start)
        print("\nstart: ms min/median/max   %.1f %.1f %.1f" % (min(times) * 1e3, statistics.median(times) * 1e3, max(times) * 1e3))
    finally: shutil.rmtree(tmp, ignore_errors=True)
    return True


LATENCY_RATE = 100000


def bench_latency(args):
    """Events lie evenly between the earliest and the latest of their epoch, so quantiles over events follow from both."""
    seconds = 2 if args.smoke else 20
    tmp = tempfile.mkdtemp(prefix="mr-bench-")
    try:
        path, engine = os.path.join(tmp, "job.yaml"), os.path.join(tmp, "engine.yaml")
        with open(engine, "w") as f: json.dump({"workers": args.workers}, f)
        sql = ("SELECT window.start AS s, value %% %d AS k, count(*) AS n FROM timed"
               " GROUP BY window(timestamp, '10 seconds'), value %% %d" % (32, 32))
        good = True
        for round in range(args.rounds):
            with open(path, "w") as f:
                json.dump({"name": "latency", "sources": {"events": {"format": "rate", "options": {"rowsPerSecond": LATENCY_RATE, "tickInterval": "1ms"}}},
                           "steps": [{"as": "timed", "watermark": {"input": "events", "column": "timestamp", "delay": "10 seconds"}}, {"as": "result", "sql": sql}],
                           "sink": {"format": "noop", "output_mode": "update"}, "checkpoint": os.path.join(tmp, "c%d" % round)}, f)
            p = subprocess.Popen([args.millrace, "run", "--progress", "json", "--config", engine, path], stderr=subprocess.PIPE, text=True)
            threading.Timer(seconds, p.send_signal, [signal.SIGINT]).start()
            epochs = [json.loads(line) for line in p.stderr if line.startswith("{")]
            if p.wait() != 0: raise SystemExit("millrace bench: error: millrace run ended with exit code %d" % p.returncode)
            epochs = [e for e in epochs if e["numInputRows"] and "commitLatencyMs" in e]
            warm = epochs[len(epochs) // 10:]  # the first second is not what is asked about
            samples = []
            for e in warm:
                low, high = e["commitLatencyMs"]["min"], e["commitLatencyMs"]["max"]
                n = max(1, e["numInputRows"] // 10)
                samples += [low + (high - low) * (i + 0.5) / n for i in range(n)]
            samples.sort()
            rows = sum(e["numInputRows"] for e in epochs)
            good = good and rows > LATENCY_RATE * seconds * 0.5
            print("%slatency: %d events in %d epochs; ms from event to durable commit: p50 %.2f  p99 %.2f  max %.2f"
                  % ("\n" if round == 0 else "", rows, len(epochs), samples[len(samples) // 2], samples[len(samples) * 99 // 100], samples[-1]))
        return good
    finally: shutil.rmtree(tmp, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(prog="millrace bench", usage=__doc__.split("usage: ")[1])
    p.add_argument("name")
    p.add_argument("--smoke", action="store_true")
    p.add_argument("--events", type=int)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--workers", type=int, default=os.cpu_count())
    p.add_argument("--no-peers", action="store_true")
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"), help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.smoke: args.rounds = 1
    special = {"kafka": kafka.bench, "latency": bench_latency, "start": bench_start}
    names = ["events", "dedup", "keys"] + list(special)
    if args.name not in names + ["all"]:
        print("millrace bench: error: \"%s\" is none of %s, all" % (args.name, ", ".join(names)), file=sys.stderr)
        return 2
    if not args.no_peers and not os.path.exists(os.path.join(CACHE, "peers", "venv")):
        print("millrace bench: without DuckDB: tools/setup-peers installs it", file=sys.stderr)
    good = True
    for n in names if args.name == "all" else [args.name]:
        good = (special[n](args) if n in special else bench_engines(args, n)) and good
    if not good: print("millrace bench: error: checksums or counts differ", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__": sys.exit(main())
