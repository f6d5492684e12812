"""What all benches share: where things are, the input, the machine, how a result is shown."""
import os, shutil, statistics, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "millrace")
PEERS = os.path.join(CACHE, "peers", "venv", "bin", "python")
SCHEMA = "event_id STRING, user_id STRING, event_type STRING, amount DOUBLE, event_ts TIMESTAMP"
TYPES = 32
EVENTS_PER_FILE, FILES_MIN = 500000, 8


class Failed(Exception):
    """A bench could not be run; the text says why."""


def program(args, name):
    """One that tools/build makes beside millrace; None: it is not built."""
    path = os.path.join(os.path.dirname(args.millrace), name)
    return path if os.path.exists(path) else None


def has_peers(args): return not args.no_peers and os.path.exists(PEERS)


def input_folder(events, users, width=0):
    return os.path.join(CACHE, "bench", "events-%d-users-%d-types-%d%s" % (events, users, TYPES, "-width-%d" % width if width else ""))


def generate(args, events, users, width=0):
    """A folder of NDJSON files, made once per size."""
    folder = input_folder(events, users, width)
    if os.path.isdir(folder): return folder
    print("generating %d events in %s" % (events, folder), file=sys.stderr)
    made = "%s.%d.new" % (folder, os.getpid())
    command = [args.millrace, "gen", str(events), "--out", made, "--files", str(max(FILES_MIN, events // EVENTS_PER_FILE)),
               "--users", str(users), "--types", str(TYPES), "--span", "3600"] + (["--width", str(width)] if width else [])
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        subprocess.run(command, check=True)
        os.rename(made, folder)
    finally: shutil.rmtree(made, ignore_errors=True)
    return folder


def machine():
    """One line: figures mean little without it."""
    model = "unknown CPU"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"): model = line.split(":", 1)[1].strip()
    return "%s, %d cores, load %.2f" % (model, os.cpu_count(), os.getloadavg()[0])


def verdict(args, value, goal, at_most=False):
    if args.smoke: return "goal %s%g (not at this size)" % ("at most " if at_most else "", goal)
    good = value <= goal if at_most else value >= goal
    away = 100 * abs(value / goal - 1)
    return "goal %s%g: %s" % ("at most " if at_most else "", goal, "met" if good else "missed by %.0f%%" % away)


def show(args, name, events, seconds, ours_per_event, goal, note=""):
    """One engine's line. seconds: of each round; ours_per_event: millrace's median."""
    m = statistics.median(seconds)
    ratio = m / events / ours_per_event
    text = "  %-15s %8.3f %8.3f %8.3f  %7.2f M events/s" % (name, min(seconds), m, max(seconds), events / m / 1e6)
    if goal: text += "   millrace is %.2fx, %s" % (ratio, verdict(args, ratio, goal))
    elif name != "millrace": text += "   millrace is %.2fx" % ratio
    print(text + ("   " + note if note else ""), flush=True)
