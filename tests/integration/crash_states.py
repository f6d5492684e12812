#!/usr/bin/env python3
"""Every state in which a power cut may leave the disk.  usage: crash_states.py [--millrace PATH] [--states N] [--seed N] [--break WHAT]

A run writes down its writes, syncs and names (MILLRACE_FAULT_TRACE, io/fault/fault.h). From that, states of the disk are made: all up to
some operation has happened, and of what was not synced until then some sectors of 512 bytes have reached the disk, and of each
folder the first few changes of names. On each state the job is started again: it must end well, epochs that were told must
not run again, and the output must be that of an undisturbed run, row for row.

--break log|sink|names: a millrace that forgets to sync its log, its output files before a commit, or names in folders: it must be caught.
Exit code 0: all recovered (or the broken one was caught), 1: not. A failure prints operation and seed.
"""
import argparse, json, os, random, shutil, signal, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from crash import ROOT
from world import CREATE, Job, read_trace

BREAKS = {"log": "sync:@/chk/log/0:skip", "sink": "sync:@/out/:skip", "names": ""}
SECTOR, TRUNCATE, EXCLUSIVE = 512, 16, 8


class File:
    def __init__(self): self.durable, self.pending = bytearray(), []  # (offset, bytes) or (size, None)

    @staticmethod
    def apply(data, offset, new):
        if new is None:
            del data[offset:]
            data.extend(bytes(offset - len(data)))
            return
        if len(data) < offset + len(new): data.extend(bytes(offset + len(new) - len(data)))
        data[offset:offset + len(new)] = new

    def sync(self):
        for change in self.pending: self.apply(self.durable, *change)
        self.pending = []

    def after_cut(self, random_):
        data, how = bytearray(self.durable), random_.randrange(4)  # nothing, all, some changes, some sectors
        for offset, new in self.pending:
            if how == 0 or (how == 2 and random_.random() < 0.5): continue
            if how != 3 or new is None: self.apply(data, offset, new)
            else:
                for at in range(0, len(new), SECTOR):
                    if random_.random() < 0.5: self.apply(data, offset + at, new[at:at + SECTOR])
        return data


class Disk:
    """What is surely there (folders, files by name), and the changes of names that are on their way, by folder."""

    def __init__(self, root):
        self.names, self.live, self.pending, self.open, self.root = {root: None}, {root: None}, {}, {}, root

    def change(self, folder, name, file): self.pending.setdefault(folder, []).append((name, file))  # file False: gone, None: a folder

    def do(self, op):
        kind = op[0]
        if kind == "open":
            path = op[3]
            file = self.live.get(path)
            if file is None:
                if not op[2] & CREATE: return
                file = self.live[path] = File()
                self.change(os.path.dirname(path), path, file)
            elif op[2] & TRUNCATE: file.pending.append((0, None))
            self.open[op[1]] = file
        elif kind == "close": self.open.pop(op[1], None)
        elif kind == "write": self.open[op[1]].pending.append(op[2:])
        elif kind == "truncate": self.open[op[1]].pending.append((op[2], None))
        elif kind == "sync": self.open[op[1]].sync()
        elif kind == "mkdir":
            if op[1] not in self.live:
                self.live[op[1]] = None
                self.change(os.path.dirname(op[1]), op[1], None)
        elif kind == "rename":
            assert os.path.dirname(op[1]) == os.path.dirname(op[2])
            if op[1] in self.live:
                self.live[op[2]] = self.live.pop(op[1])
                self.pending.setdefault(os.path.dirname(op[1]), []).append((op[1], op[2], self.live[op[2]]))
        elif kind == "unlink":
            if self.live.pop(op[1], False): self.change(os.path.dirname(op[1]), op[1], False)
        elif kind == "syncdir":
            for change in self.pending.pop(op[1], []): self.apply(self.names, change)
        elif kind not in ("told", "fail"): raise SystemExit("crash_states.py: operation %s is unknown" % kind)

    @staticmethod
    def apply(names, change):
        if len(change) == 3:  # a rename is one change
            names.pop(change[0], None)
            names[change[1]] = change[2]
        elif change[1] is False: names.pop(change[0], None)
        else: names[change[0]] = change[1]

    def store(self, random_):
        """A state, as files. What lies in a folder that is not there is not there either."""
        names = dict(self.names)
        for folder, changes in self.pending.items():
            for change in changes[:random_.randint(0, len(changes))]: self.apply(names, change)
        for folder in ("chk", "out"): shutil.rmtree(os.path.join(self.root, folder), ignore_errors=True)
        for path in sorted(names):
            if path == self.root or not os.path.isdir(os.path.dirname(path)): continue
            if names[path] is None: os.mkdir(path)
            else:
                with open(path, "wb") as f: f.write(names[path].after_cut(random_))


