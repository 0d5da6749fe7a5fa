#!/usr/bin/env python3
"""Are leaks found that nobody here planted?

    run.py [--cache FOLDER] [--only NAME,NAME] [--group GROUP,GROUP] [--marked] [--stripped]
           [--allocator=malloc|python] [--measure] [--rows FILE] [--again] LEAKTIDE

Programs of pairs.tsv run in the release that leaks and in the one that is mended, with pinned
versions, in an unmarked loop (--marked: in a marked one), with CPython's own allocator or with
malloc in its place; --stripped: by an interpreter without names of its own functions. Packages stay in the cache, and recordings while they are newer than the
recorder and their program (--again: never). Prints a line for each and the score; --rows appends a JSON row for each, with
--measure also what the heap of the program grows without a tool. A mended or clean program that is
called LEAK is always measured, over thirty times its turns: where it grows by what was said, that
is no false alarm. Nobody can tell a leak in node's own heap from garbage where its collector did not
look at the whole heap twice, which is counted without a tool: "cannot say" (exit status 4) is right
then, and "No leak" is a miss. The status is 1 where recall or precision is below 0.95, 77 where
nothing could be run.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import real_programs

LIMIT_SECONDS = 600
LEAST = 0.95
MALLOC_OWN_BYTES = 24
FEW_BYTES_PER_TURN = 100
FEWEST_TURNS = 60
MANY_TIMES = 30
COLLECTIONS_NEEDED = 2
FOUND, UNSURE = 1, 4


def is_fresh(options, row, folder):
    if options.again or not os.path.isdir(folder):
        return False
    tool = os.path.join(os.path.dirname(os.path.dirname(options.leaktide)), "lib", "leaktide", "*.so")
    programs = os.path.join(real_programs.HERE, "programs", row["program"] + ".*")
    made = os.path.getmtime(folder)
    return all(os.path.getmtime(path) < made for path in glob.glob(tool) + glob.glob(programs))


def record(options, row, variant):
    """The folder of the recording; None where the program failed. Raises Missing."""
    name = "-".join([row["program"], variant, "marked" if options.marked else "unmarked", options.allocator] +
                    ["stripped"] * options.stripped)
    folder = os.path.join(options.cache, "recordings", name)
    words, environment = real_programs.command(options.cache, row, variant, options.allocator)
    if options.stripped:
        environment["LD_LIBRARY_PATH"] = real_programs.stripped_library(options.cache, words[0])
    if is_fresh(options, row, folder):
        return folder
    if options.marked:
        environment["REAL_LEAKS_MARKS"] = "1"
    for path in (folder, folder + ".new"):
        shutil.rmtree(path, ignore_errors=True)
    done = subprocess.run([options.leaktide, "run", "--device=cpu", "--call-stack=python,c",
                           "-o", folder + ".new", "--no-report", "--", *words],
                          env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if done.returncode:
        print("%-28s failed: %s" % (name, done.stderr.strip()[-200:]))
        return None
    os.rename(folder + ".new", folder)
    return folder


def judge(options, folder):
    """Exit status and report."""
    done = subprocess.run([options.leaktide, "leaks", "--format=json", folder],
                          capture_output=True, text=True, timeout=LIMIT_SECONDS)
    return done.returncode, json.loads(done.stdout)


def names_library(finding, library):
    stacks = [finding.get(key) or [] for key in ("stack", "second_stack", "third_stack")]
    return any(re.search(library, "%s %s" % (frame.get("function"), frame.get("module")))
               for stack in stacks for frame in stack)


def growth(findings):
    """Bytes and blocks that the findings say stay in each turn of the program's loop."""
    size = count = 0.0
    for finding in findings:
        if finding["growth_bytes_per_step"] is None:
            size += finding["overdue_bytes"] / FEWEST_TURNS
            count += finding["overdue_count"] / FEWEST_TURNS
        else:  # turns may be those of a loop within the program's
            loops = finding["turn_count"] / FEWEST_TURNS if "turn_count" in finding else 1
            size += finding["growth_bytes_per_step"] * loops
            count += finding["growth_blocks_per_1000_steps"] / 1000 * loops
    return size, count


def are_bytes_right(said, blocks, measured):
    """Within a tenth, with what malloc adds to each block."""
    return said <= 1.1 * measured and said + blocks * MALLOC_OWN_BYTES >= 0.9 * measured


