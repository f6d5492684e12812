#!/usr/bin/env python3
"""Topic to topic in many small transactions while the broker is killed, and while answers get lost: each record is out once.

usage: kafka_faults.py [--millrace PATH] [--client PATH] [--kills N] [--faults N] [--seed N]

kills     the broker ends by SIGKILL and comes back, N times (3); the job goes on by itself, or ends with exit code 1 and is started again
faults    a proxy between the job and the broker cuts connections before a request arrives or after it was served, and tells that a
          transaction could not be committed although it was, or was never asked for: N times (100)
Exit 0: nothing lost, nothing doubled; 1: what is.
"""
import argparse, collections, json, os, random, shutil, signal, socket, struct, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "tools", "kafka")
PRODUCE, FETCH, LIST_OFFSETS, METADATA, COORDINATOR, INIT_PRODUCER, ADD_PARTITIONS, END_TXN = 0, 1, 2, 3, 10, 22, 24, 26
CHANCE = {PRODUCE: 0.15, FETCH: 0.02, LIST_OFFSETS: 0.06, METADATA: 0.06, COORDINATOR: 0.1, INIT_PRODUCER: 0.15, ADD_PARTITIONS: 0.15, END_TXN: 0.2}
NAMES = {PRODUCE: "Produce", FETCH: "Fetch", LIST_OFFSETS: "ListOffsets", METADATA: "Metadata", COORDINATOR: "FindCoordinator",
         INIT_PRODUCER: "InitProducerId", ADD_PARTITIONS: "AddPartitionsToTxn", END_TXN: "EndTxn"}
INVALID_PRODUCER_EPOCH = 47


class Proxy:
    """Frames of the Kafka protocol; only clients named millrace meet with faults, and only while it is on."""
    def __init__(self, random_):
        self.random, self.on, self.target, self.done = random_, False, None, collections.Counter()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            try: far = socket.create_connection(("127.0.0.1", self.target))
            except OSError: near.close(); continue
            for s in (near, far): s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            waiting = {}  # correlation id -> (api, what to do with the answer)
            for work in (self.requests, self.answers): threading.Thread(target=self.serve, args=(work, near, far, waiting), daemon=True).start()

    def serve(self, work, near, far, waiting):
        try: work(near, far, waiting)
        except OSError: pass
        for s in (near, far):
            try: s.shutdown(socket.SHUT_RDWR)
            except OSError: pass
            s.close()

    def frame(self, s):
        data = b""
        while len(data) < 4 or len(data) < 4 + struct.unpack(">i", data[:4])[0]:
            more = s.recv(4 - len(data) if len(data) < 4 else 4 + struct.unpack(">i", data[:4])[0] - len(data))
            if not more: raise OSError("end")
            data += more
        return data

    def choose(self, api, version, client):
        """How this request fares: served, cut before or after, lied about before or after."""
        if not self.on or client != b"millrace" or self.random.random() >= CHANCE.get(api, 0): return "served"
        kind = self.random.choice(["cut before", "cut after"] + (["lied before", "lied after"] if api == END_TXN and version < 3 else []))
        self.done[kind + " " + NAMES[api]] += 1
        return kind

    def requests(self, near, far, waiting):
        while True:
            data = self.frame(near)
            api, version, number, n = struct.unpack(">hhih", data[4:14])
            kind = self.choose(api, version, data[14:14 + max(n, 0)])
            if kind == "cut before": return
            if kind == "lied before": near.sendall(struct.pack(">iiih", 10, number, 0, INVALID_PRODUCER_EPOCH)); continue
            waiting[number] = kind
            far.sendall(data)

    def answers(self, near, far, waiting):
        while True:
            data = self.frame(far)
            number, = struct.unpack(">i", data[4:8])
            kind = waiting.pop(number, "served")
            if kind == "cut after": return
            if kind == "lied after": data = data[:12] + struct.pack(">h", INVALID_PRODUCER_EPOCH) + data[14:]
            near.sendall(data)


