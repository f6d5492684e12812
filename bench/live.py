"""bench latency, start: what a user waits for."""
import json, os, shutil, signal, statistics, subprocess, tempfile, threading, time

import setting

RATE = 100000
P50_MS, P99_MS, START_MS = 1, 5, 50


def bench_start(args):
    tmp = tempfile.mkdtemp(prefix="mr-bench-")
    try:
        os.makedirs(os.path.join(tmp, "in"))
        with open(os.path.join(tmp, "in", "one.json"), "w") as f: f.write('{"id": 1}\n')
        path = os.path.join(tmp, "job.yaml")
        times = []
        for i in range(max(args.rounds, 5)):
            with open(path, "w") as f:
                json.dump({"name": "start", "sources": {"t": {"format": "json", "path": os.path.join(tmp, "in"), "schema": "id INT"}},
                           "sink": {"format": "noop", "output_mode": "append"}, "checkpoint": os.path.join(tmp, "c%d" % i), "trigger": {"available_now": True}}, f)
            start = time.perf_counter()
            subprocess.run([args.millrace, "run", "--progress", "none", path], check=True)
            times.append((time.perf_counter() - start) * 1e3)
    finally: shutil.rmtree(tmp, ignore_errors=True)
    m = statistics.median(times)
    print("\nstart: ms min, median, max   %.1f %.1f %.1f   %s" % (min(times), m, max(times), setting.verdict(args, m, START_MS, at_most=True)))
    return True


def run_paced(args, tmp, round, seconds):
    """The epochs of a run that is stopped after so many seconds."""
    path, engine = os.path.join(tmp, "job.yaml"), os.path.join(tmp, "engine.yaml")
    sql = "SELECT window.start AS s, value %% %d AS k, count(*) AS n FROM timed GROUP BY window(timestamp, '10 seconds'), value %% %d"
    with open(engine, "w") as f: json.dump({"workers": args.workers}, f)
    with open(path, "w") as f:
        json.dump({"name": "latency", "sources": {"events": {"format": "rate", "options": {"rowsPerSecond": RATE, "tickInterval": "1ms"}}},
                   "steps": [{"as": "timed", "watermark": {"input": "events", "column": "timestamp", "delay": "10 seconds"}},
                             {"as": "result", "sql": sql % (setting.TYPES, setting.TYPES)}],
                   "sink": {"format": "noop", "output_mode": "update"}, "checkpoint": os.path.join(tmp, "c%d" % round)}, f)
    p = subprocess.Popen([args.millrace, "run", "--progress", "json", "--config", engine, path], stderr=subprocess.PIPE, text=True)
    threading.Timer(seconds, p.send_signal, [signal.SIGINT]).start()
    epochs = [json.loads(line) for line in p.stderr if line.startswith("{")]
    if p.wait() != 0: raise setting.Failed("millrace run ended with exit code %d" % p.returncode)
    return [e for e in epochs if e["numInputRows"] and "commitLatencyMs" in e]


def bench_latency(args):
    """Events lie evenly between the earliest and the latest of their epoch, so quantiles over events follow from both."""
    seconds = 2 if args.smoke else 20
    tmp = tempfile.mkdtemp(prefix="mr-bench-")
    good = True
    print("\nlatency: %d events/s for %d s, a durable commit each epoch; ms from event to durable commit" % (RATE, seconds))
    try:
        for round in range(args.rounds):
            epochs, samples = run_paced(args, tmp, round, seconds), []
            for e in epochs[len(epochs) // 10:]:  # the first second is not what is asked about
                low, high = e["commitLatencyMs"]["min"], e["commitLatencyMs"]["max"]
                n = max(1, e["numInputRows"] // 10)
                samples += [low + (high - low) * (i + 0.5) / n for i in range(n)]
            if not samples: raise setting.Failed("no epoch was committed in %d s" % seconds)
            samples.sort()
            rows = sum(e["numInputRows"] for e in epochs)
            good = good and rows > (0 if args.smoke else RATE * seconds * 0.5)  # a test runs on busy machines, too
            p50, p99 = samples[len(samples) // 2], samples[len(samples) * 99 // 100]
            print("  %d events in %d epochs: p50 %.2f, %s;  p99 %.2f, %s;  max %.2f"
                  % (rows, len(epochs), p50, setting.verdict(args, p50, P50_MS, True), p99, setting.verdict(args, p99, P99_MS, True), samples[-1]), flush=True)
    finally: shutil.rmtree(tmp, ignore_errors=True)
    return good
