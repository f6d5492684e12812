#!/usr/bin/env python3
"""What a command tells its user: run a failure at once and a summary at the end, gen what it would overwrite, help.

usage: told.py [--millrace PATH]       Exit 0: all as expected; 1: what differs is shown.
"""
import argparse, glob, json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECRET = "opensesame42"
TWO = """
queries:
  - name: endless
    sources: {r: {format: rate, options: {rowsPerSecond: 10}}}
    sink: {format: noop}
  - name: broken
    sources: {s: {format: text, path: in}}
    steps: [{as: c, sql: "SELECT CAST(value || '${env:MILLRACE_SECRET}' AS INT) AS n FROM s"}]
    sink: {format: noop}
engine: {workers: 1}
"""
LATE = """
name: q
sources:
  s: {format: json, path: in, schema: "id INT, at TIMESTAMP", options: {maxFilesPerTrigger: 1}, bad_records: {path: bad}}
steps:
  - {as: w, watermark: {input: s, column: at, delay: 1 minute}}
  - {as: r, sql: "SELECT window.start AS t, count(*) AS n FROM w GROUP BY window(at, '1 minute')"}
sink: {format: json, path: out, output_mode: append}
checkpoint: chk
trigger: {available_now: true}
engine: {workers: 1}
"""
problems = []


def expect(what, good, shown):
    if not good: problems.append("%s: %s" % (what, shown))


def write(folder, files):
    for at, (name, text) in enumerate(files.items()):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f: f.write(text)
        os.utime(path, (1000 + at, 1000 + at))


def start(binary, folder, *args):
    return subprocess.Popen([binary, "run", *args, "j.yaml"], cwd=folder, stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, MILLRACE_SECRET=SECRET))


def failure(binary, folder):
    """One of two queries fails: said while the other runs, once; its code is the program's."""
    write(folder, {"in/a.txt": "x\n", "j.yaml": TWO})
    p = start(binary, folder, "--progress", "none")
    signal.alarm(60)
    line = ""
    while "error" not in line:
        line = p.stderr.readline()
    expect("named", 'query "broken" failed (the others are not stopped): j.yaml:8:26: [CAST_INVALID_INPUT]' in line, line)
    expect("no secret", SECRET not in line and "***" in line, line)
    time.sleep(0.5)
    expect("the other goes on", p.poll() is None, p.returncode)
    p.send_signal(signal.SIGTERM)
    rest = p.stderr.read()
    expect("told once", "error" not in rest, rest)
    expect("exit code", p.wait() == 1, p.returncode)
    signal.alarm(0)


def summary(binary, folder):
    """Two files, an epoch each and one without data; the second has a late row and a bad one."""
    write(folder, {"in/a.json": '{"id":1,"at":"2024-01-01T00:00:00Z"}\n{"id":2,"at":"2024-01-01T01:00:00Z"}\n',
                   "in/b.json": '{"id":3,"at":"2024-01-01T01:10:00Z"}\n{"id":4\n',
                   "in/c.json": '{"id":5,"at":"2024-01-01T00:01:00Z"}\n{"id":6,"at":"2024-01-01T01:10:00Z"}\n', "j.yaml": LATE})
    p = start(binary, folder, "--progress", "line")
    lines = p.communicate(timeout=60)[1].splitlines()
    expect("exit code", p.returncode == 0, lines)
    expect("late in a line", any(re.search(r"  1 late", line) for line in lines), lines)
    expect("summary", lines and re.fullmatch(r"q  ended: \d epochs, 6 rows in, 2 out, 1 bad, 1 late, \d+\.\d s", lines[-1]), lines)


