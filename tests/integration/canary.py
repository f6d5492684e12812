#!/usr/bin/env python3
"""A canary instead of every secret: no command, message, progress, record or file of a checkpoint may ever show it.

usage: canary.py [--millrace PATH]      Exit 0: it is nowhere; 1: where it was seen; 2: misuse.
"""
import argparse, json, os, socket, subprocess, sys, tempfile, threading
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CANARY, IN_FILE = "kanarie-Xq71zv-env", "kanarie-Xq71zv-file"
MARK = "kanarie"
ENV, FILE = "${env:MILLRACE_CANARY}", "${file:password}"
JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="%s";'
problems, seen = [], [0, 0]


def broker():
    """It takes connections, reads what comes and answers nothing: what is sent to it is allowed to hold the secret."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try: s, _ = listener.accept()
            except OSError: return
            threading.Thread(target=lambda s=s: s.recv(1 << 16) and s.close(), daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()
    return "127.0.0.1:%d" % listener.getsockname()[1]


def look(what, data):
    seen[0] += 1
    seen[1] += len(data)
    if MARK.encode() in data or MARK[::-1].encode() in data:
        at = data.index(MARK.encode()) if MARK.encode() in data else 0
        problems.append("%s: ..%s.." % (what, data[max(0, at - 80):at + 60]))


def look_in(folder):
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            look(os.path.relpath(path, folder), os.path.relpath(path, folder).encode())
            if name == "password": continue
            with open(path, "rb") as f: look(os.path.relpath(path, folder), f.read())


def call(args, folder, what, *words, seconds=3):
    """Its exit code. It runs until it ends or, which is as good, for some seconds."""
    env = dict(os.environ, MILLRACE_CANARY=CANARY)
    p = subprocess.Popen([args.millrace, *words], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try: out, err = p.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        p.terminate()
        try: out, err = p.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
    look("%s: %s, output" % (what, " ".join(words)), out)
    look("%s: %s, errors" % (what, " ".join(words)), err)
    return p.returncode


def kafka(servers, **options):
    return {"format": "kafka", "options": {"kafka.bootstrap.servers": servers, "subscribe": "t", "fetchOffset.numRetries": 0, **options}}


def jobs(servers):
    """name: job. Some are right, some are wrong in the value that is secret."""
    files = {"format": "json", "path": "in", "schema": "id INT, name STRING"}
    sink = {"format": "json", "path": "out", "output_mode": "append"}
    plain = {"kafka.security.protocol": "SASL_PLAINTEXT", "kafka.sasl.mechanism": "PLAIN", "kafka.request.timeout.ms": 3000}
    step = lambda sql: [{"as": "q", "sql": sql}]
    yield "jaas", {"sources": {"s": kafka(servers, **plain, **{"kafka.sasl.jaas.config": JAAS % ENV})}, "sink": {"format": "noop"}}
    yield "user and password", {"sources": {"s": kafka(servers, **plain, **{"kafka.sasl.username": FILE, "kafka.sasl.password": ENV})}, "sink": {"format": "noop"}}
    yield "no server", {"sources": {"s": kafka("127.0.0.1:1", **plain, **{"kafka.sasl.jaas.config": JAAS % FILE})}, "sink": {"format": "noop"}}
    yield "librdkafka's debug log", {"sources": {"s": kafka(servers, **plain, **{"kafka.sasl.jaas.config": JAAS % ENV, "kafka.debug": "all"})}, "sink": {"format": "noop"}}
    yield "not encrypted, not used", {"sources": {"s": kafka(servers, **{"kafka.sasl.username": "u", "kafka.sasl.password": ENV})}, "sink": {"format": "noop"}}
    yield "key of TLS", {"sources": {"s": kafka(servers, **{"kafka.security.protocol": "SSL", "kafka.ssl.keystore.location": "password", "kafka.ssl.keystore.type": "PEM", "kafka.ssl.key.password": ENV})}, "sink": {"format": "noop"}}
    yield "sink", {"sources": {"s": files}, "steps": step("SELECT name AS value FROM s"), "sink": {"format": "kafka", "output_mode": "append", "options": {"kafka.bootstrap.servers": servers, "topic": "t", **plain, "kafka.transaction.timeout.ms": 3000, "kafka.sasl.jaas.config": JAAS % ENV}}}
    yield "wrong value", {"sources": {"s": kafka(servers, **{"kafka.session.timeout.ms": ENV})}, "sink": {"format": "noop"}}
    yield "wrong name", {"sources": {"s": kafka(servers, **{"kafka.sasl.pasword": ENV})}, "sink": {"format": "noop"}}
    yield "wrong mechanism", {"sources": {"s": kafka(servers, **{"kafka.security.protocol": "SASL_PLAINTEXT", "kafka.sasl.mechanism": FILE})}, "sink": {"format": "noop"}}
    yield "wrong jaas", {"sources": {"s": kafka(servers, **plain, **{"kafka.sasl.jaas.config": 'x required password="%s' % ENV})}, "sink": {"format": "noop"}}
    yield "wrong format", {"sources": {"s": {"format": ENV}}, "sink": sink}
    yield "wrong option of a file", {"sources": {"s": dict(files, options={"maxFilesPerTrigger": FILE})}, "sink": sink}
    yield "wrong zone", {"sources": {"s": files}, "sink": sink, "conf": {"spark.sql.session.timeZone": ENV}}
    yield "a column", {"sources": {"s": files}, "steps": step("SELECT id, length('%s') AS n FROM s WHERE name <> '%s'" % (ENV, FILE)), "sink": sink}
    yield "a key", {"sources": {"s": files}, "steps": step("SELECT sha2('%s' || name, 256) AS k, count(*) AS n FROM s GROUP BY sha2('%s' || name, 256)" % (ENV, ENV)), "sink": {"format": "console", "output_mode": "complete"}}
    yield "wrong SQL", {"sources": {"s": files}, "steps": step("SELECT id FROM s WHERE '%s' = nam" % ENV), "sink": sink}
    yield "SQL that ends early", {"sources": {"s": files}, "steps": step("SELECT '%s" % ENV), "sink": sink}
    yield "a value that is no number", {"sources": {"s": files}, "steps": step("SELECT CAST('%s' || name AS INT) AS n FROM s" % FILE), "sink": sink}
    yield "a long value", {"sources": {"s": files}, "steps": step("SELECT CAST(repeat('%s', 200) AS INT) AS n FROM s" % ENV), "sink": sink}
    yield "a pattern", {"sources": {"s": files}, "steps": step("SELECT name RLIKE '(%s' AS n FROM s" % ENV), "sink": sink}
    yield "an unknown sink", {"sources": {"s": files}, "sink": {"format": "json", "path": "out", "options": {ENV: "1", "commitInterval": FILE}}}


def try_all(args, name, job):
    """Every command with this job. How many ended with 0."""
    right = 0
    with tempfile.TemporaryDirectory(prefix="mr-canary-") as folder:
        os.mkdir(folder + "/in")
        with open(folder + "/in/a.json", "w") as f: f.write('{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n{"id":"x"}\n')
        with open(folder + "/password", "w") as f: f.write(IN_FILE + "\n")
        with open(folder + "/job.json", "w") as f: json.dump({"name": "q", "checkpoint": "chk", "trigger": {"available_now": True}, "engine": {"workers": 1, "stall_seconds": 1}, **job}, f)
        for words in (["check"], ["explain"], ["explain", "--cost"], ["run", "--progress", "json"], ["run", "--progress", "line", "--operators"], ["run", "--record", "rows.json"]):
            right += call(args, folder, name, *words, "job.json") == 0
        for sql in ("SELECT * FROM q", "SELECT * FROM nothing"): call(args, folder, name, "sql", "--job", "job.json", sql)
        for what in ("show", "verify"): call(args, folder, name, "checkpoint", what, "chk")
        look_in(folder)
    return right


def found_when_it_is_there(args):
    """A job that shows it on purpose: who looks must see it, in output and files."""
    files = {"format": "json", "path": "in", "schema": "id INT, name STRING"}
    try_all(args, "control", {"sources": {"s": files}, "steps": [{"as": "q", "sql": "SELECT '%s' AS c FROM s" % CANARY}], "sink": {"format": "json", "path": "out", "output_mode": "append"}})
    missing = [x for x in ("explain job.json, output", "sql --job job.json SELECT * FROM q, output", "out/") if not any(x in p for p in problems)]
    problems[:], seen[:] = ["control: not seen in " + x for x in missing], [0, 0]


def main():
    p = argparse.ArgumentParser(prog="canary.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--millrace", default=os.path.join(ROOT, "build", "millrace"))
    args = p.parse_args()
    args.millrace = os.path.abspath(args.millrace)
    found_when_it_is_there(args)
    with ThreadPoolExecutor(6) as pool: right = list(pool.map(lambda named: try_all(args, *named), jobs(broker())))
    if sum(right) < 12: problems.append("nothing: only %d commands ended with 0" % sum(right))
    for x in problems[:20]: print("FAIL seen in " + x)
    print("%d jobs with secrets: %d outputs and files, %d bytes looked at, the canary was seen %d times" % (len(right), seen[0], seen[1], len(problems)))
    return 1 if problems else 0


if __name__ == "__main__": sys.exit(main())
