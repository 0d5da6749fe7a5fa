"""Snapshots for PyTorch's viewer: what it asks for, and what it was made from.

Run as snapshots_test.py LEAKTIDE CLI_MAKE_TRACES REFERENCE_DATA
"""

import bisect
import collections
import glob
import importlib.util
import json
import os
import pickle
import pickletools
import unittest

import exported

# Of the viewer's own reader, torch/utils/viz/MemoryViz.js; of another opcode it makes an error.
VIEWER_OPCODES = {
    "APPENDS", "BINGET", "BININT", "BININT1", "BININT2", "EMPTY_DICT", "EMPTY_LIST", "FRAME",
    "LONG1", "LONG_BINGET", "MARK", "MEMOIZE", "PROTO", "SETITEMS", "SHORT_BINUNICODE", "STOP",
    "TUPLE2", "APPEND", "NEWFALSE", "BINPUT", "BINUNICODE", "EMPTY_TUPLE", "NEWTRUE", "NONE",
    "BINFLOAT", "TUPLE", "TUPLE1", "TUPLE3", "LONG_BINPUT", "LIST", "DICT", "SETITEM"}
BATCH_MOST = 10000  # the viewer hands a batch to a function as its arguments

SNAPSHOTS = ["ascend/memsnapshot/*.pkl", "pytorch/*.pickle"]


