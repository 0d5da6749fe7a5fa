"""Other people's sources, from the releases that this system gets its packages from.

Everything goes to a folder outside the checkout. The lists of packages are our own copy, with the
sources added: nothing of this system changes, and nobody has to be root.
"""

import glob
import hashlib
import os
import re
import shutil
import subprocess

APT_CONFIGURATION = """
Dir::State "{folder}/state";
Dir::State::status "{status}";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "{folder}/sources.list.d";
APT::Sandbox::User "";
"""

# Its own loader finds its own libraries, whatever this system has.
STARTER = """#!/bin/sh
root='{root}'
export PYTHONHOME="$root/usr"
exec '{loader}' --library-path "$(echo "$root"/usr/lib/*-linux-gnu)" "$root/usr/bin/{program}" "$@"
"""

# How a line or a paragraph asks for programs, and how it would ask for sources.
PROGRAMS_TO_SOURCES = (
    (re.compile(r"^deb ", re.MULTILINE), "deb-src "),
    (re.compile(r"^Types:.*$", re.MULTILINE), "Types: deb-src"),
)


class Unavailable(Exception):
    """Says in one sentence why something cannot be had."""


def default_cache():
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(caches, "leaktide-suites")


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def as_sources(text):
    for pattern, replacement in PROGRAMS_TO_SOURCES:
        text = pattern.sub(replacement, text)
    return text


def with_releases(text, own, others):
    """The same list, of other releases as well. A list of somebody else has only its own."""
    suites = re.compile(rf"^(Suites:.*(?<![-\w]){re.escape(own)}(?![-\w]).*)$", re.MULTILINE)
    line = re.compile(rf"^(deb(?:-src)? .* ){re.escape(own)}( .*)$", re.MULTILINE)
    text = suites.sub(rf"\1 {' '.join(others)}", text)
    return line.sub(lambda of: "\n".join(of[1] + name + of[2] for name in (own, *others)), text)


def debian_release():
    """The name of this system's release; "": it is none of Debian's."""
    about = dict(re.findall(r'^(\w+)="?([^"\n]*)', text_of("/etc/os-release"), re.MULTILINE))
    return about.get("VERSION_CODENAME", "") if about.get("ID") == "debian" else ""


def sum_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Lists:
    """Own lists of the packages of this system's releases, and of others of Debian.

    kind: deb-src or deb. is_bare: as if nothing was installed here, so that a program comes with all
    that it needs.
    """

    def __init__(self, folder, kind, releases=(), is_bare=False):
        self.folder = folder
        self.kind = kind
        self.releases = releases
        self.is_bare = is_bare
        self.is_ready = False

    def text_of_list(self, path):
        text = text_of(path)
        if self.kind == "deb-src":
            text = as_sources(text)
        if self.releases and debian_release():
            text = with_releases(text, debian_release(), self.releases)
        return text

    def prepare(self):
        """Once a run."""
        if self.is_ready:
            return
        if not shutil.which("apt-get"):
            raise Unavailable("packages are fetched with apt, and there is none")
        for folder in ("state/lists/partial", "cache/archives/partial", "sources.list.d"):
            os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
        known = ["/etc/apt/sources.list"] + sorted(glob.glob("/etc/apt/sources.list.d/*.list") +
                                                   glob.glob("/etc/apt/sources.list.d/*.sources"))
        for path in known:
            write(self.folder + path[len("/etc/apt"):], self.text_of_list(path))
        status = os.path.join(self.folder, "none") if self.is_bare else "/var/lib/dpkg/status"
        if self.is_bare:
            write(status, "")
        write(os.path.join(self.folder, "apt.conf"),
              APT_CONFIGURATION.format(folder=self.folder, status=status))
        if self.apt("apt-get", "update", folder=self.folder).returncode != 0:
            raise Unavailable("no list of packages can be fetched")
        self.is_ready = True

    def apt(self, program, *words, folder):
        environment = dict(os.environ, APT_CONFIG=os.path.join(self.folder, "apt.conf"))
        return subprocess.run([program, "-qq", *words], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, timeout=600,
                              check=False)


