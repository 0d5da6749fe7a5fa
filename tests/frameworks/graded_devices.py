"""Programs of torch_npu and of PyTorch for CUDA on libraries of the vendors that are made: what was found wrong, and what is right.

The truth is what the programs know of themselves: memory_stats(), the books of the libraries, the bytes that they keep.
"""
import contextlib
import io
import os
import re
import subprocess
import sys

import oom_stories
import original_vectors
import pairs
import run
from graded import NotHere, Row, faults_of_answer

MODULE = os.path.join(run.HERE, "..", "..", "tracer", "python")
SOURCE = "the program's own numbers"
MIB = 1 << 20
LEAK_POLICY = "[leak]\n"


def wheels_for(kit, *names):
    folders = run.packages(kit.options, *names)
    if not folders:
        raise NotHere("no wheels of " + " and ".join(names))
    return folders


def device_of(kit, wheels):
    """The packages, and the libraries that stand for the vendor's."""
    folders = wheels_for(kit, wheels, "dependencies")
    return folders, run.fakes_for(kit.options, wheels, folders, kit.made)


def once(kit, key, make):
    """What several rows look at is made once for all."""
    if key not in kit.made:
        kit.made[key] = make()
    return kit.made[key]


def gpt(kit, wheels, variant="", is_leak=False, *more):
    """The recording of programs/gpt.py and what the program knows of itself."""
    folders, fakes = device_of(kit, wheels)
    pair = pairs.PAIRS[variant]

    def make():
        into = os.path.join(kit.made["folder"], "-".join(filter(None, ("gpt", wheels, variant, *more, "leak" if is_leak else ""))))
        return pairs.record(kit.options, wheels, folders, fakes, pair, is_leak, into, *more)
    return once(kit, ("gpt", wheels, variant, is_leak, more), make)


def python(kit, wheels, text, options, environment=None, name="program.py"):
    """Records a program that is given as text; the recording, and what was said."""
    folders, fakes = device_of(kit, wheels)
    program, into = kit.file(name, text), os.path.join(kit.scratch, name + "-run")
    story = run.Story(wheels, name, wheels, environment=environment or {})
    done = subprocess.run([kit.leaktide, "run", *options, "-o", into, "--", sys.executable, "-S", program],
                          env=run.environment_of(story, [MODULE, *folders], fakes, kit.scratch), capture_output=True, text=True,
                          cwd=kit.scratch, timeout=run.LIMIT_SECONDS)
    if done.returncode:
        raise RuntimeError(done.stderr[-400:])
    return into, done.stderr


ON_DEVICES = ["--device=npu,gpu", "--call-stack=python,c", "--no-report"]


# --- F1: a clean run ---

def clean(kit, wheels, variant):
    path, _ = gpt(kit, wheels, variant)
    yield from faults_of_answer(kit.ask("leaks", path), 0, "No leak")
    yield from faults_of_answer(kit.gate(LEAK_POLICY, path), 0)


def clean_rows():
    variants = [("npu", name) for name in ("", "batch", "checkpoint", "amp", "sgd", "expandable", "generate", "random")]
    for wheels, variant in [*variants, ("cuda", "")]:
        yield Row("F1", "%s, %s, clean and unmarked: \"No leak\", exit 0, the gate passes" % (wheels, variant or "AdamW"), SOURCE,
                  lambda kit, wheels=wheels, variant=variant: clean(kit, wheels, variant))


def clean_and_leak(kit):
    paths = [gpt(kit, "npu", "", is_leak)[0] for is_leak in (False, True)]
    yield from pairs.faults_of_both(kit.options, *paths)


# --- F2: a window of steps ---

STEPS_PROGRAM = r"""
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
int aclInit(const char *), aclFinalize(void), aclrtSetDevice(int), aclrtMalloc(void **, size_t, int), aclrtFree(void *);
uint64_t mstxRangeStartA(const char *, void *);
void mstxRangeEnd(uint64_t);
static void *kept[40];
__attribute__((noinline)) static void leak(int step) { aclrtMalloc(&kept[step], 65536, 0); }
int main(void)
{
    aclInit(0); aclrtSetDevice(0);
    for (int step = 0; step < 40; step++) {
        uint64_t range = mstxRangeStartA("step start", 0);
        void *block;
        leak(step);
        aclrtMalloc(&block, 4 << 20, 0);
        aclrtFree(block);
        mstxRangeEnd(range);
        usleep(20000);
    }
    aclFinalize();
    return 0;
}
"""


