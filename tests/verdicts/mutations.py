#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each number that decides a verdict is held by a test: changed where it is used, a test turns red.

    mutations.py SOURCE-FOLDER WORK-FOLDER [--all] [--only REGEX] [--jobs N]

A use is a line of the folders of the verdict that names a row of thresholds.def. Each is taken out in both ways: the
number is so small, or so large, that the rule says the same of everything. --all doubles and halves it as well:
what stays green then is listed, and is no fault. Faults are uses that can be taken out unseen, and rows whose column
of tests is not true.

The sources are copied and built once, with a thresholds.h in which a number asks the environment whether it is
the one that is changed. So a change costs no build, only the tests up to the first that fails: those that
the row names come first.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

UNIT_TESTS = ("thresholds", "thresholds_growth", "thresholds_lives", "thresholds_answers", "thresholds_judging", "overdue", "step_verdict", "survivors", "given_again", "block_rise", "larger_work", "reserved_rise", "category", "ledger_layers", "oom", "trend", "clock_samples",
              "resident_growth", "verdict_benchmark", "loop_verdict_benchmark")
CASES = re.compile(r"leaktide (account|advice|diff|export|gate|leaks|ranks|report|summar\w+)\b(?!.*--help)")
FOLDERS = ("evidence", "verdict", "leaks", "sites")
SECONDS_MOST = 120
ROW = re.compile(r'^THRESHOLD(?:_DOUBLE)?\((\w+), ([^,]+), (\w+),\s*"([^"]*)",\s*"([^"]*)"\)', re.M)
HUGE = 1 << 22
MUTABLE = r"""
#ifndef LEAKTIDE_ANALYSES_THRESHOLDS_H
#define LEAKTIDE_ANALYSES_THRESHOLDS_H
#include <stdlib.h>
#include <string.h>
static inline double threshold_changed(const char *name, const char *file, int line, double value)
{
    const char *change = getenv("LEAKTIDE_CHANGED"); /* NAME:FILE:LINE=VALUE */
    const char *slash = strrchr(file, '/');
    size_t size = strlen(name);
    if (!change || strncmp(change, name, size) != 0 || change[size] != ':')
        return value;
    change += size + 1;
    file = slash ? slash + 1 : file;
    size = strlen(file);
    if (strncmp(change, file, size) != 0 || change[size] != ':' || atoi(change + size + 1) != line)
        return value;
    return strtod(strchr(change, '=') + 1, NULL);
}
#define THRESHOLD_AT(type, name, value)                                                            \
    __extension__({                                                                                \
        static type now_;                                                                          \
        static int is_known_;                                                                      \
        if (!is_known_) {                                                                          \
            now_ = (type)threshold_changed(name, __FILE__, __LINE__, (double)(value));             \
            is_known_ = 1;                                                                         \
        }                                                                                          \
        now_;                                                                                      \
    })
"""


class Row:
    def __init__(self, name, value, unit, keeps_out, tests):
        self.name, self.unit, self.keeps_out = name, unit, keeps_out
        self.tests = tests.split()
        self.is_integer = "." not in value and "e" not in value
        self.value = eval(value, {}) if re.fullmatch(r"[\d<>* ]+", value) else float(value)

    def changes(self, is_all):
        """Names and values; each value once."""
        if self.is_integer:
            found = {"small": 1 if self.unit == "PARTS" else 0, "large": max(HUGE, self.value << 12)}
            more = {"doubled": self.value * 2, "halved": self.value // 2}
        else:
            found = {"small": 0.0, "large": 1e9}
            more = {"doubled": self.value * 2, "halved": self.value / 2}
        if is_all:
            found.update((k, v) for k, v in more.items() if v not in found.values())
        return found.items()


def rows_of(source):
    table = source / "analyzer/analyses/thresholds/thresholds.def"
    text = table.read_text()
    rows = [Row(*found) for found in ROW.findall(text)]
    if len(rows) != len(re.findall(r"^THRESHOLD", text, re.M)):
        sys.exit(f"{table}: a row that cannot be read")
    return {row.name: row for row in rows}


def uses_of(source, rows):
    """(row, file, line) of each use, not in a comment."""
    name = re.compile(r"\b(" + "|".join(rows) + r")\b")
    for path in sorted(path for folder in FOLDERS for path in (source / "analyzer/analyses" / folder).glob("*.[ch]")):
        if '"thresholds.h"' not in path.read_text():
            continue
        text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), path.read_text(), flags=re.S)
        for number, line in enumerate(text.splitlines(), 1):
            for found in sorted(set(name.findall(line))):
                yield rows[found], path.name, number


