"""msmemscope itself and leaktide under its name: how each is started, and rows of what they did.

The original lies as it is built (build_original.sh): output/{bin,lib64}, python/msmemscope with _msmemscope.so in it, example.
"""
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
MSTX = '''import ctypes
_library = ctypes.CDLL("libms_tools_ext.so")
_library.mstxRangeStartA.restype = ctypes.c_uint64
def mark(message, stream=None): _library.mstxMarkA(message.encode(), ctypes.c_void_p(stream))
def range_start(message, stream=None): return _library.mstxRangeStartA(message.encode(), ctypes.c_void_p(stream))
def range_end(number): _library.mstxRangeEnd(ctypes.c_uint64(number))
'''
LIMIT_SECONDS = 900


@dataclass
class Tool:
    command: str  # its bin/msmemscope
    modules: str  # the folder of its Python modules
    environment: dict = field(default_factory=dict)


def tools(original, leaktide):
    """Theirs, then ours."""
    ours = os.path.join(os.path.dirname(os.path.dirname(leaktide)), "share", "leaktide", "msmemscope", "bin", "msmemscope")
    return (Tool(os.path.join(original, "output", "bin", "msmemscope"), os.path.join(original, "python")),
            Tool(ours, os.path.join(HERE, "..", "..", "tracer", "python"), {"LEAKTIDE_COMMAND": leaktide}))


def environment_for(tool, cann, folders=()):
    """CANN's own Python module is made here, beside its libraries."""
    with open(os.path.join(cann, "mstx.py"), "w") as file:
        file.write(MSTX)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FAKE_", "PYTORCH_"))}
    environment.update(ASCEND_HOME_PATH=cann, ASCEND_OPP_PATH=cann, LD_LIBRARY_PATH=os.path.join(cann, "lib64"),
                       PYTHONPATH=os.pathsep.join([cann, tool.modules, *folders]), OMP_NUM_THREADS="1",
                       PYTHONDONTWRITEBYTECODE="1", **tool.environment)
    return environment


def run(command, folder, environment):
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS)


def run_python(tool, program, folder, environment):
    """As that tool's manual says: the program begins the recording."""
    script = 'source "$1" --load-api-env >/dev/null; exec "$2" -S "$3"'
    return run(["bash", "-c", script, "bash", tool.command, sys.executable, program], folder, environment)


class Table:
    """Prints row by row; is_right: nowhere less than the original, but where the docs say so."""

    def __init__(self, name):
        self.name, self.is_right = name, True

    def row(self, what, theirs, ours, documented=""):
        is_less = ours < theirs if isinstance(ours, int) and isinstance(theirs, int) else ours != theirs
        word = ("equal" if ours == theirs else "documented: " + documented if documented else "LESS" if is_less
                else "more")
        self.is_right &= word != "LESS"
        print("%-22s %-74s %10s %10s  %s" % (self.name, what, theirs, ours, word), flush=True)


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "ADDRESS", text).strip()
