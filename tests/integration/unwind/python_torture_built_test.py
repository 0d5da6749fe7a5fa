"""python_torture_test on interpreters of newer releases: built from source, with the lock and without.

    python_torture_built_test.py COMPARED BY_ADDRESS FRAMES EVERY

The sources are those of Debian's newer releases; they are fetched and built once, in the user's
cache. Where a release has the program and its source is not to be had, the program is unpacked there
and run. Says of each version what was run, or why not. Exit status 77: nothing was.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(os.path.dirname(HERE)), "other_suites")]
import fetching  # noqa: E402
from python_stacks_test import ASKED  # noqa: E402
from python_torture_test import compare  # noqa: E402

PACKAGES = ("python3.13", "python3.14", "python3.15")
RELEASES = ("stable", "testing", "unstable")
BUILD_LIMIT_S = 3600
RECIPE = """
for kind in enable disable; do
    mkdir -p $kind
    cd $kind
    ../configure -q --$kind-gil --with-ensurepip=no --disable-test-modules
    make -s -j$JOBS
    cd ..
done
"""


def asked(package, interpreter):
    """Its version and path, if it has the modules that the test needs; else that is said."""
    said = subprocess.run([interpreter, "-c", ASKED], stdout=subprocess.PIPE, text=True,
                          check=False).stdout.split()
    if said:
        yield said[0], interpreter
    else:
        print(f"{package}: skipped: {interpreter} lacks a module that the test needs", flush=True)


def found(sources, programs, package):
    """Version and path of each kind; what is missing is said."""
    try:
        folder = sources.built(package, RECIPE, BUILD_LIMIT_S)
    except fetching.Unavailable as trouble:
        print(f"{package}: not built: {trouble}", flush=True)
    else:
        for kind in ("enable", "disable"):
            yield from asked(package, os.path.join(folder, kind, "python"))
        return
    try:
        yield from asked(package, programs.starter(package, package))
    except fetching.Unavailable as trouble:
        print(f"{package}: skipped: {trouble}", flush=True)


def main():
    compared, by_address = sys.argv[1:3]
    frames, every = int(sys.argv[3]), int(sys.argv[4])
    os.environ.setdefault("JOBS", str(os.cpu_count()))
    cache = os.path.join(fetching.default_cache(), "newer")
    sources, programs = fetching.Sources(cache, RELEASES), fetching.Programs(cache, RELEASES)
    count = 0
    for package in PACKAGES:
        for version, interpreter in found(sources, programs, package):
            compare(compared, by_address, version, interpreter, frames, every)
            count += 1
    return 0 if count else 77


if __name__ == "__main__":
    sys.exit(main())
