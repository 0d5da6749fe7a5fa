"""Programs of ours under both tools: training of a GPT, a marked loop that leaks, and devices that are full."""
import csv
import glob
import os
import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field

from original_examples import add_row
from original_tools import Table, environment_for, run, tools, without_addresses

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = os.path.join(HERE, "..", "..", "tracer", "python")  # oom_story.py marks its steps with it
OPTIONS = ["--events=alloc,free,launch", "--analysis=leaks,decompose", "--output-path=out"]
SAID = ("Direct", "======", "MinGap", "MaxGap", "\tMin")


@dataclass
class Program:
    file: str
    environment: dict = field(default_factory=dict)


def full(story, mib):
    return Program("oom_story.py", {"STORY": story, "CAPACITY": str(mib << 20), "FAKE_DEVICE_MEMORY": str(mib << 20)})


PROGRAMS = {"GPT, AdamW": Program("gpt.py", {"STEPS": "6"}), "GPT, requests": Program("gpt.py", {"VARIANT": "generate", "STEPS": "6"}),
            "marked loop, leaking": Program("marked_loop.py"), "full, one large request": full("large", 600),
            "full, two devices": full("two_devices", 140)}


def facts_of(folder, said):
    """Counts by what they are of; of snapshots, what they say of the pool."""
    facts = Counter()
    for path in glob.glob(os.path.join(folder, "out", "*", "device_*", "dump", "*.csv")):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                add_row(facts, row)
                if row["Event"] == "SNAPSHOT":
                    facts["snapshot %s %s" % (row["Name"], pool_words(row["Attr"]))] += 1
    facts.update("said: " + without_addresses(line) for line in said.splitlines() if line.startswith(SAID))
    return +facts


def pool_words(attributes):
    """What depends on the program alone: the driver's own account is of the moment."""
    return " ".join("%s:%s" % pair for pair in re.findall(r"(\w*(?:reserved|allocated)\w*):(\d+)", attributes))


def compare(options, name, folders, cann):
    facts = []
    for tool in tools(options.original, options.leaktide):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**environment_for(tool, cann, [*folders, MODULE]), "DEVICE": "npu",
                           "STATS": os.path.join(folder, "stats.json"), **PROGRAMS[name].environment}
            done = run([tool.command, *OPTIONS, "--", options.python, "-S", os.path.join(HERE, "programs", PROGRAMS[name].file)],
                       folder, environment)
            if done.returncode or not os.path.exists(environment["STATS"]):
                raise RuntimeError((done.stderr or done.stdout).strip()[-400:])
            facts.append(facts_of(folder, done.stdout))
    return tell_facts(name, *facts)


def tell_facts(name, theirs, ours):
    table = Table(name)
    for what in sorted(what for what in theirs if not what.startswith("operator ")):
        table.row(what, theirs[what], ours[what])
    operators = [what for what in theirs if what.startswith("operator ")]
    if operators:
        table.row("names of operators, as often as there", len(operators),
                  sum(ours[what] >= theirs[what] for what in operators))
    for what in sorted(what for what in ours if what not in theirs and not what.startswith("operator ")):
        table.row(what, 0, ours[what])
    return table.is_right


def tell(options, folders, cann):
    return all([compare(options, name, folders, cann) for name in PROGRAMS])
