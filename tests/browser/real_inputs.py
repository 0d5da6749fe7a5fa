# SPDX-License-Identifier: Apache-2.0
"""
Recordings of real programs for the tests of the page, made where what they need is here:

    paths = real_inputs(LEAKTIDE, REFERENCE-DATA, FOLDER, ("torch", "sqlite"))     # a name that cannot be had is not in it

MT_TORCH_RECORDING, MT_JAX_RECORDING and MT_MINDSPORE_RECORDING name recordings that are there already; MT_TORCH_PYTHON
a Python that has PyTorch. The wheels of JAX and MindSpore are those of tests/frameworks/run.py.
"""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FRAMEWORKS = os.path.join(HERE, "..", "frameworks")
sys.path.insert(0, FRAMEWORKS)
from run import CACHE  # noqa: E402

SQL = ("create table t(a integer primary key, b text);"
       "with recursive c(x) as (select 1 union all select x+1 from c where x<20000) insert into t select x, hex(randomblob(100)) from c;"
       "create index i on t(b); select count(*), max(b) from t;")
REFERENCES = {"profile": "ascend/st-level2", "snapshot": "pytorch/torch2.6_cs336_silmont_bf16.pickle"}


def record(leaktide, path, program, *options, **environment):
    """The path, or None where the program fails, as it does where what it imports is not here."""
    status = subprocess.run([leaktide, "run", "--quiet", "--no-report", "--device=cpu", *options, "-o", path, "--", *program],
                            stdout=subprocess.DEVNULL, timeout=600, env={**os.environ, **environment}).returncode
    return path if status == 0 else None


def torch_recording(leaktide, path):
    python = os.environ.get("MT_TORCH_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return None
    return record(leaktide, path, [python, os.path.join(HERE, "torch_leaking.py"), "30"], "--call-stack=python,c")


def framework_recording(name):
    def make(leaktide, path):
        wheels = os.path.join(CACHE, name, "site-packages")
        if not os.path.isdir(wheels):
            return None
        program = os.path.join(FRAMEWORKS, "programs", name + "_loop.py")
        return record(leaktide, path, [sys.executable, "-S", program], "--call-stack=python,c", PYTHONPATH=wheels,
                      OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    return make


def sqlite_recording(leaktide, path):
    return record(leaktide, path, ["sqlite3", ":memory:", SQL], "--call-stack=c") if shutil.which("sqlite3") else None


PROGRAMS = {"torch": torch_recording, "sqlite": sqlite_recording, "jax": framework_recording("jax"),
            "mindspore": framework_recording("mindspore")}
NAMES = (*PROGRAMS, *REFERENCES)


def real_inputs(leaktide, reference_data, folder, names=NAMES):
    """{name: path}, of those of these names that can be had here; it says which cannot."""
    paths = {}
    for name in names:
        if name in REFERENCES:
            path = os.path.join(reference_data, REFERENCES[name]) if reference_data else ""
            paths[name] = path if os.path.exists(path) else None
        else:
            paths[name] = (os.environ.get("MT_%s_RECORDING" % name.upper()) or
                           PROGRAMS[name](leaktide, os.path.join(folder, name + ".leaktide")))
        if not paths[name]:
            print("left out, as it is not here: " + name, flush=True)
    return {name: path for name, path in paths.items() if path}
