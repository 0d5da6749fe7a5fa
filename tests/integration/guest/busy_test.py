"""Threads wait for a consumer that does nothing as long as it can still come; never without end.

    busy_test.py LEAKTIDE PROGRAMS [unittest arguments]
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LEAKTIDE, PROGRAMS = sys.argv[1:3]
PAIRS = os.path.join(PROGRAMS, "pairs")
STANDING_CLOCK = os.path.join(PROGRAMS, "libstanding_clock.so")


class BusyTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.run_folder = os.path.join(self.folder, "run")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def begin(self, command, **environment):
        run = subprocess.Popen([LEAKTIDE, "run", "-q", "--no-report", "--device=cpu", "--ring-size=64k",
                                "-o", self.run_folder, "--", *command],
                               env=dict(os.environ, **environment))
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def children(self, run):
        with open("/proc/%d/task/%d/children" % (run.pid, run.pid)) as listed:
            children = [int(child) for child in listed.read().split()]
        named = {}
        for child in children:
            try:
                with open("/proc/%d/comm" % child) as own:
                    named[own.read().strip()] = child
            except FileNotFoundError:
                pass  # it ended after it was listed
        return named

    def child(self, run, name):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            found = self.children(run).get(name)
            if found:
                return found
            time.sleep(0.002)
        raise AssertionError("no child is called " + name)

    def is_at_work(self, process):
        try:
            with open("/proc/%d/stat" % process) as stat:
                return stat.read().rpartition(") ")[2][0] not in "ZX"
        except FileNotFoundError:
            return False

    def records(self, name):
        """Once something is in the trace, all are at work."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for file in os.listdir(self.run_folder):
                if file.endswith(name) and os.path.getsize(os.path.join(self.run_folder, file)) > 8192:
                    return
            time.sleep(0.002)
        raise AssertionError("nothing is recorded")

    def info(self):
        shown = subprocess.run([LEAKTIDE, "info", "--format=json", self.run_folder],
                               stdout=subprocess.PIPE, universal_newlines=True)
        return json.loads(shown.stdout)

    def events(self):
        rows, = [table["rows"] for table in self.info()["tables"] if table["name"] == "events"]
        return sum(row["event_count"] for row in rows if row["event"] in ("alloc", "free"))

    def losses(self):
        return {note["sentence"]: note["count"] for note in self.info()["notes"]
                if note["sentence"].startswith("events lost")}

    def ended_in(self, run, process=None):
        """Seconds until it has ended."""
        began = time.monotonic()
        if process is None:
            run.wait(timeout=300)
        while (process is not None and os.path.exists("/proc/%d" % process)
               and time.monotonic() < began + 120):
            time.sleep(0.01)
        took = time.monotonic() - began
        print("%s: went on, and ended after %.1f s" % (self.id().rpartition(".")[2], took))
        return took

    def nothing_is_lost(self, count):
        self.assertEqual(self.losses(), {})
        self.assertGreaterEqual(self.events(), 2 * count)

    def test_nothing_is_lost_when_the_consumer_is_stopped_and_goes_on(self):
        seconds = int(os.environ.get("LEAKTIDE_TEST_STOP_SECONDS", "4"))
        run = self.begin([PAIRS, "4", "300000"])
        consumer = self.child(run, "leaktide-drain")
        self.records(".mtt")
        os.kill(consumer, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(consumer, signal.SIGCONT)
        self.assertEqual(run.wait(timeout=120), 0)
        self.nothing_is_lost(4 * 300000)

    def test_a_consumer_that_stays_stopped_is_given_up(self):
        run = self.begin([PAIRS, "2", "2000000"], LEAKTIDE_STOPPED_SECONDS="2")
        consumer, program = self.child(run, "leaktide-drain"), self.child(run, "pairs")
        self.records(".mtt")
        os.kill(consumer, signal.SIGSTOP)
        took = self.ended_in(run, program)
        os.kill(consumer, signal.SIGCONT)
        self.assertEqual(run.wait(timeout=120), 0)
        self.assertGreater(took, 1.5)
        self.assertLess(took, 30)
        self.assertEqual([text for text in self.losses() if "stopped" in text], list(self.losses()))
        self.assertEqual(len(self.losses()), 1)

    def test_another_consumer_goes_on_without_a_loss(self):
        run = self.begin([PAIRS, "4", "3000000"])
        program = self.child(run, "pairs")
        kill_count = 0
        while kill_count < 5 and self.is_at_work(program):
            consumer = self.children(run).get("leaktide-drain")
            if consumer:
                self.records(".mtt")
                os.kill(consumer, signal.SIGKILL)
                kill_count += 1
            time.sleep(0.02)
        self.assertEqual(run.wait(timeout=120), 0)
        self.assertGreater(kill_count, 1)
        self.nothing_is_lost(4 * 3000000)

    def test_nobody_waits_for_what_is_dead(self):
        run = self.begin([PAIRS, "4", "3000000"])
        consumer, program = self.child(run, "leaktide-drain"), self.child(run, "pairs")
        self.records(".mtt")
        os.kill(run.pid, signal.SIGKILL)
        os.kill(consumer, signal.SIGKILL)
        self.assertLess(self.ended_in(run, program), 60)
        self.assertTrue(self.losses())

    def test_a_stopped_consumer_without_a_launcher_is_given_up(self):
        run = self.begin([PAIRS, "4", "1000000"])
        consumer, program = self.child(run, "leaktide-drain"), self.child(run, "pairs")
        self.records(".mtt")
        os.kill(run.pid, signal.SIGKILL)
        os.kill(consumer, signal.SIGSTOP)
        took = self.ended_in(run, program)
        os.kill(consumer, signal.SIGCONT)
        self.assertLess(took, 30)

    def clock_stands(self, *arguments, **environment):
        return self.begin(["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"', STANDING_CLOCK, PAIRS,
                           *arguments], **environment)

    def test_a_clock_that_stands_ends_a_wait(self):
        run = self.clock_stands("1", "1000000", LEAKTIDE_STOPPED_SECONDS="1")
        consumer, program = self.child(run, "leaktide-drain"), self.child(run, "pairs")
        self.records(".mtt")
        os.kill(consumer, signal.SIGSTOP)
        try:
            self.assertLess(self.ended_in(run, program), 30)
        finally:
            os.kill(consumer, signal.SIGCONT)

    def test_images_of_a_program_whose_clock_stands_have_a_trace_each(self):
        self.assertEqual(self.clock_stands("1", "10000", "5").wait(timeout=60), 0)
        self.nothing_is_lost(5 * 10000)
        self.assertGreaterEqual(len([n for n in os.listdir(self.run_folder) if n.endswith(".mtt")]), 5)

    @unittest.skipUnless(os.geteuid() == 0, "only root may raise a priority")
    def test_a_consumer_that_gets_no_processor_is_raised(self):
        run = self.begin([PAIRS, "1", "50000000"])
        consumer = self.child(run, "leaktide-drain")
        self.records(".mtt")
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
                for _ in range(12)]  # the kernel may share the processors among sessions
        try:
            for process in [consumer] + [one.pid for one in busy]:
                os.sched_setaffinity(process, [min(os.sched_getaffinity(0))])
            os.setpriority(os.PRIO_PROCESS, self.child(run, "pairs"), -20)  # has much to record
            os.setpriority(os.PRIO_PROCESS, consumer, 19)
            end = time.monotonic() + 60
            while os.getpriority(os.PRIO_PROCESS, consumer) == 19 and time.monotonic() < end:
                time.sleep(0.05)
            self.assertLess(os.getpriority(os.PRIO_PROCESS, consumer), 19)
        finally:
            for process in busy:
                process.kill()
                process.wait()
            os.kill(self.child(run, "pairs"), signal.SIGKILL)

    def test_nothing_is_lost_on_a_busy_machine(self):
        processes = int(os.environ.get("LEAKTIDE_TEST_BUSY_PROCESSES", "12"))
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
        try:
            run = self.begin([PAIRS, "64", "20000"])
            self.assertEqual(run.wait(timeout=900), 0)
        finally:
            for process in busy:
                process.kill()
            for process in busy:
                process.wait()
        self.nothing_is_lost(64 * 20000)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:], verbosity=1)
