"""Stacks with frames of Python: those the program knows itself, with the interpreter's lock and
without it, and none of another thread.

    python_stacks_test.py TRACER EVENT_DUMP LEAKTIDE

Runs every CPython from 3.8 to 3.15 that is found, with the interpreter's lock and free-threaded;
says which. Exit status 77: none.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

KNOWN = r'''
import ctypes, json, sys, threading
held, given_up = ctypes.PyDLL(None), ctypes.CDLL(None) # with the interpreter's lock, and without
for library in (held, given_up):
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
known, sizes = {}, iter(range(5000001, 5010000))
def block(library=held):
    size, frame, frames = next(sizes), sys._getframe(), []
    while frame:
        code = frame.f_code
        frames.append([code.co_filename, getattr(code, "co_qualname", code.co_name), frame.f_lineno])
        frame = frame.f_back
    known[size] = frames; frames[0][2] = sys._getframe().f_lineno; library.malloc(size)
class Layer:
    def forward(self, n):
        if n:
            return self.forward(n - 1)
        block()
        return [self.inner(i) for i in range(2)]
    def inner(self, i):
        return sorted([2, 1], key=lambda x: block() or x)
def generate():
    for i in range(2):
        block()
        yield i
def grün_中_𐐀(): block()
def raises():
    try:
        Layer().nothing
    except AttributeError:
        block()
class Late:
    def __del__(self): held.malloc(5)
for n in range(12):
    Layer().forward(n)
    list(generate())
    list(map(lambda x: block(), [1]))
grün_中_𐐀()
raises()
for n in range(10):
    exec(compile("def again():\n" + "\n" * n + " block()\nagain()", "made up", "exec"))
thread = threading.Thread(target=Layer().forward, args=(1,)); thread.start(); thread.join()
block(given_up)
late = Late(); late.itself = late
json.dump(known, open(sys.argv[1], "w"))
'''

SWITCHING = r'''
import ctypes, sys, threading
sys.setswitchinterval(1e-6)
held, given_up = ctypes.PyDLL(None), ctypes.CDLL(None) # with the interpreter's lock, and without
MAKE = """
def worker_{n}(depth):
    if depth: return worker_{n}(depth - 1)
    kept = []
    for i in range(300):
        kept.append("x" * (600 + i)); kept = kept[-5:]
        held.malloc(5) # free-threaded builds take no memory of their own from malloc
        given_up.malloc(6)
"""
threads = []
for n in range(6):
    space = {"held": held, "given_up": given_up}
    exec(MAKE.format(n=n), space)
    threads.append(threading.Thread(target=space["worker_%d" % n], args=(n,)))
for thread in threads: thread.start()
for thread in threads: thread.join()
def forever():
    while True: given_up.malloc(7)
# Up to 3.10 such threads may crash the interpreter as it ends (seen inside libpython itself).
for n in range(3 if sys.version_info >= (3, 11) else 0):
    threading.Thread(target=forever, daemon=True).start()
'''


# A launcher in front of the interpreter is of no use here, nor a build without these modules.
ASKED = """import ctypes, sys, sysconfig, unicodedata
without_lock = sysconfig.get_config_var("Py_GIL_DISABLED")
print("%d.%d%s" % (sys.version_info[0], sys.version_info[1], "t" if without_lock else ""))
print(sys.executable)"""


def interpreters(minors):
    """By version, with a t for free-threaded builds: the first of each that is found."""
    found = {}
    paths = [shutil.which(f"python3.{n}{kind}") for n in minors for kind in ("", "t")]
    paths += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3.*")))
    for path in paths:
        named = re.search(r"python3\.(\d+)t?$", path or "")
        if not named or int(named.group(1)) not in minors:
            continue
        said = subprocess.run([path, "-c", ASKED], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False).stdout.split("\n")
        if len(said) > 1:
            found.setdefault(said[0], os.path.realpath(said[1]))
    return found


def events_of(tracer, dump, stacks, command):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_PRELOAD=tracer, PYTHONUTF8="1",
                           LEAKTIDE_OPTIONS=f"--device=cpu --output-path={folder} {stacks}")
        subprocess.run(command, env=environment, check=True, timeout=100,
                       stdout=subprocess.DEVNULL)
        lines = subprocess.run([dump, folder], check=True, stdout=subprocess.PIPE).stdout
        return [json.loads(line) for line in lines.splitlines()]


def python_frames(event):
    return [[frame["file"], frame["function"], frame["line"]] for frame in event.get("stack", [])
            if frame["function"] and not frame["function"].startswith("(")]


def frames_are_known(tracer, dump, interpreter):
    with tempfile.NamedTemporaryFile() as file:
        events = events_of(tracer, dump, "--call-stack=c,python --python-objects=no",
                           [interpreter, "-c", KNOWN, file.name])
        known = {int(size): frames for size, frames in json.load(file).items()}
    for event in events:
        if event["event"] != "alloc" or event["text"] != "host" or event["size_bytes"] not in known:
            continue
        frames, expected = python_frames(event), known.pop(event["size_bytes"])
        assert frames == expected, f"{frames}\nbut {expected}"
        assert event["stack"][0]["address"], "the innermost frame is not the caller"
    assert not known, f"{len(known)} blocks are missing"
    assert events[-1]["lost"] == 0


def frames_are_of_this_thread(tracer, dump, interpreter):
    workers = {}
    for event in events_of(tracer, dump, "--call-stack=python:9 --python-objects=no",
                           [interpreter, "-c", SWITCHING]):
        frames = python_frames(event)
        assert len(frames) <= 9
        for _, function, _ in frames:
            if function.startswith("worker_"):
                workers.setdefault(event["thread"], set()).add(function)
    assert len(workers) == 6 and all(len(names) == 1 for names in workers.values()), workers


def others_are_named(tracer, leaktide, version, interpreter):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_PRELOAD=tracer, PYTHONUTF8="1",
                           LEAKTIDE_OPTIONS=f"--device=cpu --output-path={folder} --call-stack=python")
        subprocess.run([interpreter, "-c", "import json"], env=environment, check=True, timeout=100)
        said = subprocess.run([leaktide, "info", folder], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
    assert f"those of CPython {version} cannot be read" in said, said


def main():
    tracer, dump, leaktide = sys.argv[1:4]
    found = interpreters(range(8, 16))
    for version, interpreter in found.items():
        frames_are_known(tracer, dump, interpreter)
        frames_are_of_this_thread(tracer, dump, interpreter)
    for version, interpreter in interpreters(range(5, 8)).items():
        others_are_named(tracer, leaktide, version, interpreter)
    print("CPython", ", ".join(found) or "is not here")
    return 0 if found else 77


if __name__ == "__main__":
    sys.exit(main())
