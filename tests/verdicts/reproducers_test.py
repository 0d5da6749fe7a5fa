# SPDX-License-Identifier: Apache-2.0
"""Wrong answers that came from verdicts which several places put together, each as somebody met it.

Run as reproducers_test.py LEAKTIDE COMPILER INCLUDE PYTHON-MODULES.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE, COMPILER, INCLUDE, MODULES = (os.path.abspath(path) if os.sep in path else path for path in sys.argv[1:5])
FOLDER = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
# A cache that is marked, bounded, and fills to the end: no leak, whoever is asked.
CACHE = """
import functools, leaktide
@functools.lru_cache(maxsize=1000000)
def work(k): return bytes(2000) + str(k).encode()
n = 0
for i in leaktide.steps(range(60)):
    t = [bytes(100) for _ in range(200)]
    for _ in range(40): work(n); n += 1
"""
# Lists of growing lengths, so that no two lines have as many births: no turns are seen.
UNRATED = """
kept = []
for i in range(3000):
    kept.append(bytes(4000 + i % 7))
    if i % 3 == 0: str(i) * 40
"""
# A loop that keeps what it makes; what follows it is not known yet.
KEEPS = """
kept = []
def load():
    t = [bytes(2000) for _ in range(20)]
    return bytes(50000)
for i in range(400):
    kept.append(load())
"""
KEEPS_C = """
#include <stdlib.h>
#include <string.h>
static char *kept[400];
__attribute__((noinline)) static char *load(void)
{
    volatile char *note = malloc(2000);
    note[0] = 1;
    free((char *)note);
    return memset(malloc(50000), 1, 50000);
}
int main(void)
{
    for (int i = 0; i < 400; i++)
        kept[i] = load();
    for (int i = 0; i < 200000; i++) {
        volatile char *block = malloc(64);
        block[0] = 1;
        free((char *)block);
    }
    return kept[0][0] != 1;
}
"""


def leaktide(*arguments, env=None):
    return subprocess.run([LEAKTIDE, *arguments], capture_output=True, text=True, env=env, timeout=120)


def answer(*arguments):
    return json.loads(leaktide(*arguments, "--format=json").stdout)


def device_work(step, device):
    """The copy of a step's mark on a device, which begins later, and two kernels."""
    begin, where = 1000 * step, {"ph": "X", "pid": device, "tid": 7, "dur": 900}
    return [{"cat": "gpu_user_annotation", "name": "ProfilerStep#%d" % step, "ts": begin + 50, **where},
            *({"cat": "kernel", "name": "gemm", "ts": begin + at, **where} for at in (50, 60))]


