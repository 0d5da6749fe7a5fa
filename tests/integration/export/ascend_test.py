"""Profiles of torch_npu: written, compared with what they were made from, and read again.

Run as ascend_test.py LEAKTIDE CLI_MAKE_TRACES REFERENCE_DATA
"""

import csv
import glob
import json
import os
import sqlite3
import unittest

import exported

FILES = ["operator_memory.csv", "memory_record.csv", "npu_module_mem.csv"]
PROFILES = ["ascend/st-level2/rank_0_ascend_pt", "ascend/text-202410/level0/rank0_ascend_pt",
            "ascend/text-202501/level0/rank0_ascend_pt",
            "ascend/text-202501/level0/rank1_ascend_pt", "made-up/mindspore26"]
DATABASE = "ascend/db-202501/level0/rank0_ascend_pt"


def read(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as rows:
        return list(csv.DictReader(rows))


def output_of(folder):
    return sorted(glob.glob(os.path.join(folder, "*", "ASCEND_PROFILER_OUTPUT")))


def figures(report):
    """What must be the same: not the time of day, nor names of processes and files."""
    tables = report["tables"]
    return {name: [{key: cell for key, cell in row.items() if key not in ("ledger", "example")}
                   for row in tables[name]] for name in ("totals", "peaks", "window", "operators")
            if name in tables}


class Ascend(exported.Exported):
    def folder_of(self, source):
        return self.export("ascend", source, self.out(str(len(os.listdir(self.folder)))))

    def test_made_recordings_keep_their_blocks(self):
        for source in self.inputs[:3]:
            totals = self.report(source)["tables"]["totals"]
            pool = "pta" if any("pta" in row["ledger"] for row in totals) else "host"
            want = [row for row in totals if row["ledger"].startswith(pool)][0]
            rows = read(output_of(self.folder_of(source))[0], "operator_memory.csv")
            self.assertEqual(len(rows), want["allocated_count"])
            self.assertEqual(sum(float(row["Size(KB)"]) * 1024 for row in rows),
                             want["allocated_bytes"])
            self.assertEqual(sum(not row["Release Time(us)"] for row in rows),
                             want["alive_count"])
            self.assertEqual(max(float(row["Allocation Total Allocated(MB)"]) for row in rows)
                             * 2**20, want["peak_bytes"])

    def test_every_event_has_a_row_that_insight_draws(self):
        rows = read(output_of(self.folder_of(self.inputs[0]))[0], "memory_record.csv")
        own = [row for row in rows if row["Component"] == "PTA"]
        both = [row for row in rows if row["Component"] == "PTA+GE"]
        self.assertEqual(len(own), len(both))
        self.assertEqual([row["Total Allocated(MB)"] for row in own],
                         [row["Total Allocated(MB)"] for row in both])

    def test_steps_and_leaks_come_back(self):
        folder = self.folder_of(self.inputs[0])
        growth = [[f["growth_bytes_per_step"] for f in self.report(path, "leaks")["findings"]]
                  for path in (self.inputs[0], folder)]
        self.assertEqual(growth[0], growth[1])
        self.assertGreater(len(growth[0]), 0)

    def test_steps_are_found_without_the_database(self):
        folder = self.folder_of(self.inputs[0])
        files = output_of(folder)[0]
        for name in os.listdir(files):
            if name.endswith(".db"):
                os.remove(os.path.join(files, name))
        rows = [[{key: cell for key, cell in row.items() if key not in ("ledger", "new_site")}
                 for row in self.report(path, "steps")["tables"]["steps"]
                 if row["ledger"].startswith("pta")] for path in (self.inputs[0], folder)]
        self.assertEqual(len(rows[0]), 12)
        self.assertEqual(rows[0], rows[1])

    def test_operators_are_calls_of_the_framework(self):
        folder = output_of(self.folder_of(self.inputs[0]))[0]
        tables = sqlite3.connect(glob.glob(os.path.join(folder, "*.db"))[0])
        rows = tables.execute(
            "SELECT value, CAST(endNs AS INTEGER) - startNs, globalTid FROM PYTORCH_API"
            " JOIN STRING_IDS ON STRING_IDS.id = PYTORCH_API.name JOIN ENUM_API_TYPE ON"
            " ENUM_API_TYPE.id = type AND ENUM_API_TYPE.name = 'op'").fetchall()
        thread = 1000 << 32 | 1000
        self.assertEqual([row for row in rows if "Step" not in row[0]],
                         [("matmul", 2000000, thread)] * 12)
        self.assertEqual([row for row in rows if "Step" in row[0]],
                         [("ProfilerStep#%d" % step, 90000000, thread) for step in range(1, 13)])

    def test_blocks_without_the_length_of_their_operator_are_within_it(self):
        csv_folder = self.out("csv")
        os.mkdir(csv_folder)
        with open(os.path.join(csv_folder, "operator_memory.csv"), "w", encoding="ascii") as rows:
            rows.write("Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),"
                       "Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
                       "Release Total Allocated(MB),Release Total Reserved(MB),Device Type\n"
                       "aten::mm,1,1736405443871.720,,,1,2,,,NPU:0\n"
                       "cann::Conv,1,1736405443871.900,,,1,2,,,NPU:0\n")
        folder = output_of(self.folder_of(csv_folder))[0]
        tables = sqlite3.connect(glob.glob(os.path.join(folder, "*.db"))[0])
        rows = tables.execute(
            "SELECT allocationTime - startNs, endNs - allocationTime FROM OP_MEMORY JOIN"
            " PYTORCH_API USING (name)").fetchall()
        self.assertEqual(rows, [(250, 250)])
        self.assertEqual(tables.execute("SELECT COUNT(*) FROM PYTORCH_API").fetchone(), (1,))

    def test_static_graphs_keep_their_rows(self):
        graphs = self.out("graphs")
        os.mkdir(graphs)
        text = ("Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\n"
                "host,sqrt,0,9,31,32,2343.78125\n"
                "host,\"add, twice\",0,9,1,4294967295,0.211914063\n"
                "host,TOTAL,0,9,1,4294967295,17210.5\n"
                "host,mul,0,10,2,2,64.0\n"
                "host,TOTAL,0,10,1,4294967295,64.0\n")
        with open(os.path.join(graphs, "static_op_mem.csv"), "w", encoding="ascii") as rows:
            rows.write(text)
        folder = output_of(self.folder_of(graphs))[0]
        with open(os.path.join(folder, "static_op_mem.csv"), encoding="ascii") as rows:
            self.assertEqual(rows.read(), text)

    def test_a_release_at_the_first_moment_comes_back(self):
        source = self.out("heaptrack.txt")
        with open(source, "w", encoding="ascii") as rows:  # all of it at time 0
            rows.write("v 10200\ns libm.so\ni 1000 1\nt 1 0\na 64 1\n+ 0\n- 0\n+ 0\n")
        folder = self.folder_of(source)
        rows = [[self.report(path)["tables"]["totals"][0][key] for key in ("alive_bytes", "alive_count")]
                for path in (source, folder)]
        self.assertEqual(rows, [[100, 1]] * 2)

    def test_each_process_has_a_folder(self):
        folder = self.folder_of(os.path.join(self.folder, "two"))
        self.assertEqual(len(os.listdir(folder)), 2)
        for name in os.listdir(folder):
            self.assertRegex(name, r"^process\d_\d+_\d{17}_ascend_pt$")
            with open(os.path.join(folder, name, "profiler_info.json"), encoding="utf-8") as info:
                self.assertIn("config", json.load(info))

    def test_lines_end_and_missing_cells_look_as_torch_npu_has_them(self):
        folder = output_of(self.folder_of(self.inputs[0]))[0]
        with open(os.path.join(folder, "operator_memory.csv"), "rb") as lines:
            rows = lines.read().split(b"\r\n")
        self.assertEqual(rows[-1], b"")
        self.assertTrue(all(b"\n" not in row for row in rows))
        self.assertRegex(rows[1], rb"^[^,]+,65536\.0,\d+\.\d{3}\t,,,,,64\.0,,64\.0,,,,,NPU:0$")


@unittest.skipUnless(exported.REFERENCE_DATA, "no reference data")
class RoundTrip(exported.Exported):
    def source(self, name):
        return os.path.join(exported.REFERENCE_DATA, name)

    def test_files_are_the_same_cell_by_cell(self):
        for name in PROFILES:
            source = os.path.join(self.source(name), "ASCEND_PROFILER_OUTPUT")
            folder = output_of(self.export("ascend", self.source(name),
                                           self.out(name.replace("/", "_"))))[0]
            for file in FILES:
                theirs = read(source, file)
                # Modules that showed frees only say -1, which is no size.
                theirs = [row for row in theirs if row.get("Total Reserved(KB)") != "-1"
                          and row.get("Total Reserved(MB)") != "-0.0009765625"]
                ours = read(folder, file)
                self.assertEqual(len(ours), len(theirs), (name, file))
                for mine, row in zip(ours, theirs):
                    if row.get("Total Reserved(KB)"):  # of msprof: 0 or 0.0
                        row["Total Reserved(KB)"] = mine["Total Reserved(KB)"] = float(
                            mine["Total Reserved(KB)"]) - float(row["Total Reserved(KB)"])
                    self.assertEqual({key: mine[key] for key in row}, row, (name, file))

    def test_static_graphs_stand_beside_their_rank_byte_by_byte(self):
        source = self.source("ascend/unit/test_rank_1")
        ran = exported.leaktide("export", "--to", "ascend", source, "-o", self.out("static"))
        self.assertIn(b"events are missing", ran.stderr)  # ruined times of another file
        folders = output_of(self.out("static"))
        self.assertEqual(len(folders), 1)
        self.assertIn("operator_memory.csv", os.listdir(folders[0]))
        with open(os.path.join(source, "static_op_mem.csv"), "rb") as theirs, \
                open(os.path.join(folders[0], "static_op_mem.csv"), "rb") as ours:
            self.assertEqual(ours.read(), theirs.read())

    def test_reports_are_the_same(self):
        for name in PROFILES + [DATABASE]:
            folder = self.export("ascend", self.source(name), self.out(name.replace("/", "_")))
            reports = [figures(self.report(path)) for path in (self.source(name), folder)]
            self.assertEqual(reports[0], reports[1], name)

    def test_ranks_stay_ranks(self):
        folder = self.export("ascend", self.source("ascend/text-202501/level0"), self.out("ranks"))
        ledgers = [row["ledger"] for row in self.report(folder)["tables"]["totals"]]
        self.assertIn("pta device 1, rank 1", ledgers)

    def test_database_is_the_same_row_by_row(self):
        queries = [
            "SELECT s.value, size, allocationTime, releaseTime, activeReleaseTime, duration,"
            " activeDuration, allocationTotalAllocated, allocationTotalReserved,"
            " allocationTotalActive, releaseTotalAllocated, releaseTotalReserved,"
            " releaseTotalActive, streamPtr, deviceId FROM OP_MEMORY JOIN STRING_IDS s"
            " ON s.id = name ORDER BY allocationTime",
            "SELECT s.value, timestamp, totalAllocated, totalReserved, totalActive, streamPtr,"
            " deviceId FROM MEMORY_RECORD JOIN STRING_IDS s ON s.id = component"
            " ORDER BY timestamp, s.value",
            "SELECT s.value, ddr, hbm, timestampNs, deviceId FROM NPU_MEM JOIN STRING_IDS s"
            " ON s.id = type ORDER BY timestampNs, s.value",
            "SELECT m.name, timestampNs, totalReserved, deviceId FROM NPU_MODULE_MEM JOIN"
            " ENUM_MODULE m ON m.id = moduleId ORDER BY timestampNs, m.name",
            "SELECT id, startNs, endNs FROM STEP_TIME",
            "SELECT rankId, deviceId FROM RANK_DEVICE_MAP"]
        folder = output_of(self.export("ascend", self.source(DATABASE), self.out("db")))[0]
        name = "ascend_pytorch_profiler_0.db"
        theirs = sqlite3.connect("file:%s?immutable=1" % os.path.join(
            self.source(DATABASE), "ASCEND_PROFILER_OUTPUT", name), uri=True)
        ours = sqlite3.connect(os.path.join(folder, name))
        for query in queries:
            rows = theirs.execute(query).fetchall()
            self.assertGreater(len(rows), 0)
            self.assertEqual(ours.execute(query).fetchall(), rows, query)


if __name__ == "__main__":
    exported.main()
