"""The scenario of the reference recordings under msmemscope and msleaks: files, text and status.

    compat_test.py BIN PROGRAMS REFERENCE [unittest arguments]

REFERENCE is the folder of the reference recordings, or empty: then what compares with them is
skipped. Rows are equal in every column that is no time, process, thread or address.
"""

import csv
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

BIN, PROGRAMS, REFERENCE = sys.argv[1:4]
ADDRESS = re.compile(r"0x[0-9a-f]{8,}")
LOST = {"Timestamp(ns)", "Process Id", "Thread Id", "Ptr", "Call Stack(Python)", "Call Stack(C)"}
ALL_EVENTS = "--events=alloc,free,launch,access"


def golden(name):
    path = os.path.join(REFERENCE, "memscope", "generated", "scenario", name)
    if not REFERENCE or not os.path.exists(path):
        raise unittest.SkipTest("no reference recordings")
    return path


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def read_db(path, table="memscope_dump"):
    with sqlite3.connect("file:%s?immutable=1" % path, uri=True) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("select * from " + table)]


def comparable(rows):
    """By number; without times, processes, threads, addresses, and readings of the system."""
    kept = []
    for row in sorted(rows, key=lambda row: int(row["ID"])):
        row = {key: str(value) for key, value in row.items() if key not in LOST}
        attr = ADDRESS.sub("ADDRESS", row["Attr"])
        attr = re.sub(r',"?(process|device)_used"?:"?\d+"?', "", attr)
        row["Attr"] = re.sub(r'("?timestamp"?:"?)\d+', r"\1TIME", attr)
        kept.append(row)
    return kept


