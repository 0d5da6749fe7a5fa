"""The first run of somebody who has read nothing: no options, no accelerator.

Run as first_run_test.py LEAKTIDE.
"""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE = sys.argv[1]
LEAK = """
kept = []
for turn in range(80):
    kept.append(bytearray(3000))
    scratch = [bytearray(500) for _ in range(10)]
"""
HAS_DEVICE = any(glob.glob(nodes) for nodes in ("/dev/davinci[0-9]*", "/dev/nvidia[0-9]*", "/dev/dxg", "/dev/kfd"))


class FirstRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.script = os.path.join(self.folder, "leak.py")
        with open(self.script, "w") as file:
            file.write(LEAK)

    def command(self, *words, **variables):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("LEAKTIDE_") and name != "LD_PRELOAD"}
        return subprocess.run([LEAKTIDE, *words], cwd=self.folder, env=dict(env, **variables), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=120)

    def run_it(self, *options, program=None, **variables):
        return self.command("run", *options, "-o", os.path.join(self.folder, "run"), "--",
                            *(program or [sys.executable, "leak.py"]), **variables)

    @unittest.skipIf(HAS_DEVICE, "this machine has an accelerator")
    def test_a_python_leak_is_named_at_its_line(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 0)
        self.assertIn("no accelerator is on this machine", done.stderr)
        self.assertRegex(done.stderr, r"LEAK: .* at <module> \(.*leak\.py:4\)")

    @unittest.skipIf(HAS_DEVICE, "this machine has an accelerator")
    def test_a_script_that_names_python_is_a_python_program(self):
        with open(self.script, "w") as file:
            file.write("#!%s\n%s" % (sys.executable, LEAK))
        os.chmod(self.script, 0o755)
        self.assertRegex(self.run_it(program=["./leak.py"]).stderr, r"LEAK: .* \(.*leak\.py:5\)")

    def test_what_is_chosen_is_not_changed(self):
        for options, variables in ((("--device=npu,gpu,opencl",), {}),
                                   ((), {"LEAKTIDE_OPTIONS": "--device=npu,gpu,opencl"})):
            done = self.run_it(*options, **variables)
            self.assertNotIn("accelerator", done.stderr)
            self.assertIn("nothing was recorded", done.stderr)

    def test_quiet_is_quiet(self):
        self.assertEqual(self.run_it("-q").stderr, "")

    def test_doctor_says_what_there_is(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = self.command("doctor", TMPDIR=scratch)
            self.assertEqual(os.listdir(scratch), [])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("ls was recorded, and the recording is complete", done.stdout)
        self.assertIn("none; the host heap" if not HAS_DEVICE else "recorded by --device=", done.stdout)
        self.assertRegex(done.stdout, r"\nPython\n  (cpython 3\.|no python3)")

    def test_doctor_without_python(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = self.command("doctor", PATH="/nowhere", TMPDIR=scratch)
            self.assertEqual(os.listdir(scratch), [])
        self.assertIn("no python3 in PATH", done.stdout)
        self.assertEqual(done.returncode, 3)  # nor is there an ls
        self.assertIn("ls was not recorded", done.stdout)

    def test_doctor_takes_nothing(self):
        self.assertEqual(self.command("doctor", "x").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