def generated(binary, folder):
    """gen overwrites nothing, and numbers on."""
    def gen(*args):
        p = subprocess.run([binary, "gen", "100", "--out", "in", "--files", "2", *args], cwd=folder, capture_output=True, text=True, timeout=60)
        return p.returncode, p.stderr
    expect("gen", gen() == (0, ""), folder)
    before = open(os.path.join(folder, "in/events-00001.json")).read()
    expect("gen --width", gen("--first", "9", "--width", "50")[0] == 2, "a line is longer")
    code, err = gen("--seed", "2", "--first", "1")
    expect("gen refuses", code == 2 and "in/events-00001.json is there already; number the files on with --first N" in err, (code, err))
    expect("nothing made", sorted(os.listdir(folder + "/in")) == ["events-00000.json", "events-00001.json"], os.listdir(folder + "/in"))
    expect("gen --first", gen("--seed", "2", "--first", "2") == (0, "") and len(os.listdir(folder + "/in")) == 4, os.listdir(folder + "/in"))
    expect("left as it was", open(os.path.join(folder, "in/events-00001.json")).read() == before, "")


SQL = """
queries:
  - name: first
    sources: {here: {format: text, path: in}, gone: {format: text, path: nowhere}}
    steps: [{as: bad, sql: "SELECT valu FROM here"}]
    sink: {format: noop}
  - name: second
    sources: {elsewhere: {format: text, path: in}}
    sink: {format: noop}
"""


def asked(binary, folder):
    """sql --job: what is wrong in the job is told with its place there."""
    write(folder, {"in/a.txt": "x\n", "j.yaml": SQL})
    for query, code, says in (("SELECT * FROM here", 0, ""),
                              ("SELECT * FROM gone", 2, "j.yaml:4:47: [PATH_NOT_FOUND] Path does not exist: nowhere"),
                              ("SELECT * FROM bad", 2, "j.yaml:5:36: [UNRESOLVED_COLUMN.WITH_SUGGESTION]"),
                              ("SELECT * FROM elsewhere", 2, "error: line 1, column 15: [TABLE_OR_VIEW_NOT_FOUND]"),
                              ("SELECT * FROM elsewhere", 2, 'Names are those of query "first", the first of the job\'s 2.'),
                              ("SELECT * FROM other", 2, "Known are `bad`, `here`, `gone`.")):
        p = subprocess.run([binary, "sql", "--job", "j.yaml", query], cwd=folder, capture_output=True, text=True, timeout=60)
        expect(query, p.returncode == code and says in p.stderr, (p.returncode, p.stderr))
    for query, says in ("SELECT TIMESTAMP_NTZ'2026-01-01 12:00:00.123456' AS t", '{"t":"2026-01-01T12:00:00.123456"}\n'), \
                       ("SELECT TIMESTAMP'2026-01-01 12:00:00.123456' AS t", '{"t":"2026-01-01T12:00:00.123456Z"}\n'), \
                       ("SHOW FUNCTIONS LIKE 'get*'", "get\nget_json_object\ngetbit\n"):
        p = subprocess.run([binary, "sql", "--format", "json", query], cwd=folder, capture_output=True, text=True, timeout=60)
        expect(query, p.returncode == 0 and p.stdout == says, (p.returncode, p.stdout, p.stderr))


def helped(binary, folder):
    """help COMMAND is COMMAND --help."""
    texts = [subprocess.run([binary, *args], capture_output=True, text=True).stdout for args in (("help", "run"), ("run", "--help"))]
    expect("help run", texts[0] == texts[1] and "usage: millrace run" in texts[0], texts)


KAFKA = {"source": """
name: q
sources: {k: {format: kafka, options: {kafka.bootstrap.servers: "127.0.0.1:1", subscribe: t}}}
sink: {format: noop}
""", "sink": """
name: q
sources: {r: {format: rate}}
steps: [{as: s, sql: "SELECT CAST(value AS STRING) AS value FROM r"}]
sink: {format: kafka, options: {kafka.bootstrap.servers: "127.0.0.1:1", topic: t}}
checkpoint: chk
"""}


