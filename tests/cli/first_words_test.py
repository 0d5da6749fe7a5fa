# SPDX-License-Identifier: Apache-2.0
"""What an answer says first: the number that people compare, who holds the memory, what to do.

Run as first_words_test.py LEAKTIDE. Each case is a recording in which another sentence would come
first, or a wrong one, if a rule were left out.
"""
import os
import subprocess
import sys
import tempfile
import unittest

import recordings
from recordings import MIB, frame

LEAKTIDE = sys.argv.pop(1)
GIB = 1 << 30


class Words(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def ask(self, *words):
        run = subprocess.run([LEAKTIDE, *words], capture_output=True, text=True, check=False,
                             timeout=60)
        self.assertEqual(run.stderr, "")
        return run.stdout

    def lines(self, start, *words):
        return [line for line in self.ask(*words).splitlines() if line.startswith(start)]


class Peaks(Words):
    def profile(self, name="run", rank=0, older=4096):
        recordings.ascend_profile(self.path(name), rank, older, [
            ("aten::mm", 1024, 10, 40), ("aten::cat", 512, 20, 30), ("aten::empty", 1, 50, None)],
            reserved_mib=6144)
        return self.path(name)

    def test_the_pool_s_own_counter_is_the_headline(self):
        peak, = self.lines("PEAK:", "peak", self.profile())
        self.assertIn("PEAK: 5.50 GiB of pta device 0 as the pool counts", peak)
        self.assertIn("up to 1.50 GiB made in the recording, up to 4.00 GiB older", peak)
        self.assertIn("aten::mm with 1.00 GiB (18 %)", peak)

    def test_shares_are_of_the_whole(self):
        text = self.ask("peak", self.profile())
        self.assertRegex(text, r"1\.00 GiB +18 % +1 +operator aten::mm")
        self.assertIn("Beside these, up to 4.00 GiB in blocks older than the recording.", text)

    def test_a_pool_is_named_before_the_ledger_that_it_cuts_up(self):
        recordings.memscope(self.path("dump.csv"), [
            ("HAL", "alloc", 0x10000000, 44 * MIB, 0),
            ("PTA", "alloc", 0x10000000, 20 * MIB, 0),
            ("PTA", "alloc", 0x12000000, 6 * MIB, 0)])
        peak, = self.lines("PEAK:", "peak", self.path("dump.csv"))
        self.assertIn("PEAK: 26.0 MiB of pta device 0", peak)

    def test_what_the_driver_holds_for_itself_still_comes_first(self):
        recordings.memscope(self.path("dump.csv"), [
            ("HAL", "alloc", 0x10000000, 20 * MIB, 0, "CANN@pool"),
            ("HAL", "alloc", 0x40000000, 440 * MIB, 0, "CANN@hccl"),
            ("PTA", "alloc", 0x10000000, 20 * MIB, 0)])
        peak, = self.lines("PEAK:", "peak", self.path("dump.csv"))
        self.assertIn("PEAK: 460 MiB of hal device 0", peak)
        self.assertIn("held by owner CANN@hccl", peak)

    def test_a_pool_that_reserves_much_more_than_it_uses_is_named(self):
        recordings.memscope(self.path("dump.csv"), [
            ("HAL", "alloc", 0x10000000, 440 * MIB, 0),
            ("PTA", "alloc", 0x10000000, 20 * MIB, 0)])
        peak, = self.lines("PEAK:", "peak", self.path("dump.csv"))
        self.assertIn("PEAK: 20.0 MiB of pta device 0", peak)

    def snapshot(self, *blocks):
        """blocks: (MiB, frames, stays); one after the other, so that all are there at the end."""
        made = recordings.Snapshot()
        made.segment(0, GIB, GIB)
        at, passing = GIB, []
        for size, frames, stays in blocks:
            made.alloc(0, at, size * MIB, frames)
            if not stays:
                passing.append((at, size * MIB))
            at += size * MIB
        for address, size in passing:
            made.free(0, address, size)
        made.write(self.path("snapshot.pickle"))
        return self.path("snapshot.pickle")

    def test_the_top_level_imports_and_weights_are_no_levers(self):
        path = self.snapshot(
            (400, [frame("<module>", line=3)], False),
            (200, [frame("tables", "/opt/site-packages/numpy/core.py"), frame("_call_with_frames_removed",
                   "<frozen importlib._bootstrap>")], False),
            (100, [frame("make_weights")], True), (50, [frame("forward")], False))
        lever, = self.lines("LOWER IT:", "peak", path)
        self.assertIn("without forward (user/train.py:1) it would be 700 MiB, 50.0 MiB less", lever)

    def test_without_a_lever_nothing_is_offered(self):
        path = self.snapshot((100, [frame("make_weights")], True))
        self.assertEqual(self.lines("LOWER IT:", "peak", path), [])

    def test_a_lever_that_moves_next_to_nothing_is_not_offered(self):
        path = self.snapshot((480, [frame("<module>", line=3)], False), (20, [frame("forward")], False))
        self.assertEqual(self.lines("LOWER IT:", "peak", path), [])

    def test_what_is_older_than_the_history_is_said_to_be(self):
        made = recordings.Snapshot()
        made.segments[0, GIB] = GIB
        made.alloc(0, GIB + 800 * MIB, 10 * MIB, [frame("forward")])
        made.free(0, GIB, 700 * MIB)
        made.write(self.path("snapshot.pickle"))
        peak, = self.lines("PEAK:", "peak", self.path("snapshot.pickle"))
        self.assertIn("; 700 MiB (99 %) older than the recording, without a site; largest holder "
                      "with one: forward (user/train.py:1) with 10.0 MiB (1 %)", peak)
        self.assertRegex(self.ask("peak", self.path("snapshot.pickle")),
                         r"700 MiB +99 % +1 +\(older than the recording\) +torch device 0")

    def test_growth_is_said_of_memory_not_of_addresses_nor_of_what_is_cut_up(self):
        recordings.memscope(self.path("dump.csv"), [
            ("HAL", "alloc", 0x10000000, 44 * MIB, 0),
            ("PTA", "alloc", 0x10000000, 20 * MIB, 0)])
        growth, = self.lines("No steps", "leaks", self.path("dump.csv"))
        self.assertIn(": pta device 0 grew by 20.0 MiB", growth)


class Advice(Words):
    def test_it_never_rests_on_a_ledger_that_a_pool_cuts_up(self):
        recordings.memscope(self.path("dump.csv"), [
            ("HAL", "alloc", 0x10000000, 44 * MIB, 0, "CANN@optimizer"),
            ("PTA", "alloc", 0x10000000, 20 * MIB, 0, "PTA@optimizer")])
        text = self.ask("advice", self.path("dump.csv"))
        self.assertIn("20.0 MiB of the 20.0 MiB of pta device 0 at its peak are optimizer state", text)
        self.assertNotIn("of hal device 0", text)

    def test_copies_of_logits_are_recognised(self):
        made = recordings.Snapshot()
        made.segment(0, GIB, GIB)
        made.alloc(0, GIB, 300 * MIB, [frame("forward", "/home/user/model.py")])
        made.alloc(0, GIB + 300 * MIB, 200 * MIB, [
            frame("cross_entropy", "/opt/site-packages/torch/nn/functional.py"), frame("loss_of")])
        made.write(self.path("snapshot.pickle"))
        text = self.ask("advice", self.path("snapshot.pickle"))
        self.assertIn("200 MiB of the 500 MiB of torch device 0 at its peak were made by the loss", text)
        self.assertIn("Saves up to 200 MiB (not tried)", text)

    def test_unbalanced_devices_are_named(self):
        made = recordings.Snapshot()
        for device, size in enumerate([700, 300, 200]):
            made.segment(device, GIB, GIB)
            made.alloc(device, GIB, size * MIB, [frame("layer")])
        made.write(self.path("snapshot.pickle"))
        text = self.ask("advice", self.path("snapshot.pickle"))
        self.assertIn("torch: 700 MiB on device 0, 300 MiB on device 1, 200 MiB on device 2", text)
        self.assertIn("Saves up to 300 MiB (not tried)", text)

    def test_balanced_devices_are_not(self):
        made = recordings.Snapshot()
        for device in range(2):
            made.segment(device, GIB, GIB)
            made.alloc(device, GIB, (400 + 50 * device) * MIB, [frame("layer")])
        made.write(self.path("snapshot.pickle"))
        self.assertNotIn("unbalanced", self.ask("advice", self.path("snapshot.pickle")))

    def test_the_report_tells_its_best_saving_and_that_it_was_tried(self):
        made = recordings.Snapshot()
        for turn in range(8): # each request is a little too large for what the ones before left
            at, size = (turn + 1) * GIB, (100 + 2 * turn) * MIB
            made.segment(0, at, size)
            made.alloc(0, at, size, [frame("growing")])
            made.free(0, at, size)
            made.alloc(0, GIB + turn * 12 * MIB, 12 * MIB, [frame("stays")])
        made.write(self.path("snapshot.pickle"))
        spoken = self.lines("WHY:", "report", self.path("snapshot.pickle"))
        self.assertEqual(len(spoken), 1)
        self.assertIn("the same requests would have reserved", spoken[0])
        self.assertIn("(tried on this recording)", spoken[0])


class Categories(Words):
    def test_names_of_functions_say_what_memory_is_for(self):
        made = recordings.Snapshot()
        made.segment(0, GIB, GIB)
        for index, function in enumerate(["forward", "MulBackward0::apply", "helper"]):
            made.alloc(0, GIB + index * 100 * MIB, 100 * MIB, [frame(function)])
        made.alloc(0, GIB + 300 * MIB, 50 * MIB, [frame("step", "/opt/torch/optim/adam.py")])
        made.write(self.path("snapshot.pickle"))
        text = self.ask("breakdown", self.path("snapshot.pickle"))
        for line in (r"activations +100 MiB +28 % +1 +60 %", r"gradients +100 MiB", r"unknown +100 MiB",
                     r"optimizer state +50.0 MiB"):
            self.assertRegex(text, line)


class Refused(Words):
    def test_out_of_memory_comes_first(self):
        made = recordings.Snapshot()
        made.segment(0, GIB, GIB)
        made.alloc(0, GIB, 900 * MIB, [frame("layer")])
        made.out_of_memory(0, 500 * MIB, 10 * MIB, [frame("next_layer")])
        made.write(self.path("snapshot.pickle"))
        text = self.ask("report", self.path("snapshot.pickle"))
        self.assertTrue(text.startswith("OUT OF MEMORY: torch device 0 refused 500 MiB to next_layer"))


class Diffs(Words):
    def test_the_pool_s_counter_is_compared_with_what_is_older(self):
        for name, older in ("base", 1000), ("now", 1500):
            recordings.ascend_profile(self.path(name), 0, older, [("aten::mm", 100, 10, 40),
                                                                  ("aten::mm", 10, 50, None)])
        text = self.ask("diff", self.path("base"), self.path("now"))
        self.assertIn("PEAK: +500 MiB of pta device 0 as the pool counts (1.56 GiB, was 1.07 GiB)", text)
        self.assertIn("KEPT: +500 MiB of pta device 0 at the end as the pool counts", text)

    def test_a_rank_of_one_side_is_named_and_not_compared(self):
        recordings.ascend_profile(self.path("base"), 0, 0, [("aten::mm", 100, 1, None)])
        for rank in range(2):
            recordings.ascend_profile(self.path("now"), rank, 0, [("aten::mm", 110, 1, None)])
        text = self.ask("diff", self.path("base"), self.path("now"))
        self.assertTrue(text.startswith("PEAK: +10.0 MiB of pta device 0, rank 0"), text)
        self.assertIn("rank 1 is only in", text)
        self.assertIn("OPERATORS: 1 grown (aten::mm).", text)
        self.assertNotIn("was 0 B", text)


    def test_a_rank_of_the_base_alone_is_in_no_table(self):
        for rank in range(2):
            recordings.ascend_profile(self.path("base"), rank, 0, [("aten::mm", 110, 1, None)])
        recordings.ascend_profile(self.path("now"), 0, 0, [("aten::mm", 110, 1, None)])
        text = self.ask("diff", self.path("base"), self.path("now"))
        self.assertTrue(text.startswith("NO CHANGE of the peak, or of what is kept, in 1 ledger."), text)
        self.assertNotIn("lined up in their order", text)

    def test_a_pool_speaks_before_the_driver_s_blocks_that_it_cuts_up(self):
        loss = [("PTA", "alloc", 0x10000000, 16 * MIB, 0, "PTA@loss"),
                ("PTA", "free", 0x10000000, 16 * MIB, 0)]
        recordings.memscope(self.path("base.csv"),
                            [("HAL", "alloc", 0x10000000, 20 * MIB, 0, "CANN@loss"), *loss])
        recordings.memscope(self.path("now.csv"), [
            ("HAL", "alloc", 0x10000000, 20 * MIB, 0, "CANN@loss"),
            ("PTA", "alloc", 0x11000000, 4 * MIB, 0, "PTA@copy"),
            ("HAL", "alloc", 0x20000000, 4 * MIB, 0, "CANN@loss"), *loss])
        text = self.ask("diff", self.path("base.csv"), self.path("now.csv"))
        self.assertTrue(text.startswith("PEAK: +4.00 MiB of pta device 0 (20.0 MiB, was 16.0 MiB): "
                                        "+4.00 MiB at PTA@copy (was 0 B)."), text)

    def test_what_is_reserved_more_is_said_where_no_more_is_used(self):
        for name, size in ("base.csv", 20), ("now.csv", 60):
            recordings.memscope(self.path(name), [
                ("HAL", "alloc", 0x10000000, size * MIB, 0),
                ("PTA", "alloc", 0x10000000, 16 * MIB, 0),
                ("PTA", "free", 0x10000000, 16 * MIB, 0)])
        text = self.ask("diff", self.path("base.csv"), self.path("now.csv"))
        self.assertTrue(text.startswith("RESERVED: +40.0 MiB of hal device 0 (60.0 MiB, was 20.0 MiB)"), text)
        self.assertNotIn("NO CHANGE", text)

    def test_what_nobody_saw_being_made_is_called_older(self):
        for name, older in ("base", []), ("now", [(GIB, 700 * MIB)]):
            made = recordings.Snapshot()
            made.segment(0, GIB, GIB)
            made.alloc(0, GIB + 800 * MIB, 10 * MIB, [frame("forward")])
            for address, size in older:
                made.free(0, address, size)
            made.write(self.path(name + ".pickle"))
        peak, = self.lines("PEAK:", "diff", self.path("base.pickle"), self.path("now.pickle"))
        self.assertIn("+700 MiB at (older than the recording) (was 0 B)", peak)


class Order(Words):
    def test_a_window_that_did_not_grow_comes_after_the_peak(self):
        recordings.ascend_profile(self.path("run"), 0, 4096, [("aten::mm", 1024, 10, 40)], reserved_mib=6144)
        lines = self.ask("report", self.path("run")).splitlines()
        self.assertTrue(lines[0].startswith("PEAK: 5.00 GiB of pta device 0"), lines[0])
        self.assertTrue(lines[1].startswith("No steps, so no leak verdict: pta device 0 did not grow"), lines[1])

    def test_a_window_that_grew_comes_before_it(self):
        recordings.ascend_profile(self.path("run"), 0, 1024, [("aten::mm", 1024, 10, None)], reserved_mib=6144)
        lines = self.ask("report", self.path("run")).splitlines()
        self.assertTrue(lines[0].startswith("No steps, so no leak verdict: pta device 0 grew by 1.00 GiB"), lines[0])

    def test_a_finding_that_the_verdict_says_is_not_said_again(self):
        made = recordings.Snapshot()
        for device, size in enumerate([700, 300, 200]):
            made.segment(device, GIB, GIB)
            made.alloc(device, GIB, size * MIB, [frame("layer")])
        made.write(self.path("snapshot.pickle"))
        text = self.ask("advice", self.path("snapshot.pickle"))
        said = [line for line in text.splitlines() if line.startswith("WHY:")]
        self.assertEqual(len(said), 3)
        self.assertEqual([text.count(line) for line in said], [1, 1, 1], text)
        self.assertIn("  4. WHY: ", text)


class Ranks(Words):
    def test_the_table_is_there_for_one_rank(self):
        recordings.ascend_profile(self.path("job"), 0, 90, [("aten::mm", 8, 1, None)], reserved_mib=200)
        text = self.ask("ranks", self.path("job"))
        self.assertTrue(text.startswith("Only one process was recorded: nothing to compare."), text)
        self.assertRegex(text, r"rank 0 +pta device 0 +98\.0 MiB +200 MiB +98\.0 MiB")

    def test_ranks_are_shown_where_none_differs(self):
        for rank in range(3):
            recordings.ascend_profile(self.path("job"), rank, 90, [("aten::mm", 8 + rank / 2, 1, None)],
                                      reserved_mib=200)
        text = self.ask("ranks", self.path("job"))
        self.assertIn("3 ranks, and none differs", text)
        self.assertRegex(text, r"rank 0 +pta device 0, rank 0 +98\.0 MiB +200 MiB +98\.0 MiB")
        self.assertRegex(text, r"rank 2 +pta device 2, rank 2 +99\.0 MiB +200 MiB +99\.0 MiB")
        self.assertIn("Peaks from 98.0 MiB to 99.0 MiB, median 98.5 MiB.", text)


if __name__ == "__main__":
    unittest.main()
