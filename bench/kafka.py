"""bench kafka: from a topic of a broker of its own into windows, against librdkafka's own consumer loop."""
import json, os, shutil, statistics, subprocess, sys, tempfile, time

import setting

SCHEMA = "event_type STRING, amount DOUBLE, event_ts TIMESTAMP"
PARTITIONS = 4
GOAL = 0.8


class Broker:
    """Started by tools/kafka on a free port; gone with the bench."""
    def __init__(self, folder):
        self.folder, self.tool = folder, os.path.join(setting.ROOT, "tools", "kafka")
        shown = subprocess.run([self.tool, "start", "--dir", folder, "--port", "0"], check=True, capture_output=True, text=True).stdout
        self.servers = [x.split("=", 1)[1].strip("'\"") for x in shown.replace("export ", "").split() if x.startswith("KAFKA_BOOTSTRAP=")][0]

    def topic(self, name): subprocess.run([self.tool, "topic", "--dir", self.folder, name, str(PARTITIONS)], check=True, capture_output=True)
    def stop(self): subprocess.run([self.tool, "stop", "--dir", self.folder, "--kill", "--purge"], capture_output=True)


def run_job(args, tmp, job, extra=()):
    path = os.path.join(tmp, "job.yaml")
    job["checkpoint"] = tempfile.mkdtemp(dir=tmp)
    job["trigger"], job["engine"] = {"available_now": True}, {"workers": args.workers}
    with open(path, "w") as f: json.dump(job, f)
    start = time.perf_counter()
    subprocess.run([args.millrace, "run", "--progress", "none", *extra, path], check=True)
    return time.perf_counter() - start


def feed(args, tmp, broker, events):
    folder = os.path.join(tmp, "in")
    subprocess.run([args.millrace, "gen", str(events), "--out", folder, "--files", "8", "--span", "3600"], check=True)
    options = {"kafka.bootstrap.servers": broker.servers, "topic": "events"}
    run_job(args, tmp, {"name": "feed", "sources": {"t": {"format": "text", "path": folder}},
                        "steps": [{"as": "q", "sql": "SELECT value, pmod(hash(value), %d) AS partition FROM t" % PARTITIONS}],
                        "sink": {"format": "kafka", "output_mode": "append", "options": options}})
    shutil.rmtree(folder)


def windows(broker):
    options = {"kafka.bootstrap.servers": broker.servers, "subscribe": "events", "startingOffsets": "earliest"}
    sql = ("SELECT window.start AS s, e.event_type AS k, count(*) AS n, sum(e.amount) AS a"
           " FROM (SELECT from_json(CAST(value AS STRING), '%s') AS e FROM raw) GROUP BY window(e.event_ts, '5 minutes'), e.event_type" % SCHEMA)
    return {"name": "windows", "sources": {"raw": {"format": "kafka", "options": options}}, "steps": [{"as": "q", "sql": sql}],
            "sink": {"format": "noop", "output_mode": "complete"}}


def run_loop(args, broker):
    n, seconds, _ = subprocess.run([setting.program(args, "bench_kafka_loop"), broker.servers, "events"], check=True, capture_output=True, text=True).stdout.split()
    return int(n), float(seconds)


def bench(args):
    if not setting.program(args, "bench_kafka_loop"):
        print("\nkafka: left out: built without Kafka, or tools/build release bench_kafka_loop has not run", file=sys.stderr)
        return True
    events = args.events or (50000 if args.smoke else 4000000)
    tmp = tempfile.mkdtemp(prefix="mr-bench-")
    broker = Broker(os.path.join(tmp, "broker"))
    try:
        broker.topic("events")
        feed(args, tmp, broker, events)
        record = os.path.join(tmp, "rows.json")
        run_job(args, tmp, windows(broker), ["--record", record])
        with open(record) as f: counted = sum(r["n"] for r in json.load(f)["batches"][-1]["rows"])
        ours, loop, seen = [], [], 0
        for _ in range(args.rounds):
            ours.append(run_job(args, tmp, windows(broker)))
            seen, seconds = run_loop(args, broker)
            loop.append(seconds)
    finally:
        broker.stop()
        shutil.rmtree(tmp, ignore_errors=True)
    per_event = statistics.median(ours) / events
    print("\nkafka: %d events, %d partitions, %d workers, %d rounds; seconds min, median, max" % (events, PARTITIONS, args.workers, args.rounds))
    setting.show(args, "millrace", events, ours, per_event, None, "checksum %d events" % counted)
    setting.show(args, "librdkafka loop", events, loop, per_event, GOAL, "checksum %d events" % seen)
    return counted == events == seen
