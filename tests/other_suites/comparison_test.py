#!/usr/bin/env python3
"""That run.py sees what it should: readers, flaky tests, differences, and nothing left behind."""

import os
import subprocess
import sys
import tempfile
import time
import unittest

import fetching
import readers
import run
import suites

READER_CASES = (
    # reader, output, results
    (readers.tap, "ok 1 - sums # abc\nnot ok 2 - books # 3, not 4\n# remark\n",
     {"sums": "passed abc", "books": "failed 3, not 4"}),
    (readers.automake, "PASS: tests/cp/link.sh\nFAIL: tests/rm/one.sh\nSKIP: tests/du/two.sh\n",
     {"tests/cp/link.sh": "passed", "tests/rm/one.sh": "failed", "tests/du/two.sh": "skipped"}),
    (readers.redis, "[\x1b[32;1mok\x1b[0m]: SET and GET (3 ms)\n[err]: EXPIRE in tests/unit/x.tcl\n",
     {"SET and GET": "passed", "EXPIRE": "failed"}),
    (readers.openssh, "run test connect.sh ...\nok simple connect\nfailed banner\n",
     {"simple connect": "passed", "banner": "failed"}),
    (readers.pg_regress, "test test_setup    ... ok    12 ms\n     boolean   ... FAILED    3 ms\n",
     {"test_setup": "passed", "boolean": "failed"}),
    (readers.tcltest, "++++ io-1.2 PASSED\n==== io-1.3 closing FAILED\n++++ io-1.4 SKIPPED: unix\n",
     {"io-1.2": "passed", "io-1.3": "failed", "io-1.4": "skipped"}),
    (readers.mimalloc, "test: malloc-zero...  ok.\ntest: heap...  failed\n",
     {"malloc-zero": "passed", "heap": "failed"}),
    (readers.jemalloc, "=== test/unit/a0 ===\ntest_a0 (non-reentrant): pass\n=== test/unit/b ===\n"
     "test_a0 (non-reentrant): fail\n",
     {"test/unit/a0 test_a0 (non-reentrant)": "passed",
      "test/unit/b test_a0 (non-reentrant)": "failed"}),
    (readers.sqlite, "lock-1.1... Ok\n..wal-2... Ok\nlock-1.2...\n! lock-1.2 expected: [1]\n",
     {"lock-1.1": "passed", "wal-2": "passed", "lock-1.2": "failed"}),
    (readers.jq, "Testing '.[0]' at line number 3\n*** Expected 1, but got 2\n"
     "Test #2: '.a' at line number 7\n",
     {"'.[0]' at line number 3": "failed", "'.a' at line number 7": "passed"}),
)

JUNIT = """<testsuites><testsuite><testcase name="a"/><testcase name="b"><failure/></testcase>
<testcase name="c"><skipped/></testcase><testcase name="d"><error/></testcase></testsuite></testsuites>"""


def made_up_run(**results):
    return run.Run(results, 1.0, 1, 1)


class Reading(unittest.TestCase):
    def test_each_reader_understands_its_suite(self):
        for reader, output, results in READER_CASES:
            with self.subTest(results=results):
                self.assertEqual(reader(output, ""), results)

    def test_junit_files_are_read_from_the_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "results.xml"), "w", encoding="ascii") as file:
                file.write(JUNIT)
            self.assertEqual(readers.junit("", folder), {"a": "passed", "b": "failed",
                                                         "c": "skipped", "d": "failed"})


class Comparing(unittest.TestCase):
    def test_another_result_or_answer_or_none_is_a_difference(self):
        native = [made_up_run(a="passed", b="passed 7", c="passed", d="failed")] * 2
        recorded = made_up_run(a="failed", b="passed 8", d="failed", e="passed")
        self.assertEqual([found.test for found in run.differences(native, recorded)],
                         ["a", "b", "c", "e"])

    def test_what_differs_natively_is_not_counted(self):
        native = [made_up_run(a="passed", b="passed"), made_up_run(a="failed", b="passed")]
        self.assertEqual(run.differences(native, made_up_run(a="failed", b="passed")), [])
        self.assertEqual(run.flaky_tests(native), {"a"})


