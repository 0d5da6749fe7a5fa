#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Objects that CPython's own allocator makes: each has its end, none is counted twice, and those that
leak are found at their line with their bytes.

    python_objects_test.py TRACER EVENT_DUMP LEAKTIDE EMBEDDING

Runs every CPython from 3.8 to 3.15 that is found; says which. Exit status 77: none.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

from python_stacks_test import events_of, interpreters

# Threads, children, interpreters in one, and somebody else's functions above ours.
BUSY = r'''
import os, sys, threading, tracemalloc
sys.setswitchinterval(1e-5)
def busy(n, kept):
    for i in range(n):
        kept[i % 97] = {"a": i, "b": [i] * (i % 40), "c": "x" * (i % 900)}
        kept[i * 7 % 97] = lambda x: x + i
        buffer = bytearray(i % 700); buffer.extend(b"y" * (i % 300)); del buffer[:]
def child():
    number = os.fork()
    if not number:
        busy(100, {}); os._exit(0)
    os.waitpid(number, 0)
def inner():
    try: import _interpreters as module
    except ImportError: import _xxsubinterpreters as module
    made = module.create()
    module.run_string(made, "x = [{n: str(n)} for n in range(500)]")
    module.destroy(made)
threads = [threading.Thread(target=busy, args=(400, {})) for _ in range(3)]
for thread in threads: thread.start()
for frames in 1, 5:
    tracemalloc.start(frames); busy(200, {}); tracemalloc.take_snapshot(); tracemalloc.stop(); busy(100, {})
for thread in threads: thread.join()
child()
inner()
'''

# Prints the bytes that its two lines keep.
LEAK = r'''
import sys
kept = []
def turn(i):
    rows = [{"n": n, "text": "row %d of %d" % (n, i)} for n in range(100)]
    kept.append({"step": i, "text": "a text of step %d" % i})
    return len(rows)
for i in range(100):
    turn(i)
print(sum(sys.getsizeof(d) + sys.getsizeof(d["text"]) for d in kept))
'''

CLEAN = r'''
def turn(i):
    rows = [{"n": n, "text": "row %d of %d" % (n, i) * 60} for n in range(50)]
    return len(str(rows))
for i in range(100):
    turn(i)
'''

KILLED = r'''
import os, signal
kept = [{"n": n} for n in range(2000)]
os.kill(os.getpid(), signal.SIGKILL)
'''


class Ledger:
    """Blocks of one pool of one process."""

    def __init__(self):
        self.live, self.ever = {}, set()
        self.strays, self.doubles = [], 0

    def take(self, event):
        address = event["address"]
        if event["event"] == "free":
            if self.live.pop(address, None) is None:
                self.strays.append(address)
            return
        self.doubles += address in self.live
        self.live[address] = event["size_bytes"]
        self.ever.add(address)


def ledgers_of(events):
    ledgers = collections.defaultdict(Ledger)
    for event in events:
        if event["event"] in ("alloc", "free"):
            ledgers[event["process"], event["text"]].take(event)
    return ledgers


def every_block_has_one_end(tracer, dump, interpreter):
    ledgers = ledgers_of(events_of(tracer, dump, "--call-stack=python:3",
                                   [interpreter, "-S", "-c", BUSY]))
    assert len(ledgers[0, "python"].ever) > 1000
    for (process, pool), ledger in ledgers.items():
        inherited = ledgers[0, pool].ever if process else set()
        strays = [address for address in ledger.strays if address not in inherited]
        assert not strays and not ledger.doubles, (process, pool, len(strays), ledger.doubles)
    both = ledgers[0, "python"].live.keys() & ledgers[0, "host"].live.keys()
    assert not both, f"{len(both)} blocks are in two pools"


def functions_that_were_lost_are_put_back(tracer, dump, interpreter):
    os.environ["PYTHONMALLOC"] = "debug"  # the interpreter sets its tables anew
    try:
        events = events_of(tracer, dump, "--call-stack=python:3", [interpreter, "-S", "-c", BUSY])
    finally:
        del os.environ["PYTHONMALLOC"]
    ledger = ledgers_of(events)[0, "python"]
    assert len(ledger.ever) > 1000
    assert len(ledger.strays) <= 1, len(ledger.strays)  # the block for which the arena was made


