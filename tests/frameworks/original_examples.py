"""The original's own examples, on real torch_npu: kinds of rows, owners, accesses, flags, and what is printed."""
import csv
import glob
import os
import re
import tempfile
from collections import Counter

from original_tools import Table, environment_for, run, run_python, tools, without_addresses

EXAMPLES = ("leaks/python/test_leaks.py", "decompose/test_decompose.py", "inefficient/test_inefficient.py", "example_api.py",
            "example_cmd.py", "watch/test_watch.py")
ARGUMENTS = {"example_cmd.py": ["--events=alloc,free,access,launch", "--level=kernel,op", "--call-stack=c,python",
                                "--analysis=leaks,inefficient,decompose", "--output-path=output", "--format=csv"]}
LISTED = {"operator ": "names of operators, as often as there", "flag ": "blocks with the same flags, and no others"}


def run_example(tool, options, example, environment, folder):
    path = os.path.join(options.original, "example", example)
    if example not in ARGUMENTS:
        return run_python(tool, path, folder, environment)
    return run([tool.command, *ARGUMENTS[example], "--", options.python, "-S", path], folder, environment)


def rows_of(folder):
    rows = []
    for path in glob.glob(os.path.join(folder, "*", "*", "device_0", "dump", "*.csv")):
        with open(path, newline="") as file:
            rows += list(csv.DictReader(file))
    return rows


def add_row(facts, row):
    if row["Event Type"] in ("ACL_INIT", "ACL_FINI"):
        return
    facts[row["Event"] + " " + row["Event Type"]] += 1
    owner = re.search(r"owner:([^,}]*)", row["Attr"])
    parts = owner.group(1).split("@") if owner else []
    for word in ("gradient", "weight", "optimizer_state", "ops", "train"):
        facts["owner " + word] += word in parts or (word == "ops" and "model" in parts)  # of 26.0: that in place of ops
    for word in re.findall("early_allocation|late_deallocation|temporary_idleness", row["Attr"]):
        facts["inefficient " + word] += 1
        facts["flag of block %s %s" % (re.search(r"allocation_id:(\d+)", row["Attr"]).group(1), word)] += 1
    if row["Event Type"] == "ATEN_START" and "_ops.profiler." not in row["Name"]:  # ours: what these name
        facts["operator " + row["Name"]] += 1


def facts_of(folder, said):
    """Counts by what they are of."""
    facts = Counter()
    for row in rows_of(folder):
        add_row(facts, row)
    facts["files of watched tensors"] = len(glob.glob(os.path.join(folder, "**", "*.bin"), recursive=True))
    facts.update("said: " + without_addresses(line) for line in said.splitlines()
                 if line.startswith(("Direct", "======", "MinGap", "MaxGap", "\tMin")))
    return +facts


def compare(options, example, folders, cann):
    facts = []
    for tool in tools(options.original, options.leaktide):
        with tempfile.TemporaryDirectory() as folder:
            done = run_example(tool, options, example, environment_for(tool, cann, folders), folder)
            if done.returncode:
                raise RuntimeError(done.stderr.strip()[-400:])
            facts.append(facts_of(folder, done.stdout))
    theirs, ours = facts
    table = Table(example.split("/")[0])
    for what in sorted(what for what in theirs if not what.startswith(tuple(LISTED))):
        table.row(what, theirs[what], ours[what])
    for kind, what in LISTED.items():
        there = [name for name in theirs if name.startswith(kind)]
        wrong = sum(ours[name] < theirs[name] for name in there)
        more = sum(name.startswith(kind) and name not in theirs for name in ours) if kind == "flag " else 0
        if there or more:
            table.row(what, len(there), len(there) - wrong - more)
    return table.is_right


def tell(options, folders, cann):
    return all([compare(options, example, folders, cann) for example in EXAMPLES])
