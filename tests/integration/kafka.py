#!/usr/bin/env python3
"""The Kafka source and sink against a real broker: every option, every column, what is lost, who is refused.

usage: kafka.py [--millrace PATH] [--client PATH] [-k PART_OF_A_NAME]

It starts a broker of its own (tools/kafka) on free ports and ends it. kafka_client, built with the tests, makes topics, writes
records and reads what came out. Exit 0: all as expected; 1: the checks that failed are shown.
"""
import argparse, base64, collections, glob, json, os, shutil, signal, socket, ssl, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "tools", "kafka")
SECONDS = 60
tests = []


def test(f):
    tests.append(f)
    return f


def murmur2(data):
    """The hash by which Java's client chooses a partition."""
    m, mask = 0x5bd1e995, 0xffffffff
    h, at = 0x9747b28c ^ len(data), 0
    while len(data) - at >= 4:
        k = int.from_bytes(data[at:at + 4], "little") * m & mask
        h = (h * m & mask) ^ ((k ^ k >> 24) * m & mask)
        at += 4
    if at < len(data): h = (h ^ int.from_bytes(data[at:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7fffffff


def spark_share(waiting, limit):
    """{partition: records} that Spark's KafkaMicroBatchStream.rateLimit takes of those waiting."""
    total = sum(waiting.values())
    if total <= limit: return dict(waiting)
    return {p: min(n, int(limit * (n / total)) if limit * (n / total) >= 1 else 1) for p, n in waiting.items() if n}


class World:
    def __init__(self, args):
        self.args, self.failed, self.ran, self.jobs = args, 0, 0, 0
        self.tmp = tempfile.mkdtemp(prefix="mr-kafka-")
        self.broker = os.path.join(self.tmp, "broker")
        shown = subprocess.run([TOOL, "start", "--dir", self.broker, "--port", "0", "--tls", "--sasl-tls",
                                "--set", "transaction.abort.timed.out.transaction.cleanup.interval.ms=500"],
                               check=True, capture_output=True, text=True).stdout
        env = dict(line.split("=", 1) for line in shown.split())
        self.servers, self.tls, self.sasl = env["KAFKA_BOOTSTRAP"], env["KAFKA_TLS_BOOTSTRAP"], env["KAFKA_SASL_TLS_BOOTSTRAP"]
        self.user, self.password, self.ca = env["KAFKA_USER"], env["KAFKA_PASSWORD"], env["KAFKA_CA"]

    def close(self):
        subprocess.run([TOOL, "stop", "--dir", self.broker, "--kill", "--purge"], capture_output=True)
        shutil.rmtree(self.tmp, ignore_errors=True)

    def expect(self, what, ok, shown=""):
        self.ran += 1
        if not ok:
            self.failed += 1
            print("FAIL %s: %s: %s" % (self.name, what, str(shown)[:1500]))

    def equal(self, what, got, want): self.expect(what, got == want, "%s instead of %s" % (got, want))

    def client(self, *words, input=None):
        p = subprocess.run([self.args.client, self.servers, *map(str, words)], input=input, capture_output=True, text=True, timeout=SECONDS)
        if p.returncode: sys.exit("kafka.py: kafka_client %s: %s" % (" ".join(map(str, words)), p.stderr))
        return p.stdout

    def topic(self, name, partitions=1, *settings):
        self.client("topic", name, partitions, *settings)
        return name

    def produce(self, *records, end="plain", id="kafka.py"):
        """records: (topic, partition, value, {timestamp, key, headers})"""
        lines = ["\t".join([r[0], str(r[1]), str(more.get("timestamp", 1000)), more.get("key", "\\N"), r[2] if r[2] is not None else "\\N",
                            more.get("headers", "")]) for r in records for more in [r[3] if len(r) > 3 else {}]]
        self.client("produce", end, id, input="\n".join(lines) + "\n")

    def read(self, topic): return [tuple(line.split("\t")) for line in self.client("read", topic).splitlines()]
    def values(self, topic): return sorted(r[3] for r in self.read(topic))

    def source(self, **options):
        return {"format": "kafka", "options": {"kafka.bootstrap.servers": self.servers, "startingOffsets": "earliest",
                                               **{k.replace("__", "."): v for k, v in options.items()}}}

    def sink(self, topic=None, **options):
        return {"format": "kafka", "output_mode": "append",
                "options": {"kafka.bootstrap.servers": self.servers, **({"topic": topic} if topic else {}), **options}}

    def start(self, source, sql="SELECT CAST(value AS STRING) AS v FROM t", sink=None, checkpoint=None, live=False, env={}, engine={}):
        self.jobs += 1
        folder = os.path.join(self.tmp, "job%d" % self.jobs)
        os.mkdir(folder)
        job = {"name": "j", "sources": source if "t" in source else {"t": source}, "steps": [{"as": "q", "sql": sql}], "checkpoint": checkpoint or folder + "/chk",
               "sink": sink or {"format": "noop", "output_mode": "append"}, "engine": {"workers": 2, **engine}, "conf": {"spark.sql.session.timeZone": "UTC"}}
        if not live: job["trigger"] = {"available_now": True}
        with open(folder + "/job.json", "w") as f: json.dump(job, f)
        record = [] if sink else ["--record", folder + "/rows.json"]
        p = subprocess.Popen([self.args.millrace, "run", "--progress", "none", *record, folder + "/job.json"], cwd=folder,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, **env))
        p.folder = folder
        return p

    def run(self, *args, **more):
        """(exit code, what it said, [rows of each batch])"""
        p = self.start(*args, **more)
        try: out, err = p.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            p.kill()
            return "no end", p.communicate()[1], []
        batches = []
        if os.path.exists(p.folder + "/rows.json") and p.returncode == 0:
            with open(p.folder + "/rows.json") as f: batches = [b["rows"] for b in json.load(f)["batches"]]
        return p.returncode, out + err, batches

    def rows(self, *args, **more):
        code, said, batches = self.run(*args, **more)
        self.expect("exit code", code == 0, (code, said))
        return [r for b in batches for r in b]

    def got(self, *args, **more): return sorted(r["v"] for r in self.rows(*args, **more))

    def refused(self, what, code, says, *args, **more):
        got, said, _ = self.run(*args, **more)
        self.expect(what, got == code and says in said and self.password + "!" not in said, (got, said))

    def wait(self, what, ready, seconds=SECONDS):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if ready(): return True
            time.sleep(0.1)
        self.expect(what, False, "not within %d s" % seconds)
        return False

    def end(self, p):
        p.send_signal(signal.SIGTERM)
        try: _, err = p.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired: p.kill(); _, err = p.communicate()
        self.expect("end", p.returncode == 0, (p.returncode, err))
        return err


@test
def subscriptions(w):
    a, b = w.topic("s-a", 2), w.topic("s-b")
    w.produce((a, 0, "a0"), (a, 1, "a1"), (b, 0, "b0"))
    w.equal("list", w.got(w.source(subscribe="s-a, s-b")), ["a0", "a1", "b0"])
    w.equal("assign", w.got(w.source(assign='{"s-a":[1],"s-b":[0]}')), ["a1", "b0"])
    w.equal("pattern", w.got(w.source(subscribePattern="s-[a]")), ["a0", "a1"])
    w.equal("the whole name", w.got(w.source(subscribePattern="s-")), [])
    w.refused("no such topic", 1, "topic s-c: the brokers have no topic of this name", w.source(subscribe="s-a,s-c", fetchOffset__numRetries=0))
    w.refused("no such partition", 1, "assign names s-b-7, but topic s-b has 1 partitions", w.source(assign='{"s-b":[7]}', fetchOffset__numRetries=0))


@test
def appearing(w):
    """Topics and partitions that come while the query runs are read from their beginning."""
    w.topic("live-1"); w.topic("live-out"); w.topic("xlive-3")
    w.produce(("live-1", 0, "one"))
    p = w.start(w.source(subscribePattern="live-[0-9]", startingOffsets="latest"), "SELECT value FROM t", w.sink("live-out"), live=True)
    time.sleep(1)
    w.wait("latest", lambda: w.produce(("live-1", 0, "two")) or "two" in w.values("live-out"), 20)
    w.topic("live-2"); w.client("grow", "live-1", 2)
    w.produce(("live-2", 0, "new topic"), ("live-1", 1, "new partition"), ("xlive-3", 0, "other"))
    w.wait("new ones", lambda: {"new topic", "new partition"} <= set(w.values("live-out")), 20)
    w.end(p)
    w.equal("no others", set(w.values("live-out")), {"two", "new topic", "new partition"})


@test
def starting_offsets(w):
    t = w.topic("so", 2)
    w.produce(*[(t, 0, "p%d" % i) for i in range(4)], *[(t, 1, "q%d" % i) for i in range(4)])
    chk = os.path.join(w.tmp, "so-chk")
    w.equal("latest", w.got(w.source(subscribe=t, startingOffsets="latest"), checkpoint=chk), [])
    w.produce((t, 0, "p9"))
    w.equal("latest goes on", w.got(w.source(subscribe=t, startingOffsets="earliest"), checkpoint=chk), ["p9"])
    two = {"t": w.source(subscribe=t, startingOffsets="latest"), "u": w.source(subscribe=w.topic("so-2"), startingOffsets="latest")}
    both, chk = "SELECT CAST(value AS STRING) AS v FROM t UNION ALL SELECT CAST(value AS STRING) AS v FROM u", os.path.join(w.tmp, "so-chk-2")
    w.got(two, both, checkpoint=chk)
    w.produce((t, 0, "p10"))
    w.equal("one of two goes on", w.got(two, both, checkpoint=chk), ["p10"])
    w.produce(("so-2", 0, "u0"))
    w.equal("then the other", w.got(two, both, checkpoint=chk), ["u0"])
    w.equal("JSON", w.got(w.source(subscribe=t, startingOffsets='{"so":{"0":3,"1":-1}}')), ["p10", "p3", "p9"])
    w.equal("JSON -2", w.got(w.source(subscribe=t, startingOffsets='{"so":{"0":-1,"1":-2}}')), ["q0", "q1", "q2", "q3"])
    w.refused("missing partition", 2, "startingOffsets must name all partitions: so-1", w.source(subscribe=t, startingOffsets='{"so":{"0":3}}'))
    w.refused("other partition", 2, "startingOffsets names so-2", w.source(subscribe=t, startingOffsets='{"so":{"0":3,"1":0,"2":0}}'))
    w.refused("no JSON", 2, "for option 'startingOffsets', got", w.source(subscribe=t, startingOffsets='{"so":{"0":"x"}}'))


@test
def starting_timestamps(w):
    t = w.topic("st", 2)
    w.produce(*[(t, p, "%d-%d" % (p, s), {"timestamp": s * 1000}) for p in (0, 1) for s in (1, 2, 3 + p)])
    w.equal("one for all", w.got(w.source(subscribe=t, startingTimestamp=2000)), ["0-2", "0-3", "1-2", "1-4"])
    w.equal("wins", w.got(w.source(subscribe=t, startingTimestamp=3000, startingOffsetsByTimestamp='{"st":{"0":1,"1":1}}')), ["0-3", "1-4"])
    w.equal("by partition", w.got(w.source(subscribe=t, startingOffsetsByTimestamp='{"st":{"0":3000,"1":1001}}')), ["0-3", "1-2", "1-4"])
    w.refused("none", 2, "st-0 has no offset at or after timestamp 4000", w.source(subscribe=t, startingTimestamp=4000))
    w.equal("none: latest", w.got(w.source(subscribe=t, startingTimestamp=4000, startingOffsetsByTimestampStrategy="latest")), ["1-4"])
    w.refused("missing", 2, "must name all partitions: st-1", w.source(subscribe=t, startingOffsetsByTimestamp='{"st":{"0":3000}}'))


@test
def limits(w):
    t, sizes = w.topic("max", 3), {0: 30, 1: 11, 2: 2}
    w.produce(*[(t, p, "x") for p, n in sizes.items() for _ in range(n)])
    code, said, batches = w.run(w.source(subscribe=t, maxOffsetsPerTrigger=10), "SELECT partition FROM t")
    w.expect("exit code", code == 0, said)
    want, left = [], sizes
    while any(left.values()):
        share = {p: n for p, n in spark_share(left, 10).items() if n}
        left = {p: n - share.get(p, 0) for p, n in left.items()}
        want.append(share)
    w.equal("shares", [dict(collections.Counter(r["partition"] for r in b)) for b in batches], want)


@test
def minimum(w):
    t = w.topic("min"); w.topic("min-out")
    w.produce((t, 0, "a"))
    p = w.start(w.source(subscribe=t, minOffsetsPerTrigger=6, maxTriggerDelay="6s"), "SELECT value FROM t", w.sink("min-out"), live=True)
    w.wait("the first epoch does not wait", lambda: w.values("min-out") == ["a"], 20)
    begin = time.monotonic()
    w.produce((t, 0, "b"))
    time.sleep(1.5)
    w.equal("too little", w.values("min-out"), ["a"])
    if w.wait("the delay is over", lambda: w.values("min-out") == ["a", "b"], 20):
        w.expect("delay", time.monotonic() - begin > 3, time.monotonic() - begin)
    begin = time.monotonic()
    w.produce(*[(t, 0, "c")] * 6)
    if w.wait("enough", lambda: len(w.values("min-out")) == 8, 20): w.expect("at once", time.monotonic() - begin < 4.5, time.monotonic() - begin)
    w.end(p)


@test
def columns(w):
    t, late = w.topic("col", 2), w.topic("col-late", 1, "message.timestamp.type=LogAppendTime")
    w.produce((t, 1, "v", {"timestamp": 1700000000123, "key": "k", "headers": "b=2;a=1;b=\\N"}), (t, 1, None, {"key": "gone"}), (t, 1, "", {"key": ""}), (late, 0, "x"))
    b64 = lambda s: base64.b64encode(s.encode()).decode()
    rows = w.rows(w.source(subscribe=t, includeHeaders="true"), "SELECT * FROM t")
    first = {"key": b64("k"), "value": b64("v"), "topic": "col", "partition": 1, "offset": 0, "timestamp": "2023-11-14T22:13:20.123000Z", "timestampType": 0,
             "headers": [{"key": "b", "value": b64("2")}, {"key": "a", "value": b64("1")}, {"key": "b", "value": None}]}
    stamp = lambda text: text.replace(".123Z", ".123000Z")
    w.expect("order of columns", rows and list(rows[0]) == list(first), rows)
    w.equal("values", [dict(r, timestamp=stamp(r["timestamp"])) for r in rows[:1]], [first])
    w.equal("nulls", [(r["key"], r["value"], r["headers"]) for r in rows[1:]], [(b64("gone"), None, None), ("", "", None)])
    w.equal("no headers", [list(r) for r in w.rows(w.source(subscribe=t), "SELECT * FROM t")][0], list(first)[:7])
    w.equal("append time", [(r["timestampType"], r["recent"]) for r in w.rows(w.source(subscribe=late), "SELECT timestampType, timestamp > '2024-01-01' AS recent FROM t")], [(1, True)])


@test
def retention(w):
    t, chk = w.topic("ret"), os.path.join(w.tmp, "ret-chk")
    read = lambda **o: w.source(subscribe=t, fetchOffset__numRetries=0, **o)
    w.produce(*[(t, 0, "a%d" % i) for i in range(3)])
    w.equal("before", w.got(read(), checkpoint=chk), ["a0", "a1", "a2"])
    w.produce(*[(t, 0, "b%d" % i) for i in range(3)])
    w.client("truncate", t, 0, 5)
    w.refused("lost", 1, "data loss: ret-0: offsets 3 to 4 are no longer there", read(), checkpoint=chk)
    code, said, batches = w.run(read(failOnDataLoss="false"), checkpoint=chk)
    w.expect("goes on", code == 0 and "warning" in said and "offsets 3 to 4" in said, (code, said))
    w.equal("what is left", [r["v"] for b in batches for r in b], ["b2"])
    w.client("drop", t)
    w.refused("topic is gone", 1, "partition ret-0 is gone", read(), checkpoint=chk)
    code, said, _ = w.run(read(failOnDataLoss="false"), checkpoint=chk)
    w.expect("without the topic", code == 0 and "partition ret-0 is gone" in said, (code, said))
    t2, chk = w.topic("ret2"), os.path.join(w.tmp, "ret2-chk")
    again = lambda **o: w.source(subscribe=t2, **o)
    w.produce(*[(t2, 0, "a%d" % i) for i in range(9)])
    w.got(again(), checkpoint=chk)
    w.client("drop", t2); time.sleep(0.5); w.topic(t2)
    w.produce((t2, 0, "new"))
    w.refused("made anew", 1, "the topic was made anew", again(), checkpoint=chk)
    w.equal("made anew, goes on", w.got(again(failOnDataLoss="false"), checkpoint=chk), ["new"])


@test
def retention_of_a_planned_epoch(w):
    """A crash leaves a planned epoch; until it runs again, a part of it is deleted."""
    for keep in ("false", "true"):
        t, chk = w.topic("plan-" + keep), os.path.join(w.tmp, "plan-%s-chk" % keep)
        w.produce(*[(t, 0, "a%d" % i) for i in range(7)])
        code, said, _ = w.run(w.source(subscribe=t), checkpoint=chk, env={"MILLRACE_CRASH": "before_commit"})
        w.expect("crash", code not in (0, 1, 2), (code, said))
        w.client("truncate", t, 0, 4)
        code, said, batches = w.run(w.source(subscribe=t, failOnDataLoss=keep), checkpoint=chk)
        if keep == "true": w.expect("fails", code == 1 and "data loss: plan-true-0: offsets from 0 on" in said, (code, said))
        else:
            w.expect("goes on", code == 0 and "data loss: plan-false-0: offsets 0 to 3" in said, (code, said))
            w.equal("what is left", sorted(r["v"] for b in batches for r in b), ["a4", "a5", "a6"])


@test
def transactions(w):
    t = w.topic("txn")
    w.produce((t, 0, "yes"), end="commit")
    w.produce((t, 0, "no"), end="abort")
    w.produce((t, 0, "yes too"), end="commit")
    w.equal("committed", w.got(w.source(subscribe=t, kafka__isolation__level="read_committed")), ["yes", "yes too"])
    w.equal("all", w.got(w.source(subscribe=t)), ["no", "yes", "yes too"])
    for limit in (1, 2, 4):  # what comes behind a gap, and beyond its epoch, waits for the next one
        w.equal("all, %d an epoch" % limit, w.got(w.source(subscribe=t, maxOffsetsPerTrigger=limit)), ["no", "yes", "yes too"])
        w.equal("committed, %d an epoch" % limit, w.got(w.source(subscribe=t, maxOffsetsPerTrigger=limit, kafka__isolation__level="read_committed")), ["yes", "yes too"])
    many, each = w.topic("txn-many"), ["%02d" % i for i in range(20)]
    for x in each: w.produce((many, 0, x), end="commit")
    for limit in (5, 7):  # of whose offsets half are no records: several from behind come along
        w.equal("many, %d an epoch" % limit, w.got(w.source(subscribe=many, maxOffsetsPerTrigger=limit, kafka__isolation__level="read_committed")), each)
    chk = os.path.join(w.tmp, "txn-chk")
    w.produce((t, 0, "open"), end="open", id="open-one")
    w.equal("open", w.got(w.source(subscribe=t, kafka__isolation__level="read_committed"), checkpoint=chk), ["yes", "yes too"])


@test
def rows_out(w):
    t, out = w.topic("in"), w.topic("out", 8)
    w.topic("out-1"); w.topic("out-2", 3)
    w.produce((t, 0, "x", {"key": "k", "headers": "h=1;i=\\N;h=2"}))
    go = lambda sql, sink, **o: w.expect(sql, (r := w.run(w.source(subscribe=t, **o), sql, sink))[0] == 0, r)
    go("SELECT value, 'out-2' AS topic, 0 AS partition FROM t", w.sink("out-1"))
    go("SELECT value, 'out-2' AS topic, 2 AS partition, key, headers FROM t", w.sink(), includeHeaders="true")
    go("SELECT CAST(NULL AS BINARY) AS value, 'out-2' AS topic, 'tomb' AS key, CAST(NULL AS INT) AS partition FROM t", w.sink())
    keys = ["", "a", "ab", "abc", "abcd", "user-17", "x" * 50, "\u00fc"]
    go("SELECT k AS key, 'v' AS value FROM (SELECT explode(array(%s)) AS k FROM t)" % ", ".join("'%s'" % k for k in keys), w.sink("out"))
    w.refused("partition 1 of 1", 1, "topic out-1 has no partition 1", w.source(subscribe=t), "SELECT value, 1 AS partition FROM t", w.sink("out-1"))
    w.equal("the option wins", w.values("out-1"), ["x"])
    two = w.read("out-2")
    w.expect("partition and headers", ("2", "k", "x", "h=1;i=\\N;h=2") in [(r[0], r[2], r[3], r[4]) for r in two], two)
    w.expect("tombstone", ("tomb", "\\N") in [(r[2], r[3]) for r in two], two)
    w.equal("Java's partitions", sorted((r[2], int(r[0])) for r in w.read("out") if r[2]), sorted((k, murmur2(k.encode()) % 8) for k in keys if k))
    w.refused("null topic", 1, "null topic present in the data", w.source(subscribe=t), "SELECT value, CAST(NULL AS STRING) AS topic FROM t", w.sink())
    w.refused("unknown topic", 1, "kafka sink", w.source(subscribe=t), "SELECT value FROM t", w.sink("out/bad"))


@test
def big_records(w):
    big, size = w.topic("big", 1, "max.message.bytes=20000000"), 5000000
    w.produce((big, 0, "y" * size))
    w.topic("big-out", 1, "max.message.bytes=20000000")
    w.refused("too big", 1, "a record with a value of 5000000 bytes is larger than kafka.max.request.size", w.source(subscribe=big), "SELECT value FROM t", w.sink("big-out"))
    code, said, _ = w.run(w.source(subscribe=big), "SELECT value FROM t", w.sink("big-out", **{"kafka.max.request.size": 8000000, "kafka.compression.type": "zstd"}))
    w.expect("big", code == 0, said)
    w.equal("bytes", [len(r[3]) for r in w.read("big-out")], [size])


@test
def little_memory(w):
    """What was fetched and not yet worked on does not keep the client from ending."""
    t, begin = w.topic("heavy"), time.monotonic()
    for _ in range(4): w.produce(*[(t, 0, "z" * 900000)] * 10)
    w.refused("no memory", 1, "needs more memory", w.source(subscribe=t), engine={"memory_limit": "16m"})
    w.expect("soon", time.monotonic() - begin < 30, time.monotonic() - begin)


@test
def epoch_marker(w):
    """The epoch is out, the log does not know it, and another query's open transaction hides the marker."""
    t, chk = w.topic("mark"), os.path.join(w.tmp, "mark-chk")
    w.topic("mark-out")
    w.produce((t, 0, "once"))
    w.produce(("millrace.epochs", 0, "5 {}", {"key": "another query"}), end="open", id="another-query")
    code, said, _ = w.run(w.source(subscribe=t), "SELECT value FROM t", w.sink("mark-out"), checkpoint=chk, env={"MILLRACE_CRASH": "before_commit"})
    w.expect("crash", code not in (0, 1, 2), (code, said))
    code, said, _ = w.run(w.source(subscribe=t), "SELECT value FROM t", w.sink("mark-out"), checkpoint=chk)
    w.expect("restart", code == 0, (code, said))
    w.equal("not twice", w.values("mark-out"), ["once"])
    files = {"format": "json", "path": os.path.join(w.tmp, "files"), "output_mode": "append"}
    w.refused("another sink", 2, "its sink was kafka and is json", w.source(subscribe=t), "SELECT value FROM t", files, checkpoint=chk)


def certificate(w, name, days, issuer=None, san="IP:127.0.0.1"):
    """(certificate, key) signed by the broker's authority, or by itself."""
    path = os.path.join(w.tmp, name)
    run = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True)
    run("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name, "-keyout", path + ".key", "-out", path + ".csr")
    with open(path + ".ext", "w") as f: f.write("subjectAltName=%s\n" % san)
    by = ["-CA", w.ca, "-CAkey", os.path.join(os.path.dirname(w.ca), "ca.key"), "-CAcreateserial"] if issuer else ["-signkey", path + ".key"]
    run("x509", "-req", "-in", path + ".csr", *by, "-days", str(days), "-extfile", path + ".ext", "-out", path + ".pem")
    return path + ".pem", path + ".key"


def tls_server(w, pair, old=False):
    """Its address. It shakes hands and says nothing. old: TLS 1.1 at most."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    if old:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try: plain, _ = listener.accept()
            except OSError: return
            try:
                with context.wrap_socket(plain, server_side=True) as s: s.recv(1)
            except OSError: pass
    threading.Thread(target=serve, daemon=True).start()
    return "127.0.0.1:%d" % listener.getsockname()[1]


@test
def tls(w):
    t = w.topic("tls")
    w.produce((t, 0, "x"))
    w.topic("tls-out")
    secure = lambda servers, ca: {"kafka.bootstrap.servers": servers, "kafka.security.protocol": "SSL",
                                  **({"kafka.ssl.truststore.location": ca, "kafka.ssl.truststore.type": "PEM"} if ca else {})}
    go = lambda servers, ca: w.source(subscribe=t, **secure(servers, ca))
    w.equal("good authority", w.got(go(w.tls, w.ca)), ["x"])
    code, said, _ = w.run(go(w.tls, w.ca), "SELECT value FROM t", w.sink("tls-out", **secure(w.tls, w.ca)))
    w.equal("sink", (code, w.values("tls-out")), (0, ["x"]))
    store = os.path.join(w.tmp, "client-store.pem")
    with open(store, "w") as f: f.write("".join(open(os.path.join(os.path.dirname(w.ca), n)).read() for n in ("client.key", "client.pem")))
    w.equal("client certificate", w.got(w.source(subscribe=t, **secure(w.tls, w.ca), kafka__ssl__keystore__location=store, kafka__ssl__keystore__type="PEM")), ["x"])
    other, _ = certificate(w, "other-authority", 10)
    for what, servers, ca in (("wrong host", tls_server(w, certificate(w, "wrong-host", 10, w.ca, "DNS:other.example")), w.ca),
                              ("expired", tls_server(w, certificate(w, "expired", -1, w.ca)), w.ca),
                              ("self-signed", tls_server(w, certificate(w, "self-signed", 10)), w.ca),
                              ("TLS 1.1", tls_server(w, certificate(w, "old", 10, w.ca), old=True), w.ca),
                              ("unknown authority", w.tls, other), ("no authority", w.tls, None)):
        begin = time.monotonic()
        w.refused(what, 1, "source \"t\": the broker can't be trusted or refuses us: ssl://%s" % servers, go(servers, ca))
        w.expect(what + " soon", time.monotonic() - begin < 10, time.monotonic() - begin)
    sink = w.sink("tls-out", **secure(tls_server(w, certificate(w, "wrong-host-2", 10, w.ca, "DNS:other.example")), w.ca))
    w.refused("sink, wrong host", 1, "kafka sink: the broker can't be trusted", w.source(subscribe=t), "SELECT value FROM t", sink)


@test
def passwords(w):
    t = w.topic("sasl")
    w.produce((t, 0, "x"))
    secure = {"kafka.bootstrap.servers": w.sasl, "kafka.security.protocol": "SASL_SSL", "kafka.ssl.truststore.location": w.ca}
    for mechanism, module in (("PLAIN", "plain.PlainLoginModule"), ("SCRAM-SHA-256", "scram.ScramLoginModule"), ("SCRAM-SHA-512", "scram.ScramLoginModule")):
        for password in (w.password, w.password + "!"):
            jaas = 'org.apache.kafka.common.security.%s required username="%s" password="%s";' % (module, w.user, password)
            options = dict(secure, **{"kafka.sasl.mechanism": mechanism, "kafka.sasl.jaas.config": jaas})
            if password == w.password: w.equal(mechanism, w.got(w.source(subscribe=t, **options)), ["x"])
            else: w.refused("wrong password, " + mechanism, 1, "the broker can't be trusted or refuses us", w.source(subscribe=t, **options))
    for level in ("all", "security,protocol,conf"):
        options = dict(secure, **{"kafka.sasl.mechanism": "PLAIN", "kafka.sasl.username": w.user, "kafka.sasl.password": w.password, "kafka.debug": level})
        code, said, _ = w.run(w.source(subscribe=t, **options))
        w.expect("debug log", code in (0, 2) and w.password not in said, (code, said[-2000:]))
    named = dict(secure, **{"kafka.sasl.mechanism": "PLAIN", "kafka.sasl.username": w.user, "kafka.sasl.password": w.password + "!"})
    w.refused("wrong password, sink", 1, "kafka sink: the broker can't be trusted or refuses us", w.source(subscribe=t), "SELECT value FROM t", w.sink("sasl", **named))
    code, said, _ = w.run(w.source(subscribe=t, kafka__sasl__username="u", kafka__sasl__password=w.password + "!"))
    w.expect("no encryption", code == 0 and "warning: source \"t\": a user's password is given, but not used" in said and w.password + "!" not in said, (code, said))


def main():
    p = argparse.ArgumentParser(prog="kafka.py")
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    p.add_argument("--client")
    p.add_argument("-k", default="", help="only tests whose name has this")
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # folders and brokers are removed
    args.millrace = os.path.abspath(args.millrace)
    args.client = os.path.abspath(args.client or os.path.join(os.path.dirname(args.millrace), "kafka_client"))
    w = World(args)
    try:
        for f in tests:
            if args.k not in f.__name__: continue
            w.name, begin = f.__name__, time.monotonic()
            f(w)
            print("%-30s %5.1f s" % (w.name, time.monotonic() - begin), flush=True)
    finally: w.close()
    print("%d checks, %d failed" % (w.ran, w.failed))
    sys.exit(w.failed > 0)


if __name__ == "__main__": main()
