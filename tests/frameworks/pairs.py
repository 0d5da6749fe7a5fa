#!/usr/bin/env python3
"""Training and serving on devices that are not there, nothing marked: each clean, and with a leak at a known line.

    pairs.py [--cache FOLDER] [--only TEXT]... LEAKTIDE

Of a clean program: "No leak", and the gate passes. Of its twin: LEAK at the line, at the rate that the program knows of
itself (within 2 %; a turn of a service is a request, whatever loops it has within), and the gate fails.
`diff` calls it a new leak, `ranks` knows which of the two leaks. Of a program that uses no more in any step, and whose pool
reserves ever more: FRAGMENTED; with expandable segments, and with pieces that fit, "No leak". With --layers=yes each layer's
weights are those that the model has there, and twice as much is optimizer state. Prints a table; the status is 1 where something is not so,
77 where nothing could be run. Wheels are those of run.py, which fetches them.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import make_fakes  # noqa: E402
import run  # noqa: E402

EXPANDABLE = {name: "expandable_segments:True" for name in ("PYTORCH_NPU_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")}
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
RATE_OFF_MOST = 0.02
FUNCTION = {"direct": "remember_direct", "generate": "Block.attend"}  # who leaks, else Gpt.forward


@dataclass
class Pair:
    variant: str
    environment: dict = field(default_factory=dict)


PAIRS = {name: Pair(name) for name in ("", "sgd", "amp", "checkpoint", "batch", "random", "growing", "evaluate", "generate",
                                       "direct")}
PAIRS["expandable"] = Pair("", EXPANDABLE)
PAIRS["expandable, direct"] = Pair("direct", EXPANDABLE)


def record(options, wheels, folders, fakes, pair, is_leak, scratch, *more):
    """The recording, the program's own books, what was said."""
    into = os.path.join(scratch, "leak" if is_leak else "clean")
    books = into + "-books"
    os.makedirs(books)
    story = run.Story(wheels, "gpt.py", wheels, environment={"VARIANT": pair.variant, "LEAK": str(int(is_leak)),
                                                             **pair.environment})
    done = subprocess.run([options.leaktide, "run", "--device=npu,gpu", "--call-stack=python,c", "--no-report", *more, "-o", into,
                           "--", sys.executable, "-S", os.path.join(HERE, "programs", story.program)],
                          env=run.environment_of(story, folders, fakes, books), capture_output=True, text=True,
                          timeout=run.LIMIT_SECONDS)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-400:])
    with open(os.path.join(books, "stats.json")) as file:
        return into, json.load(file)


def ask(options, *words):
    done = subprocess.run([options.leaktide, *words], capture_output=True, text=True, timeout=run.LIMIT_SECONDS)
    return done.returncode, done.stdout.splitlines() or [""]


def rate_in(sentence):
    found = re.match(r"LEAK: ([\d.]+) (B|KiB|MiB|GiB) per (?:turn|step)", sentence)
    return float(found[1]) * UNITS[found[2]] if found else 0


def faults_of_clean(options, clean, policy):
    status, said = ask(options, "leaks", clean)
    if status or not said[0].startswith("No leak"):
        yield "clean: %d %s" % (status, said[0])
    status, said = ask(options, "gate", "--policy", policy, clean)
    if status:
        yield "gate of clean: %d %s" % (status, said[0])


def faults_of_leak(options, pair, leak, stats, policy):
    status, said = ask(options, "leaks", leak)
    function = FUNCTION.get(pair.variant, "Gpt.forward")
    if status != 1 or not said[0].startswith("LEAK") or " at %s (programs/gpt.py:" % function not in said[0]:
        yield "leak: %d %s" % (status, said[0])
    elif abs(rate_in(said[0]) / stats["kept_per_turn"] - 1) > RATE_OFF_MOST:
        yield "rate: %d B of %d: %s" % (rate_in(said[0]), stats["kept_per_turn"], said[0])
    if " sites in all" in said[0]:
        yield "more than one: %s" % said[0]
    status, said = ask(options, "gate", "--policy", policy, leak)
    if status != 1:
        yield "gate of leak: %d %s" % (status, said[0])


def faults_of_both(options, clean, leak):
    status, said = ask(options, "diff", clean, leak)
    if status != 0 and status != 1 or not said[0].startswith("NEW LEAK: "):
        yield "diff: %d %s" % (status, said[0])
    for line in said:
        if line.startswith(("PEAK: ", "KEPT: ")) and re.search(r" of (hal|acl|cudart|cuda) device 0(?! outside)", line):
            yield "diff compares reserved memory: %s" % line
    status, said = ask(options, "ranks", clean, leak)
    if not said[0].startswith("LEAK on ") or any("CANNOT SAY" in line for line in said):
        yield "ranks: %d %s" % (status, said[0])


def tell(options, wheels, name, pair, folders, fakes, scratch):
    policy = os.path.join(scratch, "leaktide.toml")
    with open(policy, "w") as file:
        file.write("[leak]\n")
    clean, _ = record(options, wheels, folders, fakes, pair, False, scratch)
    leak, stats = record(options, wheels, folders, fakes, pair, True, scratch)
    faults = [*faults_of_clean(options, clean, policy), *faults_of_leak(options, pair, leak, stats, policy),
              *faults_of_both(options, clean, leak)]
    print("%-5s %-20s %12d B per turn  %s" % (wheels, name or "plain", stats["kept_per_turn"], "; ".join(faults) or "right"),
          flush=True)
    return not faults


