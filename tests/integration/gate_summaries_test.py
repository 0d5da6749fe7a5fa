# SPDX-License-Identifier: Apache-2.0
"""A gate over the ranks of a job, by their summaries, against the median and the noise of its last good runs.

Run as gate_summaries_test.py LEAKTIDE MAKE_CLUSTER MAKE_TRACES.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE, MAKE_CLUSTER, MAKE_TRACES = sys.argv[1:4]
POLICY = """
[require]
steps_min = 8
[baseline]
runs = "runs"
last = 4
[device."npu:*"]
peak_live = { rel = "%s", floor = "1 MiB" }
[leak]
min_slope = "64 KiB/step"
[ranks]
imbalance = "%s"
"""


class Gate(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        os.mkdir(self.path("runs"))
        self.policy("+10%")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def policy(self, rel, imbalance="25%"):
        with open(self.path("leaktide.toml"), "w", encoding="ascii") as file:
            file.write(POLICY % (rel, imbalance))

    def add(self, name, cause, seed, *last_rank):
        subprocess.run([MAKE_CLUSTER, self.path(name), cause, "64", str(seed), "10", "20", "each", *last_rank],
                       stdout=subprocess.DEVNULL, check=True)

    def good_runs(self, count=6):
        for seed in range(count):
            self.add("runs/run%d" % seed, "clean", seed)

    def gate(self, *words, status, command="gate"):
        done = subprocess.run([LEAKTIDE, command, "--policy", self.path("leaktide.toml"), *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, status, (words, done.stdout[-3000:], done.stderr))
        return done.stdout + done.stderr

    def cases(self, *words, status):
        self.gate("-f", "json", "-o", self.path("out"), *words, status=status)
        with open(self.path("out", "gate.json"), encoding="utf-8") as file:
            return {case["key"]: case for case in json.load(file)["cases"]}

    def test_a_run_like_those_before_it_passes(self):
        self.good_runs()
        self.add("now", "clean", 7)
        cases = self.cases("now", status=0)
        self.assertEqual({case["outcome"] for case in cases.values()}, {"passed"})
        self.assertEqual(len([key for key in cases if key.endswith("/peak_live/growth")]), 8)
        self.assertIn("leak", cases)
        self.assertIn("ranks/pta/imbalance", cases)
        self.assertEqual(cases["require/steps_min"]["value"], 20)

    def test_a_rank_that_grew_fails_with_its_site(self):
        self.good_runs()
        self.add("now", "rank", 7)
        self.policy("+6%")
        failed = {key: case for key, case in self.cases("now", status=1).items() if case["outcome"] == "failed"}
        self.assertEqual(len(failed), 1, failed)
        case, = failed.values()
        self.assertTrue(case["key"].endswith("/pta/peak_live/growth"))
        self.assertIn("planted", case["sentence"])
        self.assertEqual((case["function"], case["file"], case["line"]), ("planted", "cause.py", 7))

    def test_a_leak_of_one_rank_fails_and_can_be_suppressed(self):
        self.good_runs()
        self.add("now", "leak_one", 7)
        self.policy("+100%", "100%")
        failed = [case for case in self.cases("now", status=1).values() if case["outcome"] == "failed"]
        self.assertEqual([case["rule"] for case in failed], ["leak"])
        self.assertIn("planted (cause.py:7)", failed[0]["sentence"])
        with open(self.path("known"), "w", encoding="ascii") as file:
            file.write('leak:planted  reason="known"\n')
        self.gate("--suppressions", self.path("known"), "now", status=0)

    def test_the_median_and_the_noise_of_the_last_good_runs_decide(self):
        """Runs that leaked, grew or died are none; older ones than the last four neither; and what is judged is not its own baseline."""
        self.good_runs(5)
        self.add("runs/leaks", "leak_all", 6)
        self.add("runs/grew", "rank", 7)
        self.add("runs/died", "died", 8)
        self.add("runs/newest", "clean", 9)
        for name in ("now", "runs/newest"):
            if name == "now":
                shutil.copytree(self.path("runs", "newest"), self.path("now"))
                shutil.move(self.path("runs", "newest"), self.path("kept"))
            else:
                shutil.move(self.path("kept"), self.path("runs", "newest"))
            cases = self.cases(name, status=0)
            single = {}
            for seed in (1, 2, 3, 4):
                shutil.rmtree(self.path("one"), ignore_errors=True)
                os.makedirs(self.path("one"))
                shutil.copytree(self.path("runs", "run%d" % seed), self.path("one", "run"))
                alone = self.cases("--baseline", self.path("one"), name, status=0)
                for key, case in alone.items():
                    single.setdefault(key, []).append(case["baseline"])
            for key in ("npu:0/pta/peak_live/growth", "npu:7/pta/peak_live/growth"):
                low, high = sorted(single[key])[1:3]
                self.assertEqual(cases[key]["baseline"], low + (high - low) // 2)

    def test_a_rank_that_was_not_judged_is_no_rank_without_leak(self):
        self.good_runs()
        for last_rank, why in (("unjudged", "too few steps were recorded"), ("older", "its summary does not tell")):
            self.add(last_rank, "clean", 7, last_rank)
            said = self.gate(last_rank, status=4)
            self.assertIn("leaks cannot be judged on 1 of 64 ranks; the first, rank 63 on node-0007: " + why, said)
            self.assertNotIn("no leak", said)

    def test_a_leak_counts_more_than_a_rank_that_was_not_judged(self):
        self.good_runs(1)
        self.add("now", "leak_all", 7, "unjudged")
        self.policy("+100%", "100%")
        self.assertIn("leak: 1.00 MiB per step at planted", self.gate("now", status=1))

    def test_a_tolerance_tighter_than_the_noise_cannot_be_judged(self):
        self.good_runs()
        self.add("now", "clean", 7)
        self.policy("+0.01%")
        said = self.gate("now", status=4)
        self.assertIn("is tighter than twice the noise of", said)

    def test_without_a_good_run_there_is_no_baseline(self):
        self.add("runs/leaks", "leak_all", 1)
        self.add("now", "clean", 7)
        self.assertIn("rel needs a baseline", self.gate("now", status=4))

    def test_what_is_missing_is_named(self):
        self.good_runs()
        self.add("now", "clean", 7)
        shutil.rmtree(self.path("now", "rank-00005"))
        said = self.gate("now", status=3)
        self.assertIn("now is not complete: 1 of 64 ranks are not there; the first: 5", said)
        self.add("now2", "clean", 7)
        path, = glob.glob(self.path("now2", "rank-00009", "sites.parquet"))
        with open(path, "r+b") as file:
            file.truncate(100)
        self.assertIn("1 summaries could not be read; the first: ", self.gate("now2", status=3))
        self.assertIn("not complete", self.gate("now2", status=3, command="bless"))

    def test_repeats_and_wrong_use(self):
        self.good_runs()
        for seed in (7, 8, 9):
            self.add("now%d" % seed, "clean", seed)
        self.gate("--traces", "now7", "now8", "now9", status=0)
        self.assertIn("repeats", self.gate("now7", "now8", status=2))
        subprocess.run([MAKE_TRACES], cwd=self.folder, check=True)
        self.assertIn("not both", self.gate("now7", "cudart", status=2))

    def recorded(self, name, *traces, status):
        """Summaries of real recordings, each with the number of a rank."""
        for number, trace in enumerate(traces):
            subprocess.run([LEAKTIDE, "summarize", "--rank=%d" % number, "--world-size=%d" % len(traces), "-o", self.path(name),
                            self.path(trace)], check=True, cwd=self.folder)
        with open(self.path("leaktide.toml"), "w", encoding="ascii") as file:
            file.write('[leak]\nmin_slope = "1 KiB/step"\n')
        return self.gate(name, status=status)

    def test_recordings_that_leak_nothing_pass_and_mixed_ones_do_not(self):
        subprocess.run([MAKE_TRACES], cwd=self.folder, check=True)
        self.assertRegex(self.recorded("clean", "tidy", "light", status=0), "no leak on any rank: [1-9][0-9]* sites judged")
        said = self.recorded("mixed", "tidy", "short", status=4)
        self.assertIn("leaks cannot be judged on 1 of 2 ranks; the first, rank 1: too few steps were recorded", said)

    def test_bless_writes_what_a_file_holds(self):
        self.good_runs()
        self.add("now", "clean", 7)
        self.gate("--baseline", self.path("agreed"), "now", status=0, command="bless")
        with open(self.path("agreed"), encoding="ascii") as file:
            self.assertIn("npu:0/pta/peak_live = ", file.read())
        cases = self.cases("--baseline", self.path("agreed"), "now", status=0)
        for key, case in cases.items():
            if key.endswith("/growth"):
                self.assertEqual(case["value"], case["baseline"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
