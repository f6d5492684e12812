#!/usr/bin/env python3
"""A job is killed, denied and starved at every point of its life; afterwards its output is that of an undisturbed run.

usage: survive.py [--millrace PATH] [--long] [--seed N] [SCENARIO..]

kill       SIGKILL before and after every write, sync, rename, link, unlink and make of a job of 5 epochs and more; every K is done
sync       the K-th sync gives EIO, for every K: exit code 1, the file is named, no epoch is told any more, that file is not synced again.
           Only the sync of the checkpoint's head, at a clean end, may fail unsaid: what it holds is a hint
read       the K-th read, or look at a file or folder, gives EIO, for every K: exit code 1 and the file is named, or it did without
full       the K-th write or make gives ENOSPC, or is torn, for every K; then a real file system of 3 MiB that fills up (needs root)
limit      RLIMIT_FSIZE while the log, a sink file or a snapshot grows: "File too large", not something else
storm      every write is short, every third call is interrupted or told to come again; both back ends
memory     the K-th allocation fails, for K all over the life of a job
damage     bits of the files of a real checkpoint flip: verify and show say so, run refuses or goes on rightly
lock       a second process on a checkpoint is refused, also while the first is stopped
clock      the wall clock is set forth and back by an hour: no trigger waits for it, results are the same; a rate source is killed
           before its first epoch
no_uring   io_uring is denied (EPERM, ENOSYS): said once, crash test and recorded cases pass

Without SCENARIO: all. --long: more events, more variants. --points N: of those K only N, evenly spread. Exit code 0, 1 (a scenario failed, or one that can't), 2 (misuse).
Each failure prints the schedule with which it can be repeated: MILLRACE_FAULT=.. (io/fault/fault.h) or MILLRACE_STORM=.. (storm.c).
"""
import argparse, errno, glob, json, os, random, resource, shutil, signal, struct, subprocess, sys, tempfile, threading, time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from crash import ROOT
from world import Job, points, read_trace

HERE = os.path.dirname(os.path.abspath(__file__))


class Failures:
    def __init__(self): self.shown, self.n = 0, 0

    def add(self, what, trouble):
        self.n += 1
        if self.n <= 5: print("  FAIL %s: %s" % (what, trouble), flush=True)


def jobs(args, tmp):
    """Both formats, one worker and two; files given out at once or kept open."""
    events = 30000 if args.long else 2000
    for sink, workers, interval in (("json", 1, "0 seconds"), ("csv", 2, "0 seconds"), ("csv", 1, "1 hour"), ("json", 2, "1 hour")):
        yield Job(args.millrace, tmp, "%s-%d-%s" % (sink, workers, interval[0]), sink, workers, events=events, commit_interval=interval, seed=args.seed)


def count_points(job, kind):
    folder = job.folder()
    code, said = job.run(folder, {"MILLRACE_FAULT_TRACE": folder + "/trace"})
    if code: sys.exit("%s fails under a trace: %s" % (job.name, said))
    n = points(read_trace(folder + "/trace"), kind)
    shutil.rmtree(folder)
    return n


def each(args, tasks):
    """Runs them side by side; gives how many said True."""
    with ThreadPoolExecutor(2) as pool: return sum(1 for x in pool.map(lambda t: t(), tasks) if x)


