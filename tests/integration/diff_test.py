"""leaktide diff on recordings of real programs: repeats differ in nothing, an upgrade in what is known.

Run as diff_test.py LEAKTIDE FOLDER-OF-REFERENCE-RECORDINGS.
"""

import os
import subprocess
import sys
import unittest

import report_tables

LEAKTIDE, DATA = sys.argv[1:3]
REPEATS = ["text-202501/level0/rank0_ascend_pt", "text-202501/level0/rank1_ascend_pt",
           "db-202501/level0/rank0_ascend_pt"]
BEFORE = "text-202410/level0/rank0_ascend_pt"


def path_of(name):
    return os.path.join(DATA, "ascend", name)


def diff(*arguments):
    done = subprocess.run([LEAKTIDE, "diff", "--format=json", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
    assert done.stderr == "", done.stderr
    return done.returncode, report_tables.load(done.stdout)


def row_of(table, **wanted):
    rows = [r for r in table if all(r[key] == value for key, value in wanted.items())]
    assert len(rows) == 1, (wanted, rows)
    return rows[0]


class Repeats(unittest.TestCase):
    def test_two_repeats_differ_in_no_operator(self):
        for base in REPEATS:
            for current in REPEATS:
                with self.subTest(base=base, current=current):
                    status, report = diff("--fail-on=growth", path_of(base), path_of(current))
                    self.assertEqual(status, 0)
                    self.assertEqual(report["findings"], [])
                    for table in ("site_changes", "operator_changes", "operator_order", "owner_changes",
                                  "module_changes"):
                        self.assertEqual(report["tables"].get(table, []), [])
                    for row in report["tables"]["ledger_changes"]:
                        for key in "peak", "end", "reserved":
                            self.assertEqual(row[key + "_change_bytes"], 0)

    def test_two_repeats_as_bases_have_no_noise(self):
        _, report = diff("--base", path_of(REPEATS[0]), "--base", path_of(REPEATS[1]),
                         path_of(REPEATS[2]))
        self.assertEqual({r["peak_noise_bytes"] for r in report["tables"]["ledger_changes"]}, {0})
        self.assertEqual(report["facts"]["base_count"], 2)


class Upgrade(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.status, cls.report = diff("--fail-on=growth", path_of(BEFORE), path_of(REPEATS[0]))

    def test_growth_is_found(self):
        self.assertEqual(self.status, 1)
        self.assertEqual([f["kind"] for f in self.report["findings"]],
                         ["peak_growth", "kept_growth"])

    def test_the_counters_grew_as_is_known(self):
        counters = self.report["tables"]["counter_changes"]
        self.assertEqual(row_of(counters, counter="PTA allocated")["highest_change_bytes"], 96448000)
        self.assertEqual(row_of(counters, counter="PTA reserved")["highest_change_bytes"], 234881024)

    def test_blocks_grew_as_replayed(self):
        row = row_of(self.report["tables"]["ledger_changes"], ledger="pta device 0")
        self.assertEqual(row["peak_bytes"], 510196224)
        self.assertEqual(row["peak_change_bytes"], 510196224 - 415208448)
        self.assertEqual(row["end_change_bytes"], 264920064 - 264212992)
        self.assertEqual(row["reserved_change_bytes"], 234881024)

    def test_the_operators_are_named(self):
        order = self.report["tables"]["operator_order"]
        self.assertEqual(row_of(order, operator="aten::_foreach_add")["new_count"], 17)
        self.assertEqual(row_of(order, operator="aten::add")["gone_count"], 16)
        self.assertIn("aten::_foreach_add", self.report["verdict"][0])
        self.assertIn("aten::add", self.report["verdict"][0])

    def test_parts_add_up_to_the_change(self):
        tables = self.report["tables"]
        for ledger in tables["ledger_changes"]:
            rows = [r for r in tables["operator_changes"] if r["ledger"] == ledger["ledger"]]
            self.assertEqual(sum(r["peak_change_bytes"] for r in rows), ledger["peak_change_bytes"])
            self.assertEqual(sum(r["end_change_bytes"] for r in rows), ledger["end_change_bytes"])


class CompareCsv(unittest.TestCase):
    """The table of msmemscope, byte for byte as the tool wrote it."""

    def check(self, level, base, current, expected):
        paths = [os.path.join(DATA, "memscope", "upstream", name) for name in (base, current)]
        done = subprocess.run([LEAKTIDE, "diff", "--format=memscope-csv", "--strict",
                               "--level=" + level, *paths], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        with open(os.path.join(DATA, "memscope", "generated", "compare", expected), "rb") as file:
            self.assertEqual(done.stdout, file.read())
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_operators(self):
        self.check("op", "example_compare/baseline.csv", "example_compare/leaks.csv",
                   "example_op_memory_compare.csv")

    def test_kernels_of_two_devices(self):
        self.check("kernel", "smoke/memscope_dump_20250428113810.csv",
                   "smoke/memscope_dump_20250428113811.csv", "smoke_kernel_memory_compare.csv")


if __name__ == "__main__":
    if not DATA:
        print("skipped: no folder of reference recordings (MT_REFERENCE_DATA)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
