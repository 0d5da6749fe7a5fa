"""What people see on a terminal: width, colours, links, a pager, the first screen.

Run as terminal_test.py LEAKTIDE MAKE_TRACES RECORDINGS.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import terminal
from terminal import plain

LEAKTIDE, MAKE_TRACES, RECORDINGS = (os.path.realpath(word) for word in sys.argv[1:4])
SEQUENCE = re.compile(r"\x1b\][^\x1b]*\x1b\\\\|\x1b\[[0-9;]*[A-Za-z]")
QUESTIONS = ["report", "leaks", "peak", "stacks", "blocks", "steps", "ops", "breakdown", "modules", "ranks", "info", "frag",
             "oom", "inefficient", "advice"]


def setUpModule():
    global folder
    folder = tempfile.mkdtemp()
    subprocess.run([MAKE_TRACES], cwd=folder, check=True)
    shutil.copytree(RECORDINGS, folder, dirs_exist_ok=True)


def tearDownModule():
    shutil.rmtree(folder)


def to_pipe(*words, **variables):
    env = {name: value for name, value in os.environ.items() if not terminal.OURS.match(name)}
    return subprocess.run([LEAKTIDE, *words], cwd=folder, env=dict(env, TERM="xterm", **variables),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          universal_newlines=True, timeout=60).stdout


def on_terminal(*words, **how):
    return terminal.run([LEAKTIDE, *words], folder, **how)


class Width(unittest.TestCase):
    def test_nothing_is_wider_than_the_terminal(self):
        for question in QUESTIONS:
            for recording in ("leak", "stacks", "refused"):
                for columns in (60, 80, 132):
                    shown = plain(on_terminal(question, "-v", recording, columns=columns)[0])
                    self.assertTrue(shown)
                    for line in shown.split("\n"):
                        # A word that has no blank stays whole; so does an amount that nothing can make way for.
                        if len(line) > columns and len(line.split()) > 1:
                            self.fail("%s %s in %d columns: %s" % (question, recording, columns, line))

    def test_wide_has_all_columns(self):
        titles = to_pipe("leaks", "leak").split("Sites that keep")[1].split("\n")[1].split()
        wide = plain(on_terminal("leaks", "-v", "--wide", "leak")[0])
        narrow = plain(on_terminal("leaks", "-v", "leak")[0])
        self.assertEqual(wide.split("Sites that keep")[1].split("\n")[1].split(), titles)
        self.assertNotEqual(narrow.split("Sites that keep")[1].split("\n")[1].split(), titles)
        self.assertIn("--wide shows all", narrow)
        self.assertNotIn("--wide", wide)

    def test_a_wide_terminal_loses_no_word(self):
        wide = plain(on_terminal("report", "-v", "leak", columns=400)[0])
        self.assertEqual(wide.split(), to_pipe("report", "leak").split())


class FirstScreen(unittest.TestCase):
    def test_it_fits_and_says_what_is_left_out(self):
        shown = plain(on_terminal("report", "leak", lines=40)[0])
        self.assertLessEqual(shown.count("\n"), 40)
        self.assertTrue(shown.startswith("LEAK: "))
        self.assertRegex(shown, r"\d+ more parts: -v shows all\.( Columns .*)?\n")
        self.assertNotIn("more parts", plain(on_terminal("report", "-v", "leak", lines=40)[0]))

    def test_a_pipe_gets_everything(self):
        self.assertNotIn("more parts", to_pipe("report", "leak"))


class Colours(unittest.TestCase):
    def test_the_verdict_stands_out(self):
        self.assertTrue(on_terminal("leaks", "leak")[0].startswith("\x1b[1;31mLEAK:\x1b[0m "))
        self.assertTrue(on_terminal("leaks", "tidy")[0].startswith("\x1b[1;32mNo leak"))

    def test_who_wants_none_gets_none(self):
        for words, variables in (((), {"NO_COLOR": "1"}), ((), {"CLICOLOR": "0"}), ((), {"TERM": "dumb"}),
                                 (("--color=never",), {"CLICOLOR_FORCE": "1"})):
            self.assertNotIn("\x1b", on_terminal("leaks", *words, "leak", **variables)[0])

    def test_a_pipe_has_some_when_asked(self):
        self.assertNotIn("\x1b", to_pipe("leaks", "leak"))
        self.assertIn("\x1b[1;31mLEAK:", to_pipe("leaks", "--color=always", "leak"))
        self.assertIn("\x1b[1;31mLEAK:", to_pipe("leaks", "leak", CLICOLOR_FORCE="1"))
        self.assertNotIn("\x1b", to_pipe("leaks", "leak", CLICOLOR_FORCE="1", NO_COLOR="1"))

    def test_data_has_none(self):
        for name in ("json", "csv", "md"):
            self.assertNotIn("\x1b", to_pipe("leaks", "--format=" + name, "--color=always", "leak"))

    def test_another_word_is_wrong(self):
        shown, status = on_terminal("leaks", "--color=blue", "leak")
        self.assertEqual(status, 2)
        self.assertIn("auto, always or never", plain(shown))


class Pager(unittest.TestCase):
    def paged(self, *words, **options):
        path = os.path.join(folder, "paged")
        if os.path.exists(path):
            os.remove(path)
        shown, status = on_terminal(*words, LEAKTIDE_PAGER="cat > " + path, **options)
        return shown, status, open(path).read() if os.path.exists(path) else None

    def test_what_is_longer_than_the_screen_goes_there(self):
        shown, status, paged = self.paged("leaks", "-v", "leak", lines=12)
        self.assertEqual((shown, status), ("", 1))
        self.assertIn("LEAK:", paged)

    def test_what_is_not_does_not(self):
        shown, status, paged = self.paged("leaks", "-v", "leak", lines=200)
        self.assertIn("LEAK:", shown)
        self.assertIsNone(paged)

    def test_nor_where_it_is_not_wanted(self):
        self.assertIsNone(self.paged("leaks", "-v", "--no-pager", "leak", lines=12)[2])

    def test_one_that_is_not_there_shows_it_all_the_same(self):
        shown, status = on_terminal("leaks", "-v", "leak", lines=12, LEAKTIDE_PAGER="/nowhere/pager")
        self.assertIn("LEAK:", shown)
        self.assertEqual(status, 1)

    def test_one_that_stops_reading_changes_no_status(self):
        self.assertEqual(on_terminal("leaks", "-v", "leak", lines=12, LEAKTIDE_PAGER="true")[1], 1)


class Links(unittest.TestCase):
    def test_a_place_leads_to_its_file(self):
        source = os.path.join(folder, "batch.c")
        self.assertNotIn("\x1b]8", on_terminal("leaks", "-v", "lines", FORCE_HYPERLINK="1")[0])  # it is not there
        with open(source, "w"):
            self.addCleanup(os.remove, source)
        shown = on_terminal("leaks", "-v", "lines", FORCE_HYPERLINK="1")[0]
        self.assertRegex(shown, r"\x1b\]8;;file://[^/]*%s#\d+\x1b\\batch\.c:\d+\x1b\]8;;\x1b\\" %
                         re.escape(os.path.realpath(source)))
        for variables in ({}, {"VTE_VERSION": "1", "FORCE_HYPERLINK": "0"}, {"VTE_VERSION": "1", "NO_COLOR": "1"}):
            self.assertNotIn("\x1b]8", on_terminal("leaks", "-v", "lines", **variables)[0])
        self.assertIn("\x1b]8", on_terminal("leaks", "-v", "lines", VTE_VERSION="7000")[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
