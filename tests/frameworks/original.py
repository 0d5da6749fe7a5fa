#!/usr/bin/env python3
"""msmemscope itself beside leaktide under its name, on its own examples, on real torch_npu: row by row.

    original.py [--cache FOLDER] --original FOLDER LEAKTIDE

FOLDER has the original as it is built: output/{bin,lib64}, python/msmemscope with _msmemscope.so in it, example. The wheels
are those of run.py; mstx.py of CANN is made here. Prints a table of the kinds of rows and of owners, theirs and ours. The
status is 1 where we have less than they, 77 where nothing could be run.
"""
import argparse
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import make_fakes  # noqa: E402
import run  # noqa: E402

EXAMPLES = ("leaks/python/test_leaks.py", "decompose/test_decompose.py", "inefficient/test_inefficient.py", "example_api.py")
MSTX = '''import ctypes
_library = ctypes.CDLL("libms_tools_ext.so")
_library.mstxRangeStartA.restype = ctypes.c_uint64
def mark(message, stream=None): _library.mstxMarkA(message.encode(), ctypes.c_void_p(stream))
def range_start(message, stream=None): return _library.mstxRangeStartA(message.encode(), ctypes.c_void_p(stream))
def range_end(number): _library.mstxRangeEnd(ctypes.c_uint64(number))
'''
LIMIT_SECONDS = 900


def environment_for(folders, cann, *python):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FAKE_", "PYTORCH_"))}
    environment.update(ASCEND_HOME_PATH=cann, ASCEND_OPP_PATH=cann, LD_LIBRARY_PATH=os.path.join(cann, "lib64"),
                       PYTHONPATH=os.pathsep.join([*python, *folders]), OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    return environment


def run_example(command, example, environment, folder):
    """As that tool's manual says: the program begins the recording."""
    script = 'source "$1" --load-api-env >/dev/null; exec "$2" -S "$3"'
    return subprocess.run(["bash", "-c", script, "bash", command, sys.executable, example], cwd=folder, env=environment,
                          capture_output=True, text=True, timeout=LIMIT_SECONDS)


def rows_of(folder):
    rows = []
    for path in glob.glob(os.path.join(folder, "output", "*", "device_0", "dump", "*.csv")):
        with open(path, newline="") as file:
            rows += list(csv.DictReader(file))
    return rows


def facts_of(rows, said):
    """Counts by what they are of."""
    facts = Counter()
    for row in rows:
        facts[row["Event"] + " " + row["Event Type"]] += row["Event Type"] not in ("ACL_INIT", "ACL_FINI")
        owner = re.search(r"owner:([^,}]*)", row["Attr"])
        for word in ("gradient", "weight", "optimizer_state", "ops", "train"):
            parts = owner.group(1).split("@") if owner else []
            facts["owner " + word] += word in parts or (word == "ops" and "model" in parts)  # of 26.0: that in place of ops
        for word in re.findall("early_allocation|late_deallocation|temporary_idleness", row["Attr"]):
            facts["inefficient " + word] += 1
            facts["flag of block %s %s" % (re.search(r"allocation_id:(\d+)", row["Attr"]).group(1), word)] += 1
        if row["Event Type"] == "ATEN_START" and "_ops.profiler." not in row["Name"]:  # ours: what these name
            facts["operator " + row["Name"]] += 1
    facts.update("said: " + re.sub(r"0x[0-9a-f]+", "ADDRESS", line).strip() for line in said.splitlines()
                 if line.startswith(("Direct", "======", "MinGap", "MaxGap", "\tMin")))
    return +facts


def print_row(example, what, theirs, ours):
    print("%-34s %-58s %6d %6d  %s" % (example, what, theirs, ours,
                                       "equal" if ours == theirs else "more" if ours > theirs else "LESS"))


def compare(options, example, folders, cann):
    theirs_at, ours_at = os.path.join(options.original, "output"), os.path.dirname(os.path.dirname(options.leaktide))
    facts = []
    for command, modules in ((os.path.join(theirs_at, "bin", "msmemscope"), os.path.join(options.original, "python")),
                             (os.path.join(ours_at, "share", "leaktide", "msmemscope", "bin", "msmemscope"),
                              os.path.join(HERE, "..", "..", "tracer", "python"))):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "mstx.py"), "w") as file:
                file.write(MSTX)
            environment = environment_for(folders, cann, folder, modules)
            done = run_example(command, os.path.join(options.original, "example", example),
                               dict(environment, LEAKTIDE_COMMAND=options.leaktide), folder)
            if done.returncode:
                raise RuntimeError(done.stderr.strip()[-400:])
            facts.append(facts_of(rows_of(folder), done.stdout))
    theirs, ours = facts
    is_right = True
    listed = ("operator ", "flag ")
    for what in sorted(what for what in theirs if not what.startswith(listed)):
        print_row(example, what, theirs[what], ours[what])
    for kind, what in zip(listed, ("names of operators, as often as there", "blocks with the same flags, and no others")):
        there = [name for name in theirs if name.startswith(kind)]
        wrong = sum(ours[name] < theirs[name] for name in there)
        more = [name for name in ours if name.startswith(kind) and name not in theirs] if kind == "flag " else []
        if there or more:
            print_row(example, what, len(there), len(there) - wrong - len(more))
        is_right &= not more
    return is_right and all(ours[what] >= theirs[what] for what in theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cache", default=run.CACHE)
    parser.add_argument("--original", required=True)
    parser.add_argument("--only", action="append", choices=EXAMPLES)
    parser.add_argument("leaktide")
    options = parser.parse_args()
    options.fetch = False
    options.original, options.leaktide = os.path.abspath(options.original), os.path.abspath(options.leaktide)
    folders = run.packages(options, "npu", "dependencies")
    if not folders or not os.path.isdir(os.path.join(options.original, "output")):
        print("skipped: no wheels, or no original")
        return 77
    is_right = True
    with tempfile.TemporaryDirectory() as cann:
        make_fakes.make(make_fakes.CANN, folders, cann)
        print("%-34s %-58s %6s %6s" % ("example", "rows", "theirs", "ours"))
        for example in options.only or EXAMPLES:
            is_right &= compare(options, example, folders, cann)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
