# SPDX-License-Identifier: Apache-2.0
"""A line of the program that calls a package is one site: what is said of the package's own functions.

Run as inner_maker_test.py LEAKTIDE. The snapshots are written here.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import report_tables

LEAKTIDE = sys.argv[1]
MIB = 1 << 20
GATHER = {"name": "torch::CapturedTraceback::gather(bool)", "filename": "??", "line": 0}
PACKAGE = "/opt/env/lib/python3.11/site-packages/engine/"


def frame(name, file, line):
    return {"name": name, "filename": file, "line": line}


START = [frame("start", PACKAGE + "llm.py", 9), frame("serve", "/home/user/project/serve.py", 3)]
CACHE = [GATHER, frame("allocate_cache", PACKAGE + "worker/cache.py", 76), *START]
WEIGHTS = [GATHER, frame("create_weights", PACKAGE + "layers/linear.py", 31), frame("load_model", PACKAGE + "model.py", 14), *START]
OTHER = [GATHER, frame("train", "/home/user/project/train.py", 5)]


def snapshot(*blocks):
    """A state: (frames, MiB) of each block."""
    segments = []
    for number, (frames, mib) in enumerate(blocks):
        address = (number + 1) << 36
        segments.append({
            "device": 0, "address": address, "total_size": mib * MIB, "allocated_size": mib * MIB, "active_size": mib * MIB,
            "requested_size": mib * MIB, "stream": 0, "segment_type": "large", "segment_pool_id": [0, 0], "is_expandable": False,
            "frames": [], "blocks": [{"address": address, "size": mib * MIB, "requested_size": mib * MIB,
                                      "state": "active_allocated", "frames": frames}]})
    return {"segments": segments, "device_traces": [[]]}


class InnerMaker(unittest.TestCase):
    def report(self, *blocks):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "snapshot.json")
            with open(path, "w") as file:
                json.dump(snapshot(*blocks), file)
            done = subprocess.run([LEAKTIDE, "report", "--format=json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  universal_newlines=True, timeout=120)
        self.assertEqual(done.stderr, "")
        return report_tables.load(done.stdout)

    def sentences(self, *blocks):
        return [line for line in self.report(*blocks)["verdict"] if line.startswith(("A STATE", "PEAK"))]

    def test_where_a_package_divides_it_the_largest_part_is_named(self):
        for line in self.sentences((WEIGHTS, 10), (CACHE, 30), (CACHE, 30), (OTHER, 5)):
            self.assertIn("70.0 MiB", line)
            self.assertIn("serve (project/serve.py:3), 60.0 MiB of it by allocate_cache (worker/cache.py:76).", line)

    def test_where_all_is_of_one_function_the_line_of_the_program_is_enough(self):
        for line in self.sentences((CACHE, 30), (CACHE, 30), (OTHER, 5)):
            self.assertIn("serve (project/serve.py:3).", line)
            self.assertNotIn("of it by", line)

    def test_parts_of_which_none_is_more_than_half_have_what_they_share(self):
        both = [(WEIGHTS, 20), ([GATHER, frame("create_bias", PACKAGE + "layers/linear.py", 50), *WEIGHTS[2:]], 20), (CACHE, 30)]
        for line in self.sentences(*both):
            self.assertIn("40.0 MiB of it by load_model (engine/model.py:14).", line)

    def test_the_stack_of_a_line_is_that_of_its_largest_part(self):
        report = self.report((WEIGHTS, 10), (CACHE, 30), (CACHE, 30))
        for table in ("unreleased", ("held_at_peak", "torch device 0")):
            stack = report["tables"][table][0]["stack"]
            self.assertIn("allocate_cache", [frame["function"] for frame in stack])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:], verbosity=1)
