# SPDX-License-Identifier: Apache-2.0
"""Recordings made up by tests: small ones, in the forms of other tools."""
import csv
import json
import os
import pickle

MIB = 1 << 20
OPERATOR_COLUMNS = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
    "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
    "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
    "Release Total Active(MB),Stream Ptr,Device Type").split(",")
RECORD_COLUMNS = ("Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),"
                  "Total Active(MB),Stream Ptr,Device Type").split(",")
MEMSCOPE_COLUMNS = ("ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,"
                    "Call Stack(Python),Call Stack(C)").split(",")


def write_csv(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def ascend_profile(folder, rank, older_mib, blocks, reserved_mib=64):
    """A rank of torch_npu's profiler; on its device `older_mib` were in use before it began.

    blocks: (operator, MiB, from, to or None) in microseconds, in the order of their allocation
    """
    at = [(begin, size) for _, size, begin, _ in blocks]
    at += [(end, -size) for _, size, _, end in blocks if end is not None]

    def total(time):
        return older_mib + sum(size for when, size in at if when <= time)

    output = os.path.join(folder, f"rank{rank}_ascend_pt", "ASCEND_PROFILER_OUTPUT")
    os.makedirs(output)
    start = 1_700_000_000_000_000
    rows = []
    for name, size, begin, end in blocks:
        freed = [f"{start + end}.0", f"{start + end}.0", end - begin, end - begin] if end else [""] * 4
        after = [total(end), reserved_mib, total(end)] if end else [""] * 3
        rows.append([name, size * 1024, f"{start + begin}.0", *freed, total(begin), reserved_mib,
                     total(begin), *after, 7, f"NPU:{rank}"])
    write_csv(os.path.join(output, "operator_memory.csv"), OPERATOR_COLUMNS, rows)
    write_csv(os.path.join(output, "memory_record.csv"), RECORD_COLUMNS,
              [["PTA", f"{start + time}.0", total(time), reserved_mib, total(time), 7, f"NPU:{rank}"]
               for time, _ in sorted(at)])
    with open(os.path.join(os.path.dirname(output), f"profiler_info_{rank}.json"), "w",
              encoding="utf-8") as file:
        json.dump({"rank_id": rank}, file)


def memscope(path, events):
    """events: (pool, "alloc" or "free", address, bytes, device, owner or none), one a microsecond."""
    rows = []
    for index, (pool, kind, address, size, device, *owner) in enumerate(events):
        attr = {"addr": hex(address), "size": size if kind == "alloc" else -size,
                **{"owner": name for name in owner}}
        text = "{" + ",".join(f"{key}:{value}" for key, value in attr.items()) + "}"
        rows.append([index + 1, "MALLOC" if kind == "alloc" else "FREE", pool, "N/A",
                     1_764_753_084_000_000_000 + 1000 * index, 100, 101, device, hex(address), text,
                     "", ""])
    write_csv(path, MEMSCOPE_COLUMNS, rows)


def frame(function, file="/home/user/train.py", line=1):
    return {"name": function, "filename": file, "line": line}


class Snapshot:
    """A snapshot of PyTorch's allocator, written event by event: one a microsecond."""

    def __init__(self):
        self.traces, self.segments, self.now = {}, {}, 1_700_000_000_000_000

    def _event(self, device, action, address, size, frames, stream=0):
        self.now += 1
        self.traces.setdefault(device, []).append(
            {"action": action, "addr": address, "size": size, "stream": stream,
             "time_us": self.now, "frames": frames})

    def segment(self, device, address, size, frames=()):
        self.segments[device, address] = size
        self._event(device, "segment_alloc", address, size, list(frames))

    def segment_free(self, device, address):
        self._event(device, "segment_free", address, self.segments.pop((device, address)), [])

    def alloc(self, device, address, size, frames, stream=0):
        self._event(device, "alloc", address, size, list(frames), stream)

    def free(self, device, address, size):
        self._event(device, "free_requested", address, size, [])
        self._event(device, "free_completed", address, size, [])

    def out_of_memory(self, device, size, free, frames):
        self._event(device, "oom", free, size, list(frames))
        entry = self.traces[device][-1]
        entry["device_free"] = entry.pop("addr")

    def _blocks(self, device, segment):
        alive = {}
        for entry in self.traces[device]:
            if entry["action"] == "alloc":
                alive[entry["addr"]] = (entry["size"], entry["frames"])
            elif entry["action"] == "free_completed":
                alive.pop(entry["addr"], None)
        end, at, blocks = segment + self.segments[device, segment], segment, []
        for address, (size, frames) in sorted(alive.items()):
            if not segment <= address < end:
                continue
            if address > at:
                blocks.append({"size": address - at, "requested_size": 0, "state": "inactive",
                               "address": at, "frames": []})
            blocks.append({"size": size, "requested_size": size, "state": "active_allocated",
                           "address": address, "frames": frames})
            at = address + size
        if at < end:
            blocks.append({"size": end - at, "requested_size": 0, "state": "inactive",
                           "address": at, "frames": []})
        return blocks

    def write(self, path, has_times=True):
        segments = [
            {"device": device, "address": address, "total_size": size, "stream": 0,
             "segment_type": "large", "is_expandable": False, "frames": [],
             "allocated_size": 0, "active_size": 0, "requested_size": 0,
             "segment_pool_id": (0, 0), "blocks": self._blocks(device, address)}
            for (device, address), size in self.segments.items()]
        if not has_times:
            for entry in (entry for trace in self.traces.values() for entry in trace):
                del entry["time_us"]
        traces = [self.traces.get(device, []) for device in range(max(self.traces) + 1)]
        with open(path, "wb") as file:
            pickle.dump({"segments": segments, "device_traces": traces}, file, protocol=4)
