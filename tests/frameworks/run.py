#!/usr/bin/env python3
"""Real frameworks: on devices that are not there, against the framework's own statistics; and on the host, with a leak.

    run.py [--cache FOLDER] [--fetch] [--only STORY]... [--table FILE] LEAKTIDE EVENT-DUMP

Wheels are kept in the cache; --fetch gets those that are not there (9 GB on disk). The libraries of
the vendors are made anew (make_fakes.py); they keep books. Each story of a device is compared to the byte: blocks, bytes,
peak and reserved size of each device with memory_stats(), the ledger below with the books. A loop is recorded twice, with a
leak that nobody marked, which must be named with its line, and mended. Prints a table, and writes it to FILE as rows of
Markdown. The status is 1 where something differs, 77 where nothing could be run.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import make_fakes  # noqa: E402

DEPENDENCIES = ["numpy", "pyyaml", "filelock", "typing_extensions", "sympy", "mpmath", "networkx", "jinja2", "markupsafe",
                "fsspec", "packaging"]
WHEELS = {"cuda": ["torch==2.14.0"], "npu": ["torch==2.13.0", "torch-npu==2.13.0"], "dependencies": DEPENDENCIES}
HOST_VERSIONS = ("2.1", "2.4", "2.6", "2.9", "2.14")  # of PyTorch, used as one for the host
WHEELS["llama"] = ["cyllama==0.2.18", "gguf==0.19.0", "numpy", "tqdm", "pyyaml"]  # llama.cpp in a wheel
WHEELS.update({"torch-" + version: ["torch==%s.0" % version] for version in HOST_VERSIONS[:-1]})
# These with all that they ask for.
RESOLVED = {
    "jax": ["jax==0.10.2", "jaxlib==0.10.2"],
    "mindspore": ["mindspore==2.10.0", "numpy==1.26.4"],
    "onnxruntime": ["onnxruntime==1.32.0", "numpy"],
    "pyopencl": ["pyopencl==2026.1.4", "numpy"],
}
LIMIT_SECONDS = 600
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "leaktide-frameworks")


@dataclass
class Loop:
    """A program on the host, with a leak in a loop that nobody marked; with MENDED=1 it has none."""

    wheels: str
    program: str
    leak: str  # the line that the first sentence names, or the one for threads of a runtime
    dependencies: tuple = ()  # other folders of wheels


@dataclass
class Story:
    wheels: str
    program: str
    device: str = ""      # "cuda" or "npu"; "": the host
    pool: str = ""        # the framework's
    below: str = ""       # the pool of its segments
    driver: str = ""      # the pool whose blocks are in the books
    books: str = ""       # soname of the library that keeps them
    leak: str = ""        # in the first sentence
    has_segments: bool = True  # each is a block of the pool below
    counts: dict = field(default_factory=dict)  # of blocks of other pools, all devices
    held: dict = field(default_factory=dict)    # MiB of the framework's pool at its peak, by what for
    options: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)


def on_cuda(program, **more):
    return Story("cuda", program, "cuda", "torch", "cudart", "cudart", "libcudart.so.13", **more)


def on_npu(program, **more):
    return Story("npu", program, "npu", "pta", "acl", "hal", "libascend_hal.so", **more)


def expandable(variable):
    return {variable: "expandable_segments:True"}


def on_host(version):
    wheels = "cuda" if version == HOST_VERSIONS[-1] else "torch-" + version
    return Story(wheels, "host.py", pool="torch_cpu", options=["--device=cpu", "--call-stack=none", "--quiet"],
                 environment={"FAKE_DEVICES": "0"})


STORIES = {
    **{"torch %s on the host" % version: on_host(version) for version in HOST_VERSIONS},
    "torch 2.14 on CUDA": on_cuda("story.py", leak="remember (programs/story.py"),
    "torch 2.14 on CUDA, hostile": on_cuda("hostile.py"),
    "torch 2.14 on CUDA, expandable": Story("cuda", "hostile.py", "cuda", "torch", "cuda", "cuda", "libcuda.so.1",
                                            has_segments=False,
                                            environment=expandable("PYTORCH_CUDA_ALLOC_CONF")),
    "torch_npu 2.13": on_npu("story.py", leak="remember (programs/story.py"),
    "torch_npu 2.13, hostile": on_npu("hostile.py"),
    "torch_npu 2.13, expandable": on_npu("hostile.py", has_segments=False,
                                         environment=expandable("PYTORCH_NPU_ALLOC_CONF")),
    "torch_npu 2.13, workspace": on_npu("workspace.py", has_segments=False, counts={"pta_workspace": 12},
                                        environment={"TASK_QUEUE_ENABLE": "2", "FAKE_NPU_WORKSPACE": str(16 << 20)}),
    "torch_npu 2.13, inference": on_npu("inference.py", held={"weights": 8, "held_throughout": 16}),
    "torch 2.14 on CUDA, inference": on_cuda("inference.py", held={"weights": 8, "held_throughout": 16, "workspace": 32}),
    "JAX 0.10.2": Loop("jax", "jax_loop.py", leak="remember (programs/jax_loop.py:16)"),
    "MindSpore 2.10.0": Loop("mindspore", "mindspore_loop.py", leak="remember (programs/mindspore_loop.py:24)"),
    "ONNX Runtime 1.32.0": Loop("onnxruntime", "onnxruntime_loop.py", leak="answer (programs/onnxruntime_loop.py:46)"),
    "llama.cpp (cyllama 0.2.18)": Loop("llama", "llama_loop.py", leak="conversation (programs/llama_loop.py:52)"),
    "PyOpenCL 2026.1.4": Loop("pyopencl", "pyopencl_loop.py", leak="remember (programs/pyopencl_loop.py:17)"),
}


def packages(options, *names):
    """The folders that hold these wheels; None where they are not to be had. They are called as pip calls them."""
    folders = []
    for name in names:
        folder = os.path.join(options.cache, name, "site-packages")
        if not os.path.isdir(folder):
            whole = ["--no-deps", *WHEELS[name]] if name in WHEELS else RESOLVED[name]
            if not options.fetch or subprocess.run(
                    [sys.executable, "-m", "pip", "install", "-q", "--no-compile", "--target", folder + ".new", *whole],
                    stderr=subprocess.DEVNULL).returncode:
                return None
            os.rename(folder + ".new", folder)
        folders.append(folder)
    return folders


def environment_of(story, folders, fakes, scratch):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FAKE_", "PYTORCH_"))}
    environment.update(PYTHONPATH=os.pathsep.join(folders), LD_LIBRARY_PATH=os.path.join(fakes, "lib64"), DEVICE=story.device,
                       STATS=os.path.join(scratch, "stats.json"), FAKE_BOOKS=scratch, ASCEND_HOME_PATH=fakes,
                       ASCEND_OPP_PATH=fakes, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    environment.update(story.environment)
    return environment


def record(options, story, folders, fakes, scratch):
    """The recording's folder and what was said of it."""
    run = os.path.join(scratch, "run")
    chosen = story.options or ["--device=npu,gpu,opencl", "--call-stack=python,c"]
    done = subprocess.run([options.leaktide, "run", "-o", run, *chosen, "--",
                           sys.executable, "-S", os.path.join(HERE, "programs", story.program)],
                          env=environment_of(story, folders, fakes, scratch), capture_output=True, text=True,
                          timeout=LIMIT_SECONDS)
    if not os.path.exists(os.path.join(scratch, "stats.json")):
        raise RuntimeError(done.stderr.strip()[-400:] or "the program failed")
    return run, done.stderr


