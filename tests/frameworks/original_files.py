"""Files that both tools write of the same C program, and what their commands answer on the same files."""
import csv
import glob
import os
import re
import shutil
import sqlite3
import tempfile

from original_tools import Table, environment_for, run, run_python, tools, without_addresses
from original_vectors import build

STEPS = r"""
#include <stddef.h>
#include <stdint.h>
int aclInit(const char *), aclFinalize(void), aclrtSetDevice(int), aclrtMalloc(void **, size_t, int), aclrtFree(void *);
uint64_t mstxRangeStartA(const char *, void *);
void mstxRangeEnd(uint64_t), mstxMarkA(const char *, void *);
int main(void)
{
    void *blocks[4];
    aclInit(0); aclrtSetDevice(0);
    for (int step = 0; step < 4; step++) {
        uint64_t range = mstxRangeStartA("step start", 0);
        for (int i = 0; i < 4; i++) aclrtMalloc(&blocks[i], 4096 * (i + 1), 0);
        for (int i = 0; i < 4; i++) if (i || step % 2) aclrtFree(blocks[i]);
        mstxRangeEnd(range); mstxMarkA("test", 0);
    }
    aclFinalize();
    return 0;
}
"""
# What a program that tells of its pools declares.
MSTX_HEAPS = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int aclInit(const char *), aclFinalize(void), aclrtSetDevice(int);
void *mstxDomainCreateA(const char *);
void mstxMemHeapRegister(void *, const void *), mstxMemRegionsRegister(void *, const void *);
void mstxMemRegionsUnregister(void *, const void *);
struct range { uint32_t device; const void *address; uint64_t size; };
struct heap { int usage, type; const void *description; };
struct batch { void *heap; int type; size_t count; const void *descriptions; void *out; };
struct reference { int type; void *address; };
struct unbatch { size_t count; const void *references; };
"""
POOL = MSTX_HEAPS + r"""
int main(int argc, char **argv)
{
    void *domain, *live[4096] = {0};
    char *base = (char *)0x12c040000000;
    uint32_t chance = 1;
    (void)argc;
    aclInit(0); aclrtSetDevice(0);
    domain = mstxDomainCreateA("ptaCaching");
    for (long i = 0; i < atol(argv[1]); i++) {
        int k = ((chance = chance * 1664525 + 1013904223) >> 8) & 4095;
        struct range whole = {0, base, 1 << 30}, part = {0, base + k * 65536l, 512 + (chance >> 20)};
        struct heap heap = {0, 0, &whole};
        struct batch batch = {0, 0, 1, &part, 0};
        struct reference reference = {0, live[k]};
        struct unbatch unbatch = {1, &reference};
        mstxMemHeapRegister(domain, &heap);
        if (live[k]) mstxMemRegionsUnregister(domain, &unbatch);
        else mstxMemRegionsRegister(domain, &batch);
        live[k] = live[k] ? 0 : (void *)part.address;
    }
    aclFinalize();
    return 0;
}
"""
MANY, FEW = 100000, 5000
FILES = {"op": "example/compare/*.csv", "kernel": "test/smoke/testfile/csvfile/*.csv"}
CHECK = """import msmemscope, sys
from msmemscope.analyzer import check_inefficient, check_leaks
path = %r
if %r == "leaks": check_leaks(path, "test", %d)
else: check_inefficient(path, idle_threshold=%d)
"""


def record(tool, cann, folder, program, *options):
    done = run([tool.command, *options, "--output-path=out", *program], folder, environment_for(tool, cann))
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-400:])
    path, = glob.glob(os.path.join(folder, "out", "*", "device_0", "dump", "*"))
    return path


def attributes_of(text):
    return dict(re.findall(r'"?(\w+)"?:"?([^",}]*)', text.strip("{}")))


def table_of(path):
    """The header, and the rows in order: what does not depend on the run, and the attributes."""
    if path.endswith(".db"):
        with sqlite3.connect(path) as database:
            cursor = database.execute("select * from memscope_dump")
            header, rows = [column[0] for column in cursor.description], [list(map(str, row)) for row in cursor]
    else:
        with open(path, newline="") as file:
            header, *rows = csv.reader(file)
    rows.sort(key=lambda row: int(row[0]))
    columns = [header.index(name) for name in ("Event", "Event Type", "Name", "Device Id")]
    return header, [([row[column] for column in columns], attributes_of(row[header.index("Attr")])) for row in rows]


def is_as_there(theirs, ours):
    """Newer versions have more attributes; the driver's addresses are those of the run, and its values of the moment."""
    loose = ("process_used", "device_used", "page_type", *(["addr"] if theirs[0][1] == "HAL" else []))
    return theirs[0] == ours[0] and all(ours[1].get(name) == value for name, value in theirs[1].items() if name not in loose)


