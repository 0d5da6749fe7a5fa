"""leaktide frag on allocator snapshots of real programs: every byte that is reserved is somewhere.

Run as frag_test.py LEAKTIDE FOLDER-OF-REFERENCE-RECORDINGS.
"""

import glob
import os
import pickle
import subprocess
import sys
import unittest

import report_tables

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import allocator_replay

LEAKTIDE, DATA = sys.argv[1:3]


def ask(path, *options):
    done = subprocess.run([LEAKTIDE, "frag", "--format=json", *options, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          timeout=300)
    assert done.stderr == "", done.stderr
    return report_tables.load(done.stdout)


def frag(path):
    return ask(path)["tables"]["fragmentation"]


class Unpickler(pickle.Unpickler):
    """Of what is not plain, only that it is there."""

    def find_class(self, module, name):
        return dict


class Snapshots(unittest.TestCase):
    def test_a_second_model_reserves_the_same(self):
        snapshots = glob.glob(os.path.join(DATA, "pytorch", "torch2.*.pickle"))
        snapshots += glob.glob(os.path.join(DATA, "ascend", "memsnapshot", "*.pkl"))
        compared = 0
        for path in snapshots:
            rows = {row["setting"].replace("True", "").replace("False", ""): row
                    for row in ask(path)["tables"]["what_if"]}
            if not rows:
                continue # its history is too short
            with open(path, "rb") as file:
                events = allocator_replay.events_of_snapshot(Unpickler(file).load(), 0)
            pad = 32 if path.endswith(".pkl") else 0
            ran_expandable = "snapshot_expandable" in path
            for name, is_expandable in (("as it ran", ran_expandable),
                                        ("expandable_segments:", not ran_expandable)):
                with self.subTest(path=os.path.basename(path), name=name):
                    self.assertEqual(rows[name]["reserved_peak_bytes"],
                                     allocator_replay.replay(events, is_expandable, True, pad))
                    compared += 1
        self.assertGreaterEqual(compared, 12)

    def test_every_byte_is_somewhere(self):
        paths = glob.glob(os.path.join(DATA, "ascend", "memsnapshot", "*.pkl"))
        paths += glob.glob(os.path.join(DATA, "pytorch", "torch2.[46]*.pickle"))
        self.assertGreaterEqual(len(paths), 5)
        for path in paths:
            with self.subTest(path=os.path.basename(path)):
                for row in frag(path):
                    self.assertEqual(row["unexplained_bytes"], 0, row)
                    self.assertEqual(row["unused_bytes"], row["rounding_bytes"] +
                                     row["hole_bytes"] + row["free_segment_bytes"])
                    self.assertEqual(row["reserved_bytes"], row["unused_bytes"] +
                                     row["allocated_bytes"] + row["waiting_bytes"])

    def test_the_most_reserved_is_what_is_known(self):
        for name, most in ("snapshot_with_empty_cache", 662700032), ("snapshot_expandable", 643825664):
            row = frag(os.path.join(DATA, "ascend", "memsnapshot", name + ".pkl"))[0]
            self.assertEqual((row["moment"], row["reserved_bytes"]), ("most_reserved", most))

    def test_the_model_of_the_allocator_reserves_what_the_allocator_did(self):
        """The same workload in both modes: each predicts the other, to the byte."""
        ascend = os.path.join(DATA, "ascend", "memsnapshot")
        torch = os.path.join(DATA, "pytorch")
        for path, as_it_ran, expandable in (
                (os.path.join(ascend, "snapshot_with_empty_cache.pkl"), 662700032, 643825664),
                (os.path.join(torch, "torch2.6_cs336_silmont_small.pickle"), 3781165056, 3797942272),
                (os.path.join(torch, "torch2.6_cs336_silmont_bf16.pickle"), 861929472, 824180736),
                (os.path.join(torch, "torch2.9_decomfl_opt.pickle"), 1897922560, 1809842176)):
            with self.subTest(path=os.path.basename(path)):
                rows = ask(path)["tables"]["what_if"]
                self.assertEqual((rows[0]["reserved_peak_bytes"], rows[0]["change_bytes"]),
                                 (as_it_ran, 0))
                self.assertEqual((rows[1]["setting"], rows[1]["reserved_peak_bytes"]),
                                 ("expandable_segments:True", expandable))
        rows = ask(os.path.join(ascend, "snapshot_expandable.pkl"))["tables"]["what_if"]
        self.assertEqual([row["reserved_peak_bytes"] for row in rows], [643825664, 662700032])

    def test_a_model_that_is_off_advises_nothing(self):
        report = ask(os.path.join(DATA, "pytorch", "torch2.0_flexgen_state.pickle"))
        self.assertEqual(report["tables"]["what_if"], [])
        self.assertTrue(any("other settings were not tried" in note["sentence"]
                            for note in report["notes"]), report["notes"])

    def test_older_blocks_count_as_allocated(self):
        rows = frag(os.path.join(DATA, "ascend", "text-202501", "level0", "rank0_ascend_pt"))
        end = [r for r in rows if r["moment"] == "the_end" and r["ledger"] == "pta device 0"][0]
        self.assertEqual(end["reserved_bytes"], 1522532352)
        self.assertEqual(end["allocated_bytes"], 1000412672)


if __name__ == "__main__":
    if not DATA:
        print("skipped: no folder of reference recordings (MT_REFERENCE_DATA)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
