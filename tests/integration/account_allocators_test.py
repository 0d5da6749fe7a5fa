# SPDX-License-Identifier: Apache-2.0
"""Accounts of programs with other allocators, and of Java, beside what these say of themselves.

Run as account_allocators_test.py LEAKTIDE ACCOUNT_ALLOCATORS. An allocator that is not installed is
passed over, visibly.
"""
import ctypes.util
import importlib.util
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
    """{part: resident bytes, "spare": bytes}, and the rows of names."""
    done = subprocess.run([LEAKTIDE, "account", "--format=json", str(process)],
                          stdout=subprocess.PIPE, check=True, timeout=60)
    tables = {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
    parts = {row["part"]: row["resident_bytes"] for row in tables["resident"]}
    return parts, tables["resident_names"], tables["resident_figures"][0]["spare_bytes"]


class Allocators(unittest.TestCase):
    def said(self, program):
        numbers = {}
        for line in iter(program.stdout.readline, "ready\n"):
            self.assertTrue(line, "it has ended")
            key, number = line.split()
            numbers[key] = int(number)
        return numbers

    def account(self, library, **options):
        """The parts of the account, their names, what the allocator says, and the parts when it has given back what
        it can."""
        name = ctypes.util.find_library(library)
        if not name:
            self.skipTest("there is no lib%s here" % library)
        program = subprocess.Popen([PROGRAM], env=dict(os.environ, LD_PRELOAD=name, **options),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            said = self.said(program)
            parts, names, said["spare"] = account_of(program.pid)
            program.stdin.write("\n")
            program.stdin.flush()
            said.update(self.said(program))
            after, _, _ = account_of(program.pid)
        finally:
            program.kill()
            program.communicate()
        for each in (parts, after):
            self.assertEqual(sum(each.values()), 2 * each["resident"])
        return parts, names, said, after

    def near(self, value, expected):
        self.assertLess(abs(value - expected), expected / 50 + MIB / 4, (value, expected))

    def test_jemalloc(self):
        parts, names, said, after = self.account("jemalloc")
        self.near(parts["blocks_of_malloc"], said["allocated"])
        # It counts pages of its own and of active extents that were never touched, too.
        whole = parts["blocks_of_malloc"] + parts["kept_free_by_malloc"] + parts["own_of_malloc"]
        self.assertLess(whole, said["resident"])
        self.assertGreater(whole, said["resident"] * 0.93)
        self.assertGreater(parts["kept_free_by_malloc"], 60 * MIB)
        self.assertLess(parts["mapped_without_a_file"], MIB)
        self.assertRegex(names[0]["name"], r"^jemalloc of libjemalloc\.so")
        self.gives_back(parts, after, said)

    def gives_back(self, parts, after, said):
        """As much as was said before, and what is kept is less by it; the blocks stay."""
        self.near(said["spare"], said["given_back"])
        self.near(parts["kept_free_by_malloc"] - after["kept_free_by_malloc"], said["given_back"])
        self.near(parts["blocks_of_malloc"], after["blocks_of_malloc"])

    def test_tcmalloc(self):
        parts, names, said, after = self.account("tcmalloc_minimal")
        self.near(parts["blocks_of_malloc"], said["usable"])
        self.near(parts["blocks_of_malloc"], said["allocated"])
        self.assertGreater(parts["kept_free_by_malloc"], 60 * MIB)
        self.assertLess(parts["mapped_without_a_file"], MIB)
        self.assertEqual(parts.get("heap_not_split", 0), 0)
        self.assertRegex(names[0]["name"], r"^tcmalloc of libtcmalloc_minimal\.so")
        self.gives_back(parts, after, said)

    def test_mimalloc(self):
        parts, names, said, _ = self.account("mimalloc")
        self.near(parts["blocks_of_malloc"], said["usable"])
        self.assertGreater(parts["kept_free_by_malloc"], 60 * MIB)
        self.assertLess(parts["mapped_without_a_file"], MIB)
        self.assertRegex(names[0]["name"], r"^mimalloc of libmimalloc\.so")
        eager, _, _, _ = self.account("mimalloc", MIMALLOC_DECOMMIT_DELAY="0")
        self.assertGreater(said["spare"], 10 * MIB)
        self.near(parts["kept_free_by_malloc"] - eager["kept_free_by_malloc"], said["spare"])


class Arrow(unittest.TestCase):
    """It carries its own mimalloc: 2.2 in 21.0, 3 in newer ones."""
    PROGRAM = """import ctypes, sys, pyarrow
held = [pyarrow.allocate_buffer(100 + i * 7919 % 60000) for i in range(4000)] + [
    pyarrow.allocate_buffer(20 << 20) for _ in range(4)]
for each in held: ctypes.memset(each.address, 1, each.size)
del each, held[::2]
print(pyarrow.default_memory_pool().backend_name, pyarrow.total_allocated_bytes(), flush=True)
sys.stdin.read()"""

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "this Python has no pyarrow")
    def test_its_mimalloc_is_split(self):
        program = subprocess.Popen([sys.executable, "-c", self.PROGRAM], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        try:
            backend, said = program.stdout.readline().split()
            parts, names, _ = account_of(program.pid)
        finally:
            program.kill()
            program.communicate()
        self.assertEqual(backend, "mimalloc")
        self.assertEqual(sum(parts.values()), 2 * parts["resident"])
        sizes = {row["part"]: row["resident_bytes"] for row in names
                 if row["name"].startswith("mimalloc of libarrow.so")}
        # Sizes are rounded up by at most an eighth.
        self.assertGreater(sizes["blocks_of_malloc"], int(said) * 0.99)
        self.assertLess(sizes["blocks_of_malloc"], int(said) * 1.125)
        self.assertGreater(sizes["kept_free_by_malloc"], 40 * MIB)
        # Of 2.2: huge pages that go on past a large block.
        self.assertLess(parts["mapped_without_a_file"], 6 * MIB)


class V8(unittest.TestCase):
    PROGRAM = """let held = []; for (let i = 0; i < 1e6; i++) held.push({i});
        let spaces, sum = (kind, of) => spaces.filter(space => !of || of.includes(space.space_name))
            .reduce((sum, space) => sum + space[kind], 0);
        process.stdin.on('data', () => {
            spaces = require('v8').getHeapSpaceStatistics();
            console.log(sum('physical_space_size'), sum('space_used_size', ['old_space', 'large_object_space',
                'new_large_object_space']));
        });"""

    @staticmethod
    def said(program):
        program.stdin.write("\n")
        program.stdin.flush()
        return tuple(map(int, program.stdout.readline().split()))

    @unittest.skipUnless(shutil.which("node"), "there is no node here")
    def test_its_chunks_are_split_into_what_v8_says(self):
        program = subprocess.Popen(["node", "-e", self.PROGRAM], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        try:
            for _ in range(20):  # it collects when it likes to
                before = self.said(program)
                parts, names, _ = account_of(program.pid)
                physical, objects = self.said(program)
                if abs(objects - before[1]) < objects / 200:
                    break
        finally:
            program.kill()
            program.communicate()
        sizes = {row["name"]: row["resident_bytes"] for row in names if " V8" in row["name"]}
        self.assertEqual(len(sizes), 3)
        self.assertLess(abs(sum(sizes.values()) - physical), physical / 10, (sizes, physical))
        said = sizes["objects of V8, with garbage not collected yet"]
        self.assertLess(abs(said - objects), objects / 50, (said, objects))
        self.assertLess(parts["mapped_without_a_file"] - sum(sizes.values()), physical / 4)


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
                    parts, _, _ = account_of(program.pid)
                finally:
                    program.kill()
                    program.wait()
                    program.stdout.close()
                self.assertLess(abs(parts["java_objects"] - said), 4 * MIB, (parts, said))
                self.assertGreater(parts["java_objects"], 47 * MIB)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
