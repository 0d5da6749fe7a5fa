# SPDX-License-Identifier: Apache-2.0
"""The line that `leaktide run` shows on a terminal while a program grows.

Run as run_line_test.py LEAKTIDE
"""

import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import terminal  # noqa: E402

LEAKTIDE = os.path.realpath(sys.argv[1])
GROWS = """
import time
kept = []
for _ in range(30):
    kept.append(b"x" * 2000000)
    time.sleep(0.1)
"""


class RunLineTest(unittest.TestCase):
    def lines(self, columns):
        with tempfile.TemporaryDirectory() as folder:
            shown, status = terminal.run([LEAKTIDE, "run", "--device=cpu", "--call-stack=none", "--no-report", "-o", "r", "--",
                                          sys.executable, "-c", GROWS], folder, columns=columns)
        self.assertEqual(status, 0)
        return [line for line in re.split(r"[\r\n]+", terminal.plain(shown)) if " events, " in line]

    def test_it_says_what_its_bytes_are_and_how_much_they_grew(self):
        lines = self.lines(100)
        self.assertRegex(lines[-1], r"^leaktide: [\d,]+ events, [\d.]+ MiB resident \(\+[\d.]+ MiB in \d s\)")

    def test_it_keeps_to_the_width(self):
        lines = self.lines(40)
        self.assertEqual({len(line) for line in lines[-3:]}, {39})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
