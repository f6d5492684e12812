#!/usr/bin/env python3
"""The driver of `millrace bench`, whose --help tells what each name measures. See bench/README.md."""
import argparse, difflib, os, sys, time

import engines, expr, kafka, live, native, scaling, setting

BENCHES = {
    "events": lambda args: engines.bench(args, "events"),
    "dedup": lambda args: engines.bench(args, "dedup"),
    "keys": lambda args: engines.bench(args, "keys"),
    "kafka": kafka.bench,
    "latency": live.bench_latency,
    "start": live.bench_start,
    "ysb": native.bench_ysb,
    "kernels": native.bench_kernels,
    "expr": expr.bench,
    "scaling": scaling.bench,
}
NOT_IN_ALL = ("scaling",)


def wrong(text):
    print("millrace: error: bench: %s (see millrace bench --help)" % text, file=sys.stderr)
    return 2


def main():
    p = argparse.ArgumentParser(prog="bench/run.py", description=__doc__)
    p.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES) + ", all")
    p.add_argument("--all", action="store_true")
    p.add_argument("--smoke", action="store_true")
    p.add_argument("--events", type=int)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--workers", type=int, default=os.cpu_count())
    p.add_argument("--no-peers", action="store_true")
    p.add_argument("--millrace", default=os.path.join(setting.ROOT, "build", "millrace"), help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.smoke: args.rounds = 1
    for name in args.names:
        if name in BENCHES or name == "all": continue
        near = difflib.get_close_matches(name, list(BENCHES) + ["all"], 1)
        return wrong('"%s" is none of %s, all%s' % (name, ", ".join(BENCHES), "; did you mean %s?" % near[0] if near else ""))
    if not args.names and not args.all: return wrong("expected a name: %s, all" % ", ".join(BENCHES))
    if min(args.rounds, args.workers) < 1 or (args.events is not None and args.events < 1000):
        return wrong("--rounds and --workers are at least 1, --events at least 1000")
    if not args.no_peers and not setting.has_peers(args):
        print("millrace bench: without DuckDB and Spark: tools/setup-peers installs them", file=sys.stderr)
    every = args.all or "all" in args.names
    names = [n for n in BENCHES if n in args.names or (every and n not in NOT_IN_ALL)]
    began, good = time.monotonic(), True
    print("on %s" % setting.machine(), flush=True)
    for n in names:
        try: why = None if BENCHES[n](args) else "checksums or counts differ"
        except setting.Failed as e: why = e
        if why: print("millrace: error: bench %s: %s" % (n, why), file=sys.stderr)
        good = good and not why
    print("\ntook %.0f s" % (time.monotonic() - began))
    return 0 if good else 1


if __name__ == "__main__": sys.exit(main())
