"""leaktide.msmemscope: its functions in a program under the tracer, and without one.

    msmemscope_python_test.py BIN FOLDER-OF-LEAKTIDE.PY [unittest arguments]
"""

import contextlib
import csv
import glob
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import warnings

BIN, FOLDER = sys.argv[1:3]
LEAKTIDE = os.path.join(BIN, "leaktide")
os.environ["LEAKTIDE_COMMAND"] = LEAKTIDE
sys.path.insert(0, FOLDER)

import leaktide.msmemscope  # noqa: E402
from leaktide import msmemscope  # noqa: E402
from msmemscope import analyzer  # noqa: E402

HEADER = ("ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,"
          "Call Stack(Python),Call Stack(C)\n")


def row(number, event, kind, name="N/A", attr=""):
    return '%d,%s,%s,%s,%d,1,1,0,N/A,"{%s}",,\n' % (number, event, kind, name, 1000 + number, attr)


class Tensor:
    """As much of one as is looked at."""

    def __init__(self, address):
        self.data_ptr = lambda: address

    def numel(self):
        return 6

    def element_size(self):
        return 4


class WithoutTracerTest(unittest.TestCase):
    def test_calls_do_nothing(self):
        msmemscope.start()
        msmemscope.step()
        msmemscope.take_snapshot(device_mask=[0], name="here")
        msmemscope.config(events="alloc,free", call_stack="c:10,python:5", device="npu:3,cpu")
        with msmemscope.RecordFunction("part"), msmemscope.TakeSnapshot(name="both ends"):
            pass
        msmemscope.stop()
        self.assertIs(leaktide.msmemscope, msmemscope)

    def test_wrong_arguments_show_all_the_same(self):
        for wrong in ({"events": "all"}, {"device": "npu:32"}, {"call_stack": "c:1001"},
                      {"format": "xml"}, {"analysis": "leak"}, {"watch": "a"}, {"level": ""}):
            with self.assertRaises(ValueError, msg=wrong):
                msmemscope.config(**wrong)
        with self.assertRaises(TypeError):
            msmemscope.config(colour="red")
        with self.assertRaises(TypeError):
            msmemscope.config(events=7)
        with self.assertRaises(ValueError):
            msmemscope.RecordFunction("x" * 129)
        with self.assertRaises(ValueError):
            msmemscope.take_snapshot(name="")

    def test_all_values_of_the_command_line_are_taken(self):
        msmemscope.config(analysis=["leaks", "oom:10"])
        msmemscope.config(analysis="", level="op,kernel", events="none")
        msmemscope.config(events="alloc\uff0cfree")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            msmemscope.config(data_format="db")
        self.assertIn("'data_format' is deprecated", str(said[0].message))
        with self.assertRaises(ValueError):
            msmemscope.config(format="csv")  # only once

    def test_owners(self):
        @msmemscope.describe.describer(owner="inner")
        def inner():
            return msmemscope.describe.depth

        with msmemscope.describe.describer(owner="outer"):
            self.assertEqual(inner(), 2)
            with msmemscope.describe.describer(owner="b"), \
                    msmemscope.describe.describer(owner="c"):
                with self.assertRaises(ValueError):
                    inner()
        self.assertEqual(msmemscope.describe.depth, 0)
        self.assertEqual(msmemscope.describe.describer(len, owner="f")([1]), 1)

    def test_tensors(self):
        tensor = Tensor(4096)
        self.assertIs(msmemscope.describe.describer(tensor, owner="mine"), tensor)
        msmemscope.watcher.watch(tensor, name="mine", dump_nums=2)
        msmemscope.watcher.watch(4096, name="mine", length=10)
        msmemscope.watcher.remove(tensor)
        for wrong in ({"tensor": 4096, "name": "n"}, {"tensor": tensor, "name": ""},
                      {"tensor": tensor, "name": "x" * 65}, {"tensor": -1, "name": "n"},
                      {"tensor": tensor, "name": "n", "dump_nums": 0}):
            with self.assertRaises(ValueError, msg=wrong):
                msmemscope.watcher.watch(**wrong)
        with self.assertRaises(TypeError):
            msmemscope.watcher.watch("tensor", name="n", length=1)
        with self.assertRaises(TypeError):
            msmemscope.describe.describer("tensor", owner="o")

    def test_analyzers(self):
        self.assertEqual(msmemscope.list_analyzers(), ["leaks", "inefficient"])
        self.assertEqual(msmemscope.get_analyzer_config("inefficient")["idle_threshold"], 3000)
        with self.assertRaises(ValueError):
            msmemscope.analyze("oom", input_path="x")

    def check_file(self, text, call):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "memscope_dump_1.csv")
        with open(path, "w") as file:
            file.write(HEADER + text)
        found = call(path)
        with open(path) as file:
            return found, file.read()

    def test_leaks_between_marks(self):
        text = (row(0, "MSTX", "Mark", "m") +
                row(1, "MALLOC", "HAL", attr="allocation_id:1,addr:0x10,size:1024") +
                row(2, "MSTX", "Mark", "m") + row(3, "MSTX", "Mark", "m"))
        found, _ = self.check_file(
            text, lambda path: msmemscope.check_leaks(path, mstx_info="m", start_index=0))
        self.assertTrue(found)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.check_file(text.replace("MALLOC", "OTHER"), lambda path: msmemscope.check_leaks(path, "m"))
        self.assertTrue(said.getvalue().endswith("\nNo hal memory leaks detected on device 0.\n"), said.getvalue())
        found, _ = self.check_file(
            text, lambda path: msmemscope.analyze("leaks", input_path=path, mstx_info="other"))
        self.assertFalse(found)
        found, _ = self.check_file(text, lambda path: analyzer.LeaksAnalyzer().analyze(analyzer.LeaksConfig(path, "m", 0)))
        self.assertTrue(found)

    def test_bad_use_is_written_into_the_file(self):
        text = (row(0, "OP_LAUNCH", "ATEN_START", "f") +
                row(1, "MALLOC", "PTA", attr="allocation_id:1,addr:0x10,size:64") +
                row(2, "ACCESS", "READ", "f", "allocation_id:1,addr:0x10,size:64,type:PTA") +
                row(3, "OP_LAUNCH", "ATEN_END", "f") +
                row(4, "MALLOC", "PTA", attr="allocation_id:2,addr:0x20,size:64") +
                row(5, "OP_LAUNCH", "ATEN_START", "g") + row(6, "OP_LAUNCH", "ATEN_END", "g") +
                row(7, "FREE", "PTA", attr="allocation_id:1,addr:0x10,size:64"))
        found, now = self.check_file(text, msmemscope.check_inefficient)
        self.assertTrue(found)
        self.assertIn("size:64,inefficient_type:late_deallocation}", now)
        found, now = self.check_file(
            text, lambda path: msmemscope.check_inefficient(path, mem_size=65))
        self.assertFalse(found)
        found, _ = self.check_file(text, lambda path: analyzer.InefficientAnalyzer().analyze(
            analyzer.InefficientConfig(path, mem_size=65)))
        self.assertFalse(found)

    def test_a_file_that_is_not_there(self):
        with self.assertRaises(ValueError) as said:
            msmemscope.check_inefficient("no/such.csv")
        self.assertIn("no/such.csv", str(said.exception))


