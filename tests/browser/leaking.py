# SPDX-License-Identifier: Apache-2.0
"""Keeps 20,000 bytes in each step: the recording of the page's tests.

Run as leaking.py STEPS KEPT-BYTES.
"""

import sys

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


def main():
    trainer = Trainer()
    for _ in leaktide.steps(range(int(sys.argv[1]))):
        trainer.step(int(sys.argv[2]))


main()
