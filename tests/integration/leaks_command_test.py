"""leaktide run and leaktide leaks, on programs whose leaks are known to the byte.

Run as leaks_command_test.py LEAKTIDE SAMPLE FOLDER-OF-OPENCL-PROGRAMS ('' when they are not built).
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import traced

import report_tables

LEAKTIDE, SAMPLE, OPENCL_PROGRAMS = sys.argv[1:4]
STEPS = 40
KIB = 1024


def command(*arguments):
    env = {name: value for name, value in os.environ.items() if name not in traced.OURS}
    return subprocess.run([LEAKTIDE, *arguments], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=120)


class Recorded(unittest.TestCase):
    def leaks_of(self, *program):
        """Exit status of the program under run, of leaks, and what leaks says."""
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "run.leaktide")
            run = command("run", *traced.DEVICES_ONLY, "--output-path=" + trace, "--", *program)
            leaks = command("leaks", "--format", "json", trace)
        self.assertEqual(leaks.stderr, "")
        return run.returncode, leaks.returncode, report_tables.load(leaks.stdout)

    def sample(self, *options):
        ran, status, report = self.leaks_of(SAMPLE, "--device", self.device, "--steps", str(STEPS),
                                            "--step-ms", "0", *options)
        self.assertEqual(ran, 0)
        findings = [(f["kind"], f["site"].split("+")[0].split(" (")[0], f["growth_bytes_per_step"],
                     f["survivor_count"]) for f in report["findings"]]
        self.assertEqual(status, 1 if findings else 0)
        self.assertEqual(report["facts"]["step_count"], STEPS)
        rows = {row["site"].split("+")[0].split(" (")[0]: row["verdict"] for row in report["tables"]["leaks"]}
        return findings, rows


class Sample:
    def test_leak_is_found_to_the_byte(self):
        self.assertEqual(self.sample(), ([("leak", "remember_metrics", 192 * KIB, STEPS)],
                                         {"remember_metrics": "leak"}))

    def test_fixed_program_has_no_leak(self):
        self.assertEqual(self.sample("--fixed"), ([], {}))

    def test_slow_leak_is_found(self):
        findings, rows = self.sample("--slow-leak", "4")
        self.assertEqual([f[:2] + f[3:] for f in findings], [("leak", "log_histogram", 10)])
        self.assertAlmostEqual(findings[0][2], 16 * KIB, delta=2 * KIB)

    def test_cache_is_no_leak(self):
        self.assertEqual(self.sample("--cache"), ([], {"look_up_embedding": "growing_cache"}))

    def test_sawtooth_is_no_leak(self):
        self.assertEqual(self.sample("--sawtooth"), ([], {"keep_prediction": "sawtooth"}))

    def test_leak_is_found_among_things_that_look_like_one(self):
        findings, rows = self.sample("--leak", "--cache", "--sawtooth", "--oom")
        self.assertEqual(findings, [("leak", "remember_metrics", 192 * KIB, STEPS)])
        self.assertEqual(rows, {"remember_metrics": "leak", "look_up_embedding": "growing_cache",
                                "keep_prediction": "sawtooth"})


class SampleOnPool(Sample, Recorded):
    device = "pool"

    def test_findings_are_numbered_without_gaps(self):
        """What the verdict says word for word is not printed again."""
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "run.leaktide")
            command("run", *traced.DEVICES_ONLY, "--output-path=" + trace, "--", SAMPLE, "--device", "pool", "--steps",
                    str(STEPS), "--step-ms", "0", "--leak")
            text = command("report", trace).stdout
        numbers = [int(number) for number in re.findall(r"^ +(\d+)\. ", text, re.M)]
        self.assertGreater(len(numbers), 1)
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))


class Ranks(Recorded):
    def test_the_rank_that_leaks_differs(self):
        with tempfile.TemporaryDirectory() as folder:
            traces = [os.path.join(folder, "rank%d" % i) for i in range(4)]
            for i, trace in enumerate(traces):
                command("run", "--output-path=" + trace, "--", SAMPLE, "--device", "pool",
                        "--steps", str(STEPS), "--step-ms", "0", "--leak" if i == 2 else "--fixed")
            report = report_tables.load(command("ranks", "--format", "json", *traces).stdout)
        rows = [(row["measure"], (row["name"] or "").split(" ")[0], row["difference_bytes"])
                for row in report["tables"]["rank_differences"]]
        self.assertEqual(len({row["process"] for row in report["tables"]["rank_differences"]}), 1)
        self.assertIn(("growth_per_step", "", 192 * KIB), rows)
        self.assertEqual([row[:2] for row in rows],
                         [("peak", ""), ("site", "remember_metrics"), ("growth_per_step", "")])
        self.assertIn("remember_metrics", report["verdict"][0])


class Unmarked(Recorded):
    """A program that does not say where its steps begin."""

    def of(self, trace, *options):
        return report_tables.load(command("leaks", "--format", "json", *options, trace).stdout)

    def test_steps_are_found_or_named_and_the_leak_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "run.leaktide")
            command("run", *traced.DEVICES_ONLY, "--output-path=" + trace, "--", SAMPLE, "--device", "pool", "--steps",
                    str(STEPS), "--step-ms", "0", "--unmarked", "--leak", "--cache", "--sawtooth")
            found = self.of(trace)
            named = self.of(trace, "--step-site=fetch_batch")
            chosen = self.of(trace, "--step-site=fetch_batch", "--steps=11-30")
            marks_only = self.of(trace, "--step-site=")
        self.assertEqual(found["facts"]["step_count"], STEPS)
        self.assertGreaterEqual(found["facts"]["step_confidence_percent"], 85)
        for report in (found, marks_only):  # without steps, what stays is judged by its age
            leak, = report["findings"]
            self.assertEqual(leak["site"].split(" ")[0], "remember_metrics")
            self.assertAlmostEqual(leak["growth_bytes_per_step"] / KIB, 192, delta=8)
        for report in (named, chosen):
            self.assertEqual([(f["site"].split(" ")[0], f["growth_bytes_per_step"])
                              for f in report["findings"]], [("remember_metrics", 192 * KIB)])
            rows = {row["site"].split(" ")[0]: row["verdict"] for row in report["tables"]["leaks"]}
            self.assertEqual(rows["keep_prediction"], "sawtooth")
        self.assertEqual(chosen["facts"]["judged_step_count"], 20)
        self.assertEqual((marks_only["outcome"], marks_only["facts"]["step_count"]), ("found", 0))

    def test_what_it_is_for_is_told_by_tags_and_lives(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "run.leaktide")
            command("run", *traced.DEVICES_ONLY, "--output-path=" + trace, "--", SAMPLE, "--device", "pool", "--steps",
                    str(STEPS), "--step-ms", "0", "--fixed")
            report = report_tables.load(command("breakdown", "--format", "json", trace).stdout)
        held = {row["category"]: (row["held_bytes"] // KIB, row["confidence_percent"])
                for row in report["tables"]["categories"]
                if row["ledger"].startswith("sample_pool")}
        self.assertEqual(held, {"weights": (12 * KIB, 100), "optimizer_state": (24 * KIB, 100),
                                "gradients": (768, 60), "activations": (24 * KIB, 90),
                                "temporary": (3 * KIB, 75)})


class SampleOnOpenCL(Sample, Recorded):
    device = "opencl"

    @classmethod
    def setUpClass(cls):
        if subprocess.run([SAMPLE, "--device", "opencl", "--steps", "0"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            raise unittest.SkipTest("this machine has no OpenCL platform")


class OneBufferInOneStep(Recorded):
    """A real device allocator: exactly the buffer that one step forgot, and nothing else."""

    def check(self, name):
        program = os.path.join(OPENCL_PROGRAMS, name)
        if not OPENCL_PROGRAMS or subprocess.run(program, stdout=subprocess.DEVNULL).returncode == 77:
            self.skipTest("this machine has no OpenCL platform")
        ran, _, report = self.leaks_of(program)
        self.assertEqual(ran, 0)
        rows = [(row["site"].split("+")[0].split(" (")[0], row["alive_bytes"], row["alive_count"],
                 row["birth_steps"], row["alive_bytes_by_step"])
                for row in report["tables"]["leaks"]]
        self.assertEqual(rows, [("forget_metrics", 48 * KIB, 1, "1 of 5",
                                 [0, 0, 48 * KIB, 48 * KIB, 48 * KIB])])

    def test_of_a_linked_program(self):
        self.check("opencl_linked")

    def test_of_a_program_that_calls_through_pointers(self):
        self.check("opencl_pointers")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
