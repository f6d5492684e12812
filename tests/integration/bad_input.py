#!/usr/bin/env python3
"""What a hostile user writes must end in one clear line, the right exit code, and nothing left behind.

usage: bad_input.py [--millrace PATH] [-k PART_OF_A_NAME]

REFUSED   job -> exit code 2, one line with the text, nothing made (run and check say the same)
RUNS      input files -> the rows that come out, in time
FAILS     jobs that start and then fail -> exit code 1 and the text
Exit 0: all as expected; 1: the cases that differ are shown.
"""
import argparse, glob, gzip, hashlib, json, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCHEMA = "id INT, name STRING, at TIMESTAMP"
GOOD = '{"id":1,"name":"a","at":"2024-01-01T00:00:00Z"}\n{"id":2,"name":"b","at":"2024-01-01T00:01:00Z"}\n'
SECONDS = 60
SECRET = "opensesame42"


def job(source="{format: json, path: in, schema: \"%s\"}" % SCHEMA, steps="{as: r, sql: \"SELECT id, name FROM s\"}",
        sink="{format: json, path: out}", more="", trigger="{available_now: true}"):
    return "name: q\nsources:\n  s: %s\nsteps:\n  - %s\nsink: %s\ncheckpoint: chk\ntrigger: %s\n%s" % (source, steps, sink, trigger, more)


def options(text): return '{format: json, path: in, schema: "%s", options: {%s}}' % (SCHEMA, text)
def path(text, format="json"): return '{format: %s, path: "%s", schema: "%s"}' % (format, text, SCHEMA)
def sql(text): return '{as: r, sql: "%s"}' % text


def two(*queries):
    """Queries with their source and sink."""
    return "queries:\n" + "".join("- name: %s\n  sources: {s: %s}\n  sink: {format: json, path: %s}\n  checkpoint: %s\n" % q for q in queries)
def archive(to, where="in"): return path(where).replace('",', '", options: {cleanSource: archive, sourceArchiveDir: %s},' % to, 1)
def clean(where): return path(where).replace('",', '", options: {cleanSource: delete},', 1)