class Ledger:
    """Running totals of one pool on one device, from the events of a recording."""

    def __init__(self):
        self.live, self.live_bytes, self.peak, self.total, self.allocs, self.frees = {}, 0, 0, 0, 0, 0
        self.strays, self.failed, self.reserved_peak, self.sizes = 0, 0, 0, []

    def alloc(self, event):
        size = event["size_bytes"]
        self.live[event["address"]] = size
        self.live_bytes += size
        self.peak = max(self.peak, self.live_bytes)
        self.total += size
        self.allocs += 1
        self.sizes.append(size)

    def free(self, address):
        size = self.live.pop(address)
        self.live_bytes -= size
        self.frees += 1
        self.sizes.append(-size)


def ledgers_of(event_dump, run, pools):
    ledgers, where = defaultdict(Ledger), {}
    quoted = ['"%s"' % pool for pool in pools if pool]
    dump = subprocess.Popen([event_dump, run], stdout=subprocess.PIPE, text=True)
    for line in dump.stdout:
        if not any(pool in line for pool in quoted):
            continue
        event = json.loads(line)
        kind, pool = event.get("event"), event.get("text")
        if kind == "alloc":
            where[pool, event["address"]] = event["device"]
            ledgers[pool, event["device"]].alloc(event)
        elif kind == "free" and (pool, event["address"]) in where:
            ledgers[pool, where.pop((pool, event["address"]))].free(event["address"])
        elif kind == "free":
            ledgers[pool, None].strays += 1
        elif kind == "alloc_failed":
            ledgers[pool, event["device"]].failed += 1
        elif kind == "pool_reserved":
            ledger = ledgers[pool, event["device"]]
            ledger.reserved_peak = max(ledger.reserved_peak, event["size_bytes"])
    if dump.wait():
        raise RuntimeError("the recording cannot be read")
    return ledgers