class Running(unittest.TestCase):
    """A leaktide that records nothing, or changes what a program does, is found out."""

    def compared(self, leaktide_script, command):
        with tempfile.TemporaryDirectory() as folder:
            leaktide = os.path.join(folder, "leaktide")
            with open(leaktide, "w", encoding="ascii") as file:
                file.write("#!/usr/bin/env bash\n" + leaktide_script)
            os.chmod(leaktide, 0o755)
            suite = suites.Suite("made up", command, readers.tap)
            outcome = run.Trial(leaktide, folder, 1).compare(suite, "", lambda *_: None)
            return {label: [difference.test for difference in found]
                    for label, found in outcome.differences.items()}

    run_it = 'while [ "$1" != -- ]; do shift; done; shift; '
    record = 'mkdir -p "$WORK/recording" && : >"$WORK/recording/1-1.mtt"; '

    def test_the_same_twice_is_no_difference(self):
        found = self.compared(self.record + self.run_it + 'exec "$@"', "echo ok 1 - one")
        self.assertEqual(list(found.values()), [[], []])

    def test_a_suite_that_passes_nothing_natively_is_not_believed(self):
        with self.assertRaises(fetching.Unavailable):
            self.compared(self.record + self.run_it + 'exec "$@"', "echo not ok 1 - one")

    def test_no_recording_is_a_difference(self):
        found = self.compared(self.run_it + 'exec "$@"', "echo ok 1 - one")
        self.assertEqual(list(found.values()), [["(the recording)"]] * 2)

    def test_a_changed_result_is_a_difference(self):
        found = self.compared(self.record + self.run_it + 'TRACED=1 exec "$@"',
                              '[ -z "${TRACED-}" ] || echo -n "not "; echo ok 1 - one')
        self.assertEqual(list(found.values()), [["one"]] * 2)

    def test_an_end_by_a_signal_is_a_difference(self):
        found = self.compared(self.record + self.run_it + '"$@"; kill -11 $$', "echo ok 1 - one")
        self.assertEqual(list(found.values()), [["(the run)"]] * 2)


class Supervising(unittest.TestCase):
    script = os.path.join(run.HERE, "supervise.py")

    def supervised(self, limit_s, command):
        return subprocess.run([sys.executable, "-B", self.script, limit_s, "bash", "-c", command],
                              stdout=subprocess.PIPE, universal_newlines=True, check=False)

    def test_a_program_that_takes_too_long_ends(self):
        begin = time.monotonic()
        self.assertEqual(self.supervised("0.5", "sleep 60").returncode, run.TIME_IS_UP)
        self.assertLess(time.monotonic() - begin, 20)

    def test_the_status_is_the_programs_own(self):
        self.assertEqual(self.supervised("20", "exit 7").returncode, 7)
        self.assertEqual(self.supervised("20", "kill -9 $$").returncode, 137)

    def test_a_server_that_hides_ends_too(self):
        done = self.supervised("20", "setsid sleep 300 >/dev/null & echo $!")
        self.assertFalse(os.path.exists("/proc/" + done.stdout.strip()))

    def test_no_signal_is_ignored_from_the_start(self):
        command = [sys.executable, "-B", self.script, "20", "bash", "-c", "kill -INT $$; exit 3"]
        done = subprocess.run(["bash", "-c", 'trap "" INT; "$@"; exit $?', "bash", *command],
                              check=False)
        self.assertEqual(done.returncode, 130)

    def test_an_orphan_that_ends_is_gone(self):
        done = self.supervised("20", "(sh -c 'echo $$' & ) | { read -r it; sleep 1; kill -0 $it; }")
        self.assertEqual(done.returncode, 1)


class Fetching(unittest.TestCase):
    def test_lists_of_programs_become_lists_of_sources(self):
        self.assertEqual(fetching.as_sources("deb [a=b] uri suite main\n# deb-src x\n"),
                         "deb-src [a=b] uri suite main\n# deb-src x\n")
        self.assertEqual(fetching.as_sources("Types: deb\nURIs: x\n"), "Types: deb-src\nURIs: x\n")

    def test_a_list_gets_other_releases(self):
        paragraph = "Suites: a a-updates\n", "Suites: a a-updates b c\n"
        line = "deb-src [x=y] uri a main\n", "deb-src [x=y] uri a main\ndeb-src [x=y] uri b main\ndeb-src [x=y] uri c main\n"
        programs = "deb uri a main\n", "deb uri a main\ndeb uri b main\ndeb uri c main\n"
        others = "Suites: a-security\n", "deb-src uri nodistro main\n"
        for text, expected in (paragraph, line, programs, *zip(others, others)):
            self.assertEqual(fetching.with_releases(text, "a", ("b", "c")), expected)


if __name__ == "__main__":
    unittest.main()
