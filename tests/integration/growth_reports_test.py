# SPDX-License-Identifier: Apache-2.0
"""What people reported of processes that grow, each as a small program and as its mended twin.

Run as growth_reports_test.py LEAKTIDE. All twelve run at once, for half a minute, and are asked for
an account twice. A row says which report it is, what grew, whether that is a leak, and which line
did it.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

LEAKTIDE = os.path.abspath(sys.argv[1])
SECONDS, SNAPSHOTS = 30, (9, 27)
MIB = 1 << 20

HEAD = """
import mmap, os, sys, time
is_mended, folder = sys.argv[1] == "1", sys.argv[2]
kept = []
"""
TAIL = """
with open(os.path.join(folder, "pid"), "w") as file:
    file.write(str(os.getpid()))
for number in range(%d):
    turn(number)
    time.sleep(0.1)
os._exit(0)  # as servers end: nothing is tidied up
""" % (SECONDS * 10)

# report: (program, cause, is it a leak, line that makes it or None)
REPORTS = {
    # A server whose records of requests stay: interpreter's pools, and some tensors beside them.
    "vllm-project/vllm#43639": ("""
records = {}
def turn(number):
    for i in range(300):
        records[number, i] = [str(number * 1000 + k) for k in range(8)]  # kept
    if is_mended:
        records.clear()
""", "python_objects", True, "# kept"),
    # 963 GiB without a file, and no page cache, slab or shared memory: buffers that stay mapped.
    "vllm-project/vllm-ascend#15193": ("""
def turn(number):
    buffer = mmap.mmap(-1, 256 << 10, flags=mmap.MAP_PRIVATE)  # kept
    buffer[:] = b"x" * len(buffer)
    if is_mended:
        buffer.close()
    else:
        kept.append(buffer)
""", "anonymous_mappings", True, "# kept"),
    # malloc_trim gave back nothing, so it is not what malloc keeps: blocks.
    "gpustack/gpustack#5121": ("""
def turn(number):
    for i in range(40):
        block = bytearray(4000)  # kept
        if not is_mended:
            kept.append(block)
""", "blocks", True, "# kept"),
    # malloc_trim gave back 477 of 1,337 MB: freed, between blocks that stay.
    "XiaoMi/xiaomi-miloco#459": ("""
def turn(number):
    made = [bytearray(20000 + (0 if is_mended else 64 * number)) for _ in range(16)]
    for block in made:
        if is_mended:
            block.clear()
        else:
            del block[100:]
    if not is_mended:
        kept.extend(made)
""", "kept_by_malloc", False, None),
    # A data set that is mapped, and read bit by bit.
    "huggingface/datasets#4883": ("""
data = open(os.path.join(folder, "data"), "wb+")
data.truncate(256 << 20)
def turn(number):
    part = mmap.mmap(data.fileno(), 512 << 10, offset=number * (512 << 10), prot=mmap.PROT_READ)  # kept
    sum(part[::4096])
    if is_mended:
        part.close()
    else:
        kept.append(part)
""", "mapped_files", False, "# kept"),
    # Batches that workers of a loader hand over in /dev/shm, and that stay.
    "DataLoader and /dev/shm": ("""
def turn(number):
    path = "/dev/shm/leaktide-report-%d-%d" % (os.getpid(), number)
    file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    os.unlink(path)
    os.truncate(file, 256 << 10)
    batch = mmap.mmap(file, 256 << 10)  # kept
    os.close(file)
    batch[:] = b"x" * len(batch)
    if is_mended:
        batch.close()
    else:
        kept.append(batch)
