#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tools that read recordings of several ranks, beside `leaktide ranks` on the same files: time, memory, and what they say.

    rank_peers.py [--torch PYTHON] [--hta PYTHON] [--msprof COMMAND] [--msmemscope COMMAND] [--ascend FOLDER] LEAKTIDE

--torch is a python3 with PyTorch, which makes the profiles of four ranks; --hta one with HolisticTraceAnalysis. --ascend is a
folder with folders *_ascend_pt of several ranks. What is not named is looked for in PATH. What is not there is said to be skipped. Prints a table, and
"N passed, N failed, N skipped": of the peers, those that ran to their end; of leaktide, that it finds the rank that leaks. Status 77 if none could run.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

RANKS, LEAKING = 4, 2
JOB = """
import os, sys, torch, torch.distributed as dist
dist.init_process_group("gloo")
torch.set_num_threads(1)
rank, kept = dist.get_rank(), []
model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)])
optimizer = torch.optim.Adam(model.parameters())
activities = [torch.profiler.ProfilerActivity.CPU]
with torch.profiler.profile(activities=activities, profile_memory=True, record_shapes=True) as profiler:
    for step in range(20):
        model(torch.randn(64, 512)).square().mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        if rank == %d:
            kept.append(model[0].weight.grad.clone())
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        profiler.step()
profiler.export_chrome_trace(os.path.join(sys.argv[1], "rank-%%d.json" %% rank))
dist.barrier()
dist.destroy_process_group()
""" % LEAKING
HTA = """
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={r: sys.argv[1] + "/rank-%d.json" % r for r in range(4)}, trace_dir="")
asked = [name for name in dir(analysis) if "mem" in name.lower() and name.startswith("get_")]
for name in asked:
    try:
        print("%s: %s" % (name, getattr(analysis, name)()))
    except Exception as trouble:
        print("%s: %s" % (name, type(trouble).__name__))
"""


class Table:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        print("| tool | data | seconds | processor seconds | MiB | its last words |\n|---|---|---|---|---|---|", flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print("| %s | skipped: %s | | | | |" % (name, why), flush=True)

    def run(self, name, data, words, said=None, statuses=(0,)):
        """One call; passes if it ends well and, where that is asked for, says so."""
        start = time.monotonic()
        with tempfile.TemporaryFile("w+") as out:
            child = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            text = out.read()
        is_good = child.returncode in statuses and (said is None or said in text)
        self.passed += is_good
        self.failed += not is_good
        lines = [line for line in text.splitlines() if said is None or said in line] or text.splitlines() or [""]
        words_said = lines[-1 if said is None else 0].strip().replace("|", "/")[:200]
        print("| %s | %s | %.1f | %.1f | %d | %s%s |" % (name, data, time.monotonic() - start, usage.ru_utime + usage.ru_stime,
                                                        usage.ru_maxrss // 1024, "" if is_good else "FAILED: ", words_said), flush=True)


def profiles(table, python, leaktide, hta, folder):
    torchrun = [python, "-m", "torch.distributed.run", "--nproc-per-node=%d" % RANKS]
    script = os.path.join(folder, "job.py")
    with open(script, "w", encoding="ascii") as file:
        file.write(JOB)
    if not python or subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        table.skip("profiles of torch", "no PyTorch")
        return
    subprocess.run([*torchrun, script, folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
    files = sorted(glob.glob(os.path.join(folder, "rank-*.json")))
    data = "%d profiles of torch, %.1f MB" % (len(files), sum(map(os.path.getsize, files)) / 1e6)
    table.run("leaktide ranks", data, [leaktide, "ranks", *files], said="LEAK on rank %d alone, of %d ranks" % (LEAKING, RANKS))
    if hta and not subprocess.run([hta, "-c", "import hta"], stderr=subprocess.DEVNULL).returncode:
        table.run("HTA", data, [hta, "-c", HTA, folder])
    else:
        table.skip("HTA", "no HolisticTraceAnalysis")


def ascend(table, leaktide, msprof, folder, scratch):
    ranks = sorted(glob.glob(os.path.join(folder, "*_ascend_pt"))) if folder else []
    if len(ranks) < 2:
        table.skip("msprof-analyze", "no folders of an Ascend profile")
        return
    data = "%d folders of an Ascend profile" % len(ranks)
    copy = os.path.join(scratch, "ascend")  # it writes beside what it reads
    shutil.copytree(folder, copy)
    table.run("leaktide ranks", data, [leaktide, "ranks", *sorted(glob.glob(os.path.join(copy, "*_ascend_pt")))], statuses=(0, 3, 4))
    if msprof:
        table.run("msprof-analyze cluster -m all", data, [msprof, "cluster", "-m", "all", "-d", copy, "-o", os.path.join(scratch, "analyzed")])
    else:
        table.skip("msprof-analyze", "not there")


def memscope(table, leaktide, command, scratch):
    """Two ranks of host memory, of which the second keeps a block a step."""
    paths = []
    for rank in (0, 1):
        run = os.path.join(scratch, "run-%d" % rank)
        program = "import os\nkept = []\nfor i in range(400):\n    a = bytearray(9000)\n    if %d:\n        kept.append(bytearray(9000))\n" % rank
        subprocess.run([leaktide, "run", "--quiet", "--call-stack=c:1", "-o", run, "--", sys.executable, "-I", "-S", "-c", program], check=True, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"})
        paths.append(os.path.join(scratch, "memscope-%d" % rank))
        subprocess.run([leaktide, "export", "--to=memscope-csv", run, "-o", paths[-1]], check=True)
    files = [sorted(glob.glob(os.path.join(path, "**", "*.csv"), recursive=True) or [path])[0] for path in paths]
    data = "2 csv files, %.1f MB" % (sum(map(os.path.getsize, files)) / 1e6)
    table.run("leaktide ranks", data, [leaktide, "ranks", *files], statuses=(0, 4))
    if command:
        table.run("msmemscope --compare", data, [command, "--compare", "--input=%s,%s" % tuple(files), "--output=" + os.path.join(scratch, "compared")], statuses=(0, 1))
    else:
        table.skip("msmemscope", "not there")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--torch", default=shutil.which("python3"))
    parser.add_argument("--hta", default=shutil.which("python3"))
    parser.add_argument("--msprof", default=shutil.which("msprof-analyze"))
    parser.add_argument("--msmemscope")
    parser.add_argument("--ascend")
    parser.add_argument("leaktide")
    options = parser.parse_args()
    leaktide = os.path.abspath(options.leaktide)
    table = Table()
    with tempfile.TemporaryDirectory() as scratch:
        os.mkdir(os.path.join(scratch, "profiles"))
        profiles(table, options.torch, leaktide, options.hta, os.path.join(scratch, "profiles"))
        ascend(table, leaktide, options.msprof, options.ascend, scratch)
        memscope(table, leaktide, options.msmemscope, scratch)
    print("%d passed, %d failed, %d skipped" % (table.passed, table.failed, table.skipped))
    return 1 if table.failed else 0 if table.passed else 77


if __name__ == "__main__":
    sys.exit(main())