def compare_rows(table, what, paths, without=()):
    """Row by row; the frees of the tool's own exit, whose order is that of a hash there, by their blocks."""
    (there, theirs), (here, ours) = (table_of(path) for path in paths)
    table.row(what + ": columns", len(there), sum(a == b for a, b in zip(there, here)))
    lists = [[row for row in rows if "shadow" not in row[1] and row[0][0] != "SYSTEM" and row[0][1] not in without]
             for rows in (theirs, ours)]
    equal = sum(map(is_as_there, *lists))
    table.row(what + ": rows, with all their attributes", len(lists[0]), equal + len(lists[1]) - len(lists[0]))
    left = [{(row[1]["allocation_id"], row[1]["size"]) for row in rows if "shadow" in row[1]} for rows in (theirs, ours)]
    table.row(what + ": frees of the exit, in any order", len(left[0]), len(left[0] & left[1]) - len(left[1] - left[0]))


def check_program(table, both, cann, scratch, what, program, *options):
    paths = []
    for number, tool in enumerate(both):
        folder = os.path.join(scratch, "%s.%d" % (re.sub(r"\W", "", what), number))
        os.makedirs(folder)
        paths.append(record(tool, cann, folder, program, *options))
    compare_rows(table, what, paths, ["Range_end"] if options and "--steps" in options[0] else [])  # lost there
    return paths


def answer(tool, kind, number, path, options, cann, folders):
    """What is printed, and the file afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(path))
        shutil.copy(path, copy)
        script = os.path.join(folder, "check.py")
        with open(script, "w") as file:
            file.write(CHECK % (copy, kind, number, number))
        done = run_python(tool, script, folder, environment_for(tool, cann, folders))
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-400:])
        with open(copy, newline="") as file:
            flags = {row["ID"]: sorted(re.findall("early_allocation|late_deallocation|temporary_idleness", row["Attr"]))
                     for row in csv.DictReader(file)}
        said = [without_addresses(line) for line in done.stdout.splitlines() if "leak" in line.lower()]
        return said, {number: words for number, words in flags.items() if words}


def check_answers(table, both, options, cann, folders, path):
    for start in range(4):
        said = [answer(tool, "leaks", start, path, options, cann, folders)[0] for tool in both]
        is_equal = sorted(said[0]) == sorted(said[1])
        table.row("check_leaks(start_index=%d): lines" % start, len(said[0]), len(said[1]) if is_equal else -len(said[1]))
    example = os.path.join(options.original, "example", "example_api.py")
    with tempfile.TemporaryDirectory() as folder:
        done = run_python(both[0], example, folder, environment_for(both[0], cann, folders))
        dumps = glob.glob(os.path.join(folder, "output", "*", "device_0", "dump", "*.csv"))
        if done.returncode or not dumps:
            raise RuntimeError(done.stderr.strip()[-400:])
        flags = [answer(tool, "inefficient", 10, dumps[0], options, cann, folders)[1] for tool in both]
    same = sum(flags[1].get(number) == words for number, words in flags[0].items())
    table.row("check_inefficient(idle_threshold=10) on its csv: rows with flags", len(flags[0]),
              same + len(set(flags[1]) - set(flags[0])))


def compared(tool, options, level, cann, extra):
    with tempfile.TemporaryDirectory() as folder:
        files = sorted(glob.glob(os.path.join(options.original, FILES[level])))
        done = run([tool.command, "--compare", "--level=" + level, *extra, "--input-path=" + ",".join(files), "--output-path=out"],
                   folder, environment_for(tool, cann))
        made = glob.glob(os.path.join(folder, "out", "**", "*.csv"), recursive=True)
        if not made:
            raise RuntimeError((done.stdout + done.stderr).strip()[-400:])
        with open(made[0], "rb") as file:
            return file.read()


def tell(options, folders, cann):
    table, both = Table("files"), tools(options.original, options.leaktide)
    with tempfile.TemporaryDirectory() as scratch:
        steps, pool = os.path.join(scratch, "steps"), os.path.join(scratch, "pool")
        build(STEPS, steps, cann)
        build(POOL, pool, cann)
        check_program(table, both, cann, scratch, "csv, %d events of a pool" % MANY, [pool, str(MANY)])
        check_program(table, both, cann, scratch, "db, %d events" % FEW, [pool, str(FEW)], "--format=db")
        paths = check_program(table, both, cann, scratch, "csv of the driver", [steps])
        for chosen in ("2", "1,3"):
            check_program(table, both, cann, scratch, "--steps=" + chosen, [steps], "--steps=" + chosen)
        check_answers(table, both, options, cann, folders, paths[0])
        for level in ("op", "kernel"):
            there = compared(both[0], options, level, cann, [])
            here = compared(both[1], options, level, cann, ["--strict-compat"])
            table.row("--compare --level=%s: bytes, with --strict-compat" % level, len(there),
                      len(here) if here == there else -len(here))
    return table.is_right
