"""leaktide diff of one program on the devices of two vendors: pools are compared by their place.

Run as diff_vendors_test.py LEAKTIDE. The traces are written here.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import report_tables

LEAKTIDE = sys.argv[1]
GPU, NPU = 1, 20  # types of devices of PyTorch
HIP, XPU, MPS, MTIA = 6, 12, 13, 19


def trace(device_type, blocks, device=0):
    """Operators, each with the MiB that it takes and keeps."""
    events, alive = [], 0
    for number, (operator, mib) in enumerate(blocks):
        ns, size = 1000 * (number + 1), mib << 20
        alive += size
        events += [{"ph": "X", "cat": "cpu_op", "name": operator, "pid": 1, "tid": 1, "ts": ns, "dur": 900},
                   {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": ns + 10,
                    "args": {"Device Type": device_type, "Device Id": device, "Addr": 4096 + (number << 30), "Bytes": size,
                             "Total Allocated": alive, "Total Reserved": 4 * alive}}]
    return {"traceEvents": events}


class Vendors(unittest.TestCase):
    def diff(self, *traces):
        return report_tables.load(self.ask(["diff", "--format=json"], *traces))

    def ask(self, question, *traces):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, one in enumerate(traces):
                paths.append(os.path.join(folder, "trace%d.json" % number))
                with open(paths[-1], "w") as file:
                    json.dump(one, file)
            done = subprocess.run([LEAKTIDE, *question, *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  universal_newlines=True, timeout=120)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_only_the_allocator_that_has_a_setting_is_advised_to_use_it(self):
        blocks = [("aten::mm", 4), ("aten::addmm", 32)]
        self.assertIn("PYTORCH_CUDA_ALLOC_CONF", self.ask(["advice"], trace(GPU, blocks)))
        self.assertIn("PYTORCH_NPU_ALLOC_CONF", self.ask(["advice"], trace(NPU, blocks)))
        for other in HIP, XPU, MPS, MTIA:
            with self.subTest(type=other):
                self.assertNotIn("ALLOC_CONF", self.ask(["advice"], trace(other, blocks)))
                self.assertNotIn("ALLOC_CONF", self.ask(["advice"], trace(GPU, [("aten::mm", 1)]), trace(other, blocks)))

    def test_pytorch_on_another_device_has_its_pool(self):
        for other in HIP, XPU, MPS, MTIA:
            for pair in (GPU, other), (other, GPU), (other, other):
                with self.subTest(pair=pair):
                    report = self.diff(trace(pair[0], [("aten::mm", 4)]), trace(pair[1], [("aten::mm", 6)]))
                    self.assertEqual([(r["ledger"], r["peak_bytes"]) for r in report["tables"]["ledger_changes"]],
                                     [("torch device 0", 6 << 20)])
            report = self.diff(trace(other, [("aten::mm", 4)]), trace(NPU, [("aten::mm", 6)]))
            self.assertEqual([r["ledger"] for r in report["tables"]["ledger_changes"]], ["torch -> pta device 0"])

    def test_a_gpu_is_compared_with_an_npu(self):
        before = [("aten::mm", 4), ("aten::add", 8), ("aten::addmm", 32)]
        now = [("aten::mm", 4), ("aten::add", 10)]
        for base, current, words in ((GPU, NPU, "torch -> pta device"), (NPU, GPU, "pta -> torch device")):
            for device in 0, 3:
                with self.subTest(words=words, device=device):
                    report = self.diff(trace(base, before), trace(current, now, device))
                    row, = report["tables"]["ledger_changes"]
                    self.assertEqual(row["ledger"], "%s %d" % (words, device))
                    self.assertEqual((row["base_peak_bytes"], row["peak_bytes"]), (44 << 20, 14 << 20))
                    changes = {r["operator"]: r["change"] for r in report["tables"]["operator_changes"]}
                    self.assertEqual(changes, {"aten::add": "grown", "aten::addmm": "gone"})

    def test_one_vendors_pools_have_their_names(self):
        report = self.diff(trace(NPU, [("aten::mm", 4)]), trace(NPU, [("aten::mm", 5)]))
        self.assertEqual([r["ledger"] for r in report["tables"]["ledger_changes"]], ["pta device 0"])

    def test_a_recording_of_both_keeps_them_apart(self):
        both = trace(GPU, [("aten::mm", 4)])
        both["traceEvents"] += trace(NPU, [("aten::mm", 6)])["traceEvents"]
        report = self.diff(both, trace(NPU, [("aten::mm", 6)]))
        self.assertEqual(sorted(r["ledger"] for r in report["tables"]["ledger_changes"]),
                         ["pta device 0", "torch device 0"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:], verbosity=1)