REFUSED = {  # name: (job, what the line says)
    "empty": ("", "j.yaml:1:1: the file is empty"),
    "binary": (bytes(range(256)), "j.yaml:1:1: not YAML"),
    "zero byte": (b"name: q\0\n", "not YAML: control characters"),
    "bad utf-8": (job().encode() + b"x: \xff\n", "invalid leading UTF-8"),
    "deep flow": ("a: " + "[" * 100000, "j.yaml:1:203: nested too deeply"),
    "deep blocks": ("".join(" " * i + "a:\n" for i in range(2000)), "nested too deeply"),
    "aliases": ("a: &a [1]\nb: [*a, *a]\n", "anchors and aliases"),
    "key twice": (job() + "name: z\n", 'j.yaml:9:1: the key "name" is there twice'),
    "two documents": (job() + "---\n" + job(), "a second document"),
    "open quote": ('name: "q\n', "unexpected end of stream"),
    "unknown key": (job() + "sinks: 1\n", 'j.yaml:9:1: unknown key "sinks"'),
    "unknown format": (job(path("in", "jsn")), 'j.yaml:3:15: [DATA_SOURCE_NOT_FOUND]'),
    "unknown option": (job(options("maxFilePerTrigger: 1")), 'json has no option "maxFilePerTrigger"'),
    "option of zero": (job(options("maxFilesPerTrigger: 0")), "Invalid value '0' for option 'maxFilesPerTrigger'"),
    "option of text": (job(options("maxFilesPerTrigger: abc")), "must be a positive integer"),
    "archive in the source": (job(options("cleanSource: archive, sourceArchiveDir: ./in/old")), "archived files would be read again"),
    "archive below a pattern": (job(archive("in/old", "in/*")), "j.yaml:3:67: sourceArchiveDir in/old lies in what source s reads (in/*)"),
    "archive above a pattern": (job(archive("in", "in/*/*.json")), "sourceArchiveDir in lies in what source s reads"),
    "archive in the sink": (job(archive("out/old")), "sourceArchiveDir out/old lies in the folder of other files (out)"),
    "archive in the checkpoint": (job(archive("chk/old")), "sourceArchiveDir chk/old lies in the folder of other files (chk)"),
    "archive in the bad records": (job(archive("bad").replace("format", "bad_records: {path: bad}, format")), "sourceArchiveDir bad lies in the folder of other files (bad)"),
    "a circle": (two(("A", path("in"), "mid", "chk/a"), ("B", path("mid"), "in", "chk/b")), 'j.yaml:2:3: the queries "A" and "B" go in a circle'),
    "a circle of three": (two(("A", path("in"), "m1", "chk/a"), ("B", path("./m1/*.json"), "m2", "chk/b"), ("C", path("m2/../m2"), "in", "chk/c")), 'the queries "A" and "C" go in a circle'),
    "a folder cleaned for two": (two(("A", clean("in"), "o1", "chk/a"), ("B", path("./in/*"), "o2", "chk/b")), 'source "s" of query "A" takes files away (cleanSource: delete) that source "s" of query "B" reads'),
    "a folder cleaned without a sync": (job(clean("in"), more="engine: {durability: interval}\n"), 'source "s" of query "q" takes files away (cleanSource: delete)'),
    "a checkpoint for two": (two(("A", path("in"), "o1", "chk/A"), ("B", path("in"), "o2", "chk/../chk/A/")), "the queries A and B share the checkpoint"),
    "missing path": (job(path("nowhere")), "j.yaml:3:3: [PATH_NOT_FOUND] Path does not exist: nowhere. The current directory is /"),
    "path with a scheme": (job(path("file:///tmp")), "leave the scheme file: away"),
    "no such CPU": (job(more="engine: {cpus: \"900\"}\n"), "j.yaml:9:16: cpus: this process may use none of \"900\""),
    "append without watermark": (job(steps=sql("SELECT count(*) AS n FROM s GROUP BY id")), "Add a watermark"),
    "path below a file": (job(path("in/a.json/x")), "[PATH_NOT_FOUND]"),
    "path is a device": (job(path("/dev/null")), "/dev/null is neither a file nor a folder"),
    "braces in a pattern": (job(path("in/{a,b}.json")), "allowed are *, ? and [..]"),
    "open bracket in a pattern": (job(path("in/[ab")), "allowed are *, ? and [..]"),
    "wrong type": (job(path("in").replace("INT", "INTT")), 'Unsupported data type "INTT"'),
    "deep type": (job(path("in").replace("INT", "ARRAY<" * 5000 + "INT" + ">" * 5000)), "nested deeper than 200"),
    "deep expression": (job(steps=sql("SELECT " + "(" * 5000 + "1" + ")" * 5000 + " FROM s")), "[FAILED_TO_PARSE_TOO_COMPLEX]"),
    "deep query": (job(steps=sql("SELECT * FROM " + "(SELECT * FROM " * 2000 + "s" + ")" * 2000)), "[FAILED_TO_PARSE_TOO_COMPLEX]"),
    "too many windows": (job(steps=sql("SELECT count(*) AS n FROM s GROUP BY window(at, '100 days', '1 microsecond')"), sink="{format: noop, output_mode: update}"),
                         "[DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION]"),
    "unknown function": (job(steps=sql("SELECT uper(name) FROM s")), "j.yaml:5:26: [UNRESOLVED_ROUTINE]"),
    "unknown type in a call": (job(steps=sql("SELECT from_json(name, 'itn') AS x FROM s")), 'j.yaml:5:26: [UNSUPPORTED_DATATYPE] Unsupported data type "itn", did you mean "int"?'),
    "unknown column": (job(steps=sql("SELECT nam FROM s")), "j.yaml:5:26: [UNRESOLVED_COLUMN.WITH_SUGGESTION]"),
    "unknown table": (job(steps=sql("SELECT 1 FROM t")), "j.yaml:5:33: [TABLE_OR_VIEW_NOT_FOUND]"),
    "text of two columns": (job(sink="{format: text, path: out}"), "j.yaml:6:7: format text writes one column"),
    "array in csv": (job(sink="{format: csv, path: out}", steps=sql("SELECT array(id) AS x FROM s")), "j.yaml:6:7: [UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE]"),
    "sink is the source": (job(sink="{format: json, path: in}"), "j.yaml:6:7: sink in lies in what source s reads (in)"),
    "sink in the source": (job(sink="{format: json, path: ./in/../in/out}"), "lies in what source s reads (in)"),
    "checkpoint is the source": (job().replace("checkpoint: chk", "checkpoint: in"), "j.yaml:7:13: checkpoint in lies in what source s reads (in)"),
    "sink in a pattern": (job(path("in/*"), sink="{format: json, path: in/out}"), "j.yaml:6:7: sink in/out lies in what source s reads (in/*)"),
    "sink's files in a pattern": (job(path("out*/*.json")), "sink out lies in what source s reads (out*/*.json)"),
    "sink where nothing is yet": (job(path("./*"), sink="{format: json, path: a/b/c}"), "sink a/b/c lies in what source s reads (./*)"),
    "checkpoint is the sink": (job().replace("checkpoint: chk", "checkpoint: out"), "j.yaml:7:13: checkpoint out lies in the folder of other files (out)"),
    "bad records in the source": (job(path("in").replace("format", "bad_records: {path: in/bad}, format")), "j.yaml:3:3: bad_records in/bad lies in what source s reads (in)"),
    "bad records in the sink": (job(path("in").replace("format", "bad_records: {path: out/bad}, format")), "bad_records out/bad lies in the folder of other files (out)"),
    "bad records in the checkpoint": (job(path("in").replace("format", "bad_records: {path: chk}, format")), "bad_records chk lies in the folder of other files (chk)"),
    "sink is a file": (job(sink="{format: json, path: in/a.json}"), "j.yaml:6:7: sink in/a.json: in/a.json is no folder"),
    "sink below a file": (job(sink="{format: json, path: in/a.json/x/y}"), "sink in/a.json/x/y: in/a.json is no folder"),
    "checkpoint is a file": (job().replace("checkpoint: chk", "checkpoint: in/a.json"), "j.yaml:7:13: checkpoint in/a.json: in/a.json is no folder"),
    "text of a number": (job(path("in", "text").replace(SCHEMA, "a INT"), sql("SELECT a FROM s")), 'j.yaml:3:3: [UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE] source "s": The Text datasource'),
    "a pattern that is none": (job(options("timestampFormat: yyyy-bb")), "j.yaml:3:3: [INVALID_DATETIME_PATTERN.WITH_SUGGESTION] source \"s\": Fail to recognize 'yyyy-bb'"),
    "name of two lines": (job().replace("name: q", 'name: "q\\nr"'), "j.yaml:1:7: name: a query's name is one line"),
    "no partitions": (job(more="conf: {spark.sql.shuffle.partitions: 0}\n"), "spark.sql.shuffle.partitions"),
    "a folder's column below a pattern": (job(path("in/*/day=*/"), sql("SELECT day FROM s")), 'source \"s\" needs the option basePath'),
    "workers": (job(more="engine: {workers: 65}\n"), 'j.yaml:9:19: workers: "65"'),
    "secret in an option": (job(options("maxFilesPerTrigger: '${env:MILLRACE_SECRET}'")), "Invalid value '***'"),
    "secret in SQL": (job(steps=sql("SELECT ${env:MILLRACE_SECRET} FROM s")), "with name `***`"),
    "secret that is missing": (job(path("${env:MILLRACE_NONE}")), "the environment has no MILLRACE_NONE"),
}


