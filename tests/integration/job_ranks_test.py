# SPDX-License-Identifier: Apache-2.0
"""What a launcher says of a rank is in the recording; shells and helpers of a rank are no ranks.

Run as job_ranks_test.py LEAKTIDE.
"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

import report_tables

LEAKTIDE = sys.argv[1]


def command(*words, status=0):
    done = subprocess.run([LEAKTIDE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          timeout=300)
    assert done.returncode == status, (words, done.returncode, done.stdout[:500], done.stderr)
    return done.stdout


def memory_of(*words):
    """Bytes of memory that the command took at most."""
    child = subprocess.Popen([LEAKTIDE, *words], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * 1024


class Jobs(unittest.TestCase):
    PROGRAM = """
import os
kept = [bytearray(1 << 20) for _ in range(4 + 4 * (os.environ["RANK"] == "2"))]
if os.fork() == 0: # as one that loads data does
    os._exit(0)
os.wait()
"""

    def test_ranks_are_known_by_their_numbers(self):
        script = "for r in 0 1 2 3; do RANK=$r WORLD_SIZE=5 %s -c '%s' & done; wait" % (sys.executable, self.PROGRAM)
        with tempfile.TemporaryDirectory() as folder:
            job, summaries = os.path.join(folder, "job"), os.path.join(folder, "summaries")
            command("run", "--quiet", "-o", job, "--", "sh", "-c", script)
            command("summarize", "-o", summaries, job)
            # Of a recording nobody expects all ranks of the job; of the folder of its summaries, all.
            for path, status in ((job, 0), (summaries, 3)):
                with self.subTest(path=path):
                    answer = report_tables.load(command("ranks", "--format=json", path, status=status))
                    rows = answer["tables"]["ranks"]
                    self.assertEqual([row["process"] for row in rows], ["rank %d" % i for i in range(4)])
                    self.assertGreater(rows[2]["peak_bytes"], rows[1]["peak_bytes"] + (3 << 20))
                    self.assertIn("rank 2 differs from 3 other ranks", " ".join(answer["verdict"]))

    HOLDING = """
kept = {}
for turn in range(400):
    scope = {}
    exec("def held_%d(n): return [bytearray(600) for _ in range(n)]" % turn, scope)
    kept[turn] = scope["held_%d" % turn](250)
"""

    def test_of_a_job_that_was_started_again_the_newest_counts(self):
        """Those that hold half as much as the largest; a helper with the number of a rank, which is newer still, is none."""
        first = "for r in 0 1 2; do RANK=$r WORLD_SIZE=3 dd if=/dev/zero of=/dev/null count=1 bs=9M; done"
        again = ("RANK=2 WORLD_SIZE=3 dd if=/dev/zero of=/dev/null count=1 bs=5M; RANK=1 WORLD_SIZE=3 dd if=/dev/zero of=/dev/null "
                 "count=1 bs=8M; RANK=0 WORLD_SIZE=3 dd if=/dev/zero of=/dev/null count=1 bs=5M; "
                 "RANK=1 WORLD_SIZE=3 dd if=/dev/zero of=/dev/null count=1 bs=1M")
        with tempfile.TemporaryDirectory() as folder:
            for name, script in (("b", first), ("a", again)):
                command("run", "--quiet", "-o", os.path.join(folder, name), "--", "sh", "-c", script + " 2>/dev/null")
                for path in glob.glob(os.path.join(folder, name, "*.mtt")):
                    command("summarize", "-o", os.path.join(folder, "summaries"), path)
            answer = report_tables.load(command("ranks", "--format=json", os.path.join(folder, "summaries")))
            rows = answer["tables"]["ranks"]
            self.assertEqual([(row["process"], row["peak_bytes"] >> 20) for row in rows], [("rank 0", 5), ("rank 1", 8), ("rank 2", 5)])

    def test_each_rank_has_a_page_and_helpers_have_none(self):
        script = "for r in 0 1; do RANK=$r WORLD_SIZE=2 %s -c 'kept = bytearray(64 << 20)'; done; ls" % sys.executable
        with tempfile.TemporaryDirectory() as folder:
            job, summaries = os.path.join(folder, "job"), os.path.join(folder, "summaries")
            command("run", "--quiet", "-o", job, "--", "sh", "-c", script)
            self.assertGreater(len(glob.glob(job + "/*.mtt")), 2)
            command("summarize", "--pages", "-o", summaries, job)
            pages = glob.glob(summaries + "/pages/*")
            self.assertEqual(len(pages), 2, pages)
            for path in pages:
                with open(path, encoding="utf-8") as file:
                    self.assertIn("data-report", file.read())
            command("ranks", "--format=html", "-o", os.path.join(folder, "page.html"), summaries)

    def test_one_process_is_in_memory_at_a_time(self):
        script = "for r in 0 1 2 3 4 5; do RANK=$r WORLD_SIZE=6 %s -c '%s'; done" % (sys.executable, self.HOLDING)
        with tempfile.TemporaryDirectory() as folder:
            job, whole, single = (os.path.join(folder, name) for name in ("job", "whole", "single"))
            command("run", "--quiet", "--call-stack=python", "-o", job, "--", "sh", "-c", script)
            files = sorted(glob.glob(job + "/*.mtt"))
            most = max(memory_of("summarize", "-o", single, file) for file in files)
            self.assertLess(memory_of("summarize", "-o", whole, job), 1.5 * most)
            for found in (report_tables.load(command("ranks", "--format=json", path)) for path in (whole, single)):
                self.assertEqual([row["process"] for row in found["tables"]["ranks"]], ["rank %d" % i for i in range(6)])
                self.assertGreater(found["tables"]["ranks"][0]["peak_bytes"], 400 * 250 * 600)

    # A loop that nobody marked, of which one rank keeps a little each turn.
    TURNS = """
