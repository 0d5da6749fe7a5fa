# SPDX-License-Identifier: Apache-2.0
"""What leaktide account says of a cgroup, and of what is swapped out, beside the kernel's own files.

Run as account_cgroup_test.py LEAKTIDE, as root, where a cgroup of its own can be made: of version 1 or 2, whichever is
here. tests/virtual_machine runs it with version 2 and with swap.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import memory_cgroup

LEAKTIDE = sys.argv[1]
MIB = 1 << 20
# 150 MiB of blocks, 24 MiB of a file, 8 MiB of shared memory without a file; then it waits.
PROGRAM = """
import mmap, os, sys
shared = mmap.mmap(-1, 8 << 20)
shared[:] = b"s" * len(shared)
blocks = [bytearray(os.urandom(1 << 20)) for _ in range(int(sys.argv[1]))]
with open(sys.argv[2], "wb") as file:
    file.write(bytes(24 << 20))
    file.flush()
    os.fsync(file.fileno())
print("ready", flush=True)
input()
"""
# our key: the key of memory.stat of version 1, of version 2
FIGURES = {
    "anonymous": ("total_rss", "anon"),
    "file": ("total_cache", "file"),
    "shared": ("total_shmem", "shmem"),
    "active_file": ("total_active_file", "active_file"),
    "inactive_file": ("total_inactive_file", "inactive_file"),
}


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


class Cgroup(unittest.TestCase):
    def setUp(self):
        self.cgroup = memory_cgroup.make("leaktide-account-%d" % os.getpid(), 96 * MIB)
        if not self.cgroup:
            self.skipTest("no cgroup can be made here")
        self.version = 2 if os.path.exists(self.cgroup + "/memory.current") else 1
        self.file = tempfile.NamedTemporaryFile(dir="." if os.access(".", os.W_OK) else None)
        self.program = None

    def tearDown(self):
        if self.program:
            self.program.kill()
            self.program.wait()
            self.program.stdin.close()
            self.program.stdout.close()
        if self.cgroup:
            os.rmdir(self.cgroup)
            self.file.close()

    def start(self, mib):
        self.program = subprocess.Popen(
            ["/bin/sh", "-c", 'echo $$ > %s/cgroup.procs && exec "$@"' % self.cgroup, "sh", os.path.realpath(sys.executable),
             "-c", PROGRAM, str(mib), self.file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.program.stdout.readline() != "ready\n":
            self.skipTest("the kernel killed a program of %d MiB: there is no swap" % mib)

    def figures(self):
        """Bytes by the kernel's word for them."""
        figures = {line.split()[0]: int(line.split()[1]) for line in read(self.cgroup + "/memory.stat").splitlines()}
        figures["current"] = int(read(self.cgroup + ("/memory.current" if self.version == 2 else "/memory.usage_in_bytes")))
        return figures

    def ask(self):
        """Figures of the kernel before and after, and the tables of our answer."""
        before = self.figures()
        done = subprocess.run([LEAKTIDE, "account", "--format=json", str(self.program.pid)], stdout=subprocess.PIPE, check=True,
                              timeout=120)
        return before, self.figures(), {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}

    def check_figures(self, before, after, rows):
        said = {row["key"]: row["amount"] for row in rows}
        for key, names in FIGURES.items():
            name = names[self.version - 1]
            # What the kernel has not folded into the cgroup's sums yet: a batch of pages a processor.
            slack = 64 * os.cpu_count() * 4096
            self.assertGreaterEqual(said[key], min(before[name], after[name]) - slack, key)
            self.assertLessEqual(said[key], max(before[name], after[name]) + slack, key)
        self.assertLessEqual(abs(said["current"] - before["current"]), 2 * MIB)
        self.assertEqual(said["limit"], 96 * MIB)
        self.assertEqual(said["processes"], 1)
        self.assertEqual(said["oom_kills"], 0)

    def test_what_the_cgroup_is_charged(self):
        self.start(40)
        before, after, tables = self.ask()
        self.check_figures(before, after, tables["cgroup"])
        said = {row["key"]: row["amount"] for row in tables["cgroup"]}
        self.assertGreaterEqual(said["anonymous"], 40 * MIB)
        self.assertGreaterEqual(said["shared"], 8 * MIB)
        files = said["active_file"] + said["inactive_file"]
        self.assertGreaterEqual(said["reclaimable"], files - said["dirty"])
        self.assertLessEqual(said["reclaimable"], files + said["slab"])

    def test_what_is_swapped_out(self):
        self.start(150)
        before, after, tables = self.ask()
        self.check_figures(before, after, tables["cgroup"])
        figures = tables["resident_figures"][0]
        status = dict(line.split(":", 1) for line in read("/proc/%d/status" % self.program.pid).splitlines())
        blocks = int(status["VmSwap"].split()[0]) * 1024  # without shared memory
        swapped = sum(map(int, re.findall(r"(?m)^Swap: +(\d+) kB", read("/proc/%d/smaps" % self.program.pid)))) * 1024
        self.assertGreater(blocks, 50 * MIB)
        self.assertLessEqual(blocks, swapped)
        self.assertLessEqual(abs(figures["swapped_bytes"] - swapped), swapped // 100)
        resident = int(status["VmRSS"].split()[0]) * 1024
        parts = {row["part"]: row["resident_bytes"] for row in tables["resident"]}
        self.assertEqual(sum(parts.values()), 2 * parts["resident"])
        self.assertLessEqual(abs(parts["resident"] - resident), resident // 50)
        self.assertLessEqual(parts.get("unexplained", 0), parts["resident"] / 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
