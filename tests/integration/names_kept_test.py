# SPDX-License-Identifier: Apache-2.0
"""Names of functions stay with a recording: the program is built again, and nothing changes.

Run as names_kept_test.py LEAKTIDE COMPILER.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import traced

LEAKTIDE, COMPILER = sys.argv[1:3]
PROGRAM = """
#include <stdlib.h>
static void *kept[1000];
__attribute__((noinline)) void *forward(int i) { void *p = malloc(SIZE + (unsigned)i % 2); return p; }
__attribute__((noinline)) void train(void)
{
    for (int i = 0; i < 1000; i++) { kept[i] = forward(i); free(malloc(100)); }
}
int main(void) { train(); return kept[5] == 0; }
"""


class Names(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in traced.OURS}
        self.environment["XDG_CACHE_HOME"] = self.path("cache")  # names that are there by accident
        self.build("4096")
        self.run_program("before", *(["--quiet"] if self.id().endswith("none_kept") else []))

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *words):
        run = subprocess.run([LEAKTIDE, *words], env=self.environment, cwd=self.folder,
                             capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def build(self, size, lines=0, debug="-g"):
        with open(self.path("train.c"), "w", encoding="ascii") as file:
            file.write("\n" * lines + PROGRAM)
        subprocess.run([COMPILER, debug, "-O1", "-Wl,--build-id", "-DSIZE=" + size, "-o",
                        self.path("train"), self.path("train.c")], check=True)

    def run_program(self, name, *options):
        self.command("run", "--device=cpu", "--call-stack=c", *options, "-o", self.path(name), "--",
                     self.path("train"))

    def sites(self, name):
        report = json.loads(self.command("peak", "--format=json", self.path(name)))
        rows, = [table["rows"] for table in report["tables"] if table["name"] == "held_at_peak"]
        return {row["site"] for row in rows}

    def without_debug_data(self, name, *options):
        report = json.loads(self.command("peak", "--format=json", *options, self.path(name)))
        return [note for note in report["notes"] if "without debug data" in str(note)]

    def test_kept_names_without_lines_are_of_modules_without_debug_data(self):
        self.build("4096", debug="-g0")
        self.run_program("plain")
        here = self.without_debug_data("plain")
        self.assertEqual(len(here), 1)
        with_debug_data = self.without_debug_data("before")
        self.build("8192")
        self.assertEqual(self.without_debug_data("plain"), here)
        self.assertNotEqual(self.sites("plain"), set())
        self.assertEqual(self.without_debug_data("before"), with_debug_data)

    def test_debug_data_that_is_found_later_is_better_than_kept_names(self):
        self.build("4096")
        subprocess.run(["objcopy", "--only-keep-debug", self.path("train"),
                        self.path("train.debug")], check=True)
        subprocess.run(["strip", "--strip-debug", self.path("train")], check=True)
        self.run_program("plain")
        self.build("8192")
        self.assertRegex("".join(self.sites("plain")), r"^train\+0x|^forward\+0x")
        identity = self.build_id(self.path("train.debug"))
        os.makedirs(self.path("debug/.build-id/" + identity[:2]))
        os.rename(self.path("train.debug"),
                  self.path(f"debug/.build-id/{identity[:2]}/{identity[2:]}.debug"))
        report = json.loads(self.command("peak", "--format=json", "--debug-dir=" +
                                         self.path("debug"), self.path("plain")))
        rows, = [table["rows"] for table in report["tables"] if table["name"] == "held_at_peak"]
        self.assertEqual({row["site"] for row in rows}, {"forward (train.c:4)"})

    @staticmethod
    def build_id(path):
        run = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True)
        return run.stdout.split("Build ID:")[1].split()[0]

    def test_a_rebuild_changes_neither_names_nor_ids(self):
        self.assertEqual(self.sites("before"), {"forward (train.c:4)"})
        self.build("8192", lines=3)
        self.assertEqual(self.sites("before"), {"forward (train.c:4)"})
        self.run_program("after")
        answer = json.loads(self.command("diff", "--format=json", self.path("before"),
                                         self.path("after")))
        rows, = [table["rows"] for table in answer["tables"] if table["name"] == "site_changes"]
        self.assertEqual([(row["change"], row["site"]) for row in rows],
                         [("grown", "forward (train.c:7)")])

    def test_names_that_are_damaged_are_not_believed(self):
        names = self.path("before/names")
        for entry in os.listdir(names):
            with open(os.path.join(names, entry), "r+b") as file:
                file.seek(-3, os.SEEK_END)
                file.write(b"?")
        self.build("8192")
        self.assertRegex("".join(self.sites("before")), r"^train\+0x")

    def test_without_a_verdict_none_kept(self):
        self.assertFalse(os.path.exists(self.path("before/names")))


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