import os
kept = []
for turn in range(400):
    work = [bytearray(2000 + 8 * i) for i in range(20)]
    if os.environ["RANK"] == os.environ.get("LEAKING"):
        kept.append(bytearray(6000))
"""

    def of_64(self, folder, **variables):
        """Summaries of a job of 64 processes."""
        job, summaries = os.path.join(folder, "job"), os.path.join(folder, "summaries")
        script = "seq 0 63 | xargs -P 8 -I{} env RANK={} WORLD_SIZE=64 PYTHONMALLOC=malloc %s -I -S -c '%s'" % (sys.executable, self.TURNS)
        subprocess.run([LEAKTIDE, "run", "--quiet", "--call-stack=python", "-o", job, "--", "sh", "-c", script], check=True, timeout=250,
                       env={**os.environ, **variables})
        command("summarize", "-o", summaries, job)
        with open(os.path.join(folder, "leaktide.toml"), "w", encoding="ascii") as file:
            file.write('[leak]\nmin_slope = "1 KiB/step"\n')
        return ["--policy", file.name, summaries]

    def test_64_processes_without_a_leak_pass_and_no_finding_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            words = self.of_64(folder)
            answer = report_tables.load(command("ranks", "--format=json", words[-1]))
            self.assertEqual((answer["facts"]["rank_count"], answer["facts"]["unjudged_rank_count"]), (64, 0))
            self.assertEqual(answer["findings"], [])
            self.assertRegex(command("gate", *words), "no leak on any rank: [1-9][0-9]* sites judged")

    def test_a_leak_of_one_of_64_processes_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            words = self.of_64(folder, LEAKING="41")
            leak, = [finding for finding in report_tables.load(command("ranks", "--format=json", words[-1]))["findings"]
                     if finding["cause"] == "leak"]
            self.assertEqual((leak["rank"], leak["rank_count"], leak["site"]), ("rank 41", 1, "<module> (<string>:7)"))
            self.assertIn("leak: ", command("gate", *words, status=1))

    DYING = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_DFL)
kept = bytearray(1 << 20)
if os.environ["RANK"] == "2":
    time.sleep(0.5)
    %s
time.sleep(60)
"""
    # As torchrun: when one has ended, the others are ended.
    LAUNCHER = """
import os, subprocess, sys, time
ranks = [subprocess.Popen([sys.executable, "-c", sys.argv[1]], env={**os.environ, "RANK": str(r), "WORLD_SIZE": "4"})
         for r in range(4)]
ranks[2].wait()
time.sleep(2)  # so that the others are not far apart, also on a busy machine
for rank in ranks:
    rank.terminate()
for rank in ranks:
    rank.wait()
"""

    def test_who_died_first_is_named(self):
        for end, said in (("os.kill(os.getpid(), 9)", "was killed"), ("os._exit(7)", "exited with status 7"),
                          ("raise SystemExit(3)", "exited with status 3")):
            with self.subTest(end=end), tempfile.TemporaryDirectory() as folder:
                job, summaries = os.path.join(folder, "job"), os.path.join(folder, "summaries")
                command("run", "--quiet", "-o", job, "--", sys.executable, "-c", self.LAUNCHER, self.DYING % end)
                command("summarize", "-o", summaries, job)
                for path in (job, summaries):
                    finding, = [finding for finding in report_tables.load(command("ranks", "--format=json", path))["findings"]
                                if finding["cause"] == "died_first"]
                    self.assertEqual((finding["rank"], finding["rank_count"]), ("rank 2", 4))
                    self.assertIn("DIED FIRST: rank 2 %s; 4 ranks died, the next, " % said, finding["sentence"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