def spread(args, n):
    """Every point of 1 to n, or --points of them."""
    wanted = min(n, args.points or n)
    return sorted({1 + i * n // wanted for i in range(wanted)})


def at_each_point(args, job, kind, action, fail, seen=None, unseen=None):
    """The schedule KIND:K:ACTION for every K, then a restart. Gives points, and how many were reached. seen: judges a run that ended
    otherwise than with 0, unseen: one that did although something failed."""
    points = spread(args, count_points(job, kind))

    def one(k):
        folder, schedule = job.folder(), "%s:%d:%s" % (kind, k, action)
        code, said = job.run(folder, {"MILLRACE_FAULT": schedule, "MILLRACE_FAULT_TRACE": folder + "/trace"}, progress="json")
        reached = code != 0
        trouble = seen(folder, code, said) if seen and reached else None
        if reached and seen is None and code != -signal.SIGKILL: trouble = "exit code %d: %s" % (code, said[-300:])
        if unseen and not reached: trouble = unseen(folder)
        trouble = trouble or job.trouble_at_rest(folder) or (job.trouble_after(folder) if reached else job.trouble_at_end(folder))
        if trouble: fail.add("%s, MILLRACE_FAULT=%s" % (job.name, schedule), trouble)
        shutil.rmtree(folder, ignore_errors=True)
        return reached
    job.calm()
    return len(points), each(args, [lambda k=k: one(k) for k in points])


def kill(args, tmp, fail):
    total = reached = 0
    for i, job in enumerate(jobs(args, tmp)):
        for action in ("kill", "killafter"):
            if not args.long and (i % 2 == 1) != (action == "killafter") and i >= 2: continue
            n, hit = at_each_point(args, job, "any", action, fail)
            if hit < n * 0.9: fail.add(job.name, "only %d of %d points were reached" % (hit, n))
            total, reached = total + n, reached + hit
    return "%d points, %d kills, each output equal" % (total, reached)


def failed_well(job, folder, code, said, number, text):
    """It ended with exit code 1 and named what failed; nothing that was told came after it."""
    trace = read_trace(folder + "/trace")
    at = next((i for i, op in enumerate(trace) if op[0] == "fail"), None)
    if at is None: return "it ended with %d, but nothing failed: %s" % (code, said[-300:])
    if code != 1: return "exit code %d: %s" % (code, said[-300:])
    error = [x for x in said.splitlines() if "error:" in x or "warning:" in x]
    if not any(text in x for x in error): return "the error does not say \"%s\": %s" % (text, error)
    path = trace[at][3]
    if not any(os.path.basename(path.rstrip("/")).removesuffix(".tmp").lstrip(".") in x for x in error): return "%s is not named: %s" % (path, error)
    return None


def sync_is_final(job, folder, code, said):
    trouble = failed_well(job, folder, code, said, errno.EIO, "Input/output error")
    if trouble: return trouble
    trace = read_trace(folder + "/trace")
    at = next(i for i, op in enumerate(trace) if op[0] == "fail")
    path, names = trace[at][3], {op[1]: op[3] for op in trace if op[0] == "open"}
    # Another worker may just be at the same folder of the sink.
    shared = job.workers > 1 and "/chk" not in path
    again = [op for op in trace[at + 1:] if (op[0] == "sync" and names.get(op[1]) == path) or (op[0] == "syncdir" and op[1] == path and not shared)]
    if again: return "%s was synced again after the error" % path
    commits = [op for op in trace[at + 1:] if op[0] == "write" and op[3][:4] == b"MRG1" and struct.unpack_from("<I", op[3], 56)[0] & 1]
    return "a commit was written after the error" if commits else None


def failed_unsaid(folder):
    """What failed in a run that ended with 0: only the head's sync at the end may, and it was the last operation of all."""
    trace = [op for op in read_trace(folder + "/trace") if op[0] != "close"]
    failed = [op for op in trace if op[0] == "fail"]
    if not failed: return None
    return None if failed[0][3] == folder + "/chk/head" and trace[-1] is failed[0] else "%s failed, and the run ended with 0" % failed[0][3]


def sync(args, tmp, fail):
    total = reached = 0
    for job in jobs(args, tmp):
        n, hit = at_each_point(args, job, "sync", "EIO", fail, lambda *x, job=job: sync_is_final(job, *x), failed_unsaid)
        if hit < n - 1 - n // 50: fail.add(job.name, "only %d of %d errors ended the run" % (hit, n))
        total, reached = total + n, reached + hit
    return "%d syncs failed, one a run; %d runs ended with 1 and the file's name, the others lost the head at a clean end" % (total, reached)


def read(args, tmp, fail):
    total = ended = 0
    for i, job in enumerate(jobs(args, tmp)):
        if not args.long and i % 2: continue

        def one(k, job=job):
            """0: it was never reached; 1: it ended with 1 and the name; 2: it did without."""
            folder, schedule = job.folder(), "read:%d:EIO" % k
            code, said = job.run(folder, {"MILLRACE_FAULT": schedule, "MILLRACE_FAULT_TRACE": folder + "/trace"})
            was_reached = any(op[0] == "fail" for op in read_trace(folder + "/trace"))
            trouble = failed_well(job, folder, code, said, errno.EIO, "Input/output error") if code else None
            trouble = trouble or job.trouble_at_rest(folder) or (job.trouble_after(folder) if code else job.trouble_at_end(folder))
            if trouble: fail.add("%s, MILLRACE_FAULT=%s" % (job.name, schedule), trouble)
            shutil.rmtree(folder, ignore_errors=True)
            return 0 if not was_reached else 1 if code else 2
        job.calm()
        last = 1
        while one(last): last *= 2
        with ThreadPoolExecutor(2) as pool: results = list(pool.map(one, spread(args, last)))
        total, ended = total + sum(1 for r in results if r), ended + results.count(1)
    if total < 20: fail.add("read", "only %d reads failed" % total)
    return "%d reads and looks failed, one a run; %d runs ended with 1 and the name, %d did without" % (total, ended, total - ended)


def full(args, tmp, fail):
    total = 0
    for i, job in enumerate(jobs(args, tmp)):
        kinds = [("write", "ENOSPC"), ("write", "torn"), ("make", "ENOSPC")]
        for kind, action in kinds if args.long or i == 0 else kinds[i % 2:i % 2 + 1]:
            n, hit = at_each_point(args, job, kind, action, fail, lambda *x, job=job: failed_well(job, *x, errno.ENOSPC, "No space left on device"))
            if hit < n * 0.9: fail.add(job.name, "only %d of %d full disks ended the run" % (hit, n))
            total += hit
    return "%d operations met a full disk; %s" % (total, full_disk(args, tmp, fail))


def full_disk(args, tmp, fail):
    """A real one: an 8 MiB ballast leaves less and less; when it goes, the job goes on."""
    if os.geteuid() != 0: return "no real file system (needs root)"
    disk = os.path.join(tmp, "disk")
    os.makedirs(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", disk], capture_output=True).returncode: return "no real file system (mount is refused)"
    job, runs = Job(args.millrace, tmp, "full-disk", workers=2, events=20000), 0
    try:
        job.calm()
        for left in range(0, 2400, 50 if args.long else 240):
            folder = os.path.join(disk, "run")
            os.makedirs(folder)
            job.write(folder)
            with open(disk + "/ballast", "wb", buffering=0) as f:
                try:
                    while True: f.write(b"x" * 4096)
                except OSError: pass
            os.truncate(disk + "/ballast", max(0, os.path.getsize(disk + "/ballast") - left * 1024))
            code, said = job.run(folder)
            if code:
                runs += 1
                if "No space left on device" not in said or disk not in said: fail.add("%d KiB left" % left, said)
            os.unlink(disk + "/ballast")
            trouble = job.trouble_at_rest(folder) or job.trouble_after(folder)
            if trouble: fail.add("%d KiB left" % left, trouble)
            shutil.rmtree(folder)
    finally: subprocess.run(["umount", disk])
    if runs < 3: fail.add("full disk", "only %d runs met it" % runs)
    return "%d runs on a file system that was full" % runs


def limit(args, tmp, fail):
    """A size limit that is no multiple of a block: O_DIRECT gives EINVAL there."""
    done = 0
    for io in ("io_uring", "syscalls"):
        job = Job(args.millrace, tmp, "limit-" + io, events=20000, io=io)
        job.calm()
        for bytes_ in (700, 5000, 40000, 300001, 700001):
            folder = job.folder()
            path = job.write(folder)
            p = subprocess.run([job.millrace, "run", "--progress", "none", path], capture_output=True, text=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_)))
            if p.returncode:
                done += 1
                if p.returncode != 1 or "File too large" not in p.stderr or folder not in p.stderr: fail.add("limit %d, %s" % (bytes_, io), p.stderr)
            trouble = job.trouble_at_rest(folder) or job.trouble_after(folder)
            if trouble: fail.add("limit %d, %s" % (bytes_, io), trouble)
    if done < 4: fail.add("limit", "only %d runs met it" % done)
    return "%d runs met a size limit" % done


def storm_library(tmp):
    library = os.path.join(tmp, "storm.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, os.path.join(HERE, "storm.c"), "-ldl"], check=True)
    return library


def stormy(job, folder, library, storm):
    """A run under the library of storm.c: exit code, text, and how often it struck."""
    told = os.path.join(folder, "struck")
    code, said = job.run(folder, {"LD_PRELOAD": library, "MILLRACE_STORM": storm, "MILLRACE_STORM_COUNT": told})
    try: struck = int(open(told).read())
    except (FileNotFoundError, ValueError): struck = 0
    return code, said, struck


def storm(args, tmp, fail):
    """Short writes and interruptions must be invisible: same rows, exit code 0."""
    library, total = storm_library(tmp), 0
    for io in ("io_uring", "syscalls"):
        job = Job(args.millrace, tmp, "storm-" + io, workers=2, events=20000, io=io)
        job.calm()
        for what in ("short", "eintr", "eagain", "short,eintr,eagain"):
            for seed in range(1, 21 if args.long else 3):
                folder = job.folder()
                code, said, struck = stormy(job, folder, library, "%s:%d" % (what, seed))
                total += struck
                if struck < 5: fail.add("%s, %s" % (io, what), "it struck only %d times" % struck)
                trouble = "exit code %d: %s" % (code, said[-300:]) if code else job.trouble_at_end(folder)
                if trouble: fail.add("%s, MILLRACE_STORM=%s:%d" % (io, what, seed), trouble)
                shutil.rmtree(folder)
    return "%d calls were short, interrupted or to be done again" % total


def memory(args, tmp, fail):
    """The K-th allocation gives NULL: a clear error, no crash, and what was committed is there."""
    library, hit, refused = storm_library(tmp), 0, 0
    for workers in (1, 2):
        job = Job(args.millrace, tmp, "memory-%d" % workers, workers=workers, events=1000, files=2)
        job.calm()
        folder = job.folder()
        n = stormy(job, folder, library, "count:1")[2]
        if n < 200: fail.add("memory", "only %d allocations" % n)

        def one(k):
            folder = job.folder()
            code, said, _ = stormy(job, folder, library, "memory:%d" % k)
            trouble = None
            if code not in (0, 1, 2): trouble = "exit code %d: %s" % (code, said[-400:])
            elif code and "memory" not in said.lower() and "Cannot allocate" not in said: trouble = "the error does not speak of memory: %s" % said[-300:]
            trouble = trouble or job.trouble_at_rest(folder) or job.trouble_after(folder)
            if trouble: fail.add("%s, MILLRACE_STORM=memory:%d" % (job.name, k), trouble)
            shutil.rmtree(folder, ignore_errors=True)
            return code != 0
        # In the check a sample, more of the later ones, when epochs run: they differ from run to run.
        ks, some = range(1, n + 1), args.points or 40
        if not args.long: ks = random.Random(args.seed).sample(range(1, n // 2), some) + random.Random(args.seed).sample(range(n // 2, n + 1), 2 * some)
        hit, refused = hit + len(ks), refused + each(args, [lambda k=k: one(k) for k in ks])
    if refused < hit * 0.9: fail.add("memory", "only %d of %d ended the run" % (refused, hit))
    return "%d allocations failed, %d of them ended the run with an error" % (hit, refused)


def damage(args, tmp, fail):
    """Flips and cuts in a checkpoint that was left in the middle; by the program, as a user would meet them."""
    job = Job(args.millrace, tmp, "damage", workers=2)
    job.calm()
    base, random_ = job.folder(), random.Random(args.seed)
    n = count_points(job, "any")
    job.run(base, {"MILLRACE_FAULT": "any:%d:kill" % (n * 2 // 3)})
    files = sorted(f for f in glob.glob(base + "/chk/**/*", recursive=True) if os.path.isfile(f) and os.path.getsize(f))
    detected = same = 0
    for i in range(2000 if args.long else args.points or 60):
        folder, source = job.folder(), random_.choice(files)
        for d in ("chk", "out"): shutil.copytree(os.path.join(base, d), os.path.join(folder, d))
        path, size = source.replace(base, folder), os.path.getsize(source)
        used = size if not source.split("/chk/")[1].startswith("log/") else min(size, 40960)
        at, cut = random_.randrange(used), random_.random() < 0.25
        with open(path, "r+b") as f:
            if cut: f.truncate(at)
            else:
                f.seek(at)
                byte = f.read(1)[0] ^ 1 << random_.randrange(8)
                f.seek(at)
                f.write(bytes([byte]))
        where = "%s %s at %d" % (source.split("/chk/")[1], "cut" if cut else "flipped", at)
        places = {"out": base + "/out", "checkpoint": folder + "/chk"}
        verify, show = (subprocess.run([args.millrace, "checkpoint", x, folder + "/chk"], capture_output=True, text=True) for x in ("verify", "show"))
        if (verify.returncode == 0) != (show.returncode == 0): fail.add(where, "verify says %d, show %d" % (verify.returncode, show.returncode))
        if verify.returncode and os.path.basename(path) not in verify.stdout + verify.stderr: fail.add(where, "verify does not name it: %s" % verify.stdout)
        shutil.rmtree(folder + "/out")
        # The hidden files have full paths in the log, so the output stays where it was made.
        saved = job.folder()
        shutil.copytree(base + "/out", saved + "/out")
        code, said = job.run(folder, out=base + "/out")
        if code:
            detected += 1
            if code not in (1, 2) or folder not in said: fail.add(where, "exit code %d, %s" % (code, said))
            if verify.returncode == 0: fail.add(where, "run refuses what verify accepts: %s" % said)
        else:
            same += 1
            got = job.rows(folder, base + "/out")
            if got != job.calm(): fail.add(where, "other rows: %d lost, %d too many" % (sum((job.calm() - got).values()), sum((got - job.calm()).values())))
        shutil.rmtree(base + "/out")
        shutil.copytree(saved + "/out", base + "/out")
        shutil.rmtree(folder), shutil.rmtree(saved)
    if detected < 5: fail.add("damage", "only %d were detected" % detected)
    return "%d damaged files detected and refused, %d without effect" % (detected, same)


def lock(args, tmp, fail):
    job = Job(args.millrace, tmp, "lock")
    folder = job.folder()
    first = subprocess.Popen([args.millrace, "run", "--progress", "json", job.write(folder, trigger={"processing_time": "10 milliseconds"})],
                             stderr=subprocess.PIPE, text=True)
    try:
        first.stderr.readline()
        slowest = 0
        for how in ("running", "stopped"):
            if how == "stopped": first.send_signal(signal.SIGSTOP)
            for _ in range(5):
                begin = time.monotonic()
                p = subprocess.run([args.millrace, "run", "--progress", "none", folder + "/job.json"], capture_output=True, text=True, timeout=10)
                slowest = max(slowest, time.monotonic() - begin)
                if p.returncode != 1 or "in use by process %d" % first.pid not in p.stderr: fail.add("the first is " + how, "%d: %s" % (p.returncode, p.stderr))
        if slowest > 1: fail.add("lock", "refused only after %.1f s" % slowest)
        first.send_signal(signal.SIGCONT)
        first.send_signal(signal.SIGTERM)
        if first.wait(20): fail.add("lock", "the first ended with %d" % first.returncode)
    finally:
        if first.poll() is None: first.kill()
    trouble = job.trouble_after(folder)
    if trouble: fail.add("lock", trouble)
    return "a second process was refused 10 times, within %.0f ms, the first running and stopped" % (slowest * 1000)


def clock_is_set(args, tmp, fail):
    """After a second by an hour, while a trigger ticks ten times a second and files come one by one: each is out soon after."""
    library, epochs = storm_library(tmp), 0
    for jump in (3600, -3600):
        job = Job(args.millrace, tmp, "clock%d" % jump, workers=2, events=2000, late=0)
        folder, late = job.folder(), os.path.join(job.tmp, "late")
        job.calm()
        os.makedirs(late)
        all_files, job.input = sorted(glob.glob(job.input + "/*")), late
        p = subprocess.Popen([job.millrace, "run", "--progress", "json", job.write(folder, trigger={"processing_time": "100 milliseconds"})], stderr=subprocess.PIPE, text=True,
                             env=dict(os.environ, LD_PRELOAD=library, MILLRACE_STORM="clock:%d" % jump))
        told = []
        threading.Thread(target=lambda: told.extend(json.loads(x) for x in p.stderr if x.startswith("{")), daemon=True).start()
        for i, f in enumerate(all_files):
            time.sleep(0.4)
            shutil.copy2(f, late + "/." + os.path.basename(f))
            os.rename(late + "/." + os.path.basename(f), os.path.join(late, os.path.basename(f)))
        until = time.monotonic() + 5
        while sum(t["numInputRows"] > 0 for t in told) < len(all_files) and time.monotonic() < until: time.sleep(0.05)
        n = sum(t["numInputRows"] > 0 for t in told)
        if n < len(all_files): fail.add("jump %d" % jump, "%d of %d epochs within 5 s" % (n, len(all_files)))
        p.send_signal(signal.SIGTERM)
        p.wait(20)
        negative = [t["durationMs"] for t in told if min(t["durationMs"].values()) < 0 or t.get("inputRowsPerSecond", 0) < 0]
        if p.returncode or negative: fail.add("jump %d" % jump, "exit code %d, negative: %s" % (p.returncode, negative[:1]))
        trouble = job.trouble_at_end(folder)
        if trouble: fail.add("jump %d" % jump, trouble)
        epochs += n
    return epochs


def clock(args, tmp, fail):
    """A rate source that is killed before its first second is over counts from its first start when it comes again."""
    path, begin = os.path.join(tmp, "job.json"), time.time()
    with open(path, "w") as f:
        json.dump({"name": "q", "sources": {"t": {"format": "rate", "options": {"rowsPerSecond": 10}}}, "sink": {"format": "json", "path": tmp + "/out", "output_mode": "append"},
                   "checkpoint": tmp + "/chk", "trigger": {"processing_time": "50 milliseconds"}, "engine": {"workers": 1}}, f)
    for seconds, how in ((0.5, signal.SIGKILL), (2.5, signal.SIGTERM)):
        p = subprocess.Popen([args.millrace, "run", "--progress", "none", path], stderr=subprocess.PIPE, text=True)
        time.sleep(seconds)
        if p.poll() is not None: fail.add("rate", p.stderr.read())
        p.send_signal(how)
        p.wait(20)
        time.sleep(1)
    rows = [json.loads(x) for f in glob.glob(tmp + "/out/*.json") for x in open(f)]
    values, first = sorted(r["value"] for r in rows), min((r["timestamp"] for r in rows), default="none")
    if not rows or values != list(range(len(rows))): fail.add("rate", "rows %s" % values[:20])
    elif first[:19] not in [time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(begin + x)) for x in (0, 0.5)]: fail.add("rate", "it began at %s, not at %s" % (first, time.strftime("%H:%M:%S", time.gmtime(begin))))
    return "%d rows, from the first start on, after a kill before the first epoch; %d epochs with the clock set forth and back" % (len(rows), clock_is_set(args, tmp, fail))


def no_uring(args, tmp, fail):
    said = []
    launcher = os.path.join(HERE, "deny_uring.py")
    for number in (errno.EPERM, errno.ENOSYS):
        wrapper = os.path.join(tmp, "millrace-%d" % number)
        with open(wrapper, "w") as f: f.write("#!/bin/sh\nexec python3 -S %s %d %s \"$@\"\n" % (launcher, number, args.millrace))
        os.chmod(wrapper, 0o755)
        job = Job(wrapper, tmp, "denied-%d" % number, workers=2)
        folder = job.folder()
        code, text = job.run(folder)
        if code or text.count("instead of io_uring") != 1 or os.strerror(number) not in text: fail.add("errno %d" % number, "%d: %s" % (code, text))
        trouble = job.trouble_at_end(folder)
        if trouble: fail.add("errno %d" % number, trouble)
        p = subprocess.run([sys.executable, HERE + "/crash.py", "--millrace", wrapper, "--kills", "200" if args.long else "6", "--events", "100000"],
                           capture_output=True, text=True)
        if p.returncode: fail.add("crash.py, errno %d" % number, p.stdout + p.stderr)
        said.append(p.stdout.strip())
    cases = os.path.join(tmp, "cases")
    os.makedirs(cases)
    for c in sorted(os.listdir(ROOT + "/tests/conformance/cases"))[::1 if args.long else 12]: os.symlink(os.path.join(ROOT, "tests/conformance/cases", c), os.path.join(cases, c))
    p = subprocess.run([sys.executable, ROOT + "/tests/conformance/run.py", "--millrace", wrapper, "--state", "--expect-fail",
                        ROOT + "/tests/conformance/expected_failures.txt", cases], capture_output=True, text=True)
    if p.returncode: fail.add("cases", (p.stdout + p.stderr)[-1500:])
    return "io_uring denied: %s; cases: %s" % ("; ".join(said), p.stdout.strip().splitlines()[-1] if p.stdout.strip() else "none")


SCENARIOS = {f.__name__: f for f in (kill, sync, read, full, limit, storm, memory, damage, lock, clock, no_uring)}


def main():
    p = argparse.ArgumentParser(prog="survive.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    p.add_argument("--long", action="store_true")
    p.add_argument("--points", type=int)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    args = p.parse_args()
    args.millrace = os.path.abspath(args.millrace)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # folders and mounts are removed
    for name in args.scenarios:
        if name not in SCENARIOS: p.error("no scenario \"%s\", there are %s" % (name, ", ".join(SCENARIOS)))
    bad = 0
    for name in args.scenarios or SCENARIOS:
        tmp, fail, begin = tempfile.mkdtemp(prefix="mr-survive-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None), Failures(), time.monotonic()
        try: figures = SCENARIOS[name](args, tmp, fail)
        finally: shutil.rmtree(tmp, ignore_errors=True)
        print("%-9s %s (%.0f s)%s" % (name, figures, time.monotonic() - begin, "; %d FAILURES" % fail.n if fail.n else ""), flush=True)
        bad += fail.n
    return 1 if bad else 0


if __name__ == "__main__": sys.exit(main())
