#!/usr/bin/env python3
"""Compares millrace with what Spark gave for random expressions (recorded*.jsonl.xz, made by record.py).

usage: run.py [--evaluate BINARY] [--recorded FILE..] [--show N] [--sql TEXT]     --sql: only expressions with this text in them

Values must be equal as texts: doubles to the last bit, decimals with their scale, errors by their condition; 1e-14 of their
size is allowed where Java's and libm's functions may differ (generate.TRANSCENDENTAL). left_out.txt names what differs on purpose.
"""
import argparse, glob, json, lzma, os, re, subprocess, sys

import generate

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FAR = re.compile(r'[+-]\d{5,}-\d\d-\d\dT')  # at the ends of the range local time wraps around here
INEXACT = re.compile(r"\b(%s)\(" % "|".join(generate.TRANSCENDENTAL))


def near(want, got):
    """The same but for the last digits of numbers with a fraction."""
    number = re.compile(r"-?\d+\.\d+(?:E-?\d+)?")
    if number.sub("#", want) != number.sub("#", got): return False
    pairs = zip(map(float, number.findall(want)), map(float, number.findall(got)))
    return all(abs(a - b) <= 1e-14 * max(abs(a), abs(b), 0.1) for a, b in pairs)


def load(path):
    """(tables, expressions); expressions that left_out.txt names by a pattern are gone."""
    with open(os.path.join(HERE, "left_out.txt")) as f:
        patterns = [re.compile(line.split("\t")[0]) for line in f.read().splitlines() if line and not line.startswith("#")]
    with lzma.open(path, "rt") as f:
        head = json.loads(f.readline())
        expressions = [json.loads(line) for line in f]
    kept = [x for x in expressions if not any(p.search(x["sql"]) for p in patterns)]
    return head["tables"], kept, len(expressions) - len(kept)


def evaluate(binary, tables, expressions):
    lines = []
    for k, table in enumerate(tables):
        for row in table:
            lines.append("row\t%d\tSELECT %s" % (k, ", ".join("%s AS %s" % c for c in zip(generate.constants(row), generate.COLUMNS.values()))))
    for i, x in enumerate(expressions):
        lines.append("expr\t%d\t%d\t%d\t%s\t%s" % (i, x["table"], x["ansi"], x["zone"], generate.wrapped(x["sql"])))
    done = subprocess.run([binary], input="\n".join(lines) + "\n", stdout=subprocess.PIPE, text=True, errors="replace")
    out = {}
    for line in done.stdout.splitlines():
        i, row, value = line.split("\t", 2)
        out.setdefault(int(i), []).append("!" + value if row == "error" else value)
    if done.returncode:
        last = max(out) + 1 if out else 0
        sys.exit("%s ended with %d at: %s" % (binary, done.returncode, expressions[min(last, len(expressions) - 1)]["sql"]))
    return out


def differs(x, want, got):
    """A plain Java exception of Spark's has no condition: any error will do."""
    if want == got: return False
    if re.match(r"![A-Z][A-Za-z]*Exception$|!AssertionError$", want) and got[:1] == "!": return False
    if FAR.search(want) or FAR.search(got): return False
    return not (INEXACT.search(x["sql"]) and near(want, got))


def compare(args, path, show):
    """(expressions, rows, expressions that differ, left out); shows the first of those that differ."""
    tables, expressions, left_out = load(path)
    expressions = [x for x in expressions if args.sql in x["sql"]]
    out = evaluate(args.evaluate, tables, expressions)
    rows = bad = 0
    for i, x in enumerate(expressions):
        got = out.get(i, [])
        want = [x["out"]] if isinstance(x["out"], str) else x["out"]
        if len(want) == 1: want = want * len(got)  # a constant's error: before any row, or in each
        rows += len(want)
        wrong = [k for k in range(max(len(want), len(got))) if k >= len(want) or k >= len(got) or differs(x, want[k], got[k])]
        if not wrong: continue
        bad += 1
        if bad > show: continue
        k = wrong[0]
        print("FAIL %s   [%s, %s, table %d, row %d%s]" % (x["sql"], "ANSI" if x["ansi"] else "not ANSI", x["zone"], x["table"], k, ", %d rows" % len(wrong) if len(wrong) > 1 else ""))
        if k < len(want):
            used = [(c, v) for c, v in zip(generate.COLUMNS.values(), tables[x["table"]][k]) if re.search(r"\b%s\b" % c, x["sql"])]
            print("     with  " + ", ".join("%s = %s" % u for u in used))
        print("     Spark %s" % (want[k] if k < len(want) else "(no row)"))
        print("     here  %s" % (got[k] if k < len(got) else "(no row)"))
    return len(expressions), rows, bad, left_out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--evaluate", default=os.path.join(ROOT, "build", "differential_evaluate"))
    p.add_argument("--recorded", nargs="*", default=sorted(glob.glob(os.path.join(HERE, "recorded*.jsonl.xz"))))
    p.add_argument("--show", type=int, default=40)
    p.add_argument("--sql", default="")
    args = p.parse_args()
    total = [0, 0, 0, 0]
    for path in args.recorded: total = [a + b for a, b in zip(total, compare(args, path, args.show - total[2]))]
    print("%d expressions, %d rows: %d expressions differ; %d left out" % tuple(total))
    sys.exit(total[2] > 0 or total[0] == 0)


if __name__ == "__main__":
    main()
