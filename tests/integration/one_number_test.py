# SPDX-License-Identifier: Apache-2.0
"""one_number_test.py LEAKTIDE FIXTURES DATA: a number is the same wherever it is said: in a report, a gate, a baseline, a summary, a
comparison and an export. The recordings are made here, or are fixtures; those of the folder of reference recordings are left out without one.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import report_tables

LEAKTIDE, FIXTURES, REFERENCE = sys.argv[1:4]
MIB = 1 << 20
HEAD = ("Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
        "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),"
        "Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type")
LIMITS = """[require]
trace_complete = false
[device."*"]
peak_live = { max = "1024 TiB"%s }
peak_reserved = { max = "1024 TiB"%s }
frag = { max = "100%%"%s }
"""
GROWTH = LIMITS % ((', rel = "+2%"',) * 3)


def profile(older, blocks, reserved=2048):
    """operator_memory.csv of a pool that has so many MiB of older blocks: blocks are (name, MiB, time, time of release or None)."""
    events = sorted([(born, size, i) for i, (_, size, born, _) in enumerate(blocks)]
                    + [(gone, -size, i) for i, (_, size, _, gone) in enumerate(blocks) if gone])
    totals, held = {}, older
    for time, change, i in events:
        held += change
        totals[(i, change > 0)] = held
    rows = []
    for i, (name, size, born, gone) in enumerate(blocks):
        free = totals.get((i, False), "")
        rows.append(",".join(str(cell) for cell in (
            name, size * 1024, "%.3f" % (1783000000000000 + born), "%.3f" % (1783000000000000 + gone) if gone else "", "", "", "",
            totals[(i, True)], reserved, totals[(i, True)], free, reserved if gone else "", free, 2, "NPU:0")))
    return "\n".join([HEAD, *rows, ""])


BLOCKS = [("aten::mm", 300, 10, None), ("aten::add", 100, 20, 50), ("aten::sum", 1, 30, None), ("aten::div", 2, 40, 60)]


class Test(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run_command(self, *words, status=(0, 1, 4)):
        done = subprocess.run([LEAKTIDE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                              cwd=self.folder, check=False)
        self.assertIn(done.returncode, status, (words, done.stdout, done.stderr))
        return done.stdout

    def ask(self, question, *inputs):
        return report_tables.load(self.run_command(question, "--format=json", *inputs, status=(0, 1, 3, 4)))

    def gate(self, policy, *words, status=(0,)):
        self.write("leaktide.toml", policy)
        return self.run_command("gate", *words, status=status)

    def numbers(self, *inputs):
        """Of a gate: value by key."""
        self.write("leaktide.toml", LIMITS % ("", "", ""))
        cases = json.loads(self.run_command("gate", "--format=json", *inputs, status=(0, 3, 4)))["cases"]
        return {case["key"]: case["value"] for case in cases if case.get("value") is not None and "/" in case["key"]}

    def verdict(self, question, *inputs):
        return self.ask(question, *inputs)["verdict"]


class Made(Test):
    """A pool that the profile found with 700 MiB."""
    def setUp(self):
        super().setUp()
        self.small = self.write("small.csv", profile(700, BLOCKS))
        self.large = self.write("large.csv", profile(1212, BLOCKS))

    def test_a_gate_judges_what_the_pool_counts(self):
        peaks = self.ask("peak", self.small)["tables"]["peaks"]
        self.assertEqual([row["counted_peak_bytes"] for row in peaks], [1103 * MIB])
        numbers = self.numbers(self.small)
        self.assertEqual(numbers["npu:0/pta/peak_live"], 1103 * MIB)
        self.assertIn("1.08 GiB, 79.0 MiB over the limit", self.gate('[device."npu:0"]\npeak_live = "1 GiB"\n', self.small, status=(1,)))

    def test_unused_is_what_frag_says(self):
        row = self.ask("frag", self.small)["tables"]["fragmentation"][0]
        self.assertEqual(row["unused_bytes"], (2048 - 1103) * MIB)
        self.assertEqual(self.numbers(self.small)["npu:0/pta/frag"], round(10000 * row["unused_bytes"] / row["reserved_bytes"]))

    def test_summaries_have_the_same_numbers(self):
        self.run_command("summarize", "-o", "s", self.small)
        self.assertEqual(self.numbers("s"), self.numbers(self.small))

    def test_older_memory_that_grew_is_the_cause(self):
        self.write("leaktide.toml", GROWTH)
        self.run_command("bless", "-b", "b", self.small)
        for recording in (self.large, self.summary(self.large)):
            said = self.gate(GROWTH, "-b", "b", recording, status=(1,))
            self.assertIn("peak of pta on npu:0: +512 MiB (+46.42 %, allowed +2.00 %), now 1.58 GiB, baseline 1.08 GiB: "
                          "+512 MiB older than the recording (was 700 MiB)", said)

    def summary(self, recording):
        self.run_command("summarize", "-o", "s", recording)
        return "s"

    def test_what_is_no_line_of_the_baseline_need_not_be_new(self):
        """aten::sum had 1 MiB, less than 1 % of the peak, and has 65 now."""
        self.write("leaktide.toml", GROWTH)
        self.run_command("bless", "-b", "b", self.small)
        grown = [("aten::sum", 65, 30, None) if name == "aten::sum" else (name, *rest) for name, *rest in map(list, BLOCKS)]
        recording = self.write("grown.csv", profile(700, [tuple(block) for block in grown]))
        said = self.gate(GROWTH, "-b", "b", recording, status=(1,))
        self.assertIn("+62.0 MiB at operator aten::sum (was at most 3.00 MiB)", said)
        self.assertNotIn("(new)", said)

    def test_lines_that_make_little_of_the_growth_are_no_causes(self):
        self.write("leaktide.toml", GROWTH)
        self.run_command("bless", "-b", "b", self.small)
        more = self.write("more.csv", profile(700, BLOCKS, reserved=2560))
        said = self.gate(GROWTH, "-b", "b", more, status=(1,))
        self.assertIn("reserved peak of pta on npu:0: +512 MiB (+25.00 %, allowed +2.00 %), now 2.50 GiB, baseline 2.00 GiB: "
                      "no line that is known makes up half of it", said)

    def test_parts_of_the_peak_add_up_to_what_the_pool_counts(self):
        """700 of 1103 MiB are no block's: a share is of the whole, and exports have it as a stack."""
        tables = self.ask("breakdown", self.small)["tables"]
        self.assertEqual(sum(row["held_bytes"] for row in tables["categories"]), 1103 * MIB)
        tables = self.ask("peak", self.small)["tables"]
        for name in ("held_at_peak", "peak_by_operator", "held_throughout_peak"):
            row = tables[(name, "pta device 0")][0]
            self.assertEqual((row["held_bytes"], row["share_percent"]), (300 * MIB, 27), name)
        row = tables[("lowering_peak", "pta device 0")][0]
        self.assertEqual((row["lowers_bytes"], row["peak_without_bytes"]), (300 * MIB, 803 * MIB))
        self.run_command("export", "--to=folded", "-o", "f", self.small)
        with open(self.path("f"), encoding="utf-8") as file:
            folded = [line.rsplit(" ", 1) for line in file.read().splitlines()]
        self.assertEqual(sum(int(size) for _, size in folded), 1103 * MIB)
        self.assertIn("pta device 0;(older than the recording)", [stack for stack, _ in folded])

    def test_tables_of_a_comparison_have_what_its_sentences_say(self):
        answer = self.ask("diff", self.small, self.large)
        row = answer["tables"]["ledger_changes"][0]
        findings = {finding["kind"]: finding for finding in answer["findings"]}
        self.assertEqual(row["counted_peak_change_bytes"], findings["peak_growth"]["change_bytes"])
        self.assertEqual(row["counted_end_change_bytes"], findings["kept_growth"]["change_bytes"])
        self.assertEqual(row["counted_end_change_bytes"], 512 * MIB)

    def test_a_baseline_of_before_is_read_and_not_compared_where_it_counted_less(self):
        old = self.write("b", "# leaktide baseline 1: bytes\n"
                              "npu:0/pta/frag = 8032  # n=1 min=8032 max=8032\n"
                              "npu:0/pta/peak_live = 422576128  # n=1 min=422576128 max=422576128\n"
                              "npu:0/pta/peak_reserved = 2147483648  # n=1 min=2147483648 max=2147483648\n")
        said = self.gate(GROWTH, "-b", old, self.small, status=(4,))
        self.assertIn("was written when only what was seen being allocated counted: renew it with leaktide bless", said)
        self.assertIn("passed        reserved peak of pta on npu:0: +0 B", said)


