"""What other tools say of the leaky programs: heaptrack, LeakSanitizer, memray.

None of them gives a verdict; each lists what is alive at the end, largest first. An entry is right if
its stack names the faulty library (heaptrack and LeakSanitizer, which see no lines of Python), or a
line of the program's loop or of what it calls (memray). A tool that is not there says nothing.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

import real_programs

LIMIT_SECONDS = 300
FEWEST_CALLS = 40
LEAK_SANITIZER = "/usr/lib/gcc/*-linux-gnu/*/liblsan.so"
UNITS = {"B": 1, "K": 1e3, "M": 1e6, "G": 1e9}
MEMRAY = ["memray==1.15.0", "rich==13.9.4", "typing_extensions==4.12.2"]
MEMRAY_RECORD = """
import runpy, sys, memray
with memray.Tracker(sys.argv[1], native_traces=True):
    runpy.run_path(sys.argv[2], run_name="__main__")
"""
MEMRAY_READ = """
import json, memray, sys
records = sorted(memray.FileReader(sys.argv[1]).get_leaked_allocation_records(merge_threads=True), key=lambda one: -one.size)
print(json.dumps([[one.n_allocations, " ".join("%s (%s:%s)" % frame for frame in one.hybrid_stack_trace())] for one in records]))
"""


def run(words, environment, folder):
    return subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, errors="replace",
                          timeout=LIMIT_SECONDS)


def heaptrack(words, environment, folder):
    """Entries: calls and stack of each, largest first."""
    run(["heaptrack", "-o", os.path.join(folder, "h"), *words], environment, folder)
    files = glob.glob(os.path.join(folder, "h*"))
    if not files:
        return None
    text = run(["heaptrack_print", "-l", "1", "-p", "0", "-a", "0", "-T", "0", "-n", "1000", "-f", files[0]], None, folder).stdout
    entry = r"^([\d.]+)([BKMG]) leaked over (\d+) calls from:\n(.*?)(?=^[\d.]+[BKMG] leaked over|^\S|\Z)"
    found = [(float(size) * UNITS[unit], int(calls), stack)
             for size, unit, calls, stack in re.findall(entry, text.split("MEMORY LEAKS")[-1], re.M | re.S)]
    return [(calls, stack) for _, calls, stack in sorted(found, reverse=True)]


def leak_sanitizer(words, environment, folder):
    library = sorted(glob.glob(LEAK_SANITIZER))[-1]
    options = "max_leaks=0:fast_unwind_on_malloc=0:log_path=" + os.path.join(folder, "l")
    run(words, dict(environment, LD_PRELOAD=library, LSAN_OPTIONS=options), folder)
    text = "".join(open(path, errors="replace").read() for path in glob.glob(os.path.join(folder, "l*")))
    entry = r"^(?:Direct|Indirect) leak of (\d+) byte\(s\) in (\d+) object\(s\) allocated from:\n((?:    #.*\n)+)"
    found = sorted(((int(size), int(count), stack) for size, count, stack in re.findall(entry, text, re.M)), reverse=True)
    return [(count, stack) for _, count, stack in found]


def memray(words, environment, folder):
    recording = os.path.join(folder, "m")
    run([words[0], "-S", "-c", MEMRAY_RECORD, recording, words[-1]], environment, folder)
    done = run([words[0], "-S", "-c", MEMRAY_READ, recording], environment, folder)
    return [tuple(one) for one in json.loads(done.stdout)] if done.stdout else None


TOOLS = {
    "heaptrack": (heaptrack, lambda: shutil.which("heaptrack")),
    "LeakSanitizer": (leak_sanitizer, lambda: glob.glob(LEAK_SANITIZER)),
    "memray --native": (memray, lambda: True),
}


def loop_line(row):
    """The line of the program where its loop begins."""
    with open(os.path.join(real_programs.HERE, "programs", row["program"] + ".py"), encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if "turns(60)" in line)


def is_right(tool, row, stack):
    if tool != "memray --native":
        return re.search(row["library"], stack) is not None
    lines = re.findall(re.escape(row["program"]) + r"\.py:(\d+)", stack)
    return any(int(line) >= loop_line(row) for line in lines)


def judged(tool, row, entries):
    ranks = [rank for rank, (calls, stack) in enumerate(entries, 1)
             if calls >= FEWEST_CALLS and is_right(tool, row, stack)]
    return {"rank": ranks[0] if ranks else None, "entry_count": len(entries)}


def measure(cache, tool, row, variant):
    """Rank of the first right entry and how many entries there are; None where the tool is not there."""
    function, is_there = TOOLS[tool]
    words, environment = real_programs.command(cache, row, variant, "malloc")
    if not is_there() or words[0].endswith("node"):
        return None
    if function is memray:
        version, _ = real_programs.needs(row, variant)
        folders = [real_programs.package(cache, words[0], version, name) for name in MEMRAY]
        environment["PYTHONPATH"] = os.pathsep.join([environment["PYTHONPATH"], *folders])
    with tempfile.TemporaryDirectory() as folder:
        entries = function(words, environment, folder)
    return None if entries is None else judged(tool, row, entries)


def kept(cache, tool, row, variant):
    """As measure; asked once, then from the cache."""
    path = os.path.join(cache, "peers", "%s-%s-%s.json" % (row["program"], variant, tool.split()[0]))
    if not os.path.exists(path):
        result = measure(cache, tool, row, variant)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(result, file)
    with open(path, encoding="utf-8") as file:
        return json.load(file)