def readers_of_torch():
    """torch/cuda/_memory_viz.py without all of torch, or None."""
    torch = importlib.util.find_spec("torch")
    path = torch and os.path.join(os.path.dirname(torch.origin), "cuda", "_memory_viz.py")
    if not path or not os.path.exists(path):
        return None
    found = importlib.util.spec_from_file_location("memory_viz", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def segment_of(segments, address):
    """segments: sorted (address, size)"""
    at = bisect.bisect(segments, (address, float("inf"))) - 1
    return at >= 0 and address < sum(segments[at])


def walk_back(snapshot, device):
    """From the end to the start, as the viewer draws it: yields the segments before each event,
    newest first, and the blocks that are to be found in them."""
    segments, blocks = {}, {}
    for segment in snapshot["segments"]:
        if segment["device"] != device:
            continue
        segments[segment["address"]] = segment["total_size"]
        blocks.update({block["address"]: block["state"] for block in segment["blocks"]
                       if block["state"] != "inactive"})
    yield segments, blocks
    for event in reversed(snapshot["device_traces"][device]):
        action, address, size = event["action"], event["addr"], event["size"]
        found = [] if "segment" not in action else blocks
        if action == "alloc":
            del blocks[address]
        elif action == "free_requested":
            if blocks[address] != "active_pending_free":
                raise KeyError("a free that was asked for, of a block that is not freed")
            blocks[address] = "active_allocated"
        elif action == "free_completed":
            if address in blocks:
                raise KeyError("a free of a block that is there")
            blocks[address] = "active_pending_free"
            found = [address]
        elif action in ("segment_free", "segment_unmap"):
            segments[address] = size
        elif action == "segment_alloc":
            del segments[address]
        elif action == "segment_map":
            around = max(start for start in segments if start <= address)
            end = around + segments.pop(around)
            if around < address:
                segments[around] = address - around
            if address + size < end:
                segments[address + size] = end - address - size
        yield segments, found


def annotations_of(snapshot):
    return [(row["stage"], row["name"]) for row in snapshot.get("external_annotations", [])
            if row["device"] == 0]


class Snapshots(exported.Exported):
    def read(self, source):
        """The snapshot, which is the same in both forms."""
        made = []
        for to, load in (("memory-viz", pickle.load), ("memory-viz-json", json.load)):
            with open(self.export(to, source, self.out(to)), "rb") as out:
                made.append(load(out))
        self.assertEqual(made[0], made[1], source)
        return made[0]

    def test_the_viewer_knows_every_opcode(self):
        for source in self.inputs:
            with open(self.export("memory-viz", source, self.out("pickle")), "rb") as out:
                since_mark = 0
                for opcode, argument, _ in pickletools.genops(out):
                    self.assertIn(opcode.name, VIEWER_OPCODES)
                    self.assertTrue(opcode.name != "PROTO" or argument in (2, 3, 4))
                    since_mark = 0 if opcode.name in ("MARK", "APPENDS") else since_mark + 1
                    self.assertLess(since_mark, BATCH_MOST)

    def test_peaks_are_those_of_the_report(self):
        for source in self.inputs:
            made = self.read(source)
            totals = {row["ledger"]: row for row in self.report(source)["tables"]["totals"]}
            self.assertEqual(set(made["leaktide_ledgers"]), set(totals))
            for device, name in enumerate(made["leaktide_ledgers"]):
                want = totals[name]
                sizes, total, highest = {}, 0, 0
                for segment in made["segments"]:
                    if segment["device"] == device:
                        sizes.update({block["address"]: block["size"] for block
                                      in segment["blocks"] if block["state"] != "inactive"})
                total = sum(sizes.values())
                self.assertEqual(total, want["alive_bytes"], source)
                highest = total
                for event in reversed(made["device_traces"][device]):
                    total -= {"alloc": 1, "free_completed": -1}.get(event["action"], 0) * event["size"]
                    highest = max(highest, total)
                self.assertEqual(highest, want["peak_bytes"], source)

    def test_each_event_has_what_the_viewer_asks_for(self):
        for source in self.inputs:
            made = self.read(source)
            for trace in made["device_traces"]:
                self.assertIn("unknown", [event.get("category") for event in trace])
                for event in trace:
                    self.assertTrue({"action", "addr", "size", "stream", "frames"} <= set(event))
                    self.assertTrue(event["action"] != "alloc" or event["category"])
                    for frame in event["frames"]:
                        self.assertEqual(set(frame), {"name", "filename", "line"})
            for segment in made["segments"]:
                blocks = segment["blocks"]
                self.assertEqual(sum(block["size"] for block in blocks), segment["total_size"])
                ends = [block["address"] + block["size"] for block in blocks]
                self.assertEqual([block["address"] for block in blocks],
                                 [segment["address"]] + ends[:-1])

    def test_every_block_is_in_a_segment_at_every_event(self):
        for source in self.inputs + self.snapshots():
            made = self.read(source)
            for device in range(len(made["device_traces"])):
                for segments, blocks in walk_back(made, device):
                    rows = sorted(segments.items()) if blocks else []
                    for address in blocks:
                        self.assertTrue(segment_of(rows, address), source)

    def test_blocks_that_wait_for_a_stream_still_wait(self):
        blocks = [{"size": 1024, "requested_size": 1000, "state": state, "frames": []}
                  for state in ("active_allocated", "active_pending_free", "inactive")]
        source = self.out("source.pickle")
        with open(source, "wb") as file:
            pickle.dump({"segments": [{"device": 0, "address": 1 << 21, "total_size": 3072, "stream": 0,
                                       "segment_type": "small", "blocks": blocks}], "device_traces": [[]]}, file)
        with open(self.export("memory-viz", source, self.out("out.pickle")), "rb") as file:
            made = pickle.load(file)
        segment, = made["segments"]
        self.assertEqual([block["state"] for block in segment["blocks"] if block["requested_size"]],
                         ["active_allocated", "active_pending_free"])
        self.assertEqual([segment[key] for key in ("allocated_size", "active_size")], [1000, 2000])
        self.assertEqual([event["action"] for trace in made["device_traces"] for event in trace], ["snapshot"])

    def test_segments_that_cannot_hold_their_blocks_are_as_few(self):
        segments = [{"device": 0, "address": (1 + index) << 30, "total_size": 1 << 20, "stream": 0,
                     "segment_type": "large",
                     "blocks": [{"address": ((1 + index) << 30) + (block << 25), "size": 1 << 20,
                                 "requested_size": 1 << 20, "state": "active_allocated", "frames": []}
                                for block in range(4)]} for index in range(2)]
        source = self.out("source.pickle")
        with open(source, "wb") as file:
            pickle.dump({"segments": segments, "device_traces": [[]]}, file)
        with open(self.export("memory-viz", source, self.out("out.pickle")), "rb") as file:
            made = pickle.load(file)
        self.assertEqual(sum(segment["total_size"] for segment in made["segments"]), 8 << 20)
        self.assertEqual(sum(segment["allocated_size"] for segment in made["segments"]), 8 << 20)

    def test_categories_are_verdicts(self):
        found = {event["category"] for trace in self.read(self.inputs[0])["device_traces"]
                 for event in trace if "category" in event}
        self.assertTrue({"leak", "growing cache", "released", "not released"} <= found, found)

    @unittest.skipUnless(readers_of_torch(), "no torch")
    def test_readers_of_torch_read_it(self):
        torch = readers_of_torch()
        for source in self.inputs:
            made = self.read(source)
            allocated = sum(row["alive_bytes"] for row in self.report(source)["tables"]["totals"])
            self.assertIn("total_allocated: %s\n" % torch._format_size(allocated),
                          torch.segsum(made))
            self.assertIn("entries", torch.trace(made))
            for text in (torch.memory, torch.segments):
                weights = [int(line.rsplit(" ", 1)[1]) for line
                           in text(made, format_flamegraph=str).splitlines() if ";active_" in line]
                self.assertEqual(sum(weights), allocated)
            for page in (torch.trace_plot(made), torch.segment_plot(made)):
                self.assertIn("MemoryViz.js", page)

    def snapshots(self):
        if not exported.REFERENCE_DATA:
            return []
        return sorted(path for pattern in SNAPSHOTS
                      for path in glob.glob(os.path.join(exported.REFERENCE_DATA, pattern)))

    @unittest.skipUnless(exported.REFERENCE_DATA, "no reference data")
    def test_snapshots_come_back_event_by_event(self):
        self.assertGreaterEqual(len(self.snapshots()), 8)
        for source in self.snapshots():
            with open(source, "rb") as file:
                theirs = pickle.load(file)
            ours = self.read(source)
            for trace in theirs["device_traces"]:
                if trace and trace[0]["action"] == "free_completed":  # the history was cut there
                    trace.insert(0, dict(trace[0], action="free_requested"))
            traces = [[(event["action"], event["addr"], event["size"]) for event in trace
                       if event["action"] != "snapshot"]
                      for trace in theirs["device_traces"] if trace]
            made = [[(event["action"], event["addr"], event["size"]) for event in trace[1:]
                     if event["action"] != "snapshot"] for trace in ours["device_traces"]]
            self.assertEqual([trace for trace in made if trace], traces, source)
            for key in "stream", "time_us":
                rows = [[[event.get(key) for event in trace
                          if event["action"] in ("alloc", "free_completed")]
                         for trace in snapshot["device_traces"] if trace]
                        for snapshot in (theirs, ours)]
                self.assertTrue(rows[0] == rows[1], (source, key))
            conf = theirs.get("allocator_settings", {}).get("PYTORCH_CUDA_ALLOC_CONF", "")
            self.assertIn(conf, ours.get("allocator_settings", {}).get("PYTORCH_CUDA_ALLOC_CONF", ""))
            self.assertEqual(annotations_of(theirs), annotations_of(ours), source)
            segments = collections.Counter(segment["total_size"] for segment in theirs["segments"])
            self.assertEqual(collections.Counter(segment["total_size"]
                                                 for segment in ours["segments"]), segments, source)
            out = self.export("memory-viz", source, self.out("again"))
            reports = [self.report(path)["tables"] for path in (source, out)]
            for name in ("totals", "window", "unreleased"):
                rows = [[{key: cell for key, cell in row.items() if key != "ledger"}
                         for row in report.get(name, [])] for report in reports]
                self.assertEqual(rows[0], rows[1], (source, name))


if __name__ == "__main__":
    exported.main()
