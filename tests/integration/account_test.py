# SPDX-License-Identifier: Apache-2.0
"""leaktide account of programs that run, beside what is known of them and what /proc says.

Run as account_test.py LEAKTIDE.
"""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LEAKTIDE = sys.argv[1]
MIB = 1 << 20

# Says "ready" when all of it is there, and waits.
PROGRAM = """
import mmap, os, sys, threading, time
shared = open("/dev/shm/" + sys.argv[1], "wb+")
shared.truncate(24 << 20)
queue = mmap.mmap(shared.fileno(), 24 << 20)
queue[:] = b"q" * len(queue)
os.unlink(shared.name)
data = open(sys.argv[2], "rb")
weights = mmap.mmap(data.fileno(), 0, prot=mmap.PROT_READ)
sum(weights[::4096])
private = mmap.mmap(-1, 12 << 20, flags=mmap.MAP_PRIVATE)
private[:] = b"p" * len(private)
blocks = [bytes(2000) for _ in range(30000)]
kept = blocks[::50]
del blocks
whole = bytearray(20 << 20)
small = [(i, i + 1) for i in range(100000)]
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
worker = os.fork() if len(sys.argv) > 3 else 1
if worker:
    sys.stdout.flush()
    sys._debugmallocstats()  # to standard error
    print("ready", worker, flush=True)
time.sleep(600)
"""


def smaps(process):
    """[(name, {"Rss": bytes, ...})] of each mapping, parsed without leaktide."""
    mappings = []
    with open("/proc/%d/smaps" % process, encoding="utf-8", errors="replace") as file:
        for line in file:
            head = re.match(r"[0-9a-f]+-[0-9a-f]+ (\S{4}) \S+ \S+ (\d+)\s*(.*)", line)
            if head:
                mappings.append((head[3], {}))
            else:
                figure = re.match(r"(\w+):\s+(\d+) kB", line)
                if figure:
                    mappings[-1][1][figure[1]] = int(figure[2]) * 1024
    return mappings


