#!/usr/bin/env python3
"""Three example jobs, run by millrace and by Apache Spark: the same rows in the same micro-batches.

usage: spark_same.py [--millrace PATH]         exit 0: the same
"""
import argparse, glob, json, os, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "conformance"))
import compare

EXAMPLES = ["events_5m", "orders", "sensors"]


def prepare(millrace, tmp):
    """The examples' input, in a folder of its own, with times in name order: both engines take the files in the same order."""
    shutil.copytree(os.path.join(ROOT, "examples"), os.path.join(tmp, "examples"))
    subprocess.run([millrace, "gen", "20000", "--out", os.path.join(tmp, "in/events"), "--files", "8", "--late", "0.02", "--duplicates", "0.05",
                    "--malformed", "0.01", "--span", "7200"], check=True)
    for folder in ("in/events", "examples/data/orders", "examples/data/sensors"):
        for i, f in enumerate(sorted(glob.glob(os.path.join(tmp, folder, "*")))): os.utime(f, (1700000000 + i,) * 2)


def run(command, tmp, out):
    p = subprocess.run(command, cwd=tmp, capture_output=True, text=True, timeout=600)
    if p.returncode: sys.exit("spark_same.py: %s: exit code %d: %s" % (" ".join(command), p.returncode, p.stderr.strip()[-2000:]))
    with open(out) as f: return json.load(f)


def main():
    p = argparse.ArgumentParser(prog="spark_same.py")
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    args = p.parse_args()
    millrace, tmp, bad, passed = os.path.abspath(args.millrace), tempfile.mkdtemp(prefix="mr-same-"), 0, 0
    try:
        prepare(millrace, tmp)
        for name in EXAMPLES:
            job, ours, theirs = "examples/%s.yaml" % name, os.path.join(tmp, name + ".ours"), os.path.join(tmp, name + ".theirs")
            got = run([millrace, "run", "--progress", "none", "--record", ours, job], tmp, ours)
            want = run([os.path.join(ROOT, "tools", "spark-run"), job, "--master", "local[2]", "--record", theirs, "--checkpoint", os.path.join(tmp, "spark-" + name)], tmp, theirs)
            rows = sum(len(b["rows"]) for b in want["batches"])
            d = compare.compare(want, {"batches": got["batches"]}) or (None if rows else "Spark gave no rows: nothing was compared")
            print("%-12s %s" % (name, d or "%d batches, %d rows: the same" % (len(want["batches"]), rows)))
            bad, passed = bad + (d is not None), passed + (d is None)
        print("%d passed, %d failed" % (passed, bad))
        return 1 if bad else 0
    finally: shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__": sys.exit(main())
