# SPDX-License-Identifier: Apache-2.0
"""leaktide account where /proc is hard to read: mappings that come and go, processes that die, what is hidden.

Run as account_hostile_test.py LEAKTIDE. What needs a mount of its own is left out where none can be made.
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LEAKTIDE = os.path.realpath(sys.argv[1])
MIB = 1 << 20
NOBODY = 65534

# Holds 32 MiB; a thread maps and unmaps up to 16 MiB more all the time.
CHURN = """
import mmap, random, threading
held = bytearray(32 << 20)
def churn():
    mappings = []
    while True:
        mappings.append(mmap.mmap(-1, 4096 * random.randrange(1, 65), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        mappings[-1][:] = b"x" * len(mappings[-1])
        if len(mappings) > 64:
            mappings.pop(random.randrange(len(mappings))).close()
threading.Thread(target=churn, daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""
# As many small blocks as make looking into its heap the longest part of an account.
HEAP = """
blocks = [bytes(600) for _ in range(60000)]
blocks = blocks[::2]
print("ready", flush=True)
input()
"""


def in_own_mounts(command):
    """Runs a shell's line where mounts are its own; None: that is not allowed here."""
    done = subprocess.run(["unshare", "-m", "--propagation", "private", "/bin/sh", "-c", command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    return None if "unshare: " in done.stderr or "mount: " in done.stderr else done


def parts_of(answer):
    tables = {table["name"]: table["rows"] for table in json.loads(answer)["tables"]}
    return {row["part"]: row["resident_bytes"] for row in tables["resident"]}, tables


class Hostile(unittest.TestCase):
    def setUp(self):
        self.started = []

    def tearDown(self):
        for program in self.started:
            program.kill()
            program.wait()
            program.stdin.close()
            program.stdout.close()

    def start(self, text):
        program = subprocess.Popen([os.path.realpath(sys.executable), "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True)
        self.started.append(program)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def test_mappings_that_come_and_go(self):
        program = self.start(CHURN)
        for _ in range(30):
            done = subprocess.run([LEAKTIDE, "account", "--format=json", str(program.pid)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            parts, _ = parts_of(done.stdout)
            self.assertEqual(sum(parts.values()), 2 * parts["resident"])
            self.assertGreater(parts["resident"], 32 * MIB)
            self.assertLess(parts["resident"], 96 * MIB)
            self.assertLessEqual(parts.get("unexplained", 0), parts["resident"] / 20)

    def test_processes_that_are_killed_while_their_heap_is_read(self):
        chance = random.Random(20)
        outcomes = set()
        program, start = self.start(HEAP), time.monotonic()
        subprocess.run([LEAKTIDE, "account", str(program.pid)], stdout=subprocess.DEVNULL, timeout=60, check=True)
        whole = time.monotonic() - start
        for _ in range(40):
            program = self.start(HEAP)
            asked = subprocess.Popen([LEAKTIDE, "account", str(program.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     text=True)
            time.sleep(chance.uniform(0, 2 * whole))
            program.send_signal(signal.SIGKILL)
            program.wait()
            said, error = asked.communicate(timeout=30)
            self.assertIn(asked.returncode, (0, 3), error)
            self.assertEqual(error.count("\n"), 1 if asked.returncode else 0, error)
            self.assertRegex(said + error, r"has \S+ MiB resident|^leaktide: ")
            outcomes.add(asked.returncode)
        self.assertEqual(len(outcomes), 2, "all died before or after they were read")

    def test_a_process_that_is_hidden(self):
        program = self.start(HEAP)
        done = in_own_mounts("mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid %d --regid %d --clear-groups %s account %d"
                             % (NOBODY, NOBODY, LEAKTIDE, program.pid))
        if done is None or "setpriv" in done.stderr or os.geteuid() != 0:
            self.skipTest("/proc cannot be mounted here")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr, "leaktide: process %d: /proc hides processes of other users here; ask as its user, or as "
                                      "root\n" % program.pid)

    def test_own_processes_where_others_are_hidden(self):
        done = in_own_mounts("mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid %d --regid %d --clear-groups /bin/sh -c "
                             "'sleep 20 & %s account --format=json $!; kill $!'" % (NOBODY, NOBODY, LEAKTIDE))
        if done is None or "setpriv" in done.stderr or os.geteuid() != 0:
            self.skipTest("/proc cannot be mounted here")
        self.assertEqual(done.returncode, 0, done.stderr)
        parts, _ = parts_of(done.stdout)
        self.assertEqual(sum(parts.values()), 2 * parts["resident"])
        self.assertGreater(parts["blocks_of_malloc"], 0)

    def test_no_files_of_the_cgroup(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace")
            done = in_own_mounts("mount -t tmpfs tmpfs /sys/fs/cgroup && %s account --format=json $$ && cd %s && %s run --quiet -o %s "
                                 "--device=cpu -- %s -c 'import time; kept = [bytes(9000) for _ in range(5000)]; time.sleep(2)' >&2"
                                 % (LEAKTIDE, folder, LEAKTIDE, trace, os.path.realpath(sys.executable)))
            if done is None:
                self.skipTest("no file system can be mounted here")
            self.assertEqual(done.returncode, 0, done.stderr)
            parts, tables = parts_of(done.stdout)
            self.assertEqual(sum(parts.values()), 2 * parts["resident"])
            self.assertEqual(tables.get("cgroup", []), [])
            recorded = subprocess.run([LEAKTIDE, "account", "--format=json", trace], stdout=subprocess.PIPE, timeout=60, check=True)
            parts, tables = parts_of(recorded.stdout)
            self.assertGreater(parts["resident"], 40 * MIB)
            self.assertEqual(tables.get("cgroup", []), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
