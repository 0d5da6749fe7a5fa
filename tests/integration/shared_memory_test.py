# SPDX-License-Identifier: Apache-2.0
"""Shared memory and mapped files, as blocks with the lines that ask for them, and names that nobody unlinks.

Run as shared_memory_test.py LEAKTIDE.
"""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE = sys.argv[1]
MIB = 1 << 20
PROGRAM = """\
import ctypes, mmap, os, sys
MIB = 1 << 20
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
libc.shm_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_uint]
libc.mmap.restype = ctypes.c_void_p
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
def made(name, size):
    file = os.open("/dev/shm/%s-%s" % (sys.argv[1], name), os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600)
    os.posix_fallocate(file, 0, size)
    return file
def mapped(name, size):
    file = made(name, size)
    memory = mmap.mmap(file, size)
    os.close(file)
    return memory
def gone(name):
    os.unlink("/dev/shm/%s-%s" % (sys.argv[1], name))
def batch():
    kept = mapped("batch", 8 * MIB)
    gone("batch")
    return kept
def left():
    for i in range(5):
        mapped("left%d" % i, MIB).close()
def worker():
    if not os.fork():
        os.close(made("handed", 3 * MIB))
        os.close(made("child", 2 * MIB))
        os._exit(0)
    os.wait()
    gone("handed")
def posix():
    name = ("/%s-posix" % sys.argv[1]).encode()
    file = libc.shm_open(name, os.O_CREAT | os.O_RDWR, 0o600)
    os.ftruncate(file, 6 * MIB)
    memory = mmap.mmap(file, 6 * MIB)
    os.close(file)
    libc.shm_unlink(name)
    memory.close()
def segments():
    numbers = [libc.shmget(0, MIB * (4 + i), 0o1600) for i in range(2)]
    kept = [libc.shmat(number, None, 0) for number in numbers]
    libc.shmdt(ctypes.c_void_p(kept[0]))
    libc.shmctl(numbers[0], 0, None)
    libc.shmctl(numbers[1], 0, None)
def memfd():
    file = os.memfd_create("queue")
    os.ftruncate(file, 7 * MIB)
    kept.append(mmap.mmap(file, 7 * MIB))
    kept[-1].resize(9 * MIB)
def weights():
    with open(__file__, "rb") as file:
        kept.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
def part():
    at = libc.mmap(None, 12 * MIB, 3, 0x21, -1, 0)
    libc.munmap(at + 4 * MIB, 4 * MIB)
def short():
    for i in range(300):
        mapped("turn%d" % i, 4096).close()
        gone("turn%d" % i)
kept = [batch()]
for call in (left, worker, posix, segments, memfd, weights, part, short):
    call()
os._exit(0) if len(sys.argv) > 2 else None
"""


class SharedMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.folder.name, "job.py")
        cls.trace = os.path.join(cls.folder.name, "job.leaktide")
        cls.prefix = "leaktide-test-%d" % os.getpid()
        with open(cls.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        cls.done = subprocess.run(
            [LEAKTIDE, "run", "--device=cpu", "--call-stack=python,c", "-o", cls.trace, "--",
             os.path.realpath(sys.executable), cls.program, cls.prefix], env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200, check=False)
        cls.there = [name for name in os.listdir("/dev/shm") if name.startswith(cls.prefix)]
        cls.blocks = cls.ask("blocks", "--top=0")["blocks"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        for name in cls.there:
            os.unlink("/dev/shm/" + name)

    @classmethod
    def answer(cls, question, *options):
        done = subprocess.run([LEAKTIDE, question, "--format=json", *options, cls.trace],
                              stdout=subprocess.PIPE, timeout=200, check=False)
        return done.returncode, json.loads(done.stdout)

    @classmethod
    def ask(cls, question, *options):
        return {table["name"]: table["rows"] for table in cls.answer(question, *options)[1]["tables"]}

    def in_pool(self, pool, function):
        """[(bytes, whether it was freed)] in the order of their births."""
        return [(row["size_bytes"], row["freed_ns"] is not None) for row in
                sorted(self.blocks, key=lambda row: row["born_ns"])
                if row["ledger"].split(",")[0].split(" ")[0] == pool and
                function in json.dumps(row["site"])]

    def test_the_program_did_its_work(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertEqual(sorted(self.there), sorted(
            ["%s-left%d" % (self.prefix, i) for i in range(5)] + [self.prefix + "-child"]))

    def test_a_mapping_of_shared_memory_is_a_block_until_it_is_unmapped(self):
        sizes = self.in_pool("shared_memory", "mapped (")
        self.assertEqual(sizes[0][0], 8 * MIB)
        self.assertEqual(sizes[1:6], [(MIB, True)] * 5)
        self.assertEqual(self.in_pool("shared_memory", "posix"), [(6 * MIB, True)])

    def test_segments_are_blocks_while_they_are_attached(self):
        self.assertEqual(self.in_pool("shared_memory", "job.py:43"), [(4 * MIB, True), (5 * MIB, False)])

    def test_a_memfd_that_grows_is_one_block_at_a_time(self):
        sizes = [size for size, _ in self.in_pool("shared_memory", "memfd")]
        self.assertEqual(sizes, [7 * MIB, 9 * MIB])

    def test_what_is_left_of_a_cut_mapping_is_two_blocks(self):
        self.assertEqual(self.in_pool("shared_memory", "part"),
                         [(12 * MIB, True), (4 * MIB, False), (4 * MIB, False)])

    def test_a_mapped_file_is_address_space(self):
        self.assertEqual([size for size, _ in self.in_pool("mapped_file", "weights")],
                         [os.path.getsize(self.program)])
        row = [row for row in self.blocks if row["ledger"].startswith("mapped_file")][0]
        self.assertIn("(virtual)", row["ledger"])

    def test_names_that_nobody_unlinked_are_left_with_their_makers(self):
        status, answer = self.answer("leaks")
        rows = [table["rows"] for table in answer["tables"] if table["name"] == "shared_names"][0]
        self.assertEqual([(row["name_count"], row["left_bytes"]) for row in rows], [(5, 5 * MIB), (1, 2 * MIB)])
        self.assertIn("job.py:9", rows[0]["site"])
        self.assertTrue(rows[0]["name"].startswith("/dev/shm/%s-left" % self.prefix), rows)
        self.assertEqual(rows[1]["process"] == rows[0]["process"], False)
        self.assertIn("SHARED MEMORY: 6 names with 7.00 MiB not unlinked", answer["verdict"][0])
        self.assertEqual(status, 1)

    def test_no_memory_counts_twice(self):
        host = self.in_pool("host", "mapped (") + self.in_pool("mmap", "mapped (")
        self.assertFalse([size for size, _ in host if size >= MIB])


BATCHES = 24
BATCH_BYTES = 256 * 512 * 4
LOADING = """\
import os, sys
import torch
from torch.utils.data import DataLoader
kept = []
def train():
    for batch in DataLoader(torch.zeros(%d * 256, 512), batch_size=256, num_workers=2):
        if sys.argv[1] == "kept":
            kept.append(batch)
train()
""" % BATCHES


@unittest.skipUnless(importlib.util.find_spec("torch"), "there is no PyTorch here")
class Batches(unittest.TestCase):
    """Workers of a DataLoader hand their batches over in shared memory."""

    def batches(self, word):
        """Of the main process and of the workers: how many at the loop's line, and how many of them were not freed."""
        with tempfile.TemporaryDirectory() as folder:
            program, trace = os.path.join(folder, "job.py"), os.path.join(folder, "job.leaktide")
            with open(program, "w", encoding="utf-8") as file:
                file.write(LOADING)
            subprocess.run([LEAKTIDE, "run", "--device=cpu", "--call-stack=python", "--no-report", "-o", trace, "--",
                            os.path.realpath(sys.executable) if sys.prefix == sys.base_prefix else sys.executable,
                            program, word], check=True, timeout=500,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            done = subprocess.run([LEAKTIDE, "blocks", "--format=json", "--top=0", trace], stdout=subprocess.PIPE,
                                  timeout=300, check=False)
        rows = [table["rows"] for table in json.loads(done.stdout)["tables"] if table["name"] == "blocks"][0]
        rows = [row for row in rows
                if row["ledger"].startswith("shared_memory") and row["size_bytes"] == BATCH_BYTES
                and re.match(r"train \(\S*job\.py:6\)$", row["site"])]
        return len(rows), len([row for row in rows if row["freed_ns"] is None])

    def test_kept_ones_are_blocks_of_the_line_that_keeps_them(self):
        self.assertEqual(self.batches("kept"), (2 * BATCHES, BATCHES))

    def test_others_are_given_back(self):
        self.assertEqual(self.batches("used"), (2 * BATCHES, 0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
