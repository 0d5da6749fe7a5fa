# SPDX-License-Identifier: Apache-2.0
"""Runs over time: the newest is held against the good runs before it.

Run as history_test.py LEAKTIDE MAKE_CLUSTER. Each run of make_cluster begins a day later with each seed.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE, MAKE_CLUSTER = sys.argv[1:3]


def command(*words, status=0):
    done = subprocess.run([LEAKTIDE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          timeout=300)
    assert done.returncode == status, (words, done.returncode, done.stdout[:500], done.stderr)
    return done.stdout


class History(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.runs = os.path.join(temporary.name, "runs")
        os.mkdir(self.runs)

    def add(self, name, cause, seed):
        subprocess.run([MAKE_CLUSTER, os.path.join(self.runs, name), cause, "64", str(seed), "10", "20", "each"],
                       stdout=subprocess.DEVNULL, check=True)

    def history(self, *words, status=0):
        return json.loads(command("history", "--format=json", *words, self.runs, status=status))

    def states(self, answer):
        table, = [table for table in answer["tables"] if table["name"] == "history"]
        return [(row["run"], row["state"]) for row in table["rows"]]

    def test_a_peak_that_grew(self):
        """By time, not by name; the runs that grew are no base for the next."""
        for seed in range(4):
            self.add("z%d" % seed, "clean", seed)
        self.add("c", "rank", 4)
        self.add("b", "rank", 5)
        answer = self.history()
        self.assertEqual(self.states(answer), [("z%d" % i, "good") for i in range(4)] + [("c", "peak_grew"), ("b", "peak_grew")])
        finding, = answer["findings"]
        self.assertEqual((finding["cause"], finding["run"], finding["since_run"], finding["site"]),
                         ("peak_grew", "b", "c", "planted (cause.py:7)"))
        self.assertAlmostEqual(finding["value_bytes"] - finding["base_bytes"], 6 << 30, delta=3 << 30)
        self.assertIn("4 good runs before it", answer["verdict"][0])
        self.history("--fail-on=leak")
        self.history("--fail-on=finding", status=1)

    def test_leaks_are_no_base(self):
        for seed, cause in enumerate(("clean", "leak_one", "clean", "leak_late", "leak_all")):
            self.add("run%d" % seed, cause, seed)
        answer = self.history(status=0)
        self.assertEqual([state for _, state in self.states(answer)], ["good", "leaks", "good", "leaks", "leaks"])
        finding, = answer["findings"]
        self.assertEqual((finding["cause"], finding["site"], finding["since_run"]), ("leak", "planted (cause.py:7)", "run3"))
        self.history("--fail-on=leak", status=1)

    def test_what_is_as_before_is_said(self):
        for seed in range(8):
            self.add("run%d" % seed, "clean", seed)
        answer = self.history("--fail-on=finding")
        self.assertEqual(answer["findings"], [])
        self.assertIn("The newest run, run7, peaks at", answer["verdict"][0])
        self.assertIn("as the 5 good runs before it", answer["verdict"][0])
        self.assertIn("as the 2 good runs before it", self.history("--last=2")["verdict"][0])

    def test_noise_is_no_growth(self):
        """A run 6 GiB above the middle, among runs that differ by as much."""
        for seed, cause in enumerate(("clean", "clean", "clean", "rank", "clean", "rank")):
            self.add("run%d" % seed, cause, seed)
        self.assertEqual([state for _, state in self.states(self.history())][3], "peak_grew")
        shutil.rmtree(os.path.join(self.runs, "run0"))
        shutil.rmtree(os.path.join(self.runs, "run1"))
        shutil.rmtree(os.path.join(self.runs, "run2"))
        self.assertEqual(self.states(self.history()), [("run3", "good"), ("run4", "good"), ("run5", "good")])

    def test_ends_and_damage(self):
        for seed, cause in enumerate(("clean", "died", "refused", "clean", "clean")):
            self.add("run%d" % seed, cause, seed)
        path = os.path.join(self.runs, "run3", "rank-00007", "sites.parquet")
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) // 2)
        answer = self.history(status=3)
        self.assertEqual([state for _, state in self.states(answer)],
                         ["good", "a_rank_died", "refused", "incomplete", "good"])
        self.assertIn("INCOMPLETE: 1 summaries could not be read; the first: ", answer["verdict"][0])
        self.assertIn("the one good run before it", answer["verdict"][1])

    def test_one_run_alone(self):
        self.add("run0", "clean", 0)
        self.assertEqual(self.history(status=4)["outcome"], "no_data")
        command("history", "--fail-on=any", self.runs, status=2)
        command("history", "--last=x", self.runs, status=2)
        command("history", os.path.join(self.runs, "nothing"), status=3)
        command("history", status=2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
