#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reading costs where a recording has an unusual shape: millions of steps, libraries that come
and go.

    bench_odd_shapes.py BUILD-FOLDER [--quick]

Prints lines as bench.h says: processor time of the command, in ns for an event of the recording. A
shape that costs more than others by a multiple is a mistake: docs/reading.md has the usual costs.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
ROUNDS = 1 if QUICK else 5
LEAKTIDE = os.path.join(BUILD, "bin", "leaktide")
PROGRAMS = os.path.join(BUILD, "benchmarks", "programs")
LIBRARIES = [os.path.join(PROGRAMS, f"lib{name}.so") for name in ("many_sites", "many_other_sites")]
SHAPES = [
    ("steps of two events", ["tiny_steps", "10000" if QUICK else "4400000"]),
    ("one library reloaded", ["reload_library", "300" if QUICK else "20000", LIBRARIES[0]]),
    ("two libraries in turn", ["reload_library", "300" if QUICK else "20000", *LIBRARIES]),
]
QUESTIONS = [
    ("info", ["info"]),
    ("report", ["report"]),
    ("page", ["report", "--format=html"]),
]


def processor_s(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=900)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def event_count(trace):
    answer = subprocess.run([LEAKTIDE, "info", "--format=json", trace], stdout=subprocess.PIPE,
                            check=True, timeout=900)
    return json.loads(answer.stdout)["facts"]["event_count"]


def measure(shape, program, folder):
    trace = os.path.join(folder, program[0] + str(len(program)))
    subprocess.run([LEAKTIDE, "run", "--device=cpu", "--call-stack=none", "--quiet", "--no-report", "-o", trace, "--",
                    os.path.join(PROGRAMS, program[0]), *program[1:]], check=True, timeout=900)
    count = event_count(trace)
    for name, question in QUESTIONS:
        runs = [processor_s([LEAKTIDE, *question, trace]) * 1e9 / count for _ in range(ROUNDS)]
        print(json.dumps({"name": f"{shape}: {name}", "unit": "ns/event",
                          "median": statistics.median(runs), "min": min(runs), "runs": runs,
                          "events": count}), flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for shape, program in SHAPES:
            measure(shape, program, folder)


if __name__ == "__main__":
    main()
