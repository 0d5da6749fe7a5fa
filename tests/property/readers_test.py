#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Recordings of every source, broken in every way that mutations.py lists: an answer is that of the
whole recording, or says first what is missing, with exit status 3 or 4, and then no gate passes.
The page ends as the report does.

    readers_test.py LEAKTIDE CLI_MAKE_TRACES FIXTURES [--reference FOLDER] [--full] [--only TEXT]
"""

import argparse
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutations
import recordings
from mutations import LESS, SAME, TOLD

POLICY = """[leak]
min_slope = "0 B/step"
[device."*"]
peak_live = "1 TiB"
"""
QUESTIONS = ["leaks", "peak", "frag", "oom", "ops", "steps", "stacks", "blocks", "modules",
             "breakdown", "ranks", "info", "inefficient", "advice"]
FIXTURES = ["ascend/operator_memory_15.csv", "ascend/operator_memory_10.csv",
            "ascend/operator_memory_msprof.csv", "ascend/memory_record.csv",
            "ascend/npu_module_mem.csv", "ascend/profiler.db", "memscope/today.csv",
            "memscope/attr2506.csv", "memscope/first.csv", "memscope/today.db",
            "snapshot/protocol4.pickle", "chrome/object.json", "heaptrack/version3.txt",
            "jemalloc/small.heap"]
REFERENCE = ["ascend/text-202410/level0/rank0_ascend_pt", "ascend/text-202501/level0",
             "ascend/db-202501/level0/rank0_ascend_pt", "ascend/unit/test_rank_0",
             "made-up/mindspore26", "made-up/msprof", "memscope/upstream/example_compare/leaks.csv",
             "memscope/generated/scenario/leaks_decompose_inefficient.db",
             "pytorch/torch2.6_cs336_silmont_small.pickle",
             "pytorch/torch2.4_sketchkv2_state.pickle", "ascend/memsnapshot/snapshot_expandable.pkl"]


class Ran:
    def __init__(self, arguments):
        ran = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.status = ran.returncode
        self.out = ran.stdout.decode("utf-8", "replace")
        self.error = ran.stderr.decode("utf-8", "replace")

    def first(self):
        """The first sentence: of the answer, or why there is none."""
        return (self.out or self.error).split("\n", 1)[0]


class Subject:
    """A recording of which one file is broken."""

    def __init__(self, name, path, file):
        self.name, self.path = name, path
        self.file = file  # relative to path; "" where path is the file


def files_of(path):
    """Those below a folder that a reader reads, by their form."""
    if os.path.isfile(path):
        return [""]
    found = [os.path.relpath(os.path.join(folder, name), path)
             for folder, _, names in os.walk(path) for name in names]
    return sorted(name for name in found if os.path.splitext(name)[1] in (".csv", ".db", ".mtt"))


def without_names(value):
    """An answer without what names its files: a process without a name has its file's."""
    if isinstance(value, dict):
        return {key: without_names(inner) for key, inner in value.items()
                if key not in ("source", "notes", "event_count", "program", "process")}
    if isinstance(value, list):
        return [without_names(inner) for inner in value]
    return value


