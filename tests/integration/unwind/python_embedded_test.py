"""Interpreters that a program opens: for all, privately, closed and opened again, two of them.

    python_embedded_test.py TRACER EVENT_DUMP PROGRAM

Each block that Python asks for has frames of Python, in both lives of an interpreter. Of two
interpreters, those of the first one. Exit status 77: no library of CPython.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

BLOCK_BYTES, BLOCKS = 5000001, 100  # in the two lives of an interpreter


def libraries():
    paths = [path for minor in range(8, 14) for path in
             glob.glob(os.path.expanduser(f"~/.pyenv/versions/3.{minor}.*/lib/libpython3.*.so.1.0"))]
    return list({os.path.basename(path): path for path in paths}.values())


def blocks_with_python(tracer, dump, command):
    """How many blocks there are, and how many have the two functions that asked for them."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_PRELOAD=tracer, LEAKTIDE_OPTIONS=(
            f"--device=cpu --output-path={folder} --call-stack=c,python"))
        subprocess.run(command, env=environment, check=True, timeout=100)
        lines = subprocess.run([dump, folder], check=True, stdout=subprocess.PIPE).stdout
    blocks = known = 0
    for event in map(json.loads, lines.splitlines()):
        if event["event"] == "alloc" and event["size_bytes"] == BLOCK_BYTES:
            functions = [frame["function"] or "" for frame in event.get("stack", [])]
            blocks += 1
            known += "embedded" in functions and any(name.startswith("made_")
                                                     for name in functions)
    return blocks, known


def main():
    tracer, dump, program = sys.argv[1:4]
    found = libraries()
    for library in found:
        for kind, times in (("global", 1), ("local", 1), ("closing", 2)):
            said = blocks_with_python(tracer, dump, [program, kind, library])
            assert said == (BLOCKS * times, BLOCKS * times), f"{library}, {kind}: {said}"
    if len(found) > 1:
        said = blocks_with_python(tracer, dump, [program, "local", found[0], found[-1]])
        assert said == (2 * BLOCKS, BLOCKS), f"two interpreters: {said}"
    print(len(found), "libraries")
    return 0 if found else 77


if __name__ == "__main__":
    sys.exit(main())