""", "shared_memory", True, "# kept"),
}


def line_of(program, word):
    return [word in line for line in (HEAD + program).splitlines()].index(True) + 1


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.runs, cls.errors = {}, {}
        for number, (report, row) in enumerate(REPORTS.items()):
            for mended in "01":
                cls.start(report, row[0], number, mended)
        begin = time.monotonic()
        for seconds in SNAPSHOTS:
            time.sleep(max(0, begin + seconds - time.monotonic()))
            for run in cls.runs.values():
                cls.snapshot(run)
        for key, run in cls.runs.items():
            cls.errors[key] = run[0].communicate(timeout=SECONDS * 10)[1]

    @classmethod
    def start(cls, report, program, number, mended):
        folder = os.path.join(cls.folder.name, "%d-%s" % (number, mended))
        script = os.path.join(folder, "report%d.py" % number)
        os.mkdir(folder)
        with open(script, "w", encoding="utf-8") as file:
            file.write(HEAD + program + TAIL)
        cls.runs[report, mended] = subprocess.Popen(
            [LEAKTIDE, "run", "--device=cpu", "--no-report", "-o", os.path.join(folder, "run"),
             "--", sys.executable, script, mended, folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True), folder

    @classmethod
    def snapshot(cls, run):
        with open(os.path.join(run[1], "pid"), encoding="ascii") as file:
            subprocess.run([LEAKTIDE, "ctl", file.read(), "snapshot"], stdout=subprocess.DEVNULL, timeout=60,
                           check=False)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ask(self, report, mended, question):
        done = subprocess.run([LEAKTIDE, question, "--format=json", os.path.join(self.runs[report, mended][1], "run")],
                              stdout=subprocess.PIPE, timeout=120)
        self.assertTrue(done.stdout, self.errors[report, mended])
        return json.loads(done.stdout), done.returncode

    def growth(self, report, mended):
        answer, _ = self.ask(report, mended, "account")
        rows = [table["rows"] for table in answer["tables"] if table["name"] == "resident_growth"][0]
        # The cgroup is not theirs alone.
        return [row for row in rows if not row["cause"].endswith("cgroup") and row["cause"] != "page_cache"], answer

    def test_each_report_has_its_cause(self):
        for report, (_, cause, is_leak, _) in REPORTS.items():
            with self.subTest(report=report):
                rows, answer = self.growth(report, "0")
                self.assertTrue(rows, answer["verdict"])
                self.assertEqual([rows[0]["cause"], rows[0]["is_leak"]], [cause, is_leak], rows)
                self.assertTrue(any("To do: " in said for said in answer["verdict"]), answer["verdict"])

    def test_each_mended_twin_has_none(self):
        for report in REPORTS:
            with self.subTest(report=report):
                self.assertEqual(self.growth(report, "1")[0], [])
                answer, status = self.ask(report, "1", "leaks")
                self.assertIn(status, (0, 4), answer["verdict"])  # 4: too little happens in it to judge

    def test_the_line_is_named(self):
        for number, (report, (program, cause, is_leak, word)) in enumerate(REPORTS.items()):
            with self.subTest(report=report):
                if not word:
                    continue
                line = "report%d.py:%d" % (number, line_of(program, word))
                rows, _ = self.growth(report, "0")
                if cause in ("mapped_files", "shared_memory", "anonymous_mappings"):
                    self.assertIn(line, rows[0]["site"])
                answer, status = self.ask(report, "0", "leaks")
                if is_leak:
                    self.assertEqual(status, 1, answer["verdict"])
                    self.assertIn(line, " ".join(answer["verdict"][:3]))

    def test_what_malloc_trim_would_give_back_is_said(self):
        _, answer = self.growth("XiaoMi/xiaomi-miloco#459", "0")
        self.assertTrue(any("malloc_trim(0) would give back" in said for said in answer["verdict"]), answer["verdict"])
        line = "report3.py:%d" % line_of(REPORTS["XiaoMi/xiaomi-miloco#459"][0], "del block")
        self.assertRegex(answer["verdict"][0], r"held back on the pages of [\d,]+ blocks of .*" + re.escape(line))
        rows = self.growth("XiaoMi/xiaomi-miloco#459", "0")[0]
        self.assertIn(line, rows[0]["held_back_by"])
        self.assertGreater(rows[0]["held_back_bytes"], rows[0]["growth_bytes"] / 20)
        _, answer = self.growth("gpustack/gpustack#5121", "0")
        self.assertFalse(any("malloc_trim(0) would give back" in said for said in answer["verdict"]), answer["verdict"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
