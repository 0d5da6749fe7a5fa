"""The switches of samples/leak, recorded for real: does each get the verdict that it deserves?

Run as stories_test.py LEAKTIDE SAMPLE FOLDER-OF-FAKES FOLDER-OF-LEAKTIDE.PY.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import traced

import report_tables

LEAKTIDE, SAMPLE, FAKES, MODULE = sys.argv[1:5]
KIB, MIB = 1 << 10, 1 << 20


def command(*arguments, **variables):
    env = {name: value for name, value in os.environ.items() if name not in traced.OURS}
    env.update(variables)
    return subprocess.run([LEAKTIDE, *arguments], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=120)


class Stories(unittest.TestCase):
    def record(self, *options, device="pool", **variables):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        trace = os.path.join(folder.name, "run.leaktide")
        ran = command("run", *traced.DEVICES_ONLY, "--sample-ms=1", "--output-path=" + trace, "--", SAMPLE, "--device",
                      device, *options, **variables)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return trace

    def ask(self, question, trace):
        asked = command(question, "--format=json", trace)
        self.assertEqual(asked.stderr, "")
        return report_tables.load(asked.stdout)

    def advised(self, report, kind="advice"):
        """{rule: (what to do is the end of its finding, bytes saved)}"""
        rules = {}
        for finding in report["findings"]:
            if finding["kind"] == kind:
                self.assertIn("TRY: " + finding["what_to_do"], finding["sentence"])
                rules[finding["rule"]] = finding["saves_bytes"]
        return rules


class OnItsOwnPool(Stories):
    def test_the_leak_says_what_to_do_and_what_it_saves(self):
        report = self.ask("leaks", self.record("--steps", "30", "--step-ms", "0", "--leak"))
        finding, = report["findings"]
        self.assertEqual(finding["rule"], "leak_of_all_blocks")
        self.assertEqual(finding["saves_bytes_per_step"], 192 * KIB)
        # The peak is in a forward pass: the last step, or one before, had not leaked yet.
        self.assertLessEqual(finding["saves_bytes"], 28 * 192 * KIB)
        self.assertGreater(finding["saves_bytes"], 20 * 192 * KIB)
        self.assertRegex(report["verdict"][1], "^WHY: no block that remember_metrics.* was ever "
                         "freed. TRY: .* Saves 192 KiB per step")

    def test_a_slow_leak_points_at_the_steps_that_leak(self):
        report = self.ask("leaks", self.record("--steps", "60", "--step-ms", "0", "--slow-leak", "5"))
        finding, = report["findings"]
        self.assertEqual(finding["rule"], "leak_in_some_steps")
        self.assertIn("only 11 of 58 steps left blocks of log_histogram", finding["sentence"])

    def test_a_cache_and_a_sawtooth_are_no_leaks(self):
        for option, site, verdict in (("--cache", "look_up_embedding", "growing_cache"),
                                      ("--sawtooth", "keep_prediction", "sawtooth")):
            report = self.ask("leaks", self.record("--steps", "60", "--step-ms", "0", option))
            self.assertTrue(report["verdict"][0].startswith("No leak"), report["verdict"])
            self.assertEqual([(row["site"].split(" (")[0].split("+")[0], row["verdict"])
                              for row in report["tables"]["leaks"]], [(site, verdict)])
            self.assertEqual(report["findings"], [])

    def test_fragmentation_names_who_stays(self):
        trace = self.record("--steps", "30", "--step-ms", "0", "--fragment")
        report = self.ask("frag", trace)
        share = re.match(r"FRAGMENTATION: when sample_pool device 0 reserved most, .* \((\d+) %\) of "
                         "it were unused", report["verdict"][0])
        self.assertGreater(int(share.group(1)), 50)
        self.assertIn("reserved_and_unused", self.advised(report))
        self.assertGreater(self.advised(report)["reserved_and_unused"], 100 * MIB)
        sentences = [f["sentence"] for f in report["findings"] if f["rule"] == "reserved_and_unused"]
        self.assertIn("shuffle_shards", sentences[0])

    def test_without_a_story_nobody_is_blamed_for_holes(self):
        report = self.ask("frag", self.record("--steps", "30", "--step-ms", "0", "--fixed"))
        self.assertNotIn("reserved_and_unused", self.advised(report))

    def test_a_request_out_of_proportion_is_told_as_one(self):
        report = self.ask("oom", self.record("--steps", "20", "--step-ms", "0", "--oom"))
        self.assertIn("refused 32.0 TiB to ask_for_too_much", report["verdict"][0])
        self.assertEqual(list(self.advised(report)), ["absurd_request"])

    def test_the_peak_says_what_it_is_made_of(self):
        report = self.ask("peak", self.record("--steps", "20", "--step-ms", "0", "--fixed"))
        self.assertEqual(self.advised(report), {"activations": 24 * MIB, "optimizer_state": 24 * MIB})


class UntilTheDeviceIsFull(Stories):
    """A device of 100 MiB, of which a healthy step needs 63.8: the rest is full after 193 steps."""

    FULL_IN_STEP = 194

    def record_ascend(self, *options):
        return self.record("--step-ms", "1", *options, device="ascend", LD_LIBRARY_PATH=FAKES,
                           FAKE_ASCEND_MEMORY=str(100 * MIB))

    def test_the_step_is_foretold(self):
        report = self.ask("leaks", self.record_ascend("--steps", "30", "--leak"))
        # What the runtime has of the driver below it is one leak.
        finding, = report["findings"]
        self.assertEqual([row["verdict"] for row in report["tables"]["leaks"]], ["leak"])
        foretold = finding["steps_until_full_count"]
        self.assertAlmostEqual(30 + foretold, self.FULL_IN_STEP, delta=2)
        self.assertRegex(report["verdict"][0], "; the device is full in [0-9]+ more steps")

    def test_and_comes_true(self):
        trace = self.record_ascend("--steps", "230", "--leak")
        report = self.ask("oom", trace)
        first = [n["sentence"] for n in report["notes"] if "the first was" in n["sentence"]][0]
        step = int(re.search(r"in step (\d+)", first).group(1))
        self.assertAlmostEqual(step, self.FULL_IN_STEP, delta=2)
        self.assertRegex(report["verdict"][0],
                         r"\(the driver\) refused .* MiB to (forward|backward)_layer")
        self.assertEqual(list(self.advised(report)), ["growth_until_full"])
        self.assertRegex(report["verdict"][1], "WHY: remember_metrics .* grew by .* since the end of step 2")

    def test_a_leak_that_the_device_stopped_is_a_leak(self):
        """From step 305 on there is no room for the 192 KiB either; the program goes on."""
        report = self.ask("leaks", self.record_ascend("--steps", "400", "--leak"))
        self.assertRegex(report["verdict"][0], "^REFUSED: 4.00 MiB to forward_layer ")
        self.assertRegex(report["verdict"][1], "LEAK: 192 KiB per step at remember_metrics .* until "
                         "its own requests failed in step 30[0-9]")


# Each step makes 4 MiB for itself, and forgets 1 MiB.
CUDA = textwrap.dedent("""
    import ctypes, sys, time, leaktide
    cuda = ctypes.CDLL("libcudart.so.12")
    def take(size):
        address = ctypes.c_void_p()
        return address if cuda.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size)) == 0 else None
    for number in range(int(sys.argv[1])):
        with leaktide.step():
            work = take(4 << 20)
            take(1 << 20)
            time.sleep(0.003)
            if work:
                cuda.cudaFree(work)
