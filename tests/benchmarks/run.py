#!/usr/bin/env python3
"""Runs every benchmark of a build and prints the results as one JSON document.

    run.py [--quick] [--only TEXT] BUILD-FOLDER

Benchmarks are BUILD-FOLDER/benchmarks/bench_* and bench_*.py beside this file; a script is called
with BUILD-FOLDER as its first argument. Each prints results as lines of JSON, see bench.h.
Exit status 1 if one failed or printed something else.
"""

import argparse
import glob
import json
import os
import platform
import subprocess
import sys

KEYS = {"name": str, "unit": str, "median": (int, float), "min": (int, float), "runs": list}


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def checked(line):
    """The result that a line holds; ValueError says what is wrong with it."""
    result = json.loads(line)
    for key, kind in KEYS.items():
        if not isinstance(result.get(key), kind):
            raise ValueError(f"no {key} in {line.strip()}")
    if not result["runs"] or abs(min(result["runs"]) - result["min"]) > 1e-3 * abs(result["min"]):
        raise ValueError(f"min is not the least of the runs: {line.strip()}")
    low, high = min(result["runs"]), max(result["runs"])
    if not low - 1e-3 * abs(low) <= result["median"] <= high + 1e-3 * abs(high):
        raise ValueError(f"median is not among the runs: {line.strip()}")
    return result


def run(command, timeout_s):
    """(results, what went wrong or None) of one benchmark."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True, timeout=timeout_s, check=False)
    except (OSError, subprocess.TimeoutExpired) as trouble:
        return [], str(trouble)
    results = []
    for line in done.stdout.splitlines():
        try:
            results.append(checked(line))
        except ValueError as trouble:
            return results, str(trouble)
    if done.returncode != 0:
        return results, f"exit status {done.returncode}"
    return results, None if results else "printed no result"


def commands(build):
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(glob.escape(build), "benchmarks", "bench_*"))):
        if os.access(path, os.X_OK):
            yield os.path.basename(path), [path]
    for path in sorted(glob.glob(os.path.join(glob.escape(here), "bench_*.py"))):
        yield os.path.basename(path), [sys.executable, path, build]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="everything once, small")
    parser.add_argument("--only", default="", metavar="TEXT", help="those whose name has TEXT")
    parser.add_argument("build", help="a build folder with the target benchmarks")
    options = parser.parse_args()

    document = {"machine": {"processor": processor(), "processors": os.cpu_count(),
                            "kernel": platform.release(), "load": os.getloadavg()[0]},
                "results": [], "failed": []}
    for name, command in commands(os.path.abspath(options.build)):
        if options.only not in name:
            continue
        print(f"{name} ...", file=sys.stderr)
        results, trouble = run(command + ["--quick"] * options.quick, 120 if options.quick else 1800)
        document["results"] += [{"benchmark": name, **result} for result in results]
        if trouble:
            document["failed"].append({"benchmark": name, "why": trouble})
    json.dump(document, sys.stdout, indent=2)
    print()
    return 1 if document["failed"] or not document["results"] else 0


if __name__ == "__main__":
    sys.exit(main())
