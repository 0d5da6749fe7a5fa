# SPDX-License-Identifier: Apache-2.0
"""What is said of a program does not depend on whether its interpreter was stripped.

Each CPython below ~/.pyenv that has its symbols is copied and stripped. Where its functions have no
names at all, as its file is gone, nobody can say whether something leaks.

Run as stripped_interpreter_test.py LEAKTIDE SYMBOLIZE.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import traced

LEAKTIDE, SYMBOLIZE = sys.argv[1:3]
SYSTEM = "/usr/bin/python3"
LEAK, NONE, DOUBT = 1, 0, 4
LOOKED_FOR = {"flush_std_files", "gc_collect", "bounded_lru_cache_wrapper", "invoke_gc_callback",
              "_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc"}
CLEANUPS = {"finalize_modules", "_PyImport_Cleanup", "PyImport_Cleanup"}

GARBAGE = """
import gc
gc.set_threshold(1000000, 1000, 1000)
class N: pass
def turn(i):
    a, b = N(), N(); a.o, b.o = b, a; a.data = bytes(3000)
for i in range(300):
    t = [bytes(100) for _ in range(100)]; turn(i)
"""
CACHE = """
import functools
@functools.lru_cache(maxsize=1000000)
def work(k): return bytes(2000) + str(k).encode()
n = 0
for i in range(60):
    t = [bytes(100) for _ in range(200)]
    for _ in range(40): work(n); n += 1
"""
LIST = """
kept = []
def work(i):
    kept.append(bytearray(10000)); return [str(k) for k in range(1000, 1020)]
for i in range(300): work(i)
"""
PROGRAMS = (("garbage", GARBAGE, DOUBT), ("cache", CACHE, NONE), ("list", LIST, LEAK))


def interpreters():
    """Version, program, its library with symbols: one of each version."""
    found = {}
    for library in sorted(glob.glob(os.path.expanduser(
            "~/.pyenv/versions/3.*/lib/libpython3.*.so.1.0"))):
        version = re.search(r"libpython(3\.\d+)m?\.so", library).group(1)
        program = os.path.join(os.path.dirname(library), "..", "bin", "python" + version)
        names = traced.symbols_of(library)[1]
        if int(version[2:]) >= 8 and "flush_std_files" in names and os.path.exists(program):
            found[version] = (version, os.path.normpath(program), library)
    return list(found.values())


class Stripped(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def strip(self, library):
        """The folder of a stripped copy."""
        os.makedirs(self.path("stripped"), exist_ok=True)
        copy = shutil.copy(library, self.path("stripped"))
        subprocess.run(["strip", copy], check=True)
        return os.path.dirname(copy)

    def record(self, program, text, allocator, libraries=""):
        environment = {name: value for name, value in os.environ.items() if name not in traced.OURS}
        environment.update(PYTHONMALLOC=allocator, XDG_CACHE_HOME=self.path("cache"))
        if libraries:
            environment["LD_LIBRARY_PATH"] = libraries
        with open(self.path("program.py"), "w", encoding="ascii") as file:
            file.write(text)
        shutil.rmtree(self.path("recording"), ignore_errors=True)
        subprocess.run([LEAKTIDE, "run", "--quiet", "--no-report", "--device=cpu", "-o",
                        self.path("recording"), "--", program, self.path("program.py")],
                       env=environment, check=True, timeout=120)

    def verdict(self):
        run = subprocess.run([LEAKTIDE, "leaks", "--format=json", self.path("recording")],
                             env=dict(os.environ, XDG_CACHE_HOME=self.path("cache")),
                             capture_output=True, text=True, check=False, timeout=120)
        return run.returncode, json.loads(run.stdout)["verdict"]

    def test_that_names_are_those_that_were_stripped(self):
        for version, _, library in interpreters():
            with self.subTest(version):
                copy = os.path.join(self.strip(library), os.path.basename(library))
                addresses, names = traced.symbols_of(library)
                asked = "".join("0x%x\n" % address for address in addresses)
                answer = subprocess.run([SYMBOLIZE, "--stripped-python", copy], input=asked,
                                        capture_output=True, text=True, check=True).stdout
                found = re.findall(r"^0x([0-9a-f]+)\n(\w+)\n", answer, re.M)
                known = dict(zip(addresses, names))
                clean = {(name, known[int(address, 16)].split(".")[0]) for address, name in found
                         if not known[int(address, 16)].endswith(".cold")}
                told = {name for name, _ in clean}

                self.assertLessEqual(LOOKED_FOR | {"finalize_modules"}, told)
                for name, own in clean:
                    self.assertIn(own, CLEANUPS if name == "finalize_modules" else
                                  {"_Py_Finalize", "_Py_FinalizeMain"} if name == "_Py_Finalize" else
                                  {name})

    def test_that_the_verdict_is_the_same(self):
        for version, program, library in interpreters():
            stripped = self.strip(library)
            for name, text, expected in PROGRAMS:
                for allocator in ("pymalloc", "malloc"):
                    with self.subTest(version=version, program=name, allocator=allocator):
                        self.record(program, text, allocator)
                        whole = self.verdict()
                        self.record(program, text, allocator, stripped)
                        self.assertEqual((whole[0], self.verdict()[0]), (expected, expected), whole)

    @unittest.skipUnless(os.path.exists(SYSTEM) and not traced.symbols_of(SYSTEM)[1],
                         "the system has no CPython that is stripped")
    def test_that_the_one_of_the_system_is_as_any_other(self):
        for name, text, expected in PROGRAMS:
            for allocator in ("pymalloc", "malloc"):
                with self.subTest(program=name, allocator=allocator):
                    self.record(SYSTEM, text, allocator)
                    code, sentences = self.verdict()
                    self.assertEqual(code, expected, sentences)

    def test_that_nothing_is_said_without_any_name(self):
        version, program, library = interpreters()[-1]
        for name, text, _ in PROGRAMS:
            with self.subTest(version=version, program=name):
                self.record(program, text, "malloc", self.strip(library))
                os.remove(os.path.join(self.path("stripped"), os.path.basename(library)))
                code, sentences = self.verdict()
                self.assertEqual(code, DOUBT, sentences)
                self.assertIn("have no names", sentences[0])


if __name__ == "__main__":
    if not interpreters() or not shutil.which("strip"):
        print("no CPython with symbols below ~/.pyenv, or no strip: skipped")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
