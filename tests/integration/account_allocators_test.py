# SPDX-License-Identifier: Apache-2.0
"""Accounts of programs with other allocators, beside what these say of themselves.

Run as account_allocators_test.py LEAKTIDE ACCOUNT_ALLOCATORS. An allocator that is not installed is
passed over, visibly.
"""
import ctypes.util
import json
import os
import subprocess
import sys
import unittest

LEAKTIDE, PROGRAM = sys.argv[1:3]
MIB = 1 << 20


class Allocators(unittest.TestCase):
    def account(self, library):
        """The parts of the account, their names, and what the allocator says."""
        name = ctypes.util.find_library(library)
        if not name:
            self.skipTest("there is no lib%s here" % library)
        program = subprocess.Popen([PROGRAM], env=dict(os.environ, LD_PRELOAD=name),
                                   stdout=subprocess.PIPE, text=True)
        try:
            said = {}
            for line in iter(program.stdout.readline, "ready\n"):
                self.assertTrue(line, "it has ended")
                key, number = line.split()
                said[key] = int(number)
            done = subprocess.run([LEAKTIDE, "account", "--format=json", str(program.pid)],
                                  stdout=subprocess.PIPE, check=True, timeout=60)
        finally:
            program.kill()
            program.wait()
            program.stdout.close()
        tables = {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
        parts = {row["part"]: row["resident_bytes"] for row in tables["resident"]}
        self.assertEqual(sum(parts.values()), 2 * parts["resident"])
        return parts, tables["resident_names"], said

    def near(self, value, expected):
        self.assertLess(abs(value - expected), expected / 50 + MIB / 4, (value, expected))

    def test_jemalloc(self):
        parts, names, said = self.account("jemalloc")
        self.near(parts["blocks_of_malloc"], said["allocated"])
        # It counts pages of its own and of active extents that were never touched, too.
        whole = parts["blocks_of_malloc"] + parts["kept_free_by_malloc"] + parts["own_of_malloc"]
        self.assertLess(whole, said["resident"])
        self.assertGreater(whole, said["resident"] * 0.93)
        self.assertGreater(parts["kept_free_by_malloc"], 60 * MIB)
        self.assertLess(parts["mapped_without_a_file"], MIB)
        self.assertRegex(names[0]["name"], r"^jemalloc of libjemalloc\.so")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