class Programs:
    """Programs of other releases, unpacked beside the C library that they need; nobody has to be
    root, and nothing is installed."""

    def __init__(self, cache, releases):
        self.cache = cache
        self.lists = Lists(os.path.join(cache, "apt-programs"), "deb", releases, is_bare=True)

    def starter(self, package, program):
        """A script that runs usr/bin/PROGRAM of the package. Fetched once; Unavailable says why not."""
        root = os.path.join(self.cache, "programs", package)
        script = os.path.join(root, "start")
        if os.path.exists(script):
            return script
        self.lists.prepare()
        archives = os.path.join(self.lists.folder, "cache", "archives")
        for path in glob.glob(os.path.join(glob.escape(archives), "*.deb")):
            os.unlink(path)
        done = self.lists.apt("apt-get", "install", "-y", "--download-only", "--no-install-recommends",
                              package, folder=self.lists.folder)
        found = glob.glob(os.path.join(glob.escape(archives), "*.deb"))
        if done.returncode != 0 or not found:
            raise Unavailable(f"no package {package} to be had")
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)
        for path in found:
            subprocess.run(["dpkg", "-x", path, root], check=True)
        loaders = (glob.glob(os.path.join(glob.escape(root), "usr", "lib*", "ld-linux-*.so.*")) or
                   glob.glob(os.path.join(glob.escape(root), "lib*", "ld-linux-*.so.*")))
        if not loaders:
            raise Unavailable(f"{package} comes without a C library")
        write(script, STARTER.format(root=root, loader=loaders[0], program=program))
        os.chmod(script, 0o755)
        return script


class Sources:
    """Fetches and builds; what has been built once for the same recipe stays.

    releases: others of Debian that are asked as well, where this system is of Debian.
    """

    def __init__(self, cache, releases=()):
        self.cache = cache
        self.lists = Lists(os.path.join(cache, "apt"), "deb-src", releases)

    def versions(self, package):
        """What there is of a package, the latest first."""
        said = self.lists.apt("apt-cache", "showsrc", package, folder=self.lists.folder).stdout
        return re.findall(r"^Version: (.*)$", said, re.MULTILINE)[::-1]

    def download(self, package, folder):
        """The archives of the latest version that can be had: a list may know more than there is."""
        for version in self.versions(package):
            done = self.lists.apt("apt-get", "source", "--download-only", f"{package}={version}",
                            folder=folder)
            archives = [path for path in glob.glob(f"{glob.escape(folder)}/*.orig.tar.*")
                        if not path.endswith(".asc")]
            if done.returncode == 0 and archives:
                return archives
        raise Unavailable(f"no source package {package} to be had")

    def fetch(self, package, folder):
        """Unpacks what the authors published, without the release's changes to it."""
        self.lists.prepare()
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        archives = self.download(package, folder)
        source = os.path.join(folder, "source")
        os.makedirs(source)
        subprocess.run(["tar", "xf", archives[0], "-C", source, "--strip-components=1",
                        "--no-same-owner"], check=True)
        for path in glob.glob(os.path.join(glob.escape(folder), "*.*")):
            os.unlink(path)
        return source

    def stamp_of(self, package):
        return os.path.join(self.cache, "sources", package, "built")

    def has(self, package, recipe):
        """Whether it was built so before."""
        return text_of(self.stamp_of(package)) == sum_of(recipe)

    def built(self, package, recipe, limit_s=1500):
        """The folder of a source package after its recipe, a text for the shell, has run there."""
        folder = os.path.join(self.cache, "sources", package)
        source = os.path.join(folder, "source")
        if self.has(package, recipe):
            return source
        self.fetch(package, folder)
        log = os.path.join(folder, "build.log")
        with open(log, "w", encoding="utf-8") as output:
            try:
                done = subprocess.run(["bash", "-euc", recipe], cwd=source, stdout=output,
                                      stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                      timeout=limit_s, check=False)
            except subprocess.TimeoutExpired:
                raise Unavailable(f"{package} was not built within {limit_s} s") from None
        if done.returncode != 0:
            last = text_of(log).strip().splitlines()[-1:] or [""]
            raise Unavailable(f"{package} does not build here: {last[0]}; see {log}")
        write(self.stamp_of(package), sum_of(recipe))
        return source
