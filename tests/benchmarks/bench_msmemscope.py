"""What recording costs as msmemscope, on the fake driver, beside the figures of the original.

    bench_msmemscope.py BUILD-FOLDER [--quick] [--original FOLDER]

The figures of the original were measured on its own stand-ins for the driver, on another machine:
they tell an order of magnitude. Ours are the difference to the same program without a tracer; rows
are counted for each second of processor time, all readings of the recording included.

--original: the original itself, as tests/frameworks/build_original.sh builds it, runs in turn with
leaktide on the same events of a pool. Then "wall" is what an event takes longer in the program,
"thread" that in processor time of the thread that makes it, which other load does not change much,
and "processor" what it costs in all processes, the files at the end included.
"""

import glob
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
ORIGINAL = sys.argv[sys.argv.index("--original") + 1] if "--original" in sys.argv else None
LEAKTIDE = os.path.join(BUILD, "bin", "leaktide")
PROGRAM = os.path.join(BUILD, "benchmarks", "programs", "driver_pairs")
COUNT = "5000" if QUICK else "300000"
RUNS = 2 if QUICK else 5
REFERENCE = {"alloc or free, no stack": 1890, "alloc or free, c:20": 16500,
             "rows of a database in a second": 7000}


def ns_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          universal_newlines=True)
    return float(done.stdout.split()[0])


def recorded(folder, stacks, number):
    run = os.path.join(folder, "%s-%d" % (stacks.replace(":", ""), number))
    return run, ns_of([LEAKTIDE, "run", "--quiet", "--sample-ms=0", "--call-stack=" + stacks,
                       "--output-path=" + run, "--", PROGRAM, COUNT])


def report(name, unit, values):
    print(json.dumps({"name": name, "unit": unit, "median": statistics.median(values),
                      "min": min(values), "runs": values, "original": REFERENCE[name]}))


def spent_s(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows_in(path):
    with sqlite3.connect(path) as database:
        return database.execute("select count(*) from memscope_dump").fetchone()[0]


# Theirs and ours. Without options the original takes no stacks, and we whole ones, under its name;
# None: leaktide without stacks, and its recording exported.
BOTH_OPTIONS = {"no stacks": ([], None), "without options": ([], []),
                "c:20": (["--call-stack=c:20"], ["--call-stack=c:20"])}
# Events of a pool as torch_npu tells them, from one thread.
POOL = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void *domain, *live[4096];
static char *base = (char *)0x12c040000000;
static double now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}
static void run(long count, int depth)
{
    uint32_t chance = 1;
    if (depth) {
        run(count, depth - 1);
        __asm__ volatile("");
        return;
    }
    for (long i = 0; i < count; i++) {
        int k = ((chance = chance * 1664525 + 1013904223) >> 8) & 4095;
        struct range part = {0, base + k * 65536l, 512 + (chance >> 20)};
        struct batch batch = {0, 0, 1, &part, 0};
        struct reference reference = {0, live[k]};
        struct unbatch unbatch = {1, &reference};
        if (live[k]) mstxMemRegionsUnregister(domain, &unbatch);
        else mstxMemRegionsRegister(domain, &batch);
        live[k] = live[k] ? 0 : (void *)part.address;
    }
}
int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1;
    struct range whole = {0, base, 1 << 30};
    struct heap heap = {0, 0, &whole};
    double wall, thread;
    aclrtSetDevice(0);
    domain = mstxDomainCreateA("ptaCaching");
    mstxMemHeapRegister(domain, &heap);
    run(count / 10, 30);
    wall = now_ns(CLOCK_MONOTONIC);
    thread = now_ns(CLOCK_THREAD_CPUTIME_ID);
    run(count, 30);
    wall = now_ns(CLOCK_MONOTONIC) - wall;
    thread = now_ns(CLOCK_THREAD_CPUTIME_ID) - thread;
    fprintf(stderr, "ns %.2f %.2f\n", wall / count, thread / count);
    return 0;
}
"""


def pool_run(command, folder, environment):
    """Nanoseconds of an event: wall, of its thread, of all processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*command, COUNT], cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    line, = [line for line in done.stderr.splitlines() if line.startswith("ns ")]
    return [*map(float, line.split()[1:]), spent * 1e9 / (1.1 * int(COUNT))]


