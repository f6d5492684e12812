"""bench scaling: how cost grows with workers, rows, keys, the width of records and the overlap of windows."""
import contextlib, os, resource, shutil, statistics, sys

import engines, native, plot, setting

PAGE = os.path.join(setting.ROOT, "bench", "scaling.md")
PLOT = os.path.join(setting.ROOT, "bench", "scaling.svg")
DEFAULT, SMOKE = 2000000, 20000
KEYS = (10, 100, 1000, 10000, 100000, 1000000, 10000000)
WIDTHS = (0, 250, 500, 1000, 2000, 4000)  # bytes; 0: as they are
OVERLAPS = (1, 2, 5, 10, 30, 60)  # slides in a window of a minute
WIDTH_OF_EVENT = 123
HEAD = """# Scaling

Made by `millrace bench scaling%s` on %s; medians of %d rounds, %d workers where nothing else is said. CPU: of the whole
process, start and end included, user and system. Elapsed time of a busy machine says little; CPU time says what a row costs.

![cost by workers, rows, keys, width and overlap](scaling.svg)
"""


class Point:
    """Of one setting: what it is called, its rows, elapsed and CPU seconds (medians), a remark."""
    def __init__(self, name, rows, runs, note=""):
        self.name, self.rows, self.note = name, rows, note
        self.seconds, self.cpu = (statistics.median(r[i] for r in runs) for i in (0, 1))

    def elapsed_ns(self): return self.seconds / self.rows * 1e9
    def cpu_ns(self): return self.cpu / self.rows * 1e9
    def line(self):
        return "| %s | %s | %.3f | %.2f | %.0f | %s |\n" % (self.name, plot.short(self.rows), self.seconds, self.rows / self.seconds / 1e6, self.cpu_ns(), self.note)


def cpu_seconds():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def timed(args, spec, workers=None):
    before = cpu_seconds()
    seconds, _, state = engines.run_millrace(args, spec, workers)
    return seconds, cpu_seconds() - before, state


def repeat(args, name, rows, spec, note=None):
    runs = [timed(args, spec) for _ in range(args.rounds)]
    return Point(name, rows, runs, note(runs) if note else "")


def spec(folder, key="event_type", window="5 minutes"): return {"folder": folder, "key": key, "dedup": False, "window": window}


@contextlib.contextmanager
def input_of(args, *size):
    """The folder goes when it was made for this."""
    made = not os.path.isdir(setting.input_folder(*size))
    folder = setting.generate(args, *size)
    try: yield folder
    finally:
        if made: shutil.rmtree(folder)


def by_workers(args, n):
    """Each bench with one worker and with all, in turn."""
    out = []
    for name in ("events", "dedup", "keys", "ysb"):
        one = engines.spec_of(args, name, n) if name != "ysb" else None
        runs = {1: [], args.workers: []}
        for _ in range(args.rounds):
            for w in runs: runs[w].append(native.run_ysb(args, w, n)[:2] if name == "ysb" else timed(args, one, w))
        for w, got in runs.items():
            p = Point("%s, %d worker%s" % (name, w, "" if w == 1 else "s"), n, got)
            if w > 1: p.note = "%.2f times as fast as 1" % (out[-1].seconds / p.seconds)
            out.append(p)
    return out


def by_rows(args, n):
    out = []
    for s in sorted({max(1000, int(n / 10 ** (k / 2))) for k in range(5)}):
        with input_of(args, s, 100000) as folder: out.append(repeat(args, plot.short(s), s, spec(folder)))
    return out


def by_keys(args, n):
    """Windows of an hour by user: a group per key, and a second one where the hour begins early."""
    out = []
    for k in [k for k in KEYS if k <= n]:
        with input_of(args, n, k) as folder:
            out.append(repeat(args, plot.short(k), n, spec(folder, "user_id", "1 hour"), lambda runs: "%.0f bytes of state per group" % runs[0][2]))
    return out


def by_width(args, n):
    out = []
    for w in WIDTHS:
        bytes = w or WIDTH_OF_EVENT
        with input_of(args, n, 100000, w) as folder:
            out.append(repeat(args, str(bytes), n, spec(folder), lambda runs: "%.0f MB/s" % (n * bytes / statistics.median(r[0] for r in runs) / 1e6)))
    return out


def by_overlap(args, n):
    with input_of(args, n, 100000) as folder:
        return [repeat(args, str(k), n, spec(folder, window="60 seconds, %d seconds" % (60 // k))) for k in OVERLAPS]


def charts(parts):
    def lines(title, axis, points, values):
        return plot.Chart(title + ", ns per row", axis, values, {"elapsed": [p.elapsed_ns() for p in points], "CPU": [p.cpu_ns() for p in points]})
    workers, rows, keys, width, overlap = parts
    pairs = list(zip(workers[::2], workers[1::2])) if len(workers) == 8 else [(p, p) for p in workers]
    bars = {"1 worker": [p.elapsed_ns() for p, _ in pairs], "all workers": [p.elapsed_ns() for _, p in pairs]}
    return [plot.Chart("workers, elapsed ns per row", "bench", [p.name.split(",")[0] for p, _ in pairs], bars, bars=True),
            lines("rows", "rows", rows, [p.rows for p in rows]), lines("keys", "distinct keys", keys, [k for k in KEYS if k <= keys[0].rows]),
            lines("width", "bytes of a record", width, [w or WIDTH_OF_EVENT for w in WIDTHS]), lines("overlap", "slides in a window", overlap, list(OVERLAPS))]


def bench(args):
    n = args.events or (SMOKE if args.smoke else DEFAULT)
    titles = ("Workers", "Rows: events in 5-minute windows by type", "Keys: windows of an hour by user",
              "Width of a record, bytes", "Overlap: windows of a minute, slides in each")
    sizes = (n, n, n, max(1000, n // 8), max(1000, n // 8))
    parts = []
    for measure, size, title in zip((by_workers, by_rows, by_keys, by_width, by_overlap), sizes, titles):
        print("scaling: %s" % title, file=sys.stderr)
        parts.append(measure(args, size))
    body = "".join("\n## %s\n\n| | rows | s | M rows/s | CPU ns/row | |\n|---|---|---|---|---|---|\n%s" % (t, "".join(p.line() for p in part)) for t, part in zip(titles, parts))
    print(body, end="")
    plot.write(os.devnull if args.smoke else PLOT, charts(parts))
    if not args.smoke:
        with open(PAGE, "w") as f:
            f.write(HEAD % (" --events %d" % args.events if args.events else "", setting.machine(), args.rounds, args.workers) + body)
        print("written to %s and %s" % (os.path.relpath(PAGE), os.path.relpath(PLOT)), file=sys.stderr)
    return True
