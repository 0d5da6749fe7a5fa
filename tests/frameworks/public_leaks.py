#!/usr/bin/env python3
"""Leaks that torch_npu had in public: releases that leak and the one that is mended, nothing marked.

    public_leaks.py [--cache FOLDER] [--fetch] [--only TEXT]... LEAKTIDE

The wheels run on libraries of the vendor that are made (make_fakes.py), PyTorch for CUDA without a device. Of a leak: LEAK at the
line, at the rate that is known (within 2 %), with the faulty library in the stack. Of the mended release: "No leak". Garbage in
cycles is never a leak. Prints a table; the status is 1 where something is not so, 77 where nothing could be run.
"""
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import make_fakes  # noqa: E402
import pairs  # noqa: E402
import run  # noqa: E402

# What each turn leaves, in bytes: a tensor, and in the first release the page more by which it was aligned.
RELEASES = {"2.8.0": (256 + 4) << 10, "2.8.0.post2": 256 << 10, "2.8.0.post4": 0}
run.WHEELS["torch-2.8"] = ["torch==2.8.0"]
run.WHEELS.update({"torch-npu-" + release: ["torch-npu==" + release] for release in RELEASES})


@dataclass
class Case:
    program: str
    wheels: tuple
    status: tuple     # those of `leaks` that are right
    line: str = ""    # function and file of the only finding, which is a leak
    rate_bytes: int = 0
    library: str = ""  # in the stack of the finding
    environment: dict = field(default_factory=dict)


CASES = {"empty_with_swapped_memory, " + release: Case(
    "swapped.py", ("torch-2.8", "torch-npu-" + release), (1,) if rate else (0,), "swap_out (programs/swapped.py:" if rate else "",
    rate, "libtorch_npu.so") for release, rate in RELEASES.items()}
CASES["_save, 2.13.0"] = Case("saved.py", ("npu",), (0,))
CASES["_save, 2.13.0 without the mend"] = Case("saved.py", ("npu",), (0, 4), environment={"WITHOUT_DEL": "1"})


def fakes_of(wheels, folders, made):
    if wheels not in made:
        out = os.path.join(made["folder"], "-".join(wheels))
        for vendor in (make_fakes.CUDA, make_fakes.CANN):
            make_fakes.make(vendor, folders, out)
        made[wheels] = out
    return made[wheels]


def judged(options, case, folders, fakes, scratch):
    """Status and report of `leaks`."""
    into = os.path.join(scratch, "run")
    story = run.Story("", case.program, "npu", environment=case.environment)
    done = subprocess.run([options.leaktide, "run", "--device=npu", "--call-stack=python,c", "--no-report", "-o", into, "--",
                           sys.executable, "-S", os.path.join(HERE, "programs", case.program)],
                          env=run.environment_of(story, folders, fakes, scratch), capture_output=True, text=True,
                          timeout=run.LIMIT_SECONDS)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-400:])
    done = subprocess.run([options.leaktide, "leaks", "--format=json", into], capture_output=True, text=True,
                          timeout=run.LIMIT_SECONDS)
    return done.returncode, json.loads(done.stdout)


def faults_of(case, status, report):
    leaks = [finding for finding in report["findings"] if finding["kind"] == "leak"]
    sentence = report["verdict"][0] if report["verdict"] else ""
    if status not in case.status:
        yield "%d %s" % (status, sentence)
    if len(leaks) != bool(case.line):
        yield "%d leaks: %s" % (len(leaks), [finding["sentence"] for finding in leaks])
    if not case.line or not leaks:
        return
    if " at " + case.line not in sentence:
        yield "line: " + sentence
    if abs(pairs.rate_in(sentence) / case.rate_bytes - 1) > pairs.RATE_OFF_MOST:
        yield "rate: %d B of %d" % (pairs.rate_in(sentence), case.rate_bytes)
    if not any(case.library in str(frame.get("module")) for frame in leaks[0]["stack"]):
        yield "no %s in the stack" % case.library


def tell(options, name, case, made):
    """None: no wheels."""
    folders = run.packages(options, *case.wheels, "dependencies")
    if not folders:
        print("%-44s skipped: no wheels in %s" % (name, options.cache), flush=True)
        return None
    fakes = fakes_of(case.wheels, folders, made)
    with tempfile.TemporaryDirectory() as scratch:
        status, report = judged(options, case, folders, fakes, scratch)
    faults = list(faults_of(case, status, report))
    print("%-44s %-60.60s %s" % (name, report["verdict"][0] if report["verdict"] else "", "; ".join(faults) or "right"),
          flush=True)
    return not faults


def tellers(made):
    for name, case in CASES.items():
        yield name, lambda options, name=name, case=case: tell(options, name, case, made)


if __name__ == "__main__":
    sys.exit(pairs.score(__doc__, tellers))
