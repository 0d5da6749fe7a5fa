# SPDX-License-Identifier: Apache-2.0
"""Many clusters and large ones: precision and recall of planted causes, time and memory.

Run as summaries_scale_test.py LEAKTIDE MAKE_CLUSTER [RANKS]
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import unittest

LEAKTIDE, MAKE_CLUSTER = sys.argv[1:3]
RANKS = int(sys.argv[3]) if len(sys.argv) > 3 else 10000
CAUSES = ["rank", "one_host", "stages", "leak_all", "leak_one", "leak_late", "refused", "died", "died_of_memory"]


def answer_of(folder):
    """The answer, seconds, and bytes of memory."""
    started = time.monotonic()
    child = subprocess.Popen([LEAKTIDE, "ranks", "--format=json", "--top=10", folder], stdout=subprocess.PIPE)
    text = child.stdout.read()
    child.stdout.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return json.loads(text), time.monotonic() - started, usage.ru_maxrss * 1024


def make(folder, cause, ranks, seed, *more):
    made = subprocess.run([MAKE_CLUSTER, folder, cause, str(ranks), str(seed), *more], stdout=subprocess.PIPE, check=True)
    return json.loads(made.stdout)


class Scale(unittest.TestCase):
    def test_precision_and_recall(self):
        planted = found = said = clean_said = 0
        for seed in range(400):
            cause = CAUSES[seed % len(CAUSES)] if seed < 200 else ("clean", "stopped", "stray")[seed % 3]
            with tempfile.TemporaryDirectory() as folder:
                make(folder, cause, 64 + seed * 941 % 937, seed)
                causes = [finding["cause"] for finding in answer_of(folder)[0]["findings"]]
            if seed >= 200:
                clean_said += len(causes)
                continue
            planted += 1
            said += len(causes)
            found += cause.split("_")[0] in [name.split("_")[0] for name in causes]
        print("clusters: %d of %d planted causes found, %d findings; clean ones: %d findings"
              % (found, planted, said, clean_said))
        self.assertGreaterEqual(found, 0.99 * planted)
        self.assertLessEqual(said - found, 0.01 * said)
        self.assertEqual(clean_said, 0)

    def test_many_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            planted = make(folder, "rank", RANKS, 1, "200", "200", "each")
            answer_of(folder)  # the files are in memory
            answer, seconds, memory_bytes = answer_of(folder)
        print("%d summaries: %.2f s, %.0f MiB" % (planted["rank_count"], seconds, memory_bytes / 2**20))
        finding, = answer["findings"]
        self.assertEqual(finding["rank"], "rank %d on node-%04d" % (planted["rank"], planted["host"]))
        self.assertEqual(finding["step"], planted["step"])
        self.assertLess(seconds, 5 * max(1, RANKS / 10000) * 2)  # twice what is promised: other tests run beside
        self.assertLess(memory_bytes, 2**30 * max(1, RANKS / 10000))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main(argv=sys.argv[:1])
