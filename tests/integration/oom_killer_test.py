# SPDX-License-Identifier: Apache-2.0
"""A process that the kernel kills when its cgroup has no memory left: leaktide oom says so, and who held it.

Run as oom_killer_test.py LEAKTIDE. The kernel's killer is the real one; without a cgroup of our own all is left out.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import memory_cgroup

LEAKTIDE = sys.argv[1]
MIB = 1 << 20
LIMIT = 96 * MIB
# A worker that ends well before the other is killed, and one that is as small.
PROGRAM = """\
import os, sys, time
kept = []
def grow():
    kept.append(bytearray(1 << 20))
def scratch():
    return [bytearray(1000) for _ in range(100)]
if not os.fork():
    scratch()
    time.sleep(1.5)
    os._exit(0)
for i in range(40 if "mended" in sys.argv else 400):
    grow()
    scratch()
    time.sleep(0.02)
"""


class OomKiller(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.folder.name, "job.py")
        with open(cls.program, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        cls.cgroup = memory_cgroup.make("leaktide-oom-%d" % os.getpid(), LIMIT)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        if cls.cgroup:
            os.rmdir(cls.cgroup)

    def record(self, name, *arguments):
        if not self.cgroup:
            self.skipTest("no cgroup can be made here")
        trace = os.path.join(self.folder.name, name)
        done = subprocess.run(
            [LEAKTIDE, "run", "--device=cpu", "--call-stack=python,c", "-o", trace, "--", "/bin/sh", "-c",
             'echo $$ > %s/cgroup.procs && exec "$@"' % self.cgroup, "sh", os.path.realpath(sys.executable),
             self.program, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        answers = {}
        for question in ("oom", "report", "account"):
            said = subprocess.run([LEAKTIDE, question, "--format=json", trace], stdout=subprocess.PIPE, timeout=120,
                                  check=False)
            answers[question] = json.loads(said.stdout)
        return done, answers

    def test_who_was_killed_and_who_held_the_memory_is_said(self):
        done, answers = self.record("killed")
        self.assertEqual(done.returncode, 128 + 9, done.stderr)
        self.assertIn("KILLED: the kernel ended python", done.stderr)
        answer = answers["oom"]
        tables = {table["name"]: table["rows"] for table in answer["tables"]}
        self.assertRegex(answer["verdict"][0], r"^KILLED: the kernel ended python\S* \d+, as there was no memory left in "
                                               r"its cgroup \S+leaktide-oom-\d+ \(limit 96\.0 MiB\)\.$")
        self.assertRegex(answer["verdict"][1], r"^Its last account, .* before the end: .* MiB resident: ")
        self.assertRegex("\n".join(answer["verdict"]), r"(?m)^Most of what it held at the end, .* MiB in .* blocks, was made by "
                                               r"grow \(\S*job\.py:4\)\.$")
        self.assertEqual(len(tables["killed"]), 1)
        row = tables["killed"][0]
        self.assertEqual(row["limit_bytes"], LIMIT)
        self.assertGreater(row["resident_bytes"], 20 * MIB)
        self.assertLess(row["resident_bytes"], LIMIT + 20 * MIB)
        self.assertLessEqual(row["seen_ns"], row["time_ns"])
        held = tables["killed_holders"][0]
        self.assertGreater(held["held_bytes"], 60 * MIB)
        self.assertLess(held["held_bytes"], LIMIT)
        self.assertTrue(answers["report"]["verdict"][0].startswith("KILLED:"), answers["report"]["verdict"])

    def test_a_process_that_fits_was_not_killed(self):
        done, answers = self.record("mended", "mended")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(answers["oom"]["verdict"], ["No request for memory failed."])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
