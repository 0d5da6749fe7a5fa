"""A program that is spoken to while it runs: by socket, by a file, and by its environment.

    control_test.py BIN PROGRAMS [unittest arguments]
"""

import csv
import glob
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN, PROGRAMS = sys.argv[1:3]
LEAKTIDE = os.path.join(BIN, "leaktide")


class ControlTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.run_folder = os.path.join(self.folder, "run.leaktide")

    def start(self, *options, program="compat_steps", environment=None, before=()):
        """Runs until its standard input is closed; each line there is one more step."""
        variables = {key: value for key, value in os.environ.items()
                     if not key.startswith("LEAKTIDE_")}
        variables.update(environment or {})
        self.process = subprocess.Popen(
            [LEAKTIDE, "run", "--quiet", "--device=npu,gpu,opencl", "--output-path=" + self.run_folder, *options, "--",
             *before, os.path.join(PROGRAMS, program)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True, env=variables,
            cwd=self.folder)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.kill)
        self.pid = int(self.process.stdout.readline())

    def steps(self, count):
        for _ in range(count):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            self.process.stdout.readline()

    def finish(self):
        self.process.stdin.close()
        self.assertEqual(self.process.wait(timeout=30), 0)

    def say_as_msmemscope(self, words):
        done = subprocess.run([os.path.join(BIN, "msmemscope"), "--pid=%d" % self.pid,
                               "--command=" + words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=30)
        return done.returncode, done.stdout + done.stderr

    def test_words_of_msmemscope_are_understood(self):
        self.start()
        self.steps(1)
        self.say("status")
        for words, status, answer in (
                ("start", 0, "ok recording"), ("stop", 0, "ok paused"), ("step", 0, "ok step"),
                ("help", 0, "display memory summary"), ("exit", 0, "session"),
                ("display config", 0, "process %d" % self.pid),
                ("display memory block --pool hal --TOPN 5", 0, "leaktide blocks"),
                ("display host_leak summary", 0, "leaktide leaks"),
                ("displays", 2, "the words are"), ("set config --analysis=leaks", 0, "ok"),
                ("set config --output=here", 2, "command line")):
            with self.subTest(words=words):
                got = self.say_as_msmemscope(words)
                self.assertEqual(got[0], status, got[1])
                self.assertIn(answer, got[1])
        self.finish()

    def say(self, *words, status=0):
        deadline = time.monotonic() + 20
        while True:
            done = subprocess.run([LEAKTIDE, "ctl", str(self.pid), *words], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, universal_newlines=True, timeout=30)
            if done.returncode != 3 or time.monotonic() > deadline:
                break  # 3: it does not listen yet
            time.sleep(0.02)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def sizes(self):
        """Of the blocks that were recorded: the program takes 1000 + n bytes in step n."""
        exported = subprocess.run([LEAKTIDE, "export", "--to=memscope-csv", self.run_folder],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  universal_newlines=True)
        return [int(line.split("size:")[1].split(",")[0]) - 1000
                for line in exported.stdout.splitlines() if ",MALLOC,HAL," in line]

    def test_deferred_waits_for_start(self):
        self.start("--collect-mode=deferred")
        self.assertIn("ok paused", self.say("status"))
        self.steps(2)
        self.say("start")
        self.steps(2)
        self.say("stop")
        self.steps(2)
        self.finish()
        self.assertEqual(self.sizes(), [3, 4])

    def test_status_and_snapshot(self):
        self.start()
        self.steps(3)
        said = self.say("status")
        self.assertIn("ok recording", said)
        self.assertIn("step 3", said)
        self.assertIn(self.run_folder, said)
        self.say("snapshot", "before", "the", "end")
        while "account " not in said:
            said = self.say("status")
        self.assertRegex(said, r"\naccount \d+ ms ago, \d+ B\n")
        parts = [int(size) for size in re.findall(r"\n  [a-z ]+ (\d+) B", said)]
        self.assertEqual(sum(parts), int(re.search(r"ago, (\d+) B", said)[1]))
        os.kill(self.pid, signal.SIGKILL)
        self.assertEqual(self.process.wait(timeout=30), 128 + signal.SIGKILL)
        self.process.stdin.close()
        self.assertEqual(self.sizes(), [1, 2, 3])

    def test_steps_are_exact(self):
        self.start()
        self.say("set", "steps=2-3")
        self.steps(5)
        self.finish()
        self.assertEqual(self.sizes(), [2, 3])

    def facts(self, *options):
        done = subprocess.run([LEAKTIDE, "leaks", "--format=json", *options, self.run_folder], stdout=subprocess.PIPE,
                              universal_newlines=True)
        answer = json.loads(done.stdout)
        return answer["facts"], " ".join(answer["verdict"])

    def test_steps_in_a_pause_are_none(self):
        self.start()
        self.say("set", "steps=15-20")
        self.steps(24)
        self.finish()
        facts, verdict = self.facts()
        self.assertEqual((facts["step_count"], facts["passed_step_count"], facts["judged_step_count"]), (6, 18, 6))
        self.assertRegex(verdict, r"LEAK: .* 6 of 6 steps")

    def test_steps_left_out_between_are_none(self):
        self.start()
        self.steps(30)
        self.finish()
        for options in [], ["--steps=5-10"], ["--wait=2", "--active=5", "--repeat=3"]:
            rate = re.search(r"LEAK: (\d+) B per step", self.facts(*options)[1])
            self.assertTrue(rate and 1000 < int(rate[1]) <= 1030, (options, rate))  # 1000 + n in step n

    def test_step_is_begun_from_outside(self):
        self.start()
        self.assertIn("ok step 1", self.say("step"))
        self.assertIn("ok step 2", self.say("step"))
        self.finish()

    def test_wrong_words(self):
        self.start()
        self.steps(1)
        self.assertIn("the words are start, stop", self.say("begin", status=2))
        self.assertIn("events are alloc", self.say("set", "events=all", status=2))
        self.assertIn("steps are all", self.say("set", "steps=3-1", status=2))
        self.assertIn("cpu cannot come later", self.say("set", "device=npu,cpu", status=2))
        self.assertIn("devices are npu", self.say("set", "device=npu:64", status=2))
        self.assertIn("levels are op", self.say("set", "level=op,x", status=2))
        self.assertIn("call-stack is none", self.say("set", "call-stack=c:1001", status=2))
        self.assertIn("host-leaks cannot", self.say("set", "analysis=leaks,host-leaks", status=2))
        self.assertIn("analyses are leaks", self.say("set", "analysis=leak", status=2))
        self.assertIn("collect-mode is", self.say("set", "collect-mode=later", status=2))
        self.assertIn("watch is [START", self.say("set", "watch=a", status=2))
        self.assertIn("belongs to the command line", self.say("set", "format=db", status=2))
        self.finish()

    def test_stacks_of_python_cannot_come_later(self):
        self.start("--call-stack=c")
        self.steps(1)
        self.assertIn("without stacks of Python", self.say("set", "call-stack=python:5", status=2))
        self.finish()

    def rows(self, *columns):
        exported = subprocess.run([LEAKTIDE, "export", "--to=memscope-csv", self.run_folder],
                                  stdout=subprocess.PIPE, universal_newlines=True, check=True)
        return list(csv.DictReader(io.StringIO(exported.stdout)))

    def test_devices_are_chosen(self):
        self.start()
        self.steps(1)
        self.say("set", "device=npu:3")
        self.steps(2)
        self.say("set", "device=npu:3,npu:0")
        self.steps(1)
        self.say("set", "device=npu")
        self.steps(1)
        self.finish()
        self.assertEqual(self.sizes(), [1, 4, 5])

    def test_devices_are_chosen_from_the_start(self):
        self.start("--device=npu:1,npu:2")
        self.steps(2)
        self.say("set", "device=npu:0")
        self.steps(1)
        self.finish()
        self.assertEqual(self.sizes(), [3])

    def test_collect_mode_is_start_and_stop(self):
        self.start("--collect-mode=deferred")
        self.say("set", "collect-mode=immediate")
        self.steps(1)
        self.say("set", "collect-mode=deferred")
        self.steps(1)
        self.finish()
        self.assertEqual(self.sizes(), [1])

    def test_call_stacks_get_deeper(self):
        self.start("--call-stack=c:1")
        self.steps(1)
        self.say("set", "call-stack=c:3")
        self.steps(1)
        self.say("set", "call-stack=none")
        self.steps(1)
        self.finish()
        depths = [row["Call Stack(C)"].count("\n") + 1 for row in self.rows()
                  if row["Event"] == "MALLOC"]
        self.assertLess(depths[0], depths[1])  # of each frame, what was inlined stands there too
        self.assertLessEqual(depths[2], depths[0])  # none: the caller alone

    def test_levels_and_analyses_choose_events(self):
        self.start(program="compat_operators")
        self.steps(1)
        self.say("set", "level=kernel")
        self.steps(1)
        self.say("set", "level=op")
        self.steps(1)
        self.say("set", "level=op,kernel")
        self.say("set", "analysis=inefficient")
        self.steps(1)
        self.finish()
        seen = [row["Event Type"] for row in self.rows()
                if row["Event"] in ("OP_LAUNCH", "KERNEL_LAUNCH", "ACCESS")]
        operator = ["ATEN_START", "ATEN_END"]
        self.assertEqual(seen, operator + ["KERNEL_LAUNCH"] + operator +
                         ["ATEN_START", "WRITE", "KERNEL_LAUNCH", "ATEN_END"])

    def test_old_tool_speaks_to_it_too(self):
        self.start()
        self.steps(1)
        self.say("status")  # it listens
        done = subprocess.run([os.path.join(BIN, "msmemscope"), "--pid", str(self.pid),
                               "--command=status"], stdout=subprocess.PIPE,
                              universal_newlines=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("ok recording", done.stdout)
        self.finish()

    def test_nobody_is_heard_when_it_is_not_wanted(self):
        self.start("--control=no")
        self.steps(1)
        done = subprocess.run([LEAKTIDE, "ctl", str(self.pid), "status"], stderr=subprocess.PIPE,
                              universal_newlines=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no recorder answers", done.stderr)
        self.finish()

    def test_a_file_is_watched(self):
        path = os.path.join(self.folder, "profiler_config.json")
        with open(path, "w") as file:
            json.dump({"start_step": 2, "active": 1, "rank_list": [], "prof_dir": "x"}, file)
        self.start("--control-file=" + path)
        self.wait_for("paused")
        self.steps(3)
        with open(path, "w") as file:
            json.dump({"start_step": 5, "stop_step": 6}, file)
        time.sleep(0.8)  # it is looked at five times a second
        self.steps(4)
        self.finish()
        self.assertEqual(self.sizes(), [2, 5, 6])

    def write_control(self, **keys):
        path = os.path.join(self.folder, "profiler_config.json")
        with open(path + ".new", "w") as file:
            json.dump(keys, file)
        os.rename(path + ".new", path)

    def test_a_relative_file_is_the_launchers_and_is_read_before_the_first_step(self):
        elsewhere = ("sh", "-c", 'cd / && exec "$0"')
        named = "control-file=profiler_config.json"
        of_environment = ({}, {"LEAKTIDE_OPTIONS": "--device=cpu --" + named},
                          {"LEAKTIDE_OPTIONS": '{"control_file": "profiler_config.json"}'})
        self.write_control(start_step=3, stop_step=4)
        for variables in of_environment:
            with self.subTest(variables=variables):
                self.start(*([] if variables else ["--" + named]), environment=variables,
                           before=elsewhere)
                self.steps(5)
                self.finish()
                self.assertEqual(self.sizes(), [3, 4])
                shutil.rmtree(self.run_folder)

    def test_a_file_that_is_not_there_yet_is_waited_for(self):
        self.start("--control-file=profiler_config.json")
        self.steps(2)
        self.write_control(profile_memory=False)
        self.wait_for("paused")
        self.steps(2)
        self.finish()
        self.assertEqual(self.sizes(), [1, 2])

    def test_what_cannot_be_read_is_said(self):
        with open(os.path.join(self.folder, "no.json"), "w") as file:
            file.write("start_step: 5")
        for named, why in ((".", "Is a directory"), ("no.json", "not a JSON object"),
                           ("x" * 600, "longer than"), ("no.json/x", "Not a directory")):
            for variables in (None, {"LEAKTIDE_OPTIONS": "--control-file=" + named}):
                command = [LEAKTIDE, "run", "-q", "-o", self.run_folder]
                command += [] if variables else ["--control-file=" + named]
                done = subprocess.run([*command, "--", "true"], stderr=subprocess.PIPE,
                                      universal_newlines=True, cwd=self.folder,
                                      env={**os.environ, **(variables or {})})
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("control-file", done.stderr)
                self.assertIn(why, done.stderr)
                self.assertFalse(os.path.exists(self.run_folder))

    def wait_for(self, word):
        deadline = time.monotonic() + 20
        while word not in self.say("status"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_everything_by_the_environment(self):
        options = json.dumps({"start_step": 3, "stop_step": 4, "sample_ms": 5, "device": "npu"})
        self.start(environment={"LEAKTIDE_OPTIONS": options})
        self.steps(5)
        self.finish()
        self.assertEqual(self.sizes(), [3, 4])

    def test_a_rank_that_is_not_listed_records_nothing(self):
        options = json.dumps({"rank_list": [0, 1], "profile_memory": True})
        self.start(environment={"LEAKTIDE_OPTIONS": options, "RANK": "5"})
        self.steps(2)
        self.finish()
        self.assertEqual(self.sizes(), [])

    def test_no_signal_is_taken(self):
        self.start()
        self.steps(1)
        self.say("status")
        for path in glob.glob("/proc/%d/task/*/status" % self.pid):
            with open(path) as file:
                caught = [line for line in file if line.startswith("SigCgt:")]
            of_the_c_library = 3 << 31  # 32 and 33
            self.assertEqual(int(caught[0].split()[1], 16) & ~of_the_c_library, 0)
        self.finish()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:], verbosity=1)
