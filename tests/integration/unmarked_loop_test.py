"""A Python program that marks no steps, imports for long and loops at its end: its steps are found,
and the leak is found with its line, but not where there is none.

    unmarked_loop_test.py LEAKTIDE
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE = sys.argv[1]
STEPS = 60
SHORT_LOOP = """\
import decimal, email.message, http.client, sys, xml.dom.minidom
kept = []
class Model:
    def forward(self):
        hidden = [bytes(4000 + i) for i in range(20)]
        if "leak" in sys.argv:
            kept.append(hidden[0])
        return len(hidden)
def train(model):
    rows = [bytearray(2000) for _ in range(30)]
    return model.forward() / len(rows)
def validate():
    return [bytearray(3000 + i) for i in range(50)][0]
weights, model = [bytearray(1 << 20) for _ in range(4)], Model()
for turn in range(int(sys.argv[1])):
    train(model)
    if turn % 10 == 9:
        validate()
"""
PROGRAM = """\
import email.message, http.client, mmap, sys
kept = []
def batch(step):
    return [bytes(3000 + n) for n in range(200)]
def train(step):
    rows = batch(step)
    text = str(rows[0])
    if "leak" in sys.argv:
        kept.append(bytes(5000))
    if "map" in sys.argv:
        kept.append(mmap.mmap(-1, 16384))
    return len(text)
for step in range(%d):
    train(step)
""" % STEPS

HELPER = """\
kept = []
def make(size):
    return bytes(size)
def left():
    kept.append(make(4000))
def right():
    kept.append(make(9000))
def alone():
    kept.append(bytes(2000))
"""
CALLS_HELPER = """\
import helper
for turn in range(200):
    helper.left()
    helper.right()
    helper.alone()
"""

# Four workers that keep what they answered, as those of a pool do; with "one" the last keeps something else.
WORKERS = """\
import os, sys
kept = []
def answer(turn):
    kept.append([bytes(3000 + turn % 7) for _ in range(3)][0])
def other(turn):
    kept.append(bytearray(5000))
def work(number):
    for turn in range(200):
        (other if "one" in sys.argv and number == 3 else answer)(turn)
        [bytes(2000) for _ in range(30)]
children = []
for number in range(4):
    child = os.fork()
    if not child:
        work(number)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
"""


class UnmarkedLoop(unittest.TestCase):
    def leaks(self, folder, *arguments, source=PROGRAM, options=()):
        program, trace = os.path.join(folder, "job.py"), os.path.join(folder, "job.leaktide")
        for path, text in (program, source), (os.path.join(folder, "helper.py"), HELPER):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        environment.update(PYTHONMALLOC="malloc", PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
        subprocess.run([LEAKTIDE, "run", "--device=cpu", "--call-stack=python,c", "-o", trace, "--",
                        os.path.realpath(sys.executable), program, *arguments], env=environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                       timeout=200)
        done = subprocess.run([LEAKTIDE, "leaks", "--format=json", *options, trace], stdout=subprocess.PIPE,
                              check=False, timeout=200)
        return done.returncode, json.loads(done.stdout)

    def test_what_a_shell_before_it_kept_is_no_remark(self):
        shell = "for i in $(seq 100); do a[$i]=xxxxxxxxxxxxxxxxxx$i; done; exec \"$@\""
        with tempfile.TemporaryDirectory() as folder:
            into = os.path.join(folder, "run")
            subprocess.run([LEAKTIDE, "run", "--quiet", "--device=cpu", "--no-report", "-o", into, "--", "bash", "-c", shell, "sh",
                            sys.executable, "-c", "import json\nfor i in range(20000): json.dumps({'i': i})"],
                           check=True, timeout=120)
            done = subprocess.run([LEAKTIDE, "leaks", into], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("REMARK", done.stdout)

    def test_leak_is_found_with_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            status, report = self.leaks(folder, "leak")
        self.assertEqual(status, 1, report["verdict"])
        self.assertLessEqual(STEPS - 8, report["facts"]["step_count"])
        self.assertLessEqual(report["facts"]["step_count"], STEPS)
        sites = [finding["site"] for finding in report["findings"]]
        self.assertIn("job.py:9", sites[0])

    def test_short_loops_behind_imports_and_beside_others(self):
        for turns in "12", "20", "120":
            with tempfile.TemporaryDirectory() as folder:
                status, report = self.leaks(folder, turns, "leak", source=SHORT_LOOP)
            self.assertEqual((status, report["verdict"][0].split(":")[0]), (1, "LEAK"))
            self.assertIn("job.py:5", report["verdict"][0])
            self.assertEqual(len(report["findings"]), 1, report["findings"])
            with tempfile.TemporaryDirectory() as folder:
                status, report = self.leaks(folder, turns, source=SHORT_LOOP)
            self.assertEqual(status, 0, report["verdict"])

    def test_leaks_of_one_helper_say_who_called_it(self):
        """Steps that were found, and steps that somebody named: other sentences, the same callers."""
        for options in (), ("--step-site=alone",):
            with tempfile.TemporaryDirectory() as folder:
                report = self.leaks(folder, source=CALLS_HELPER, options=options)[1]
            sentences = [finding["sentence"] for finding in report["findings"]]
            self.assertEqual(len(sentences), 3, sentences)
            for sentence, place in zip(sentences, (r"helper\.py:3\) < right:7: ",
                                                   r"helper\.py:3\) < left:5: ", r"helper\.py:9\): ")):
                self.assertRegex(sentence, place)
            self.assertRegex(report["verdict"][0], r"helper\.py:3\) < right:7: ")

    def test_small_mappings_that_stay_are_a_leak(self):
        with tempfile.TemporaryDirectory() as folder:
            status, report = self.leaks(folder, "map")
        self.assertEqual(status, 1, report["verdict"])
        self.assertIn("job.py:11", report["findings"][0]["site"])
        self.assertIn("shared_memory", report["findings"][0]["ledger"])

    def test_a_leak_in_each_worker_is_one_finding(self):
        with tempfile.TemporaryDirectory() as folder:
            status, report = self.leaks(folder, source=WORKERS)
        self.assertEqual(status, 1, report["verdict"])
        self.assertEqual([words.split(" ")[0] for words in report["verdict"] if words[:3] in ("LEA", "WOR")],
                         ["LEAK:", "WORKERS:"], report["verdict"])
        self.assertRegex("\n".join(report["verdict"]), r"WORKERS: the first line leaks in 4 of 5 processes of the "
                                                       r"program, [\d.]+ MiB in all of them\.")
        self.assertEqual([finding["process_count"] for finding in report["findings"]], [4])
        self.assertIn("job.py:4", report["findings"][0]["site"])

    def test_another_leak_in_one_of_them_is_another_finding(self):
        with tempfile.TemporaryDirectory() as folder:
            report = self.leaks(folder, "one", source=WORKERS)[1]
        self.assertEqual(sorted((finding["process_count"], "job.py:6" in finding["site"])
                                for finding in report["findings"]), [(1, True), (3, False)], report["findings"])

    def test_nothing_is_called_a_leak_without_one(self):
        with tempfile.TemporaryDirectory() as folder:
            status, report = self.leaks(folder)
        self.assertEqual(status, 0, report["verdict"])
        self.assertLessEqual(STEPS - 8, report["facts"]["step_count"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
