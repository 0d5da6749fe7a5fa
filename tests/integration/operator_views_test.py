"""Which of the operators that call each other has a block: as profilers have it, and as people ask.

Run as operator_views_test.py LEAKTIDE FOLDER-OF-REFERENCE-RECORDINGS. Traces are written here.
"""

import collections
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import report_tables

LEAKTIDE, DATA = sys.argv[1:3]
PROFILE = os.path.join(DATA, "ascend/db-202501/level0/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db")
NPU, MIB = 20, 1 << 20

# From the outside inward; whose block it is for profilers, and for people.
CHAINS = [
    (["npu::npu_rms_norm", "aten::empty_strided", "empty_tensor"], "aten::empty_strided", "npu::npu_rms_norm"),
    (["aten::matmul", "aten::mm", "empty_tensor"], "aten::mm", "aten::mm"),
    (["aten::to.dtype", "aten::_to_copy", "aten::empty_strided"], "aten::empty_strided", "aten::to.dtype"),
    (["aten::zeros_like", "aten::empty_like", "aten::empty.memory_format", "empty_tensor"], "aten::empty.memory_format",
     "aten::zeros_like"),
    (["aten::cat.out", "aten::resize_"], "aten::resize_", "aten::cat.out"),
    (["ProfilerStep#7", "aten::add", "aten::new_empty_strided"], "aten::new_empty_strided", "aten::add"),
    (["torch._ops.aten.mm.default", "torch._ops.aten.empty.memory_format"], "torch._ops.aten.empty.memory_format",
     "torch._ops.aten.mm.default"),
    (["ProfilerStep#7", "aten::empty_quantized", "empty_tensor"], "aten::empty_quantized", "aten::empty_quantized"),
    (["empty_tensor"], "empty_tensor", "empty_tensor"),
    (["aten::resize_storage_of_mine"], "aten::resize_storage_of_mine", "aten::resize_storage_of_mine"),
    (["empty_the_queue", "aten::emptying"], "aten::emptying", "empty_the_queue"),
]


def span(name, begin_ns, end_ns, thread):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": begin_ns / 1000,
            "dur": (end_ns - begin_ns) / 1000}


def block(number, at_ns, thread, size):
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": thread, "ts": at_ns / 1000,
            "args": {"Device Type": NPU, "Device Id": 0, "Addr": 4096 + (number << 32), "Bytes": size}}


def chain_events(number, names):
    at, depth = 10000 * (number + 1), len(names)
    return [span(name, at + i, at + 100 - i, 1) for i, name in enumerate(names)] + [block(number, at + depth, 1, MIB)]


def operators_of(events, *options, question="ops"):
    """How many blocks each has."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        with open(path, "w") as file:
            json.dump({"traceEvents": events}, file)
        done = subprocess.run([LEAKTIDE, question, "--format=json", "--top=0", *options, path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
    assert done.stderr == "", done.stderr
    return {row["operator"]: row["allocated_count"] for row in report_tables.load(done.stdout)["tables"]["operators"]}


class Views(unittest.TestCase):
    def setUp(self):
        self.events = [event for number, (names, _, _) in enumerate(CHAINS) for event in chain_events(number, names)]

    def test_ops_has_the_operators_of_profilers(self):
        wanted = collections.Counter(profiler for _, profiler, _ in CHAINS)
        self.assertEqual(operators_of(self.events), wanted)
        self.assertEqual(operators_of(self.events, "--operators=profiler", question="report"), wanted)

    def test_a_report_has_those_that_need_the_memory(self):
        wanted = collections.Counter(caller for _, _, caller in CHAINS)
        self.assertEqual(operators_of(self.events, question="report"), wanted)
        self.assertEqual(operators_of(self.events, "--operators=caller"), wanted)

    def test_another_view_is_refused(self):
        done = subprocess.run([LEAKTIDE, "ops", "--operators=outermost", "/dev/null"], stderr=subprocess.PIPE,
                              universal_newlines=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither profiler nor caller", done.stderr)


@unittest.skipUnless(os.path.exists(PROFILE), "no reference recordings")
class Profile(unittest.TestCase):
    def test_names_of_a_real_profile_are_those_of_ops(self):
        """Its calls and its blocks as a trace: each block whose operator is open on a thread then has the name that it has there."""
        profile = sqlite3.connect(PROFILE)
        names = dict(profile.execute("SELECT id, value FROM STRING_IDS"))
        calls = [(int(begin), int(end), thread & 0xffffffff, names[name])
                 for begin, end, thread, name in profile.execute("SELECT startNs, endNs, globalTid, name FROM PYTORCH_API")]
        base = min(begin for begin, _, _, _ in calls)
        events = [span(name, begin - base, end - base, thread) for begin, end, thread, name in calls
                  if ".py(" not in name and not name.startswith(("<", "nn.Module"))]
        wanted = collections.Counter()
        for number, (name, at, size) in enumerate(profile.execute("SELECT name, allocationTime, size FROM OP_MEMORY")):
            threads = {thread for begin, end, thread, call in calls if at is not None and begin <= at <= end and call == names[name]}
            if not threads:
                continue  # the caller's range was not recorded
            events.append(block(number, at - base, threads.pop(), size))
            wanted[names[name]] += 1
        self.assertEqual(sum(wanted.values()), 127)
        self.assertEqual(operators_of(events), wanted)



MEMSCOPE_HEADER = "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,Call Stack(Python),Call Stack(C)"


def memscope_row(number, event, kind, name="N/A", address=0, size_mib=0):
    attributes = '"{allocation_id:%d,addr:0x%x,size:%d}"' % (number, address, size_mib * MIB) if size_mib else ""
    return "%d,%s,%s,%s,%d,1,1,0,%s,%s,," % (number, event, kind, name, 1000 * number, "0x%x" % address if size_mib else "N/A",
                                             attributes)


class Verdict(unittest.TestCase):
    def test_who_needed_a_new_segment_is_not_who_holds_most(self):
        """The first operator needs a segment of 20 MiB for 1 MiB; the second has 10 MiB of it."""
        rows = [("OP_LAUNCH", "ATEN_START", "aten::first"), ("MALLOC", "HAL", "N/A", 1 << 32, 20),
                ("MALLOC", "PTA", "N/A", 1 << 32, 1), ("OP_LAUNCH", "ATEN_END", "aten::first"),
                ("OP_LAUNCH", "ATEN_START", "aten::second"), ("MALLOC", "PTA", "N/A", (1 << 32) + MIB, 10),
                ("OP_LAUNCH", "ATEN_END", "aten::second")]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "memscope_dump_20260101000000.csv")
            with open(path, "w") as file:
                file.write("\n".join([MEMSCOPE_HEADER, *(memscope_row(i, *row) for i, row in enumerate(rows, 1))]) + "\n")
            done = subprocess.run([LEAKTIDE, "ops", path], stdout=subprocess.PIPE, universal_newlines=True, timeout=120)
        self.assertEqual(done.stdout.splitlines()[0], "Operator aten::second held most at once: 10.0 MiB of pta device 0.")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:], verbosity=1)