class Account(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.NamedTemporaryFile(prefix="weights")
        self.data.write(os.urandom(8 * MIB))
        self.data.flush()
        self.name = "leaktide-account-%d" % os.getpid()
        self.started = []
        self.said = tempfile.TemporaryFile("w+")

    def tearDown(self):
        for program in self.started:
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
            program.stdout.close()
        self.data.close()
        self.said.close()

    def start(self, *further):
        program = subprocess.Popen([sys.executable, "-c", PROGRAM, self.name, self.data.name, *further],
                                   stdout=subprocess.PIPE, stderr=self.said, text=True,
                                   start_new_session=True)
        self.started.append(program)
        words = program.stdout.readline().split()
        self.assertEqual(words[0], "ready")
        return program.pid, int(words[1])

    def account(self, *words):
        done = subprocess.run([LEAKTIDE, "account", "--format=json", *words], check=True,
                              stdout=subprocess.PIPE, timeout=60)
        return json.loads(done.stdout)

    def table(self, answer, name):
        return [table for table in answer["tables"] if table["name"] == name][0]["rows"]

    def near(self, value, expected, within=MIB):
        self.assertLess(abs(value - expected), within, (value, expected))

    def test_each_part_is_what_the_program_made(self):
        process, _ = self.start()
        answer = self.account(str(process))
        parts = {row["part"]: row["resident_bytes"] for row in self.table(answer, "resident")}
        self.assertEqual(sum(parts.values()), 2 * parts["resident"])
        self.near(parts["resident"], sum(figures["Rss"] for _, figures in smaps(process)))
        self.near(parts["shared_memory"], 24 * MIB)
        self.near(parts["mapped_files"], 8 * MIB)
        self.near(parts["mapped_without_a_file"], 12 * MIB, 2 * MIB)
        self.assertGreater(parts["blocks_of_malloc"], 21 * MIB)
        self.assertLess(parts["blocks_of_malloc"], 28 * MIB)
        self.assertGreater(parts["kept_free_by_malloc"], 50 * MIB)
        self.assertGreater(parts["small_python_objects"], 100000 * 64)
        self.assertLess(parts.get("unexplained", 0), parts["resident"] / 20)
        self.assertEqual(parts.get("heap_not_split", 0), 0)
        figures = self.table(answer, "resident_figures")[0]
        self.assertEqual(figures["thread_count"], 2)
        gap = 49 * 2016 - resource.getpagesize()  # whole pages between blocks that are kept
        self.assertGreater(figures["trim_bytes"], 0.9 * 600 * gap)

    def test_objects_of_python_are_what_the_interpreter_says(self):
        process, _ = self.start()
        self.said.seek(0)
        said = int(re.search(r"# bytes in allocated blocks\s*=\s*([\d,]+)", self.said.read())[1]
                   .replace(",", ""))
        parts = {row["part"]: row["resident_bytes"]
                 for row in self.table(self.account(str(process)), "resident")}
        self.near(parts["small_python_objects"], said, 128 * 1024)

    def test_60000_mappings_are_added_up(self):
        program = subprocess.Popen(
            [sys.executable, "-c", "import mmap, time\nm = []\nfor i in range(30000):\n"
             "    m.append(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))\n"
             "    m[-1][0] = 1\n"
             "    m.append(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ))\n"
             "print('ready', 1, flush=True)\ntime.sleep(600)\n"],
            stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.started.append(program)
        if program.stdout.readline() == "":
            self.skipTest("so many mappings are not allowed here")
        answer = self.account(str(program.pid))
        parts = {row["part"]: row["resident_bytes"] for row in self.table(answer, "resident")}
        figures = self.table(answer, "resident_figures")[0]
        self.assertGreater(figures["mapping_count"], 60000)
        self.assertEqual(sum(parts.values()), 2 * parts["resident"])
        self.assertGreater(parts["mapped_without_a_file"], 30000 * 4096)
        self.assertLess(figures["cost_ns"], 5e9)

    def test_names_say_which_file_and_who_else_maps_it(self):
        process, worker = self.start("with a worker")
        names = self.table(self.account(str(process)), "resident_names")
        queue = [row for row in names if row["part"] == "shared_memory"][0]
        self.assertEqual(queue["name"], "/dev/shm/%s (deleted)" % self.name)
        self.assertEqual(queue["resident_bytes"], 24 * MIB)
        self.assertIn(" %d" % worker, queue["mapped_by"])
        weights = [row for row in names if row["name"] == self.data.name]
        self.assertEqual([row["part"] for row in weights], ["mapped_files"])

    def test_a_tree_counts_shared_pages_once(self):
        process, worker = self.start("with a worker")
        answer = self.account("--tree", str(process))
        together = sum(row["proportional_bytes"] for row in self.table(answer, "resident_together"))
        proportional = sum(figures["Pss"] for each in (process, worker) for _, figures in smaps(each))
        self.near(together, proportional, 2 * MIB)
        apart = sum(row["resident_bytes"] for row in self.table(answer, "resident_figures"))
        self.assertGreater(apart, together + 60 * MIB)

    def test_watching_ends_with_the_process(self):
        process, _ = self.start()
        watch = subprocess.Popen([LEAKTIDE, "account", "--every=1", str(process)],
                                 stdout=subprocess.PIPE, text=True)
        lines = [watch.stdout.readline(), watch.stdout.readline()]
        os.killpg(process, signal.SIGKILL)
        self.started[0].wait()
        rest, _ = watch.communicate(timeout=10)
        for line in lines:
            self.assertRegex(line, r"^\d\d:\d\d:\d\d  \S+ %d has " % process)
        self.assertLess(rest.count("\n"), 3)

    def test_a_process_that_dies_while_it_is_read_is_an_answer_or_an_error(self):
        for delay in range(12):
            program = subprocess.Popen(["/bin/sleep", "30"])
            asked = subprocess.Popen([LEAKTIDE, "account", str(program.pid)], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
            time.sleep(delay * 0.0005)
            program.kill()
            program.wait()
            asked.communicate(timeout=20)
            self.assertIn(asked.returncode, (0, 3))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
