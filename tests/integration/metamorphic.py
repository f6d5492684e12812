#!/usr/bin/env python3
"""The same rows, cut into epochs at random, on any number of workers, stopped and opened again with another: the same result.

usage: metamorphic.py [--millrace PATH] [--runs N] [--seed N]

Where Spark's rules say that the result does not depend on where epochs are cut (no row is late), it must equal what the same
query gives over all rows at once, as a batch (millrace sql). Each run draws a query, the cuts, the rows of a batch, the ring, the
durability, and one to four processes: each but the last is killed at some write, sync or rename, and each has other workers.
Exit code 0: all equal; 1: runs that differ are shown with what repeats them; 2: misuse.
"""
import argparse, collections, glob, json, os, random, re, shutil, signal, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from crash import FIELDS, LAST, ROOT

TIMED = {"as": "timed", "watermark": {"input": "events", "column": "event_ts", "delay": "2 hours"}}
UNIQUE = {"as": "unique", "dedup": {"input": "timed", "keys": ["event_id", "event_ts"]}}
VALUES = "count(*) AS n, sum(amount) AS s, min(amount) AS lo, max(user_id) AS hi, avg(amount) AS a"
QUERIES = {  # name: (steps behind "events", output mode, columns of a group)
    "windows": ([TIMED, {"as": "q", "sql": "SELECT window.start AS w, event_type, %s FROM timed GROUP BY window(event_ts, '5 minutes'), event_type" % VALUES}], "append", None),
    "sliding": ([TIMED, {"as": "q", "sql": "SELECT window.start AS w, %s FROM timed GROUP BY window(event_ts, '10 minutes', '4 minutes')" % VALUES}], "append", None),
    "panes": ([TIMED, {"as": "q", "sql": "SELECT window.start AS w, event_type, %s FROM timed GROUP BY window(event_ts, '10 minutes', '2 minutes'), event_type" % VALUES}], "append", None),
    "unique": ([TIMED, UNIQUE, {"as": "q", "sql": "SELECT event_id, event_type, amount FROM unique WHERE amount > 10"}], "append", None),
    "unique windows": ([TIMED, UNIQUE, {"as": "q", "sql": "SELECT window.end AS w, event_type, %s FROM unique GROUP BY window(event_ts, '7 minutes'), event_type" % VALUES}], "append", None),
    "rows": ([{"as": "q", "sql": "SELECT upper(event_type) AS t, explode(array(amount, -amount)) AS a FROM events WHERE event_id IS NOT NULL"}], "append", None),
    "groups": ([{"as": "q", "sql": "SELECT user_id, %s FROM events GROUP BY user_id" % VALUES}], "complete", ["user_id"]),
    "having": ([{"as": "q", "sql": "SELECT event_type, %s FROM events GROUP BY event_type HAVING count(*) > 3 ORDER BY event_type" % VALUES}], "complete", ["event_type"]),
    "updates": ([{"as": "q", "sql": "SELECT event_type, length(user_id) AS k, %s FROM events GROUP BY event_type, length(user_id)" % VALUES}], "update", ["event_type", "k"]),
    "one group": ([{"as": "q", "sql": "SELECT %s FROM events" % VALUES}], "complete", []),
}


def key(row):
    """The sink and sql write times with other numbers of digits."""
    return json.dumps({k: re.sub(r"\.000000Z$", ".000Z", v) if isinstance(v, str) else v for k, v in row.items() if v is not None}, sort_keys=True)


