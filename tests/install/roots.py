#!/usr/bin/env python3
"""The wheels in file systems of Debian's releases: installed by pip, a leak found, by a user who is not root.

    tests/install/roots.py [--packages FOLDER] [--cache FOLDER] [--only TEXT] [--wheel-only]

FOLDER is what ./package made (build/packages). Each release is fetched once, by mmdebstrap, into the cache
(~/.cache/leaktide-roots, 3 GB); aarch64 runs under the emulator of Debian 13. There is no compiler in them, and
no network; the user is not root. Prints a row for each: processor seconds of pip, of the first recording with its
verdict, and both. Exit status 1: a leak that was not found at its line, a system where leaktide fails, more than 10 s
(emulated: 30 s beside pip). 77: no root file system can be made here.
"""
import argparse
import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
SYSTEMS = [("bullseye", "amd64"), ("bookworm", "amd64"), ("trixie", "amd64"), ("forky", "amd64"), ("sid", "amd64"),
           ("bullseye", "arm64"), ("bookworm", "arm64"), ("trixie", "arm64"), ("sid", "arm64")]
PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
PROGRAMS = "python3,python3-pip,bash,coreutils,grep,sed,libc-bin"
MOST_SECONDS = {"amd64": 10, "arm64": 30}
LEAK = """kept = []
for turn in range(80):
    kept.append(bytearray(3000))
    scratch = [bytearray(500) for _ in range(10)]
"""
LEAK_LINE = "leak.py:3"
# $1 the root, $2 the emulator or "", $3 the command, $4 the user. In name spaces of its own: nothing of this machine changes.
INSIDE = r"""
mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" || exit 99
if [ -n "$2" ]; then
    mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || exit 99
    printf '%s' ':aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff'\
'\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$2"':F' >/proc/sys/fs/binfmt_misc/register || exit 99
fi
exec chroot --userspec="$4" "$1" /usr/bin/env -i HOME=/home/user PATH=/home/user/.local/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 TERM=dumb /bin/bash -c "cd; $3"
"""


def mirror():
    """The address of Debian's archive that this machine uses."""
    for name in ["/etc/apt/sources.list"] + glob.glob("/etc/apt/sources.list.d/*"):
        try:
            text = open(name).read()
        except OSError:
            continue
        found = re.search(r"^(?:URIs: *|deb (?:\[[^]]*\] )?)(\S+/debian/?)(?:\s|$)", text, re.M)
        if found:
            return found.group(1)
    return None


