#!/usr/bin/env python3
"""A wheel made of an installed tree, put where pip puts wheels, and used there.

    wheel.py BUILD WORK

Each way of pip (a virtual environment, --target, --user) must give a command that records and finds a
planted leak, modules that read the recording, and the plug-in of pytest. Exit status 77: no pip here.
"""
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAK = """
kept = []
for turn in range(80):
    kept.append(bytearray(3000))
    scratch = [bytearray(500) for _ in range(10)]
"""
READ = "import leaktide, sys; print(len(leaktide.open(sys.argv[1]).leaks()))"


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, **more)
    if done.returncode:
        sys.exit("{}: exit status {}\n{}".format(" ".join(command), done.returncode, done.stdout))
    return done.stdout


def sum_of(folder):
    return {os.path.basename(name): hashlib.sha256(open(name, "rb").read()).hexdigest()
            for name in glob.glob(os.path.join(folder, "*.whl"))}


def make(build, work):
    """The wheels; made twice, they are the same to the byte."""
    tree = os.path.join(work, "tree")
    run("cmake", "--install", build, "--prefix", tree, "--strip")
    os.makedirs(os.path.join(tree, "licenses"))
    shutil.copy(os.path.join(ROOT, "LICENSE"), os.path.join(tree, "licenses", "leaktide"))
    if os.path.isdir(os.path.join(tree, "lib64")) or not os.path.isdir(os.path.join(tree, "lib", "leaktide")):
        sys.exit(77)  # libraries of this system lie elsewhere: packages name the folder themselves
    outputs = []
    for name in ("first", "second"):
        outputs.append(os.path.join(work, name))
        run(sys.executable, os.path.join(ROOT, "cmake", "packages", "make-wheel"), tree, os.uname().machine, "2.17",
            outputs[-1])
    sums = [sum_of(output) for output in outputs]
    if len(sums[0]) != 2 or sums[0] != sums[1]:
        sys.exit("two builds of the wheels differ: {}".format(sums))
    return outputs[0]


def check(way, python, command, path, work):
    """Records, reads, and asks pytest, as installed in one way."""
    environment = dict(os.environ, PYTHONPATH=path or "", PATH=os.path.dirname(command) + ":" + os.environ["PATH"])
    environment.pop("LD_PRELOAD", None)
    script, recording = os.path.join(work, "leak.py"), os.path.join(work, way + ".leaktide")
    with open(script, "w") as file:
        file.write(LEAK)
    said = run(command, "run", "-o", recording, "--device=cpu", "--call-stack=python,c", "--", python, script,
               env=environment)
    if "leak.py:4" not in said or "LEAK" not in said:
        sys.exit("{}: the leak was not found:\n{}".format(way, said))
    if int(run(python, "-c", READ, recording, env=environment)) < 1:
        sys.exit("{}: the module finds nothing".format(way))
    other = os.path.join(os.path.dirname(command), "msleaks")
    if "msleaks" not in run(other, "--help", env=environment):
        sys.exit("{}: msleaks does not answer".format(way))
    run(python, "-c", "import msmemscope, msleaks; msmemscope.step; "
        "import msmemscope.describe as describe; describe.describer; "
        "from msleaks.analyzer import LeaksAnalyzer; LeaksAnalyzer().analyze", env=environment)
    if "leaktide" not in run(python, "-c", "import importlib.metadata as m; print([e.name for e in m.distribution("
                             "'leaktide').entry_points])", env=environment):
        sys.exit("{}: pytest would not find the plug-in".format(way))
    print(way + ": ok")


def wheels_of_arguments():
    """The wheels of BUILD, and WORK, which has an empty virtual environment then; else skips."""
    build, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    if subprocess.run([sys.executable, "-m", "venv", os.path.join(work, "venv")]).returncode:
        print("no virtual environments here (package python3-venv)")
        sys.exit(77)
    return sorted(glob.glob(os.path.join(make(build, work), "*.whl"))), work


def main():
    wheels, work = wheels_of_arguments()
    python = os.path.join(work, "venv", "bin", "python3")
    pip = (python, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-index", "--no-deps")
    run(*pip, *wheels)
    check("environment", python, os.path.join(work, "venv", "bin", "leaktide"), None, work)
    # A folder of one's own, seen by another Python.
    target = os.path.join(work, "target folder")
    run(*pip, "--target", target, *wheels)
    check("target", sys.executable, os.path.join(target, "bin", "leaktide"), target, work)
    # The user's own folder, for the Python that made the environment.
    home = dict(os.environ, PYTHONUSERBASE=os.path.join(work, "home"), PIP_BREAK_SYSTEM_PACKAGES="1")
    if subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode == 0:
        run(sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-index", "--no-deps",
            "--user", *wheels, env=home)
        path = sysconfig.get_path("purelib", "posix_user", {"userbase": home["PYTHONUSERBASE"]})
        check("user", sys.executable, os.path.join(work, "home", "bin", "leaktide"), path, work)


if __name__ == "__main__":
    main()
