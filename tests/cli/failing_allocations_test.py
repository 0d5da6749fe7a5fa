# SPDX-License-Identifier: Apache-2.0
"""Every command, with each of its allocations failing once.

usage: failing_allocations_test.py LEAKTIDE MAKE_TRACES CASES ALLOCATOR PROGRAM
                                   [--every K | --stacks K] [--most N] [--seed S] [--seconds T]
                                   [--on] [--only WORD] [--table] [--show]

The commands are the cases of tests/cli, and those below: exports, gates, and questions about a
recording of PROGRAM, which is resolved to names. Each is run once to count its allocations, and
then once for each of them. With --every K: for each K-th, the first drawn from the seed. With
--stacks K: for the first of each call stack, and for K - 1 others that are drawn. With --most N:
for N of those that are drawn. Allowed are the answer of before, or exit status 3 with a sentence.
--on: that allocation fails, and all that follow. --seconds: commands are drawn in an order of the
seed's until the time is over. --table: the counts of each command; --show: the first differences, too.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import random
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ORDER = struct.Struct("=QQQQ")  # of tests/support/failing_allocator.c
STACKS_MAX = 1 << 20
EXIT_INPUT = 3
USUAL_EXITS = range(0, 5)
TIMEOUT_S = 30
OUTCOMES = ("same", "said", "part", "silent", "crashed", "hung")
BAD = ("part", "silent", "crashed", "hung")

EXPORTS = ("csv", "sqlite", "perfetto", "chrome", "folded", "pprof",
           "memory-viz", "memory-viz-json", "memscope-csv", "memscope-db", "ascend", "speedscope")
MORE = tuple(
    ["leaks recorded", "leaks --format=json recorded", "peak --format=json leak",
     "report --format=html leak", "report --format=html recorded", "report recorded",
     "stacks recorded", "breakdown recorded", "modules recorded", "diff recorded recorded",
     "gate --policy=policy.toml leak", "gate --policy=policy.toml --format=json leak",
     "gate --policy=policy.toml --format=junit leak", "gate --policy=policy.toml --format=sarif leak",
     "bless --policy=policy.toml --baseline={out}/new.base leak",
     "suppress --policy=policy.toml leak",
     "diff --format=memscope-csv leak short", "ranks two", "frag now.csv"]
    + [f"export --to {name} leak -o {{out}}/exported" for name in EXPORTS]
    + ["export --to csv recorded -o {out}/exported", "export --to pprof recorded -o {out}/exported"]
)
POLICY = """[require]
steps_min = 8
[device."npu:*"]
peak_live = { max = "1 MiB", rel = "+2%" }
[leak]
min_slope = "1 B/step"
[[site]]
match = "*train*"
live_at_peak = "1 KiB"
"""


def arguments_read():
    parser = argparse.ArgumentParser()
    for name in ("leaktide", "make_traces", "cases", "allocator", "program"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--stacks", type=int, default=0)
    parser.add_argument("--most", type=int, default=1 << 30)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--only", default="")
    for name in ("on", "table", "show"):
        parser.add_argument("--" + name, action="store_true")
    arguments = parser.parse_args()
    for name in ("leaktide", "make_traces", "cases", "allocator", "program"):
        setattr(arguments, name, getattr(arguments, name).resolve())
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1 << 32)
    return arguments


class Runner:
    """Runs commands in a folder of recordings."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("LEAKTIDE_OPTIONS", "LEAKTIDE_LIBRARY", "LEAKTIDE_TRACER", "LD_PRELOAD")}
        self.environment.update(LC_ALL="C", TZ="UTC")

    def prepare(self):
        inputs = self.folder / "inputs"
        inputs.mkdir()
        subprocess.run([self.arguments.make_traces], cwd=inputs, check=True)
        fixtures = self.arguments.cases.parent.parent / "fixtures" / "recordings"
        shutil.copytree(fixtures, inputs, dirs_exist_ok=True)
        (inputs / "policy.toml").write_text(POLICY)
        subprocess.run([self.arguments.leaktide, "run", "-o", "recorded", "--device=npu,gpu,opencl",
                        "--call-stack=c", "--", self.arguments.program], cwd=inputs, env=self.environment,
                       capture_output=True, check=False)
        assert any((inputs / "recorded").glob("*.mtt")), "the program was not recorded"

    def run(self, command, fails_at, fails_on=False, stacks_max=0):
        """(outcome of the process, number of the call stack of each allocation): the n-th fails.

        Without stacks_max those numbers are all 0."""
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            place = pathlib.Path(scratch)
            order, out = place / "order", place / "out"
            order.write_bytes(ORDER.pack(0, fails_at, fails_on, 0) + bytes(8 * stacks_max))
            out.mkdir()
            words = [word.replace("{out}", "../" + place.name + "/out")
                     for word in shlex.split(command)]
            environment = dict(self.environment, HOME=scratch, XDG_CACHE_HOME=scratch,
                               TMPDIR=scratch, LD_PRELOAD=str(self.arguments.allocator),
                               LEAKTIDE_FAILING_ALLOCATIONS=str(order))
            try:
                done = subprocess.run([self.arguments.leaktide, *words], env=environment,
                                      cwd=self.folder / "inputs", stdin=subprocess.DEVNULL,
                                      capture_output=True, timeout=TIMEOUT_S, check=False)
            except subprocess.TimeoutExpired:
                return None, ()
            told = tuple(text.replace(place.name.encode(), b"SCRATCH")
                         for text in (done.stdout, done.stderr))
            content = order.read_bytes()
            count = ORDER.unpack_from(content)[0]
            stacks = (struct.unpack_from(f"={count}Q", content, ORDER.size)
                      if stacks_max else [0] * count)
            return (done.returncode, *told, written(out)), stacks


