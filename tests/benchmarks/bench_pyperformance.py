#!/usr/bin/env python3
"""What recording costs on programs of Python's own benchmark suite, memray beside us.

    bench_pyperformance.py BUILD-FOLDER [--quick]

The suite is pyperformance of the interpreter LEAKTIDE_BENCH_PYTHON; without it, this prints one line that says so
and measures nothing. Its programs need no other package. Each runs as its suite runs it in a worker, with loops for
about a second; times are of whole processes. For each recorder: the times of each program over the native ones, and
their geometric mean as the result.
"""

import math
import os
import subprocess
import sys
import tempfile

from python_recorders import PYTHON, can_import, recorders
from workloads import Program, say

BUILD = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
ROUNDS = 1 if QUICK else 5
TARGET_S = 0.2 if QUICK else 1.0
NAMES = ("async_generators", "chaos", "comprehensions", "coroutines", "crypto_pyaes", "deepcopy",
         "deltablue", "fannkuch", "float", "gc_traversal", "generators", "go", "hexiom",
         "json_dumps", "json_loads", "mdp", "nbody", "nqueens", "pyflate", "raytrace",
         "regex_compile", "richards", "spectral_norm", "telco", "unpack_sequence")
COUNT = 4 if QUICK else 20


def suite_folder():
    done = subprocess.run([PYTHON, "-c", "import pyperformance; print(pyperformance.__path__[0])"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    return os.path.join(done.stdout.strip(), "data-files", "benchmarks")


def words_of(folder, name, loops):
    return [os.path.join(folder, "bm_" + name, "run_benchmark.py"), "--worker", f"--loops={loops}",
            "--warmups=0", "--values=1"]


def loops_for(folder, name):
    """So many that the program runs for about TARGET_S; None where it does not run here."""
    try:
        once = Program(name, [PYTHON, *words_of(folder, name, 1)]).run()[1]
        more = Program(name, [PYTHON, *words_of(folder, name, 9)]).run()[1]
    except subprocess.CalledProcessError:
        return None
    return max(1, round(TARGET_S / max((more - once) / 8, 1e-4)))


def ratios(folder, name, loops, others):
    """{recorder: (wall, processor time)}, each over the native one: medians of the rounds."""
    found = {}
    for _ in range(ROUNDS):
        words = words_of(folder, name, loops)
        wall, used, _ = Program(name, [PYTHON, *words]).run()
        for way, before in others:
            with tempfile.TemporaryDirectory() as place:
                way_wall, way_used, _ = Program(name, before(place) + words).run()
            found.setdefault(way, []).append((way_wall / wall, way_used / used))
    return {way: tuple(sorted(column)[len(column) // 2] for column in zip(*rows))
            for way, rows in found.items()}


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def say_mean(name, rows):
    values = [value for _, value in rows]
    say(name, "times native", [mean(values)], programs=dict(rows))


def main():
    if not can_import("pyperformance"):
        say("pyperformance is not in this interpreter", "programs", [0])
        return
    folder, table, measured = suite_folder(), {}, 0
    others = recorders(os.path.join(BUILD, "bin", "leaktide"))
    for name in NAMES:
        loops = loops_for(folder, name) if measured < COUNT else None
        if loops is None:
            continue
        measured += 1
        for way, row in ratios(folder, name, loops, others).items():
            table.setdefault(way, []).append((name, row))
    for way, rows in table.items():
        say_mean(f"pyperformance: wall, {way}", [(name, row[0]) for name, row in rows])
        say_mean(f"pyperformance: processor time, {way}", [(name, row[1]) for name, row in rows])


if __name__ == "__main__":
    main()
