# SPDX-License-Identifier: Apache-2.0
"""Keeps some bytes in each step, and has a second thread that keeps some of its own: the recording of the page's tests.
The recorder takes an account of it in the middle and at the end.

Run as leaking.py STEPS KEPT-BYTES.
"""

import ctypes
import sys
import threading
import time

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


def take_account():
    control = getattr(ctypes.CDLL(None), "mt_control", None)
    if control:
        control(b"snapshot", ctypes.create_string_buffer(4096), ctypes.c_size_t(4096))
        time.sleep(1)


def main():
    trainer, prepared = Trainer(), []
    thread = threading.Thread(target=prepare, args=(prepared,))
    thread.start()
    thread.join()
    for step in leaktide.steps(range(int(sys.argv[1]))):
        trainer.step(int(sys.argv[2]))
        if step in (int(sys.argv[1]) // 2, int(sys.argv[1]) - 1):
            take_account()


main()
