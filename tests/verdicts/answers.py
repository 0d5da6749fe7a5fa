#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What all customers of the verdict say of all recordings, as a table; and two tables compared.

    answers.py --table LEAKTIDE [--make-traces PROGRAM] [--reference FOLDER] [--python FOLDER] [-o FILE]
    answers.py --compare OLD NEW
    answers.py --check LEAKTIDE [--make-traces PROGRAM]     each answer is understood: no other doubt than those listed

A row is a recording: for each customer its words, the exit status, and the leaks by name with bytes for each
step, and what stays where that is known. Only the command line is used, so LEAKTIDE may be an older one.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import customers

TESTS = os.path.dirname(customers.HERE)
PYTHON = os.path.join(os.path.dirname(TESTS), "tracer", "python")
NO_RECORDINGS = ("README.md", "SHA256SUMS", "real-leaks", "real-leaks-3")
SUFFIXES_OF_OTHERS = (".py", ".c", ".md", ".expected.txt", ".config.json", ".stderr.txt", ".stdout.txt")


def recordings_below(folder):
    """Each file, and each folder of several: relative paths in a stable order."""
    found = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in NO_RECORDINGS)
        files = sorted(name for name in files if name not in NO_RECORDINGS)
        if parent != folder and len(folders) + len(files) > 1:
            found.append(os.path.relpath(parent, folder))
        found += [os.path.relpath(os.path.join(parent, name), folder) for name in files
                  if not name.endswith(SUFFIXES_OF_OTHERS)]
    return sorted(found)


def all_recordings(options, folder):
    """[(name, path)]: fixtures, those that cli_make_traces makes, and reference data."""
    places = [("fixtures", os.path.join(TESTS, "fixtures"))]
    if options.make_traces:
        traces = os.path.join(folder, "traces")
        os.mkdir(traces)
        subprocess.run([os.path.abspath(options.make_traces)], cwd=traces, check=True)
        places.append(("traces", traces))
    if options.reference:
        places.append(("data", os.path.abspath(options.reference)))
    return [(name + "/" + path, os.path.join(place, path)) for name, place in places
            for path in recordings_below(place)]


def cells_of(asker, name, path):
    """The row of a recording."""
    row, began = {"recording": name}, time.monotonic()
    for customer, ask in customers.CUSTOMERS:
        said = ask(asker, path)
        sentence = said.sentence.replace(path, name) if said.word == customers.REFUSED else ""
        row[customer] = said.words() + (" (%s)" % sentence if sentence else "")
        row[customer + " status"] = str(said.status)
        row[customer + " leaks"] = said.names() if customer not in ("memory-viz",) else counted(said)
        if said.word == customers.REFUSED and customer == "leaks":
            break
    return row, time.monotonic() - began


def counted(said):
    """A line for each block is too long for a cell."""
    return "; ".join("%s = %d blocks, %d" % (name, len(leaks), sum(leak.amount for leak in leaks))
                     for name, leaks in sorted(said.leaks.items()))


def make_rows(options):
    with tempfile.TemporaryDirectory() as folder:
        recordings = all_recordings(options, folder)

        def one(numbered):
            number, (name, path) = numbered
            own = os.path.join(folder, "asker-%d" % number)
            os.mkdir(own)
            return cells_of(customers.Asker(options.leaktide, own, options.python), name, path)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(one, enumerate(recordings)))


def columns():
    yield "recording"
    for customer, _ in customers.CUSTOMERS:
        yield from (customer, customer + " status", customer + " leaks")


def check(options):
    """Sentences of doubt that customers.DOUBTS does not know."""
    unknown = [(row["recording"], customer) for row, _ in make_rows(options) for customer, _ in customers.CUSTOMERS
               if row.get(customer, "").endswith(": other")]
    for name, customer in unknown:
        print("%s: %s says a doubt that customers.py does not know" % (name, customer))
    return bool(unknown)


def print_table(options):
    rows = make_rows(options)
    lines = ["\t".join(columns())]
    lines += ["\t".join(row.get(key, "").replace("\t", " ").replace("\n", " ") for key in columns()) for row, _ in rows]
    text = "\n".join(lines) + "\n"
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
    for row, seconds in rows:
        if seconds > 30:
            print("slow: %s took %.0f s" % (row["recording"], seconds), file=sys.stderr)
    words = collections.Counter(row["leaks"].split(" (")[0] for row, _ in rows)
    for word, count in sorted(words.items()):
        print("%4d %s" % (count, word), file=sys.stderr)


# --- two tables -----------------------------------------------------------------------------------

def read_table(path):
    with open(path, encoding="utf-8") as file:
        header, *lines = file.read().rstrip("\n").split("\n")
    return {row[0]: dict(zip(header.split("\t"), row)) for row in (line.split("\t") for line in lines)}


def word_of(cell):
    return cell.split(":")[0].split(" (")[0]


def count_change(counts, customer, old, new):
    """By the first words of two cells of one customer."""
    was, now = word_of(old), word_of(new)
    if was == customers.LEAK and now != customers.LEAK:
        counts["%s: LEAK lost" % customer] += 1
    if now == customers.LEAK and was != customers.LEAK:
        counts["%s: LEAK new" % customer] += 1
    if now == customers.CANNOT_SAY and was not in (customers.CANNOT_SAY, customers.NO_VERDICT):
        counts["%s: doubts new" % customer] += 1
    if was == customers.CANNOT_SAY and now not in (customers.CANNOT_SAY, customers.NO_VERDICT):
        counts["%s: doubts gone" % customer] += 1


def print_differences(old_path, new_path):
    """Returns whether there are any."""
    old, new, counts, count = read_table(old_path), read_table(new_path), collections.Counter(), 0
    for name in sorted(set(old) | set(new)):
        if name not in old or name not in new:
            print("%s: only in the %s table" % (name, "new" if name in new else "old"))
            count += 1
            continue
        for key in columns():
            was, now = old[name].get(key, ""), new[name].get(key, "")
            if was != now:
                print("%s: %s: %s -> %s" % (name, key, was or "(nothing)", now or "(nothing)"))
                count += 1
            if key in dict(customers.CUSTOMERS):
                count_change(counts, key, was, now)
    for table, rows in (("old", old), ("new", new)):
        words = collections.Counter(word_of(row["leaks"]) for row in rows.values())
        print("%s: %d recordings; %s" % (table, len(rows), ", ".join("%d %s" % (number, word)
                                                                     for word, number in sorted(words.items()))))
    for what, number in sorted(counts.items()):
        print("%4d %s" % (number, what))
    print("%4d differences" % count)
    return count > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", dest="leaktide", metavar="LEAKTIDE")
    parser.add_argument("--check", metavar="LEAKTIDE")
    parser.add_argument("--make-traces", metavar="PROGRAM", help="cli_make_traces of a build")
    parser.add_argument("--reference", metavar="FOLDER", help="reference data")
    parser.add_argument("--python", default=PYTHON, metavar="FOLDER", help="where leaktide_reading.py lies")
    parser.add_argument("-o", "--output", metavar="FILE")
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"))
    options = parser.parse_args()
    if options.compare:
        return int(print_differences(*options.compare))
    if options.check:
        options.leaktide = options.check
        return int(check(options))
    if not options.leaktide:
        parser.error("--table, --check or --compare")
    print_table(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
