#!/usr/bin/env python3
"""Each way to install what ./package made: a leak is recorded and found, and what is removed again leaves nothing.

    tests/install/ways.py [--packages FOLDER] [--cache FOLDER] [--only TEXT]

FOLDER is what ./package made (build/packages). First what the wheels say of themselves: auditwheel's tag, the
libraries that are needed, the newest function of the C library, sizes. Then a row for each way: those of pip on this
machine, deb, rpm and the Dockerfile's line in root file systems of Debian (cache, as in roots.py). pipx, uv and
auditwheel come from the Python index, into a folder of the test. Takes 3 minutes. Exit status 1: one of them fails.
77: no packages, or not root.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import roots
import wheel

DOCKERFILE = os.path.join(wheel.ROOT, "samples", "container", "Dockerfile")
OURS = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1"}
FLOOR, MOST_BYTES = (2, 17), 6 * 1000 * 1000
# What a root is asked, by one who is not its root.
FIND = "cd /tmp && rm -rf first leak.py && printf '%s' '{}' >leak.py && leaktide run -o first -- python3 leak.py".format(roots.LEAK)


class Failed(Exception):
    pass


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, **more)
    if done.returncode:
        raise Failed("{}: exit status {}\n{}".format(" ".join(command), done.returncode, done.stdout))
    return done.stdout


# What the wheels say of themselves.

def numbers(text):
    return tuple(int(part) for part in text.split("."))


def look_at_file(path):
    """(libraries needed, versions of the C library asked for) of a program or library; None of what is neither."""
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--wide", "--dynamic", path))
    asked = re.findall(r"\bGLIBC_([0-9.]+)", run("readelf", "--wide", "--version-info", path))
    return set(needed), {numbers(one) for one in asked}


def facts_of_wheel(path, tools, work):
    """The cells of a row."""
    said = run(os.path.join(tools, "bin", "auditwheel"), "show", path)
    tag = re.search(r'tag:\s+"(manylinux_2_17_\w+?)"', " ".join(said.split()))
    if not tag:
        raise Failed(said)
    tree = os.path.join(work, "unpacked")
    shutil.rmtree(tree, ignore_errors=True)
    with zipfile.ZipFile(path) as file:
        file.extractall(tree)
    files = [os.path.join(folder, name) for folder, _, names in os.walk(tree) for name in names]
    looked = [one for one in map(look_at_file, files) if one]
    own = {os.path.basename(one) for one in files}
    needed = set().union(*[one[0] for one in looked]) - own
    newest = max(set().union(*[one[1] for one in looked]))
    size = os.path.getsize(path)
    if needed - OURS or newest > FLOOR or size > MOST_BYTES or len(looked) < 4:
        raise Failed("{}: needs {}, GLIBC_{}.{}, {} bytes, {} programs and libraries".format(
            path, needed, *newest, size, len(looked)))
    return [tag.group(1), str(len(looked)), " ".join(sorted(needed)), "{}.{}".format(*newest), "{:.2f} MB".format(size / 1e6)]


# Ways on this machine: each gives (python, command, folder of modules or None).

class Machine:
    def __init__(self, packages, tools, work):
        self.tools, self.work = tools, work
        self.wheels = glob.glob(os.path.join(packages, "leaktide-*x86_64.whl")) + glob.glob(
            os.path.join(packages, "leaktide_msmemscope-*.whl"))
        self.ball = glob.glob(os.path.join(packages, "leaktide-*-linux-x86_64.tar.gz"))[0]

    def folder(self, name):
        return os.path.join(self.work, name)

    def pip(self, python, *more, **environment):
        run(python, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-index", "--no-deps", *more, *self.wheels,
            env=dict(os.environ, **environment))

    def tool(self, name):
        return os.path.join(self.tools, "bin", name)

    def environment(self):
        place = self.folder("environment")
        run(sys.executable, "-m", "venv", place)
        self.pip(place + "/bin/python3")
        return place + "/bin/python3", place + "/bin/leaktide", None

    def user(self):
        home = self.folder("home")
        self.pip(sys.executable, "--user", PYTHONUSERBASE=home, PIP_BREAK_SYSTEM_PACKAGES="1")
        return sys.executable, home + "/bin/leaktide", glob.glob(home + "/lib/python3*/site-packages")[0]

    def target(self):
        return self.in_folder("target")

    def blanks_and_colon(self):
        return self.in_folder("a folder: with blanks")

    def in_folder(self, name):
        self.pip(sys.executable, "--target", self.folder(name), PIP_BREAK_SYSTEM_PACKAGES="1")
        return sys.executable, self.folder(name) + "/bin/leaktide", self.folder(name)

    def pipx(self):
        home = self.folder("pipx")
        environment = dict(os.environ, PIPX_HOME=home, PIPX_BIN_DIR=home + "/links", PIPX_MAN_DIR=home + "/man")
        run(self.tool("pipx"), "install", "--pip-args=--no-index --no-deps", self.wheels[0], env=environment)
        return home + "/venvs/leaktide/bin/python", home + "/links/leaktide", None

    def uv(self):
        place = self.folder("uv")
        run(self.tool("uv"), "-q", "venv", "--python", sys.executable, place)
        run(self.tool("uv"), "-q", "pip", "install", "--offline", "--no-deps", "--python", place + "/bin/python", *self.wheels)
        return place + "/bin/python", place + "/bin/leaktide", None

    def uv_tool(self):
        home = self.folder("uv tools")
        environment = dict(os.environ, UV_TOOL_DIR=home, UV_TOOL_BIN_DIR=home + "/links")
        run(self.tool("uv"), "-q", "tool", "install", "--offline", "--python", sys.executable, self.wheels[0],
            env=environment)
        return home + "/leaktide/bin/python", home + "/links/leaktide", None

    def own_prefix(self):
        """As conda lays it out: a Python with all that belongs to it in one folder."""
        place = self.folder("prefix")
        if os.path.isdir(os.path.join(sys.base_prefix, "conda-meta")) or not sys.base_prefix.startswith(("/usr", "/bin")):
            shutil.copytree(sys.base_prefix, place, symlinks=True,
                            ignore=shutil.ignore_patterns("test", "site-packages", "__pycache__", "share"))
        else:
            raise Failed("skipped: this machine's Python has no folder of its own")
        python = place + "/bin/python3"
        run(python, "-m", "ensurepip")
        self.pip(python)
        return python, place + "/bin/leaktide", None

    def tar_ball(self):
        return self.unpacked("ball")

    def tar_ball_in_blanks_and_colon(self):
        return self.unpacked("a ball: with blanks")

    def unpacked(self, name):
        os.makedirs(self.folder(name))
        run("tar", "-xzf", self.ball, "--strip-components=1", "-C", self.folder(name))
        return sys.executable, self.folder(name) + "/bin/leaktide", None

    def look(self, way):
        """What was seen of one way."""
        python, command, modules = way()
        if "links" not in command and "ball" not in way.__name__ and ":" not in command:
            wheel.check(way.__name__, python, command, modules, self.work)
            return "leak found at its line, modules, msleaks, plug-in"
        recording = self.folder(way.__name__ + ".leaktide")
        said = run(command, "run", "-o", recording, "--", python, self.leak())
        if "LEAK" not in said or roots.LEAK_LINE not in said:
            raise Failed(said)
        if "ball" in way.__name__:
            return "leak found at its line"
        # No PYTHONPATH has a colon.
        run(python, "-c", "import sys; sys.path.insert(0, {!r}); {}".format(modules or "", wheel.READ), recording)
        return "leak found at its line, module"

    def leak(self):
        path = self.folder("leak.py")
        with open(path, "w") as file:
            file.write(roots.LEAK)
        return path


# Ways in root file systems.

def files_of(root):
    """All but what package managers and Python keep for themselves."""
    found = set()
    for folder, _, names in os.walk(root):
        inside = folder[len(root):]
        if inside.startswith(("/proc", "/dev", "/tmp", "/var", "/run", "/sys", "/home", "/root")):
            continue
        found.update(os.path.join(inside, name) for name in names if not name.endswith(".pyc"))
        found.add(inside)
    return found


class Root:
    """A copy of a release, with the packages in /packages."""

    def __init__(self, given, architecture, work):
        self.emulator = roots.emulator_of(given.cache) if architecture == "arm64" else ""
        source = roots.make_root(given.cache, "trixie", architecture, ",dash,diffutils,rpm")
        self.place = os.path.join(work, "root-" + architecture)
        run("cp", "-a", "--reflink=auto", source, self.place)
        shutil.copytree(given.packages, self.place + "/packages")
        os.makedirs(self.place + "/home/user", exist_ok=True)

    def ask(self, command, user="0:0"):
        done = roots.Inside(self.place, self.emulator, command, user)
        if done.status:
            raise Failed("{}: exit status {}\n{}".format(command, done.status, done.text))
        return done.text

    def find_leak(self):
        said = self.ask(FIND, "1000:1000")
        if "LEAK" not in said or roots.LEAK_LINE not in said:
            raise Failed(said)

    def installed_and_removed(self, install, remove):
        before = files_of(self.place)
        self.ask(install)
        self.find_leak()
        added = len(files_of(self.place) - before)
        self.ask(remove)
        left = files_of(self.place) - before
        if left or added < 30:
            raise Failed("{} files were added, left: {}".format(added, sorted(left)))
        return "leak found at its line; {} files and folders removed, none left".format(added)

    def deb(self):
        """Debian's files are only unpacked here: the C library is made known to dpkg."""
        glibc = self.ask("getconf GNU_LIBC_VERSION").split()[1]
        processor = "arm64" if self.emulator else "amd64"
        with open(self.place + "/var/lib/dpkg/status", "a") as file:
            file.write("Package: libc6\nStatus: install ok installed\nMaintainer: test\nArchitecture: {}\nVersion: {}\n"
                       "Description: test\n\n".format(processor, glibc))
        return self.installed_and_removed("dpkg -i /packages/*-{}.deb".format("aarch64" if self.emulator else "x86_64"),
                                          "dpkg --purge leaktide")

    def rpm(self):
        """No package of this root is an rpm: without --nodeps it is refused, as nobody says that a glibc is there."""
        package = "/packages/leaktide-*{}.rpm".format("aarch64" if self.emulator else "x86_64")
        refused = roots.Inside(self.place, self.emulator, "rpm --dbpath /var/rpm -i " + package, "0:0")
        if not refused.status or "glibc >= 2.17 is needed" not in refused.text:
            raise Failed("installed without a glibc: " + refused.text)
        return self.installed_and_removed("rpm --dbpath /var/rpm --nodeps --ignoreos --ignorearch -i " + package,
                                          "rpm --dbpath /var/rpm --nodeps -e leaktide")

    def dockerfile(self):
        """RUN's line, in a root that is not of the Dockerfile's image: its pip is told that it may."""
        with open(DOCKERFILE) as file:
            line = re.search(r"^RUN (--mount=\S+) (.*)$", file.read(), re.M)
        target = re.search(r"target=([^, ]+)", line.group(1)).group(1)
        if target != "/packages":
            raise Failed("not mounted at /packages: " + target)
        self.ask("export PIP_BREAK_SYSTEM_PACKAGES=1; " + line.group(2).replace("pip ", "python3 -m pip ", 1))
        self.find_leak()
        return "leak found at its line"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", default=os.path.join(wheel.ROOT, "build", "packages"))
    parser.add_argument("--cache", default=roots.cache_folder())
    parser.add_argument("--only", default="", help="ways whose name has this")
    return parser.parse_args()