class Checker:
    def __init__(self, leaktide, folder):
        self.leaktide = leaktide
        self.policy = os.path.join(folder, "policy.toml")
        with open(self.policy, "w") as file:
            file.write(POLICY)

    def ask(self, question, path, *options):
        return Ran([self.leaktide, question, *options, path])

    def gate(self, path):
        return Ran([self.leaktide, "gate", "--policy", self.policy, path])

    def answer(self, path):
        """What a report says, for comparisons; None: there is none."""
        ran = self.ask("report", path, "--format=json")
        if not ran.out:
            return ran, None
        return ran, without_names(json.loads(ran.out))

    def faults(self, whole, path, what, question):
        """What is wrong about the answers on a broken recording; whole: the answer before."""
        ran, answer = self.answer(path)
        if ran.status not in (0, 1, 3, 4):
            return ["report ends with %d: %s" % (ran.status, ran.error[-300:])]
        page = self.ask("report", path, "--format=html", "--output", path + ".html")
        if page.status != ran.status:
            return ["the page ends with %d, not %d: %s" % (page.status, ran.status, page.error[-300:])]
        if answer is not None and answer == whole:
            return []
        if what == SAME:
            return ["another answer: %s" % difference(whole, answer, ran)]
        gate = self.gate(path)
        if what == LESS:
            nothing = answer is None or not has_blocks(answer)
            if gate.status not in (0, 1, 3, 4, 5):
                return ["gate ends with %d: %s" % (gate.status, gate.error[-300:])]
            return ["a gate passes on nothing"] if nothing and gate.status in (0, 5) else []
        return self.untold(path, question, ran, gate, difference(whole, answer, ran))

    def untold(self, path, question, ran, gate, change):
        found = []
        if ran.status == 3 and not is_told(ran, path):
            found.append("exit 3, but said first: %s" % (ran.first()[:200]))
        elif ran.status not in (3, 4) and not is_told(ran, path):
            found.append("report ends with %d, and the answer is another: %s"
                         % (ran.status, change))
        if gate.status in (0, 5):
            found.append("a gate passes: %s" % gate.first())
        asked = self.ask(question, path)
        if not found and not is_told(asked, path):
            found.append("%s ends with %d: %s" % (question, asked.status, asked.first()[:200]))
        return found


def is_told(ran, path):
    """Whether the first sentence says that something is missing, or why there is no answer."""
    said = ran.first()
    if ran.out.startswith("{"):
        said = (json.loads(ran.out)["verdict"] + [""])[0]
    if ran.out:
        return said.startswith(("INCOMPLETE", "No leak verdict", "CANNOT SAY", "No block is in"))
    return ran.error.startswith("leaktide: ") and ran.error.count("\n") == 1


def has_blocks(answer):
    return any(table["name"] == "peaks" and table["rows"] for table in answer["tables"])


def difference(whole, answer, ran):
    """The first place where two answers differ."""
    if answer is None:
        return "no answer: %s" % ran.first()
    if whole["verdict"] != answer["verdict"]:
        return "%s, not %s" % (answer["verdict"][:1], whole["verdict"][:1])
    for one, other in zip(whole["tables"], answer["tables"]):
        if one != other:
            for row, changed in zip(one["rows"], other["rows"]):
                if row != changed:
                    return "%s: %s, not %s" % (one["name"],
                                               {k: v for k, v in changed.items() if row.get(k) != v},
                                               {k: v for k, v in row.items() if changed.get(k) != v})
            return "%s: other rows" % one["name"]
    return "facts or findings"


def job_faults(checker, made):
    """The job is one, whoever recorded it: two devices with the same addresses, and their peaks."""
    for name in recordings.JOBS:
        _, answer = checker.answer(made[name])
        peaks = sorted(row["peak_bytes"] for table in answer["tables"] if table["name"] == "peaks"
                       for row in table["rows"])
        if peaks != recordings.PEAKS:
            yield "%s: the peaks are %s, not %s" % (name, peaks, recordings.PEAKS)
        gate = checker.gate(made[name])
        if gate.status:
            yield "%s: no leak and little memory, but: %s" % (name, gate.first())