""")


class UntilAnotherDeviceIsFull(Stories):
    """A device of 60 MiB: 56 MiB are left beside the 4 of each step, so in step 57 nothing
    more can be forgotten."""

    def record_cuda(self, steps):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        trace = os.path.join(folder.name, "run.leaktide")
        ran = command("run", *traced.DEVICES_ONLY, "--sample-ms=1", "--output-path=" + trace, "--", sys.executable, "-B",
                      "-c", CUDA, str(steps), LD_LIBRARY_PATH=FAKES, PYTHONPATH=MODULE,
                      FAKE_CUDA_MEMORY=str(60 * MIB))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return trace

    def test_the_step_is_foretold_and_comes_true(self):
        report = self.ask("leaks", self.record_cuda(20))
        self.assertAlmostEqual(20 + report["findings"][0]["steps_until_full_count"], 56, delta=1)
        report = self.ask("oom", self.record_cuda(60))
        failed = report["tables"]["failed"]
        self.assertEqual({row["request_bytes"] for row in failed}, {1 * MIB})
        # The runtime was refused, and the driver below it, in each step from 57 on.
        by_pool = collections.Counter(row["ledger"] for row in failed)
        self.assertEqual(set(by_pool.values()), {60 - 56}, by_pool)
        self.assertEqual(list(self.advised(report)), ["growth_until_full"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
