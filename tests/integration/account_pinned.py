# SPDX-License-Identifier: Apache-2.0
"""account_pinned.py MENDED SECONDS: an interpreter whose pools few objects pin.

Each turn makes many objects of a size of its own, and keeps one in each pool; 1 for MENDED keeps
those of one turn together, which are few pools.
"""
import sys
import time

OF_CLASS, HEAD, POOL = 16, 33, 16384
TURN_BYTES = 2 << 20


def turn(size_class, is_mended):
    size = OF_CLASS * size_class
    count = TURN_BYTES // size
    made = [bytes(size - HEAD) for _ in range(count)]
    each = POOL // size
    return made[:count // each] if is_mended else made[::each]


def main():
    is_mended, seconds = sys.argv[1] == "1", float(sys.argv[2])
    turns = [size_class for size_class in range(3, 33)]
    kept = []
    for size_class in turns:
        kept.append(turn(size_class, is_mended))
        time.sleep(seconds / len(turns))


main()
