"""What is given and is not quite a recording: what it is, why nothing can be read, and what to do next.

Run as wrong_inputs_test.py LEAKTIDE FOLDER-OF-REFERENCE-RECORDINGS.
"""

import os
import pathlib
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import report_tables

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import recordings  # noqa: E402

LEAKTIDE, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
HEADER = ("Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Allocation Total Allocated(MB),"
          "Allocation Total Reserved(MB),Release Total Allocated(MB),Release Total Reserved(MB),Device Type\n")
ROWS = HEADER + "aten::mm,1024,5.0,6.0,1,1,8,0,8,NPU:0\naten::add,2048,7.0,,,2,8,,,NPU:0\n"
STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n2,1,1,1,1,1\n"
KERNELS = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)\n1,a,b,AI_CORE,1,1,1\n"
NO_KIND = "no kind of recording"


def ask(*arguments):
    done = subprocess.run([LEAKTIDE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=120, env=dict(os.environ, LC_ALL="C"))
    return done.returncode, done.stdout, done.stderr


def needs(path):
    return unittest.skipUnless((DATA / path).exists(), "%s is not here" % path)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text="{}"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def refused(self, path, status, *words):
        code, out, said = ask("report", path)
        said = " ".join(said.split())
        self.assertEqual((code, out), (status, ""), said)
        self.assertNotIn(NO_KIND, said)
        for word in words:
            self.assertIn(word, said)


class WithoutMemory(Folder):
    def rank(self, name, setting):
        self.write(name + "/profiler_info_0.json", '{"config": {"common_config": {"profile_memory": %s}}}' % setting)
        self.write(name + "/ASCEND_PROFILER_OUTPUT/step_trace_time.csv", STEPS)
        self.write(name + "/ASCEND_PROFILER_OUTPUT/kernel_details.csv", KERNELS)
        return self.folder / name

    def test_a_rank_whose_memory_was_not_profiled(self):
        rank = self.rank("host_4711_20250109144402123_ascend_pt", "false")
        for path in (rank, rank / "ASCEND_PROFILER_OUTPUT", self.folder):
            self.refused(path, 4, "an Ascend profile without memory", "profile_memory=True")

    def test_a_rank_whose_files_of_memory_were_left_behind(self):
        self.refused(self.rank("rank0_ascend_pt", "true"), 4, "profile_memory was on", "operator_memory.csv")

    def test_a_folder_of_two_files_and_nothing_else(self):
        self.write("any/step_trace_time.csv", STEPS)
        self.write("any/kernel_details.csv", KERNELS)
        self.refused(self.folder / "any", 4, "profile_memory was off?")

    def test_raw_data_is_to_be_parsed_first(self):
        rank = self.folder / "host_4711_20250109144402123_ascend_pt"
        self.write(rank.name + "/PROF_000001_2025/device_0/data/x", "")
        self.write(rank.name + "/FRAMEWORK/torch.op_range", "")
        self.refused(rank, 4, "profile_memory=True")
        self.write(rank.name + "/FRAMEWORK/torch.memory_usage", "")
        self.refused(rank, 4, "not parsed yet", 'analyse("%s")' % rank)
        self.refused(rank / "PROF_000001_2025", 4, "not parsed yet", "msprof --export=on")

    def test_a_database_without_tables_of_memory(self):
        path = self.folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
        path.parent.mkdir(parents=True)
        with sqlite3.connect(path) as database:
            database.executescript("CREATE TABLE STRING_IDS (id, value); CREATE TABLE PYTORCH_API (x);")
        database.close()
        self.refused(path, 4, "without tables of memory", "profile_memory=True")
        self.refused(self.folder, 4, "an Ascend profile without memory")

    @needs("found-3/ascend")
    def test_recordings_of_others(self):
        self.refused(DATA / "found-3/ascend/nomem_rank1_ascend_pt", 4, "an Ascend profile")
        self.refused(DATA / "found-3/ascend/report_0_without_memory.db", 4, "without tables of memory")
        self.refused(DATA / "ascend/st-level2/rank_1_ascend_pt", 4, "an Ascend profile")


class Parts(Folder):
    FILES = {"step_trace_time.csv": STEPS, "kernel_details.csv": KERNELS, "kernel_details (1).csv": KERNELS,
             "communication.json": "{}", "trace_view.json": '[{"ph": "X", "name": "a", "ts": "1", "dur": 1}]',
             "op_statistic_20250109144402123.csv": "Device_id,OP Type,Core Type,Count,Total Time(us)\n",
             "profiler_info_0.json": "{}"}

    def test_a_file_that_belongs_to_a_profile(self):
        for name, text in self.FILES.items():
            with self.subTest(name=name):
                self.refused(self.write(name, text), 3, "belongs to an Ascend profile", "give the folder")

    def test_a_file_that_belongs_to_a_recording_of_msmemscope(self):
        config = self.write("config.json", '{"SelectedStepList": {}, "analysisType": 15}')
        calls = self.write("python_trace_1_2.csv", "FuncInfo,StartTime(ns),EndTime(ns),Thread Id,Process Id\n")
        for path in config, calls:
            self.refused(path, 3, "belongs to a recording of msmemscope")
        self.refused(self.write("memory_compare_2.csv", ",,,Base,Compare\nEvent,Name,Device Id,a,b,c\n"), 3,
                     "leaktide diff")

    def test_what_has_nothing_to_do_with_ascend_is_not_said_to_have(self):
        self.write("some/main.py", "print(1)\n")
        self.write("some/table.csv", "a,b\n1,2\n")
        for path in self.folder / "some", self.folder / "some/table.csv", self.folder / "some/main.py":
            self.assertIn(NO_KIND, ask("report", path)[2])


class Runs(Folder):
    def rank(self, name, seconds, rank=0):
        self.write(name + "/profiler_info_%d.json" % rank)
        rows = ("aten::mm,1024,%d000005.0,%d000006.0,1,1,8,0,8,NPU:0\n" % (seconds, seconds))
        self.write(name + "/ASCEND_PROFILER_OUTPUT/operator_memory.csv", HEADER + rows)

    def names(self, path):
        code, out, said = ask("info", "--format=json", path)
        self.assertEqual(code, 0, said)
        return [row["source"] for row in report_tables.load(out)["tables"]["processes"]]

    def test_several_runs_are_not_one(self):
        for name, seconds in ("a", 1764700000), ("b", 1764700000 + 86400 * 2), ("c", 1764700000 + 86400 * 322):
            for rank in 0, 1:
                self.rank("%s/host_%d_20251202_ascend_pt" % (name, seconds % 9999 + rank), seconds + rank, rank)
        self.refused(self.folder, 2, "3 runs, 322 days apart. Name one", str(self.folder / "c"))
        self.assertEqual(len(self.names(self.folder / "a")), 2)

    def test_a_rank_that_runs_again_is_another_run(self):
        for pid, seconds in (4711, 1764700000), (4999, 1764700600):
            self.rank("host_%d_20251202_ascend_pt" % pid, seconds)
        self.refused(self.folder, 2, "2 runs, 10 minutes apart")

    def test_a_process_may_record_again_and_a_rank_may_be_late(self):
        self.rank("host_4711_20251202000000_ascend_pt", 1764700000)
        self.rank("host_4711_20251202000001_ascend_pt", 1764700000 + 86400)
        self.rank("host_4712_20251202000002_ascend_pt", 1764700900, 1)
        self.assertEqual(len(self.names(self.folder)), 3)

    def test_a_process_is_called_after_its_rank(self):
        name = "host_4711_20251202_ascend_pt"
        self.rank(name, 1764700000)
        output = self.folder / name / "ASCEND_PROFILER_OUTPUT"
        for path in self.folder / name, output, output / "operator_memory.csv":
            self.assertEqual(self.names(path), [name])
        shutil.copy(output / "operator_memory.csv", self.folder / "mine.csv")
        self.assertEqual(self.names(self.folder / "mine.csv"), ["mine.csv"])


class Snapshots(Folder):
    def snapshot(self, name, mib):
        made = recordings.Snapshot()
        made.segment(0, recordings.MIB * 64, recordings.MIB * 64)
        made.alloc(0, recordings.MIB * 64, mib * recordings.MIB, [recordings.frame("step", "train.py", 3)])
        made.write(self.folder / name)

    def test_a_folder_of_snapshots_is_one_of_ranks(self):
        for rank in 10, 2:
            self.snapshot("rank%d_memory_snapshot.pickle" % rank, rank)
        self.write("notes.txt", "hello")
        with open(self.folder / "other.pickle", "wb") as file:
            pickle.dump({"weights": [1, 2]}, file)
        code, out, said = ask("info", "--format=json", self.folder)
        self.assertEqual(code, 0, said)
        rows = report_tables.load(out)["tables"]["processes"]
        self.assertEqual([(row["rank"], row["source"]) for row in rows],
                         [(rank, "rank%d_memory_snapshot.pickle" % rank) for rank in (2, 10)])

    def test_two_moments_of_a_rank_are_not_two_ranks(self):
        for step in 10, 20:
            self.snapshot("rank0_step%d.pickle" % step, 1)
        self.refused(self.folder, 2, "several snapshots of rank 0", "rank0_step10.pickle and rank0_step20.pickle")

    def test_what_is_cut_in_it_is_named(self):
        self.snapshot("rank0.pickle", 1)
        self.snapshot("rank1.pickle", 1)
        path = self.folder / "rank1.pickle"
        path.write_bytes(path.read_bytes()[:-40])
        self.refused(self.folder, 3, "rank1.pickle")
        code, out, _ = ask("info", "--partial", self.folder)
        self.assertEqual(code, 3)
        self.assertIn("INCOMPLETE", out)


class States(Folder):
    def state(self, events):
        made = recordings.Snapshot()
        made.segment(0, recordings.MIB * 64, recordings.MIB * 64)
        for index in range(3):
            made.alloc(0, (64 + index) * recordings.MIB, recordings.MIB, [recordings.frame("step", "train.py", 3)])
        made.free(0, 64 * recordings.MIB, recordings.MIB)
        made.write(self.folder / "rank0.pickle")
        with open(self.folder / "rank0.pickle", "rb") as file:
            whole = pickle.load(file)
        whole["device_traces"] = [trace[-events:] for trace in whole["device_traces"]]
        with open(self.folder / "rank0.pickle", "wb") as file:
            pickle.dump(whole, file)
        return ask("report", self.folder / "rank0.pickle")[1]

    def test_one_event_is_no_history(self):
        for events in 1, 2:  # a release is two
            first = self.state(events).splitlines()[0]
            self.assertIn("A STATE without history", first)
            self.assertIn("2.00 MiB in 2 blocks", first)
        self.assertNotIn("A STATE", self.state(3))

    @needs("pytorch/torch2.0_flexgen_state.pickle")
    def test_a_state_of_others(self):
        _, out, _ = ask("report", DATA / "pytorch/torch2.0_flexgen_state.pickle")
        self.assertIn("A STATE without history", out)
        self.assertNotIn("Mark steps", out)


class Lone(Folder):
    """operator_memory.csv without memory_record.csv."""

    def told(self, rows, header=HEADER):
        code, out, said = ask("report", "--format=json", self.write("operator_memory.csv", header + rows))
        self.assertIn(code, (0, 3), said)
        return report_tables.load(out)

    def test_it_lasts_until_its_last_release(self):
        report = self.told("aten::mm,1024,5.0,105.0,100,1,8,0,8,NPU:0\naten::mm,1024,6.0,7.0,1,2,8,1,8,NPU:0\n")
        self.assertEqual(report["facts"]["recorded_ns"], 100000)

    def test_counters_beside_releases_count(self):
        report = self.told("aten::mm,1024,5.0,15.0,10,1,8,6,8,NPU:0\naten::mm,1024,6.0,7.0,1,2,8,1,8,NPU:0\n")
        self.assertEqual(max(row["highest_bytes"] for row in report["tables"]["samples"]
                             if row["counter"] == "PTA allocated"), 6 << 20)

    def test_without_durations_a_release_that_has_a_time_is_one(self):
        header = HEADER.replace("Duration(us),", "")
        report = self.told("cann::Conv,1024,5.0,7.0,1,8,0,0,NPU:0\ncann::Conv,1024,8.0,8.0,1,8,0,0,NPU:0\n", header)
        self.assertEqual(report["tables"]["totals"][0]["alive_bytes"], 1 << 20)

    @needs("found-3/ascend")
    def test_a_file_of_others(self):
        _, out, _ = ask("report", DATA / "found-3/ascend/operator_memory_rank1_trimmed.csv")
        self.assertIn("PEAK: 3.39 GiB of pta device 1 as the pool counts", out)
        self.assertRegex(out, "Recorded +167 ms")


class Names(Folder):
    def peaks(self, path):
        code, out, said = ask("info", "--format=json", path)
        self.assertEqual(code, 0, said)
        return [row["peak_bytes"] for row in report_tables.load(out)["tables"]["totals"]]

    def test_csv_files_are_known_by_their_headers(self):
        for name in "operator_memory (1).csv", "rank0_operator_memory.csv", "operator_memory-1.csv", \
                    "OPERATOR_MEMORY.CSV", "mine.csv":
            with self.subTest(name=name):
                path = self.write("%d/%s" % (len(name), name), ROWS)
                self.assertEqual(self.peaks(path.parent), [2 << 20])

    def test_what_belongs_together_has_the_same_rest_of_the_name(self):
        record = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\nPTA,5.0,4,8,NPU:0\n"
        for rank in 0, 1:
            self.write("rank%d_operator_memory.csv" % rank, ROWS)
            self.write("rank%d_memory_record.csv" % rank, record)
        code, out, said = ask("info", "--format=json", self.folder)
        self.assertEqual(code, 0, said)
        self.assertEqual([row["rank"] for row in report_tables.load(out)["tables"]["processes"]], [0, 1])

    def test_a_copy_beside_the_usual_name_is_not_counted_twice(self):
        self.write("operator_memory.csv", ROWS)
        self.write("operator_memory (1).csv", ROWS)
        self.assertEqual(self.peaks(self.folder), [2 << 20])
        self.assertIn("they may be copies", " ".join(ask("info", self.folder)[1].split()))


class Cut(Folder):
    def test_nobody_knows_how_much_a_cut_file_lacks(self):
        path = self.write("operator_memory.csv", ROWS[:-12])
        code, out, _ = ask("report", path)
        self.assertEqual(code, 3)
        self.assertRegex(" ".join(out.split()), "^INCOMPLETE: operator_memory.csv ends within a row, in line 3: "
                                                "it was cut, and nobody knows how much is missing")


class Lists(Folder):
    def test_the_rest_of_a_list_is_read(self):
        for name, text in Parts.FILES.items():
            self.write(name, text)
        self.write("operator_memory.csv", ROWS)
        code, out, _ = ask("info", *sorted(self.folder.iterdir()))
        self.assertEqual(code, 0, out)
        self.assertIn("%d files that belong to a recording" % len(Parts.FILES), " ".join(out.split()))

    def test_what_should_have_been_read_is_missing(self):
        memory, text = self.write("operator_memory.csv", ROWS), self.write("notes.txt", "hello\n")
        for files in (memory, text), (text, memory):
            code, out, _ = ask("report", *files)
            self.assertEqual(code, 3, out)
            self.assertIn("INCOMPLETE", out.splitlines()[0])
            self.assertIn(NO_KIND, " ".join(out.split()))
            self.assertIn("aten::add", out)

    def test_a_list_of_nothing_says_the_first(self):
        files = self.write("communication.json"), self.write("notes.txt", "hello\n")
        code, _, said = ask("report", *files)
        self.assertEqual(code, 3)
        self.assertIn("belongs to an Ascend profile", " ".join(said.split()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