def steps_program(kit):
    fakes = device_of(kit, "npu")[1]
    program = os.path.join(kit.scratch, "loop")
    original_vectors.build(STEPS_PROGRAM, program, fakes)
    return program, {**os.environ, "LD_LIBRARY_PATH": os.path.join(fakes, "lib64")}


def recorded_window(kit, *options, after=None, cwd=None):
    program, environment = steps_program(kit)
    into = os.path.join(kit.scratch, "window")
    job = subprocess.Popen([kit.leaktide, "run", "--device=npu", "--no-report", *options, "-o", into, "--", program],
                           env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd or kit.scratch)
    if after:
        after(kit, into)
    job.communicate(timeout=run.LIMIT_SECONDS)
    return into


def pid_of(kit, into):
    """Of the program: its trace is called so."""
    for _ in range(500):
        names = [name for name in os.listdir(into) if name.endswith(".mtt")] if os.path.isdir(into) else []
        if names:
            return names[0].split("-")[0]
        subprocess.run(["sleep", "0.01"])
    raise RuntimeError("no trace appeared")


def choose_steps(kit, into):
    answer = kit.ask("ctl", pid_of(kit, into), "set", "steps=15-20")
    if answer.status:
        raise RuntimeError(answer.errors)


def window_of_control(kit):
    path = recorded_window(kit, "--collect-mode=deferred", after=choose_steps)
    yield from faults_of_window(kit, path)


def window_of_file(kit):
    """A relative name, as the documents have it; from the first step on."""
    kit.file("profiler_config.json", '{"start_step": 1, "stop_step": 8}')
    path = recorded_window(kit, "--control-file=profiler_config.json")
    yield from faults_of_window(kit, path)
    steps = {row["step"] for row in kit.ask_tables("steps", "--top=0", path)["steps"] if row["allocated_count"]}
    if not 7 <= len(steps) <= 8:
        yield "%d steps were recorded, not 8" % len(steps)


def window_of_schedule(kit):
    """Of a whole recording, chosen when it is asked."""
    path = recorded_window(kit)
    answer = kit.ask("leaks", "--wait=5", "--warmup=1", "--active=6", "--repeat=2", path)
    yield from faults_of_answer(answer, 1, "LEAK: 64.0 KiB per step at leak", never=("No leak",))


def faults_of_window(kit, path):
    answer = kit.ask("leaks", path)
    yield from faults_of_answer(answer, 1, "LEAK: 64.0 KiB per step at leak", never=("No leak",))
    yield from faults_of_answer(kit.gate(LEAK_POLICY, path), 1)


# --- F3, F4: a full device ---

def full_device(kit, story):
    folders, fakes = device_of(kit, story.wheels)
    wrong = []
    story.check = lambda number, said, truth: wrong.append("%s: %s, not %s" % (number, said, truth)) if said != truth else None
    story.tell(kit.options, folders, fakes)
    return wrong


def full_rows():
    for wheels in oom_stories.POOLS:
        for name in oom_stories.CAPACITY_MIB:
            for is_expandable in (False, True):
                story = oom_stories.Story(name, is_expandable, wheels)
                yield Row("F4" if is_expandable else "F3", "a device that is full (%s): every number of the answer" % story.title,
                          "memory_stats() and the books", lambda kit, story=story: full_device(kit, story))


# --- F5: caches ---

GROWING = """
import os, torch
D = os.environ["DEVICE"]
if D == "npu":
    import torch_npu
import contextlib, leaktide
marks = leaktide.step if os.environ.get("MARKED") else contextlib.nullcontext
w = torch.empty(4 << 20, dtype=torch.uint8, device=D)
def layer(i, k):
    return torch.empty((i + 1) * 200_000 + k * 4096, dtype=torch.uint8, device=D)
for i in range(60):
    with marks():
        acts = [layer(i, k) for k in range(6)]
        del acts
"""


def growing(kit, wheels, is_marked):
    path, _ = python(kit, wheels, GROWING, ON_DEVICES, {"MARKED": "1"} if is_marked else {})
    yield from faults_of_answer(kit.ask("leaks", path), 0, "No leak")
    yield from faults_of_answer(kit.gate(LEAK_POLICY, path), 0)


# --- F6, F7, F9: whose memory it is ---

def peak_operators(kit):
    path, _ = gpt(kit, "npu")
    rows = kit.ask_tables("ops", "--top=0", path)["operators"]
    blocks = {row["operator"]: row["allocated_count"] for row in rows if row["ledger"].startswith("pta")}
    helpers = sum(count for name, count in blocks.items() if name.split("::")[-1].startswith("empty"))
    if len(blocks) < 10 or 2 * helpers > sum(blocks.values()):
        yield "%d operators; %d of %d blocks are of helpers" % (len(blocks), helpers, sum(blocks.values()))
    first = kit.ask("ops", path).lines[0]
    if "empty" in first:
        yield first


