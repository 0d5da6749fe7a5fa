"""What recording costs as msmemscope, on the fake driver, beside the figures of the original.

    bench_msmemscope.py BUILD-FOLDER [--quick]

The figures of the original were measured on its own stand-ins for the driver, on another machine:
they tell an order of magnitude. Ours are the difference to the same program without a tracer; rows
are counted for each second of processor time, all readings of the recording included.
"""

import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
QUICK = "--quick" in sys.argv
LEAKTIDE = os.path.join(BUILD, "bin", "leaktide")
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
    return run, ns_of([LEAKTIDE, "run", "--quiet", "--sample-ms=0", "--call-stack=" + stacks,
                       "--output-path=" + run, "--", PROGRAM, COUNT])


def report(name, unit, values):
    print(json.dumps({"name": name, "unit": unit, "median": statistics.median(values),
                      "min": min(values), "runs": values, "original": REFERENCE[name]}))


def spent_s(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows_in(path):
    with sqlite3.connect(path) as database:
        return database.execute("select count(*) from memscope_dump").fetchone()[0]


def main():
    folder = tempfile.mkdtemp()
    try:
        plain = min(ns_of([PROGRAM, COUNT]) for _ in range(RUNS))
        for stacks, name in (("none", "alloc or free, no stack"), ("c:20", "alloc or free, c:20")):
            report(name, "ns", [recorded(folder, stacks, i)[1] - plain for i in range(RUNS)])
        run, _ = recorded(folder, "none", RUNS)
        rates = []
        for i in range(RUNS):
            path = os.path.join(folder, "%d.db" % i)
            seconds = spent_s([LEAKTIDE, "export", "--to=memscope-db", "-o", path, run])
            rates.append(rows_in(path) / seconds)
        report("rows of a database in a second", "rows/s", rates)
    finally:
        shutil.rmtree(folder)


main()
