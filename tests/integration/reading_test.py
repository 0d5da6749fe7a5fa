"""Recordings read from Python: leaktide.open().

Run as reading_test.py FOLDER-OF-LEAKTIDE.PY LIBRARY RECORDING LEAKTIDE
"""

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import types
import unittest

MODULES, LIBRARY, RECORDING, LEAKTIDE = (os.path.abspath(path) for path in sys.argv[1:5])

os.environ["LEAKTIDE_LIBRARY"] = LIBRARY
sys.path.insert(0, MODULES)
import leaktide  # noqa: E402
import leaktide_reading  # noqa: E402

NOWHERE = "/no/such/recording"
UNJUDGED = os.path.join(os.path.dirname(RECORDING), "..", "snapshot", "snapshot.json")  # has too few steps


def plain(value):
    """As JSON has it."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, leaktide_reading.Frame):
        frame = {"function": value.function, "file": value.file, "line": value.line,
                 "module": value.module, "is_inlined": value.is_inlined,
                 "is_plumbing": value.is_plumbing}
        return {key: it for key, it in frame.items() if it or key == "function"}
    return value


def resident_kib():
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


class Reading(unittest.TestCase):
    def setUp(self):
        self.recording = leaktide.open(RECORDING)
        self.addCleanup(self.recording.close)

    def test_a_leak_has_its_figures(self):
        leak, = self.recording.leaks()
        self.assertEqual((leak.kind, leak.site, leak.ledger, leak.bytes_per_step),
                         ("leak", "leak+0x3018", "opencl device 0", 196608))
        self.assertIn("clReleaseMemObject", leak.advice)
        self.assertEqual((leak.stack[0].function, leak.stack[0].module), ("leak+0x3018", "leak"))
        self.assertIs(leak.values["is_one_growing_block"], False)
        self.assertIsNone(leak.values["steps_until_full_count"])

    def test_the_verdict_is_that_of_the_report(self):
        self.assertTrue(self.recording.verdict[0].startswith("LEAK: 192 KiB per step"))
        self.assertEqual(self.recording.report().outcome, "found")
        self.assertTrue(self.recording.is_complete)
        self.assertEqual(self.recording.event_count, 4457)

    def test_everything_is_as_in_json(self):
        for question in ("leaks", "peak", "steps"):
            told = json.loads(subprocess.run([LEAKTIDE, question, "--format=json", RECORDING],
                                             stdout=subprocess.PIPE).stdout)
            answer = self.recording.ask(question)
            self.assertEqual(answer.verdict, told["verdict"])
            self.assertEqual(answer.facts, told["facts"])
            self.assertEqual([dict({key: plain(it) for key, it in one.values.items()},
                                   kind=one.kind, sentence=one.sentence)
                              for one in answer.findings], told["findings"])
            self.assertEqual([[{key: plain(it) for key, it in row.items()} for row in table]
                              for table in answer.tables], rows_of(told["tables"]))
            self.assertEqual(answer.notes, [note["sentence"] for note in told["notes"]])

    def test_tables_are_found_by_name_and_by_index(self):
        tables = self.recording.ask("leaks").tables
        self.assertIs(tables["leaks"], tables[0])
        self.assertEqual(tables["leaks"][0]["growth_bytes_per_step"], 196608)
        leaks = tables["leaks"]
        self.assertIs(tables["leaks", leaks.ledger], leaks)
        self.assertIn("leaks (1 rows)", repr(tables))
        with self.assertRaises(KeyError):
            tables["no such table"]

    def test_pandas_gets_rows_and_columns(self):
        class DataFrame:
            def __init__(self, rows, columns):
                self.rows, self.columns = rows, columns

        table = self.recording.ask("leaks").tables["leaks"]
        there = sys.modules.get("pandas")
        sys.modules["pandas"] = types.SimpleNamespace(DataFrame=DataFrame)
        try:
            frame = table.to_pandas()
        finally:
            del sys.modules["pandas"]
            if there:
                sys.modules["pandas"] = there
        self.assertEqual(frame.rows, list(table))
        self.assertEqual(frame.columns, list(table[0]))

    def test_a_notebook_shows_verdict_and_tables(self):
        page = self.recording._repr_html_()
        self.assertIn("<b>LEAK: 192 KiB per step", page)
        self.assertIn("<td>192 KiB</td>", page)
        self.assertNotIn("<table></table>", page)
        table = leaktide_reading.Table("t", "<title>", {"a": "<a>", "b": None},
                                       [{"a": "<script>", "b": 1}] * 30, ["<remark>"])
        page = table._repr_html_()
        for hostile in ("<title>", "<a>", "<script>", "<remark>"):
            self.assertNotIn(hostile, page)
        self.assertIn("10 more rows", page)

    def test_what_was_read_stays_when_the_recording_is_closed(self):
        leaks, report = self.recording.leaks(), self.recording.report()
        self.recording.close()
        self.recording.close()
        self.assertEqual(leaks[0].stack[0].module, "leak")
        self.assertTrue(report.tables[0])
        for use in (lambda: self.recording.ask("peak"), lambda: self.recording.is_complete):
            with self.assertRaisesRegex(ValueError, "the recording is closed"):
                use()

    def test_options_reach_the_library(self):
        with leaktide.open(RECORDING, steps="11-30", step_site="") as chosen:
            self.assertEqual(chosen.ask("info").facts["step_count"], 20)
        self.assertEqual(len(self.recording.ask("leaks", top=1).tables["leftovers"]), 1)

    def test_threads_wait_for_each_other(self):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.recording.ask("peak")))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([answer.verdict for answer in answers], [answers[0].verdict] * 4)


def rows_of(tables):
    """Of a JSON document: a table is its rows, or an object that has them."""
    tables = tables.values() if isinstance(tables, dict) else tables
    return [table["rows"] if isinstance(table, dict) else table for table in tables]


class NotJudged(unittest.TestCase):
    def test_what_is_not_judged_is_no_empty_list(self):
        with leaktide.open(UNJUDGED) as recording:
            with self.assertRaises(leaktide.NotJudged) as caught:
                self.assertFalse(recording.leaks())
            answer = recording.ask("leaks")
        self.assertRegex(str(caught.exception), "^CANNOT SAY whether something leaks: 1 step judged, ")
        self.assertEqual(caught.exception.doubt, "steps")
        self.assertEqual(caught.exception.answer.verdict, answer.verdict)
        self.assertEqual(answer.outcome, "no data")
        self.assertIsInstance(caught.exception, leaktide_reading.Error)

    def test_without_steps_as_well(self):
        """Its sentence is not one of the table of doubts."""
        with tempfile.TemporaryDirectory() as folder:
            state = os.path.join(folder, "state.json")
            with open(state, "w") as file:
                json.dump({"segments": [], "device_traces": [[{"action": "alloc", "addr": 4096, "size": 512,
                                                               "stream": 0, "frames": []}]]}, file)
            with leaktide.open(state) as recording, self.assertRaises(leaktide.NotJudged) as caught:
                recording.leaks()
        self.assertTrue(str(caught.exception))

    def test_a_loop_without_leaks_is_an_empty_list(self):
        """Written here: a block for each of twelve steps, freed in the next."""
        events, ns = [], 0
        for step in range(12):
            ns += 1000
            events += [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % step, "pid": 1,
                        "tid": 1, "ts": ns, "dur": 900},
                       memory_event(ns + 10, 4096, 512, 512), memory_event(ns + 800, 4096, -512, 0)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            with open(path, "w") as file:
                json.dump({"traceEvents": events}, file)
            with leaktide.open(path) as recording:
                self.assertEqual(recording.leaks(), [])

    def test_a_recording_must_be_named(self):
        for paths in ((), (None,)):
            with self.assertRaisesRegex(ValueError, "^no recording is named"):
                leaktide.open(*paths)

    def test_a_question_may_ask_why(self):
        with leaktide.open(RECORDING) as recording:
            why = recording.ask("leaks", why="").tables["why"]
            quiet = recording.ask("leaks").tables["why"]
        self.assertEqual((why.columns["why"], quiet.columns["why"]), ("why", None))  # shown, or only data


def memory_event(ns, address, change, alive):
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": ns,
            "args": {"Addr": address, "Bytes": change, "Device Type": 1, "Device Id": 0,
                     "Total Allocated": alive, "Total Reserved": 4096}}


class Trouble(unittest.TestCase):
    def test_a_wrong_path_is_the_sentence_of_the_library(self):
        with self.assertRaises(FileNotFoundError) as caught:
            leaktide.open(NOWHERE)
        self.assertEqual(str(caught.exception), "%s: No such file or directory" % NOWHERE)
        self.assertIsInstance(caught.exception, leaktide_reading.Error)

    def test_a_wrong_option_is_the_sentence_of_the_library(self):
        with self.assertRaisesRegex(ValueError, "^the steps x: numbers and ranges are needed"):
            leaktide.open(RECORDING, steps="x")
        with leaktide.open(RECORDING) as recording:
            with self.assertRaisesRegex(ValueError, "there is no question named riddle"):
                recording.ask("riddle")

    def test_progress_can_cancel(self):
        with self.assertRaisesRegex(leaktide_reading.Cancelled, "reading was cancelled"):
            leaktide.open(RECORDING, progress=lambda *told: False)

    def test_progress_may_raise(self):
        def raise_it(*told):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            leaktide.open(RECORDING, progress=raise_it)

    def test_progress_is_told_for_each_reading(self):
        told = []
        with leaktide.open(RECORDING, progress=lambda *it: told.append(it)) as recording:
            recording.peak()
            count = recording.event_count
        self.assertEqual(told[0], (0, 0, 1))
        self.assertEqual(told[-1], (0, count, len(told)))

    def test_opening_and_closing_keeps_no_memory(self):
        def read(count):
            for turn in range(count):
                recording = leaktide.open(RECORDING)
                recording.leaks()
                if turn % 2:  # the others are closed when they are collected
                    recording.close()
            del recording
            gc.collect()
            return resident_kib()

        before = read(10)
        self.assertLess(read(60) - before, 4096)  # one recording: some 2,700 KiB

    def python(self, script, **variables):
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **variables)
        return subprocess.run([sys.executable, "-c", script], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True)

    OPEN = "import leaktide\ntry:\n leaktide.open(%r)\nexcept ImportError as e:\n print(e)" % RECORDING

    def test_a_library_that_is_missing_is_named(self):
        done = self.python(self.OPEN, PYTHONPATH=MODULES, LEAKTIDE_LIBRARY="/no/such.so")
        self.assertRegex(done.stdout, r"^leaktide: recordings are read by libleaktide\.so\.0\.1, "
                                      r"which cannot be loaded \(/no/such\.so: .*LEAKTIDE_LIBRARY$")

    def test_a_library_of_another_version_is_named(self):
        done = self.python(self.OPEN, PYTHONPATH=MODULES, LEAKTIDE_LIBRARY="libc.so.6")
        self.assertEqual(done.stdout, "leaktide: libc.so.6 is of another version: it has no "
                                      "mt_version\n")

    def test_the_library_of_the_same_tree_is_found(self):
        with tempfile.TemporaryDirectory() as tree:
            folder = os.path.join(tree, "share", "leaktide", "python")
            os.makedirs(os.path.join(tree, "lib"))
            shutil.copytree(MODULES, folder)
            shutil.copy(LIBRARY, os.path.join(tree, "lib", "libleaktide.so.0.1"))
            done = self.python("import leaktide\nprint(len(leaktide.open(%r).leaks()))" % RECORDING,
                               PYTHONPATH=folder, LEAKTIDE_LIBRARY="")
            self.assertEqual((done.stdout, done.stderr), ("1\n", ""))

    def test_it_asks_for_the_name_that_the_library_has(self):
        with open(LIBRARY, "rb") as library:
            self.assertIn(leaktide_reading._SONAME.encode() + b"\0", library.read())

    def test_marks_alone_do_without_it(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(MODULES, "leaktide.py"), folder)
            done = self.python(self.OPEN, PYTHONPATH=folder)
            self.assertIn("must lie beside leaktide.py", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
