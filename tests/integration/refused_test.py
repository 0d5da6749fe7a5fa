# SPDX-License-Identifier: Apache-2.0
"""Requests that the host refuses, and how programs end: what is recorded of them, and what the answers say.

Run as refused_test.py LEAKTIDE REFUSED, the second being refused.c.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE, REFUSED = sys.argv[1:3]
# Not a shell around it, whose own ends are others.
PYTHON = os.path.realpath(sys.executable)
# A loop that keeps 50 kB in each turn, and scratches.
JOB = """\
import os, resource, signal, sys
kept = {}
def load(turn):
    scratch = [bytes(2000) for _ in range(20)]
    return bytes(50000)
def job(turns):
    for turn in range(turns):
        kept[turn] = load(turn)
def limit():
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + (40 << 20),) * 2)
"""
UNCAUGHT = JOB + "limit()\njob(1 << 20)\n"
CAUGHT = JOB + """\
limit()
try:
    job(1 << 20)
except MemoryError:
    import traceback
    traceback.print_exc()
    for row in [[x, str(x)] for x in range(20000)]:
        row.clear()
    sys.exit(1)
"""
# CPython's allocator is refused an arena first, and asks malloc for each object from then on.
OBJECTS = """\
import os, resource
kept = []
def turn(number):
    kept.append({"number": number, "row": [number, str(number) * 3]})
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + (14 << 20),) * 2)
for number in range(1 << 20):
    [[item, str(item)] for item in range(20)]
    turn(number)
