"""Threads that end by themselves, and that nobody joins."""
import threading

from loop import turns

for turn in turns(60):
    for n in range(10):
        done = threading.Event()
        threading.Thread(target=done.set).start()
        done.wait()