class Run:
    """A program under one of the names; its files."""

    def __init__(self, *options, name="msmemscope", program="compat_scenario", arguments=(),
                 before=(), command=None):
        self.folder = tempfile.mkdtemp()
        if command is None:
            command = ["--", os.path.join(PROGRAMS, program), *arguments]
        command = [os.path.join(BIN, name), "--output-path=" + os.path.join(self.folder, "out"),
                   *options, *command]
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("LEAKTIDE_")}
        done = subprocess.run([*before, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=120, env=environment)
        self.status, self.output, self.errors = done.returncode, done.stdout, done.stderr

    def find(self, pattern):
        return sorted(glob.glob(os.path.join(self.folder, "out", pattern)))

    def one(self, pattern):
        found = self.find(pattern)
        assert len(found) == 1, (pattern, found, self.errors)
        return found[0]

    def remove(self):
        shutil.rmtree(self.folder)


class CompatTest(unittest.TestCase):
    maxDiff = None

    def record(self, *options, **others):
        run = Run(*options, **others)
        self.addCleanup(run.remove)
        return run

    def check(self, rows, name):
        expected = read_db(golden(name)) if name.endswith(".db") else read_csv(golden(name))
        got, expected = comparable(rows), comparable(expected)
        for mine, theirs in zip(got, expected):
            self.assertEqual(mine, theirs)
        self.assertEqual(len(got), len(expected))

    def dump_of(self, run, device="0", ending="csv"):
        return run.one("msmemscope_*_ascend/device_%s/dump/memscope_dump_*.%s" % (device, ending))

    def test_rows_are_those_of_the_tool(self):
        run = self.record("--strict-compat", ALL_EVENTS)
        self.assertEqual(run.status, 0, run.errors)
        self.check(read_csv(self.dump_of(run)), "default_access.csv")

    def test_rows_of_all_analyses(self):
        run = self.record("--strict-compat", ALL_EVENTS,
                          "--analysis=leaks,decompose,inefficient,oom:3")
        self.check(read_csv(self.dump_of(run)), "all_analysis_oom3.csv")
        trigger = [row for row in read_csv(self.dump_of(run)) if row["Event Type"] == "OOM_TRIGGER"]
        self.assertEqual(len(trigger), 1)

    def test_rows_in_a_database(self):
        run = self.record("--strict-compat", ALL_EVENTS, "--format=db",
                          "--analysis=leaks,decompose,inefficient")
        self.check(read_db(self.dump_of(run, ending="db")), "leaks_decompose_inefficient.db")

    def test_rows_by_device(self):
        run = self.record("--strict-compat", "--events=alloc,free", "--device=npu,cpu")
        self.check(read_csv(self.dump_of(run)), "npu_cpu.device_0.csv")
        self.check(read_csv(self.dump_of(run, "cpu")), "npu_cpu.device_cpu.csv")

    def test_rows_of_one_step(self):
        run = self.record("--strict-compat", "--events=alloc,free", "--steps=2")
        self.check(read_csv(self.dump_of(run)), "steps_2.csv")

    def test_rows_with_stacks(self):
        run = self.record("--strict-compat", "--events=alloc,free", "--call-stack=c:6")
        rows = read_csv(self.dump_of(run))
        self.check(rows, "callstack_c6.csv")
        stacks = [row["Call Stack(C)"] for row in rows if row["Event"] == "MALLOC"]
        self.assertTrue(all(0 < stack.count("\n") + 1 <= 6 for stack in stacks), stacks)
        self.assertRegex(stacks[0], r"^/.*/compat_scenario\(use_driver")  # the program's own first

    def test_known_errors_are_corrected(self):
        run = self.record(ALL_EVENTS, "--steps=2,4", "--analysis=leaks")
        rows = read_csv(self.dump_of(run))
        ends = [row for row in rows if row["Event Type"] == "Range_end"]
        self.assertEqual([row["Name"] for row in ends], ["Range end from id 2",
                                                         "Range end from id 4"])
        run = self.record("--events=alloc,free")
        rows = read_csv(self.dump_of(run))
        first = next(row for row in rows if row["Event"] == "MALLOC")
        self.assertIn("page_type:huge,alloc_type:alloc", first["Attr"])
        self.assertIn("PTA_WORKSPACE", {row["Event Type"] for row in rows})
        mindspore = next(row for row in rows if row["Event Type"] == "MINDSPORE")
        self.assertIn("total:33554432", mindspore["Attr"])

    def test_used_is_the_sum_of_sizes(self):
        rows = read_csv(self.dump_of(self.record("--events=alloc,free")))
        used, ids = {}, {}
        for row in rows:
            if row["Event"] not in ("MALLOC", "FREE"):
                continue
            attr = dict(re.findall(r"(\w+):([^,}]*)", row["Attr"]))
            change = int(attr["size"]) * (1 if row["Event"] == "MALLOC" else -1)
            used[row["Event Type"]] = used.get(row["Event Type"], 0) + change
            if "used" in attr:
                self.assertEqual(int(attr["used"]), used[row["Event Type"]], row)
            ids.setdefault(attr["allocation_id"], []).append(row["Event"])
        self.assertTrue(ids)
        self.assertEqual({tuple(events) for events in ids.values()}, {("MALLOC", "FREE")})

    def test_the_system_is_read(self):
        rows = read_csv(self.dump_of(self.record("--events=alloc,free", program="compat_readings")))
        attrs = [dict(re.findall(r"(\w+):([^,}]*)", row["Attr"])) for row in rows
                 if row["Event"] == "MALLOC" and row["Event Type"] == "HAL"]
        self.assertEqual([int(attr["process_used"]) for attr in attrs], [1 << 20, 3 << 20])
        self.assertEqual(int(attrs[1]["device_used"]), 1 << 20)  # as it was sampled in between

    def test_text_is_that_of_the_tool(self):
        run = self.record("--log-level=warning")
        with open(golden("all_analysis_oom3.stdout.txt")) as file:
            lines = file.read().splitlines(keepends=True)
        first = next(i for i, line in enumerate(lines) if line.startswith("====== ERROR"))
        last = max(i for i, line in enumerate(lines) if line.startswith("MaxGap"))
        self.assertEqual(run.output, "".join(lines[first:last + 1]))
        self.assertIn("leaktide: ", run.errors)

    def test_config_is_that_of_the_tool(self):
        run = self.record(ALL_EVENTS, "--analysis=leaks,decompose,inefficient,oom:3")
        with open(golden("all_analysis_oom3.config.json")) as file:
            expected = json.load(file)
        with open(run.one("msmemscope_*_ascend/config.json")) as file:
            got = json.load(file)
        self.assertEqual(list(got), list(expected))
        for loose in ("outputDir", "npuSlots"):
            got.pop(loose), expected.pop(loose)
        self.assertEqual(got, expected)

    def test_modes_of_files_and_folders(self):
        run = self.record()
        self.assertEqual(os.stat(self.dump_of(run)).st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(run.one("msmemscope_*_ascend/config.json")).st_mode & 0o777, 0o640)
        with open(run.one("msmemscope_*_ascend/msmemscope_logs/msmemscope_*.log")) as file:
            self.assertIn(".leaktide", file.read())
        self.assertEqual(os.stat(run.one("msmemscope_*_ascend")).st_mode & 0o777, 0o750)

    def test_the_old_name_has_the_old_layout(self):
        run = self.record("--level=0", name="msleaks")
        rows = read_csv(run.one("dump/leaks_dump_*.csv"))
        self.assertTrue(rows)
        run = self.record("--data-format=db", "--layout=process", name="msleaks")
        path = run.one("msleaks_*_ascend/device_0/dump/leaks_dump_*.db")
        self.assertEqual(len(read_db(path, "leaks_dump")), len(rows))

    def again(self, run, *options):
        """Files of the recording, written once more, in a folder of their own."""
        recording = run.one("*.leaktide")
        again = Run(*options, "--input-path=" + recording, command=())
        self.addCleanup(again.remove)
        return again

    def test_files_of_a_recording_are_written_again(self):
        run = self.record(ALL_EVENTS)
        again = self.again(run, ALL_EVENTS)
        self.assertEqual((again.status, again.errors), (0, ""))
        self.assertEqual(read_csv(self.dump_of(again)), read_csv(self.dump_of(run)))
        again = self.again(run, "--format=db", "--events=alloc,free", "--analysis=none")
        rows = read_db(self.dump_of(again, ending="db"))
        self.assertEqual({row["Event"] for row in rows if row["Event"] not in ("MSTX", "SYSTEM")},
                         {"MALLOC", "FREE"})
        self.assertEqual(self.record("--input-path=" + run.folder, command=()).status, 3)
        again = self.again(run, "--device=npu:3")
        self.assertEqual((again.status, again.find("*")), (0, []))
        self.assertIn("no file of rows", again.errors)
        # Beside those that are there, with a config.json of their own.
        time.sleep(1)
        out = os.path.join(run.folder, "out")
        done = subprocess.run([os.path.join(BIN, "msmemscope"), "--output-path=" + out,
                               "--input-path=" + run.one("*.leaktide")], stdout=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(run.find("msmemscope_*_ascend/config.json")), 2)

    def test_nothing_on_the_host_is_no_failure(self):
        run = self.record("--analysis=host-leaks,leaks", "--events=none", program="compat_end",
                          arguments=("exit",))
        self.assertEqual(run.status, 3)
        self.assertNotIn("rror", run.errors)

    def test_the_status_is_that_of_the_program(self):
        self.assertEqual(self.record(program="compat_end", arguments=("exit",)).status, 3)


    def test_steps_are_those_of_the_program(self):
        run = self.record(program="compat_end", arguments=("pairs",))
        rows = read_csv(self.dump_of(run))
        self.assertEqual(len(rows), 2000)
        self.assertEqual({row["Event"] for row in rows}, {"MALLOC", "FREE"})  # no step is invented


class EndTest(unittest.TestCase):
    """1000 blocks are alive when a program ends in the worst way."""

    def record(self, how):
        run = Run("--events=alloc,free", program="compat_end", arguments=(how,))
        self.addCleanup(run.remove)
        return run

    def rows_of(self, path):
        rows = read_csv(path)
        live = [row for row in rows if row["Event"] == "MALLOC" and row["Event Type"] == "HAL"]
        return len(live), {row["Process Id"] for row in rows}

    def check(self, how, status):
        run = self.record(how)
        self.assertEqual(run.status, status)
        count, _ = self.rows_of(run.one("*_ascend/device_0/dump/*.csv"))
        self.assertEqual(count, 1000)

    def test_abort(self):
        self.check("abort", 128 + signal.SIGABRT)

    def test_kill(self):
        self.check("kill", 128 + signal.SIGKILL)

    def test_segmentation_fault(self):
        self.check("crash", 128 + signal.SIGSEGV)

    def test_exit_without_handlers(self):
        self.check("_exit", 4)

    def test_fork_makes_a_set_for_each_process(self):
        run = self.record("fork")
        found = [self.rows_of(path) for path in run.find("*_ascend/device_0/dump/*.csv")]
        self.assertEqual(sorted(count for count, _ in found), [500, 1000])
        self.assertTrue(all(len(processes) == 1 for _, processes in found))
        self.assertEqual(len(set.union(*(processes for _, processes in found))), 2)


class AccessTest(unittest.TestCase):
    def test_a_view_belongs_to_the_block_that_it_lies_in(self):
        run = Run("--events=alloc,free,access", program="compat_watch")
        self.addCleanup(run.remove)
        rows = read_csv(run.one("*_ascend/device_1/dump/*.csv"))
        block = next(row for row in rows if row["Event"] == "MALLOC" and row["Event Type"] == "PTA")
        number = re.search(r"allocation_id:\d+", block["Attr"]).group()
        uses = [row for row in rows if row["Event"] == "ACCESS"]
        self.assertEqual([int(row["Ptr"], 16) - int(block["Ptr"], 16) for row in uses],
                         [512, 512 + 5 * 1024 * 1024 + 3, 512])
        self.assertTrue(all(number in row["Attr"] for row in uses), uses)


class AtbTest(unittest.TestCase):
    def test_operators_are_wrapped_and_run(self):
        run = Run(program="compat_atb")
        self.addCleanup(run.remove)
        self.assertTrue(run.output.startswith("0 0 7 0 0\n"), run.output)
        rows = read_csv(run.one("*_ascend/device_0/dump/*.csv"))
        self.assertEqual([(row["Event Type"], row["Name"]) for row in rows
                          if row["Event"] == "OP_LAUNCH"],
                         [(kind, name) for name in ("LinearRunner",
                                                    "SelfAttentionFusionRunnerOfALongName",
                                                    "FailingRunner", "LinearRunner",
                                                    "LinearRunner")
                          for kind in ("ATB_START", "ATB_END")])

    def test_operators_tell_their_path_workspace_and_tensors(self):
        run = Run("--events=alloc,free,launch,access", program="compat_atb")
        self.addCleanup(run.remove)
        rows = read_csv(run.one("*_ascend/device_0/dump/*.csv"))
        block = int(next(row for row in rows if row["Event"] == "MALLOC" and
                         row["Event Type"] == "PTA")["Ptr"], 16)
        first = [row for row in rows if row["Event"] in ("OP_LAUNCH", "ACCESS")][:5]
        self.assertEqual([row["Event Type"] for row in first],
                         ["ATB_START", "READ", "READ", "WRITE", "ATB_END"])
        for row in first[0], first[4]:
            self.assertEqual(row["Attr"], "{path:7/0_Model/1_Linear,workspace_ptr:0x%016x,"
                                          "workspace_size:1024}" % (block + 65536))
        self.assertEqual([int(row["Ptr"], 16) - block for row in first[1:4]], [0, 4096, 8192])
        self.assertIn("size:256,type:PTA,dtype:float16,shape:[8, 16]", first[2]["Attr"])
        odd = [row["Event"] for row in rows if row["Event"] in ("OP_LAUNCH", "ACCESS")][-4:]
        self.assertEqual(odd, ["OP_LAUNCH"] * 4)  # a pack that is none tells nothing

    def test_outputs_are_watched_by_path(self):
        run = Run("--watch=7/0_Model/1_Linear,7/0_Model/2_Attention", program="compat_atb")
        self.addCleanup(run.remove)
        with open(run.one("*_ascend/device_0/watch_dump/*.csv"), newline="") as file:
            names = [row["Tensor info"].split("_", 2)[2] for row in csv.DictReader(file)]
        linear, attention = "7.0_Model.1_Linear", "7.0_Model.2_Attention"
        self.assertEqual(names[:3], ["%s_1-%s_0_after.bin" % (linear, linear),
                                     "%s_1-%s_0_before.bin" % (attention, linear),
                                     "%s_1-%s_0_after.bin" % (attention, linear)])


class HostTest(unittest.TestCase):
    """The host heap, in the same run as the device."""

    def record(self, *options):
        run = Run("--analysis=host-leaks,leaks", *options, program="compat_heap")
        self.addCleanup(run.remove)
        self.assertEqual(run.status, 0, run.errors)
        with open(run.one("*_ascend/host_leak/leak_overview_*.txt")) as file:
            return run, file.read()

    def test_overview_names_the_places(self):
        run, text = self.record("--call-stack=c:10")
        for section in ("Data Health Analysis", "Total Unfreed", "Unfreed Block Size Distribution",
                        "TOP 10 Leak Sites", "Resident baselines", "NOTE"):
            self.assertIn(section, text)
        self.assertRegex(text, r"\n  \d+\. \[\w+\] LSI \d+  Growth \d\.\d\d  Release ")
        self.assertIn("unfreed 300000B(100 blocks) | alloc 100x3000B, freed 0x0B", text)
        self.assertIn("forget_records", text)
        self.assertEqual(run.find("*_ascend/host_leak/block_detail_*"), [])
        rows = read_csv(run.one("*_ascend/device_0/dump/*.csv"))
        self.assertTrue(any(row["Event Type"] == "HAL" for row in rows))
        self.assertFalse(any(row["Event Type"] == "HOST" for row in rows))

    def test_blocks_one_by_one(self):
        run, _ = self.record("--host-leak-mode=event", "--block-size-threshold=1000")
        rows = read_csv(run.one("*_ascend/host_leak/block_detail_*.csv"))
        self.assertEqual(list(rows[0]), ["addr", "size", "alloc_ts", "Call Stack(C)",
                                         "Call Stack(Python)"])
        sizes = [int(row["size"]) for row in rows]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual(sizes.count(3000), 100)
        self.assertIn(700000, sizes)
        self.assertGreaterEqual(min(sizes), 1000)
        for first, second in zip(rows, rows[1:]):
            if first["size"] == second["size"]:
                self.assertLess(first["addr"], second["addr"])


class ViewerTest(unittest.TestCase):
    """What MindStudio Insight does with a database when it opens it."""

    def test_queries_of_the_viewer(self):
        run = Run(ALL_EVENTS, "--format=db", "--analysis=leaks,decompose")
        self.addCleanup(run.remove)
        path = run.one("msmemscope_*_ascend/device_0/dump/memscope_dump_*.db")
        self.assertRegex(os.path.basename(path), r"^(memscope|leaks)_dump_\d+\.db$")
        with sqlite3.connect(path) as db:
            tables = [row[0] for row in db.execute("select name from sqlite_master")]
            self.assertIn("memscope_dump", tables)
            self.assertEqual([name for name in tables if name.startswith("python_trace_")], [])
            columns = [row[1] for row in db.execute("pragma table_info(memscope_dump)")]
            self.assertEqual(columns, ["ID", "Event", "Event Type", "Name", "Timestamp(ns)",
                                       "Process Id", "Thread Id", "Device Id", "Ptr", "Attr",
                                       "Call Stack(Python)", "Call Stack(C)"])
            low, high = db.execute('select min("Timestamp(ns)"), max("Timestamp(ns)") '
                                   "from memscope_dump").fetchone()
            self.assertGreater(low, 0)
            self.assertGreater(high, low)
            rows = db.execute('select * from memscope_dump where "Device Id" not in '
                              "('N/A', '', 'host') order by \"Timestamp(ns)\"").fetchall()
            self.pair_blocks(rows)
            self.check_groups(db, rows)
            self.write_as_the_viewer(db)
        again = subprocess.run([os.path.join(BIN, "leaktide"), "export", "--to=memscope-csv", path],
                               stdout=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(again.returncode, 0)
        self.assertEqual(again.stdout.count(",MALLOC,"),
                         sum(1 for row in rows if row[1] == "MALLOC"))

    def pair_blocks(self, rows):
        """MALLOC and FREE by address and pool; accesses stand at the address, in order."""
        live, newest_access = {}, {}
        for row in rows:
            attr, key = json.loads(row[9]), (row[2], row[8])
            self.assertTrue(all(isinstance(value, str) for value in attr.values()))
            if row[1] == "MALLOC":
                self.assertNotIn(key, live)
                live[key] = int(attr["size"])
            elif row[1] == "FREE":
                self.assertIn(key, live)
                live.pop(key)
            elif row[1] == "ACCESS":
                self.assertIn((attr["type"], row[8]), live)
                self.assertGreater(row[4], newest_access.get(row[8], 0))
                newest_access[row[8]] = row[4]
        self.assertEqual(live, {})

    def check_groups(self, db, rows):
        owners = [json.loads(row[9]).get("owner") for row in rows if row[1] == "MALLOC"]
        self.assertIn("PTA@ops", owners)
        self.assertIn("CANN@RUNTIME", owners)
        number = json.loads(next(row[9] for row in rows if row[1] == "ACCESS"))["allocation_id"]
        found = db.execute("select count(*) from memscope_dump where Attr like ?",
                           ('%%"allocation_id":"%s"%%' % number,)).fetchone()[0]
        self.assertGreaterEqual(found, 3)  # its alloc, its free, and an access

    def write_as_the_viewer(self, db):
        db.execute("create table memory_allocation (id integer primary key, timestamp integer, "
                   "totalSize integer, optimized integer, deviceId text, eventType text)")
        db.execute("insert into memory_allocation values (1, 2, 3, 0, '0', 'PTA')")
        db.commit()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:], verbosity=1)
