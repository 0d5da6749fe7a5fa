# SPDX-License-Identifier: Apache-2.0
"""Accounts of programs with other allocators, and of Java, beside what these say of themselves.

Run as account_allocators_test.py LEAKTIDE ACCOUNT_ALLOCATORS. An allocator that is not installed is
passed over, visibly.
"""
import ctypes.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE, PROGRAM = sys.argv[1:3]
MIB = 1 << 20


def account_of(process):
    """{part: resident bytes}, and the rows of names."""
    done = subprocess.run([LEAKTIDE, "account", "--format=json", str(process)],
                          stdout=subprocess.PIPE, check=True, timeout=60)
    tables = {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
    return {row["part"]: row["resident_bytes"] for row in tables["resident"]}, tables["resident_names"]


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
            parts, names = account_of(program.pid)
        finally:
            program.kill()
            program.wait()
            program.stdout.close()
        self.assertEqual(sum(parts.values()), 2 * parts["resident"])
        return parts, names, said

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


class Java(unittest.TestCase):
    PROGRAM = """class Holds { public static void main(String[] words) throws Exception {
        var held = new java.util.ArrayList<int[]>();
        for (int i = 0; i < 50; i++) held.add(new int[250000]);
        for (int i = 0; i < 40; i++) { int[] gone = new int[250000]; gone[i] = 1; }
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        System.out.println(runtime.totalMemory() - runtime.freeMemory());
        System.out.flush();
        Thread.sleep(99000);
        System.out.println(held.size()); } }"""

    @unittest.skipUnless(shutil.which("java"), "there is no java here")
    def test_the_heap_is_split_into_what_java_says(self):
        for collector in ("G1", "Serial", "Parallel"):
            with self.subTest(collector=collector), tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "Holds.java"), "w", encoding="ascii") as file:
                    file.write(self.PROGRAM)
                subprocess.run(["javac", "Holds.java"], cwd=folder, check=True, timeout=120)
                program = subprocess.Popen(
                    ["java", "-XX:+Use%sGC" % collector, "-Xms192m", "-Xmx192m", "Holds"], cwd=folder,
                    stdout=subprocess.PIPE, text=True)
                try:
                    said = int(program.stdout.readline())
                    parts, _ = account_of(program.pid)
                finally:
                    program.kill()
                    program.wait()
                    program.stdout.close()
                self.assertLess(abs(parts["java_objects"] - said), 4 * MIB, (parts, said))
                self.assertGreater(parts["java_objects"], 47 * MIB)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
