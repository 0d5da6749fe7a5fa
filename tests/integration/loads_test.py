"""Answers are the same whether what the program loads is read by module or frame by frame.

A question of the command line has of loads the modules alone; a recording that is open for any
question has all frames. Run as loads_test.py FOLDER-OF-LEAKTIDE.PY LIBRARY LEAKTIDE
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

MODULES, LIBRARY, LEAKTIDE = (os.path.abspath(path) for path in sys.argv[1:4])

os.environ["LEAKTIDE_LIBRARY"] = LIBRARY
sys.path.insert(0, MODULES)
import leaktide  # noqa: E402

# A module of its own is loaded too: what it runs is no load.
JOB = """
import email.message, http.client, json, unittest, xml.dom.minidom
import work
kept = []
for turn in range(60):
    kept.append(work.turn(turn))
    import decimal, fractions
"""
WORK = """
import csv, logging, tarfile
table = [bytes(1000 + i) for i in range(100)]
def turn(number):
    words = [bytes(2000) for _ in range(20)]
    return bytes(3000 + len(words))
"""
QUESTIONS = ("leaks", "report", "ranks", "peak", "blocks", "steps", "breakdown")


def rows_of(tables):
    """Of a JSON document: a table is its rows, or an object that has them."""
    tables = tables.values() if isinstance(tables, dict) else tables
    return [table["rows"] if isinstance(table, dict) else table for table in tables]


def without_stacks(rows):
    return [{key: value for key, value in dict(row).items() if key != "stack"} for row in rows]


def frames_of(rows):
    return sum(len(dict(row).get("stack") or ()) for row in rows)


def told(recording, question):
    done = subprocess.run([LEAKTIDE, question, "--format=json", recording], stdout=subprocess.PIPE)
    return json.loads(done.stdout)


class Loads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.recording = os.path.join(cls.folder.name, "run")
        for name, text in (("job.py", JOB), ("work.py", WORK)):
            with open(os.path.join(cls.folder.name, name), "w") as file:
                file.write(text)
        subprocess.run([LEAKTIDE, "run", "--quiet", "--no-report", "--device=cpu",
                        "--call-stack=python,c", "-o", cls.recording, "--",
                        sys.executable, os.path.join(cls.folder.name, "job.py")],
                       check=True, stderr=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_something_is_left_out(self):
        with leaktide.open(self.recording) as recording:
            whole = sum(frames_of(table) for table in recording.ask("report").tables)
        left = sum(frames_of(rows) for rows in rows_of(told(self.recording, "report")["tables"]))
        self.assertGreater(left, 0)
        self.assertGreater(whole, left)

    def test_answers_do_not_depend_on_what_is_left_out(self):
        with leaktide.open(self.recording) as recording:
            for question in QUESTIONS:
                with self.subTest(question=question):
                    answer, line = recording.ask(question), told(self.recording, question)
                    self.assertEqual(list(answer.verdict), line["verdict"])
                    self.assertEqual([one.sentence for one in answer.findings],
                                     [one["sentence"] for one in line["findings"]])
                    self.assertEqual(
                        [without_stacks(table) for table in answer.tables],
                        [without_stacks(rows) for rows in rows_of(line["tables"])])

    def test_the_leak_is_found(self):
        self.assertIn("work.py:6", told(self.recording, "leaks")["verdict"][0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
