"""leaktide oom and leaktide frag on real recordings: what failed is known at once, and stays known.

Run as oom_test.py LEAKTIDE SAMPLE FOLDER-OF-LEAKTIDE.PY FOLDER-OF-FIXTURES.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

import traced

import report_tables

LEAKTIDE, SAMPLE, MODULE, FIXTURES = sys.argv[1:5]
MIB = 1 << 20


def command(*arguments):
    env = {name: value for name, value in os.environ.items() if name not in traced.OURS}
    env["PYTHONPATH"] = MODULE
    return subprocess.run([LEAKTIDE, *arguments], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=120)


def ask(question, *program):
    """Exit status of the program under run, of the question, and the answer."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "run.leaktide")
        ran = command("run", *traced.DEVICES_ONLY, "--output-path=" + trace, "--", *program)
        asked = command(question, "--format", "json", trace)
    assert asked.stderr == "", asked.stderr
    return ran.returncode, asked.returncode, report_tables.load(asked.stdout)


# A pool of 64 MiB: a leak of 4 MiB in each step, then a request that does not fit any more.
FULL_POOL = textwrap.dedent("""
    import os, signal, leaktide
    leaktide.pool_reserved("arena", 0, 64 << 20)
    address = 0x7f0000000000
    for number in range(6):
        with leaktide.step():
            leaktide.pool_alloc("arena", 0, address + number * (8 << 20), 4 << 20)
    leaktide.pool_alloc("arena", 0, None, 48 << 20)
    os.kill(os.getpid(), signal.SIGKILL)
""")


class Killed(unittest.TestCase):
    def test_a_failed_request_survives_a_kill_right_after_it(self):
        ran, status, report = ask("oom", sys.executable, "-B", "-c", FULL_POOL)
        self.assertEqual(ran, 128 + signal.SIGKILL)
        self.assertEqual(status, 0)
        self.assertIn("OUT OF MEMORY: arena device 0 refused 48.0 MiB", report["verdict"][0])
        self.assertIn("Too little was free: the pools of the device held only 40.0 MiB unused",
                      report["verdict"][0])
        failed = report["tables"]["failed"]
        self.assertEqual([(r["request_bytes"], r["live_bytes"]) for r in failed],
                         [(48 * MIB, 24 * MIB)])
        # After the warm-up of two steps, 8 MiB were alive.
        grown = report["tables"]["grown_at_failure"]
        self.assertEqual(sum(r["grown_bytes"] for r in grown), 16 * MIB)
        held = report["tables"]["held_at_failure"]
        self.assertEqual(sum(r["held_bytes"] for r in held), 24 * MIB)
        free = report["tables"]["free_at_failure"]
        self.assertEqual([(r["reserved_bytes"], r["unused_bytes"]) for r in free],
                         [(64 * MIB, 40 * MIB)])


class Sample(unittest.TestCase):
    def test_the_request_that_is_too_large_is_named(self):
        ran, status, report = ask("oom", SAMPLE, "--device", "pool", "--steps", "20", "--step-ms",
                                  "0", "--oom")
        self.assertEqual((ran, status), (0, 0))
        self.assertIn("refused 32.0 TiB to ask_for_too_much", report["verdict"][0])
        self.assertIn("in step 20", report["verdict"][0])

    def test_without_a_failure_there_is_none(self):
        _, status, report = ask("oom", SAMPLE, "--device", "pool", "--steps", "5", "--step-ms", "0")
        self.assertEqual(status, 0)
        self.assertEqual(report["verdict"], ["No request for memory failed."])


class Snapshot(unittest.TestCase):
    """Dumped when PyTorch was out of memory; what is where is drawn in the fixtures' make.py."""

    def answer(self, path):
        asked = command("oom", "--format=json", path)
        self.assertEqual((asked.returncode, asked.stderr), (0, ""))
        return report_tables.load(asked.stdout)

    def changed(self, change):
        with open(os.path.join(FIXTURES, "snapshot", "oom.json")) as file:
            snapshot = json.load(file)
        change(snapshot)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "oom.json")
            with open(path, "w") as file:
                json.dump(snapshot, file)
            return self.answer(path)

    def test_holes_that_are_too_small_and_who_makes_them(self):
        for name in "oom.pickle", "oom.json":
            report = self.answer(os.path.join(FIXTURES, "snapshot", name))
            self.assertIn("OUT OF MEMORY: torch device 0 refused 24.0 MiB to forward (net.py:12) in "
                          "step 6", report["verdict"][0].replace("project/", ""))
            self.assertIn("the device itself had 4.00 MiB free", report["verdict"][0])
            self.assertIn("Fragmentation: 43.0 MiB were unused, but in no piece above 14.0 MiB.",
                          report["verdict"][0])
            free, = report["tables"]["free_at_failure"]
            self.assertEqual((free["reserved_bytes"], free["allocated_bytes"], free["unused_bytes"],
                              free["hole_bytes"], free["largest_hole_bytes"]),
                             (60 * MIB, 17 * MIB, 43 * MIB, 43 * MIB, 14 * MIB))
            cheapest = report["tables"]["pinned_segments", "torch device 0"][0]
            self.assertEqual((cheapest["live_bytes"], cheapest["segment_bytes"]), (MIB, 20 * MIB))
            self.assertIn("judge", cheapest["site"])
            grown = [(row["site"].split()[0], row["grown_bytes"])
                     for row in report["tables"]["grown_at_failure"]]
            self.assertEqual(grown, [("append", 6 * MIB), ("judge", MIB)])
            self.assertEqual([f["rule"] for f in report["findings"]], ["pieces_too_small"])

    def test_more_than_all_that_is_free(self):
        def ask_for_60_mib(snapshot):
            for entry in snapshot["device_traces"][0]:
                if entry["action"] == "oom":
                    entry["size"] = 60 * MIB
        report = self.changed(ask_for_60_mib)
        self.assertIn("Too little was free: the pools of the device held only 43.0 MiB unused",
                      report["verdict"][0])
        self.assertEqual([f["rule"] for f in report["findings"]], ["too_little_memory"])

    def test_growth_that_took_the_room(self):
        """Without the 6 MiB that the steps kept since step 2, 48 MiB would have been there."""
        def ask_for_48_mib(snapshot):
            for entry in snapshot["device_traces"][0]:
                if entry["action"] == "oom":
                    entry["size"] = 48 * MIB
        report = self.changed(ask_for_48_mib)
        self.assertEqual([(f["rule"], f["saves_bytes"]) for f in report["findings"]],
                         [("growth_until_full", 6 * MIB)])

    def test_without_times_steps_are_found_by_what_is_allocated(self):
        """As torch_npu writes it."""
        def forget_times(snapshot):
            del snapshot["external_annotations"], snapshot["allocator_settings"]
            for entry in snapshot["device_traces"][0]:
                del entry["time_us"], entry["compile_context"]
        report = self.changed(forget_times)
        self.assertIn("Fragmentation: 43.0 MiB were unused", report["verdict"][0])
        self.assertEqual(report["tables"]["grown_at_failure"][0]["site"], "append (project/train.py:30)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