def long_line(mb): return b'{"id":5,"name":"' + b"x" * (mb << 20) + b'"}\n{"id":6,"name":"c"}\n'
def ids(*values): return [{"id": v} for v in values]


LONG_ROWS = [(i, ("%d," % i) * (i * 9973)) for i in range(10, 26)]
LONG = "".join('{"id":%d,"name":"%s"}\n' % row for row in LONG_ROWS).encode()


def pipe(folder): os.mkfifo(os.path.join(folder, "in", "b.json"))
def loose_link(folder): os.symlink("/nowhere", os.path.join(folder, "in", "b.json"))
def own_link(folder): os.symlink("b.json", os.path.join(folder, "in", "b.json"))


JUST_IDS = sql("SELECT id FROM s")
RUNS = {  # name: (job, content of in/b.json or what to do with the folder, rows besides 1 and 2)
    "byte order mark": (b"\xef\xbb\xbf" + job(steps=JUST_IDS).encode(), None, []),
    "values without a column": (job('{format: json, path: in, schema: "id INT, r STRING", options: {rescuedDataColumn: r}}',
                                    sql("SELECT id, CASE WHEN id > 2 OR id IS NULL THEN r END AS r FROM s")),
                                b'{"id":5,"z": [1]}\n{"id":"x"}\n', [{"id": 5, "r": '{"z":[1]}'}, {"r": '{"id":"x"}'}]),
    "CRLF": (job(steps=JUST_IDS).replace("\n", "\r\n"), b'{"id":5}\r\n{"id":6}\r\n', ids(5, 6)),
    "archive beside the source": (job(options("cleanSource: archive, sourceArchiveDir: in_old"), JUST_IDS), b'{"id":5}\n', ids(5)),
    "a long line": (job(steps=JUST_IDS), long_line(100), ids(5, 6)),
    "lines longer than a read": (job(steps=sql("SELECT id, length(name) AS n, md5(name) AS sum FROM s WHERE id > 2 UNION ALL SELECT id, NULL, NULL FROM s WHERE id < 3")), LONG,
                                 [{"id": i, "n": len(x), "sum": hashlib.md5(x.encode()).hexdigest()} for i, x in LONG_ROWS]),
    "deep JSON": (job(steps=JUST_IDS), b'{"id":5,"name":' + b"[" * 10000000 + b'\n{"id":6}', ids(6) + [{}]),
    "bad UTF-8": (job(steps=JUST_IDS), b'{"id":5,"x":"\xff\xfe"}\n{"id":6}\n', ids(6) + [{}]),
    "zero bytes": (job(steps=JUST_IDS), b'\0\0\0\n{"id":6}\n', ids(6) + [{}]),
    "a pipe": (job(steps=JUST_IDS), pipe, []),
    "a link to nowhere": (job(steps=JUST_IDS), loose_link, []),
    "a link to itself": (job(steps=JUST_IDS), own_link, []),
    "folders by a pattern": (job(path("i*"), JUST_IDS), b'{"id":5}\n', ids(5)),
    "folders by a pattern with a slash": (job(path("./in*/"), JUST_IDS), b'{"id":5}\n', ids(5)),
    "checkpoint hidden in the sink": (job(steps=JUST_IDS).replace("checkpoint: chk", "checkpoint: out/_chk"), b'{"id":5}\n', ids(5)),
    "a long list": (job(steps=sql("SELECT id FROM s WHERE id IN (%s)" % ", ".join(map(str, range(20000))))), b'{"id":5}\n{"id":20000}\n', ids(5)),
    "a long chain": (job(steps=sql("SELECT id FROM s WHERE " + " AND ".join("id <> %d" % i for i in range(100, 4100)))), b'{"id":99}\n{"id":100}\n', ids(99)),
    "one row a batch": (job(steps=JUST_IDS, more="engine: {workers: 4, batch_rows: 1, ring_slots: 2}\n"), b'{"id":5}\n', ids(5)),
    "little memory": (job(steps=JUST_IDS, more="engine: {memory_limit: 16m, workers: 1}\n"), b'{"id":5}\n', ids(5)),
}

