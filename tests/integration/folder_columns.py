#!/usr/bin/env python3
"""What partition_by writes is read again: columns that stand in folder names, declared and found, across restarts.

usage: folder_columns.py [--millrace PATH]
Exit 0: all as expected.
"""
import argparse, glob, json, os, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = ["a", "x/y=z", "50% off", "a name that is longer than twelve bytes", "gr\u00fcn", None]
FIRST = [{"day": "2026-01-0%d" % (1 + i % 3), "kind": KINDS[i % 6], "id": i, "n": i % 5} for i in range(60)]
SECOND = [{"day": "2026-02-01", "kind": "b", "id": 100 + i, "n": None} for i in range(5)]


class World:
    def __init__(self, millrace, folder, format):
        self.millrace, self.folder, self.format = millrace, folder, format
        os.makedirs(os.path.join(folder, "in"))

    def run(self, name, source, sink, sql="SELECT * FROM s", code=0):
        job = {"name": name, "sources": {"s": source}, "steps": [{"as": "r", "sql": sql}], "sink": dict(sink, output_mode="append"),
               "checkpoint": "chk-" + name, "trigger": {"available_now": True}}
        path = os.path.join(self.folder, name + ".json")
        with open(path, "w") as f: json.dump(job, f)
        p = subprocess.run([self.millrace, "run", "--progress", "none", path], cwd=self.folder, capture_output=True, text=True, timeout=60)
        if p.returncode != code: sys.exit("%s: exit code %d: %s" % (name, p.returncode, p.stderr))
        return p.stderr

    def write(self, name, rows):
        with open(os.path.join(self.folder, "in", name), "w") as f: f.writelines(json.dumps(r) + "\n" for r in rows)
        self.run("write", {"format": "json", "path": "in", "schema": "day DATE, kind STRING, id BIGINT, n INT"},
                 {"format": self.format, "path": "parted", "partition_by": ["day", "kind"]})

    def read(self, name, schema):
        """All that came out so far; source columns as declared."""
        self.run(name, {"format": self.format, "path": "parted", "schema": schema}, {"format": "json", "path": "out-" + name})
        rows = []
        for f in glob.glob(os.path.join(self.folder, "out-" + name, "*.json")):
            with open(f) as h: rows += [json.loads(line) for line in h]
        return rows

    def sql(self, text):
        p = subprocess.run([self.millrace, "sql", "--format", "json", text], cwd=self.folder, capture_output=True, text=True, timeout=60)
        if p.returncode: sys.exit("sql %s: %s" % (text, p.stderr))
        return [json.loads(line) for line in p.stdout.splitlines()]


def same(what, got, want):
    key = lambda r: json.dumps(r, sort_keys=True)
    plain = lambda rows: sorted(({k: v for k, v in r.items() if v is not None} for r in rows), key=key)
    if plain(got) != plain(want): sys.exit("%s:\ngot  %s\nwant %s" % (what, plain(got), plain(want)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    args = p.parse_args()
    for format in "json", "csv":
        with tempfile.TemporaryDirectory() as tmp:
            w = World(os.path.abspath(args.millrace), os.path.join(tmp, "w"), format)
            w.write("1.json", FIRST)
            same("declared", w.read("declared", "kind STRING, id BIGINT, day DATE, n INT"), FIRST)
            same("found", w.read("found", "id BIGINT, n INT"), FIRST)
            w.write("2.json", SECOND)
            same("declared, again", w.read("declared", "kind STRING, id BIGINT, day DATE, n INT"), FIRST + SECOND)
            same("found, again", w.read("found", "id BIGINT, n INT"), FIRST + SECOND)
            table = "json.`parted`" if format == "json" else "csv.`parted` WITH (schema = 'id BIGINT, n INT')"
            same("sql", w.sql("SELECT * FROM " + table), FIRST + SECOND)
            same("sql of folders", w.sql("SELECT typeof(day) t, kind, count(*) c FROM %s WHERE day = DATE'2026-02-01' GROUP BY ALL" % table),
                 [{"t": "date", "kind": "b", "c": 5}])
            os.makedirs(os.path.join(w.folder, "parted", "day=never", "kind=c"))
            with open(os.path.join(w.folder, "parted", "day=never", "kind=c", "1." + format), "w") as f: f.write("\n")
            said = w.run("declared", {"format": format, "path": "parted", "schema": "kind STRING, id BIGINT, day DATE, n INT"},
                         {"format": "json", "path": "out-declared"}, code=1)
            if "INVALID_PARTITION_VALUE" not in said or "day=never" not in said: sys.exit("a folder that is no date: " + said)
    print("partition_by is read again: json, csv")


if __name__ == "__main__":
    main()
