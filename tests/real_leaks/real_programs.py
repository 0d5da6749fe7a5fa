"""The programs of pairs.tsv: which there are, what they need, how they are started.

A variant of a program is "leaky", "fixed" or "clean". What it needs are words: NAME==VERSION is a
package, @3.13 another interpreter. packages.tsv pins the file of each package by its SHA-256; a
package without a pinned file for this machine is not had.
"""
import csv
import functools
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
MARKS = os.path.join(HERE, "..", "..", "tracer", "python")
VARIANTS = {"leaky": True, "fixed": False}


def table(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def rows(only=None, groups=None):
    return [row for row in table("pairs.tsv")
            if (not only or row["program"] in only) and (not groups or row["group"] in groups)]


def variants(row):
    """Pairs of a name and whether it leaks."""
    return [("clean", False)] if row["leaky"] == "-" else list(VARIANTS.items())


@functools.lru_cache(maxsize=None)
def interpreter(version):
    """Its own path, not that of a script that starts it; None where it is not there."""
    if version == "node":
        return shutil.which("node")
    names = [os.path.join(folder, "python" + version) for folder in os.environ["PATH"].split(os.pathsep)]
    names += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/%s*/bin/python%s" % (version, version))))
    for name in names:
        if os.access(name, os.X_OK):
            done = subprocess.run([name, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
            if not done.returncode:
                return done.stdout.strip()
    return None


def stripped_library(cache, program):
    """The folder of a stripped copy of the library that the interpreter runs. Raises Missing where it has none: then
    it is all in the program."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        name, _, path = line.strip().partition(" => ")
        if name.startswith("libpython"):
            folder = os.path.join(cache, "stripped", name)
            os.makedirs(folder, exist_ok=True)
            if not os.path.exists(os.path.join(folder, name)):
                copy = shutil.copy(path.split(" (")[0], os.path.join(folder, name + ".new"))
                subprocess.run(["strip", copy], check=True)
                os.rename(copy, os.path.join(folder, name))
            return folder
    raise Missing("%s has no library that could be stripped" % program)


class Missing(Exception):
    """What a variant needs cannot be had here."""


def needs(row, variant):
    """Version of the interpreter, and packages."""
    words = row["fixed" if variant == "clean" else variant].split()
    packages = [word for word in words if not re.fullmatch(r"@[\d.]+", word)]
    versions = [word[1:] for word in words if word not in packages]
    return (versions or [row["python"]])[-1], packages


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def downloaded(python, name, folder):
    """Fetches the file of a package; pip for Python, npm for node."""
    if python.endswith("node"):
        command = ["npm", "pack", "--silent", "--pack-destination", folder, name]
    else:
        command = [python, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, name]
    done = subprocess.run(command, capture_output=True, text=True)
    files = os.listdir(folder)
    if done.returncode or len(files) != 1:
        raise Missing("%s cannot be fetched" % name)
    return os.path.join(folder, files[0])


def unpacked(python, path, name, folder):
    """Puts a package where its interpreter finds it."""
    if python.endswith("node"):
        with tarfile.open(path) as archive:
            archive.extractall(folder)
        target = os.path.join(folder, "node_modules", name.rpartition("@")[0])
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.rename(os.path.join(folder, "package"), target)
        return
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile", "--target", folder, path],
                   check=True, capture_output=True)


def package(cache, python, version, name):
    """The folder that holds it, from the cache or fetched."""
    folder = os.path.join(cache, "packages", version, name.replace("/", "+"))
    if os.path.isdir(folder):
        return folder
    pinned = [row["sha256"] for row in table("packages.tsv") if row["package"] == name]
    new, fetched = folder + ".new", folder + ".fetched"
    for path in (new, fetched):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
    path = downloaded(python, name, fetched)
    if sha256(path) not in pinned:
        raise Missing("%s is not a file that packages.tsv pins" % os.path.basename(path))
    unpacked(python, path, name, new)
    os.rename(new, folder)
    shutil.rmtree(fetched)
    return folder


def command(cache, row, variant, allocator):
    """The command of a variant and its environment. Raises Missing."""
    version, names = needs(row, variant)
    program = interpreter(version)
    if not program:
        raise Missing("no interpreter %s" % version)
    folders = [package(cache, program, version, name) for name in names]
    environment = dict(os.environ, PYTHONHASHSEED="0", OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
                       REAL_LEAKS_VARIANT=variant)
    environment.pop("PYTHONMALLOC", None)
    if allocator == "malloc":
        environment["PYTHONMALLOC"] = "malloc"
    programs = os.path.join(HERE, "programs")
    if version == "node":
        environment["NODE_PATH"] = os.pathsep.join(os.path.join(folder, "node_modules") for folder in folders)
        return [program, os.path.join(programs, row["program"] + ".js")], environment
    environment["PYTHONPATH"] = os.pathsep.join([programs, *folders, MARKS])
    return [program, "-S", os.path.join(programs, row["program"] + ".py")], environment


def whole_collections(cache, row, variant):
    """How often node's collector looks at the whole heap while the program runs, without any tool;
    None where it is no program of node."""
    if row["python"] != "node":
        return None
    words, environment = command(cache, row, variant, "malloc")
    done = subprocess.run([words[0], "--trace-gc", *words[1:]], env=environment, capture_output=True, text=True)
    return done.stdout.count(": Mark-Compact ")


def heap_bytes_per_turn(cache, row, variant, times=3):
    """What the heap grows per turn, without any tool, in so many times as many turns; None where
    the program does not say."""
    path = os.path.join(cache, "measured", "%s-%s-%d.json" % (row["program"], variant, times))
    if not os.path.exists(path):
        words, environment = command(cache, row, variant, "malloc")
        done = subprocess.run(words, env=dict(environment, REAL_LEAKS_MEASURE=str(times)), capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"heap')]
        if not lines:
            return None
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(lines[-1])
    with open(path, encoding="utf-8") as file:
        return json.load(file)["heap_bytes_per_turn"]
