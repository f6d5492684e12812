#!/usr/bin/env python3
"""kill -9 at random moments while the example job runs; afterwards the output equals that of an undisturbed run, row for row.

usage: crash.py [--millrace PATH] [--kafka] [--kills N] [--seed N] [--events N]

files     events in files -> windows in files; --kafka: from topic to topic (a broker of its own, by tools/kafka)
A run that was killed is started again on its checkpoint, until the kills are used up and it ends by itself. At the end one more
event, far ahead, closes all windows: in both runs. Exit 0: equal; 1: rows lost, doubled or changed (the first ones are shown).
"""
import argparse, collections, glob, json, os, random, shutil, signal, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIELDS = "event_id STRING, user_id STRING, event_type STRING, amount DOUBLE, event_ts TIMESTAMP"
LAST = '{"event_id":"last","user_id":"u","event_type":"last","amount":0,"event_ts":"2026-02-01T00:00:00.000Z"}\n'


def steps(column):
    return [{"as": "events", "sql": "SELECT e.* FROM (SELECT from_json(%s, '%s') AS e FROM raw)" % (column, FIELDS)},
            {"as": "timed", "watermark": {"input": "events", "column": "event_ts", "delay": "10 minutes"}},
            {"as": "unique", "dedup": {"input": "timed", "keys": ["event_id", "event_ts"]}},
            {"as": "windows", "sql": "SELECT window.start AS s, window.end AS e, event_type, count(*) AS n, sum(amount) AS a FROM unique"
                                     " GROUP BY window(event_ts, '5 minutes'), event_type"}]


class Files:
    def __init__(self, args, tmp):
        self.tmp, self.input, self.args = tmp, os.path.join(tmp, "in"), args
        subprocess.run([args.millrace, "gen", str(args.events), "--out", self.input, "--files", "40", "--seed", str(args.seed),
                        "--late", "0.01", "--duplicates", "0.05", "--malformed", "0.01", "--span", "7200"], check=True)
        self.age(self.input, 0)

    def age(self, folder, base):
        """Modification times in name order: the order of epochs must be the same in every run."""
        for i, f in enumerate(sorted(glob.glob(folder + "/*"))): os.utime(f, (1700000000 + base + i,) * 2)

    def job(self, name):
        folder = os.path.join(self.tmp, "in-" + name)
        if not os.path.exists(folder): shutil.copytree(self.input, folder)
        return {"sources": {"raw": {"format": "text", "path": folder, "options": {"maxFilesPerTrigger": 2}}}, "steps": steps("value"),
                "sink": {"format": "json", "path": os.path.join(self.tmp, "out-" + name), "output_mode": "append"}}

    def close_windows(self, name):
        path = os.path.join(self.tmp, "in-" + name, "zzz.json")
        with open(path, "w") as f: f.write(LAST)
        os.utime(path, (1700009999,) * 2)

    def rows(self, name):
        out = []
        for f in glob.glob(os.path.join(self.tmp, "out-" + name, "*.json")):
            with open(f) as h: out += [json.dumps(json.loads(x), sort_keys=True) for x in h]
        return out

    def close(self): pass