def row_of(options, row, variant, is_leak, status, report):
    """What is known of one program, for people who count."""
    findings = [finding for finding in report["findings"] if finding["kind"] == "leak"]
    size, blocks = growth(findings)
    result = {"program": row["program"], "group": row["group"], "variant": variant, "is_leak": is_leak,
              "is_marked": options.marked, "allocator": options.allocator, "exit": status,
              "is_called": status == FOUND, "is_told": True, "library_named": None, "bytes_per_turn": round(size), "heap_bytes_per_turn": None,
              "bytes_right": None, "verdict": report["verdict"][0] if report["verdict"] else ""}
    if is_leak and status == FOUND and row["library"] and findings:
        result["library_named"] = names_library(findings[0], row["library"])
    if is_leak and status == UNSURE:
        collections = real_programs.whole_collections(options.cache, row, variant)
        result["is_told"] = collections is None or collections >= COLLECTIONS_NEEDED
    is_doubtful = status == FOUND and not is_leak
    if options.measure or is_doubtful:
        times = [MANY_TIMES] if is_doubtful else []
        measured = real_programs.heap_bytes_per_turn(options.cache, row, variant, *times)
        result["heap_bytes_per_turn"] = measured
        if measured is not None and status == FOUND:
            result["bytes_right"] = are_bytes_right(size, blocks, measured)
    return result


def is_false(result):
    """A mended or clean program called LEAK whose heap does not grow, or not by what was said."""
    return result["is_called"] and not result["is_leak"] and not (
        result["bytes_right"] and result["heap_bytes_per_turn"] >= FEW_BYTES_PER_TURN)


def run_variant(options, row, variant, is_leak):
    """Its row; None where it could not be run."""
    try:
        folder = record(options, row, variant)
    except real_programs.Missing as reason:
        print("%-28s skipped: %s" % (row["program"] + " " + variant, reason))
        return None
    if not folder:
        return None
    status, report = judge(options, folder)
    result = row_of(options, row, variant, is_leak, status, report)
    print("%-28s exit %d  %s" % (row["program"] + " " + variant, status, result["verdict"][:150]), flush=True)
    if result["is_called"] and not is_leak and not is_false(result):
        print("    and so it does, without a tool: %d bytes a turn" % result["heap_bytes_per_turn"])
    if options.rows:
        with open(options.rows, "a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
    return result


def leaks_of(results):
    """Those that can be told."""
    return [result for result in results if result["is_leak"] and result.get("is_told", True)]


def score(results):
    """Prints it; whether it is good enough."""
    leaks = leaks_of(results)
    untold = sum(result["is_leak"] for result in results) - len(leaks)
    others = [result for result in results if not result["is_leak"]]
    found = sum(result["is_called"] for result in leaks)
    false = sum(is_false(result) for result in others)
    named = [result["library_named"] for result in leaks if result["library_named"] is not None]
    print("leaks that nobody could tell, and were not: %d" % untold)
    print("leaks found %d of %d; called LEAK though mended or clean %d of %d; library named %d of %d"
          % (found, len(leaks), false, len(others), sum(named), len(named)))
    return found >= LEAST * len(leaks) and found >= LEAST * (found + false)


def run_all(options):
    """The rows of all programs that could be run here."""
    os.makedirs(os.path.join(options.cache, "recordings"), exist_ok=True)
    results = []
    for row in real_programs.rows(options.only, options.group):
        if options.marked and row["python"] == "node":
            continue
        for variant, is_leak in real_programs.variants(row):
            results.append(run_variant(options, row, variant, is_leak))
    return [result for result in results if result]


def arguments(description):
    words = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--cache", default=os.path.expanduser("~/.cache/leaktide-real-leaks"))
    words.add_argument("--only", type=lambda text: text.split(","))
    words.add_argument("--group", type=lambda text: text.split(","))
    words.add_argument("--again", action="store_true")
    words.add_argument("leaktide", type=os.path.abspath)
    return words


def main():
    parser = arguments(__doc__)
    parser.add_argument("--marked", action="store_true")
    parser.add_argument("--stripped", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--allocator", choices=["malloc", "python"], default="malloc")
    parser.add_argument("--rows")
    options = parser.parse_args()
    results = run_all(options)
    if not results:
        print("skipped: nothing could be run")
        return 77
    return 0 if score(results) else 1


if __name__ == "__main__":
    sys.exit(main())