def held(kit, path, ledger):
    return {row["category"]: row["held_bytes"] for row in kit.ask_tables("breakdown", path)["categories"]
            if row["ledger"].startswith(ledger)}


def optimizer_state(kit):
    """AdamW: twice the weights, and no workspace among it."""
    for wheels, ledger in (("npu", "pta"), ("cuda", "torch")):
        path, stats = gpt(kit, wheels)
        weights, found = sum(stats["weights"].values()), held(kit, path, ledger)
        if abs(found.get("optimizer_state", 0) / weights / 2 - 1) > 0.02:
            yield "%s: optimizer state %d B of weights %d B" % (wheels, found.get("optimizer_state", 0), weights)
        if found.get("weights", 0) != weights:
            yield "%s: weights %d B, not %d" % (wheels, found.get("weights", 0), weights)


def no_optimizer(kit):
    for wheels, ledger in (("npu", "pta"), ("cuda", "torch")):
        path, _ = gpt(kit, wheels, "generate")
        if "optimizer_state" in held(kit, path, ledger):
            yield "%s: optimizer state of a service" % wheels
        if "ZeRO" in kit.ask("advice", path).text:
            yield "%s: a service is advised to share out optimizer state" % wheels


def story_of_run(kit, name):
    story = run.STORIES[name]
    folders, fakes = device_of(kit, story.wheels)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        run.tell(name, story, kit.options, folders, fakes)
    return [" ".join(line.split()) for line in printed.getvalue().splitlines() if line.endswith("DIFFERS")]


def loop_of_run(kit, name):
    loop = run.STORIES[name]
    folders = wheels_for(kit, loop.wheels, *loop.dependencies)
    said = run.verdict_of(kit.options, loop, folders, False)
    if not any(line.startswith("LEAK: ") for line in said) or not any(loop.leak in line for line in said):
        yield "leak: " + (said or [""])[0][:200]
    said = [line for line in run.verdict_of(kit.options, loop, folders, True) if line.startswith(("LEAK: ", "MAY BE A LEAK: "))]
    if said:
        yield "mended: " + said[0][:200]


def rate(kit, wheels, variant):
    path, stats = gpt(kit, wheels, variant, True)
    yield from pairs.faults_of_leak(kit.options, pairs.PAIRS[variant], path, stats, kit.file("leaktide.toml", LEAK_POLICY))


# --- F8: frameworks with an allocator of their own ---

COMPILED = """
import torch
net = torch.nn.Linear(64, 64)
kept = []
@torch.compile
def step(x):
    return torch.relu(net(x))
def remember(x):
    kept.append(x)
for i in range(40):
    x = torch.randn(256, 64)
    step(x).sum()
    if not __import__("os").environ.get("MENDED"):
        remember(x)
"""


def compiled(kit):
    if subprocess.run([sys.executable, "-c", "import setuptools"], capture_output=True).returncode:
        raise NotHere("no setuptools, which inductor asks for")
    for environment, words, status in (({}, "LEAK: ", 1), ({"MENDED": "1"}, "No leak", 0)):
        environment = {**environment, "FAKE_DEVICES": "0", "TORCHINDUCTOR_CACHE_DIR": os.path.join(kit.scratch, "inductor")}
        path, _ = python(kit, "cuda", COMPILED, ["--no-report"], environment, "compiled%d.py" % status)
        yield from faults_of_answer(kit.ask("leaks", path), status, words)


# --- F11, F12, F13, F14 ---

PROFILED = """
import os, torch
import torch_npu
prof = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                              schedule=torch.profiler.schedule(wait=1, warmup=1, active=4, repeat=1))
kept = []
with prof:
    for i in range(24):
        kept.append(torch.empty(1 << 16, dtype=torch.uint8, device="npu"))
        torch.empty(4 << 20, dtype=torch.uint8, device="npu")
        prof.step()
"""


def profiler_steps(kit):
    path, _ = python(kit, "npu", PROFILED, ON_DEVICES)
    steps = {row["step"] for row in kit.ask_tables("steps", "--top=0", path)["steps"]}
    if not 23 <= len(steps) <= 25:
        yield "%d steps, not 24" % len(steps)


