"""A small job and its right result, for the tests that break things: survive.py, crash_states.py, power_cut.py.

The input are some files of events, one an epoch, one that closes all windows, and one more: as in Spark, windows that only an epoch
without data would give wait for new data when the process dies before it. The query has a watermark, deduplication and
windows, the sink is partitioned. So its output is the same, row for row, however often it was stopped on the way.
"""
import collections, glob, json, os, shutil, subprocess, tempfile

from crash import LAST, ROOT, steps

PARTED = {"as": "parted", "sql": "SELECT *, CASE WHEN event_type < 'm' THEN 'a' ELSE 'b' END AS part FROM windows"}


class Job:
    def __init__(self, millrace, tmp, name="job", sink="json", workers=1, events=3000, files=4, commit_interval="0 seconds", io=None, seed=1, late=0.01):
        self.millrace, self.tmp, self.name = millrace, os.path.join(tmp, name), name
        self.sink, self.workers, self.commit_interval, self.io = sink, workers, commit_interval, io
        self.input = os.path.join(tmp, "in-%d-%d-%d-%g" % (events, files, seed, late))
        os.makedirs(self.tmp)
        if not os.path.exists(self.input):
            subprocess.run([millrace, "gen", str(events), "--out", self.input, "--files", str(files), "--seed", str(seed), "--late", str(late),
                            "--duplicates", "0.05", "--malformed", "0.01", "--span", "7200"], check=True, capture_output=True)
            for i in "12":
                with open(os.path.join(self.input, "zzz%s.json" % i), "w") as f: f.write(LAST.replace('"last"', '"last%s"' % i, 1))
            for i, f in enumerate(sorted(glob.glob(self.input + "/*"))): os.utime(f, (1700000000 + i,) * 2)

    def write(self, folder, out=None, checkpoint=None, trigger={"available_now": True}):
        """The job file for a run in this folder: its output and checkpoint are there, or where it is said."""
        os.makedirs(folder, exist_ok=True)
        engine = {"workers": self.workers}
        if self.io: engine["io"] = self.io
        job = {"name": "q", "sources": {"raw": {"format": "text", "path": self.input, "options": {"maxFilesPerTrigger": 1}}}, "steps": steps("value") + [PARTED],
               "sink": {"format": self.sink, "path": out or os.path.join(folder, "out"), "output_mode": "append", "partition_by": ["part"],
                        "options": {"commitInterval": self.commit_interval}},
               "checkpoint": checkpoint or os.path.join(folder, "chk"), "trigger": trigger, "engine": engine}
        path = os.path.join(folder, "job.json")
        with open(path, "w") as f: json.dump(job, f)
        return path

    def run(self, folder, env={}, progress="none", prefix=[], timeout=60, stderr=subprocess.PIPE, **places):
        """Exit code (negative: the signal) and what it said."""
        p = subprocess.Popen(prefix + [self.millrace, "run", "--progress", progress, self.write(folder, **places)], stderr=stderr,
                             env=dict(os.environ, **env), text=True, errors="replace")
        try: said = p.communicate(timeout=timeout)[1]
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            raise SystemExit("%s: no end within %d s (%s)" % (self.name, timeout, env))
        return p.returncode, said or ""

    def rows(self, folder, out=None):
        """Rows that a reader sees, each with the folder of its partition."""
        out, found = out or os.path.join(folder, "out"), collections.Counter()
        for f in glob.glob(out + "/*/*." + self.sink) + glob.glob(out + "/*." + self.sink):
            part = os.path.relpath(os.path.dirname(f), out)
            with open(f) as h: found.update((part, line) for line in h.read().splitlines())
        return found

    def calm(self):
        """The rows of an undisturbed run."""
        if not hasattr(self, "want"):
            folder = os.path.join(self.tmp, "calm")
            code, said = self.run(folder)
            if code: raise SystemExit("the undisturbed run failed (%d): %s" % (code, said))
            self.want = self.rows(folder)
            if sum(self.want.values()) < 10: raise SystemExit("the undisturbed run gave %d rows" % sum(self.want.values()))
            shutil.rmtree(folder)
        return self.want

    def folder(self): return tempfile.mkdtemp(dir=self.tmp)

    def trouble_at_rest(self, folder, **places):
        """While it is down: nothing is shown that the right result has not."""
        extra = self.rows(folder, places.get("out")) - self.calm()
        return "rows shown too early or twice: %s" % list(extra)[:3] if extra else None

    def trouble_after(self, folder, **places):
        """Started again, without a fault: it ends well, with the right rows, leaves nothing behind, and its checkpoint is sound."""
        code, said = self.run(folder, **places)
        if code: return "the restart failed (%d): %s" % (code, said.strip()[-600:])
        return self.trouble_at_end(folder, **places)

    def trouble_at_end(self, folder, **places):
        want, got = self.calm(), self.rows(folder, places.get("out"))
        if got != want:
            return "%d rows lost, %d too many, as %s %s" % (sum((want - got).values()), sum((got - want).values()), list(want - got)[:2], list(got - want)[:2])
        left = glob.glob((places.get("out") or folder + "/out") + "/**/.*.tmp", recursive=True)
        if left: return "files left: %s" % left[:3]
        checked = subprocess.run([self.millrace, "checkpoint", "verify", places.get("checkpoint") or os.path.join(folder, "chk")], capture_output=True, text=True)
        return "verify: " + checked.stdout + checked.stderr if checked.returncode else None


DURABLE = {"write": "write", "truncate": "write", "allocate": "write", "sync": "sync", "syncdir": "sync", "rename": "rename", "link": "rename",
           "unlink": "rename", "mkdir": "make", "open": "make"}
CREATE = 4  # MR_OPEN_CREATE


def read_trace(path):
    """Operations of a trace (io/fault/fault.h) as tuples: name, fields.., and the bytes of a write; lines of others as ("told", text)."""
    with open(path, "rb") as f: data = f.read()
    at, out = 0, []
    while at < len(data):
        end = data.index(b"\n", at)
        line, at = data[at:end].decode(errors="replace"), end + 1
        if not line.startswith("@"):
            out.append(("told", line))
            continue
        name, rest = line[1:].split(" ", 1)
        if name == "write":
            file, offset, n = (int(x) for x in rest.split(" "))
            out.append((name, file, offset, data[at:at + n]))
            at += n
        elif name in ("rename", "link"): out.append((name,) + tuple(rest.split("\t")))
        elif name == "open":
            file, flags, where = rest.split(" ", 2)
            out.append((name, int(file), int(flags), where))
        elif name in ("truncate", "allocate"): out.append((name,) + tuple(int(x) for x in rest.split(" ")))
        elif name in ("sync", "close"): out.append((name, int(rest)))
        elif name == "fail":
            errno_, kind, where = rest.split(" ", 2)
            out.append((name, int(errno_), kind, where))
        else: out.append((name, rest))
    return out


def points(trace, kind="any"):
    """How many operations a schedule of this kind counts in a trace."""
    return sum(1 for op in trace if op[0] in DURABLE and (op[0] != "open" or op[2] & CREATE) and kind in ("any", DURABLE[op[0]]))