def quality_faults(checker, folder):
    """A state is reported as one, impossible numbers are not judged, older blocks count."""
    state = os.path.join(folder, "state.pickle")
    with open(state, "wb") as file:
        pickle.dump({"device_traces": [[]], "segments": [
            {"address": 4096, "total_size": 2 << 20, "device": 0, "stream": 0,
             "blocks": [{"size": 1 << 20, "requested_size": 1 << 20, "state": "active_allocated"},
                        {"size": 1 << 20, "requested_size": 0, "state": "inactive"}]}]}, file)
    ran = checker.ask("leaks", state)
    if ran.status != 4 or "holds 1.00 MiB in 1 block" not in ran.first():
        yield "a state: exit %d: %s" % (ran.status, ran.first())
    refused = os.path.join(folder, "refused.pickle")
    with open(refused, "wb") as file:
        pickle.dump({"segments": [], "device_traces": [[
            {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 1, "frames": []},
            {"size": 1 << 40, "device_free": 0, "stream": 0, "time_us": 2, "frames": []}]]}, file)
    ran = checker.ask("steps", refused)
    if not is_told(ran, refused):
        yield "an event that lost what it was: exit %d: %s" % (ran.status, ran.first())
    rows = os.path.join(folder, "operator_memory.csv")
    with open(rows, "w") as file:
        file.write("Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),"
                   "Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
                   "Release Total Allocated(MB),Release Total Reserved(MB),Device Type\n"
                   "a,210944,1736405443871.720,,,206,18,,,NPU:0\n")
    ran = checker.ask("frag", rows)
    if ran.status not in (0, 4) or not ran.first().startswith("IMPOSSIBLE NUMBERS"):
        yield "reserved less than used: exit %d: %s" % (ran.status, ran.first())
    with open(rows, "w") as file:
        file.write("Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),"
                   "Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
                   "Release Total Allocated(MB),Release Total Reserved(MB),Device Type\n"
                   "a,64,1736405443871.720,,,1.0625,64,,,NPU:0\n"
                   "b,64,,1736405443875.500,,,,1,64,NPU:0\n")
    ran = checker.ask("leaks", rows)
    if ran.status != 4 or "did not grow" not in ran.first():
        yield "a release of an older block: exit %d: %s" % (ran.status, ran.first())


def subjects(made, arguments):
    named = list(made.items())
    named += [(name, os.path.join(arguments.fixtures, name)) for name in FIXTURES]
    if arguments.reference and arguments.full:
        named += [(name, os.path.join(arguments.reference, name)) for name in REFERENCE]
    for name, path in named:
        if arguments.only and arguments.only not in name:
            continue
        if os.path.splitext(path)[1] == "" and os.path.isfile(path):
            shutil.copy(path, path + ".txt")  # of heaptrack
            path += ".txt"
        for file in files_of(path):
            yield Subject("%s %s" % (name, file) if file else name, path, file)


def try_one(checker, subject, whole, mutation, folder, number):
    name, what, data = mutation
    base = os.path.basename(subject.path)
    place = os.path.join(folder, str(number), os.path.basename(os.path.dirname(subject.path)))
    copy = os.path.join(place, base)  # its folder may name a rank
    os.makedirs(place)
    if subject.file:
        shutil.copytree(subject.path, copy)
    target = os.path.join(copy, subject.file) if subject.file else copy
    if os.path.exists(target):
        os.chmod(target, 0o644)
    with open(target, "wb") as file:
        file.write(data)
    question = QUESTIONS[random.Random(subject.name + name).randrange(len(QUESTIONS))]
    try:
        found = checker.faults(whole, copy, what, question)
    finally:
        shutil.rmtree(os.path.dirname(place))
    return ["%s: %s: %s" % (subject.name, name, fault) for fault in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("leaktide")
    parser.add_argument("make_traces")
    parser.add_argument("fixtures")
    parser.add_argument("--reference", default="")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    count = 40 if arguments.full else 3
    faults, tried = [], 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        checker = Checker(arguments.leaktide, folder)
        made = recordings.write_all(folder, arguments.leaktide, arguments.make_traces)
        faults += job_faults(checker, made)
        faults += quality_faults(checker, folder)
        for subject in list(subjects(made, arguments)):
            _, whole = checker.answer(subject.path)
            if whole is None:
                faults.append("%s: no answer on the whole recording" % subject.name)
                continue
            path = os.path.join(subject.path, subject.file) if subject.file else subject.path
            jobs = [pool.submit(try_one, checker, subject, whole, mutation, folder, number)
                    for number, mutation in enumerate(
                        mutations.of_file(path, count, arguments.seed))]
            tried += len(jobs)
            for job in jobs:
                faults += job.result()
    for fault in faults:
        print(fault)
    print("%d mutations, %d faults" % (tried, len(faults)))
    return 1 if faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
