"""What recording costs as msmemscope, on the fake driver, beside the figures of the original.

    bench_msmemscope.py BUILD-FOLDER [--quick]

The figures of the original were measured on its own stand-ins for the driver, on another machine:
they tell an order of magnitude. Ours are the difference to the same program without a tracer.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = sys.argv[1]
QUICK = "--quick" in sys.argv
MEMTIDE = os.path.join(BUILD, "bin", "memtide")
PROGRAM = os.path.join(BUILD, "benchmarks", "programs", "driver_pairs")
COUNT = "5000" if QUICK else "300000"
RUNS = 2 if QUICK else 5
REFERENCE = {"alloc or free, no stack": 1890, "alloc or free, c:20": 16500,
             "rows of a database in a second": 7000}


def ns_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          universal_newlines=True)
    return float(done.stdout.split()[0])


def recorded(folder, stacks, number):
    run = os.path.join(folder, "%s-%d" % (stacks.replace(":", ""), number))
    return run, ns_of([MEMTIDE, "run", "--quiet", "--sample-ms=0", "--call-stack=" + stacks,
                       "--output-path=" + run, "--", PROGRAM, COUNT])


def report(name, unit, values):
    print(json.dumps({"name": name, "unit": unit, "median": statistics.median(values),
                      "min": min(values), "runs": values, "original": REFERENCE[name]}))


def main():
    folder = tempfile.mkdtemp()
    try:
        plain = min(ns_of([PROGRAM, COUNT]) for _ in range(RUNS))
        for stacks, name in (("none", "alloc or free, no stack"), ("c:20", "alloc or free, c:20")):
            report(name, "ns", [recorded(folder, stacks, i)[1] - plain for i in range(RUNS)])
        run, _ = recorded(folder, "none", RUNS)
        rates = []
        for i in range(RUNS):
            begin = time.monotonic()
            subprocess.run([MEMTIDE, "export", "--to=memscope-db", "-o",
                            os.path.join(folder, "%d.db" % i), run], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            rates.append(2.2 * int(COUNT) / (time.monotonic() - begin))
        report("rows of a database in a second", "rows/s", rates)
    finally:
        shutil.rmtree(folder)


main()