TRACED = """
import leaktide, warnings
from leaktide import msmemscope
def take(n):
    leaktide.pool_alloc("pta", 0, 4096 * n, 100 + n)
take(1)
msmemscope.start()
take(2)
msmemscope.step()
with msmemscope.RecordFunction("part"), msmemscope.describe.describer(owner="model@weight"):
    take(3)
class Tensor:
    def data_ptr(self):
        return 4096 * 3 + 100          # a view: inside of the block
msmemscope.describe.describer(Tensor(), owner="late")
with msmemscope.describe.describer(owner="a"), msmemscope.describe.describer(owner="b"):
    take(5)
msmemscope.describe.describer(4096 * 2, owner="first")
msmemscope.describe.describer(owner="left").__enter__()
msmemscope.describe.describer(owner="left").__exit__()
take(6)
msmemscope.take_snapshot(name="here")
msmemscope.step()
msmemscope.stop()
take(4)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    msmemscope.config(call_stack="c:5", events="launch", level="kernel", device="npu:0")
    assert not said, said[0].message
    msmemscope.config(call_stack="python:5", format="db")
assert "call_stack" in str(said[0].message), said
assert "format" in str(said[1].message), said
"""


HISTORY = """
import ctypes, leaktide
from leaktide import msmemscope
class Functions(ctypes.Structure):
    _fields_ = [("size_bytes", ctypes.c_size_t), ("others", ctypes.c_void_p * 12),
                ("operator_begin", ctypes.CFUNCTYPE(None, ctypes.c_char_p)),
                ("operator_end", ctypes.CFUNCTYPE(None, ctypes.c_char_p))]
getter = ctypes.CDLL(None).mt_tracer_functions
getter.restype = ctypes.POINTER(Functions)
functions = getter().contents
def take(n):
    leaktide.pool_alloc("pta", 0, 4096 * n, 100 + n)
take(1)
take(2)
leaktide.pool_free("pta", 4096 * 2)
take(3)
leaktide.mark("not yet")
msmemscope.start()
functions.operator_begin(b"aten::add.Tensor")
take(4)
functions.operator_end(b"aten::mm")
leaktide.pool_free("pta", 4096)
msmemscope.step()
"""


