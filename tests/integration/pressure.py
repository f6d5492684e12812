#!/usr/bin/env python3
"""What is too much for a job: it stays within its memory, ends or goes on as it says, and tells what stands still.

usage: pressure.py [--millrace PATH] [--long] [--seconds N] [SCENARIO..]

state      state of four times the memory limit: a clear error that names operator and limit, also at a restart; what was committed stays
hostile    a line of 2 GiB, JSON 10 million deep, a million columns, bad UTF-8, a gzip bomb, regular expressions that explode: bounded
           time and memory, each bad record is set aside with its reason, its neighbours are not touched
overload   ten times the rows that the sink takes, then a sink that takes them: nothing is lost, memory stays bounded, it catches up
steady     100,000 rows a second into windows: memory, open files, checkpoint and the time of epochs stay what they are, no row is missing
stall      a reader that no longer reads, a disk that hangs, an operator that takes very long: told, with what it is at, and that it goes on

Without SCENARIO: all. --long: larger. --seconds: how long the steady one runs. Exit code 0, 1 (what differs is shown), 2 (misuse).
"""
import argparse, collections, glob, gzip, json, os, re, shutil, signal, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from crash import ROOT
from survive import storm_library

MB = 1 << 20
problems = []


def expect(what, good, shown):
    if not good:
        problems.append(what)
        print("  FAIL %s: %s" % (what, str(shown)[:1500]), flush=True)


class Peak(threading.Thread):
    """The most memory that a process had, in MiB. (What wait4 tells has this process's own in it.)"""
    def __init__(self, pid):
        super().__init__(daemon=True)
        self.status, self.mib = "/proc/%d/status" % pid, 0
        self.start()

    def run(self):
        while True:
            try:
                with open(self.status) as f: found = re.search(r"VmHWM:\s+(\d+) kB", f.read())
            except OSError: return
            if not found: return
            self.mib = max(self.mib, int(found.group(1)) / 1024)
            time.sleep(0.01)


class Folder:
    """A job in a folder of its own."""
    def __init__(self, args, tmp, name):
        self.args, self.path = args, os.path.join(tmp, re.sub(r"\W+", "-", name))
        os.makedirs(self.path + "/in")

    def put(self, name, content):
        with open(os.path.join(self.path, "in", name), "wb") as f: f.write(content)

    def job(self, source, steps, sink=None, engine={}, **more):
        job = {"name": "q", "sources": {"s": source}, "steps": steps, "checkpoint": "chk", "trigger": {"available_now": True},
               "sink": sink or {"format": "json", "path": "out", "output_mode": "append"}, "engine": {"workers": 2, **engine}, **more}
        with open(self.path + "/job.json", "w") as f: json.dump(job, f)

    def start(self, progress="none", env={}, **more):
        return subprocess.Popen([self.args.millrace, "run", "--progress", progress, "job.json"], cwd=self.path, env=dict(os.environ, **env),
                                stderr=subprocess.PIPE, text=True, errors="replace", **more)

    def run(self, seconds=120, **more):
        """Exit code, what it said, peak of its memory in MiB, seconds."""
        begin, p = time.monotonic(), self.start(**more)
        timer, peak = threading.Timer(seconds, p.kill), Peak(p.pid)
        timer.start()
        said = p.stderr.read()
        p.wait()
        timer.cancel()
        return p.returncode, said, peak.mib, time.monotonic() - begin

    def rows(self, folder="out"):
        out = []
        for f in sorted(glob.glob("%s/%s/*.json" % (self.path, folder))):
            with open(f, errors="replace") as h: out += [json.loads(x) for x in h]
        return out

    def sql(self, text):
        p = subprocess.run([self.args.millrace, "sql", "--format", "json", text], cwd=self.path, capture_output=True, text=True, timeout=120)
        if p.returncode: sys.exit("pressure.py: %s: %s" % (text, p.stderr))
        return [json.loads(x) for x in p.stdout.splitlines()]