def unreachable(binary, folder):
    """Brokers that don't answer are named after some seconds, and a signal ends the wait at once."""
    for end, job in KAFKA.items():
        write(folder, {"j.yaml": job})
        p = start(binary, folder, "--progress", "none")
        signal.alarm(60)
        line = p.stderr.readline()
        while line and "no answer" not in line and "millrace: error" not in line:
            line = p.stderr.readline()
        if "no source format" in line or "no sink format" in line: return # built without Kafka
        expect(end, end in line and "no answer yet from kafka.bootstrap.servers 127.0.0.1:1" in line, line)
        began = time.time()
        p.send_signal(signal.SIGTERM)
        rest = p.stderr.read()
        p.wait()
        expect(end + " stops", time.time() - began < 3 and "no answer yet" not in rest, (time.time() - began, rest))
        expect(end + " code", p.returncode == (1 if end == "sink" else 0), (p.returncode, rest))
        signal.alarm(0)


SOCKET = """
name: q
sources: {s: {format: socket, options: {host: 127.0.0.1, port: "PORT"}}}
sink: {format: noop}
"""


def closed(binary, folder):
    """The server of a socket source goes away: said, once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        write(folder, {"j.yaml": SOCKET.replace("PORT", str(server.getsockname()[1]))})
        p = start(binary, folder, "--progress", "none")
        server.accept()[0].close()
    signal.alarm(60)
    line = p.stderr.readline()
    while line and "has closed" not in line:
        line = p.stderr.readline()
    expect("socket", 'source "s": the server has closed the connection' in line, line)
    time.sleep(0.5)
    p.send_signal(signal.SIGTERM)
    rest = p.stderr.read()
    expect("socket, once", "has closed" not in rest and p.wait() == 0, rest)
    signal.alarm(0)


LIMITED = """
name: q
sources: {s: {format: socket, options: {host: 127.0.0.1, port: "PORT"}}}
sink: {format: console}
checkpoint: chk
engine: {workers: 1}
"""


def limited(binary, folder):
    """Ends that are not exactly once say so at start, once. Console shows each committed row at least once; lines of a socket that no epoch
    had taken are lost with the process, and it goes on with the next."""
    shown = []
    for lines in ["one"], ["two", "three"]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            write(folder, {"j.yaml": LIMITED.replace("PORT", str(server.getsockname()[1]))})
            p = subprocess.Popen([binary, "run", "--progress", "json", "j.yaml"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            signal.alarm(60)
            said, client = "", server.accept()[0]
            for line in lines:
                client.sendall(b"%s\n" % line.encode())
                while '"numInputRows":1' not in (told := p.stderr.readline()) and told: said += told
            p.kill()
            shown.append(p.communicate()[0])
            client.close()
            signal.alarm(0)
        for says in 'source "s" (socket) can\'t be read again: a crash loses the rows of the epoch that ran', "after a crash sink console may have the rows of the last epoch twice":
            expect(says, said.count(says) == 1, said)
    for line, least, most in ("one", 1, 2), ("two", 1, 1), ("three", 1, 1):
        expect("shown: " + line, least <= len(re.findall(r"\|\s*%s\|" % line, "".join(shown))) <= most, shown)


MOVED = """
name: q
sources: {s: {format: json, path: in, schema: "d STRING, n INT"}}
sink: {format: json, path: out, partition_by: [d], options: {commitInterval: 1 hour}}
checkpoint: chk
engine: {workers: 1}
"""


def until(what, seconds=30):
    end = time.time() + seconds
    while not what() and time.time() < end: time.sleep(0.02)
    return what()


def moved(binary, folder):
    """The sink's folder or the checkpoint is taken away under the hands of a job: rows that nobody will see are no success."""
    for name, take in ("moved", lambda at: os.rename(at + "/out/d=a", at + "/away")), ("removed", lambda at: (shutil.rmtree(at + "/out"), os.mkdir(at + "/out"))), \
                       ("checkpoint", lambda at: shutil.rmtree(at + "/chk")), ("folder", lambda at: os.rename(at + "/out", at + "/away")):
        at = os.path.join(folder, name)
        job = MOVED.replace("partition_by: [d], options: {commitInterval: 1 hour}", "options: {}") if name == "folder" else MOVED
        write(at, {"in/a.json": '{"d":"a","n":1}\n', "j.yaml": job})
        p = start(binary, at, "--progress", "json")
        expect(name, until(lambda: glob.glob(at + "/out/part*") if name == "folder" else glob.glob(at + "/out/d=a/.part*.tmp")), os.listdir(at))
        p.stderr.readline() # the first epoch's progress
        take(at)
        write(at, {"tmp/b.json": '{"d":"b","n":2}\n'})
        os.rename(at + "/tmp/b.json", at + "/in/b.json")
        try: err = p.communicate(timeout=30)[1]
        except subprocess.TimeoutExpired:
            p.kill(); err = "no end"
        says = "chk/log/" if name == "checkpoint" else "/folder/out" if name == "folder" else "out/d=a/.part-00000"
        expect(name, p.returncode == 1 and re.search(re.escape(says) + "\\S* was moved or removed while the job", err), (p.returncode, err))
        expect(name + ", not told", '"batchId":1' not in err.replace(" ", ""), err)