class World:
    def __init__(self, args, proxy=None):
        self.args, self.proxy, self.tmp = args, proxy, tempfile.mkdtemp(prefix="mr-kafka-faults-")
        self.broker, self.said, self.starts, self.job = os.path.join(self.tmp, "broker"), "", 0, None
        self.start_broker(*(["--port", "0"] + (["--set", "advertised.listeners=PLAINTEXT://127.0.0.1:%d" % proxy.port] if proxy else [])))
        self.client("topic", "in", 3); self.client("topic", "out", 2)
        self.sent = 0

    def start_broker(self, *words):
        for _ in range(2):  # a machine that is busy may be too slow for the first time
            p = subprocess.run([TOOL, "start", "--dir", self.broker, *words], capture_output=True, text=True)
            if p.returncode == 0: break
        if p.returncode: sys.exit("kafka_faults.py: the broker does not start: %s" % p.stderr)
        self.servers = dict(line.split("=", 1) for line in p.stdout.split())["KAFKA_BOOTSTRAP"]
        if self.proxy: self.proxy.target = int(self.servers.split(":")[1])

    def kill_broker(self): subprocess.run([TOOL, "stop", "--dir", self.broker, "--kill"], check=True, capture_output=True)

    def close(self):
        if self.job and self.job.poll() is None: self.job.kill(); self.job.communicate()
        subprocess.run([TOOL, "stop", "--dir", self.broker, "--kill", "--purge"], capture_output=True)
        shutil.rmtree(self.tmp, ignore_errors=True)

    def client(self, *words, input=None):
        p = subprocess.run([self.args.client, self.servers, *map(str, words)], input=input, capture_output=True, text=True, timeout=120)
        if p.returncode: sys.exit("kafka_faults.py: kafka_client %s: %s" % (" ".join(map(str, words)), p.stderr))
        return p.stdout

    def send(self, n):
        self.client("produce", "plain", input="".join("in\t%d\t1000\t\\N\t%d\t\n" % (i % 3, i) for i in range(self.sent, self.sent + n)))
        self.sent += n

    def start_job(self):
        servers = "127.0.0.1:%d" % self.proxy.port if self.proxy else self.servers
        options = {"kafka.bootstrap.servers": servers, "kafka.reconnect.backoff.ms": 5, "kafka.reconnect.backoff.max.ms": 50}
        job = {"name": "faults", "checkpoint": self.tmp + "/chk", "engine": {"workers": 2}, "steps": [{"as": "q", "sql": "SELECT value FROM raw"}],
               "sources": {"raw": {"format": "kafka", "options": dict(options, subscribe="in", startingOffsets="earliest", maxOffsetsPerTrigger=self.args.epoch_rows,
                                                                     **{"fetchOffset.retryIntervalMs": 100, "fetchOffset.numRetries": 30})}},
               "sink": {"format": "kafka", "output_mode": "append", "options": dict(options, topic="out")}}
        with open(self.tmp + "/job.json", "w") as f: json.dump(job, f)
        self.log = open(self.tmp + "/log", "w+")
        self.job = subprocess.Popen([self.args.millrace, "run", "--progress", "none", self.tmp + "/job.json"], stderr=self.log)
        self.starts += 1

    def tend(self):
        """Starts the job again when it ended, which it may do only with a reason."""
        if self.job.poll() is None: return
        self.log.seek(0)
        said = [x for x in self.log.read().splitlines() if "error:" in x]
        if self.job.returncode != 1 or not said or "data loss" in said[-1]: sys.exit("kafka_faults.py: the job ended with %s: %s" % (self.job.returncode, said))
        if self.args.v: print(said[-1])
        self.start_job()

    def out(self): return collections.Counter(int(line.split("\t")[3]) for line in self.client("read", "out").splitlines())

    def finish(self, seconds):
        """Waits for the last record; gives what is lost and what is there too often."""
        until = time.monotonic() + seconds
        while True:
            self.tend()
            out = self.out()
            if len(out) >= self.sent or time.monotonic() > until: break
            time.sleep(0.5)
        self.job.send_signal(signal.SIGTERM)
        if self.job.wait(60) not in (0, 1): sys.exit("kafka_faults.py: the job ended with %d" % self.job.returncode)
        out = self.out()
        return [i for i in range(self.sent) if i not in out], [i for i, n in out.items() if n > 1]

    def epochs(self): return sum(1 for line in self.client("read", "millrace.epochs").splitlines())


def report(what, world, lost, doubled):
    print("%s: %d records in %d transactions, %d starts of the job: %d lost %s, %d doubled %s" % (
        what, world.sent, world.epochs(), world.starts, len(lost), lost[:5], len(doubled), doubled[:5]), flush=True)
    return not lost and not doubled


def kills(args, random_):
    w = World(args)
    try:
        w.send(20000)
        w.start_job()
        for _ in range(args.kills):
            begin = time.monotonic() + random_.uniform(0.5, 2)
            while time.monotonic() < begin: w.tend(); time.sleep(0.05)
            w.kill_broker()
            w.start_broker()
            w.send(2000)
        return report("%d kills of the broker" % args.kills, w, *w.finish(120))
    finally: w.close()


def faults(args, random_):
    proxy = Proxy(random_)
    w = World(args, proxy)
    try:
        w.start_job()
        until = time.monotonic() + 2 * args.faults
        while sum(proxy.done.values()) < args.faults and time.monotonic() < until:
            proxy.on = False
            w.send(500)
            proxy.on = True
            part = time.monotonic() + 2
            while time.monotonic() < part: w.tend(); time.sleep(0.05)
        proxy.on = False
        lost, doubled = w.finish(120)
        print(", ".join("%d %s" % (n, k) for k, n in sorted(proxy.done.items())))
        return report("%d faults" % sum(proxy.done.values()), w, lost, doubled) and sum(proxy.done.values()) >= args.faults
    finally: w.close()


def main():
    p = argparse.ArgumentParser(prog="kafka_faults.py")
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    p.add_argument("--client")
    p.add_argument("--kills", type=int, default=3)
    p.add_argument("--faults", type=int, default=100)
    p.add_argument("--epoch-rows", type=int, default=50)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-v", action="store_true", help="shows why the job ended")
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # folders and brokers are removed
    args.millrace = os.path.abspath(args.millrace)
    args.client = os.path.abspath(args.client or os.path.join(os.path.dirname(args.millrace), "kafka_client"))
    ok = not args.kills or kills(args, random.Random(args.seed))
    ok = (not args.faults or faults(args, random.Random(args.seed))) and ok
    sys.exit(not ok)


if __name__ == "__main__": main()