class Comparison:
    def __init__(self, name):
        self.name, self.equal, self.differences = name, [], []

    def check(self, what, ours, theirs):
        is_equal = ours == theirs
        print("%-32s %-34s %18s %18s  %s" % (self.name, what, shown(theirs), shown(ours), "equal" if is_equal else "DIFFERS"),
              flush=True)
        if is_equal:
            self.equal.append("%s %s" % (what, shown(ours)))
        else:
            self.differences.append("%s: recorded %s, true %s" % (what, ours, theirs))


def shown(value):
    return format(value, ",") if isinstance(value, int) else str(value)


def compare_device(story, ledgers, stats, device, result):
    pool = ledgers[story.pool, device]
    result.check("blocks of device %d" % device, pool.allocs, stats["allocation.all.allocated"])
    result.check("bytes", pool.total, stats["allocated_bytes.all.allocated"])
    result.check("peak", pool.peak, stats["allocated_bytes.all.peak"])
    result.check("reserved peak", pool.reserved_peak, stats["reserved_bytes.all.peak"])
    if story.has_segments:
        below = ledgers[story.below, device]
        result.check("segments", below.allocs, stats["segment.all.allocated"])


def compare_books(story, ledgers, scratch, result):
    with open(os.path.join(scratch, story.books + ".json")) as file:
        books = json.load(file)
    ours = [ledgers[story.driver, device] for device in range(len(books["devices"]))]
    result.check("blocks in the books", sum(ledger.allocs for ledger in ours),
                 sum(books[kind]["begun"] for kind in ("device", "managed", "physical")))
    for device, book in enumerate(books["devices"]):
        if ours[device].peak or book["peak"]:
            result.check("peak in the books of device %d" % device, ours[device].peak, book["peak"])
    result.check("refused", sum(ledger.failed for ledger in ours), books["refused"])


def compare_host(story, ledgers, stats, result):
    """The profiler began after some steps: its events are a stretch of ours, in order."""
    sizes = ledgers[story.pool, -1].sizes
    is_there = any(sizes[first:first + len(stats)] == stats for first in range(len(sizes) - len(stats) + 1))
    result.check("%d memory events in order" % len(stats), is_there, True)


def held_of(options, run, story, category):
    answer = subprocess.run([options.leaktide, "breakdown", "--format=json", run], capture_output=True, text=True, check=True)
    table, = [one for one in json.loads(answer.stdout)["tables"] if one["name"] == "categories"]
    return sum(row["held_bytes"] for row in table["rows"]
               if row["category"] == category and row["ledger"].startswith(story.pool + " ")) // (1 << 20)


