"""Recorders of programs in Python: leaktide with each kind of call stack, and memray where it is.

Used by bench_python.py and bench_pyperformance.py.
"""

import os
import subprocess
import sys

PYTHON = os.environ.get("LEAKTIDE_BENCH_PYTHON", os.path.realpath(sys.executable))
# Without objects is what memray records without its option for Python's allocators.
OURS = (["--call-stack=none"], ["--call-stack=c"],
        ["--call-stack=python", "--python-objects=no"],
        ["--call-stack=python,c", "--python-objects=no"],
        ["--call-stack=python"], ["--call-stack=python,c"])
MEMRAY = ([], ["--trace-python-allocators"], ["--native"])


def can_import(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def recorders(leaktide):
    """(name, function from an empty folder to the words before a script and its arguments)"""
    def ours(options):
        return lambda folder: [leaktide, "run", "-q", "--no-report", "--device=cpu", *options,
                               "-o", folder, "--", PYTHON]

    def theirs(options):
        return lambda folder: [PYTHON, "-m", "memray", "run", "-q", "-f", *options,
                               "-o", os.path.join(folder, "memray.bin")]
    found = [(" ".join(["leaktide", *options]), ours(options)) for options in OURS]
    if can_import("memray"):
        found += [(" ".join(["memray", *options]), theirs(options)) for options in MEMRAY]
    return found
