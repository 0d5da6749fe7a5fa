# SPDX-License-Identifier: Apache-2.0
"""What an answer rests on: nothing is called fine that was not looked at.

Run as evidence_test.py LEAKTIDE. Each case is a small recording of which an earlier version said
too much; docs/wrong-answers.md lists them.
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import recordings
from recordings import MIB, frame

LEAKTIDE = sys.argv.pop(1)
GIB = 1 << 30
POLICY = """[leak]
min_slope = "0 B/step"
[device."*"]
peak_live = "1 TiB"
"""
STEPS = 12


def job_rows():
    """Rows of msmemscope: in each of twelve steps 1 MiB comes and goes. No leak."""
    start, number = 1_764_753_084_000_000_000, 0
    for step in range(1, STEPS + 1):
        for event, kind, name, size in (
                ("MSTX", "Range_start", "step start", 0), ("MALLOC", "PTA", "N/A", MIB),
                ("FREE", "PTA", "N/A", -MIB), ("MSTX", "Range_end", f"Range end from id {step}", 0)):
            number += 1
            attr = {"addr": "0x12c020000000", "size": size, "total": 4 * MIB, "used": abs(size)}
            yield [number, event, kind, name, start + number * 1000, 100, 101, 0,
                   "0x12c020000000" if size else "N/A", attr if size else "", "", ""]


class Answers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.path("policy.toml"), "w", encoding="utf-8") as file:
            file.write(POLICY)

    def path(self, name):
        return os.path.join(self.folder, name)

    def ask(self, *words):
        run = subprocess.run([LEAKTIDE, *words], capture_output=True, text=True, check=False,
                             timeout=60)
        return run.returncode, run.stdout + run.stderr

    def gate(self, path):
        return self.ask("gate", "--policy", self.path("policy.toml"), path)

    def database(self, name, columns, rows):
        with sqlite3.connect(self.path(name)) as database:
            database.execute("CREATE TABLE memscope_dump (%s)"
                             % ", ".join(f'"{column}"' for column in columns))
            database.executemany("INSERT INTO memscope_dump VALUES (%s)"
                                 % ",".join("?" * len(columns)), rows)
        database.close()
        return self.path(name)


class Incomplete(Answers):
    def broken(self):
        """Nine of ten attributes make no sense."""
        rows = [row[:9] + ["{size?}" if row[9] and row[0] % 10 else
                           json.dumps(row[9]) if row[9] else ""] + row[10:] for row in job_rows()]
        return self.database("broken.db", recordings.MEMSCOPE_COLUMNS, rows)

    def test_a_database_of_which_much_is_unreadable_has_no_verdict(self):
        status, text = self.ask("leaks", self.broken())
        self.assertEqual(status, 3)
        first, second, *_ = text.splitlines()
        self.assertRegex(first, r"^INCOMPLETE: \d+ of 48 rows \(\d+ %\) could not be read\.")
        self.assertEqual(second, "CANNOT SAY whether something leaks: nothing was found to leak in "
                                 "what could be read.")

    def test_no_check_of_it_passes(self):
        status, text = self.gate(self.broken())
        self.assertEqual(status, 3)
        self.assertNotIn("\npassed ", text)
        self.assertIn("cannot judge  peak of pta on npu:0", text)
        self.assertIn("; but not all could be read", text)

    def test_a_column_that_is_computed_may_not_be_huge(self):
        columns = recordings.MEMSCOPE_COLUMNS
        rows = [row[:9] + [json.dumps(row[9]) if row[9] else ""] + row[10:] for row in job_rows()]
        path = self.database("computed.db", columns, rows)
        with sqlite3.connect(path) as database:
            database.execute('ALTER TABLE memscope_dump RENAME COLUMN "%s" TO "old"' % columns[9])
            database.execute('ALTER TABLE memscope_dump ADD COLUMN "%s" AS (hex(zeroblob(10000000)))' % columns[9])
        database.close()
        status, text = self.ask("leaks", path)
        self.assertEqual(status, 3, text)
        self.assertIn("string or blob too big", text)

    def test_a_few_lost_rows_leave_the_verdict(self):
        rows = [row[:9] + [json.dumps(row[9]) if row[9] else ""] + row[10:] for row in job_rows()]
        last = rows[-1]
        rows += [[last[0] + i, "MALLOC" if i % 2 else "FREE", "PTA", "N/A", last[4] + i, 100, 101, 0,
                  "0x12c0f0000000", json.dumps({"addr": "0x12c0f0000000", "total": 4 * MIB,
                                                "size": 512 if i % 2 else -512, "used": 512}),
                  "", ""] for i in range(1, 401)]
        rows[-3][9] = "{size?}"
        status, text = self.ask("leaks", self.database("nearly.db", recordings.MEMSCOPE_COLUMNS,
                                                       rows))
        self.assertEqual(status, 3)
        self.assertIn("less than 1 %", text.splitlines()[0])
        self.assertIn("No leak in 10 steps", text.splitlines()[1])

    def trace_without_addresses(self):
        events = []
        for step in range(STEPS):
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}",
                           "pid": 7, "tid": 8, "ts": 1000 * step, "dur": 900})
            for at, change in (10, MIB), (20, -MIB):
                events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
                               "pid": 7, "tid": 8, "ts": 1000 * step + at,
                               "args": {"Device Type": 1, "Device Id": 0, "Bytes": change}})
        with open(self.path("trace.json"), "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": events}, file)
        return self.path("trace.json")

    def test_totals_without_addresses_are_no_blocks(self):
        status, text = self.ask("report", self.trace_without_addresses())
        self.assertEqual(status, 3)
        self.assertIn("CANNOT SAY whether something leaks: No block is in this recording, only "
                      "counters; the highest: 1.00 MiB", text)
        self.assertNotIn("No leak", text)

    def test_totals_without_addresses_pass_no_gate(self):
        status, text = self.gate(self.trace_without_addresses())
        self.assertEqual(status, 3)
        self.assertNotIn("\npassed ", text)


class Gates(Answers):
    def few_steps(self):
        """In five steps of six a block that stays: chance makes the rise of them in 4 of 100 times."""
        number = 0
        for step in range(1, 7):
            address = "0x12c%09x" % (step * MIB)
            for event, kind, name, size in (
                    ("MSTX", "Range_start", "step start", 0), ("MALLOC", "PTA", "N/A", 65536),
                    ("MSTX", "Range_end", f"Range end from id {step}", 0)):
                if size and step == 6:
                    continue
                number += 1
                attr = {"addr": address, "size": size, "total": 4 * MIB, "used": size}
                yield [number, event, kind, name, 1_764_753_084_000_000_000 + number * 1000, 100,
                       101, 0, address if size else "N/A", json.dumps(attr) if size else "", "", ""]

    def test_what_leaks_calls_a_leak_passes_no_gate(self):
        path = self.database("few.db", recordings.MEMSCOPE_COLUMNS, self.few_steps())
        status, text = self.ask("leaks", path)
        self.assertEqual(status, 1, text)
        self.assertIn("chance of a false alarm: 0.04", text)
        self.assertEqual(self.gate(path)[0], 1)
        with open(self.path("policy.toml"), "w", encoding="utf-8") as file:
            file.write("[leak]\nconfidence = 0.99\n")
        status, text = self.gate(path)
        self.assertEqual(status, 0, text)
        self.assertIn("1 leak, within the limits of [leak]", text)


class Layouts(Answers):
    def test_names_of_columns_and_blanks_do_not_matter(self):
        columns = ["id", "event", "eventType", "name", "timestamp", "processId", "threadId",
                   "deviceId", "ptr", "attr"]
        rows = [row[:9] + [json.dumps(row[9], indent=1) if row[9] else ""] for row in job_rows()]
        path = self.database("camel.db", columns, rows)
        status, text = self.ask("leaks", path)
        self.assertEqual(status, 0, text)
        self.assertTrue(text.startswith("No leak in 10 steps: nothing is alive at a step's end."), text)
        self.assertEqual(self.gate(path)[0], 0)


class States(Answers):
    def snapshot(self):
        made = recordings.Snapshot()
        made.segments[0, GIB] = GIB
        made.alloc(0, GIB + 800 * MIB, 10 * MIB, [frame("forward")])
        made.free(0, GIB + 800 * MIB, 10 * MIB)
        made.free(0, GIB, 700 * MIB)
        made.write(self.path("snapshot.pickle"), has_times=False)
        return self.path("snapshot.pickle")

    def test_numbers_of_events_are_no_times(self):
        _, text = self.ask("report", self.snapshot())
        self.assertIn("PEAK: 710 MiB of torch device 0, at event 1", text)
        self.assertRegex(text, r"Recorded +5 events")
        self.assertRegex(text, r"torch device 0 +710 MiB +2 +event 1 ")
        self.assertNotRegex(text, r"\d (ns|us|ms|s)\b")
        self.assertIn("tells no times: events are numbered instead", text)

    def test_what_older_blocks_hold_is_not_released(self):
        made = recordings.Snapshot()
        made.segment(0, GIB, GIB)
        made.traces[0].clear()
        made.alloc(0, GIB, 700 * MIB, [frame("weights")])
        made.alloc(0, GIB + 800 * MIB, 10 * MIB, [frame("forward")])
        made.free(0, GIB + 800 * MIB, 10 * MIB)
        made.write(self.path("snapshot.pickle"))
        with open(self.path("snapshot.pickle"), "rb") as file:
            snapshot = recordings.pickle.load(file)
        del snapshot["device_traces"][0][0] # the history begins after the weights
        with open(self.path("snapshot.pickle"), "wb") as file:
            recordings.pickle.dump(snapshot, file, protocol=4)
        _, text = self.ask("leaks", self.path("snapshot.pickle"))
        self.assertNotIn("Everything was released", text)
        self.assertIn("What was made in the recording was released.", text)
        self.assertIn("Not in this list: 700 MiB in 1 block older than the recording.", text)


class Older(Answers):
    HEAD = ("Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Duration(us)",
            "Allocation Total Allocated(MB)", "Allocation Total Reserved(MB)",
            "Release Total Allocated(MB)", "Release Total Reserved(MB)", "Device Type")

    def profile(self, name, kept_kib, older_kib):
        """kept_kib stay, then older blocks go. 100 MiB were in use before."""
        time, total = 1_736_405_443_871.0, 100 + kept_kib / 1024
        rows = [["a", kept_kib, time, "", "", total, 256, "", "", "NPU:0"]]
        for index, size in enumerate(older_kib):
            total -= size / 1024
            rows.append(["b", size, "", time + 10 + index, "", "", "", total, 256, "NPU:0"])
        os.mkdir(self.path(name))
        recordings.write_csv(os.path.join(self.path(name), "operator_memory.csv"), self.HEAD, rows)
        return self.path(name)

    def test_what_older_blocks_gave_back_is_not_kept(self):
        base, now = self.profile("base", 100, []), self.profile("now", 791, [500, 501])
        _, text = self.ask("diff", base, now)
        kept = next(line for line in text.splitlines() if line.startswith("KEPT:"))
        self.assertTrue(kept.startswith("KEPT: -310 KiB of pta device 0 at the end as the pool "
                                        "counts (99.8 MiB, was 100 MiB)"), kept)
        self.assertTrue(kept.endswith("; older blocks released: 1001 KiB (was 0 B)."), kept)

    def test_addresses_without_a_module_are_one_site(self):
        for name, base in ("base", 0x7f0000001000), ("now", 0x7f5500002000):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("v 10400 3\nX train\ns 3 jit\n")
                for index in range(1, 4):
                    file.write("i %x 1\nt %d 0\n" % (base + index * 4096, index))
                file.write("a 100000 1\na 40000 2\na 8000 3\nc 1\n+ 0\n+ 1\n+ 2\nc 14\n")
        _, text = self.ask("diff", self.path("base"), self.path("now"))
        self.assertNotIn("0x7f", text)


if __name__ == "__main__":
    unittest.main()
