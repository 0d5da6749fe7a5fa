# SPDX-License-Identifier: Apache-2.0
"""A small job, as each tool would have recorded it: twelve steps on two devices, and no leak."""

import csv
import json
import os
import sqlite3
import subprocess

BASE_NS = 1_764_753_084_000_000_000
STEPS = 12
JOBS = ["job.csv", "job.db", "job.json", "ascend", "snapshot.pickle"]
PEAKS = [1118208, 1122304]  # of the two devices
MEMSCOPE_HEADER = ["ID", "Event", "Event Type", "Name", "Timestamp(ns)", "Process Id", "Thread Id",
                   "Device Id", "Ptr", "Attr", "Call Stack(Python)", "Call Stack(C)"]


def job():
    """(microseconds, what, fields) in the order of time; sizes and addresses by device."""
    for device in (0, 1):
        yield 10 + device, "alloc", (device, 0x12C000000000, 1 << 20, "aten::empty")
    for step in range(1, STEPS + 1):
        at = 1000 * step
        yield at, "step", step
        for device in (0, 1):
            if step > 1:
                yield at + 10 + device, "free", (device, 0x12C010000000, 4096 << device)
            yield at + 20 + device, "alloc", (device, 0x12C020000000, 65536, "aten::mm")
            yield at + 30 + device, "alloc", (device, 0x12C010000000, 4096 << device, "aten::add")
            yield at + 40 + device, "free", (device, 0x12C020000000, 65536)
        yield at + 900, "end", step


class Pools:
    """What each device holds, beside the events."""

    def __init__(self):
        self.used = {}

    def after(self, what, fields):
        change = fields[2] if what == "alloc" else -fields[2]
        self.used[fields[0]] = self.used.get(fields[0], 0) + change
        return self.used[fields[0]]


def memscope_rows():
    pools = Pools()
    number = 0

    def row(event, kind, name, at, device, address=None, attr=None):
        nonlocal number
        number += 1
        return [number, event, kind, name, BASE_NS + at * 1000, 100, 101, device,
                "0x%016x" % address if address else "N/A", attr, "", ""]

    for at, what, fields in job():
        if what == "step":
            yield row("MSTX", "Range_start", "step start", at, 0)
        elif what == "end":
            yield row("MSTX", "Range_end", "Range end from id %d" % fields, at, 0)
        else:
            device, address, size = fields[:3]
            used = pools.after(what, fields)
            attr = {"allocation_id": number, "addr": "0x%016x" % address, "size": size,
                    "total": 1 << 22, "used": used}
            if what == "alloc":
                yield row("OP_LAUNCH", "ATEN_START", fields[3], at, device)
            yield row("MALLOC" if what == "alloc" else "FREE", "PTA", "N/A", at, device, address,
                      attr)
            if what == "alloc":
                yield row("OP_LAUNCH", "ATEN_END", fields[3], at, device)


def write_memscope_csv(path):
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(MEMSCOPE_HEADER)
        for row in memscope_rows():
            attr = row[9]
            row[9] = "{%s}" % ",".join("%s:%s" % pair for pair in attr.items()) if attr else ""
            out.writerow(row)


def write_memscope_db(path):
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE memscope_dump (%s)"
                         % ", ".join('"%s"' % name for name in MEMSCOPE_HEADER))
        database.executemany("INSERT INTO memscope_dump VALUES (%s)"
                             % ",".join("?" * len(MEMSCOPE_HEADER)),
                             [row[:9] + [json.dumps(row[9], separators=(",", ":")) if row[9] else ""]
                              + row[10:] for row in memscope_rows()])
    database.close()


def chrome_events():
    pools = Pools()
    for at, what, fields in job():
        if what == "step":
            yield {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % fields,
                   "pid": 7, "tid": 8, "ts": at, "dur": 900}
        elif what != "end":
            used = pools.after(what, fields)
            if what == "alloc":
                yield {"ph": "X", "cat": "cpu_op", "name": fields[3], "pid": 7, "tid": 8, "ts": at,
                       "dur": 1}
            yield {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7,
                   "tid": 8, "ts": at,
                   "args": {"Device Type": 1, "Device Id": fields[0],
                            "Addr": fields[1] + (fields[0] << 40),
                            "Bytes": fields[2] if what == "alloc" else -fields[2],
                            "Total Allocated": used, "Total Reserved": 1 << 22}}


def write_chrome(path):
    with open(path, "w") as file:
        json.dump({"schemaVersion": 1, "traceEvents": list(chrome_events())}, file)


def write_all(folder, leaktide, make_traces):
    """{name: path} of clean recordings, one of each source that tells steps."""
    made = {}

    def at(name):
        made[name] = os.path.join(folder, name)
        return made[name]

    write_memscope_csv(at("job.csv"))
    write_memscope_db(at("job.db"))
    write_chrome(at("job.json"))
    for to, name in (("ascend", "ascend"), ("memory-viz", "snapshot.pickle")):
        subprocess.run([leaktide, "export", "--to", to, made["job.csv"], "-o", at(name)],
                       check=True)
    traces = os.path.join(folder, "traces")
    os.mkdir(traces)
    subprocess.run([os.path.abspath(make_traces)], cwd=traces, check=True)
    made["leak"] = os.path.join(traces, "leak")
    made["tidy"] = os.path.join(traces, "tidy")
    made["stacks"] = os.path.join(traces, "stacks")
    return made