BY_SCRIPT = """
import leaktide, msmemscope, os, sys, warnings
warnings.simplefilter("ignore")
def take(n):
    leaktide.pool_alloc("pta", 0, 4096 * n, 100 + n)
msmemscope.config(events="alloc,free", data_format="csv", output=sys.argv[1])
take(1)
msmemscope.start()
take(2)
msmemscope.step()
take(3)
msmemscope.stop()
take(4)
"""
TOOL = os.path.join(BIN, "..", "share", "leaktide", "msmemscope")
NAMES = ("libleaks_ascend_hal_hook.so", "libascend_mstx_hook.so", "libascend_kernel_hook.so")


class ScriptTest(unittest.TestCase):
    """No command starts the recording: the program does, and its files are there when it has ended."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def run_script(self, script, *arguments, shell="bash", **environment):
        done = subprocess.run([shell, "-c", script, shell, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              env=dict(os.environ, PYTHONPATH=FOLDER, **environment), stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, output):
        path, = glob.glob(os.path.join(self.folder, output, "msmemscope_*_ascend", "device_0", "dump", "*.csv"))
        with open(path, newline="") as file:
            rows = [(row["Event Type"], *re.findall(r"size:(\d+)", row["Attr"])) for row in csv.DictReader(file)
                    if row["Event"] != "FREE"]  # of what is alive at the end
        self.assertEqual([row for row in rows if row[0] != "START_TRACE"],
                         [("PTA", "101"), ("PTA", "102"), ("STEP",), ("PTA", "103"), ("STOP_TRACE",)])
        self.assertEqual(os.listdir(self.folder), [output])
        recording, = glob.glob(os.path.join(self.folder, output, "*.leaktide"))
        self.assertEqual([os.path.splitext(name)[1] for name in os.listdir(recording)], [".mtt"])

    def test_a_shell_that_was_told_so(self):
        for shell in filter(shutil.which, ("bash", "zsh")):
            said = self.run_script('source "$1" --load-api-env; ls >/dev/null; "$2" -c "$3" out; '
                                   'source "$1" --unload-api-env; echo "left: $LD_PRELOAD$LEAKTIDE_OPTIONS"',
                                   os.path.join(TOOL, "bin", "msmemscope"), sys.executable, BY_SCRIPT, shell=shell)
            self.check("out")
            self.assertIn("left: \n", said)
            shutil.rmtree(os.path.join(self.folder, "out"))

    def test_the_libraries_by_their_names(self):
        self.run_script('"$1" -c "$2" "named here"', sys.executable, BY_SCRIPT,
                        LD_PRELOAD=":".join(os.path.join(TOOL, "lib64", name) for name in NAMES))
        self.check("named here")

    def test_nothing_is_left_by_who_says_nothing(self):
        self.run_script('source "$1" --load-api-env; "$2" -c "import msmemscope; msmemscope.stop"; ls',
                        os.path.join(TOOL, "bin", "msmemscope"), sys.executable)
        self.assertEqual(os.listdir(self.folder), [])


class TracedTest(unittest.TestCase):
    def test_what_is_alive_at_the_start_is_told_then(self):
        """It has its rows at that moment, in the order of births; what is over has none."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        done = subprocess.run([os.path.join(BIN, "msmemscope"), "--collect-mode=deferred", "--output-path=" + folder, "--",
                               sys.executable, "-c", HISTORY], env=dict(os.environ, PYTHONPATH=FOLDER), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        path, = glob.glob(os.path.join(folder, "msmemscope_*_ascend", "device_0", "dump", "memscope_dump_*.csv"))
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        told = [(row["Event"], row["Event Type"],
                 [int(number) for number in re.findall(r"(?:size|used):(\d+)", row["Attr"])]) for row in rows if row["Event Type"] != "START_TRACE"]
        self.assertEqual(told, [("MALLOC", "PTA", [101, 101]), ("MALLOC", "PTA", [103, 204]),
                                ("OP_LAUNCH", "ATEN_START", []), ("MALLOC", "PTA", [104, 308]), ("OP_LAUNCH", "ATEN_END", []),
                                ("FREE", "PTA", [101, 207]), ("SYSTEM", "STEP", []),
                                ("FREE", "PTA", [103]), ("FREE", "PTA", [104])])
        start, = [row["Timestamp(ns)"] for row in rows if row["Event Type"] == "START_TRACE"]
        self.assertEqual([row["Timestamp(ns)"] for row in rows[:2]], [start, start])
        self.assertIn("Gap Analysis", done.stdout)
        self.assertEqual([row["Name"] for row in rows if row["Event"] == "OP_LAUNCH"],
                         ["torch._ops.aten.add.Tensor", "torch._ops.aten.mm.default"])

    def test_recording_follows_the_calls(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        run = os.path.join(folder, "run.leaktide")
        done = subprocess.run([LEAKTIDE, "run", "--quiet", "--device=npu,gpu,opencl", "--call-stack=c",
                               "--collect-mode=deferred",
                               "--output-path=" + run, "--", sys.executable, "-c", TRACED],
                              env=dict(os.environ, PYTHONPATH=FOLDER), stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = subprocess.run([LEAKTIDE, "export", "--to=memscope-csv", run], check=True,
                              stdout=subprocess.PIPE, universal_newlines=True).stdout
        sizes = [line.split("size:")[1].split(",")[0] for line in rows.splitlines()
                 if ",MALLOC,PTA," in line]
        self.assertEqual(sizes, ["102", "103", "105", "106"])
        owners = [re.search(r"owner:([^,}]*)", line) for line in rows.splitlines()
                  if ",MALLOC,PTA," in line]
        self.assertEqual([owner and owner.group(1) for owner in owners],
                         ["first", "model@weight@late", "a@b", None])
        self.assertIn('"here"', rows)
        self.assertIn("START_TRACE", rows)
        self.assertEqual([line.split(",")[3] for line in rows.splitlines() if ",SYSTEM,STEP," in line],
                         ["1", "2"])
        order = [",102,", ",STEP,1,", ",103,", ",STEP,2,"]
        self.assertEqual(sorted(order, key=lambda text: rows.replace("size:", ",").index(text)), order)
        answer = subprocess.run([LEAKTIDE, "leaks", "--format=json", run],
                                stdout=subprocess.PIPE, universal_newlines=True)
        facts = json.loads(answer.stdout)["facts"]
        self.assertEqual((facts["step_count"], facts["passed_step_count"]), (1, 1), "stop() cut the second")


CALLS = """
import leaktide, threading
from leaktide import msmemscope
def inner(n):
    if n == 3:
        raise KeyError(n)
    return n
def generate():
    yield 1
def outer():
    inner(1)
    try:
        inner(3)
    except KeyError:
        pass
    list(generate())
leaktide.pool_alloc("pta", 0, 4096, 100)
inner(0)
msmemscope.tracer.start()
outer()
thread = threading.Thread(target=inner, args=(2,))
thread.start()
thread.join()
def left():
    msmemscope.tracer.stop()
left()
inner(4)
"""


class CallsTest(unittest.TestCase):
    def record(self, *options):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        done = subprocess.run([os.path.join(BIN, "msmemscope"), "--output-path=" + folder, *options,
                               "--", sys.executable, "-c", CALLS],
                              env=dict(os.environ, PYTHONPATH=FOLDER), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return os.path.join(folder, "msmemscope_*_ascend", "device_0", "dump")

    def check(self, rows):
        """Of the program's own functions: the order of ends, and what is around what."""
        rows = [row for row in rows if row[0].startswith("<string>")]
        names = [row[0].split(": ")[1] for row in rows]
        ended = ["inner", "inner", "generate", "generate", "outer", "inner", "left"]
        self.assertEqual(names, ended)
        for row in rows[:6]:
            self.assertLessEqual(int(row[1]), int(row[2]))
        self.assertEqual(rows[6][2], "N/A")
        outer = rows[4]
        for row in rows[:4]:
            self.assertTrue(int(outer[1]) <= int(row[1]) and int(row[2]) <= int(outer[2]))
            self.assertEqual(row[3:], outer[3:])
        self.assertNotEqual(rows[5][3], outer[3])  # the other thread
        self.assertEqual(rows[5][4], outer[4])
        self.assertEqual(rows[0][0], "<string>(4): inner")

    def test_calls_are_rows(self):
        path, = glob.glob(os.path.join(self.record(), "python_trace_*.csv"))
        with open(path, newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0], ["FuncInfo", "StartTime(ns)", "EndTime(ns)", "Thread Id",
                                   "Process Id"])
        self.check(rows[1:])

    def test_calls_are_a_table_of_the_database(self):
        path, = glob.glob(os.path.join(self.record("--format=db"), "*.db"))
        with contextlib.closing(sqlite3.connect(path)) as database:
            table, = database.execute("select name from sqlite_master where name like "
                                      "'python_trace_%'").fetchone()
            rows = database.execute("select * from " + table).fetchall()
        self.assertEqual(int(table.rsplit("_", 1)[1]), rows[0][4])
        self.check([tuple(map(str, row)) for row in rows])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:], verbosity=1, buffer=True)
