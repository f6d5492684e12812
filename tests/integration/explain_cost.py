#!/usr/bin/env python3
"""explain --cost shows calls, rows and cycles of every operator on the plan, and leaves no trace of its run.

usage: explain_cost.py [--millrace PATH]       Exit 0: all as expected; 1: what differs is shown.
"""
import argparse, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECRET = "opensesame42"
ROWS = 1000
JOB = """
name: q
sources:
  s: {format: json, path: in, schema: "id INT, at TIMESTAMP", options: {cleanSource: delete}, bad_records: {path: bad}}
steps:
  - {as: w, watermark: {input: s, column: at, delay: 1 minute}}
  - {as: r, sql: "SELECT id % 10 AS k, '${env:MILLRACE_SECRET}' AS x, count(*) AS n FROM w WHERE id >= 100 GROUP BY window(at, '1 minute'), id % 10"}
sink: {format: json, path: out, output_mode: append}
checkpoint: chk
trigger: {available_now: true}
engine: {workers: WORKERS}
"""
RATE = """
name: q
sources:
  s: {format: rate, options: {rowsPerSecond: 1000}}
sink: {format: console, output_mode: append}
checkpoint: chk
"""
LINE = re.compile(r" *([\d.]+)% +(\d+) +(\d+) +(\d+) +(\d+) +([\d.]+)  ([ +-]*)(\w+)(.*)")
problems = []


def expect(what, good, shown):
    if not good: problems.append("%s: %s" % (what, shown))


def call(binary, folder, *args):
    p = subprocess.run([binary, *args], cwd=folder, capture_output=True, text=True, timeout=60, env=dict(os.environ, MILLRACE_SECRET=SECRET))
    return p.returncode, p.stdout, p.stderr


def tree(folder):
    return sorted(os.path.join(d, f) for d, _, files in os.walk(folder) for f in files)


def nodes(text):
    """Per operator: rows in, rows out, how deep it lies; from the sink down."""
    return [(m.group(8), int(m.group(3)), int(m.group(4)), len(m.group(7)) // 3) for m in map(LINE.fullmatch, text.splitlines()) if m]


def files_job(binary, folder, workers):
    with open(os.path.join(folder, "j.yaml"), "w") as f: f.write(JOB.replace("WORKERS", str(workers)))
    before = tree(folder)
    code, out, err = call(binary, folder, "explain", "--cost", "j.yaml")
    expect("exit code", code == 0, (code, err))
    expect("no trace", tree(folder) == before, tree(folder))
    expect("no secret", SECRET not in out + err, out)
    got = nodes(out)
    names = [n[0] for n in got]
    expect("operators", names[0] == "sink" and names[-1] == "source" and ("exchange" in names) == (workers > 1), names)
    expect("the tree", [n[3] for n in got] == list(range(len(got))), got)
    rows = dict((n[0], n[1:3]) for n in got)
    expect("rows of the source", rows["source"][1] == ROWS + 1, got)
    expect("rows of the filter", rows["filter"] == (ROWS + 1, ROWS - 100), got)
    expect("rows of the aggregate", rows["partial_aggregate"][0] == ROWS - 100, got)
    expect("share of the time", re.search(r"operators had \d+% of the time of " + str(workers), out), out)
    code, out, err = call(binary, folder, "run", "--operators", "--progress", "none", "j.yaml")
    expect("run --operators", code == 0 and SECRET not in out + err and [n[0] for n in nodes(err)] == names, (code, err))


def rate_job(binary, folder):
    with open(os.path.join(folder, "j.yaml"), "w") as f: f.write(RATE)
    code, out, err = call(binary, folder, "explain", "--cost", "--seconds", "2", "j.yaml")
    expect("--seconds", code == 0 and nodes(out)[-1][2] > 0 and os.listdir(folder) == ["j.yaml"], (code, out, err))
    for given in (["--cost"], ["--seconds", "2"], ["--cost", "--seconds", "0"], ["--cost", "--seconds", "2s"]):
        code, out, err = call(binary, folder, "explain", *given, "j.yaml")
        expect("misuse", code == 2 and "--seconds" in err, (given, code, err))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    binary = os.path.abspath(p.parse_args().millrace)
    for workers in (1, 2):
        with tempfile.TemporaryDirectory(prefix="mr-cost-") as folder:
            os.mkdir(os.path.join(folder, "in"))
            with open(os.path.join(folder, "in", "a.json"), "w") as f:
                for i in range(ROWS): f.write('{"id":%d,"at":"2026-01-01T00:%02d:00Z"}\n' % (i, i * 60 // ROWS))
                f.write("{no\n")
            files_job(binary, folder, workers)
    with tempfile.TemporaryDirectory(prefix="mr-cost-") as folder: rate_job(binary, folder)
    for problem in problems: print(problem)
    print("explain --cost: %d problems" % len(problems))
    return 1 if problems else 0


if __name__ == "__main__": sys.exit(main())