def row(name, look, failed):
    try:
        seen = look()
    except (Failed, SystemExit) as fault:
        text = str(fault)
        seen = text if text.startswith("skipped") else "FAILED"
        if seen == "FAILED":
            failed.append(name + ": " + text)
    print("| {} | {} |".format(name, seen), flush=True)


def main():
    given = parse()
    wheels = sorted(glob.glob(os.path.join(given.packages, "leaktide-*.whl")))
    if os.getuid() or not wheels or not shutil.which("mmdebstrap"):
        print("skipped: root, mmdebstrap and packages are needed; ./package makes them")
        sys.exit(77)
    failed, work = [], tempfile.mkdtemp(prefix="ways.")
    try:
        tools = os.path.join(work, "tools")
        run(sys.executable, "-m", "venv", tools)
        run(tools + "/bin/pip", "-q", "--disable-pip-version-check", "install", "auditwheel", "pipx", "uv")
        print("| wheel | programs and libraries | needed | newest function of glibc | size |\n|---|---|---|---|---|")
        for path in wheels:
            print("| " + " | ".join(facts_of_wheel(path, tools, work)) + " |", flush=True)
        print("\n| way | seen |\n|---|---|")
        machine = Machine(given.packages, tools, work)
        for way in (machine.environment, machine.user, machine.target, machine.blanks_and_colon, machine.pipx, machine.uv,
                    machine.uv_tool, machine.own_prefix, machine.tar_ball, machine.tar_ball_in_blanks_and_colon):
            if given.only in way.__name__:
                row(way.__name__.replace("_", " "), lambda: machine.look(way), failed)
        for architecture in ("amd64", "arm64"):
            for way in (Root.deb, Root.rpm, Root.dockerfile):
                if given.only in way.__name__ + " " + architecture:
                    root = Root(given, architecture, work)
                    row(way.__name__ + " " + architecture, lambda: way(root), failed)
                    shutil.rmtree(root.place)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("\n".join(failed))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
