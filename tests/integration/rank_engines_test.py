# SPDX-License-Identifier: Apache-2.0
"""Engines find the same as the comparison in C, in every value of every finding.

Run as rank_engines_test.py LEAKTIDE MAKE_CLUSTER ENGINE [CLUSTERS]. An engine that is not there is skipped.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    from pyarrow import parquet
except ImportError:
    parquet = None

LEAKTIDE, MAKE_CLUSTER, ENGINE = sys.argv[1:4]
CLUSTERS = int(sys.argv[4]) if len(sys.argv) > 4 else 22
CAUSES = ["clean", "rank", "one_host", "stages", "leak_all", "leak_one", "leak_late", "leak_two", "refused", "died", "stopped"]
SKIPPED = 77


def run(*words):
    return subprocess.run([LEAKTIDE, "ranks", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          timeout=600)


def findings(*words):
    done = run("--format=json", *words)
    assert done.returncode in (0, 3), (words, done.stderr)
    answer = json.loads(done.stdout)
    for finding in answer["findings"]:
        del finding["sentence"]
    return answer["findings"]


def make_cluster(folder, cause, count, seed, *more):
    subprocess.run([MAKE_CLUSTER, folder, cause, str(count), str(seed), *map(str, more)], stdout=subprocess.DEVNULL, check=True)


class Engine(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def same(self, *words):
        own = findings(*words)
        self.assertEqual(findings("--engine=" + ENGINE, *words), own)
        return own

    def test_clusters(self):
        said = 0
        for seed in range(CLUSTERS):
            cause = CAUSES[seed % len(CAUSES)]
            with self.subTest(cause=cause, seed=seed):
                path = self.path("cluster")
                make_cluster(path, cause, 64 + seed * 37 % 129, seed)
                said += len(self.same(path))
                shutil.rmtree(path)
        self.assertGreaterEqual(said, CLUSTERS // 2)

    def test_the_layout_may_be_said_with_the_question(self):
        make_cluster(self.path("ranks"), "stages", 64, 3)
        causes = [finding["cause"] for finding in self.same("--parallel=dp=16,pp=4", self.path("ranks"))]
        self.assertIn("stages", causes)
        self.same("--parallel=tp=2,dp=8,ep=2,pp=2", self.path("ranks"))
        self.same("--parallel=dp=2,pp=32", self.path("ranks"))

    def test_all_causes_of_several_folders(self):
        """Ranks of one number, of which the newest counts; unfinished and doubled folders beside them."""
        os.mkdir(self.path("all"))
        for seed, cause in enumerate(CAUSES):
            make_cluster(self.path("all", cause), cause, 64, seed, 6, 20, "each")
        shutil.copytree(self.path("all", "rank"), self.path("all", "copy"))
        os.rename(self.path("all", "clean", sorted(os.listdir(self.path("all", "clean")))[3]),
                  self.path("all", "clean", "rank.partial-4711"))
        self.same(self.path("all"))
        for cause in CAUSES:
            self.same(self.path("all", cause), self.path("all", "clean"))

    @unittest.skipUnless(parquet, "no PyArrow")
    def test_summaries_of_two_versions(self):
        """Each file of the first and of the last by name lacks columns that were added since."""
        make_cluster(self.path("ranks"), "died", 64, 2, 6, 20, "each")
        names = sorted(os.listdir(self.path("ranks")))
        for name in (names[0], names[-1]):
            path = self.path("ranks", name, "ranks.parquet")
            table = parquet.read_table(path)
            parquet.write_table(table.drop(["kernel_kill_count", "judged_count", "unjudged"]), path, compression="zstd")
        self.assertEqual([finding["cause"] for finding in self.same(self.path("ranks"))], ["died_first"])

    def test_the_answer_judges_as_that_of_c(self):
        make_cluster(self.path("ranks"), "leak_one", 64, 1)
        for words, status in (((), 0), (("--fail-on=leak",), 1), (("--fail-on=finding",), 1)):
            self.assertEqual(run("--engine=" + ENGINE, *words, self.path("ranks")).returncode, status)

    def test_what_is_not_there_is_named(self):
        done = run("--engine=" + ENGINE, self.path("nothing"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("nothing", done.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        make_cluster(os.path.join(folder, "ranks"), "clean", 64, 1)
        tried = run("--engine=" + ENGINE, os.path.join(folder, "ranks"))
    if "--engine=%s needs" % ENGINE in tried.stderr:
        print("skipped: " + tried.stderr.strip())
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