class Kafka:
    def __init__(self, args, tmp):
        self.tmp, self.args, self.dir = tmp, args, os.path.join(tmp, "broker")
        self.tool = os.path.join(ROOT, "tools", "kafka")
        shown = subprocess.run([self.tool, "start", "--dir", self.dir, "--port", "0"], check=True, capture_output=True, text=True).stdout
        self.servers = [x.split("=", 1)[1].strip("'\"") for x in shown.replace("export ", "").split() if x.startswith("KAFKA_BOOTSTRAP=")][0]
        self.lines = subprocess.run([args.millrace, "gen", str(args.events), "--seed", str(args.seed), "--late", "0.01", "--duplicates", "0.05",
                                     "--malformed", "0.01", "--span", "7200"], check=True, capture_output=True).stdout

    def produce(self, topic, data):
        """Through millrace itself: text files to a topic, the same lines in the same order to the same partitions each time."""
        folder = tempfile.mkdtemp(dir=self.tmp)
        os.makedirs(folder + "/in")
        with open(folder + "/in/lines.txt", "wb") as f: f.write(data)
        job = {"name": "feed", "sources": {"t": {"format": "text", "path": folder + "/in"}}, "checkpoint": folder + "/chk", "trigger": {"available_now": True},
               "steps": [{"as": "q", "sql": "SELECT value, pmod(hash(value), 3) AS partition FROM t"}], "engine": {"workers": 1},
               "sink": {"format": "kafka", "output_mode": "append", "options": {"kafka.bootstrap.servers": self.servers, "topic": topic}}}
        run(self.args, job, folder, None)

    def job(self, name):
        if not os.path.exists(os.path.join(self.tmp, "fed-" + name)):
            for t, n in (("in-" + name, "3"), ("out-" + name, "2")):
                subprocess.run([self.tool, "topic", "--dir", self.dir, t, n], check=True, capture_output=True)
            self.produce("in-" + name, self.lines)
            open(os.path.join(self.tmp, "fed-" + name), "w").close()
        options = {"kafka.bootstrap.servers": self.servers, "subscribe": "in-" + name, "startingOffsets": "earliest",
                   "maxOffsetsPerTrigger": max(1, self.args.events // 20)}
        return {"sources": {"raw": {"format": "kafka", "options": options}},
                "steps": steps("CAST(value AS STRING)") + [{"as": "result", "sql": "SELECT event_type AS key, to_json(struct(*)) AS value FROM windows"}],
                "sink": {"format": "kafka", "output_mode": "append", "options": {"kafka.bootstrap.servers": self.servers, "topic": "out-" + name}}}

    def close_windows(self, name): self.produce("in-" + name, LAST.encode())

    def rows(self, name):
        folder = tempfile.mkdtemp(dir=self.tmp)
        job = {"name": "read", "checkpoint": folder + "/chk", "trigger": {"available_now": True}, "sink": {"format": "noop", "output_mode": "append"},
               "sources": {"t": {"format": "kafka", "options": {"kafka.bootstrap.servers": self.servers, "subscribe": "out-" + name,
                                                                "startingOffsets": "earliest", "kafka.isolation.level": "read_committed"}}},
               "steps": [{"as": "q", "sql": "SELECT CAST(value AS STRING) AS v FROM t"}]}
        run(self.args, job, folder, None, ["--record", folder + "/rows.json"])
        with open(folder + "/rows.json") as f: batches = json.load(f)["batches"]
        return [json.dumps(json.loads(r["v"]), sort_keys=True) for b in batches for r in b["rows"]]

    def close(self): subprocess.run([self.tool, "stop", "--dir", self.dir, "--kill", "--purge"], capture_output=True)


def run(args, job, folder, kill_after, extra=[]):
    """Seconds that it ran, and whether it ended by itself."""
    path = os.path.join(folder, "job.json")
    with open(path, "w") as f: json.dump(job, f)
    begin = time.monotonic()
    p = subprocess.Popen([args.millrace, "run", "--progress", "none"] + extra + [path], stderr=subprocess.PIPE, text=True)
    try: _, said = p.communicate(timeout=kill_after if kill_after is not None else 120)
    except subprocess.TimeoutExpired:
        p.send_signal(signal.SIGKILL)
        p.communicate()
        if kill_after is None: sys.exit("crash.py: no end within 120 s")
        return time.monotonic() - begin, False
    if p.returncode != 0: sys.exit("crash.py: exit code %d: %s" % (p.returncode, said.strip()[-2000:]))
    return time.monotonic() - begin, True


def run_job(args, world, name, kills, random_, seconds):
    """Runs to the end, with kills on the way. Gives the seconds of the undisturbed run, and the kills done."""
    folder = os.path.join(world.tmp, "run-" + name)
    os.makedirs(folder)
    job = dict(world.job(name), name=name, checkpoint=os.path.join(folder, "checkpoint"), trigger={"available_now": True})
    took, done, ended = 0.0, 0, False
    while not ended:
        wait = random_.uniform(0.0, seconds * 0.6) if done < kills else None
        took, ended = run(args, job, folder, wait)
        done += not ended
    world.close_windows(name)
    run(args, job, folder, None)
    return took, done


def main():
    p = argparse.ArgumentParser(prog="crash.py")
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    p.add_argument("--kafka", action="store_true")
    p.add_argument("--kills", type=int, default=30)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--events", type=int, default=400000)
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # folders and brokers are removed
    args.millrace = os.path.abspath(args.millrace)
    random_ = random.Random(args.seed)
    tmp = tempfile.mkdtemp(prefix="mr-crash-")
    world = None
    try:
        world = (Kafka if args.kafka else Files)(args, tmp)
        seconds, _ = run_job(args, world, "calm", 0, random_, 0)
        want = collections.Counter(world.rows("calm"))
        if sum(want.values()) < 10: sys.exit("crash.py: the undisturbed run gave %d rows" % sum(want.values()))
        killed, round_ = 0, 0
        while killed < args.kills:
            name = "wild%d" % round_
            took, done = run_job(args, world, name, min(6, args.kills - killed), random_, seconds)
            killed, round_ = killed + done, round_ + 1
            if done == 0: seconds = min(seconds, took)  # the calm run met a cold broker or a busy machine
            got = collections.Counter(world.rows(name))
            if got != want:
                print("seed %d, round %d, %d kills: %d rows lost, %d too many" % (args.seed, round_, done, sum((want - got).values()), sum((got - want).values())))
                for what, rows in (("lost", want - got), ("too many", got - want)):
                    for r in list(rows)[:5]: print("  %s: %s" % (what, r))
                return 1
            if done == 0 and round_ > args.kills: sys.exit("crash.py: the job ends before it can be killed: more --events")
        print("%d rows equal after %d kills in %d runs (seed %d)" % (sum(want.values()), killed, round_, args.seed))
        return 0
    finally:
        if world: world.close()
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__": sys.exit(main())