class Everywhere(Test):
    """Of every recording at hand: what a gate judges is what the report says."""
    def recordings(self):
        for root in filter(None, (FIXTURES, REFERENCE)):
            for place, folders, files in sorted(os.walk(root)):
                if place.endswith("_ascend_pt"):
                    folders.clear()
                    yield place
                    continue
                yield from (os.path.join(place, name) for name in sorted(files)
                            if name.endswith((".csv", ".db", ".pickle", ".pkl", ".json", ".json.gz", ".txt", ".heap")))

    def test_numbers_of_a_gate_are_those_of_the_report(self):
        compared = 0
        for path in self.recordings():
            done = subprocess.run([LEAKTIDE, "peak", "--format=json", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  universal_newlines=True, check=False)
            peaks = report_tables.load(done.stdout)["tables"].get("peaks", []) if done.stdout else []
            ledgers = [row["ledger"] for row in peaks]
            if not peaks or len(set(ledgers)) < len(ledgers) or any("rank" in ledger or "process" in ledger for ledger in ledgers):
                continue
            numbers = self.numbers(path)
            frag = {row["ledger"]: row for row in self.ask("frag", path)["tables"].get("fragmentation", ())
                    if row["moment"] == "most reserved"}
            for row in peaks:
                pool, _, device = row["ledger"].partition(" device ")
                of_pool = [key[:-len("/peak_live")] for key in numbers
                           if key.endswith("/%s/peak_live" % pool) and (not device or ":%s/" % device in key)]
                with self.subTest(path=path, ledger=row["ledger"]):
                    if len(of_pool) != 1:
                        continue
                    self.assertEqual(numbers[of_pool[0] + "/peak_live"], row["counted_peak_bytes"] or row["peak_bytes"])
                    share = numbers.get(of_pool[0] + "/frag")
                    if row["ledger"] in frag and share is not None:
                        said = frag[row["ledger"]]
                        self.assertEqual(share, int(10000 * said["unused_bytes"] / said["reserved_bytes"] + 0.5))
                    compared += 1
        self.assertGreater(compared, 5)


if __name__ == "__main__":
    if not REFERENCE:
        print("no reference data: its recordings are left out", file=sys.stderr)
    unittest.main(argv=sys.argv[:1])