RECORDED = """
name: q
sources: {s: {format: text, path: in}}
sink: {format: json, path: out}
checkpoint: chk
trigger: {available_now: true}
"""


def recorded(binary, folder):
    """--record: only a record is replaced, none lies among the query's files, one that can't be written fails the epoch, an error is a record."""
    def record(name, job="j.yaml"):
        p = subprocess.run([binary, "run", "--progress", "json", "--record", name, job], cwd=folder, capture_output=True, text=True, timeout=60)
        return p.returncode, p.stderr
    precious = "1000 letters\n"
    write(folder, {"in/a.txt": "x\n", "j.yaml": RECORDED, "bad.yaml": "nam: q\n", "precious.txt": precious})
    for name, text in ("j.yaml", RECORDED), ("precious.txt", precious):
        code, err = record(name)
        expect(name, code == 2 and name + " is there and is no record" in err and not os.path.exists(folder + "/chk"), (code, err))
        expect(name, open(os.path.join(folder, name)).read() == text, "overwritten")
    code, err = record("/dev/full")
    expect("full at the start", code == 1 and "--record: write /dev/full: No space left" in err, (code, err))
    code, err = record("/dev/stdout")
    expect("no file", code == 2 and "--record: /dev/stdout must be a file" in err and not os.path.exists(folder + "/chk"), (code, err))
    for name, where in ("in/new.json", "what source s reads (in)"), ("out/r.json", "files (out)"), ("chk", "files (chk)"), ("chk/r.json", "files (chk)"):
        code, err = record(name)
        expect(name, code == 2 and "--record %s lies in " % name in err and where in err, (code, err))
        expect(name, sorted(os.listdir(folder)) == ["bad.yaml", "in", "j.yaml", "precious.txt"] and os.listdir(folder + "/in") == ["a.txt"], "something is left behind")
    code, err = record("r.json", "bad.yaml")
    expect("error in a record", code == 2 and json.load(open(folder + "/r.json"))["at"] == "parse", (code, err))
    for rows in ["x"], []:
        code, err = record("r.json")
        got = json.load(open(folder + "/r.json"))
        expect("replaced", code == 0 and "the record in r.json is replaced" in err and [r["value"] for b in got["batches"] for r in b["rows"]] == rows, (code, err, got))
    write(folder, {"in/b.txt": "%s\n" % ("y" * 300000)})
    p = subprocess.run(["sh", "-c", 'ulimit -f 100; exec "$0" run --progress json --record s.json j.yaml', binary], cwd=folder, capture_output=True, text=True, timeout=60)
    expect("full", p.returncode == 1 and "--record: write s.json: File too large" in p.stderr and "batchId" not in p.stderr, (p.returncode, p.stderr))
    code, err = record("s2.json")
    expect("again", code == 0 and len(json.load(open(folder + "/s2.json"))["batches"]) == 1, (code, err))


