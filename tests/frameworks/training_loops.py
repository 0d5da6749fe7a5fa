#!/usr/bin/env python3
"""Training that libraries run, nothing marked: accelerate and Lightning on a device that is not there.

    training_loops.py [--cache FOLDER] [--fetch] [--only TEXT]... LEAKTIDE

Each loop is recorded with a leak and mended. The steps must be those of the training, whatever else the loop does; the leak must
be named with its line, and the mended one must not be called a leak. Prints a table; the status is 1 where something is not so,
77 where nothing could be run.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import make_fakes  # noqa: E402
import pairs  # noqa: E402
import run  # noqa: E402

run.WHEELS["accelerate"] = [
    "accelerate==1.15.0", "lightning==2.6.6", "lightning-utilities", "torchmetrics", "safetensors", "huggingface_hub", "hf-xet", "regex",
    "requests", "urllib3", "idna", "certifi", "charset-normalizer", "httpx", "httpcore", "h11", "anyio", "sniffio", "aiohttp", "aiosignal",
    "frozenlist", "multidict", "yarl", "propcache", "attrs", "aiohappyeyeballs", "tqdm", "psutil"]
TURNS, TURNS_OF_A_STEP = 72, 4
STEPS = {"plain": TURNS, "evaluated": TURNS, "two": TURNS, "scheduled": TURNS, "accumulated": TURNS // TURNS_OF_A_STEP}


def answer(options, question, into):
    done = subprocess.run([options.leaktide, question, "--format=json", into], capture_output=True, text=True,
                          timeout=run.LIMIT_SECONDS)
    return json.loads(done.stdout)


def record(options, library, shape, is_mended, folders, fakes, scratch):
    story = run.Story("", library + "_loop.py", "cuda", environment={"SHAPE": shape, "MENDED": str(int(is_mended))})
    into = os.path.join(scratch, "run")
    done = subprocess.run([options.leaktide, "run", "--device=gpu", "--call-stack=python,c", "--no-report", "-o", into, "--",
                           sys.executable, "-S", os.path.join(HERE, "programs", story.program)],
                          env=run.environment_of(story, folders, fakes, scratch), capture_output=True, text=True,
                          timeout=run.LIMIT_SECONDS)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-400:])
    return into


def faults_of(options, library, shape, is_mended, into):
    leaks = [finding["sentence"] for finding in answer(options, "leaks", into)["findings"] if finding["kind"] == "leak"]
    steps = answer(options, "steps", into)["facts"]["step_count"]
    if steps != STEPS[shape]:
        yield "%s steps, not %d" % (steps, STEPS[shape])
    if is_mended and leaks:
        yield "mended: %s" % leaks
    line = " at remember (programs/%s_loop.py:" % library  # on several ways, where batches are accumulated
    if not is_mended and not (leaks and all(line in leak for leak in leaks)):
        yield "leak: %s" % leaks


def tell(options, library, shape, made):
    """None: no wheels."""
    name = "%s, %s" % (library, shape)
    folders = run.packages(options, "cuda", "dependencies", "accelerate")
    if not folders:
        print("%-28s skipped: no wheels in %s" % (name, options.cache), flush=True)
        return None
    if "fakes" not in made:
        make_fakes.make(make_fakes.CUDA, folders[:2], os.path.join(made["folder"], "fakes"))
        made["fakes"] = os.path.join(made["folder"], "fakes")
    faults = []
    for is_mended in (False, True):
        with tempfile.TemporaryDirectory() as scratch:
            into = record(options, library, shape, is_mended, folders, made["fakes"], scratch)
            faults += faults_of(options, library, shape, is_mended, into)
    print("%-28s %s" % (name, "; ".join(faults) or "right, %d steps" % STEPS[shape]), flush=True)
    return not faults


def tellers(made):
    for library in ("accelerate", "lightning"):
        for shape in STEPS:
            yield "%s, %s" % (library, shape), lambda options, library=library, shape=shape: tell(options, library, shape, made)


if __name__ == "__main__":
    sys.exit(pairs.score(__doc__, tellers))
