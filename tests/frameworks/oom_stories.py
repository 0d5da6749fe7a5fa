#!/usr/bin/env python3
"""What leaktide says of a device that is full, against what PyTorch itself says: sixteen stories, each number.

    oom_stories.py [--cache FOLDER] [--only-word WORD] LEAKTIDE EVENT-DUMP

One large request, a leak until the device is full, fragmentation, and two devices; with segments of the allocator's own and with
expandable ones; torch_npu and PyTorch for CUDA, on libraries of the vendors that are made (make_fakes.py). Prints a table of
story, number, what was said and the truth. The status is 1 where something is wrong, 77 where no wheels are there.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import run as frameworks

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = os.path.join(HERE, "..", "..", "tracer", "python")
PAGE = 20 << 20  # of an expandable segment
ABSURD = 16
CAPACITY_MIB = {"large": 600, "leak": 140, "fragmentation": 130, "two_devices": 140}
POOLS = {"npu": "pta", "cuda": "torch"}


def shown(size):
    """As reports write it."""
    for shift, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift:
            value = size / (1 << shift)
            return "%.*f %s" % (0 if value >= 99.95 else 1 if value >= 9.995 else 2, value, unit)
    return "%d B" % size


class Story:
    def __init__(self, name, is_expandable, wheels):
        self.name, self.is_expandable, self.wheels = name, is_expandable, wheels
        self.capacity = CAPACITY_MIB[name] << 20
        self.title = "%s, %s, %s" % (name.replace("_", " "), "expandable" if is_expandable else "native", wheels)
        self.wrong = 0

    def environment(self):
        variable = "PYTORCH_%s_ALLOC_CONF" % self.wheels.upper()
        return {"STORY": self.name, "CAPACITY": str(self.capacity), "FAKE_DEVICE_MEMORY": str(self.capacity),
                **({variable: "expandable_segments:True"} if self.is_expandable else {})}

    def check(self, number, said, truth):
        is_right = said == truth
        self.wrong += not is_right
        print("%-34s %-34s %-26s %-26s %s" % (self.title, number, said, truth, "ok" if is_right else "WRONG"), flush=True)

    # --- what was said ---

    def ask(self, options, command):
        done = subprocess.run([options.leaktide, command, "--format=json", self.run], capture_output=True, text=True)
        answer = json.loads(done.stdout)
        answer["rows"] = {}
        for table in answer["tables"]:
            answer["rows"].setdefault(table["name"], []).extend(table["rows"])
        return answer

    def sentence(self, answer, start):
        return next((line for line in answer["verdict"] if line.startswith(start)), "")

    def words(self, number, text, pattern, *truths):
        found = re.search(pattern, text)
        said = found.groups() if found else ["(%s)" % (text[:60] or "nothing")] * len(truths)
        for i, (one, truth) in enumerate(zip(said, truths)):
            self.check(number if len(truths) == 1 else "%s %d" % (number, i + 1), one, truth)

    # --- one after the other ---

    def tell(self, options, folders, fakes):
        with tempfile.TemporaryDirectory() as scratch:
            story = frameworks.Story(self.wheels, "oom_story.py", self.wheels, environment=self.environment())
            self.run, self.said = frameworks.record(options, story, [MODULE, *folders], fakes, scratch)
            with open(os.path.join(scratch, "stats.json")) as file:
                self.truth = json.load(file)
            self.pool = "%s device %d" % (POOLS[self.wheels], self.truth["device"])
            oom = self.ask(options, "oom")
            self.check_request(oom)
            self.check_cause(oom)
            self.check_holders(oom)
            self.check_pools(oom)
            self.check_fragments(self.ask(options, "frag"))
            self.check_others(options)
        return not self.wrong

    def has_parts(self):
        """Whether the driver was asked for parts and had some."""
        return self.is_expandable and self.truth["left"] >= PAGE

    def room(self):
        """In whole pages: what the device had left."""
        return self.truth["left"] // PAGE * PAGE if self.has_parts() else 0

    def unused(self):
        return self.truth["reserved"] - self.truth["allocated"]

    def check_request(self, oom):
        truth, text = self.truth, self.sentence(oom, "OUT OF MEMORY: ")
        self.words("refused by", text, r": (.*?) refused ", self.pool)
        self.words("refused", text, r" refused (.*?) to ", shown(truth["asked"]))
        self.words("asked by", text, r" to (\w+) \(", truth["asker"])
        self.words("handed out, held", text, r"handed out (.*?) of the (.*?) that it held", shown(truth["allocated"]),
                   shown(truth["reserved"]))
        if self.unused() >= truth["asked"]:
            self.words("unused, largest piece", text, r"(Fragmentation: |)([0-9.]+ \w+) were unused, but in no piece above (.*?)\.$",
                       "Fragmentation: " if self.name == "fragmentation" else "", shown(self.unused()),
                       shown(max(truth["largest_hole"], truth["largest_free_segment"])))
        elif self.has_parts():
            self.words("unused, left", text, r"held only (.*?) unused, and the device itself had about (.*?) left\.$",
                       shown(self.unused()), shown(self.room()))
        else:
            self.words("unused", text, r"held only ([0-9.]+ \w+) unused\.$", shown(self.unused()))

    def check_cause(self, oom):
        truth, text = self.truth, self.sentence(oom, "WHY: ")
        if self.name == "large":
            self.words("cause", text, r"WHY: (.*?) were asked for at once, (\d+) times the most",
                       shown(truth["asked"]), str(truth["asked"] // truth["most_reserved"]))
        elif self.name == "leak":
            self.words("cause", text, r"WHY: (\w+) \(.*?\) grew by (.*?) since the end of step (\d+);", "remember", shown(truth["grown"]),
                       "2")
            self.words("grew", self.sentence(oom, "GREW: "), r"step (\d+) (\w+) \(.*?\) by (.*?)\.$", "2", "remember",
                       shown(truth["grown"]))
        elif self.name == "fragmentation":
            self.words("cause", text, r"WHY: (.*?) were unused, but in no piece above (.*?): (.*?) would have fitted",
                       shown(self.unused()), shown(truth["largest_hole"]), shown(truth["asked"]))
        else:
            most = max(truth["holders"], key=truth["holders"].get)
            self.words("cause", text, r"WHY: (.*?) more than .*; (\w+) \(.*?\) held the most, (.*?)\. TRY",
                       shown(truth["asked"] - self.unused() - self.room()), most, shown(truth["holders"][most]))

    def check_holders(self, oom):
        said = {}
        for row in oom["rows"].get("held_at_failure", []):
            name = row["site"].split(" (")[0] if row["ledger"] == self.pool else row["ledger"]
            said[name] = said.get(name, 0) + row["held_bytes"]
        for name in sorted(set(said) | set(self.truth["holders"])):
            self.check("held by " + name, said.get(name, 0), self.truth["holders"].get(name, 0))
        grown = {row["site"].split(" (")[0]: row["grown_bytes"] for row in oom["rows"].get("grown_at_failure", [])}
        if self.truth["grown"]:
            self.check("grown", grown, {"remember": self.truth["grown"]})
        else:  # since half of the blocks were made, which the books do not know: no more than is there
            self.check("grown", {name: min(size, self.truth["holders"].get(name, 0)) for name, size in grown.items()}, grown)

    def check_pools(self, oom):
        truth = self.truth
        rows = oom["rows"].get("free_at_failure", [])
        self.check("pools of the device", [row["ledger"] for row in rows], [self.pool])
        for row in rows:
            for key, value in (("reserved_bytes", truth["reserved"]), ("allocated_bytes", truth["allocated"]),
                               ("unused_bytes", self.unused()), ("largest_hole_bytes", truth["largest_hole"]),
                               ("free_segment_bytes", truth["free_segments"]),
                               ("largest_free_segment_bytes", truth["largest_free_segment"])):
                self.check(key, row[key], value)

    def check_fragments(self, frag):
        """Every byte that was reserved is somewhere."""
        for row in frag["rows"].get("fragmentation", []):
            self.check("unexplained, %s" % row["moment"], row["unexplained_bytes"], 0)

    def check_others(self, options):
        """What came back is no leak, and not the peak that matters."""
        leaks = self.ask(options, "leaks")
        named = sorted({finding["sentence"].split(" at ")[1].split(" (")[0] for finding in leaks["findings"]
                        if finding["kind"] == "leak" and " at " in finding["sentence"]})
        self.check("leaks", named, ["remember"] if self.name == "leak" else [])
        peaks = self.truth["peak"]
        highest = peaks.index(max(peaks))
        self.words("peak", self.sentence(self.ask(options, "peak"), "PEAK: "), r"PEAK: (.*?) of (\w+ device \d)",
                   shown(peaks[highest]), "%s device %d" % (POOLS[self.wheels], highest))


def tell_all(options):
    outcomes = {True: 0, False: 0, None: 0}
    print("%-34s %-34s %-26s %-26s" % ("story", "number", "said", "truth"))
    with tempfile.TemporaryDirectory() as folder:
        made = {"folder": folder}
        for wheels in POOLS:
            folders = frameworks.packages(options, wheels, "dependencies")
            for name in CAPACITY_MIB:
                for is_expandable in (False, True):
                    story = Story(name, is_expandable, wheels)
                    if options.only_word and options.only_word not in story.title:
                        continue
                    if not folders:
                        outcomes[None] += 1
                        continue
                    try:
                        outcomes[story.tell(options, folders, frameworks.fakes_for(options, wheels, folders, made))] += 1
                    except (RuntimeError, OSError, subprocess.SubprocessError, ValueError) as trouble:
                        print("%-34s FAILED: %s" % (story.title, trouble), flush=True)
                        outcomes[False] += 1
    print("%d right, %d wrong, %d without wheels" % (outcomes[True], outcomes[False], outcomes[None]))
    return outcomes


def main():
    parser = frameworks.parser_of(__doc__)
    parser.add_argument("--only-word", default="")
    outcomes = tell_all(parser.parse_args())
    return 1 if outcomes[False] else 0 if outcomes[True] else 77


if __name__ == "__main__":
    sys.exit(main())
