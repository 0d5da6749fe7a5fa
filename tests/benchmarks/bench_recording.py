#!/usr/bin/env python3
"""What recording costs: time a program takes longer, bytes a trace has, peers beside us.

    bench_recording.py BUILD-FOLDER [--quick]

Every round runs each program natively, under leaktide (host heap, no stacks) and under the peers
that are installed, in turn; differences are taken within a round. Prints lines as bench.h says.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from workloads import Program, real_programs, run, say, trace_facts

BUILD = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
ROUNDS = 1 if QUICK else 5
LEAKTIDE = os.path.join(BUILD, "bin", "leaktide")
ALLOCATE = os.path.join(BUILD, "benchmarks", "programs", "allocate")
LTTNG = "liblttng-ust-libc-wrapper.so"


def words(folder):
    """As users record; nothing is read at the end."""
    return [LEAKTIDE, "run", "-q", "--no-report", "--device=cpu",
            "--call-stack=none", "-o", folder, "--"]


def recorded(program, folder):
    return program.run(before=words(folder))


def heaptrack(program, folder):
    return program.run(before=["heaptrack", "-o", os.path.join(folder, "peer")])


def lttng(program, folder):
    """LTTng's own wrapper of malloc, with thread and caller: no stacks, as ours here."""
    home = dict(os.environ, LTTNG_HOME=folder)
    for command in (["create", "bench", "--output", os.path.join(folder, "trace")],
                  ["enable-event", "-u", "lttng_ust_libc:*"],
                  ["add-context", "-u", "-t", "vtid", "-t", "ip"], ["start"]):
        quietly(["lttng"] + command, home)
    result = program.run(environment={"LD_PRELOAD": LTTNG})
    quietly(["lttng", "destroy", "bench"], home)
    return result


def quietly(command, environment):
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)


def lttng_starts():
    """The daemon serves all sessions of the user; it ends with the machine or by hand."""
    if not shutil.which("lttng-sessiond"):
        return False
    subprocess.run(["lttng-sessiond", "--daemonize"], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return subprocess.run(["lttng", "list"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def programs(work):
    scale = 20 if QUICK else 1
    return [Program("allocate, 1 thread", [ALLOCATE, "1", str(20_000_000 // scale)]),
            Program("allocate, 2 threads", [ALLOCATE, "2", str(20_000_000 // scale)]),
            *real_programs(work, scale)]


def peers():
    found = []
    if QUICK:
        return found
    if shutil.which("heaptrack"):
        found.append(("heaptrack (with stacks)", heaptrack))
    if lttng_starts():
        found.append(("LTTng", lttng))
    return found


def measure(program, work, others):
    costs = {"leaktide": ([], [])}
    own, sizes, events = [], [], 0
    for _ in range(ROUNDS):
        native_wall, native_used, native_out = program.run()
        folder = tempfile.mkdtemp(dir=work)
        wall, used, out = recorded(program, folder)
        events, size = trace_facts(folder)
        shutil.rmtree(folder)
        costs["leaktide"][0].append((wall - native_wall) * 1e9 / events)
        costs["leaktide"][1].append((used - native_used) * 1e9 / events)
        sizes.append(size / events)
        if program.name.startswith("allocate"):
            own.append((int(out.split()[1]) - int(native_out.split()[1])) * threads_of(program) /
                       events)
        for name, way in others:
            folder = tempfile.mkdtemp(dir=work)
            wall, used, _ = way(program, folder)
            shutil.rmtree(folder)
            costs.setdefault(name, ([], []))[0].append((wall - native_wall) * 1e9 / events)
            costs[name][1].append((used - native_used) * 1e9 / events)
    for name, (walls, processor) in costs.items():
        say(f"{program.name}: wall added by {name}", "ns/event", walls, events=events)
        say(f"{program.name}: processor time added by {name}", "ns/event", processor)
    if own:
        say(f"{program.name}: added in the calling thread", "ns/event", own)
    say(f"{program.name}: trace", "bytes/event", sizes)


def threads_of(program):
    return int(program.command[1])


def measure_fixed(work):
    runs = []
    for i in range(5 if QUICK else 60):
        plain = run(["/bin/true"], os.environ)[0]
        runs.append((run(words(f"{work}/fixed{i}") + ["/bin/true"], os.environ)[0] - plain) * 1e3)
    say("true: wall added", "ms", runs)


def main():
    with tempfile.TemporaryDirectory() as work:
        measure_fixed(work)
        others = peers()
        for program in programs(work):
            measure(program, work, others)


if __name__ == "__main__":
    main()