def vendors(kit):
    """One program on both: pools of one place are compared."""
    paths = [gpt(kit, wheels)[0] for wheels in ("cuda", "npu")]
    answer = kit.ask("diff", *paths)
    if "torch -> pta" not in answer.text:
        yield "pools are not paired: " + answer.lines[0][:160]
    for line in answer.lines:
        if re.match(r"PEAK: -.*\(0 B, was", line):
            yield line[:160]


RANKS = """
import os, torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
kept = []
def work(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["PORT"], RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    net = DDP(torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)))
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(40):
        x = torch.randn(64, 256)
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
        if rank == 1:
            kept.append(x)
if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
"""
READING_MIB_MOST = 1024


def ranks(kit):
    environment = {"FAKE_DEVICES": "0", "PORT": str(20000 + os.getpid() % 20000)}
    path, _ = python(kit, "cuda", RANKS, ["--no-report"], environment, "ranks.py")
    for words in (["leaks", path], ["ranks", path], ["diff", path, path]):
        peak, text = measured(kit, words)
        if peak > READING_MIB_MOST:
            yield "%s takes %d MiB" % (words[0], peak)
        if words[0] == "ranks" and "LEAK on rank 1 alone" not in text:
            yield text.splitlines()[0][:160]


def measured(kit, words):
    """MiB that the command had resident at most, and its text."""
    script = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024); print(done.stdout)")
    done = subprocess.run([sys.executable, "-c", script, kit.leaktide, *words], capture_output=True, text=True, check=True)
    first, _, text = done.stdout.partition("\n")
    return int(first), text


def peak_of_pool(kit):
    """Not of the memory that it cuts up."""
    path, _ = gpt(kit, "npu", "", True)
    answer = kit.ask("peak", path)
    for line in answer.lines:
        if re.match(r"PEAK: .* of (hal|acl) device 0(?! outside)", line):
            yield line[:160]


ROWS = [
    *clean_rows(),
    Row("F1", "`diff` of clean and leak says NEW LEAK, `ranks` names the process", SOURCE, clean_and_leak),
    Row("F2", "a window that `ctl set steps` chose, of a leaking loop: 64.0 KiB per step, the gate fails", SOURCE,
        window_of_control),
    Row("F2, F10", "the same of a control file with a relative name, which is obeyed from the first step on", SOURCE, window_of_file),
    Row("F2", "64.0 KiB per step, too, where --wait, --warmup, --active, --repeat choose steps of a whole recording", SOURCE, window_of_schedule),
    *full_rows(),
    *[Row("F5", "%s, growing lengths%s, nothing kept: \"No leak\", the gate passes" % (wheels, ", marked" if is_marked else ""),
          SOURCE, lambda kit, wheels=wheels, is_marked=is_marked: growing(kit, wheels, is_marked))
      for wheels in ("npu", "cuda") for is_marked in (True, False)],
    Row("F6", "on Ascend blocks are of the framework's operators, not of `empty_tensor`", SOURCE, peak_operators),
    Row("F7", "optimizer state is twice the weights, workspaces are none of it", SOURCE, optimizer_state),
    Row("F7", "a service has no optimizer state, and no such advice", SOURCE, no_optimizer),
    *[Row("F8", "%s: the leak at its line, the mended one free of leaks" % name, SOURCE,
          lambda kit, name=name: loop_of_run(kit, name)) for name in ("JAX 0.10.2", "MindSpore 2.10.0", "ONNX Runtime 1.32.0")],
    Row("F8", "torch.compile on the host keeps 64 KiB a step: LEAK; mended: \"No leak\"", SOURCE, compiled),
    Row("F8", "TensorFlow keeps 256 KiB a step: its size", SOURCE, read="not so: the line is a remark of the handles"),
    *[Row("F9", "%s: 8 MiB of weights and 16 MiB of caches are told apart" % name, SOURCE,
          lambda kit, name=name: story_of_run(kit, name)) for name in run.STORIES if name.endswith("inference")],
    *[Row("F9", "%s, %s: a leak at its line, within 2 %% of its rate" % (wheels, variant or "AdamW"), SOURCE,
          lambda kit, wheels=wheels, variant=variant: rate(kit, wheels, variant))
      for wheels, variant in (("npu", ""), ("npu", "generate"), ("cuda", ""), ("cuda", "generate"))],
    Row("F11", "`prof.step()` ends a step: 24", SOURCE, profiler_steps),
    Row("F12", "the same program on CUDA and on Ascend: `torch -> pta`", SOURCE, vendors),
    Row("F13", "two ranks of DDP are read in at most %d MiB, and rank 1 alone leaks" % READING_MIB_MOST, SOURCE, ranks),
    Row("F14", "of memory that a pool divides, the pool has the peak", SOURCE, peak_of_pool),
]
