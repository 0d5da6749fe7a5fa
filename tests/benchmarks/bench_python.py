#!/usr/bin/env python3
"""What recording with lines of Python costs, memray beside us.

    bench_python.py BUILD-FOLDER [--quick]

Every round runs each program natively, under leaktide with each kind of call stack, and under memray where
the interpreter has it, in turn; differences are taken within a round. The interpreter is LEAKTIDE_BENCH_PYTHON,
or the one that runs this; with torch, and with MindSpore, it trains a model, too. memray records one process,
leaktide all of them.
Prints lines as bench.h says.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from python_recorders import PYTHON, recorders
from workloads import Program, say, trace_facts

BUILD = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
ROUNDS = 1 if QUICK else 5
LEAKTIDE = os.path.join(BUILD, "bin", "leaktide")
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "python")
SIZES = (("torch_training", 40), ("mindspore_training", 100), ("records", 400_000), ("texts", 100),
         ("calls", 27))
SKIPPED = 77


def runs_here(name):
    """Has the interpreter what the program imports?"""
    done = subprocess.run([PYTHON, os.path.join(PROGRAMS, name + ".py"), "1"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    return done.returncode != SKIPPED


def size_of(folder):
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))


def measure(name, argument, others):
    script = [os.path.join(PROGRAMS, name + ".py"), str(argument)]
    added, natives = {}, []
    facts = {}
    for _ in range(ROUNDS):
        wall, used, _ = Program(name, [PYTHON, *script]).run()
        natives.append(used)
        for way, words in others:
            with tempfile.TemporaryDirectory() as folder:
                way_wall, way_used, _ = Program(name, words(folder) + script).run()
                walls, processor = added.setdefault(way, ([], []))
                walls.append(way_wall - wall)
                processor.append(way_used - used)
                facts[way] = {"bytes": size_of(folder)}
                if way.startswith("leaktide"):
                    facts[way]["events"] = trace_facts(folder)[0]
    say(f"{name}: processor time, native", "s", natives)
    for way, (walls, processor) in added.items():
        say(f"{name}: processor time added by {way}", "s", processor, **facts[way])
        say(f"{name}: wall added by {way}", "s", walls)


def main():
    others = recorders(LEAKTIDE)
    for name, size in SIZES:
        if shutil.which(PYTHON) and runs_here(name):
            measure(name, max(size // 20, 2) if QUICK else size, others)


if __name__ == "__main__":
    main()