FAILS = {  # name: (job, {file: content}, what the line says)
    "cut off gzip": (job(), {"in/b.json.gz": gzip.compress(b'{"id":5}\n' * 1000)[:-20]}, "in/b.json.gz: the compressed file is cut off"),
    "unknown compression": (job(), {"in/b.json.bz2": b"hello"}, "in/b.json.bz2: files can be plain, .gz or .zst, not .bz2"),
    "no gzip": (job(), {"in/b.json.gz": b"hello"}, "in/b.json.gz: bad compressed data"),
    "bad cast": (job(steps=sql("SELECT CAST(name AS INT) AS x FROM s")), {}, "j.yaml:5:26: [CAST_INVALID_INPUT]"),
    "a sum without room": (job(steps=sql("SELECT sum(id * 0 + 9223372036854775807) AS n FROM s"), sink="{format: noop, output_mode: complete}"), {}, "j.yaml:5:26: [ARITHMETIC_OVERFLOW]"),
    "sketches apart": (job(steps=sql("SELECT hll_union_agg(k) AS n FROM (SELECT encode(name, 'UTF-8') AS k FROM s)"), sink="{format: noop, output_mode: complete}"), {}, "j.yaml:5:26: [HLL_INVALID_INPUT_SKETCH_BUFFER]"),
    "secret in a row": (job(steps=sql("SELECT CAST('${env:MILLRACE_SECRET}' || name AS INT) AS x FROM s")), {}, "The value '***a'"),
    "a text no column holds": (job(steps=sql("SELECT length(hex(repeat(name, 1100000000))) AS n FROM s")), {}, "more memory"),
    "a width no column holds": (job(steps=sql("SELECT format_string('%9999999999d', id) AS x FROM s")), {}, "more memory"),
    "a key no state holds": (job(steps=sql("SELECT k, count(*) AS n FROM (SELECT repeat(name, 540000000) AS k FROM s WHERE id = 1) GROUP BY k"),
                                 sink="{format: noop, output_mode: complete}"), {}, "more memory"),
    "no memory": (job(more="engine: {memory_limit: 1m}\n"), {}, "raise engine: memory_limit"),
    "no memory for the log": (job(steps='{as: w, watermark: {input: s, column: at, delay: 1 hour}}\n  - {as: r, dedup: {input: w, keys: [name, at]}}', more="engine: {memory_limit: 24m, workers: 1}\n"),
                              {"in/b.json": "".join('{"id":1,"name":"%s","at":"2024-01-01T00:00:00Z"}\n' % str(i).zfill(60) for i in range(60000)).encode()}, "raise engine: memory_limit"),
    "FAILFAST": (job(options("mode: FAILFAST")), {"in/b.json": b'{"id":3}\n{"id":"x"}\n'}, "The record begins at byte 9 of it."),
}


