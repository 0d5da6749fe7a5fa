"""Formats of viewers, read by other readers than ours, against the report.

Run as viewers_test.py LEAKTIDE CLI_MAKE_TRACES REFERENCE_DATA
"""

import collections
import csv
import gzip
import json
import os
import shutil
import subprocess
import sys
import unittest

import exported

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from protobuf_reading import fields, message, packed


class Viewers(exported.Exported):
    def read(self, to, source):
        with open(self.export(to, source, self.out(to)), "rb") as out:
            return out.read()

    def ledgers(self, source, column):
        return {row["ledger"]: row[column] for row in self.report(source)["tables"]["totals"]}

    def whole(self, source, column):
        """As the pool counts it, where it does: a comparison with itself says that."""
        ran = subprocess.run([exported.LEAKTIDE, "diff", "--format=json", source, source], stdout=subprocess.PIPE, check=False)
        rows = next(table["rows"] for table in json.loads(ran.stdout)["tables"] if table["name"] == "ledger_changes")
        name = {"peak_bytes": "peak_bytes", "alive_bytes": "end_bytes"}[column]
        return {row["ledger"]: row[name] if row["counted_" + name] is None else row["counted_" + name] for row in rows}


class Stacks(Viewers):
    def profile(self, source):
        """{sample type: {ledger: sum}} and the stacks of a pprof profile."""
        top = message(gzip.decompress(self.read("pprof", source)))
        strings = [text.decode() for text in top[6]]
        self.assertEqual(strings[0], "")
        types = [tuple(strings[message(t)[n][0]] for n in (1, 2)) for t in top[1]]
        functions = {message(f)[1][0]: strings[message(f)[2][0]] for f in top[5]}
        locations = {message(l)[1][0]: functions[message(message(l)[4][0])[1][0]] for l in top[4]}
        sums = {name: collections.Counter() for name, _ in types}
        for sample in map(message, top[2]):
            stack = [locations[number] for number in packed(sample[1][0])]
            label = message(sample[3][0])
            self.assertEqual(strings[label[1][0]], "ledger")
            self.assertEqual(strings[label[2][0]], stack[-1])
            for (name, _), value in zip(types, packed(sample[2][0])):
                sums[name][stack[-1]] += value
        return types, sums

    def test_pprof_sums_are_those_of_the_report(self):
        for source in self.inputs:
            types, sums = self.profile(source)
            self.assertEqual([unit for _, unit in types],
                             ["count", "bytes", "count", "bytes", "bytes"])
            for name, column in (("live_at_peak_space", "peak_bytes"),
                                 ("live_at_end_space", "alive_bytes"),
                                 ("live_at_end_objects", "alive_count")):
                want = self.ledgers(source, column) if column == "alive_count" else self.whole(source, column)
                self.assertEqual({ledger: sums[name][ledger] for ledger in want}, want, source)

    def test_pprof_growth_is_that_of_the_leaks(self):
        _, sums = self.profile(self.inputs[0])
        findings = self.report(self.inputs[0], "leaks")["findings"]
        self.assertGreater(len(findings), 0)
        self.assertEqual(sum(sums["growth_per_step_space"].values()),
                         sum(row["growth_bytes_per_step"] for row in findings))

    @unittest.skipUnless(shutil.which("go"), "no go")
    def test_pprof_itself_shows_the_sums_and_whole_names(self):
        for source in self.inputs:
            out = self.export("pprof", source, self.out("pprof"))
            for index, column in (("live_at_peak_space", "peak_bytes"),
                                  ("live_at_end_space", "alive_bytes")):
                ran = subprocess.run(["go", "tool", "pprof", "-top", "-unit=B",
                                      "-sample_index=" + index, out], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, check=True)
                lines = ran.stdout.decode().splitlines()
                self.assertEqual(ran.stderr, b"", source)
                self.assertNotIn("<unknown>", ran.stdout.decode())
                total = [line.split("Total samples = ")[1].split("B")[0] for line in lines
                         if "Total samples = " in line]
                want = sum(self.whole(source, column).values())
                self.assertEqual(float((total or ["0"])[0]), want, source)

    def test_folded_lines_add_up_to_the_peaks(self):
        for source in self.inputs:
            sums = collections.Counter()
            for line in self.read("folded", source).decode().splitlines():
                stack, value = line.rsplit(" ", 1)
                self.assertGreaterEqual(stack.count(";"), 1)
                sums[stack.split(";")[0]] += int(value)
            want = {name: peak for name, peak in self.whole(source, "peak_bytes").items() if peak}
            self.assertEqual(sums, want, source)

    def test_speedscope_profiles_are_whole(self):
        for source in self.inputs:
            made = json.loads(self.read("speedscope", source))
            frames = len(made["shared"]["frames"])
            self.assertEqual([p["name"] for p in made["profiles"]],
                             ["live at peak", "live at end", "growth per step"])
            for profile, column in zip(made["profiles"], ("peak_bytes", "alive_bytes")):
                self.assertEqual(len(profile["samples"]), len(profile["weights"]))
                self.assertEqual(sum(profile["weights"]), profile["endValue"])
                self.assertEqual(profile["endValue"], sum(self.whole(source, column).values()))
                self.assertTrue(all(0 <= i < frames for s in profile["samples"] for i in s))


