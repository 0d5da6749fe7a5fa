# SPDX-License-Identifier: Apache-2.0
"""Summaries that a launcher's tasks make, one of them killed on the way, are those that one process makes, byte for byte.

Run as launchers_test.py LEAKTIDE MAKE_TRACES. Launchers that are not there are skipped: mpirun, srun with nodes that
answer, and the packages ray and dask of python3.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE, MAKE_TRACES = sys.argv[1:3]
NAMES = ["cudart", "cuda", "hip", "leak"]
TASK = """
import os, subprocess, sys
leaktide, folder, number, name = sys.argv[1:]
words = [leaktide, "summarize", "--rank=" + number, "--world-size=4", "--hostname=h" + number, "-o",
         os.path.join(folder, "summaries"), os.path.join(folder, name)]
if not os.path.exists(os.path.join(folder, "killed-" + number)): # the first try ends in the middle
    open(os.path.join(folder, "killed-" + number), "w").close()
    os.makedirs(os.path.join(folder, "summaries", "rank-0000%s-x.partial-1" % number), exist_ok=True)
    if number == "2":
        sys.exit(1)
sys.exit(subprocess.call(words))
"""
RAY = """
import ray, subprocess, sys
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
@ray.remote(max_retries=0)
def task(words):
    return subprocess.call(words)
calls = [[sys.executable, "-c", sys.argv[1], sys.argv[2], sys.argv[3], str(i), name] for i, name in enumerate(sys.argv[4:])]
for words, status in zip(calls, ray.get([task.remote(words) for words in calls])):
    if status:
        ray.get(task.remote(words))
"""
DASK = """
import subprocess, sys
from dask.distributed import Client, LocalCluster
if __name__ == "__main__":
    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
    calls = [[sys.executable, "-c", sys.argv[1], sys.argv[2], sys.argv[3], str(i), name] for i, name in enumerate(sys.argv[4:])]
    for words, status in zip(calls, client.gather(client.map(subprocess.call, calls))):
        if status:
            client.submit(subprocess.call, words, pure=False).result()
    client.close()
"""


def has_package(name):
    return subprocess.run([sys.executable, "-c", "import " + name], stderr=subprocess.DEVNULL).returncode == 0


def has_nodes():
    return bool(shutil.which("srun")) and subprocess.run(["sinfo", "-h", "-o", "%a"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                                         timeout=20).stdout.startswith(b"up")


def tables(folder):
    found = {}
    for path in glob.glob(os.path.join(folder, "*", "*.parquet")):
        if ".partial-" in path:  # a task was killed in it
            continue
        with open(path, "rb") as file:
            found[os.path.relpath(path, folder)] = file.read()
    return found


class Launchers(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        subprocess.run([MAKE_TRACES], cwd=self.folder, check=True)

    def run_here(self, *words):
        return subprocess.run(words, timeout=600, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def check(self):
        """Of all tasks the summaries; what the killed one began is named, and nothing else is missing."""
        own = os.path.join(self.folder, "own")
        for number, name in enumerate(NAMES):
            subprocess.run([LEAKTIDE, "summarize", "--rank=%d" % number, "--world-size=4", "--hostname=h%d" % number, "-o", own,
                            os.path.join(self.folder, name)], check=True)
        self.assertEqual(len(tables(own)), 4 * 9)
        made = os.path.join(self.folder, "summaries")
        self.assertEqual(tables(made), tables(own))
        self.assertIn("was not finished", self.run_here(LEAKTIDE, "ranks", made).stdout.decode())
        for path in glob.glob(os.path.join(made, "*.partial-1")):
            os.rmdir(path)
        self.assertEqual(self.run_here(LEAKTIDE, "ranks", "--format=json", made).stdout,
                         self.run_here(LEAKTIDE, "ranks", "--format=json", own).stdout)

    def by_shell(self, variable):
        names = " ".join(NAMES)
        return ["sh", "-c", 'set -- %s; shift "$%s"; exec "%s" -c "$TASK" "%s" "%s" "$%s" "$1"'
                % (names, variable, sys.executable, LEAKTIDE, self.folder, variable)]

    def twice(self, launcher, variable):
        os.environ["TASK"] = TASK
        for _ in range(2):  # the first has a task that fails
            self.run_here(*launcher, *self.by_shell(variable))
        self.check()

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_mpirun(self):
        self.twice(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4", "-x", "TASK"], "OMPI_COMM_WORLD_RANK")

    @unittest.skipUnless(has_nodes(), "no nodes of Slurm")
    def test_srun(self):
        self.twice(["srun", "--ntasks=4", "--overcommit", "--kill-on-bad-exit=0"], "SLURM_PROCID")

    def by_python(self, script):
        path = os.path.join(self.folder, "driver.py")
        with open(path, "w", encoding="ascii") as file:
            file.write(script)
        done = self.run_here(sys.executable, path, TASK, LEAKTIDE, self.folder, *NAMES)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        self.check()

    @unittest.skipUnless(has_package("ray"), "no Ray")
    def test_ray(self):
        self.by_python(RAY)

    @unittest.skipUnless(has_package("dask.distributed"), "no Dask")
    def test_dask(self):
        self.by_python(DASK)


def main():
    """Exit status 77: none of them is installed."""
    done = unittest.main(argv=sys.argv[:1], exit=False).result
    if not done.wasSuccessful():
        return 1
    return 77 if len(done.skipped) == done.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