def objects_of_an_opened_library_are_recorded(tracer, dump, interpreter, embedding):
    asked = "import sysconfig; print(*map(sysconfig.get_config_var, ('LIBDIR', 'INSTSONAME', 'prefix')))"
    folder, name, home = subprocess.run([interpreter, "-c", asked], check=True, text=True,
                                        stdout=subprocess.PIPE).stdout.split()
    library = os.path.join(folder, name)
    if not os.path.exists(library) or ".so" not in name:
        return
    os.environ["PYTHONHOME"] = home
    try:
        events = events_of(tracer, dump, "--call-stack=python:3",
                           [embedding, library, "x = [{n: str(n)} for n in range(3000)]"])
    finally:
        del os.environ["PYTHONHOME"]
    ledger = ledgers_of(events)[0, "python"]
    assert len(ledger.ever) > 3000 and not ledger.strays and not ledger.doubles, len(ledger.ever)


def nothing_is_recorded_unasked(tracer, dump, interpreter):
    for options in "--call-stack=c", "--call-stack=python --python-objects=no":
        ledgers = ledgers_of(events_of(tracer, dump, options, [interpreter, "-S", "-c", "pass"]))
        assert (0, "host") in ledgers and (0, "python") not in ledgers


def killed_program_keeps_its_objects(tracer, dump, interpreter):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_PRELOAD=tracer, PYTHONUTF8="1",
                           LEAKTIDE_OPTIONS=f"--device=cpu --output-path={folder} --call-stack=python")
        subprocess.run([interpreter, "-S", "-c", KILLED], env=environment, timeout=100, check=False)
        lines = subprocess.run([dump, folder], check=True, stdout=subprocess.PIPE).stdout
        ledger = ledgers_of(map(json.loads, lines.splitlines()))[0, "python"]
    assert len(ledger.live) >= 4000, len(ledger.live)  # each is an object and its keys


def judged(leaktide, interpreter, source, stacks="python,c"):
    """What the program printed, exit status, report."""
    with tempfile.TemporaryDirectory() as folder:
        program, trace = os.path.join(folder, "job.py"), os.path.join(folder, "job.leaktide")
        with open(program, "w", encoding="utf-8") as file:
            file.write(source)
        said = subprocess.run([leaktide, "run", "-q", "--no-report", "--device=cpu",
                               "--call-stack=" + stacks, "-o", trace, "--", interpreter, "-S", program],
                              check=True, stdout=subprocess.PIPE, timeout=200).stdout
        done = subprocess.run([leaktide, "leaks", "--format=json", trace], stdout=subprocess.PIPE,
                              check=False, timeout=200)
    return said, done.returncode, json.loads(done.stdout)


def clean_program_has_no_leak_where_objects_are_seen(leaktide, interpreter):
    _, status, report = judged(leaktide, interpreter, CLEAN)
    assert status == 0, report["verdict"]


def clean_program_is_not_judged_where_objects_are_not_seen(leaktide, version, interpreter):
    # Without the lock the allocator is mimalloc, with one large mapping: that is what is said of it.
    words = "no leak verdict" if version.endswith("t") else "CANNOT SAY"
    for stacks in "none", "c":
        _, status, report = judged(leaktide, interpreter, CLEAN, stacks)
        assert status == 4 and words in report["verdict"][0], report["verdict"]


def leak_is_found_with_its_bytes(leaktide, interpreter):
    kept, status, report = judged(leaktide, interpreter, LEAK)
    assert status == 1, report["verdict"]
    found = [finding for finding in report["findings"]
             if finding["kind"] == "leak" and "job.py:6" in finding["site"]]
    bytes_found = sum(finding["overdue_bytes"] for finding in found)
    assert abs(bytes_found - int(kept)) <= int(kept) / 10, (bytes_found, int(kept))


def main():
    tracer, dump, leaktide, embedding = sys.argv[1:5]
    os.environ.pop("PYTHONMALLOC", None)
    found = interpreters(range(8, 16))
    for version, interpreter in found.items():
        every_block_has_one_end(tracer, dump, interpreter)
        functions_that_were_lost_are_put_back(tracer, dump, interpreter)
        objects_of_an_opened_library_are_recorded(tracer, dump, interpreter, embedding)
        nothing_is_recorded_unasked(tracer, dump, interpreter)
        killed_program_keeps_its_objects(tracer, dump, interpreter)
        clean_program_has_no_leak_where_objects_are_seen(leaktide, interpreter)
        clean_program_is_not_judged_where_objects_are_not_seen(leaktide, version, interpreter)
        leak_is_found_with_its_bytes(leaktide, interpreter)
    print("CPython", ", ".join(found) or "is not here")
    return 0 if found else 77


if __name__ == "__main__":
    sys.exit(main())
