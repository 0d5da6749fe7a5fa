"""Where an export may go, and what is left when it cannot be written.

Run as target_test.py LEAKTIDE CLI_MAKE_TRACES REFERENCE_DATA
"""

import os
import resource
import sqlite3
import subprocess
import unittest

import exported


def formats():
    lines = exported.leaktide("export", "--to", "help").stdout.decode().splitlines()
    return [line.split()[0] for line in lines]


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))


class Target(exported.Exported):
    def setUp(self):
        self.source = os.path.join(self.folder, "leak")

    def refused(self, to, source, out, sentence, code=2, **others):
        ran = exported.leaktide("export", "--to", to, source, "-o", out, **others)
        self.assertEqual((ran.returncode, ran.stdout), (code, b""))
        self.assertRegex(ran.stderr.decode(), "^leaktide: .*" + sentence)
        self.assertEqual(ran.stderr.count(b"\n"), 1)

    def test_every_format_leaves_nothing_on_a_full_disk(self):
        for to in formats():
            with self.subTest(to=to):
                out = self.out(to)
                self.refused(to, self.source, out, os.path.basename(out), preexec_fn=small_files)
                left = [name for name in os.listdir(self.folder) if self._testMethodName in name]
                self.assertEqual(left, [])

    def test_what_was_there_stays_when_the_export_fails(self):
        out = self.out("db")
        with open(out, "w", encoding="ascii") as old:
            old.write("old")
        self.refused("sqlite", self.source, out, "db", preexec_fn=small_files)
        with open(out, encoding="ascii") as old:
            self.assertEqual(old.read(), "old")

    def test_a_file_is_replaced_through_a_link(self):
        out, link = self.out("db"), self.out("link")
        with open(out, "w", encoding="ascii") as old:
            old.write("old")
        os.symlink(os.path.basename(out), link)
        self.export("sqlite", self.source, link)
        self.assertTrue(os.path.islink(link))
        sqlite3.connect(out).execute("SELECT * FROM blocks").fetchone()

    def test_every_format_fails_where_there_is_no_folder(self):
        for to in formats():
            with self.subTest(to=to):
                self.refused(to, self.source, os.path.join(self.folder, "none", "out"),
                             "none/out: No such file or directory")

    def test_a_folder_is_no_place_for_a_file(self):
        self.refused("sqlite", self.source, self.folder, "is a folder; name a file")

    def test_an_input_is_not_overwritten(self):
        out = self.export("sqlite", self.source, self.out("db"))
        self.refused("sqlite", self.source, self.source, "is an input|is a folder")
        self.assertTrue(os.path.isdir(self.source))
        self.assertTrue(os.path.isfile(out))

    def test_a_database_does_not_go_to_a_pipe(self):
        out = self.out("pipe")
        os.mkfifo(out)
        self.refused("sqlite", self.source, out, "is a device or a pipe")
        ran = exported.leaktide("export", "--to", "sqlite", self.source)
        self.assertEqual(ran.returncode, 2)
        self.assertIn(b"cannot go to standard output", ran.stderr)

    @unittest.skipIf(os.getuid() == 0, "root may write anywhere")
    def test_every_format_fails_in_a_folder_of_others(self):
        for to in formats():
            self.refused(to, self.source, "/proc/out", "Permission denied|No such file")

    def test_events_that_are_missing_are_said(self):
        out = self.out("db")
        ran = exported.leaktide("export", "--to", "sqlite", os.path.join(self.folder, "lost"),
                               "-o", out)
        self.assertEqual(ran.returncode, 3)
        self.assertIn(b"events are missing", ran.stderr)
        lost = sqlite3.connect(out).execute("SELECT SUM(lost_count) FROM processes").fetchone()
        self.assertGreater(lost[0], 0)

    def test_unknown_formats_are_named(self):
        ran = subprocess.run([exported.LEAKTIDE, "export", "--to=sqlit", self.source],
                             stderr=subprocess.PIPE, check=False)
        self.assertEqual((ran.returncode, ran.stderr),
                         (2, b"leaktide: --to=sqlit: there is no such format; did you mean "
                             b"sqlite?\n"))


if __name__ == "__main__":
    exported.main()
