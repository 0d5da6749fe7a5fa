#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many ranks: a summary beside a report, eight ranks of PyTorch, and the comparison of 10,000 and 100,000 summaries.

    bench_ranks.py BUILD-FOLDER [--quick] [--events N] [--job RUN]

Of a generated recording of N events (1e7): summarize and report. Of a job of eight ranks with gloo: summarize, with nothing in the cache
of names, and again. It is recorded here where torchrun is there (20 steps, all objects of Python), or RUN is such a recording. Prints lines as bench.h says, of each
seconds of the clock (median, least), processor seconds, memory in MiB and the load before.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
LEAKTIDE = os.path.join(BUILD, "bin", "leaktide")
MAKE_CLUSTER = os.path.join(BUILD, "tests", "integration", "make_cluster")
HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 1 if QUICK else 3
TOLERATED = (0, 1, 3, 4)  # findings, incomplete, not enough to judge


def option(name, usual):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else usual


EVENTS = int(float(option("--events", "1e5" if QUICK else "1e7")))


def measure(words, **variables):
    """(seconds, processor seconds, MiB) of one call."""
    start = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, env={**os.environ, **variables})
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in TOLERATED:
        raise SystemExit("%s: exit status %d" % (words, child.returncode))
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def say(name, *words, rounds=ROUNDS, cold=None, **more):
    load = os.getloadavg()[0]
    runs = []
    for _ in range(rounds):
        if cold:
            shutil.rmtree(cold, ignore_errors=True)
        runs.append(measure(words, **({"XDG_CACHE_HOME": cold} if cold else {})))
    seconds = [round(run[0], 2) for run in runs]
    print(json.dumps({"name": "ranks: " + name, "unit": "s", "median": statistics.median(seconds), "min": min(seconds), "runs": seconds,
                      "processor_s": round(statistics.median(run[1] for run in runs), 2),
                      "memory_mib": round(max(run[2] for run in runs)), "load": load, **more}), flush=True)


def one_recording(folder):
    recording = os.path.join(folder, "recording")
    os.mkdir(recording)
    subprocess.run([os.path.join(BUILD, "benchmarks", "programs", "make_training"), recording, str(EVENTS)], check=True)
    say("report of one recording", LEAKTIDE, "report", "-o", os.path.join(folder, "report"), recording, events=EVENTS)
    say("summarize one recording", LEAKTIDE, "summarize", "-o", os.path.join(folder, "one"), recording, events=EVENTS)


def record(folder):
    """Eight ranks; NULL without torchrun."""
    if QUICK or not shutil.which("torchrun"):
        return None
    run = os.path.join(folder, "job")
    job = os.path.join(HERE, "..", "integration", "torch_job.py")
    subprocess.run([LEAKTIDE, "run", "--quiet", "--device=cpu", "--call-stack=python", "-o", run, "--", "torchrun", "--nproc-per-node=8", job, "20", "2"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "PYTHONPATH": os.path.join(HERE, "..", "..", "tracer", "python"), "OMP_NUM_THREADS": "1",
                        "TORCH_FR_BUFFER_SIZE": "0"})
    return run


def eight_ranks(folder):
    run = option("--job", None) or record(folder)
    if not run:
        return
    info = subprocess.run([LEAKTIDE, "info", "-f", "json", run], stdout=subprocess.PIPE, check=True).stdout
    words = (LEAKTIDE, "summarize", "--parallel=dp=4,pp=2", "-o", os.path.join(folder, "eight"), run)
    events = json.loads(info)["facts"]["event_count"]
    say("summarize eight ranks, names not cached", *words, cold=os.path.join(folder, "cache"), events=events)
    say("summarize eight ranks", *words, events=events)


def many_summaries(folder):
    for count, sites, steps, *each in ((64, 10, 20, "each"),) if QUICK else ((10000, 200, 200, "each"), (100000, 60, 100)):
        path = os.path.join(folder, "ranks")
        subprocess.run([MAKE_CLUSTER, path, "rank", *map(str, (count, 1, sites, steps)), *each], stdout=subprocess.DEVNULL, check=True)
        say("compare %d %s" % (count, "summaries" if each else "ranks of one summary"), LEAKTIDE, "ranks", "-f", "json", "--top=10", path)
        shutil.rmtree(path)


with tempfile.TemporaryDirectory() as scratch:
    one_recording(scratch)
    eight_ranks(scratch)
    many_summaries(scratch)