def written(folder):
    """The files of a folder, by name."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def judge(good, got):
    if got is None:
        return "hung"
    if got == good:
        return "same"
    status, out, err, _ = got
    if status not in USUAL_EXITS:
        return "crashed"
    if status != EXIT_INPUT or not err.strip() or err == good[2]:
        return "silent"
    return "said" if good[1].startswith(out) else "part"


def commands_of(arguments):
    first_lines = (path.read_text().partition("\n")[0]
                   for path in sorted(arguments.cases.glob("*.case")))
    from_cases = [line.partition(" ")[2] for line in first_lines]
    # A program that is run has its own exit status; what records is tried elsewhere.
    asking = [command for command in from_cases
              if not command.startswith(("run ", "msmemscope ./", "msleaks ./"))]
    return [command for command in dict.fromkeys([*asking, *MORE]) if arguments.only in command]


def show(command, n, outcome, good, got):
    print(f"  {outcome}: leaktide {command}, allocation {n}")
    if got is None:
        return
    print(f"    exit {good[0]} -> {got[0]}, stderr {got[2][:300]!r}")
    before, after = good[1].splitlines(), got[1].splitlines()
    for old, new in zip(before, after):
        if old != new:
            print(f"    - {old[:160]!r}\n    + {new[:160]!r}")
            break
    else:
        print(f"    lines {len(before)} -> {len(after)}; files {good[3]} -> {got[3]}")


def places_to_try(arguments, stacks, draw):
    """Which allocations fail, counted from 1."""
    if arguments.stacks:
        of_stack = {}
        for place, stack in enumerate(stacks, 1):
            of_stack.setdefault(stack, []).append(place)
        places = [place for first, *others in of_stack.values() for place in
                  [first, *draw.sample(others, min(arguments.stacks - 1, len(others)))]]
    else:
        every = min(arguments.every, len(stacks) or 1)
        places = range(draw.randrange(every) + 1, len(stacks) + 1, every)
    return sorted(draw.sample(places, min(arguments.most, len(places))))


def try_command(runner, pool, command, draw, end):
    """The counts of a command's outcomes. What is not begun at the end of the time is left out."""
    arguments = runner.arguments
    good, stacks = runner.run(command, 0, stacks_max=STACKS_MAX if arguments.stacks else 0)
    assert good is not None and good[0] in USUAL_EXITS, command
    assert runner.run(command, 0)[0] == good, f"leaktide {command}: two runs differ"
    counts = dict.fromkeys(OUTCOMES, 0)
    places = places_to_try(arguments, stacks, draw)

    def run_in_time(place):
        return time.monotonic() < end and runner.run(command, place, arguments.on)

    for n, done in zip(places, pool.map(run_in_time, places)):
        if not done:
            break
        got = done[0]
        outcome = judge(good, got)
        counts[outcome] += 1
        if outcome in BAD and (arguments.show or counts[outcome] == 1):
            show(command, n, outcome, good, got)
    return sum(counts.values()), counts


def line_of(command, runs, counts):
    return f"{runs:6}" + "".join(f"{counts[name]:8}" for name in OUTCOMES) + f"  {command}"


def main():
    arguments = arguments_read()
    draw = random.Random(arguments.seed)
    commands = commands_of(arguments)
    sums, runs_of_all, tried = dict.fromkeys(OUTCOMES, 0), 0, 0
    if arguments.seconds:
        draw.shuffle(commands)
    end = time.monotonic() + (arguments.seconds or float("inf"))
    print(f"seed {arguments.seed}")
    print("  runs" + "".join(f"{name:>8}" for name in OUTCOMES) + "  command")
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        runner = Runner(arguments, pathlib.Path(folder))
        runner.prepare()
        for command in commands:
            if time.monotonic() >= end:
                break
            runs, counts = try_command(runner, pool, command, draw, end)
            runs_of_all, tried = runs_of_all + runs, tried + 1
            for name in OUTCOMES:
                sums[name] += counts[name]
            if arguments.table or any(counts[name] for name in BAD):
                print(line_of(command, runs, counts), flush=True)
    print(line_of(f"all: {tried} of {len(commands)} commands", runs_of_all, sums))
    return 1 if not runs_of_all or any(sums[name] for name in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