class Timelines(Viewers):
    def check_counters(self, source, highest, last):
        for ledger, peak in self.ledgers(source, "peak_bytes").items():
            if peak:
                self.assertEqual(highest[ledger], peak, source)
        for ledger, alive in self.ledgers(source, "alive_bytes").items():
            self.assertEqual(last.get(ledger, 0), alive, source)

    def test_parts_of_accounts_are_counters(self):
        source = os.path.join(self.folder, "accounts")
        made = json.loads(self.read("chrome", source))
        counted = collections.defaultdict(list)
        for event in made["traceEvents"]:
            if event["ph"] == "C" and event["name"].startswith("resident: "):
                counted[event["name"]].append((event["ts"], event["args"]["bytes"]))
        self.assertEqual(sorted(counted), ["resident: blocks of malloc", "resident: kept free by malloc",
                                           "resident: shared memory"])
        self.assertEqual([size >> 20 for _, size in counted["resident: shared memory"]],
                         list(range(10, 170, 10)))
        self.assertEqual(sorted(counted["resident: shared memory"]), counted["resident: shared memory"])
        self.assertIn(b"resident: shared memory", self.read("perfetto", source))

    def test_chrome_counters_and_slices(self):
        for source in self.inputs:
            made = json.loads(self.read("chrome", source))
            highest, last, depth = collections.Counter(), {}, collections.Counter()
            for event in made["traceEvents"]:
                if event["ph"] == "C":
                    highest[event["name"]] = max(highest[event["name"]], event["args"]["bytes"])
                    last[event["name"]] = event["args"]["bytes"]
                elif event["ph"] in "BE":
                    depth[event["pid"], event["tid"]] += 1 if event["ph"] == "B" else -1
                    self.assertGreaterEqual(depth[event["pid"], event["tid"]], 0)
            self.check_counters(source, highest, last)
            self.assertTrue(all(open_count == 0 for open_count in depth.values()))

    def test_perfetto_counters_steps_and_operators(self):
        for source in self.inputs:
            names, highest, last = {}, collections.Counter(), {}
            slices, depth = collections.Counter(), collections.Counter()
            for _, data in fields(self.read("perfetto", source)):
                packet = message(data)
                if packet[60]:
                    track = message(packet[60][0])
                    names[track[1][0]] = track[2][0].decode()
                    self.assertTrue(not track[5] or track[5][0] in names)
                    continue
                event = message(packet[11][0])
                self.assertTrue(packet[8])  # a time of 0, too: without one it is dropped
                name = names[event[11][0]]
                if event[9][0] == 4:
                    highest[name] = max(highest[name], event[30][0])
                    last[name] = event[30][0]
                elif event[9][0] in (1, 2):
                    depth[name] += 1 if event[9][0] == 1 else -1
                    slices[name] += event[9][0] == 1
            self.check_counters(source, highest, last)
            self.assertTrue(all(open_count == 0 for open_count in depth.values()))
            steps = self.report(source)["facts"]["step_count"]
            if steps and "steps" in slices:
                self.assertEqual(slices["steps"], steps, source)

    @unittest.skipUnless(shutil.which("protoc"), "no protoc")
    def test_protoc_reads_both(self):
        for to in ("perfetto", "pprof"):
            data = self.read(to, self.inputs[0])
            data = gzip.decompress(data) if to == "pprof" else data
            ran = subprocess.run(["protoc", "--decode_raw"], input=data, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, check=False)
            self.assertEqual((ran.returncode, ran.stderr), (0, b""))
            self.assertIn(b"pta device 0", ran.stdout)


class Others(Viewers):
    def test_csv_has_every_block(self):
        for source in self.inputs:
            rows = list(csv.DictReader(self.read("csv", source).decode().splitlines()))
            sizes, alive = collections.Counter(), collections.Counter()
            for row in rows:
                sizes[row["ledger"]] += int(row["size_bytes"])
                alive[row["ledger"]] += not row["freed_ns"]
            self.assertEqual({name: sizes[name] for name in self.ledgers(source, "peak_bytes")},
                             self.ledgers(source, "allocated_bytes"))
            self.assertEqual({name: alive[name] for name in self.ledgers(source, "peak_bytes")},
                             self.ledgers(source, "alive_count"))


if __name__ == "__main__":
    exported.main()
