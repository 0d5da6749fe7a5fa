"""What the tests of exports have in common: recordings to export, and the report to compare with.

Run a test as NAME_test.py LEAKTIDE CLI_MAKE_TRACES REFERENCE_DATA ('' without it).
"""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import report_tables

LEAKTIDE, MAKE_TRACES, REFERENCE_DATA = sys.argv[1:4]

# Recordings that cli_make_traces makes, and some of other tools.
MADE = ["leak", "short", "window", "two"]
REFERENCE = ["ascend/st-level2/rank_0_ascend_pt",
             "ascend/text-202501/level0",
             "ascend/db-202501/level0/rank0_ascend_pt",
             "ascend/memsnapshot/snapshot_expandable.pkl",
             "memscope/generated/scenario/leaks_decompose_inefficient.db"]


def leaktide(*arguments, **others):
    return subprocess.run([LEAKTIDE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, **others)


class Exported(unittest.TestCase):
    """Has a folder of its own with the made recordings."""

    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = cls.kept.name
        subprocess.run([os.path.abspath(MAKE_TRACES)], cwd=cls.folder, check=True)
        cls.inputs = [os.path.join(cls.folder, name) for name in MADE]
        if REFERENCE_DATA:
            cls.inputs += [os.path.join(REFERENCE_DATA, name) for name in REFERENCE]

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def out(self, name):
        return os.path.join(self.folder, "%s.%s" % (self._testMethodName, name))

    def export(self, to, source, out):
        ran = leaktide("export", "--to", to, source, "-o", out)
        self.assertEqual((ran.returncode, ran.stderr), (0, b""), source)
        return out

    def report(self, source, question="report", *options):
        ran = leaktide(question, "--format", "json", *options, source)
        self.assertEqual(ran.stderr, b"")
        return report_tables.load(ran.stdout)


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
