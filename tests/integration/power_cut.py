#!/usr/bin/env python3
"""Power cuts on a real file system: what was not synced is really gone.  usage: power_cut.py [--millrace PATH] [--cuts N] [--seed N] [--break]

A job runs on an ext4 image that is mounted by loop. At a random moment it is stopped (SIGSTOP), the image is copied, as the disk is at
that moment, and the job killed. The copy is mounted and the job started again on it. Each epoch that was told before the cut must be
there without running again, and the output at the end must be that of an undisturbed run, row for row.

--break: a millrace that commits before its output files are durable: the cuts must show it. (A log without syncs they can't show: O_DIRECT
reaches the image at once, only a drive's cache would lose it; crash_states.py does.)
Needs root and loop mounts; without them it says so and ends with 77 (skipped).
"""
import argparse, json, os, random, shutil, signal, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from crash import ROOT
from world import Job

BROKEN = "sync:@/out/:skip"


def sh(*command): return subprocess.run(command, capture_output=True, text=True)


class Disk:
    """One ext4 image, mounted at .mount; paths in it are the same for each copy."""

    def __init__(self, tmp):
        self.image, self.copy, self.mount = tmp + "/disk.img", tmp + "/copy.img", tmp + "/disk"
        os.makedirs(self.mount)
        with open(self.image, "wb") as f: f.truncate(24 << 20)

    def fresh(self):
        """What stands in the way, or None."""
        if os.geteuid() != 0: return "needs root"
        made = sh("mkfs.ext4", "-q", "-F", self.image)
        if made.returncode: return "mkfs.ext4: " + made.stderr.strip()
        return self.attach(self.image)

    def attach(self, image):
        mounted = sh("mount", "-o", "loop", image, self.mount)
        return "loop mounts are refused: " + mounted.stderr.strip() if mounted.returncode else None

    def detach(self):
        """The kernel may hold files of a process that was killed for a moment longer."""
        for _ in range(100):
            done = sh("umount", self.mount)
            if done.returncode == 0: return True
            time.sleep(0.1)
        sys.exit("power_cut.py: " + done.stderr.strip())


def told(path):
    with open(path) as f: return [json.loads(x)["batchId"] for x in f if x.startswith("{") and x.endswith("}\n")]


def cut_once(job, disk, random_, seconds, env):
    """The trouble of one cut, or None, and the epochs told before it."""
    folder, log = disk.mount + "/run", job.tmp + "/told"
    why = disk.fresh()
    if why: raise SystemExit("power_cut.py: " + why)
    # The job and its folder are there before: only what millrace itself makes is at stake.
    path = job.write(folder)
    os.sync()
    with open(log, "w") as out:
        p = subprocess.Popen([job.millrace, "run", "--progress", "json", path], stderr=out, env=dict(os.environ, **env))
        try: p.wait(random_.uniform(0.02, seconds))
        except subprocess.TimeoutExpired: pass
        before = told(log)
        ended = p.poll() is not None
        if not ended:
            p.send_signal(signal.SIGSTOP)
            before = told(log)
    shutil.copyfile(disk.image, disk.copy)
    if not ended: p.kill()
    p.wait()
    disk.detach()
    why = disk.attach(disk.copy)
    if why: return "the copy: " + why, before
    try:
        trouble = job.trouble_at_rest(folder)
        code, said = job.run(folder, progress="json")
        first = [json.loads(x)["batchId"] for x in said.splitlines() if x.startswith("{")]
        if code: return "the restart failed (%d): %s" % (code, said[-500:]), before
        if before and first and first[0] <= before[-1]: return "epoch %d was told, but runs again" % before[-1], before
        if ended and p.returncode: return "before the cut it ended with %d" % p.returncode, before
        if ended and first: return "it had ended, but epoch %d runs" % first[0], before
        return trouble or job.trouble_at_end(folder), before
    finally: disk.detach()


def main():
    p = argparse.ArgumentParser(prog="power_cut.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    p.add_argument("--cuts", type=int, default=2)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--break", dest="broken", action="store_true")
    args = p.parse_args()
    args.millrace = os.path.abspath(args.millrace)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # folders and mounts are removed
    env = {"MILLRACE_FAULT": BROKEN} if args.broken else {}
    # Not in memory: the image is copied while its file system is mounted, from the page cache of the disk below.
    tmp, random_, epochs, bad, begin = tempfile.mkdtemp(prefix="mr-cut-"), random.Random(args.seed), 0, 0, time.monotonic()
    disk = Disk(tmp)
    try:
        why = disk.fresh()
        if why:
            print("power_cut.py: skipped: " + why)
            return 77
        disk.detach()
        job = Job(args.millrace, tmp, "cut", workers=2, events=4000, files=8)
        job.calm()
        disk.fresh()
        start = time.monotonic()
        job.run(disk.mount + "/run", env)
        seconds = time.monotonic() - start
        disk.detach()
        for i in range(args.cuts):
            trouble, before = cut_once(job, disk, random_, seconds, env)
            epochs += len(before)
            if trouble and args.broken:
                print("caught by cut %d: %s" % (i + 1, trouble.strip()[:300].replace("\n", " ")))
                return 0
            if trouble: print("  FAIL cut %d of seed %d: %s" % (i + 1, args.seed, trouble), flush=True)
            bad += trouble is not None
        if args.broken:
            print("a millrace that commits too early was not caught in %d cuts" % args.cuts)
            return 1
        if epochs < args.cuts // 10: sys.exit("power_cut.py: only %d epochs were told before the cuts" % epochs)
        print("%d power cuts, %d epochs told before them, none lost (%.0f s)%s" % (args.cuts, epochs, time.monotonic() - begin, "; %d FAILURES" % bad if bad else ""))
        return 1 if bad else 0
    finally:
        sh("umount", "-l", disk.mount)  # also when a job that was stopped with us still uses it
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__": sys.exit(main())