def told(op):
    if op[0] != "told" or not op[1].startswith("{") or '"batchId"' not in op[1]: return None
    return json.loads(op[1])["batchId"]


def check(job, folder, last):
    trouble = job.trouble_at_rest(folder)
    code, said = job.run(folder, progress="json")
    if code: return "the restart failed (%d): %s" % (code, said[-500:])
    first = next((json.loads(x)["batchId"] for x in said.splitlines() if x.startswith("{")), None)
    if first is not None and first <= last: return "epoch %d was told, but runs again" % last
    return trouble or job.trouble_at_end(folder)


def explore(job, env, syncs_names, n, seed, stop_at_first):
    """n states of one run; gives their number, operations, and the troubles found."""
    folder, random_ = job.folder(), random.Random(seed)
    job.write(folder)
    with open(folder + "/trace", "a") as trace: code = job.run(folder, dict(env, MILLRACE_FAULT_TRACE=folder + "/trace"), progress="json", stderr=trace)[0]
    ops, disk, last, troubles, done = read_trace(folder + "/trace"), Disk(folder), -1, [], 0
    if code: raise SystemExit("crash_states.py: the traced run ended with %d" % code)
    if not syncs_names: ops = [op for op in ops if op[0] != "syncdir"]
    points = sorted(random_.choice(range(1, len(ops) + 1)) for _ in range(n))
    for i, op in enumerate(ops):
        disk.do(op)
        epoch = told(op)
        if epoch is not None: last = epoch
        while points and points[0] == i + 1:
            points.pop(0)
            state = random_.randrange(1 << 30)
            disk.store(random.Random(state))
            done += 1
            trouble = check(job, folder, last)
            if trouble: troubles.append("after operation %d (%s) of seed %d, state %d: %s" % (i + 1, [x for x in op if not isinstance(x, bytes)], seed, state, trouble))
            if trouble and stop_at_first: return done, len(ops), troubles
    return done, len(ops), troubles


def main():
    p = argparse.ArgumentParser(prog="crash_states.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    p.add_argument("--states", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--break", dest="broken", choices=sorted(BREAKS))
    args = p.parse_args()
    args.millrace = os.path.abspath(args.millrace)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # folders and mounts are removed
    tmp, begin = tempfile.mkdtemp(prefix="mr-states-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None), time.monotonic()
    total = bad = ops = 0
    try:
        jobs = [Job(args.millrace, tmp, "%s-%d" % (sink, workers), sink, workers, commit_interval=interval)
                for sink, workers, interval in (("json", 1, "0 seconds"), ("csv", 2, "1 hour"))]
        for i, job in enumerate(jobs):
            job.calm()
            env = {"MILLRACE_FAULT": BREAKS[args.broken]} if BREAKS.get(args.broken) else {}
            for k in range(0, args.states // 2, 500):  # a run of its own for each 500
                done, n, troubles = explore(job, env, args.broken != "names", min(500, args.states // 2 - k), args.seed * 1000 + i * 100 + k, args.broken is not None)
                if troubles and args.broken:
                    print("a millrace without syncs of its %s was caught by state %d: %s" % (args.broken, total + done, troubles[0].replace("\n", " ")[:400]))
                    return 0
                for t in troubles[:5]: print("  FAIL %s %s" % (job.name, t), flush=True)
                total, ops, bad = total + done, ops + n, bad + len(troubles)
        if args.broken:
            print("a millrace without syncs of its %s was not caught in %d states" % (args.broken, total))
            return 1
        print("%d states of the disk after power cuts in %d operations recovered (%.0f s)%s" % (total, ops, time.monotonic() - begin, "; %d FAILURES" % bad if bad else ""))
        return 1 if bad else 0
    finally: shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__": sys.exit(main())