def copy_tree(source, copy):
    """What changed, so that little is built again."""
    for path in source.rglob("*"):
        part = path.relative_to(source)
        if part.parts[0] in ("build", ".git") or not path.is_file():
            continue
        to = copy / part
        if to.exists() and to.stat().st_mtime == path.stat().st_mtime:
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, to)
    cases = copy / "tests/cli/cases_of_verdicts"
    shutil.rmtree(cases, ignore_errors=True)
    cases.mkdir()
    for path in (source / "tests/cli/cases").glob("*.case"):
        if CASES.match(path.read_text().splitlines()[0]):
            shutil.copy2(path, cases)


def write_if_new(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def build(source, work, rows, jobs):
    copy, folder = work / "source", work / "build"
    copy_tree(source, copy)
    lines = [f"#define {row.name} THRESHOLD_AT({'int' if row.is_integer else 'double'}, \"{row.name}\", {row.value})"
             for row in rows.values()]
    header = copy / "analyzer/analyses/thresholds/thresholds.h"
    if header.exists():
        header.unlink()  # its time says it is new, so the next copy would leave it
    write_if_new(work / "thresholds.h", MUTABLE + "\n".join(lines) + "\n#endif\n")
    shutil.copy2(work / "thresholds.h", header)
    launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    targets = [f"{test}_test" for test in UNIT_TESTS] + ["leaktide", "cli_make_traces"]
    with open(work / "build.log", "w") as log:
        for command in (["cmake", "-S", copy, "-B", folder, "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                         "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2", *generator, *launcher],
                        ["cmake", "--build", folder, "-j", str(jobs), "--target", *targets]):
            if subprocess.run(command, stdout=log, stderr=log).returncode:
                sys.exit(f"{work / 'build.log'}: the copy does not build")
    tests = {test: [folder / f"tests/unit/{test}_test"] for test in UNIT_TESTS}
    tests["cases"] = ["bash", copy / "tests/cli/run_cases.sh", folder / "bin/leaktide",
                      folder / "tests/cli/cli_make_traces", copy / "tests/cli/cases_of_verdicts"]
    return tests


def is_green(command, folder, change):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LEAKTIDE")}
    try:
        return subprocess.run(command, cwd=folder, env={**environment, "LEAKTIDE_CHANGED": change}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS_MOST).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def first_red(tests, folder, row, change):
    slow = [test for test in tests if "benchmark" in test]
    order = row.tests + [t for t in tests if t not in row.tests + slow] + [t for t in slow if t not in row.tests]
    return next((test for test in order if not is_green(tests[test], folder, change)), None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="", help="uses whose NAME:FILE:LINE has this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    source, work = args.source.resolve(), args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    rows = rows_of(source)
    uses = [use for use in uses_of(source, rows) if re.search(args.only, "%s:%s:%d" % (use[0].name, *use[1:]))]
    tests = build(source, work, rows, args.jobs)
    faults = [f"{row.name}: no test of the name {test}" for row in rows.values() for test in row.tests if test not in tests]
    faults += [f"{name}: nothing uses it" for name in rows if not args.only and name not in {use[0].name for use in uses}]
    faults += [f"{test} fails where nothing is changed" for test in tests if not is_green(tests[test], work, "")]
    if faults:
        sys.exit("\n".join(faults))
    jobs = [(row, file, line, kind, f"{row.name}:{file}:{line}={value}")
            for row, file, line in uses for kind, value in row.changes(args.all)]
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    reds = pool.map(lambda job: first_red(tests, work, job[0], job[4]), jobs)
    killers, counts = {}, {}
    for (row, file, line, kind, _), red in zip(jobs, reds):
        is_taken_out = kind in ("small", "large")
        killers.setdefault(row.name, set()).add(red) if red and is_taken_out else None
        total = counts.setdefault("taken out" if is_taken_out else kind, [0, 0])
        total[0] += 1
        total[1] += not red
        print(f"{row.name:24} {file + ':' + str(line):28} {kind:8} {red or 'SURVIVED'}", flush=True)
        if not red and is_taken_out:
            faults.append(f"{row.name} {file}:{line} {kind}: no test sees it")
    for row in rows.values() if not args.only else ():
        if not killers.get(row.name, set()) <= set(row.tests):
            faults.append(f"{row.name}: the tests that see it are \"{' '.join(sorted(killers.get(row.name, ())))}\"")
    for kind, (count, survived) in counts.items():
        print(f"{kind}: {count} changes of {len(uses)} uses of {len({u[0].name for u in uses})} numbers, {survived} survived")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
