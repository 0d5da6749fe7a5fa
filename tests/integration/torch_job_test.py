# SPDX-License-Identifier: Apache-2.0
"""A job of PyTorch with eight ranks, as torchrun starts it: what is planted is found, and nothing in a clean one.

Run as torch_job_test.py LEAKTIDE MODULE-FOLDER. Skipped without torchrun.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import report_tables

LEAKTIDE, MODULE = sys.argv[1:3]
JOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_job.py")
SKIPPED = 77
STEPS = 20
LAYER_BYTES = 4 * 4 * (1024 * 1024 + 1024)  # weights, gradients and two moments of Adam


def command(*words, statuses=(0,), **variables):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=1200,
                          env={**os.environ, **variables})
    assert done.returncode in statuses, (words, done.returncode, done.stdout[-500:], done.stderr[-2000:])
    return done.stdout


def answer_of(folder, *job, objects="no", statuses=(0,)):
    """Of a recorded job. What PyTorch keeps of the last 2,000 collectives would grow until then."""
    run, summaries = os.path.join(folder, "run"), os.path.join(folder, "summaries")
    command(LEAKTIDE, "run", "--quiet", "--device=cpu", "--python-objects=" + objects, "--call-stack=python", "-o", run, "--",
            "torchrun", "--nproc-per-node=8", JOB, str(STEPS), *map(str, job),
            statuses=statuses, PYTHONPATH=MODULE, OMP_NUM_THREADS="1", TORCH_FR_BUFFER_SIZE="0")
    command(LEAKTIDE, "summarize", "--parallel=dp=4,pp=2", "-o", summaries, run)
    return report_tables.load(command(LEAKTIDE, "ranks", "--format=json", summaries))


class TorchJob(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def test_clean(self):
        answer = answer_of(self.folder, 2, objects="yes")
        self.assertEqual((answer["facts"]["rank_count"], answer["facts"]["unjudged_rank_count"]), (8, 0))
        self.assertEqual([finding["sentence"] for finding in answer["findings"]], [])
        policy = os.path.join(self.folder, "leaktide.toml")
        with open(policy, "w", encoding="ascii") as file:
            file.write('[leak]\nmin_slope = "1 KiB/step"\n')
        self.assertIn("no leak on any rank", command(LEAKTIDE, "gate", "--policy", policy, os.path.join(self.folder, "summaries")))

    def test_objects_that_were_not_recorded_are_not_judged(self):
        answer = answer_of(self.folder, 2)
        self.assertEqual(answer["facts"]["unjudged_rank_count"], 8)
        self.assertEqual(answer["findings"], [])

    def test_a_rank_that_is_killed(self):
        answer = answer_of(self.folder, 2, "die=5", statuses=range(1, 256))
        died, = [finding for finding in answer["findings"] if finding["cause"] == "died_first"]
        self.assertEqual(died["rank"], "rank 5")
        self.assertIn("DIED FIRST: rank 5 was killed after %d steps" % (STEPS // 2), died["sentence"])

    def test_a_leak_and_an_uneven_split(self):
        answer = answer_of(self.folder, 6, "leak=6")
        leak, rank, stages = answer["findings"]
        self.assertEqual((leak["cause"], leak["rank"], leak["rank_count"]), ("leak", "rank 6", 1))
        self.assertIn("keep_for_later", leak["site"])
        self.assertEqual(leak["value_bytes"], 4 << 20)
        self.assertEqual((rank["cause"], rank["rank"]), ("rank", "rank 6"))
        self.assertIn("keep_for_later", rank["site"])
        self.assertAlmostEqual(rank["value_bytes"] - rank["peers_bytes"], STEPS * (4 << 20), delta=2 << 20)
        self.assertEqual(stages["cause"], "stages")
        self.assertAlmostEqual(stages["value_bytes"] - stages["peers_bytes"], 4 * LAYER_BYTES // 2, delta=2 << 20)


if __name__ == "__main__":
    if not shutil.which("torchrun"):
        print("skipped: no torchrun")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