def bootstrap(folder, release, architecture, programs):
    """A root file system of packages that are unpacked, without their scripts; kept when it is whole."""
    if os.path.isdir(folder):
        return
    shutil.rmtree(folder + ".new", ignore_errors=True)
    line = "deb [signed-by={}] {} {} main".format(KEYS, mirror(), release)
    done = subprocess.run(["nice", "-n", "10", "mmdebstrap", "--quiet", "--variant=extract", "--mode=root",
                           "--architectures=" + architecture, "--include=" + programs,
                           "--aptopt=APT::Install-Recommends \"false\"",
                           "--aptopt=Acquire::Check-Valid-Until \"false\"", release, folder + ".new", line],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if done.returncode:
        print("no {} of {} can be had:\n{}".format(release, architecture, done.stdout[-2000:]))
        sys.exit(77)
    os.rename(folder + ".new", folder)


def compile_python(root):
    """As the scripts of Debian's packages do: else pip compiles itself each time."""
    folders = glob.glob(root + "/usr/lib/python3/dist-packages") + glob.glob(root + "/usr/lib/python3.[0-9]*")
    subprocess.run(["chroot", root, "/usr/bin/python3", "-m", "compileall", "-q"] + [one[len(root):] for one in folders],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def copy_compiled(source, root):
    for path in glob.glob(source + "/usr/lib/python3*/**/*.pyc", recursive=True):
        there = root + path[len(source):]
        if os.path.isdir(os.path.dirname(os.path.dirname(there))):
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copy2(path, there)


def make_root(cache, release, architecture, more=""):
    """The folder of a release, made where it is not there yet; more: programs that it has beside those of all."""
    root = os.path.join(cache, release + more.replace(",", "-") + "-" + architecture)
    if os.path.isdir(root):
        return root
    if architecture == "arm64":  # compiled Python is the same on all processors, and slow to make under an emulator
        other = make_root(cache, release, "amd64", more)
    bootstrap(root, release, architecture, PROGRAMS + more)
    if architecture == "arm64":
        copy_compiled(other, root)
    else:
        compile_python(root)
    certificates = glob.glob(root + "/usr/share/ca-certificates/mozilla/*.crt")
    if certificates:  # pip looks at them even where it asks nobody
        os.makedirs(root + "/etc/ssl/certs", exist_ok=True)
        with open(root + "/etc/ssl/certs/ca-certificates.crt", "w") as file:
            file.write("".join(open(one).read() for one in sorted(certificates)))
    with open(root + "/etc/passwd", "a") as file:
        file.write("user:x:1000:1000::/home/user:/bin/bash\n")
    os.makedirs(root + "/proc", exist_ok=True)
    os.chmod(root + "/tmp", 0o1777)
    return root


def emulator_of(cache):
    """Debian 13's: those before it take all memory for reservations."""
    folder = os.path.join(cache, "emulator")
    bootstrap(folder, "trixie", "amd64", "qemu-user")
    return folder + "/usr/bin/qemu-aarch64"


def start_mapped(command):
    """A process in a name space of users with those of this one: there an emulator can be made known, for it alone."""
    process = subprocess.Popen(["unshare", "--user", "/bin/sh", "-c", "read go; exec \"$@\"", "mapped"] + command,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               universal_newlines=True)
    space = "/proc/{}/ns/user".format(process.pid)
    while os.readlink(space) == os.readlink("/proc/self/ns/user"):
        time.sleep(0.01)
    for name in ("uid_map", "gid_map"):
        with open("/proc/{}/{}".format(process.pid, name), "w") as file:
            file.write("0 0 65536")
    process.stdin.write("\n")
    process.stdin.flush()
    return process


class Inside:
    """A command's text, exit status and processor seconds in a root."""

    def __init__(self, root, emulator, command, user="1000:1000"):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = start_mapped(["unshare", "--mount", "--net", "--pid", "--fork", "/bin/bash", "-c", INSIDE, "inside", root,
                                emulator, command, user])
        self.text = process.communicate(timeout=900)[0]
        self.status = process.returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fresh_home(root, wheels):
    home = root + "/home/user"
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    for wheel in wheels:
        shutil.copy(wheel, home)
    with open(home + "/leak.py", "w") as file:
        file.write(LEAK)
    subprocess.run(["chown", "-R", "1000:1000", home], check=True)


def look(root, emulator, wheels, architecture):
    """A row of the table, and what is wrong."""
    fresh_home(root, wheels)
    facts = Inside(root, emulator, "getconf GNU_LIBC_VERSION; python3 -c 'import platform; "
                   "print(platform.python_version(), platform.machine())'; id -u; command -v cc gcc clang")
    words = facts.text.split()
    faults = [] if words[4:] == ["1000"] else ["not a user without a compiler: " + facts.text]
    pip = Inside(root, emulator, "f=; python3 -m pip install --help | grep -q break-system && f=--break-system-packages; "
                 "python3 -m pip install --no-index --no-deps --user $f ./*.whl")
    run = Inside(root, emulator, "leaktide run -o first.leaktide -- python3 leak.py")
    if pip.status or run.status or "LEAK" not in run.text or LEAK_LINE not in run.text:
        faults.append(pip.text + run.text)
    rest = Inside(root, emulator, "leaktide doctor >doctor.txt || { cat doctor.txt; exit 1; }; leaktide info first.leaktide "
                  "| grep -q '; complete' && python3 -c 'import leaktide; assert leaktide.open(\"first.leaktide\").leaks()' && "
                  "leaktide version -v | grep -q jemalloc && leaktide report -f html -o page.html first.leaktide && "
                  "msleaks --help | grep -q msleaks")
    if rest.status:
        faults.append("doctor, info, page or the module fails:\n" + rest.text)
    seconds = run.seconds if emulator else pip.seconds + run.seconds
    if seconds > MOST_SECONDS[architecture]:
        faults.append("{:.1f} s, over {}".format(seconds, MOST_SECONDS[architecture]))
    return words[1:4] + ["{:.1f}".format(one) for one in (pip.seconds, run.seconds, pip.seconds + run.seconds)], faults


def cache_folder():
    return os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "leaktide-roots")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", default=os.path.join(ROOT, "build", "packages"))
    parser.add_argument("--cache", default=cache_folder())
    parser.add_argument("--only", default="", help="systems whose name has this, as in bullseye-arm64")
    return parser.parse_args()


def main():
    given = arguments()
    if os.getuid() or not shutil.which("mmdebstrap") or not mirror():
        print("skipped: root, mmdebstrap and an archive of Debian are needed")
        sys.exit(77)
    other = glob.glob(os.path.join(given.packages, "leaktide_msmemscope-*.whl"))
    os.makedirs(given.cache, exist_ok=True)
    failed = False
    print("| system | glibc | Python | processor | pip s | recording and verdict s | both s | |\n|---|---|---|---|---|---|---|---|")
    for release, architecture in SYSTEMS:
        name = release + "-" + architecture
        if given.only not in name:
            continue
        wheels = glob.glob(os.path.join(given.packages, "leaktide-*{}.whl".format(PROCESSORS[architecture]))) + other
        if len(wheels) != 2:
            print("skipped: no wheels for {} in {}: ./package makes them".format(PROCESSORS[architecture], given.packages))
            sys.exit(77)
        root = make_root(given.cache, release, architecture)
        row, faults = look(root, emulator_of(given.cache) if architecture == "arm64" else "", wheels, architecture)
        print("| " + " | ".join([release] + row + ["FAILED" if faults else "leak found at its line"]) + " |", flush=True)
        for fault in faults:
            failed = True
            print(fault, flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
