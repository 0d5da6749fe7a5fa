# SPDX-License-Identifier: Apache-2.0
"""Starts for long and holds much, then keeps a little in each turn of a short loop that nobody marked: for the page's tests.

One line makes all that the loop keeps: one large block in its first turn, and the leak.
"""

import time

TURNS, LEAKED_BYTES = 300, 2000


def start():
    held = []
    for _ in range(40):
        held.append([bytearray(4000) for _ in range(100)])
        time.sleep(0.05)
    return held


def make(turn):
    return bytes(1 << 20) if turn == 0 else bytearray(LEAKED_BYTES)


def remember(kept, turn):
    kept.append(make(turn))


def main():
    held, kept = start(), []
    for turn in range(TURNS):
        remember(kept, turn)
    return len(held) + len(kept)


main()