class World:
    def __init__(self, args, tmp):
        self.args, self.tmp, self.wanted = args, tmp, {}
        self.lines = subprocess.run([args.millrace, "gen", str(args.events), "--seed", str(args.seed), "--duplicates", "0.05", "--span", "7200", "--disorder", "600", "--users", "300"],
                                    check=True, capture_output=True).stdout.splitlines(keepends=True)
        os.makedirs(tmp + "/all")
        with open(tmp + "/all/a.json", "wb") as f: f.writelines(self.lines)

    def job(self, name, folder, engine, per_trigger=1):
        steps, mode, _ = QUERIES[name]
        sink = {"format": "json", "path": folder + "/out", "output_mode": "append", "options": {"commitInterval": "0 seconds"}} if mode == "append" else {"format": "noop", "output_mode": mode}
        source = {"format": "json", "path": folder + "/in", "schema": FIELDS, "options": {"maxFilesPerTrigger": per_trigger}}
        return {"name": "q", "sources": {"events": source}, "steps": steps, "sink": sink, "checkpoint": folder + "/chk", "trigger": {"available_now": True}, "engine": engine}

    def want(self, name):
        """What the query gives over all rows at once."""
        if name not in self.wanted:
            folder = tempfile.mkdtemp(dir=self.tmp)
            os.symlink(self.tmp + "/all", folder + "/in")
            with open(folder + "/job.json", "w") as f: json.dump(self.job(name, folder, {}), f)
            p = subprocess.run([self.args.millrace, "sql", "--format", "json", "--job", folder + "/job.json", "SELECT * FROM q"], capture_output=True, text=True, timeout=60)
            if p.returncode: sys.exit("metamorphic.py: %s as a batch: %s" % (name, p.stderr))
            self.wanted[name] = collections.Counter(key(json.loads(x)) for x in p.stdout.splitlines())
            if len(self.wanted[name]) < 1: sys.exit("metamorphic.py: %s gives nothing" % name)
        return self.wanted[name]

    def cut(self, folder, random_):
        """The rows in files, in their order."""
        os.makedirs(folder + "/in")
        n, at = random_.choice((1, 2, 5, 12, 30)), [0]
        at += sorted(random_.sample(range(1, len(self.lines)), n - 1)) + [len(self.lines)]
        for i in range(n):
            with open(folder + "/in/%04d.json" % i, "wb") as f: f.writelines(self.lines[at[i]:at[i + 1]])
        return n

    def close(self, folder, n):
        """A file n whose row moves the watermark behind all windows."""
        with open(folder + "/in/%04d.json" % n, "w") as f: f.write(LAST.replace('"last"', '"last%d"' % n, 1))
        os.utime(folder + "/in/%04d.json" % n, (1700000000 + n,) * 2)

    def run(self, folder, job, env, extra=()):
        with open(folder + "/job.json", "w") as f: json.dump(job, f)
        return subprocess.run([self.args.millrace, "run", "--progress", "none", *extra, folder + "/job.json"], capture_output=True, text=True, env=dict(os.environ, **env), timeout=120)

    def one(self, number):
        """Trouble of a run, or None; and how many of its processes were killed."""
        random_ = random.Random(number * 1000003 + self.args.seed)
        name = sorted(QUERIES)[number % len(QUERIES)]
        steps, mode, groups = QUERIES[name]
        folder, killed = tempfile.mkdtemp(dir=self.tmp), 0
        n, want = self.cut(folder, random_), self.want(name)
        for i, f in enumerate(sorted(glob.glob(folder + "/in/*"))): os.utime(f, (1700000000 + i,) * 2)
        is_timed = any("timed" in s.values() for s in steps)
        if is_timed: self.close(folder, n)
        per_trigger = random_.choice((1, 1, 2, 3, 100))
        processes = random_.randint(1, 4) if mode == "append" else 1
        for i in range(processes):
            engine = {"workers": random_.randint(1, 4), "batch_rows": random_.choice((2, 7, 64, 4096)), "ring_slots": random_.choice((2, 4, 8)),
                      "durability": random_.choice(("epoch", "epoch", "interval", "none"))}
            env = {"MILLRACE_FAULT": "any:%d:%s" % (random_.randint(1, 150), random_.choice(("kill", "killafter")))} if i + 1 < processes else {}
            record = [] if mode == "append" else ["--record", folder + "/rows.json"]
            p = self.run(folder, self.job(name, folder, engine, per_trigger), env, record)
            killed += p.returncode == -signal.SIGKILL
            if p.returncode not in (0, -signal.SIGKILL if env else 0): return "%s, %s: exit code %d: %s" % (name, engine, p.returncode, p.stderr[-600:]), killed
        if is_timed:  # again: the epoch without data, which gives the windows, is not made up for by the process after a kill (as in Spark)
            self.close(folder, n + 1)
            p = self.run(folder, self.job(name, folder, {"workers": 2}), {})
            if p.returncode: return "%s: exit code %d: %s" % (name, p.returncode, p.stderr[-600:]), killed
        got = self.rows(folder, mode, groups)
        shutil.rmtree(folder)
        if got == want: return None, killed
        return "%s: %d rows lost, %d too many: %s %s" % (name, sum((want - got).values()), sum((got - want).values()), list(want - got)[:2], list(got - want)[:2]), killed

    def rows(self, folder, mode, groups):
        if mode == "append":
            return collections.Counter(key(json.loads(x)) for f in glob.glob(folder + "/out/*.json") for x in open(f))
        with open(folder + "/rows.json") as f: batches = json.load(f)["batches"]
        last = batches[-1]["rows"] if mode == "complete" else {tuple(r.get(g) for g in groups): r for b in batches for r in b["rows"]}.values()
        return collections.Counter(key(r) for r in last)


def main():
    p = argparse.ArgumentParser(prog="metamorphic.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    p.add_argument("--runs", type=int, default=90)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--events", type=int, default=2000)
    p.add_argument("--only", type=int, help="one run, by its number")
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # folders and brokers are removed
    args.millrace = os.path.abspath(args.millrace)
    tmp, failed, killed = tempfile.mkdtemp(prefix="mr-metamorphic-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None), 0, 0
    try:
        w = World(args, tmp)
        for name in QUERIES: w.want(name)
        numbers = range(args.runs) if args.only is None else [args.only]
        with ThreadPoolExecutor(2) as pool:
            for number, (trouble, n) in zip(numbers, pool.map(w.one, numbers)):
                killed += n
                if trouble is None: continue
                failed += 1
                if failed <= 5: print("FAIL (again: --seed %d --only %d) %s" % (args.seed, number, trouble), flush=True)
    finally: shutil.rmtree(tmp, ignore_errors=True)
    print("%d runs of %d queries, %d processes killed, %d results differ from those of a batch" % (len(numbers), len(QUERIES), killed, failed))
    if killed < len(numbers) // 10: sys.exit("metamorphic.py: only %d processes were killed" % killed)
    return 1 if failed else 0


if __name__ == "__main__": sys.exit(main())
