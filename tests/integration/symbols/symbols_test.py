# SPDX-License-Identifier: Apache-2.0
"""Files, lines and inlined functions are those that llvm-symbolizer finds.

    symbols_test.py SYMBOLIZE FILE...
"""
import os
import random
import re
import shutil
import subprocess
import sys
import unittest

SYMBOLIZE, FILES = sys.argv[1], sys.argv[2:]
SAMPLES = 2000
LLVM = shutil.which("llvm-symbolizer") or shutil.which("llvm-symbolizer-14")


def code_of(path):
    """(address, size) of the largest sections with code."""
    listing = subprocess.run(["objdump", "-h", "-w", path], capture_output=True, text=True,
                             check=True).stdout
    rows = re.findall(r"^ *\d+ (\S+) +([0-9a-f]+) +([0-9a-f]+) .*CODE", listing, re.M)
    return [(int(address, 16), int(size, 16)) for name, size, address in rows]


def sample(path):
    dice = random.Random(1)
    sections = code_of(path)
    weights = [size for _, size in sections]
    return [address + dice.randrange(size)
            for address, size in dice.choices(sections, weights, k=SAMPLES)]


def read(output):
    """{address: [(function, file, line)]}, innermost first; unknown ones are left out."""
    found = {}
    for block in output.split("\n\n"):
        lines = block.strip("\n").split("\n")
        rows = []
        for name, place in zip(lines[1::2], lines[2::2]):
            file, line = place.split(":")[:2]
            if file != "??":
                rows.append((name, os.path.normpath(file), int(line)))
        if rows:
            found[int(lines[0], 16)] = rows
    return found


def run(command, addresses):
    text = "".join(f"{address:#x}\n" for address in addresses)
    return read(subprocess.run(command, input=text, capture_output=True, text=True,
                               check=True).stdout)


@unittest.skipUnless(LLVM, "llvm-symbolizer is not installed (package llvm)")
class SameAsLlvm(unittest.TestCase):
    def test_places_and_inlined_functions(self):
        for path in FILES:
            with self.subTest(path):
                self.check(path)

    def check(self, path):
        if subprocess.run([SYMBOLIZE, path], input="", text=True,
                          capture_output=True).returncode == 1:
            self.skipTest(f"no debug data of {path} (package libc6-dbg)")
        addresses = sample(path)
        theirs = run([LLVM, f"--obj={path}", "--output-style=LLVM", "--print-address",
                      "--no-demangle"], addresses)
        ours = run([SYMBOLIZE, path], addresses)
        self.assertGreater(len(theirs), SAMPLES // 2)
        same = sum(self.is_same(rows, ours.get(address)) for address, rows in theirs.items())
        self.assertGreaterEqual(same, 0.999 * len(theirs), f"{same} of {len(theirs)}")

    @staticmethod
    def is_same(theirs, ours):
        """llvm takes the outermost name from the symbol table, which has others for one address."""
        return ours is not None and [row[1:] for row in theirs] == [row[1:] for row in ours] and \
            [row[0] for row in theirs[:-1]] == [row[0] for row in ours[:-1]]


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
