"""--watch: check sums and contents of tensors before and after operators.

    watch_test.py BIN PROGRAMS [unittest arguments]

The program is watch.c; what its tensors hold is known, so the sums are made here in another way.
"""

import csv
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

BIN, PROGRAMS = sys.argv[1:3]
TENSOR_BYTES = 5 * 1024 * 1024 + 3


def crc64(data):
    """CRC-64 of ECMA-182, a byte a turn."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0xc96c5795d7870f42 if byte & 1 else 0)
        table.append(byte)
    value = 0xffffffffffffffff
    for byte in data:
        value = value >> 8 ^ table[value & 0xff ^ byte]
    return value ^ 0xffffffffffffffff


_SUMS = {}


def sum_of(value):
    """Of a tensor of this byte."""
    if value not in _SUMS:
        _SUMS[value] = "%016x" % crc64(bytes([value]) * TENSOR_BYTES)
    return _SUMS[value]


class WatchTest(unittest.TestCase):
    maxDiff = None

    def run_program(self, watch, *words, name="msmemscope", options=()):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("LEAKTIDE_")}
        command = [os.path.join(BIN, name), "--output-path=" + os.path.join(folder, "out"),
                   *(["--watch=" + watch] if watch else []), *options, "--",
                   os.path.join(PROGRAMS, "compat_watch"), *words]
        self.done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   universal_newlines=True, timeout=60, env=environment)
        self.assertNotIn("cannot be", self.done.stdout)
        return os.path.join(folder, "out")

    def files(self, out, pattern):
        return sorted(glob.glob(os.path.join(out, "*_ascend/device_1/watch_dump", pattern)))

    def names(self, texts):
        """Without device and thread: ("aten.make_1-aten.make_0_after", ...)."""
        return [re.fullmatch(r"1_\d+_(.*)\.bin", text).group(1) for text in texts]

    def sums(self, out):
        paths = self.files(out, "watch_dump_data_check_sum_*.csv")
        self.assertEqual(len(paths), 1, (paths, self.done.stderr))
        with open(paths[0], newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0], ["Tensor info", "Check data sum"])
        return list(zip(self.names(row[0] for row in rows[1:]), (row[1] for row in rows[1:])))

    def test_the_sum_is_that_of_the_standard(self):
        self.assertEqual("%016x" % crc64(b"123456789"), "995dc9bbdf1939fa")

    def test_an_output_is_read_around_every_operator(self):
        sums = self.sums(self.run_program("aten.make:0,aten.last"))
        self.assertEqual(sums, [
            ("aten.make_1-aten.make_0_after", sum_of(1)),
            ("aten.add.x_1-aten.make_0_before", sum_of(1)),
            ("aten.add.x_1-aten.make_0_after", sum_of(3)),
            ("aten.look_1-aten.make_0_before", sum_of(3)),
            ("aten.look_1-aten.make_0_after", sum_of(3)),
            ("aten.last_1-aten.make_0_before", sum_of(3)),
            ("aten.last_1-aten.make_0_after", sum_of(3))])
        self.assertEqual(self.done.returncode, 0)

    def test_operators_that_are_told_are_operators(self):
        told, marked = (self.sums(self.run_program("aten.make:0,aten.last", *words)) for words in (["told"], []))
        self.assertEqual(told, marked)

    def test_without_a_number_all_outputs_are_read_each_time(self):
        sums = self.sums(self.run_program("aten.make,aten.add/x", "twice"))
        step = [("make_%d-aten.make_0_after", 1), ("make_%d-aten.make_1_after", 2),
                ("add.x_%d-aten.make_0_before", 1), ("add.x_%d-aten.make_1_before", 2),
                ("add.x_%d-aten.make_0_after", 3), ("add.x_%d-aten.make_1_after", 2)]
        self.assertEqual(sums, [("aten." + name % run, sum_of(value)) for run in (1, 2)
                                for name, value in step])

    def test_full_content_is_the_bytes(self):
        out = self.run_program("aten.make:1,aten.add/x,full-content")
        paths = self.files(out, "*")
        self.assertEqual(sorted(self.names(map(os.path.basename, paths))),
                         ["aten.add.x_1-aten.make_1_after", "aten.add.x_1-aten.make_1_before",
                          "aten.make_1-aten.make_1_after"])
        for path in paths:
            with open(path, "rb") as file:
                self.assertEqual(file.read(), b"\2" * TENSOR_BYTES)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_a_freed_tensor_is_forgotten(self):
        sums = self.sums(self.run_program("aten.make:1,aten.last", "free"))
        self.assertEqual([name for name, _ in sums],
                         ["aten.make_1-aten.make_1_after", "aten.add.x_1-aten.make_1_before",
                          "aten.add.x_1-aten.make_1_after"])

    def test_a_copy_that_fails_is_told_and_the_program_goes_on(self):
        sums = self.sums(self.run_program("aten.make:0,aten.last", "fail"))
        self.assertEqual(self.done.returncode, 0)
        self.assertNotIn("aten.add.x_1-aten.make_0_after", dict(sums))
        self.assertEqual(len(sums), 6)
        self.assertRegex(self.done.stderr,
                         r"--watch: 1_\d+_aten.add.x_1-aten.make_0_after.bin was not read: copying "
                         r"4194304 bytes at 0x[0-9a-f]+ failed with 107000")

    def test_a_killed_program_loses_nothing(self):
        out = self.run_program("aten.make:0,aten.last", "kill")
        self.assertEqual(self.done.returncode, 128 + signal.SIGKILL)
        self.assertEqual(self.sums(out)[-1], ("aten.add.x_1-aten.make_0_after", sum_of(3)))

    def test_a_tensor_of_the_program_is_read_so_often(self):
        sums = self.sums(self.run_program(",aten.last", "address", "twice"))
        self.assertEqual([name for name, _ in sums],
                         ["aten.make_1-mine_0_before", "aten.make_1-mine_0_after",
                          "aten.add.x_1-mine_0_before", "aten.add.x_1-mine_0_after"])
        self.assertEqual([value for _, value in sums],
                         [sum_of(0), sum_of(1), sum_of(1), sum_of(3)])

    def test_without_the_option_the_program_may_watch(self):
        sums = self.sums(self.run_program(None, "address"))
        self.assertEqual(len(sums), 4)

    def test_what_is_no_memory_is_given_up(self):
        out = self.run_program(",aten.last", "nowhere")
        self.assertEqual(self.done.returncode, 0)
        self.assertEqual(self.files(out, "*"), [])
        self.assertIn("mine is no longer watched: it could not be read 3 times in a row",
                      self.done.stderr)

    def test_an_operator_that_never_runs_is_told(self):
        out = self.run_program("aten.other,aten.last")
        self.assertEqual(self.files(out, "*"), [])
        self.assertIn("nothing was read: no output of aten.other was reported", self.done.stderr)

    def test_an_output_that_is_not_there_is_told(self):
        self.run_program("aten.make:7,aten.last")
        self.assertIn("aten.make reported 2 outputs: there is nothing to watch", self.done.stderr)

    def test_the_old_name_has_the_old_layout(self):
        out = self.run_program("aten.make:0,aten.make", name="msleaks")
        found = glob.glob(os.path.join(out, "watch_dump/watch_dump_data_check_sum_1_*.csv"))
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