def rows_written(folder):
    """Rows of the files of csv: each event has one, or it was not recorded."""
    count = 0
    for path in glob.glob(os.path.join(folder, "**", "*.csv"), recursive=True):
        with open(path, encoding="utf-8", errors="replace") as file:
            count += sum(1 for _ in file)
    return count


def recorded_and_exported(program, run, environment):
    wall, thread, processor = pool_run([LEAKTIDE, "run", "--quiet", "--sample-ms=0",
                                        "--call-stack=none", "--output-path=out", "--", program],
                                       run, environment)
    seconds = spent_s([LEAKTIDE, "export", "--to=memscope-csv", "-o", os.path.join(run, "rows.csv"),
                       os.path.join(run, "out")])
    return wall, thread, processor + seconds * 1e9 / (1.1 * int(COUNT))


def tool_run(tool, options, program, folder, environment):
    run = os.path.join(folder, "run")
    os.makedirs(run)
    if options is None:
        measured = recorded_and_exported(program, run, environment)
    else:
        measured = pool_run([tool.command, *options, "--output-path=out", program], run, environment)
    rows = rows_written(run)
    shutil.rmtree(run)
    assert rows >= 1.1 * int(COUNT), "%s wrote %d rows of %s events" % (tool.command, rows, COUNT)
    return measured


def beside_the_original(folder):
    """In turn: no tool, the original, leaktide under its name."""
    sys.path.insert(0, os.path.join(HERE, "..", "frameworks"))
    import make_fakes
    import original_files
    import original_tools
    import original_vectors

    cann, program = os.path.join(folder, "cann"), os.path.join(folder, "pool")
    make_fakes.make(make_fakes.CANN, [], cann)
    original_vectors.build(original_files.MSTX_HEAPS + POOL, program, cann)
    tools = original_tools.tools(os.path.abspath(ORIGINAL), LEAKTIDE)
    environments = [original_tools.environment_for(tool, cann) for tool in tools]
    for name, options in BOTH_OPTIONS.items():
        compare_added(name, options, tools, program, folder, environments)


def compare_added(name, options, tools, program, folder, environments):
    added = {kind: ([], []) for kind in ("wall", "thread", "processor")}
    for _ in range(RUNS):
        native = pool_run([program], folder, environments[0])
        for side, (tool, environment) in enumerate(zip(tools, environments)):
            measured = tool_run(tool, options[side], program, folder, environment)
            for kind, value, without in zip(added, measured, native):
                added[kind][side].append(value - without)
    for kind, (theirs, ours) in added.items():
        there, here = statistics.median(theirs), statistics.median(ours)
        print(json.dumps({"name": "event of a pool, %s, %s" % (name, kind), "unit": "ns", "median": here,
                          "runs": ours, "original": there, "runs of the original": theirs,
                          "original / ours": there / here}), flush=True)


def main():
    folder = tempfile.mkdtemp()
    try:
        plain = min(ns_of([PROGRAM, COUNT]) for _ in range(RUNS))
        for stacks, name in (("none", "alloc or free, no stack"), ("c:20", "alloc or free, c:20")):
            report(name, "ns", [recorded(folder, stacks, i)[1] - plain for i in range(RUNS)])
        run, _ = recorded(folder, "none", RUNS)
        rates = []
        for i in range(RUNS):
            path = os.path.join(folder, "%d.db" % i)
            seconds = spent_s([LEAKTIDE, "export", "--to=memscope-db", "-o", path, run])
            rates.append(rows_in(path) / seconds)
        report("rows of a database in a second", "rows/s", rates)
        if ORIGINAL:
            print(json.dumps({"load": os.getloadavg()}))
            beside_the_original(folder)
    finally:
        shutil.rmtree(folder)


main()