def chrome_trace(path, steps, leaks=True, marks=True, devices=()):
    """A trace of PyTorch: each step makes 30 blocks of an operator on device 0, and keeps one of them. Without marks
    there is no period. These devices work."""
    events, alive, address = [], 0, 0x7F0000000000

    def memory(time, size, at):
        nonlocal alive
        alive += size
        events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": time, "s": "t",
                       "args": {"Total Reserved": 200 * MIB, "Total Allocated": alive, "Bytes": size, "Addr": at,
                                "Device Id": 0, "Device Type": 1}})

    for step in range(steps):
        begin = 1000 * step
        if marks:
            events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % step, "pid": 1, "tid": 1,
                           "ts": begin, "dur": 900})
        for device in devices:
            events += device_work(step, device)
        for block in range(30):
            time, at = begin + (20 * block if marks else block * block) + 10, address
            address += 8 * MIB
            events.append({"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1, "ts": time - 2, "dur": 8})
            size = 8 * MIB if marks else (1 + block * block % 11) * 65536
            memory(time, size, at)
            if block or not leaks:
                memory(time + 4, -size, at)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    return path


class ReproducersTest(unittest.TestCase):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.folder = self.kept.name
        self.addCleanup(self.kept.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def run_python(self, name, text, *options):
        environment = dict(os.environ, PYTHONMALLOC="malloc", PYTHONPATH=MODULES)
        recording = self.path(name + ".leaktide")
        done = leaktide("run", "-q", "--no-report", "--device=cpu", *options, "-o", recording, "--", sys.executable,
                        self.path(name + ".py", text), env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return recording

    def gate(self, recording, rule):
        return leaktide("gate", "--policy", self.path("leaktide.toml", "[leak]\n%s\n" % rule), recording)

    def test_exports_call_no_cache_a_leak(self):
        recording = self.run_python("cache", CACHE)
        self.assertNotEqual(leaktide("leaks", recording).returncode, 1)
        viz, flame = self.path("viz.json"), self.path("flame.json")
        leaktide("export", "--to=memory-viz-json", "-o", viz, recording)
        leaktide("export", "--to=speedscope", "-o", flame, recording)
        with open(viz, encoding="utf-8") as file:
            self.assertNotIn('"category":"leak"', file.read().replace(" ", ""))
        with open(flame, encoding="utf-8") as file:
            growth = [each for each in json.load(file)["profiles"] if each["name"].startswith("growth")]
        self.assertEqual([sum(each["weights"]) for each in growth if each["weights"]], [])

    def test_names_say_who_called(self):
        program, recording = self.path("helper"), self.path("helper.leaktide")
        subprocess.run([COMPILER, "-O1", "-g", "-fno-optimize-sibling-calls", "-I", INCLUDE, "-o", program,
                        os.path.join(FOLDER, "helper.c")], check=True)
        leaktide("run", "-q", "--no-report", "--device=cpu", "--call-stack=c", "-o", recording, "--", program)
        said = answer("leaks", recording)
        rows = [table for table in said["tables"] if table["name"] == "leaks"][0]["rows"]
        self.assertEqual([row["verdict"] for row in rows], ["leak", "growing_cache"])
        self.assertRegex(rows[0]["site"], r"make \(helper.c:\d+\) < copy")
        self.assertRegex(rows[1]["site"], r"make \(helper.c:\d+\) < cycle")
        self.assertNotEqual(rows[0]["site_key"], rows[1]["site_key"])
        self.assertRegex(said["verdict"][1], r"no block that make \(helper.c:\d+\) < copy:?\d* made was ever freed")

    def test_a_leak_without_turns_does_not_pass(self):
        recording = self.run_python("unrated", UNRATED)
        said = answer("leaks", recording)
        self.assertTrue(said["verdict"][0].startswith("LEAK"), said["verdict"])
        self.assertEqual(self.gate(recording, 'min_slope = "1 B/step"').returncode, 1)
        done = self.gate(recording, 'min_slope = "1 GiB/step"')
        self.assertNotIn("no leak", done.stdout)

    def test_a_loop_is_judged_at_its_own_end(self):
        followed = {"import json, email, http.client": 1, "print(len(kept))": 1, "sum(i * i for i in range(500000))": 4}
        for i, (line, status) in enumerate(followed.items()):
            with self.subTest(line=line):
                recording = self.run_python("followed%d" % i, KEEPS + line + "\n", "--call-stack=python,c")
                self.assertEqual(leaktide("leaks", recording).returncode, status)
                said = answer("leaks", recording)["verdict"][0]
                self.assertRegex(said, r"\b1[89]\.\d MiB")
                self.assertRegex(said, r" at load \(")
                self.assertNotEqual(self.gate(recording, 'min_slope = "1 B/step"').returncode, 0)

    def test_a_loop_of_c_before_other_work_is_not_calm(self):
        program, recording = self.path("keeps"), self.path("keeps.leaktide")
        subprocess.run([COMPILER, "-O1", "-g", "-o", program, self.path("keeps.c", KEEPS_C)], check=True)
        leaktide("run", "-q", "--no-report", "--device=cpu", "--call-stack=c", "-o", recording, "--", program)
        done = leaktide("leaks", recording)
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertRegex(done.stdout, r"^CANNOT SAY whether .* ended .* before the program did, and 1\d\.\d MiB of it .*load \(keeps.c:\d+\)")
        self.assertEqual(self.gate(recording, 'min_slope = "1 B/step"').returncode, 4)

    def test_few_steps_are_no_evidence(self):
        for steps in (1, 2, 3):
            for leaks in (True, False):
                with self.subTest(steps=steps, leaks=leaks):
                    trace = chrome_trace(self.path("few.json"), steps, leaks)
                    self.assertEqual(leaktide("leaks", trace).returncode, 4)
                    self.assertEqual(self.gate(trace, 'min_slope = "1 KiB/step"').returncode, 4)

    def test_copies_of_steps_on_a_device_are_no_steps(self):
        for leaks in (True, False):
            trace = chrome_trace(self.path("few.json"), 3, leaks, devices=[0])
            self.assertEqual(leaktide("leaks", trace).returncode, 4)
            self.assertEqual(self.gate(trace, 'min_slope = "1 KiB/step"').returncode, 4)
        said = [answer("leaks", chrome_trace(self.path("copies.json"), 12, devices=devices))["verdict"][0]
                for devices in ((), (0,))]
        self.assertEqual(said[0], said[1])
        self.assertRegex(said[0], "^LEAK: 8.00 MiB per step .* 10 of 10 steps")

    def test_a_device_without_recorded_memory_is_not_judged(self):
        for steps, marks in ((12, True), (1, False)):
            trace = chrome_trace(self.path("unrecorded.json"), steps, leaks=False, marks=marks, devices=[0, 3])
            done = leaktide("leaks", trace)
            self.assertEqual(done.returncode, 4, done.stdout)
            self.assertRegex(done.stdout, "^CANNOT SAY whether .*: %d kernels ran on device 3, and no memory of it" % (2 * steps))
            self.assertEqual(self.gate(trace, 'min_slope = "1 KiB/step"').returncode, 4)
        trace = chrome_trace(self.path("leaks.json"), 12, devices=[0, 3])
        self.assertEqual(leaktide("leaks", trace).returncode, 1)

    def test_a_device_may_have_two_numbers(self):
        trace = chrome_trace(self.path("agent.json"), 12, leaks=False, devices=[2])
        done = leaktide("leaks", trace)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, "^No leak in 10 steps")

    def test_operators_without_call_stacks_are_no_turns(self):
        trace = chrome_trace(self.path("window.json"), 1, leaks=False, marks=False)
        self.assertEqual(leaktide("leaks", trace).returncode, 4)
        self.assertEqual(self.gate(trace, 'min_slope = "1 KiB/step"').returncode, 4)

    def test_one_recording_says_nothing_of_another(self):
        good, short = chrome_trace(self.path("good.json"), 12, leaks=False), chrome_trace(self.path("short.json"), 2)
        self.assertEqual(leaktide("leaks", good).returncode, 0)
        for together in ((good, short), (short, good)):
            done = leaktide("leaks", *together)
            self.assertEqual(done.returncode, 4, done.stdout)
            self.assertNotIn("No leak in", done.stdout)

    def test_what_is_within_a_limit_is_still_a_leak(self):
        trace = chrome_trace(self.path("leak.json"), 12)
        done = self.gate(trace, 'min_slope = "1 GiB/step"')
        self.assertEqual(done.returncode, 0)
        self.assertIn("1 leak, within the limits of [leak]", done.stdout)
        self.assertNotIn("no leak", done.stdout)

    def test_why_is_told(self):
        trace = chrome_trace(self.path("leak.json"), 12)
        rows = [table for table in answer("leaks", trace)["tables"] if table["name"] == "why"][0]["rows"]
        self.assertEqual({row["rule"] for row in rows if row["judged_by"] == "steps"}, {"leak"})
        self.assertNotIn("steps left blocks that stay", leaktide("leaks", trace).stdout.split("Why")[-1][:60])
        self.assertIn("10 of 10 steps left blocks that stay", leaktide("leaks", "--why=addmm", trace).stdout)
        self.assertNotIn("steps left blocks that stay", leaktide("leaks", "--why=nobody", trace).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
