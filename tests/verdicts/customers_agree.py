#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
All customers of the verdict say the same: fixtures, reference data and random programs, with every option of [leak]
and of leaks. The same leaks with the same bytes, the same doubt; numbers of a gate that are those of the report; and
nobody says "No leak", or passes, where leaks does not say it.

    customers_agree.py LEAKTIDE CLI_MAKE_TRACES [--reference FOLDER] [--programs N] [--recorded N --compiler CC
                       --include FOLDER] [--seed N] [--only TEXT] [--all] [--keep FOLDER]

Each disagreement is printed below its cause with the command that shows it; without --all, three of each cause.
"""

import argparse
import collections
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import answers
import customers
import programs
from customers import CANNOT_SAY, LEAK, NO_LEAK, NO_VERDICT, PASSED, REFUSED, SILENT

Disagreement = collections.namedtuple("Disagreement", "cause recording what command")

RATES = ["1 B/step", "1 KiB/step", "1 GiB/step"]
LEAK_POLICIES = ['[leak]\n'] + ['[leak]\nmin_slope = "%s"\n' % rate for rate in RATES] + [
    '[leak]\nconfidence = 0.999999\n', '[leak]\nallow_cache_growth = true\n', '[leak]\nallow_cache_growth = false\n',
    '[leak]\nwindow_growth = "0 B"\n', '[leak]\nwindow_growth = "1 TiB"\n']
OPTIONS = [("--steps=3-7,9",), ("--steps=1-3",), ("--warm-up=0",), ("--warm-up=4",), ("--skip-first=1", "--active=6")]
TAKES_WARM_UP = ("report", "page")
NUMBERS = '[device."*"]\npeak_live = "1 TiB"\npeak_reserved = "1 TiB"\nfrag = "100%"\n'
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
TELLS_DOUBTS = ("report", "page", "gate", "sarif", "diff", "summary gate")
WHAT_MOST = 300  # characters
FIGURES_OF_STACKS = ("memory-viz", "speedscope", "pprof")


class Judge:
    """Collects what disagrees about one recording."""

    def __init__(self, asker, name, path):
        self.asker, self.name, self.path = asker, name, path
        self.found = []

    def note(self, cause, what, said):
        what = what if len(what) <= WHAT_MOST else what[:WHAT_MOST] + "..."
        self.found.append(Disagreement(cause, self.name, what, " ".join(map(shlex.quote, said.command))))

    # --- (a) the same leaks and doubts ------------------------------------------------------------

    def same_word(self, customer, leaks, said):
        """False where more is not worth comparing."""
        if said.word == REFUSED:  # with a reason: a recording without memory has no summary
            return False
        if customer in ("speedscope", "pprof") and said.word == SILENT and not has_rate(leaks):
            return False
        if (said.word == LEAK) != (leaks.word == LEAK):
            self.note("%s: %s, leaks: %s" % (customer, said.word, leaks.word), said.names() or said.sentence, said)
        elif customer in TELLS_DOUBTS and leaks.word in (CANNOT_SAY, NO_VERDICT) and said.doubt != leaks.doubt:
            self.note("%s: doubt %s, leaks: doubt %s" % (customer, said.doubt or said.word, leaks.doubt),
                      said.sentence, said)
        elif customer == "python" and said.word == SILENT and leaks.word != NO_LEAK:
            self.note("python: an empty list of what is not judged", "leaks: %s" % leaks.words(), said)
        return said.word == leaks.word == LEAK

    def same_figures(self, customer, leaks, said):
        if set(said.leaks) != set(leaks.leaks):
            self.note("%s names other leaks than leaks" % customer,
                      "%s; leaks: %s" % (said.names(), leaks.names()), said)
            return
        for name, rows in leaks.leaks.items():
            for key in ("rate", "amount"):
                mine = sorted(getattr(row, key) or 0 for row in said.leaks[name])
                right = sorted(getattr(row, key) or 0 for row in rows)
                if any(mine) and mine != right:
                    self.note("%s: another %s than leaks" % (customer, key),
                              "%s: %s, leaks: %s" % (name, mine, right), said)

    def same_stacks(self, customer, leaks, said):
        """Of exports: each leak is in a stack, each stack has a leak, and rates add up."""
        names = [name.replace("operator ", "") for name in leaks.leaks]
        stacks = [stack.replace("operator ", "").split(" < ") for stack in said.leaks]
        missing = [name for name in names if not any(name in stack for stack in stacks)]
        more = [" < ".join(stack) for stack in stacks if not any(name in stack for name in names)]
        if missing and any(row.rate for name in leaks.leaks for row in leaks.leaks[name]):
            self.note("%s lacks a leak that leaks names" % customer, "; ".join(missing), said)
        if more:
            self.note("%s names a leak that leaks does not" % customer, "; ".join(more), said)
        if missing or more or customer == "memory-viz":
            return
        right, mine = by_ledger(leaks), by_ledger(said)
        if any(right[ledger] != mine[ledger] for ledger in right):
            self.note("%s: another rate than leaks" % customer, "%s, leaks: %s" % (dict(mine), dict(right)), said)

    def compare(self, customer, leaks, said, with_figures=True):
        if not self.same_word(customer, leaks, said) or not with_figures:
            return
        if customer in FIGURES_OF_STACKS:
            self.same_stacks(customer, leaks, said)
        else:
            self.same_figures(customer, leaks, said)

    # --- (c) no calm without leaks' own -----------------------------------------------------------

    def no_calm(self, customer, leaks, said):
        if said.word == NO_LEAK and leaks.word != NO_LEAK:
            self.note("%s says No leak, leaks: %s" % (customer, leaks.word), said.sentence, said)

    # --- policies and options ---------------------------------------------------------------------

    def judge_policy(self, leaks, policy, customer, ask):
        said = ask(self.asker, self.path, policy)
        label = "%s with %s" % (customer, policy.split("\n")[1].split(" =")[0] or "[leak] alone")
        slope = re.search(r'min_slope = "(\d+) (\w+)/', policy)
        least = int(slope.group(1)) * UNITS[slope.group(2)] if slope else 0
        rows = [row for named in leaks.leaks.values() for row in named]
        most = 1000 if "0.999999" in policy else 10 ** 9  # parts of a billion
        is_let_pass = bool(rows) and all(row.rate and row.rate < least or (row.chance or 0) > most for row in rows)
        is_window = "window_growth" in policy and said.sentence and "of the recorded time" in said.sentence
        if said.word == NO_LEAK and leaks.word != NO_LEAK:
            self.note("%s says No leak, leaks: %s%s" % (label, leaks.word, " (which it lets pass)" if is_let_pass else ""),
                      said.sentence, said)
        elif leaks.word == LEAK and said.word == CANNOT_SAY and not has_rate(leaks):
            return  # its rate cannot be held against one
        elif leaks.word == LEAK and said.word != LEAK and not is_let_pass:
            self.note("%s: %s, leaks: LEAK" % (label, said.words()), said.sentence, said)
        elif leaks.word != LEAK and said.word == LEAK:
            self.note("%s: LEAK, leaks: %s" % (label, leaks.words()), said.names(), said)
        elif leaks.word in (CANNOT_SAY, NO_VERDICT) and not is_window and said.word in (PASSED, SILENT):
            self.note("%s passes, leaks: %s" % (label, leaks.word), said.sentence, said)

    def judge_option(self, options):
        leaks = customers.ask_leaks(self.asker, self.path, *options)
        if leaks.word == REFUSED:
            return
        for customer, ask in customers.CUSTOMERS:
            is_warm_up = options[0].startswith("--warm-up")
            if customer in TAKES_WARM_UP or not is_warm_up and customer in ("ranks", "summary"):
                said = ask(self.asker, self.path, *options)
                self.compare(customer, leaks, said)
                self.no_calm(customer, leaks, said)

    # --- (b) numbers ------------------------------------------------------------------------------

    def judge_numbers(self):
        asker = self.asker
        ran = asker.run("gate", "--policy", asker.policy(NUMBERS), "--format=json", self.path)
        report_ran, report = asker.answer("report", self.path)
        if not ran.stdout or not report:
            return
        gate = customers.Said("", command=ran.args)
        right = numbers_of(report)
        for row in json.loads(ran.stdout)["cases"]:
            key = re.match(r"(?:\w+:)?(\w+)/([^/]+)/(peak_live|peak_reserved)$", row["key"])
            if not key or row["value"] is None:
                continue
            device = int(key.group(1)) if key.group(1).isdigit() else None
            expected = right.get((key.group(2), device), {}).get(key.group(3))
            if expected is not None and row["value"] != expected:
                self.note("gate: another %s than report" % key.group(3),
                          "%s: %d, report: %d" % (row["key"], row["value"], expected), gate)

    def judge(self):
        leaks = customers.ask_leaks(self.asker, self.path)
        if leaks.word == REFUSED:
            return self
        for customer, ask in customers.CUSTOMERS[1:]:
            said = ask(self.asker, self.path)
            self.compare(customer, leaks, said)
            self.no_calm(customer, leaks, said)
        for policy in LEAK_POLICIES:
            self.judge_policy(leaks, policy, "gate", customers.ask_gate)
        for options in OPTIONS:
            self.judge_option(options)
        self.judge_numbers()
        return self


def has_rate(said):
    return any(row.rate for rows in said.leaks.values() for row in rows)


def by_ledger(said):
    sums = collections.Counter()
    for rows in said.leaks.values():
        for row in rows:
            sums[row.ledger] += row.rate or 0
    return sums


def numbers_of(report):
    """{(pool, device or None): {measure: value}}; of several processes the largest counts. What is unused is compared
    with leaktide frag, in tests/integration: here two peaks would be of two moments."""
    found = collections.defaultdict(lambda: collections.defaultdict(int))
    for table in report["tables"]:
        for row in table["rows"] if table["name"] in ("peaks", "totals") else []:
            ledger = re.match(r"(\w+)(?: device (\d+))?(?:,.*)?$", row["ledger"] or "")
            if not ledger:
                continue
            numbers = found[ledger.group(1), int(ledger.group(2)) if ledger.group(2) else None]
            if table["name"] == "peaks":
                peak = row["counted_peak_bytes"] or row["peak_bytes"]
                numbers["peak_live"] = max(numbers["peak_live"], peak)
            elif row["reserved_peak_bytes"]:
                numbers["peak_reserved"] = max(numbers["peak_reserved"], row["reserved_peak_bytes"])
    return found


# --- recordings -----------------------------------------------------------------------------------

def recordings_of(options, folder):
    found = answers.all_recordings(options, folder)
    made = os.path.join(folder, "programs")
    os.mkdir(made)
    for seed in range(options.seed, options.seed + options.programs):
        found.append(("program %d" % seed, programs.write(seed, made)))
    if options.recorded:
        binary = os.path.join(made, "random_program")
        subprocess.run([options.compiler, "-O1", "-g", "-fno-optimize-sibling-calls", "-I", options.include,
                        os.path.join(customers.HERE, "random_program.c"), "-o", binary], check=True)
        for seed in range(options.seed, options.seed + options.recorded):
            found.append(("run of program %d" % seed,
                          programs.record(seed, made, os.path.abspath(options.leaktide), binary)))
    return [row for row in found if options.only in row[0]]


def judge_all(options, folder):
    recordings = recordings_of(options, folder)

    def one(numbered):
        number, (name, path) = numbered
        own = os.path.join(folder, "asker-%d" % number)
        os.mkdir(own)
        return Judge(customers.Asker(options.leaktide, own, options.python), name, path).judge().found

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return len(recordings), [row for rows in pool.map(one, enumerate(recordings)) for row in rows]


def print_by_cause(count, found, most):
    causes = collections.defaultdict(list)
    for row in found:
        causes[row.cause].append(row)
    for cause, rows in sorted(causes.items(), key=lambda item: (-len(item[1]), item[0])):
        print("%s: %d times, in %d recordings" % (cause, len(rows), len({row.recording for row in rows})))
        for row in rows[:most]:
            print("    %s: %s\n        %s" % (row.recording, row.what, row.command))
    print("%d recordings, %d disagreements of %d causes" % (count, len(found), len(causes)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("leaktide")
    parser.add_argument("make_traces")
    parser.add_argument("--reference", default="")
    parser.add_argument("--python", default=answers.PYTHON)
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--recorded", type=int, default=0)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--include", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER", help="recordings and policies stay here, for the commands printed")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep)
        count, found = judge_all(options, os.path.abspath(options.keep))
    else:
        with tempfile.TemporaryDirectory() as folder:
            count, found = judge_all(options, folder)
    print_by_cause(count, found, len(found) if options.all else 3)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