def base_memory(args, tmp):
    """What a job of nearly nothing takes, so that the program itself does not count."""
    f = Folder(args, tmp, "base")
    f.put("a.txt", b"x\n")
    f.job({"format": "text", "path": "in"}, [{"as": "q", "sql": "SELECT * FROM s"}])
    code, said, peak, _ = f.run()
    expect("base", code == 0, said)
    return peak


def state(args, tmp):
    limit, base, kinds = 64, base_memory(args, tmp), 0
    text = "SELECT id, CAST(timestamp_seconds(1700000000 + id) AS TIMESTAMP) AS at FROM (SELECT explode(sequence(CAST(value AS BIGINT), CAST(value AS BIGINT) + 19999)) AS id FROM s)"
    rows = 20000 * (400 if args.long else 200)
    steps = {"dedupe": [{"as": "e", "sql": text}, {"as": "q", "dedup": {"input": "e", "keys": ["id"]}}],
             "stateStoreSave": [{"as": "e", "sql": text}, {"as": "q", "sql": "SELECT id, count(*) AS n, max(at) AS at FROM e GROUP BY id"}]}
    for operator, wanted in steps.items():
        for workers in (1, 2):
            f, kinds = Folder(args, tmp, "%s-%d" % (operator, workers)), kinds + 1
            for i in range(0, rows, 20000):
                f.put("%09d.txt" % i, b"%d\n" % i)
                os.utime(f.path + "/in/%09d.txt" % i, (1700000000 + i, 1700000000 + i))
            sink = {"format": "json", "path": "out", "output_mode": "append"} if operator == "dedupe" else {"format": "noop", "output_mode": "update"}
            f.job({"format": "text", "path": "in", "options": {"maxFilesPerTrigger": 4}}, wanted, sink, {"memory_limit": "%dm" % limit, "workers": workers})
            for again in range(2):
                code, said, peak, _ = f.run(progress="json")
                name = "%s, %d workers, start %d" % (operator, workers, again + 1)
                error = [x for x in said.splitlines() if "error:" in x]
                expect(name, code == 1 and len(error) == 1 and "memory" in error[0] and "%.1f MB" % (limit * MB / 1e6) in error[0] and operator in error[0] and "raise engine: memory_limit" in error[0], (code, error or said[-800:]))
                expect(name + ": memory", peak - base <= limit * 1.1, "%.0f MiB more than %.0f" % (peak - base, base))
            f.job({"format": "text", "path": "in", "options": {"maxFilesPerTrigger": 40}}, wanted, sink, {"memory_limit": "2g", "workers": 3 - workers})
            code, said, _, _ = f.run()
            expect(name + ": with more memory", code == 0, (code, said[-500:]))
            if operator == "dedupe":
                got = f.sql("SELECT count(*) AS n, sum(id) AS s, max(id) AS m FROM json.`out`")
                expect(name + ": rows", got == [{"n": rows, "s": rows * (rows - 1) // 2, "m": rows - 1}], got)
            shutil.rmtree(f.path)
    return "%d kinds of state of more than %d MiB, each refused twice by name, then completed with more memory" % (kinds, limit)


def sparse_line(f, size):
    """A record with a hole of zeros in it: it costs no disk."""
    with open(f.path + "/in/b.json", "wb") as h:
        h.write(b'{"id":5,"name":"')
        h.seek(size, os.SEEK_CUR)
        h.write(b'"}\n{"id":6,"name":"c"}\n')


def bomb(f, blocks, block, end):
    with gzip.open(f.path + "/in/b.json.gz", "wb", compresslevel=1) as h:
        for _ in range(blocks): h.write(block)
        h.write(end)


def hostile(args, tmp):
    """name: (what is put beside two good records, SQL, rows besides them, a part of the reason)"""
    base, schema, limit = base_memory(args, tmp), "id INT, name STRING", 512
    ids = lambda *values: [{"id": v} for v in values]
    just = "SELECT id FROM s"
    nested = b"[" * (10 * 1000 * 1000)
    wide = b",".join(b"%d" % i for i in range(1000 * 1000))
    fields = b"{" + b",".join(b'"f%d":%d' % (i, i) for i in range(1000 * 1000)) + b',"id":5}\n{"id":6}\n'
    block = b'{"id":7,"name":"%s"}\n' % (b"y" * 1000) * 100
    cases = {
        "a line of 2 GiB": (lambda f: sparse_line(f, 2 << 30), just, ids(6), "longer than"),
        "deep JSON": (lambda f: f.put("b.json", b'{"id":5,"name":' + nested + b'\n{"id":6}\n'), just, ids(6), ""),
        "deep JSON that ends": (lambda f: f.put("b.json", b'{"id":5,"x":' + nested + b"]" * len(nested) + b'}\n{"id":6}\n'), just, ids(6), ""),
        "a million fields": (lambda f: f.put("b.json", fields), just, ids(5, 6), None),
        "bad UTF-8": (lambda f: f.put("b.json", b'{"id":5,"name":"\xff\xc0\x80\xed\xa0\x80"}\n' * 20000 + b'{"id":6}\n'), just, ids(6), ""),
        "a gzip bomb of one line": (lambda f: bomb(f, 2000, b"0" * MB, b'\n{"id":6}\n'), just, ids(6), "longer than"),
        "a gzip bomb of many": (lambda f: bomb(f, 3000, block, b'{"id":6}\n'), "SELECT DISTINCT id FROM s", ids(6, 7), None),
        "a zero byte a line": (lambda f: f.put("b.json", b"\0\n" * 1000000 + b'{"id":6}\n'), just, ids(6), ""),
    }
    seconds = 0
    for name, (put, sql, more, reason) in cases.items():
        f = Folder(args, tmp, name)
        f.put("a.json", b'{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n')
        put(f)
        steps = [{"as": "q", "sql": sql if "DISTINCT" not in sql else "SELECT id, count(*) AS n FROM s GROUP BY id"}]
        sink = None if "DISTINCT" not in sql else {"format": "noop", "output_mode": "update"}
        f.job({"format": "json", "path": "in", "schema": schema, "options": {"mode": "DROPMALFORMED"}, "bad_records": {"path": "bad"}}, steps, sink, {"memory_limit": "%dm" % limit})
        code, said, peak, took = f.run(seconds=60)
        seconds = max(seconds, took)
        expect(name, code == 0, (code, said))
        expect(name + ": memory", peak - base <= limit * 1.1, "%.0f MiB" % peak)
        expect(name + ": time", took < 30, "%.1f s" % took)
        if sink is None: expect(name + ": rows", sorted(map(str, f.rows())) == sorted(map(str, ids(1, 2) + more)), f.rows()[:5])
        bad = f.rows("bad")
        if reason is None: expect(name + ": nothing bad", bad == [], bad[:2])
        else: expect(name + ": reason", bad and all(b["reason"] and reason in b["reason"] and b["path"].startswith(f.path + "/in/b.json") and b["raw"] for b in bad), [{k: str(v)[:100] for k, v in b.items()} for b in bad[:2]])
        shutil.rmtree(f.path)
    n = len(cases) + hostile_csv(args, tmp, wide, base, limit) + hostile_patterns(args, tmp, base, limit)
    return "%d hostile inputs within %d MiB; the slowest record took %.1f s" % (n, limit, seconds)


def hostile_csv(args, tmp, wide, base, limit):
    for name, content, options, rows in (("a million columns", b"1,a\n" + wide + b"\n2,b\n", {}, 2), ("a header of a million columns", wide + b"\n1,a\n2,b\n", {"header": "true", "enforceSchema": "false"}, None)):
        f = Folder(args, tmp, name)
        f.put("a.csv", content)
        f.job({"format": "csv", "path": "in", "schema": "id INT, name STRING", "options": {"mode": "DROPMALFORMED", **options}}, [{"as": "q", "sql": "SELECT id FROM s"}], None, {"memory_limit": "%dm" % limit})
        code, said, peak, took = f.run(seconds=60)
        good = code == 0 and len(f.rows()) == rows if rows else code in (0, 1) and (code == 0 or "error:" in said)
        expect(name, good and peak - base <= limit * 1.1 and took < 30, (code, said[-600:], "%.0f MiB, %.1f s" % (peak, took), f.rows()[:5]))
        shutil.rmtree(f.path)
    return 2


def hostile_patterns(args, tmp, base, limit):
    """Java's engine would not end: here the query does, with the pattern named."""
    patterns = (r"^(a+)+$", r"^(a|aa)+$", r"(.*)*b", r"(x+x+)+y", r"^(([a-z])+.)+[A-Z]([a-z])+$")
    for i, pattern in enumerate(patterns):
        f = Folder(args, tmp, "pattern-%d" % i)
        f.put("a.txt", (b"a" * 20000 + b"!\n" + b"x" * 20000 + b"\n") * 3)
        f.job({"format": "text", "path": "in"}, [{"as": "q", "sql": "SELECT value RLIKE '%s' AS x, regexp_replace(value, '%s', 'z') AS y FROM s" % (pattern, pattern)}],
              {"format": "noop", "output_mode": "append"}, {"memory_limit": "%dm" % limit})
        code, said, peak, took = f.run(seconds=60)
        expect("pattern " + pattern, code == 0 or (code == 1 and "takes too long on a text of 20001 bytes" in said and pattern in said), (code, said[-600:]))
        expect("pattern %s: bounded" % pattern, peak - base <= limit * 1.1 and took < 30, "%.0f MiB, %.1f s" % (peak, took))
        shutil.rmtree(f.path)
    return len(patterns)


def overload(args, tmp):
    """A rate source, and a sink whose writes of a MiB take half a second each at first: a tenth of what comes."""
    base, limit, rate, slow_writes = base_memory(args, tmp), 256, 200000, 60 if args.long else 24
    f = Folder(args, tmp, "overload")
    f.job({"format": "rate", "options": {"rowsPerSecond": rate}}, [{"as": "q", "sql": "SELECT value, repeat('x', 200) AS wide FROM s"}], None,
          {"memory_limit": "%dm" % limit, "io": "syscalls"}, trigger={"processing_time": "100 milliseconds"})
    begin = time.monotonic()
    p = f.start("json", {"LD_PRELOAD": storm_library(tmp), "MILLRACE_STORM": "slow:%d" % slow_writes, "MILLRACE_STORM_COUNT": f.path + "/struck"})
    peak, behind, caught_up = Peak(p.pid), 0, None
    for line in p.stderr:
        if not line.startswith("{"): continue
        progress = json.loads(line)
        took = progress["durationMs"]["triggerExecution"]
        behind = max(behind, took)
        if behind > 2000 and took < 700 and caught_up is None: caught_up = time.monotonic() - begin
        if (caught_up and time.monotonic() - begin > caught_up + 2) or time.monotonic() - begin > 90: break
    p.send_signal(signal.SIGTERM)
    threading.Thread(target=p.stderr.read, daemon=True).start()
    code, peak = p.wait(), peak.mib
    expect("overload", code == 0 and caught_up is not None, "exit code %d, caught up: %s, slowest epoch %d ms" % (code, caught_up, behind))
    expect("overload: memory", peak - base <= limit * 1.1, "%.0f MiB" % peak)
    got = f.sql("SELECT count(*) AS n, sum(value) AS s, max(value) AS m FROM json.`out`")[0]
    expect("overload: rows", got["n"] == got["m"] + 1 and got["s"] == got["n"] * (got["n"] - 1) // 2, got)
    with open(f.path + "/struck") as h: expect("overload: slow writes", int(h.read()) == slow_writes, "the sink was not slow")
    shutil.rmtree(f.path)
    return "%d rows at %d a second, an epoch of %.1f s behind a slow sink, %.0f MiB at most" % (got["n"], rate, behind / 1000, peak)


def folder_bytes(path):
    total = 0
    for at, _, names in os.walk(path):
        for name in names:
            try: total += os.stat(os.path.join(at, name)).st_blocks * 512
            except FileNotFoundError: pass  # a segment that was removed meanwhile
    return total


class Samples(threading.Thread):
    """Five times a second: resident MiB, open files, MiB of the checkpoint."""
    def __init__(self, pid, checkpoint):
        super().__init__(daemon=True)
        self.pid, self.checkpoint, self.seen = pid, checkpoint, []
        self.start()

    def run(self):
        while True:
            try:
                with open("/proc/%d/status" % self.pid) as f: resident = re.search(r"VmRSS:\s+(\d+) kB", f.read())
                if not resident: return
                self.seen.append((int(resident.group(1)) / 1024, len(os.listdir("/proc/%d/fd" % self.pid)), folder_bytes(self.checkpoint) / MB))
            except OSError: return
            time.sleep(0.2)


def steady(args, tmp):
    """The second third of a run is compared with the last: what grows shows there."""
    rate, f = 100000, Folder(args, tmp, "steady")
    text = "SELECT window.start AS t, value % 1000 AS k, count(*) AS n, sum(value) AS s FROM w GROUP BY window(timestamp, '1 second'), value % 1000"
    f.job({"format": "rate", "options": {"rowsPerSecond": rate}}, [{"as": "w", "watermark": {"input": "s", "column": "timestamp", "delay": "1 second"}}, {"as": "q", "sql": text}],
          None, {"memory_limit": "512m"}, trigger={"processing_time": "100 milliseconds"})
    begin, epochs, p = time.monotonic(), [], f.start("json")
    samples = Samples(p.pid, f.path + "/chk")
    for line in p.stderr:
        progress = json.loads(line) if line.startswith("{") else {"numInputRows": 0}
        if progress["numInputRows"]: epochs.append(progress["durationMs"]["triggerExecution"])
        if time.monotonic() - begin > args.seconds: break
    p.send_signal(signal.SIGTERM)
    threading.Thread(target=p.stderr.read, daemon=True).start()
    expect("steady", p.wait() == 0 and len(epochs) > args.seconds / 2, "exit code %d, %d epochs" % (p.returncode, len(epochs)))
    third, median = len(samples.seen) // 3, lambda values: sorted(values)[len(values) // 2]
    middle, last = samples.seen[third:2 * third], samples.seen[2 * third:-1]
    grown = [median([x[i] for x in last]) - median([x[i] for x in middle]) for i in range(3)]
    expect("steady: memory", grown[0] <= 2, "%.1f MiB more" % grown[0])
    expect("steady: open files", max(x[1] for x in last) <= max(x[1] for x in middle) + 2, "%d, then %d" % (max(x[1] for x in middle), max(x[1] for x in last)))
    expect("steady: checkpoint", max(x[2] for x in last) <= 1.25 * max(x[2] for x in middle) + 4, "%.1f MiB, then %.1f" % (max(x[2] for x in middle), max(x[2] for x in last)))
    third = len(epochs) // 3
    expect("steady: epochs", median(epochs[2 * third:]) <= 1.5 * median(epochs[third:2 * third]) + 20, "%d ms, then %d" % (median(epochs[third:2 * third]), median(epochs[2 * third:])))
    seconds = f.sql("SELECT t, sum(n) AS n, sum(s) AS s FROM json.`out` GROUP BY t ORDER BY t")
    n, wrong = 0, []
    for i, x in enumerate(seconds):  # the values count on; only the first second is not whole
        if (i and x["n"] != rate) or x["s"] != x["n"] * (2 * n + x["n"] - 1) // 2: wrong.append(x)
        n += x["n"]
    expect("steady: rows", len(seconds) > args.seconds / 2 and not wrong, wrong[:3] or "%d windows" % len(seconds))
    shutil.rmtree(f.path)
    return "%d epochs with data in %d s, %d windows of %d rows; memory %.0f MiB (%+.1f), %d open files, checkpoint %.1f MiB at most, an epoch %d ms" % (
        len(epochs), args.seconds, len(seconds), rate, median([x[0] for x in last]), grown[0], max(x[1] for x in last), max(x[2] for x in samples.seen), median(epochs[2 * third:]))


def stall(args, tmp):
    library, told = storm_library(tmp), 0
    steps = [{"as": "q", "sql": "SELECT * FROM s"}]

    def watch(name, f, at, **more):
        p, warned, goes_on, begin = f.start(**more), None, None, time.monotonic()
        for line in p.stderr:
            if "has stood still" in line: warned = warned or (time.monotonic() - begin, line)
            if "goes on after" in line: goes_on = line
            if warned and more.get("stdout") and not goes_on: threading.Thread(target=lambda: shutil.copyfileobj(p.stdout, open(os.devnull, "w")), daemon=True).start()
        code = p.wait()
        expect(name, code == 0 and warned and re.search(at, warned[1]) and warned[0] < 10, (code, warned))
        expect(name + ": goes on", goes_on is not None, "it was not told")
        shutil.rmtree(f.path)
        return 1

    f = Folder(args, tmp, "console")
    for i in range(40): f.put("%03d.txt" % i, b"x" * 20000 + b"\n")
    f.job({"format": "text", "path": "in", "options": {"maxFilesPerTrigger": 1}}, steps, {"format": "console", "output_mode": "append", "options": {"truncate": "false"}}, {"stall_seconds": 2})
    told += watch("a full pipe", f, "it gives rows out to sink console", stdout=subprocess.PIPE)
    f = Folder(args, tmp, "disk")
    for i in range(200): f.put("%03d.txt" % i, b"x\n" * 1000)
    f.job({"format": "text", "path": "in", "options": {"maxFilesPerTrigger": 50}}, steps, None, {"stall_seconds": 2, "io": "syscalls"})
    told += watch("a disk that hangs", f, r'worker \d is at source "s"', env={"LD_PRELOAD": library, "MILLRACE_STORM": "hang:100"})
    f = Folder(args, tmp, "operator")
    f.put("a.txt", b"1\n")
    f.job({"format": "text", "path": "in"}, [{"as": "q", "sql": "SELECT a FROM (SELECT explode(sequence(1, 4000)) AS a FROM s) WHERE array_contains(transform(sequence(1, 15000), x -> x * a), -1)"}], None, {"stall_seconds": 1, "workers": 1})
    told += watch("a slow operator", f, "worker 0 is at operator ")
    f = Folder(args, tmp, "calm")
    for i in range(100): f.put("%03d.txt" % i, b"x\n" * 100)
    f.job({"format": "text", "path": "in", "options": {"maxFilesPerTrigger": 1}}, steps, None, {"stall_seconds": 1}, trigger={"processing_time": "50 milliseconds"})
    p = f.start()
    time.sleep(4)
    p.send_signal(signal.SIGTERM)
    said = p.communicate(timeout=20)[1]
    expect("no false alarm", p.returncode == 0 and "stood still" not in said, said)
    return "%d stalls were told, with what stood still, and that it went on; none where nothing did" % told


SCENARIOS = {f.__name__: f for f in (state, hostile, overload, steady, stall)}


def main():
    p = argparse.ArgumentParser(prog="pressure.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    p.add_argument("--long", action="store_true")
    p.add_argument("--seconds", type=int, default=20)
    p.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # folders and brokers are removed
    args.millrace = os.path.abspath(args.millrace)
    for name in args.scenarios:
        if name not in SCENARIOS: p.error("no scenario \"%s\", there are %s" % (name, ", ".join(SCENARIOS)))
    for name in args.scenarios or SCENARIOS:
        tmp, begin, before = tempfile.mkdtemp(prefix="mr-pressure-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None), time.monotonic(), len(problems)
        try: figures = SCENARIOS[name](args, tmp)
        finally: shutil.rmtree(tmp, ignore_errors=True)
        print("%-9s %s (%.0f s)%s" % (name, figures, time.monotonic() - begin, "; %d FAILURES" % (len(problems) - before) if len(problems) > before else ""), flush=True)
    return 1 if problems else 0


if __name__ == "__main__": sys.exit(main())