def named(binary, folder):
    """A folder has one name over restarts, however it is written; another current directory is another folder."""
    def run(path, at=folder):
        text = RECORDED.replace("path: in", "path: " + path).replace("path: out", "path: %s/out" % folder).replace("chk", folder + "/chk")
        write(folder, {"j.yaml": text})
        p = subprocess.run([binary, "run", "--progress", "none", folder + "/j.yaml"], cwd=at, capture_output=True, text=True, timeout=60)
        return p.returncode, p.stderr
    write(folder, {"in/a.txt": "a\n", "other/in/a.txt": "b\n"})
    for path in "in", "./in/", folder + "/in", "other/../in":
        expect(path, run(path) == (0, ""), run(path))
    got = [line for f in glob.glob(folder + "/out/*.json") for line in open(f)]
    expect("read once", got == ['{"value":"a"}\n'], got)
    code, err = run("in", folder + "/other")
    expect("another folder", code == 2 and "source 1 was FileSource[%s/in] and is FileSource[%s/other/in]" % (folder, folder) in err, (code, err))


def archived(binary, folder):
    """cleanSource: archive overwrites nothing, and says where a file could not go."""
    text = RECORDED.replace("path: in", "path: in, options: {cleanSource: archive, sourceArchiveDir: old}")
    write(folder, {"in/a.txt": "a\n", "in/b.txt": "b\n", "old%s/in/a.txt" % folder: "old\n", "j.yaml": text})
    code, err = (lambda p: (p.returncode, p.stderr))(subprocess.run([binary, "run", "--progress", "none", "j.yaml"], cwd=folder, capture_output=True, text=True, timeout=60))
    kept = [open(folder + "/" + f).read() for f in ("in/a.txt", "old%s/in/a.txt" % folder, "old%s/in/b.txt" % folder)]
    expect("archived", code == 0 and kept == ["a\n", "old\n", "b\n"] and "in/a.txt stays where it is: old%s/in/a.txt: File exists" % folder in err, (code, err, kept))


def unread(binary, folder):
    """A pattern that matches nothing, and files that are too old, are told of once."""
    def run():
        return subprocess.run([binary, "run", "--progress", "none", "j.yaml"], cwd=folder, capture_output=True, text=True, timeout=60).stderr
    for trigger in "available_now", "once":
        write(folder, {"in/a.txt": "x\n", "j.yaml": RECORDED.replace("path: in", "path: 'in/*.jsn'").replace("available_now", trigger)})
        err = run()
        expect("no file", err.count('source "s": %s/in/*.jsn matches no file yet' % folder) == 1 and err.count("\n") == 1, err)
        shutil.rmtree(folder + "/chk")
    now = time.time()
    write(folder, {"j.yaml": RECORDED.replace("path: in", "path: in, options: {maxFileAge: 1h}")})
    for name, age, says in ("b", 0, 0), ("c", 7000, 1), ("d", 0, 0):
        write(folder, {"in/%s.txt" % name: "y\n"})
        for file, ago in ("a", 60), (name, age): os.utime("%s/in/%s.txt" % (folder, file), (now - ago, now - ago))
        if name == "d": os.remove(folder + "/in/c.txt")
        err = run()
        expect("too old", err.count("1 files, as %s/in/c.txt, are older than the newest one read by more than maxFileAge" % folder) == says and err.count("\n") == says, (name, err))
    for name, ahead in ("future", 1e8), ("today", 0): # all that was and comes is older than that
        write(folder, {"in/%s.txt" % name: "y\n"})
        os.utime("%s/in/%s.txt" % (folder, name), (now + ahead, now + ahead))
        err = run()
    expect("future", "1 files, as %s/in/today.txt, are older than the newest one read by more than maxFileAge" % folder in err, err)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    binary = os.path.abspath(p.parse_args().millrace)
    for case in failure, summary, generated, asked, helped, unreachable, closed, limited, moved, recorded, named, archived, unread:
        with tempfile.TemporaryDirectory() as folder: case(binary, folder)
    for problem in problems: print("FAIL " + problem)
    print("%d problems" % len(problems))
    sys.exit(bool(problems))


main()
