#!/usr/bin/env python3
"""Are leaks found that nobody here planted?

    run.py [--cache FOLDER] [--only NAME,NAME] [--marked] [--allocator=malloc|python] LEAKTIDE

Programs of pairs.tsv run in the release that leaks and in the one that is mended, with pinned
versions, in an unmarked loop (--marked: in a marked one), with CPython's own allocator or with
malloc in its place. Recordings and packages stay in the cache:
what is there is neither fetched nor recorded again. Prints a line for each and a table; the status
is 1 where recall or precision is below 0.95, 77 where nothing could be run.
"""
import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_SECONDS = 600
LEAST = 0.95


def pairs(only):
    with open(os.path.join(HERE, "pairs.tsv"), encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if not only or row["program"] in only:
                yield row


def variants(row):
    """Name, requirements, whether it leaks."""
    if row["leaky"] == "-":
        return [("clean", "", False)]
    return [("leaky", row["leaky"], True), ("fixed", row["fixed"], False)]


def packages(cache, python, version, requirements):
    """The folders that hold them; None where they cannot be had."""
    folders = []
    for name in requirements.split():
        folder = os.path.join(cache, "packages", version, name)
        if not os.path.isdir(folder):
            shutil.rmtree(folder + ".new", ignore_errors=True)
            done = subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-compile",
                                   "--target", folder + ".new", name], capture_output=True, text=True)
            if done.returncode:
                return None
            os.rename(folder + ".new", folder)
        folders.append(folder)
    return folders


def record(options, row, variant, folders, python):
    """The folder of the recording; None where the program failed."""
    name = "%s-%s%s%s" % (row["program"], variant, "-marked" if options.marked else "",
                          "-python" if options.allocator == "python" else "")
    folder = os.path.join(options.cache, "recordings", name)
    if os.path.isdir(folder):
        return folder
    shutil.rmtree(folder + ".new", ignore_errors=True)
    marks = os.path.join(HERE, "..", "..", "tracer", "python")
    environment = dict(os.environ, PYTHONHASHSEED="0", OMP_NUM_THREADS="1",
                       PYTHONDONTWRITEBYTECODE="1", REAL_LEAKS_VARIANT=variant,
                       PYTHONPATH=os.pathsep.join([os.path.join(HERE, "programs"), *folders, marks]))
    environment.pop("PYTHONMALLOC", None)
    if options.allocator == "malloc":
        environment["PYTHONMALLOC"] = "malloc"
    if options.marked:
        environment["REAL_LEAKS_MARKS"] = "1"
    program = os.path.join(HERE, "programs", row["program"] + ".py")
    done = subprocess.run([options.leaktide, "run", "--device=cpu", "--call-stack=python,c",
                           "-o", folder + ".new", "--no-report", "--", python, "-S", program],
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


class Score:
    def __init__(self):
        self.found = self.leaks = self.false = self.clean = self.named = self.libraries = 0

    def add(self, row, is_leak, status, report):
        findings = [f for f in report["findings"] if f["kind"] == "leak"]
        if is_leak:
            self.leaks += 1
            self.found += status == 1
        else:
            self.clean += 1
            self.false += status == 1
        if is_leak and status == 1 and row["library"] and findings:
            self.libraries += 1
            self.named += names_library(findings[0], row["library"])

    def is_good(self):
        called = self.found + self.false
        return self.found >= LEAST * self.leaks and (not called or self.found >= LEAST * called)


def run_pair(options, row, score):
    python = shutil.which("python" + row["python"])
    if not python:
        print("%-28s skipped: no python%s" % (row["program"], row["python"]))
        return
    for variant, requirements, is_leak in variants(row):
        folders = packages(options.cache, python, row["python"], requirements)
        if folders is None:
            print("%-28s skipped: cannot have %s" % (row["program"], requirements))
            continue
        folder = record(options, row, variant, folders, python)
        if not folder:
            continue
        status, report = judge(options, folder)
        score.add(row, is_leak, status, report)
        print("%-28s exit %d  %s" % (row["program"] + " " + variant, status,
                                     report["verdict"][0][:150] if report["verdict"] else ""), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", default=os.path.expanduser("~/.cache/leaktide-real-leaks"))
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--marked", action="store_true")
    parser.add_argument("--allocator", choices=["malloc", "python"], default="malloc")
    parser.add_argument("leaktide")
    options = parser.parse_args()
    options.leaktide = os.path.abspath(options.leaktide)
    os.makedirs(os.path.join(options.cache, "recordings"), exist_ok=True)
    score = Score()
    for row in pairs(options.only):
        run_pair(options, row, score)
    if not score.leaks and not score.clean:
        print("skipped: nothing could be run")
        return 77
    print("leaks found %d of %d; called LEAK though mended or clean %d of %d; library named %d of %d"
          % (score.found, score.leaks, score.false, score.clean, score.named, score.libraries))
    return 0 if score.is_good() else 1


if __name__ == "__main__":
    sys.exit(main())
