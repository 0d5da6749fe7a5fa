#!/usr/bin/env python3
"""What recording costs: time a program takes longer, bytes a trace has, peers beside us.

    bench_recording.py BUILD-FOLDER [--quick]

Every round runs each program natively, under memtide (host heap, no stacks) and under the peers
that are installed, in turn; differences are taken within a round. Prints lines as bench.h says.
"""

import json
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
ROUNDS = 1 if QUICK else 5
LIBRARY = os.path.join(BUILD, "lib", "memtide", "libascend_kernel_hook.so")
ALLOCATE = os.path.join(BUILD, "benchmarks", "programs", "allocate")
LTTNG = "liblttng-ust-libc-wrapper.so"

PYTHON_SCRIPT = """
import json
rows = [{"id": i, "name": f"item {i}", "tags": [str(i % 7), str(i % 11)]} for i in range(N)]
text = json.dumps(rows)
back = json.loads(text)
tree = {}
for row in back:
    tree.setdefault(row["tags"][0], {}).setdefault(row["tags"][1], []).append(row["name"])
print(len(text), sum(len(v) for branch in tree.values() for v in branch.values()))
"""
SQL_SCRIPT = """
create table t(id integer primary key, k integer, name text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < N)
insert into t select i, i * 7919 % 1000, 'name ' || i from n;
create index by_k on t(k);
select count(*), sum(length(a.name)) from t a join t b on a.k = b.k and a.id = b.id + 1000;
select count(distinct json_object('id', id, 'name', name)) from t;
"""
CPP_SOURCE = """
#include <regex>
#include <map>
#include <future>
#include <string>
int main() { std::map<std::string, std::regex> m; m.emplace("a", std::regex("a+(b|c)*"));
             return std::async([] { return 0; }).get() + (int)m.size() - 1; }
"""


def say(name, unit, runs, **more):
    print(json.dumps({"name": name, "unit": unit, "median": statistics.median(runs),
                      "min": min(runs), "runs": runs, **more}), flush=True)


def run(command, environment, stdin=None):
    """(wall seconds, processor seconds of the process tree, output)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with open(stdin or os.devnull, "rb") as source:
        done = subprocess.run(command, env=environment, stdin=source, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used, done.stdout


def trace_facts(folder):
    """(events, bytes) of a finished recording, from the headers of its files."""
    events = size = 0
    for name in os.listdir(folder):
        if name.endswith(".mtt"):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                header = file.read(4096)
            # state, last_ticks, last_monotonic_ns, event_count: behind the checksummed part
            events += struct.unpack_from("<Q", header, COUNT_OFFSET)[0]
            size += os.path.getsize(path)
    return events, size


# struct mt_file_header: 32 bytes of small fields, 5 numbers, three texts, checksum, 3 numbers
COUNT_OFFSET = 8 + 8 + 16 + 5 * 8 + 512 + 1024 + 512 + 8 + 3 * 8


class Program:
    def __init__(self, name, command, stdin=None, environment=None):
        self.name = name
        self.command = command
        self.stdin = stdin
        self.environment = dict(os.environ, **(environment or {}))

    def native(self):
        return run(self.command, self.environment, self.stdin)

    def recorded(self, folder):
        environment = dict(self.environment, LD_PRELOAD=LIBRARY,
                           MEMTIDE_OPTIONS=f"--device=cpu --output-path={folder}")
        return run(self.command, environment, self.stdin)

    def heaptrack(self, folder):
        return run(["heaptrack", "-o", os.path.join(folder, "peer")] + self.command,
                   self.environment, self.stdin)

    def lttng(self, folder):
        """LTTng's own wrapper of malloc, with thread and caller: no stacks, as ours here."""
        home = dict(os.environ, LTTNG_HOME=folder)
        for words in (["create", "bench", "--output", os.path.join(folder, "trace")],
                      ["enable-event", "-u", "lttng_ust_libc:*"],
                      ["add-context", "-u", "-t", "vtid", "-t", "ip"], ["start"]):
            quietly(["lttng"] + words, home)
        result = run(self.command, dict(self.environment, LD_PRELOAD=LTTNG), self.stdin)
        quietly(["lttng", "destroy", "bench"], home)
        return result


def quietly(command, environment):
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)


