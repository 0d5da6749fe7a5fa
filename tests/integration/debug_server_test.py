# SPDX-License-Identifier: Apache-2.0
"""Debug data comes from a debuginfod server, where one is named.

Run as debug_server_test.py LEAKTIDE COMPILER. The server is elfutils' own, on this machine.
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import traced

LEAKTIDE, COMPILER = sys.argv[1:3]
PROGRAM = """
#include <stdlib.h>
static void *kept[1000];
static __attribute__((noinline)) void *forward(int i) { void *p = malloc(4096 + (unsigned)i % 2); return p; }
int main(void)
{
    for (int i = 0; i < 1000; i++) { kept[i] = forward(i); free(malloc(100)); }
    return kept[5] == 0;
}
"""
LONGEST_S = 30  # to give up a server that is silent; the client alone would wait for 90


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class DebugServer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in traced.OURS and not name.startswith("DEBUGINFOD")}
        self.environment.update(XDG_CACHE_HOME=self.path("cache"),
                                DEBUGINFOD_CACHE_PATH=self.path("client"))
        os.mkdir(self.path("served"))
        with open(self.path("train.c"), "w", encoding="ascii") as file:
            file.write(PROGRAM)
        self.do(COMPILER, "-g", "-O1", "-Wl,--build-id", "-o", "train", "train.c")
        self.do("objcopy", "--only-keep-debug", "train", "served/train.debug")
        self.do("strip", "train")
        self.do(LEAKTIDE, "run", "--device=cpu", "--call-stack=c", "-o", "recording", "--", self.path("train"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def do(self, *words):
        done = subprocess.run(words, env=self.environment, cwd=self.folder, capture_output=True,
                              text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def serve(self):
        port = free_port()
        server = subprocess.Popen(["debuginfod", "-d", ":memory:", "-p", str(port), "-F", self.path("served")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        notes = subprocess.run(["readelf", "-n", self.path("served/train.debug")], capture_output=True, text=True,
                               check=True).stdout
        address = "http://127.0.0.1:%d" % port
        wanted = "%s/buildid/%s/debuginfo" % (address, notes.split("Build ID: ")[1].split()[0])
        for _ in range(300):
            try:
                urllib.request.urlopen(wanted, timeout=5).close()
                return address
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        return self.fail("debuginfod does not serve what it should")

    def test_lines_come_from_the_server(self):
        without = self.do(LEAKTIDE, "peak", "recording")
        self.assertNotIn("forward", without)
        self.environment["DEBUGINFOD_URLS"] = self.serve()
        answer = self.do(LEAKTIDE, "peak", "recording")
        self.assertIn("forward (train.c:4)", answer)
        self.assertIn("modules whose debug data came from debuginfod", answer)
        self.assertIn("train+0x", without)

    def test_they_come_also_when_the_program_is_gone(self):
        shutil.rmtree(self.path("recording/names"))
        os.unlink(self.path("train"))
        self.environment["DEBUGINFOD_URLS"] = self.serve()
        self.assertIn("forward (train.c:4)", self.do(LEAKTIDE, "peak", "recording"))

    def test_they_are_better_than_names_that_were_kept_without_lines(self):
        self.do(COMPILER, "-g", "-O1", "-Wl,--build-id", "-o", "train", "train.c")
        self.do("strip", "--strip-debug", "train")
        self.do(LEAKTIDE, "run", "--device=cpu", "--call-stack=c", "-o", "named", "--", self.path("train"))
        os.unlink(self.path("train"))
        without = self.do(LEAKTIDE, "peak", "named")
        self.assertIn("forward+0x", without)
        self.assertIn("without debug data", without)
        self.environment["DEBUGINFOD_URLS"] = self.serve()
        self.assertIn("forward (train.c:4)", self.do(LEAKTIDE, "peak", "named"))

    def test_a_server_that_knows_nothing_changes_nothing(self):
        without = self.do(LEAKTIDE, "peak", "recording")
        os.rename(self.path("served/train.debug"), self.path("elsewhere"))
        self.environment["DEBUGINFOD_URLS"] = "http://127.0.0.1:%d" % free_port()
        refused = self.do(LEAKTIDE, "peak", "recording")
        self.assertIn("no server of DEBUGINFOD_URLS answers", refused)
        self.assertEqual(without.splitlines()[0], refused.splitlines()[0])

    def test_a_silent_server_is_waited_for_once(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            self.environment["DEBUGINFOD_URLS"] = "http://127.0.0.1:%d" % silent.getsockname()[1]
            began = time.monotonic()
            answer = self.do(LEAKTIDE, "peak", "recording")
            self.assertLess(time.monotonic() - began, LONGEST_S)
        self.assertIn("no server of DEBUGINFOD_URLS answers", answer)

    def test_the_verdict_of_run_asks_nobody(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            silent.setblocking(False)
            self.environment["DEBUGINFOD_URLS"] = "http://127.0.0.1:%d" % silent.getsockname()[1]
            self.do(LEAKTIDE, "run", "--device=cpu", "--call-stack=c", "-o", "again", "--", self.path("train"))
            self.assertRaises(BlockingIOError, silent.accept)


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    if not shutil.which("debuginfod"):
        print("skipped: no debuginfod here")
        sys.exit(77)
    unittest.main()