class Runner:
    def __init__(self, binary): self.binary, self.failed, self.ran = binary, 0, 0

    def folder(self, text, files):
        tmp = tempfile.TemporaryDirectory()
        os.mkdir(os.path.join(tmp.name, "in"))
        for name, content in {"in/a.json": GOOD.encode(), "j.yaml": text if isinstance(text, bytes) else text.encode(), **files}.items():
            with open(os.path.join(tmp.name, name), "wb") as f: f.write(content)
        return tmp

    def call(self, folder, *args):
        env = dict(os.environ, MILLRACE_SECRET=SECRET)
        try: p = subprocess.run([self.binary, *args, "j.yaml"], cwd=folder, env=env, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired: return "no end", "", ""
        return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")

    def run(self, folder): return self.call(folder, "run", "--progress", "none")

    def expect(self, name, ok, shown):
        self.ran += 1
        if not ok:
            self.failed += 1
            print("FAIL %s: %s" % (name, str(shown)[:600]))

    def refused(self, name, text, says):
        with self.folder(text, {}) as folder:
            before = set(os.listdir(folder))
            for code, out, err in (self.run(folder), self.call(folder, "check")):
                ok = code == 2 and says in err and err.count("\n") == 1 and SECRET not in out + err
                self.expect(name, ok and set(os.listdir(folder)) == before, (code, err, os.listdir(folder)))

    def runs(self, name, text, content, rows):
        with self.folder(text, {"in/b.json": content} if isinstance(content, bytes) else {}) as folder:
            if callable(content): content(folder)
            code, _, err = self.run(folder)
            got = [json.loads(line) for f in glob.glob(folder + "/out/*.json") for line in open(f)]
            self.expect(name, code == 0 and sorted(map(str, got)) == sorted(map(str, ids(1, 2) + rows)), (code, err, got[:5]))

    def fails(self, name, text, files, says):
        with self.folder(text, files) as folder:
            code, out, err = self.run(folder)
            self.expect(name, code == 1 and says in err and SECRET not in out + err and not re.search(r":[0-9]{6,}:", err) and err.count("in/b.json.gz") < 2, (code, err))

    def closed(self):
        """What is meant for a closed stream goes into no file that was opened in its place."""
        with self.folder(job(sink="{format: console}"), {}) as folder:
            p = subprocess.run(["sh", "-c", '"$0" run --progress none j.yaml 0<&- 1>&-', self.binary], cwd=folder, capture_output=True, timeout=SECONDS)
            self.expect("closed streams", p.returncode == 1 and b"standard output: Bad file descriptor" in p.stderr, p)

    def shown_once(self):
        """After a clean end the console does not show the last epoch again."""
        with self.folder(job(steps=JUST_IDS, sink="{format: console}"), {}) as folder:
            outs = [self.run(folder)[1] for _ in range(3)]
            self.expect("shown once", [o.count("Batch: 0") for o in outs] == [1, 0, 0], outs)

    def inline(self):
        """Rows that stand in the job are a table for sql --job."""
        with self.folder(job(more='tables: {t: {schema: "a INT, b STRING, c DECIMAL(5,2)", rows: [[1, x, 1.5], [2, null, null]]}, none: {schema: a INT, rows: []}}\n'), {}) as folder:
            for text, rows in ("SELECT c, a FROM t ORDER BY a", [{"c": 1.5, "a": 1}, {"a": 2}]), ("SELECT count(*) AS n FROM none", [{"n": 0}]):
                p = subprocess.run([self.binary, "sql", "--format", "json", "--job", "j.yaml", text], cwd=folder, capture_output=True, text=True, timeout=SECONDS)
                code, out, err = p.returncode, p.stdout, p.stderr
                got = [{k: v for k, v in json.loads(line).items() if v is not None} for line in out.splitlines()] if code == 0 else []
                self.expect("inline rows", got == rows, (code, out, err))

    def explained(self):
        with self.folder(job(steps=sql("SELECT id, '${env:MILLRACE_SECRET}' AS x FROM s")), {}) as folder:
            code, out, err = self.call(folder, "explain")
            self.expect("secret in a plan", code == 0 and "***" in out and SECRET not in out + err, (code, out, err))

    def quarantined(self):
        """Two sources with one folder for bad records: each keeps its own, over restarts."""
        s = "{format: json, path: %s, schema: a INT, bad_records: {path: bad}}"
        text = job(s % "in", sql("SELECT * FROM s UNION ALL SELECT * FROM t")).replace("steps:", "  t: %s\nsteps:" % (s % "other"))
        with self.folder(text, {"in/b.json": b'{"a":1}\n{one\n'}) as folder:
            os.mkdir(os.path.join(folder, "other"))
            for round, raw in enumerate(("two", "three")):
                for name, line in ("good", '{"a":2}'), ("later", "{" + raw):
                    with open("%s/other/%s%d.json" % (folder, name, round), "w") as f: f.write(line + "\n")
                code, _, err = self.run(folder)
            got = [json.loads(line) for f in glob.glob(folder + "/bad/*.json") for line in open(f)]
            self.expect("quarantine", code == 0 and sorted(b["raw"] for b in got) == ["{one", "{three", "{two"], (code, err, got))
            self.expect("quarantine", {"epoch": 0, "path": os.path.realpath(folder) + "/in/b.json", "offset": 8}.items() <= next((b for b in got if b["raw"] == "{one"), {}).items(), got)


    def too_long(self):
        """A field above maxCharsPerColumn is bad, and is not read."""
        source = '{format: csv, path: in, schema: "a STRING, id INT", options: {maxCharsPerColumn: 3}, bad_records: {path: bad}}'
        with self.folder(job(source, sql("SELECT * FROM s")), {"in/a.json": b'abcdef,1\nab,2\n"abcdef",3\n'}) as folder:
            code, _, err = self.run(folder)
            rows, bad = ([json.loads(line) for f in glob.glob(folder + at) for line in open(f)] for at in ("/out/*.json", "/bad/*.json"))
            self.expect("too long", code == 0 and rows == [{"id": 1}, {"a": "ab", "id": 2}, {"id": 3}] and len(bad) == 2, (code, err, rows, bad))

    def reasons(self):
        """A value that does not fit: the reason names its column."""
        for format, raw in ("json", b'{"id":"x","name":"a"}\n'), ("csv", b"x,a,\n"):
            source = '{format: %s, path: in, schema: "%s", bad_records: {path: bad}}' % (format, SCHEMA)
            with self.folder(job(source), {"in/a.json": raw}) as folder:
                code, _, err = self.run(folder)
                got = [json.loads(line)["reason"] for f in glob.glob(folder + "/bad/*.json") for line in open(f)]
                self.expect("reason", code == 0 and len(got) == 1 and got[0].endswith("does not fit its %s, id" % {"json": "field", "csv": "column"}[format]), (code, err, got))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    p.add_argument("-k", default="", help="only cases whose name has this")
    args = p.parse_args()
    r = Runner(os.path.abspath(args.millrace))
    for table, kind in ((REFUSED, r.refused), (RUNS, r.runs), (FAILS, r.fails)):
        for name, case in table.items():
            if args.k in name: kind(name, *case)
    if args.k in "secret in a plan": r.explained()
    if args.k in "quarantine": r.quarantined()
    if args.k in "reason": r.reasons()
    if args.k in "too long": r.too_long()
    if args.k in "closed streams": r.closed()
    if args.k in "shown once": r.shown_once()
    if args.k in "inline rows": r.inline()
    print("%d checks, %d failed" % (r.ran, r.failed))
    sys.exit(r.failed > 0)


main()
