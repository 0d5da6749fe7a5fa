#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the accounts of a process cost that is recorded: processor time of the recorder's thread that
takes them, as a share of one processor; and how long the process's own calls of mmap wait for it.

    bench_account.py BUILD-FOLDER [--quick]

Prints lines as bench.h says. The same program runs natively, recorded without accounts
(--sample-ms=0), and recorded: with 1,000 mappings, and with 60,000, nearly as many as the kernel allows.
"""

import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
ROUNDS = 1 if QUICK else 3
SECONDS = 3 if QUICK else 60
LEAKTIDE = os.path.join(BUILD, "bin", "leaktide")
PROGRAM = os.path.join(BUILD, "benchmarks", "programs", "map_and_unmap")
WAYS = ["native", "without accounts", "recorded"]


def command(way, mappings, trace):
    program = [PROGRAM, str(mappings), str(SECONDS)]
    if way == "native":
        return program
    return [LEAKTIDE, "run", "--device=cpu", "--call-stack=c", "--quiet", "--no-report", "-o", trace,
            *(["--sample-ms=0"] if way != "recorded" else []), "--", *program]


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def writes_into(process, folder):
    """Other recordings may run meanwhile."""
    try:
        return any(os.readlink(link).startswith(folder) for link in glob.glob(process + "/fd/*"))
    except OSError:
        return False


def account_ns(folder):
    """Processor time of threads that take accounts, of the recorder of this folder; None: there is no such thread."""
    tasks = [task for process in glob.glob("/proc/[0-9]*")
             if read(process + "/comm") == "leaktide-drain\n" and writes_into(process, folder)
             for task in glob.glob(process + "/task/*") if read(task + "/comm") == "leaktide-accnt\n"]
    return sum(int(read(task + "/schedstat").split()[0]) for task in tasks) if tasks else None


def one_run(way, mappings):
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        program = subprocess.Popen(command(way, mappings, os.path.join(folder, "trace")), stdout=subprocess.PIPE, text=True)
        time.sleep(max(0.0, start + SECONDS - 0.5 - time.monotonic()))
        spent_ns = account_ns(folder)
        lived = time.monotonic() - start
        said, _ = program.communicate(timeout=600)
    assert program.returncode == 0, program.returncode
    assert (spent_ns is not None) == (way == "recorded"), "accounts are taken of what is recorded with them, and of nothing else"
    return json.loads(said.strip().splitlines()[-1]), (spent_ns or 0) / 1e9 / lived * 100


def say(name, unit, runs):
    print(json.dumps({"name": name, "unit": unit, "median": statistics.median(runs), "min": min(runs), "runs": runs}), flush=True)


def main():
    for mappings in (1000,) if QUICK else (1000, 60000):
        rounds = [{way: one_run(way, mappings) for way in WAYS} for _ in range(ROUNDS)]
        for way in WAYS:
            for key in ("p50_ns", "p99_ns", "p999_ns", "worst_ns"):
                say(f"{mappings} mappings, {way}: map and unmap, {key[:-3]}", "ns", [runs[way][0][key] for runs in rounds])
        say(f"{mappings} mappings: accounts, of one processor", "%", [runs["recorded"][1] for runs in rounds])


if __name__ == "__main__":
    main()