def tell(story_name, story, options, folders, fakes):
    result = Comparison(story_name)
    with tempfile.TemporaryDirectory() as scratch:
        run, said = record(options, story, folders, fakes, scratch)
        with open(os.path.join(scratch, "stats.json")) as file:
            stats = json.load(file)
        ledgers = ledgers_of(options.event_dump, run, (story.pool, story.below, story.driver, *story.counts))
        if not story.device:
            compare_host(story, ledgers, stats, result)
        else:
            for device, stats_of_device in enumerate(stats):
                compare_device(story, ledgers, stats_of_device, device, result)
            compare_books(story, ledgers, scratch, result)
        for pool, count in story.counts.items():
            ours = sum(ledger.allocs for (name, _), ledger in ledgers.items() if name == pool)
            result.check("blocks of %s" % pool, ours, count)
        result.check("frees of blocks nobody made", ledgers[story.pool, None].strays, 0)
        for category, mib in story.held.items():
            result.check("MiB of " + category, held_of(options, run, story, category), mib)
        if story.leak:
            first = next((line for line in said.splitlines() if line.startswith("leaktide: ")), "")
            result.check("first sentence", story.leak if "LEAK" in first and story.leak in first else first,
                         story.leak)
    return keep_row(options, result)


def verdict_of(options, loop, folders, is_mended):
    """The sentences at the end of the recording."""
    environment = {name: value for name, value in os.environ.items() if name != "MENDED"}
    environment.update(PYTHONPATH=os.pathsep.join(folders), OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
                       **{"MENDED": "1"} if is_mended else {})
    program = [sys.executable, "-S", os.path.join(HERE, "programs", loop.program)]
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([options.leaktide, "run", "-o", os.path.join(scratch, "run"), "--", *program],
                              env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-400:])
    return [line[len("leaktide: "):] for line in done.stderr.splitlines() if line.startswith("leaktide: ")]


def tell_loop(name, loop, options, folders):
    result = Comparison(name)
    said = [line for line in verdict_of(options, loop, folders, False) if line.startswith(("LEAK: ", "LINE OF PYTHON: "))]
    is_named = bool(said) and said[0].startswith("LEAK: ") and any(loop.leak in line for line in said)
    result.check("leak named", loop.leak if is_named else said, loop.leak)
    said = [line for line in verdict_of(options, loop, folders, True) if line.startswith(("LEAK: ", "MAY BE A LEAK: "))]
    result.check("leaks of the mended one", said or "none", "none")
    return keep_row(options, result)


def keep_row(options, result):
    if options.table:
        with open(options.table, "a") as file:
            file.write("| %s | %s |\n" % (result.name, "; ".join(result.equal + ["**%s**" % one for one in result.differences])))
    return not result.differences


def run_one(name, options, made):
    """True: as it should be. None: no wheels."""
    story = STORIES[name]
    folders = packages(options, story.wheels, *(story.dependencies if isinstance(story, Loop) else ["dependencies"]))
    if not folders:
        print("%-32s skipped: no wheels in %s" % (name, options.cache))
        return None
    try:
        if isinstance(story, Loop):
            return tell_loop(name, story, options, folders)
        return tell(name, story, options, folders, fakes_for(options, story.wheels, folders, made))
    except (RuntimeError, OSError, subprocess.SubprocessError) as trouble:
        print("%-32s FAILED: %s" % (name, trouble), flush=True)
        return False


def fakes_for(options, wheels, folders, made):
    if wheels not in made:
        out = os.path.join(made["folder"], wheels)
        make_fakes.make(make_fakes.CANN if wheels == "npu" else make_fakes.CUDA, folders, out)
        made[wheels] = out
    return made[wheels]


def tell_all(options):
    """How many are as they should be (True), not (False), or could not be run (None)."""
    outcomes = Counter()
    print("%-32s %-34s %18s %18s" % ("framework", "what", "true", "recorded"))
    with tempfile.TemporaryDirectory() as folder:
        made = {"folder": folder}
        for name in options.only or STORIES:
            outcomes[run_one(name, options, made)] += 1
    print("%d equal, %d not" % (outcomes[True], outcomes[False]))
    return outcomes


def parser_of(description):
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--cache", default=CACHE)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--only", action="append", choices=list(STORIES), metavar="STORY")
    parser.add_argument("--table")
    parser.add_argument("leaktide")
    parser.add_argument("event_dump")
    return parser


def main():
    outcomes = tell_all(parser_of(__doc__).parse_args())
    return 1 if outcomes[False] else 0 if outcomes[True] else 77


if __name__ == "__main__":
    sys.exit(main())
