"""Frames of Python that are remembered are the ones that are there, on every CPython at hand.

    python_torture_test.py COMPARED BY_ADDRESS FRAMES EVERY

COMPARED and BY_ADDRESS are compared_python built with the deaths of code objects seen, and with
none seen. The second one must be found wrong, or the torture has no teeth. FRAMES is how many are
compared with sys._getframe in each version, beside each EVERY-th allocation. Exit status 77: no
interpreter.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from python_stacks_test import interpreters  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_torture.py")


# Whose deaths of codes are not watched: nothing is remembered.
UNWATCHED = ("3.14t", "3.15t")


def torture(library, version, interpreter, frames, every, *words):
    # Code objects come from malloc as others do, so that addresses come again soon. Free-threaded
    # interpreters refuse that.
    allocator = "mimalloc" if version.endswith("t") else "malloc"
    environment = dict(os.environ, LD_PRELOAD=library, PYTHONMALLOC=allocator, PYTHONUTF8="1")
    said = subprocess.run([interpreter, "-B", PROGRAM, library, str(frames), str(every), *words],
                          env=environment, stdout=subprocess.PIPE, text=True, timeout=1500,
                          check=True).stdout
    return json.loads(said)


def is_right(result):
    return result["wrong"] == 0 and result["differ"] == 0 and result["child"]


def compare(compared, by_address, version, interpreter, frames, every):
    """One version."""
    result = torture(compared, version, interpreter, frames, every)
    print(version, result, flush=True)
    is_watched = version not in UNWATCHED
    assert result["compared"] >= frames and bool(result["deaths"]) == is_watched and \
        bool(result["named"]) == is_watched, "too little was compared"
    assert is_right(result), "frames differ"
    if is_watched:
        lost = torture(compared, version, interpreter, frames // 5, every, "lose")
        assert is_right(lost), f"after a loss: {lost}"
    naive = torture(by_address, version, interpreter, frames // 5, every)
    assert naive["differ"], f"codes known by address went unseen: {naive}"


def main():
    compared, by_address = sys.argv[1:3]
    frames, every = int(sys.argv[3]), int(sys.argv[4])
    found = interpreters(range(8, 16))
    for version, interpreter in found.items():
        compare(compared, by_address, version, interpreter, frames, every)
    return 0 if found else 77


if __name__ == "__main__":
    sys.exit(main())
