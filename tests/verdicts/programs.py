# SPDX-License-Identifier: Apache-2.0
"""
Recordings of random programs, as tools would have made them: the same seed, the same bytes (but of programs that
run). Loops with and without marks, on one or two devices, whose lines are temporaries, leaks, caches that fill,
windows, growing blocks, and work of one phase. What leaks is not kept: customers have to agree, not to be right.
"""

import csv
import json
import os
import random
import subprocess

BASE_NS = 1_764_753_084_000_000_000
HEADER = ["ID", "Event", "Event Type", "Name", "Timestamp(ns)", "Process Id", "Thread Id", "Device Id", "Ptr",
          "Attr", "Call Stack(Python)", "Call Stack(C)"]
KINDS = ["temporary", "leak", "cache", "window", "list", "late"]


class Program:
    """Turns, marks, devices, and lines: (kind, size, number, device)."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.turns = self.chance.choice([2, 4, 6, 9, 14, 30, 60, 120])
        self.is_marked = self.chance.random() < 0.5
        self.devices = self.chance.choice([1, 1, 2])
        kinds = ["temporary"] + [self.chance.choice(KINDS) for _ in range(self.chance.randint(1, 5))]
        self.lines = [(kind, self.chance.choice([24, 200, 4096, 65536, 1 << 20]) + 8 * self.chance.randint(0, 9),
                       self.chance.choice([1, 1, 2, 3, 7]) * (5 if kind in ("cache", "window") else 1),
                       self.chance.randrange(self.devices)) for kind in kinds]
        self.address = 0x12C000000000

    def fresh(self, size):
        self.address += (size + 511) // 512 * 512
        return self.address

    def events(self):
        """(microseconds, what, fields): alloc of (device, address, size, line), free of (device, address, size)."""
        kept, clock = {}, 1000
        address = self.fresh(1 << 20)
        yield 10, "alloc", (0, address, 1 << 20, "load")
        for turn in range(self.turns):
            clock = 1000 * (turn + 1)
            yield clock, "step", turn + 1
            for line, words in enumerate(self.lines):
                for what, fields in self.line_events(line, words, turn, kept):
                    clock += 7
                    yield clock, what, fields
            yield clock + 50, "end", turn + 1
        for (line, _), (device, address, size) in sorted(kept.items()):
            if self.lines[line][0] == "late":
                clock += 7
                yield clock + 100, "free", (device, address, size)

    def line_events(self, line, words, turn, kept):
        kind, size, number, device = words
        name = "line_%d" % line
        if kind == "list":
            if turn % number == 0:
                if (line, 0) in kept:
                    yield "free", kept.pop((line, 0))
                size *= turn + 1
                kept[line, 0] = device, self.fresh(size), size
                yield "alloc", (*kept[line, 0], name)
            return
        if kind == "window" and (line, turn - number) in kept:
            yield "free", kept.pop((line, turn - number))
        if kind in ("leak", "late") and turn % number or kind == "cache" and turn >= number:
            return
        block = device, self.fresh(size), size
        yield "alloc", (*block, name)
        if kind == "temporary":
            yield "free", block
        else:
            kept[line, turn] = block


def totals(events):
    """The events, each with what its device holds after it."""
    held = {}
    for at, what, fields in events:
        if what in ("alloc", "free"):
            held[fields[0]] = held.get(fields[0], 0) + (fields[2] if what == "alloc" else -fields[2])
            yield at, what, fields, held[fields[0]]
        else:
            yield at, what, fields, 0


def write_memscope(program, path):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEADER)
        for number, (at, what, fields, held) in enumerate(totals(program.events())):
            def row(event, kind, name, device, address="N/A", attr=""):
                out.writerow([number, event, kind, name, BASE_NS + at * 1000, 100, 101, device, address, attr, "", ""])

            if what in ("step", "end"):
                if program.is_marked:
                    row("MSTX", "Range_start" if what == "step" else "Range_end",
                        "step start" if what == "step" else "Range end from id %d" % fields, 0)
                continue
            device, address, size = fields[:3]
            attr = "{allocation_id:%d,addr:0x%016x,size:%d,total:%d,used:%d}" % (number, address, size, 1 << 32, held)
            if what == "alloc":
                row("OP_LAUNCH", "ATEN_START", "aten::" + fields[3], device)
            row("MALLOC" if what == "alloc" else "FREE", "PTA", "N/A", device, "0x%016x" % address, attr)
            if what == "alloc":
                row("OP_LAUNCH", "ATEN_END", "aten::" + fields[3], device)


def write_chrome(program, path):
    rows = []
    for at, what, fields, held in totals(program.events()):
        where = {"pid": 7, "tid": 8, "ts": at}
        if what == "step" and program.is_marked:
            rows.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % fields, "dur": 950, **where})
        if what in ("step", "end"):
            continue
        if what == "alloc":
            rows.append({"ph": "X", "cat": "cpu_op", "name": "aten::" + fields[3], "dur": 1, **where})
        rows.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", **where,
                     "args": {"Device Type": 1, "Device Id": fields[0], "Addr": fields[1] + (fields[0] << 44),
                              "Bytes": fields[2] if what == "alloc" else -fields[2], "Total Allocated": held,
                              "Total Reserved": 1 << 32}})
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": rows}, file)


def write_heaptrack(program, path):
    """No marks there. An instruction for each line, called by main."""
    lines = ["v 10400 3", "X /opt/app", "s 8 /opt/app", "s 5 app.c", "s 4 main", "i 1000 1 3 2 1", "t 1 0"]
    traces, sizes, alive = {}, {}, {}
    for at, what, fields in program.events():
        if what == "alloc":
            _, address, size, name = fields
            if name not in traces:
                traces[name] = len(traces) + 2
                lines += ["s %x %s" % (len(name), name),
                          "i %x 1 %x 2 %x" % (0x1000 + 16 * traces[name], traces[name] + 2, 10 * traces[name]),
                          "t %x 1" % traces[name]]
            if (size, name) not in sizes:
                sizes[size, name] = len(sizes)
                lines.append("a %x %x" % (size, traces[name]))
            alive[address] = sizes[size, name]
            lines.append("+ %x" % alive[address])
        elif what == "free":
            lines.append("- %x" % alive.pop(fields[1]))
        elif what == "step":
            lines.append("c %x" % at)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


WRITERS = [("csv", write_memscope), ("json", write_chrome), ("heaptrack.txt", write_heaptrack)]


def write(seed, folder):
    """The recording of one program, by one of the tools: its path."""
    ending, writer = WRITERS[seed % len(WRITERS)]
    path = os.path.join(folder, "program-%d.%s" % (seed, ending))
    writer(Program(seed), path)
    return path


def record(seed, folder, leaktide, binary):
    """As write, of random_program, which is run: its path."""
    program = Program(seed)
    words = ["%s:%d:%d" % line[:3] for line in program.lines]
    path = os.path.join(folder, "program-%d.leaktide" % seed)
    subprocess.run([leaktide, "run", "-q", "--no-report", "--device=cpu", "--call-stack=c", "-o", path, "--", binary,
                    str(program.turns), str(int(program.is_marked)), *words], check=True, stdin=subprocess.DEVNULL)
    return path
