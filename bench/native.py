"""bench ysb, kernels: programs in C that measure parts of millrace by themselves."""
import os, statistics, subprocess, sys

import setting

PAGE = os.path.join(setting.ROOT, "bench", "kernels.md")
HEAD = """# Kernels: clocks per row

Made by `millrace bench kernels` on %s: 4096 rows a call, the best of 2000 rounds, variants in turn; clocks are those of the time
stamp counter. A gain is over the next lower variant that is there, as the geometric mean of the family's loops; a variant with a
gain below 1.1 is removed (kernels/README.md says which were).

"""


YSB_GOAL = 29  # M records/s of a core: 470 M on 16 cores, published for LightSaber


def run(args, name, *arguments):
    path = setting.program(args, name)
    if not path: raise setting.Failed("%s is not built: tools/build release benches" % name)
    p = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
    if p.stderr: print(p.stderr, end="", file=sys.stderr)
    return p.returncode == 0, p.stdout


def run_ysb(args, workers, records):
    """Seconds, CPU seconds, bytes of a record, GB/s of memory by reading and by triad. The program checks its own counts."""
    good, told = run(args, "bench_ysb", workers, records)
    if not good: raise setting.Failed("bench_ysb failed")
    return [float(x) for x in told.split()][1:]


def bench_ysb(args):
    records = args.events or (200000 if args.smoke else 20000000)
    print("\nysb: %d records of 40 bytes in memory, %d rounds; seconds min, median, max; checksum agrees with the records made" % (records, args.rounds))
    counts = sorted({1, args.workers})
    runs = {w: [] for w in counts}
    for _ in range(args.rounds):
        for w in counts: runs[w].append(run_ysb(args, w, records))
    for w, got in runs.items():
        seconds = [r[0] for r in got]
        rate, cpu_rate = records / statistics.median(seconds) / w / 1e6, records / statistics.median(r[1] for r in got) / 1e6
        print("  %d worker%s  %.3f %.3f %.3f  %.1f M records/s per core, %s;  %.1f M per second of CPU" % (
            w, " " if w == 1 else "s", min(seconds), statistics.median(seconds), max(seconds), rate, setting.verdict(args, rate, YSB_GOAL), cpu_rate))
        print("             records go by at %.2f GB/s; the memory gives %.1f GB/s when read, %.1f by STREAM's triad"
              % (rate * w * got[0][2] / 1e3, max(r[3] for r in got), max(r[4] for r in got)))
    return True


def bench_kernels(args):
    good, table = run(args, "bench_kernels", *([] if args.smoke else ["real"]))
    print("\nkernels: clocks per row\n" + table, end="")
    if not args.smoke:
        with open(PAGE, "w") as f: f.write(HEAD % setting.machine() + table)
        print("written to %s" % os.path.relpath(PAGE), file=sys.stderr)
    return good