def lttng_starts():
    """The daemon serves all sessions of the user; it ends with the machine or by hand."""
    if not shutil.which("lttng-sessiond"):
        return False
    subprocess.run(["lttng-sessiond", "--daemonize"], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return subprocess.run(["lttng", "list"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def programs(work):
    scale = 20 if QUICK else 1
    found = [Program("allocate, 1 thread", [ALLOCATE, "1", str(20_000_000 // scale)]),
             Program("allocate, 2 threads", [ALLOCATE, "2", str(20_000_000 // scale)])]
    script = os.path.join(work, "script.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PYTHON_SCRIPT.replace("N", str(200_000 // scale)))
    # The interpreter itself: a launcher script in front of it would be recorded too.
    found.append(Program("python3", [os.path.realpath(sys.executable), script],
                         environment={"PYTHONMALLOC": "malloc"}))
    if shutil.which("sqlite3"):
        sql = os.path.join(work, "script.sql")
        with open(sql, "w", encoding="utf-8") as file:
            file.write(SQL_SCRIPT.replace("< N", f"< {400_000 // scale}"))
        found.append(Program("sqlite3", ["sqlite3", ":memory:"], sql))
    if shutil.which("jq"):
        data = os.path.join(work, "data.json")
        with open(data, "w", encoding="utf-8") as file:
            json.dump([{"id": i, "group": i % 97, "name": f"item {i}"}
                       for i in range(120_000 // scale)], file)
        found.append(Program("jq", ["jq", "-c", "group_by(.group) | map({g: .[0].group, "
                                    "n: length, names: (map(select(.id % 2 == 0).name) | length)})",
                                    data]))
    if shutil.which("clang"):
        source = os.path.join(work, "source.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(CPP_SOURCE)
        found.append(Program("clang", [os.path.realpath(shutil.which("clang")), "-x", "c++",
                                       "-O0" if QUICK else "-O2", "-c", source,
                                       "-o", os.path.join(work, "source.o")]))
    return found


def peers():
    found = []
    if QUICK:
        return found
    if shutil.which("heaptrack"):
        found.append(("heaptrack (with stacks)", Program.heaptrack))
    if lttng_starts():
        found.append(("LTTng", Program.lttng))
    return found


def measure(program, work, others):
    costs = {"memtide": ([], [])}
    own, sizes, events = [], [], 0
    for _ in range(ROUNDS):
        native_wall, native_used, native_out = program.native()
        folder = tempfile.mkdtemp(dir=work)
        wall, used, out = program.recorded(folder)
        events, size = trace_facts(folder)
        shutil.rmtree(folder)
        costs["memtide"][0].append((wall - native_wall) * 1e9 / events)
        costs["memtide"][1].append((used - native_used) * 1e9 / events)
        sizes.append(size / events)
        if program.name.startswith("allocate"):
            own.append((int(out.split()[1]) - int(native_out.split()[1])) * threads_of(program) /
                       events)
        for name, way in others:
            folder = tempfile.mkdtemp(dir=work)
            wall, used, _ = way(program, folder)
            shutil.rmtree(folder)
            costs.setdefault(name, ([], []))[0].append((wall - native_wall) * 1e9 / events)
            costs[name][1].append((used - native_used) * 1e9 / events)
    for name, (walls, processor) in costs.items():
        say(f"{program.name}: wall added by {name}", "ns/event", walls, events=events)
        say(f"{program.name}: processor time added by {name}", "ns/event", processor)
    if own:
        say(f"{program.name}: added in the calling thread", "ns/event", own)
    say(f"{program.name}: trace", "bytes/event", sizes)


def threads_of(program):
    return int(program.command[1])


def measure_fixed(work):
    runs = []
    environment = dict(os.environ, LD_PRELOAD=LIBRARY,
                       MEMTIDE_OPTIONS=f"--device=cpu --output-path={work}/fixed")
    for _ in range(5 if QUICK else 60):
        plain = run(["/bin/true"], os.environ)[0]
        runs.append((run(["/bin/true"], environment)[0] - plain) * 1e3)
    say("true: wall added", "ms", runs)


def main():
    with tempfile.TemporaryDirectory() as work:
        measure_fixed(work)
        others = peers()
        for program in programs(work):
            measure(program, work, others)


if __name__ == "__main__":
    main()
