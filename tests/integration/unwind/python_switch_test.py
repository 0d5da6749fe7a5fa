"""Frees that greenlet makes while it moves stacks: the program lives, and frames are right again.

    python_switch_test.py TRACER EVENT_DUMP SWITCHING

Exit status 77: no CPython 3.11 or 3.12.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from python_stacks_test import interpreters, python_frames  # noqa: E402

PROGRAM = """
import ctypes, sys
switching = ctypes.PyDLL(sys.argv[1]).free_while_switching
switching.argtypes, switching.restype = [ctypes.c_size_t], ctypes.c_bool
def switches(depth):
    return switches(depth - 1) if depth else switching(5000001)
for turn in range(100):
    assert switches(turn % 7)
"""


def blocks_of(tracer, dump, stacks, command):
    """The program's own blocks. Of what the interpreter asks for, nothing is decoded: it is much."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_PRELOAD=tracer, PYTHONUTF8="1",
                           LEAKTIDE_OPTIONS=f"--device=cpu --output-path={folder} --call-stack={stacks}")
        subprocess.run(command, env=environment, check=True, timeout=100)
        lines = subprocess.run([dump, folder], check=True, stdout=subprocess.PIPE).stdout.splitlines()
        return [json.loads(line) for line in lines if b'"size_bytes": 5000001,' in line]


def main():
    tracer, dump, switching = sys.argv[1:4]
    found = interpreters(range(11, 13))
    for version, interpreter in found.items():
        for stacks in ("c,python,free", "python,free"):
            blocks = blocks_of(tracer, dump, stacks, [interpreter, "-S", "-c", PROGRAM, switching])
            assert len(blocks) == 100, f"{version}, {stacks}: {len(blocks)} blocks"
            for turn, block in enumerate(blocks):
                names = [frame[1] for frame in python_frames(block)]
                assert names == ["switches"] * (turn % 7 + 1) + ["<module>"], (version, names)
        print(version)
    return 0 if found else 77


if __name__ == "__main__":
    sys.exit(main())
