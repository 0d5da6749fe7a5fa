#!/usr/bin/env python3
"""Prints a table: what leaktide says of the programs of pairs.tsv, and what others list.

    table.py [--cache FOLDER] [--only NAME,NAME] [--group GROUP,GROUP] [--again] [--rows FILE] [--no-peers] LEAKTIDE

Everything is measured here: programs are fetched, recorded and judged as by run.py, in unmarked and
in marked loops, with malloc and with CPython's own allocator. A peer that is not installed says "not
run here". --rows takes rows that run.py has written, and records nothing.
"""
import json
import statistics
import sys

import peers
import real_programs
import run

WAYS = [(False, "malloc"), (False, "python"), (True, "malloc"), (True, "python")]
TOP = 3


def share(count, total):
    return "%d of %d" % (count, total) if total else "–"


def column(results):
    """The cells of one way to record."""
    leaks = run.leaks_of(results)
    mended = [one for one in results if one["variant"] == "fixed"]
    clean = [one for one in results if one["variant"] == "clean"]
    named = [one["library_named"] for one in leaks if one["library_named"] is not None]
    right = [one["bytes_right"] for one in leaks if one["bytes_right"] is not None and one["allocator"] == "malloc"]
    return [share(sum(one["is_called"] for one in leaks), len(leaks)),
            share(sum(run.is_false(one) for one in mended), len(mended)),
            share(sum(run.is_false(one) for one in clean), len(clean)),
            share(sum(named), len(named)), share(sum(right), len(right))]


def peer_rows(options, names):
    """Of the tools that are there: in how many programs the right entry is in the first three."""
    lines = []
    for tool in peers.TOOLS:
        found = {"leaky": [], "fixed": []}
        for row in real_programs.rows(names):
            for variant in found:
                if row["leaky"] != "-" and (row["library"] or tool.startswith("memray")):
                    found[variant].append(peers.kept(options.cache, tool, row, variant))
        leaky, fixed = ([one for one in some if one] for some in found.values())
        if not leaky:
            lines.append("| %s | not run here | | |" % tool)
            continue
        ranks = [one["rank"] for one in leaky if one["rank"]]
        lines.append("| %s | %s | %s | %d, %d |" % (
            tool, share(sum(rank <= TOP for rank in ranks), len(leaky)), share(len(ranks), len(leaky)),
            statistics.median(one["entry_count"] for one in leaky), statistics.median(one["entry_count"] for one in fixed)))
    return lines


def measured(options):
    """The rows of all ways to record."""
    if options.rows:
        with open(options.rows, encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    results = []
    for options.marked, options.allocator in WAYS:
        results += run.run_all(options)
    return results


def print_verdicts(results):
    columns = [column([one for one in results if (one["is_marked"], one["allocator"]) == way]) for way in WAYS]
    print("| | unmarked, malloc | unmarked, Python's own | marked, malloc | marked, Python's own |\n|---|---|---|---|---|")
    for line, name in enumerate(["leaks found", "mended releases called LEAK", "clean programs called LEAK",
                                 "the stacks shown name the faulty library", "bytes within a tenth of what the heap grows"]):
        print("| %s | %s |" % (name, " | ".join(cells[line] for cells in columns)))


def main():
    parser = run.arguments(__doc__)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--rows")
    options = parser.parse_args()
    options.measure = True
    names = {row["program"] for row in real_programs.rows(options.only, options.group)}
    results = [one for one in measured(options) if one["program"] in names]
    print_verdicts(results)
    if not options.no_peers:
        print("\n| the list at exit | right entry in the first three | right entry at all "
              "| entries, leaky and mended (median) |\n|---|---|---|---|")
        print("\n".join(peer_rows(options, {one["program"] for one in results if one["is_leak"]})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