def first_words(options, wheels, folders, fakes, scratch, name, environment):
    """What is said of fragments.py."""
    into = os.path.join(scratch, name)
    os.makedirs(into + "-books")
    story = run.Story(wheels, "fragments.py", wheels, environment=environment)
    subprocess.run([options.leaktide, "run", "--device=npu,gpu", "--call-stack=python,c", "--no-report", "-o", into, "--",
                    sys.executable, "-S", os.path.join(HERE, "programs", story.program)],
                   env=run.environment_of(story, folders, fakes, into + "-books"), capture_output=True, check=True,
                   timeout=run.LIMIT_SECONDS)
    status, said = ask(options, "leaks", into)
    return "%d %s" % (status, said[0])


def tell_fragments(options, wheels, folders, fakes, scratch):
    wanted = {"fit": ({}, "0 No leak"), "fragments": ({"FRAGMENTS": "1"}, "4 FRAGMENTED"),
              "expandable": ({"FRAGMENTS": "1", **EXPANDABLE}, "0 No leak")}
    faults = []
    for name, (environment, words) in wanted.items():
        said = first_words(options, wheels, folders, fakes, scratch, name, environment)
        if not said.startswith(words):
            faults.append("%s: %s" % (name, said))
    print("%-5s %-20s %12s             %s" % (wheels, "fragments", "", "; ".join(faults) or "right"), flush=True)
    return not faults


def tell_layers(options, wheels, folders, fakes, scratch):
    into, stats = record(options, wheels, folders, fakes, PAIRS[""], False, scratch, "--layers=yes")
    answer = subprocess.run([options.leaktide, "layers", "--depth=3", "--top=0", "--format=json", into], capture_output=True,
                            text=True, check=True, timeout=run.LIMIT_SECONDS)
    rows = {row["layer"]: row for table in json.loads(answer.stdout)["tables"] if table["name"] == "layers"
            for row in table["rows"] if row["layer"] and row["weights_bytes"]}
    faults = ["%s: weights %d, not %d" % (path, rows[path]["weights_bytes"] if path in rows else 0, size)
              for path, size in stats["weights"].items() if path not in rows or rows[path]["weights_bytes"] != size]
    faults += ["%s has weights" % path for path in set(rows) - set(stats["weights"])]
    faults += ["%s: optimizer state %d of weights %d" % (path, row["optimizer_bytes"], row["weights_bytes"])
               for path, row in rows.items() if abs(row["optimizer_bytes"] / row["weights_bytes"] / 2 - 1) > RATE_OFF_MOST]
    faults += ["%s: no activations" % path for path, row in rows.items() if ".blocks." in path and not row["activations_bytes"]]
    print("%-5s %-20s %12d layers      %s" % (wheels, "layers", len(rows), "; ".join(faults) or "right"), flush=True)
    return not faults


OTHERS = {"fragments": tell_fragments, "layers": tell_layers}


def attempt(name, told):
    try:
        return told()
    except (RuntimeError, OSError, subprocess.SubprocessError) as trouble:
        print("%-26s FAILED: %s" % (name, trouble), flush=True)
        return False


def score(description, tellers):
    """The status of a script that fetches wheels. tellers(made): (name, tell(options)) of each case, for which made["folder"] is there."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--cache", default=run.CACHE)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--only", action="append", metavar="TEXT")
    parser.add_argument("leaktide", type=os.path.abspath)
    options = parser.parse_args()
    outcomes = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, tell_one in tellers({"folder": folder}):
            if not options.only or any(text in name for text in options.only):
                outcomes[attempt(name, lambda: tell_one(options))] += 1
    print("%d right, %d not" % (outcomes[True], outcomes[False]))
    return status_of(outcomes)


def status_of(outcomes):
    return 1 if outcomes[False] else 0 if outcomes[True] else 77


def tell_all(options):
    outcomes = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for wheels in ("npu", "cuda"):
            folders = run.packages(options, wheels, "dependencies")
            if not folders:
                print("%s skipped: no wheels in %s" % (wheels, options.cache))
                continue
            fakes = os.path.join(folder, wheels)
            make_fakes.make(make_fakes.CANN if wheels == "npu" else make_fakes.CUDA, folders, fakes)
            for name in [*PAIRS, *OTHERS]:
                full_name = "%s %s" % (wheels, name or "plain")
                if options.only and not any(text in full_name for text in options.only):
                    continue
                with tempfile.TemporaryDirectory() as scratch:
                    outcomes[attempt(full_name, lambda: (
                        OTHERS[name](options, wheels, folders, fakes, scratch) if name in OTHERS else
                        tell(options, wheels, name, PAIRS[name], folders, fakes, scratch)))] += 1
    print("%d right, %d not" % (outcomes[True], outcomes[False]))
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cache", default=run.CACHE)
    parser.add_argument("--only", action="append", metavar="TEXT")
    parser.add_argument("leaktide", type=os.path.abspath)
    options = parser.parse_args()
    options.fetch = False
    return status_of(tell_all(options))


if __name__ == "__main__":
    sys.exit(main())
