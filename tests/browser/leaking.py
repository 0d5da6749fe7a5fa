# SPDX-License-Identifier: Apache-2.0
"""Keeps some bytes in each step, and has a second thread that keeps some of its own: the recording of the page's tests.

Run as leaking.py STEPS KEPT-BYTES.
"""

import sys
import threading

import leaktide


class Trainer:
    def __init__(self):
        self.kept = []

    def remember(self, size):
        self.kept.append(bytearray(size))

    def step(self, size):
        work = [bytearray(50000) for _ in range(4)]
        self.remember(size)
        return len(work)


def prepare(kept):
    kept.append(bytearray(300000))


def main():
    trainer, prepared = Trainer(), []
    thread = threading.Thread(target=prepare, args=(prepared,))
    thread.start()
    thread.join()
    for _ in leaktide.steps(range(int(sys.argv[1]))):
        trainer.step(int(sys.argv[2]))


main()