"""
PROBING = JOB + "try:\n    bytearray(1 << 50)\nexcept MemoryError:\n    pass\njob(400)\nsys.exit(3)\n"


def words(verdict, start):
    """The first sentence that begins so; None: there is none."""
    return next((sentence for sentence in verdict if sentence.startswith(start)), None)


class Recorded:
    def __init__(self, folder, *program):
        self.trace = os.path.join(folder, "run.leaktide")
        self.done = subprocess.run([LEAKTIDE, "run", "--device=cpu", "--call-stack=python,c", "-o", self.trace, "--",
                                    *program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                                   check=False)

    def ask(self, question):
        asked = subprocess.run([LEAKTIDE, question, "--format=json", self.trace], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        answer = json.loads(asked.stdout)
        answer["status"] = asked.returncode
        answer["rows"] = {table["name"]: table["rows"] for table in answer["tables"]}
        return answer


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, *program):
        return Recorded(self.folder, *program)

    def record_python(self, code):
        path = os.path.join(self.folder, "job.py")
        with open(path, "w", encoding="ascii") as file:
            file.write(code)
        return self.record(PYTHON, "-B", path)


class Probes(Case):
    """Who asks for more than there can be, and can live without it."""

    def test_each_way_to_ask_fails_as_it_does_natively_and_is_recorded(self):
        alone = subprocess.run([REFUSED, "probe", "0"], stdout=subprocess.PIPE, text=True, check=False)
        recorded = self.record(REFUSED, "probe", "0")
        self.assertEqual((alone.stdout, alone.returncode), ("15\n", 0))
        self.assertEqual((recorded.done.stdout, recorded.done.returncode), ("15\n", 0))
        failed = recorded.ask("oom")["rows"]["failed"]
        most = (1 << 64) - 1
        self.assertEqual([row["request_bytes"] for row in failed],
                         [1 << 50, most - (1 << 50), 1 << 50, most, 1 << 50, most, 1 << 50, 1 << 50, 1 << 50, 1 << 50,
                          1 << 50])
        self.assertEqual([row["ledger"] for row in failed], ["host"] * 9 + ["mmap", "mmap (virtual)"])
        self.assertEqual({row["status"] for row in failed}, {12})
        self.assertTrue(all(row["site"].startswith(("probe (", "is_refused_mapping (")) for row in failed), failed)
        totals = {row["ledger"]: row["failed_count"] for row in recorded.ask("info")["rows"]["totals"]}
        self.assertEqual((totals["host"], totals["mmap"]), (9, 1))

    def test_a_program_that_goes_on_is_not_out_of_memory(self):
        recorded = self.record(REFUSED, "probe", "0")
        self.assertTrue(recorded.ask("oom")["verdict"][0].startswith("REFUSED, AND THE PROGRAM WENT ON: host refused "))
        for question in "report", "leaks":
            said = "\n".join(recorded.ask(question)["verdict"])
            self.assertNotRegex(said, "REFUSED|OUT OF MEMORY|DIED")
        self.assertNotRegex(recorded.done.stderr, "REFUSED|OUT OF MEMORY")

    def test_what_nobody_can_have_is_no_lack_of_memory(self):
        recorded = self.record(REFUSED, "probe", "3")
        verdict = recorded.ask("oom")["verdict"]
        self.assertRegex(verdict[0], r"^REFUSED, MORE THAN THERE IS: host refused 1\.00 PiB to probe \(.* The machine has "
                                     r".* of memory and swap\.$")
        self.assertRegex(words(verdict, "DIED"), r"^DIED: refused \d+ exited with 3, .* after that request\.$")
        self.assertTrue(recorded.ask("report")["verdict"][0].startswith("REFUSED, MORE THAN THERE IS"))

    def test_who_works_on_after_a_refusal_did_not_die_of_it(self):
        recorded = self.record(REFUSED, "lives")
        self.assertEqual(recorded.done.returncode, 1)
        answer = recorded.ask("oom")
        self.assertTrue(answer["verdict"][0].startswith("REFUSED, AND THE PROGRAM WENT ON: host refused 512 MiB"),
                        answer["verdict"])
        self.assertEqual(answer["facts"]["exit_status"], 1)
        self.assertNotRegex("\n".join(recorded.ask("leaks")["verdict"]), "REFUSED|DIED")

    def test_a_leak_after_a_probe_is_judged_at_the_end(self):
        recorded = self.record_python(PROBING)
        answer = recorded.ask("leaks")
        self.assertEqual(answer["status"], 1)
        self.assertIn("LEAK: 48.9 KiB per turn at load (", "\n".join(answer["verdict"]))


class Full(Case):
    """A program that keeps blocks until there are no more."""

    def check_c(self, what, limit):
        recorded = self.record(REFUSED, "full", what)
        self.assertEqual((recorded.done.stdout, recorded.done.returncode), ("full\n", 1))
        leaks, oom = recorded.ask("leaks"), recorded.ask("oom")
        self.assertEqual(leaks["status"], 1)
        self.assertRegex(leaks["verdict"][0], r"^REFUSED: 48\.8 KiB to slab \(.*refused\.c:\d+\) by host; ")
        self.assertRegex(leaks["verdict"][1], r"^DIED: refused \d+ exited with 1, .* after that request\.$")
        self.assertTrue(words(leaks["verdict"], "LEAK: "), leaks["verdict"])
        self.assertEqual(leaks["facts"]["exit_status"], 1)
        self.assertIn("OUT OF MEMORY: host refused 48.8 KiB to slab (", oom["verdict"][0])
        self.assertIn(limit, oom["verdict"][0])
        held = oom["rows"]["held_at_failure"][0]
        self.assertTrue(held["site"].startswith("slab ("), held)
        self.assertGreater(held["held_bytes"], 20 << 20)
        grown = oom["rows"]["grown_at_failure"][0]
        self.assertEqual(grown["site"], held["site"])
        self.assertTrue(words(oom["verdict"], "GREW: since "), oom["verdict"])
        self.assertIn("REFUSED: 48.8 KiB to slab (", recorded.done.stderr)

    def test_an_address_space(self):
        self.check_c("as", " (RLIMIT_AS, ulimit -v).")

    def test_data(self):
        self.check_c("data", " (RLIMIT_DATA, ulimit -d).")

    def check_python(self, code):
        recorded = self.record_python(code)
        self.assertEqual(recorded.done.returncode, 1, recorded.done.stderr)
        self.assertIn("MemoryError", recorded.done.stderr)
        leaks, oom = recorded.ask("leaks"), recorded.ask("oom")
        self.assertRegex(leaks["verdict"][0], r"^REFUSED: 48\.9 KiB to load \(.*job\.py:5\) by host; ")
        self.assertRegex(words(leaks["verdict"], "LEAK: ") or "", r"at load \(.*job\.py:5\)")
        self.assertEqual(leaks["status"], 1)
        self.assertRegex(oom["verdict"][0], r"^OUT OF MEMORY: host refused 48\.9 KiB to load \(.*job\.py:5\).*RLIMIT_AS")
        self.assertRegex(oom["rows"]["held_at_failure"][0]["site"], r"^load \(.*job\.py:5\)$")

    def test_a_MemoryError_that_nobody_catches(self):
        self.check_python(UNCAUGHT)

    def test_a_MemoryError_that_is_printed_before_the_program_gives_up(self):
        self.check_python(CAUGHT)


    def test_a_leak_of_objects_is_judged_before_their_allocator_asks_elsewhere(self):
        recorded = self.record_python(OBJECTS)
        self.assertEqual(recorded.done.returncode, 1, recorded.done.stderr)
        leaks, oom = recorded.ask("leaks"), recorded.ask("oom")
        self.assertRegex(words(leaks["verdict"], "LEAK: ") or "", r"at turn \(.*job\.py:4\)")
        leak = leaks["findings"][0]
        self.assertEqual(leak["ledger"], "python")
        self.assertGreater(leak["overdue_bytes"], 4 << 20)
        self.assertTrue(oom["verdict"][0].startswith("OUT OF MEMORY: host refused "), oom["verdict"])
        self.assertEqual(oom["rows"]["failed"][0]["ledger"], "mmap")


class Ends(Case):
    """How a program ended is a part of the answer."""

    def test_killed_from_outside(self):
        recorded = self.record_python(JOB + "job(400)\nos.kill(os.getpid(), signal.SIGKILL)\n")
        self.assertEqual(recorded.done.returncode, 128 + 9)
        for question in "leaks", "report", "oom":
            answer = recorded.ask(question)
            self.assertEqual(answer["facts"]["end_signal"], 9)
            self.assertRegex(words(answer["verdict"], "KILLED") or "",
                             r"^KILLED FROM OUTSIDE: python\S* \d+ was ended by signal 9 \(SIGKILL\)\. No request for "
                             r"memory had failed")
        self.assertTrue(words(recorded.ask("leaks")["verdict"], "LEAK: "))

    def test_a_signal_of_its_own(self):
        recorded = self.record_python(JOB + "os.abort()\n")
        answer = recorded.ask("leaks")
        self.assertEqual(answer["facts"]["end_signal"], 6)
        self.assertRegex(words(answer["verdict"], "DIED") or "", r"^DIED: python\S* \d+ was ended by signal 6 \(SIGABRT\)\.$")
        self.assertRegex(words(answer["verdict"], "No leak verdict") or "",
                         r"^No leak verdict, as python\S* \d+ was ended by signal 6 \(SIGABRT\) before a loop was seen: ")

    def test_a_shell_whose_program_was_killed(self):
        recorded = self.record("/bin/sh", "-c", "sh -c 'kill -9 $$'; exit $?")
        self.assertRegex(words(recorded.ask("leaks")["verdict"], "DIED") or "",
                         r"^DIED: \S+ \d+ exited with 137, as a shell does where signal 9 ended what it ran\.$")

    def test_a_program_that_did_not_begin_has_no_verdict_for_that_reason(self):
        recorded = self.record_python("import there_is_no_such_module\n")
        answer = recorded.ask("leaks")
        self.assertEqual((recorded.done.returncode, answer["status"]), (1, 4))
        self.assertRegex(answer["verdict"][0], r"^No leak verdict, as python\S* \d+ exited with 1 before a loop was seen: ")
        self.assertNotIn("Mark steps", "\n".join(answer["verdict"]))

    def test_a_good_end_is_not_told(self):
        recorded = self.record_python("import json\n")
        answer = recorded.ask("leaks")
        self.assertNotIn("exit_status", answer["facts"])
        self.assertNotIn("end_signal", answer["facts"])
        self.assertTrue(words(answer["verdict"], "No steps, so no leak verdict"), answer["verdict"])
        self.assertFalse(re.search("DIED|KILLED|REFUSED", "\n".join(answer["verdict"])))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
