#!/usr/bin/env python3
"""What the tracer adds to device memory: on the fake CUDA runtime, at the end of 20 calls.

    bench_device.py BUILD-FOLDER [--quick]

device_deep allocates and frees with nothing in between. It runs without the tracer, with it, and
with it and call stacks, in turn; differences are taken to the run without it of the same round. The
time is the thread's own. A call of the runtime calls the driver, and both are recorded, each in its
pool: so a call is two events, and one stack.
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from workloads import say, trace_facts  # noqa: E402

FRAMES = 20
PROMISED_NS = 100
WAYS = {"no stacks": "none", "whole stacks": "c", f"{FRAMES} frames": f"c:{FRAMES}"}


def spent_ns(program, calls, options=None, leaktide=None):
    """(ns, events recorded) of a run."""
    with tempfile.TemporaryDirectory() as folder:
        words = [leaktide, "run", "-q", *options, "-o", folder, "--"] if options else []
        done = subprocess.run([*words, program, str(calls), str(FRAMES)], check=True,
                              stdout=subprocess.PIPE)
        return int(done.stdout), trace_facts(folder)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    program = os.path.join(options.build, "benchmarks", "programs", "device_deep")
    leaktide = os.path.join(options.build, "bin", "leaktide")
    calls, rounds = (20_000, 1) if options.quick else (1_000_000, 7)
    native, added, per_event = [], {name: [] for name in WAYS}, {name: [] for name in WAYS}

    for _ in range(rounds):
        alone_ns, _ = spent_ns(program, calls)
        native.append(alone_ns / calls)
        for name, stacks in WAYS.items():
            took_ns, events = spent_ns(program, calls, ["--device=gpu", f"--call-stack={stacks}"],
                                       leaktide)
            added[name].append((took_ns - alone_ns) / calls)
            per_event[name].append((took_ns - alone_ns) / events)
    say("device call, fake runtime: without tracer", "ns/call", native)
    for name in WAYS:
        say(f"device call, fake runtime: added by tracer, {name}", "ns/call", added[name])
    for name in WAYS:
        say(f"device memory, fake runtime: added by tracer, {name}", "ns/event", per_event[name],
            promised=PROMISED_NS)


if __name__ == "__main__":
    main()
