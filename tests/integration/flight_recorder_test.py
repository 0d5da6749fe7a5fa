# SPDX-License-Identifier: Apache-2.0
"""A ring that says how much it holds at most is no leak while it fills; what leaks beside it is one.

Run as flight_recorder_test.py LEAKTIDE FLIGHT_RECORDER.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE, PROGRAM = sys.argv[1:3]


class FlightRecorder(unittest.TestCase):
    def leaks(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run")
            subprocess.run([LEAKTIDE, "run", "--quiet", "--device=cpu", "-o", run, "--", PROGRAM, *words], check=True, timeout=120)
            done = subprocess.run([LEAKTIDE, "leaks", "--format=json", run], stdout=subprocess.PIPE, timeout=120)
        answer = json.loads(done.stdout)
        return [finding["site"].split("+")[0].split(" (")[0] for finding in answer["findings"] if finding["kind"] == "leak"]

    def test_the_ring_is_no_leak(self):
        self.assertEqual(self.leaks(), [])

    def test_what_leaks_beside_it_is(self):
        self.assertEqual(self.leaks("leak"), ["keep_for_ever"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
