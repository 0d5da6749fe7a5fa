# SPDX-License-Identifier: Apache-2.0
"""The functions of the Python module msmemscope (msleaks), for programs under leaktide.

    from leaktide import msmemscope          # instead of: import msmemscope

    msmemscope.start()
    with msmemscope.RecordFunction("forward"):
        ...
    msmemscope.step()
    msmemscope.take_snapshot(name="after warm-up")
    msmemscope.stop()

What needs the vendor's code is not here: hooks of frameworks and the sanitizer; whoever asks for them gets a
warning. Without a tracer in the process every
call returns at once and nothing is recorded. Arguments are checked all the same, so a wrong one shows
everywhere. The analyzers need no tracer: they run the command leaktide on files; it is taken from
LEAKTIDE_COMMAND, else from beside this file, else from PATH.
"""

import atexit
import functools
import os
import re
import sys
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, TypeVar, Union, cast

import leaktide
from leaktide import _ask_recorder

__all__ = [
    "InefficientAnalyzer", "InefficientConfig", "LeaksAnalyzer", "LeaksConfig", "RecordFunction",
    "TakeSnapshot", "analyze", "check_inefficient", "check_leaks", "cleanup_framework_hooks", "config", "describe",
    "enable_npu_sanitizer", "get_analyzer_config", "init_framework_hooks", "list_analyzers", "start",
    "step", "stop", "take_snapshot", "tracer", "watcher",
]

_F = TypeVar("_F", bound=Callable[..., Any])

_NAME_MOST = 128
_LABELS_MOST = 3
_WATCH_NAME_MOST = 64


def _say(line: str) -> None:
    """The same, for what has no answer."""
    _ask_recorder(line)


def _check_name(name: Any, what: str) -> str:
    if not isinstance(name, str):
        raise TypeError("%s: a str is needed, not %s" % (what, type(name).__name__))
    if not 0 < len(name) <= _NAME_MOST:
        raise ValueError("%s: 1 to %d characters are needed" % (what, _NAME_MOST))
    return name


# --- recording ------------------------------------------------------------------------------------

def start() -> None:
    """Record from here on."""
    _files.prepare()
    _say("step open")
    _say("start")


def stop() -> None:
    """Record nothing new; blocks that were recorded are still freed."""
    _say("stop")


def step() -> None:
    """A step ends: the first began with start() or config(), each other where the one before it ended."""
    _say("step done")


def _list_of(*words: str) -> "re.Pattern[str]":
    one = "(?:%s)" % "|".join(words)
    return re.compile(r"%s(?:,%s)*\Z" % (one, one))


_NUMBER = r"(?:0|[1-9]\d{0,2}|1000)"
_OPTIONS: Dict[str, "re.Pattern[str]"] = {
    "call_stack": _list_of(r"c(?::%s)?" % _NUMBER, r"python(?::%s)?" % _NUMBER),
    "level": _list_of("op", "kernel", "0", "1"),
    "events": _list_of("alloc", "free", "launch", "access", "traceback", "none"),
    "device": _list_of(r"npu(?::(?:[12]?\d|3[01]))?", "cpu"),
    "format": re.compile(r"(?:csv|db)\Z"),
    "output_path": re.compile(r"(?s).+\Z"),
    "analysis": re.compile(r"(?:%s)?\Z" % _list_of("leaks", "decompose", "inefficient",
                                                    r"oom(?::[1-9]\d{0,3})?", "host-leaks",
                                                    "none").pattern[:-2]),
    "watch": re.compile(r"[^,]*,[^,]+(?:,full-content)?\Z"),
}
_DEPRECATED = {"data_format": "format", "output": "output_path"}
_ONCE = ("format", "output_path", "watch")
_FOR_FILES = ("format", "output_path")
_configured: Dict[str, str] = {}


class _Files:
    """The files of a recording that this program began by itself: nobody else will write them."""

    def __init__(self) -> None:
        self._owner: Optional[int] = None  # the process: a forked child has its parent's recording

    def prepare(self) -> bool:
        """False where the command that started the recording writes them. Begins nothing yet."""
        folder = os.path.join(self.folder(), "msmemscope_%d.leaktide" % os.getpid())
        if self._owner is None:
            try:
                if not _ask_recorder("place " + folder):
                    return False
            except ValueError:
                return False
            self._owner = os.getpid()
            atexit.register(self._write)
        return True

    @staticmethod
    def folder() -> str:
        return os.path.abspath(_configured.get("output_path", "memscopeDumpResults"))

    def _write(self) -> None:
        """At exit. What the program frees later is in the recording, which stays."""
        import subprocess

        if self._owner != os.getpid():
            return
        recording = _ask_recorder("place ")[len("ok "):]
        if not os.path.isdir(recording):
            return
        options = ["--%s=%s" % (name.replace("_", "-"), value) for name, value in _configured.items()
                   if name not in ("output_path", "watch")]
        try:
            subprocess.run([_command(), "msmemscope", "--input-path=" + recording, "--collect-mode=deferred",
                            "--output-path=" + self.folder(), *options], env=_environment(), check=False)
        except OSError as trouble:
            warnings.warn("the files of %s were not written: %s" % (recording, trouble), RuntimeWarning)


_files = _Files()


def _option(key: str, value: Any) -> str:
    if key == "analysis" and isinstance(value, (list, tuple)):
        value = ",".join(value)
    if not isinstance(value, str):
        raise TypeError("%s: a str is needed, not %s" % (key, type(value).__name__))
    value = value.replace("\uff0c", ",")
    if not _OPTIONS[key].match(value):
        raise ValueError("invalid %s input: %r" % (key, value))
    return value


def config(**options: Any) -> None:
    """call_stack, level, events, device, format, output_path, analysis, watch: all texts, with the
    words of the command line.

    They hold from here on, but for format, output_path and what a recording cannot change while it
    runs: those are taken from the command line that started it, and a warning says so. Where none
    did (`source msmemscope --load-api-env`), they are what the files are written with at the end.
    """
    changed = {}
    for key, value in options.items():
        name = _DEPRECATED.get(key, key)
        if name not in _OPTIONS:
            raise TypeError("config() has no option %r" % key)
        if name != key:
            warnings.warn("%r is deprecated, use %r instead" % (key, name), DeprecationWarning,
                          stacklevel=2)
        if name in _ONCE and name in _configured:
            raise ValueError("%s can be given only once" % name)
        changed[name] = _option(name, value)
    _configured.update(changed)
    has_files = _files.prepare()
    _say("step open")
    for name, value in changed.items():
        if has_files and name in _FOR_FILES:
            continue
        try:
            _say("set %s=%s" % (name.replace("_", "-"), value))
        except ValueError as refused:
            warnings.warn("%s: taken from the command line that started the recording: %s"
                          % (name, refused), RuntimeWarning, stacklevel=2)


def take_snapshot(device_mask: Optional[Union[int, Sequence[int]]] = None,
                  name: str = "Memory Snapshot") -> None:
    """Reads the system's counters now, under this name, and writes all that is recorded to disk.

    device_mask is accepted; all devices in use are read.
    """
    del device_mask
    _say("snapshot " + _check_name(name, "name"))


class _Span:
    """For `with`, or as a decorator: once per call."""

    def __enter__(self) -> "_Span":
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError

    def __call__(self, function: _F) -> _F:
        @functools.wraps(function)
        def inside(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)

        return cast(_F, inside)


class TakeSnapshot(_Span):
    """A snapshot on entry and one on exit."""

    def __init__(self, device_mask: Optional[Union[int, Sequence[int]]] = None,
                 name: str = "Memory Snapshot") -> None:
        self._device_mask = device_mask
        self._name = _check_name(name, "name")

    def __enter__(self) -> "TakeSnapshot":
        take_snapshot(self._device_mask, (self._name + " Start")[:_NAME_MOST])
        return self

    def __exit__(self, *exception: object) -> None:
        take_snapshot(self._device_mask, (self._name + " End")[:_NAME_MOST])


class RecordFunction(_Span):
    """A named part of the program."""

    def __init__(self, name: str) -> None:
        self._range = leaktide.range(_check_name(name, "name"))

    def __enter__(self) -> "RecordFunction":
        self._range.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._range.__exit__(*exception)


# --- owners ---------------------------------------------------------------------------------------

class _Owner(_Span):
    def __init__(self, owner: str) -> None:
        self._owner = owner

    def __enter__(self) -> "_Owner":
        labels = describe.labels
        if len(labels) >= _LABELS_MOST:
            raise ValueError("describer: at most %d labels are inside each other" % _LABELS_MOST)
        labels.append(self._owner)
        leaktide.tag("@".join(labels)).__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        labels = describe.labels
        if labels:
            leaktide.tag("").__exit__(*exception)
            labels.pop()


def _address_of(tensor: Any) -> int:
    """Of a tensor, or a number that is one already; of a view, where it begins."""
    address = tensor.data_ptr() if hasattr(tensor, "data_ptr") else tensor
    if isinstance(address, bool) or not isinstance(address, int):
        raise TypeError("a tensor or an address is needed, not %s" % type(tensor).__name__)
    if not 0 <= address < 1 << 64:
        raise ValueError("%d is no address" % address)
    return address


class _Describe:
    """Names the owner of the blocks that a part of the program takes."""

    def __init__(self) -> None:
        self._threads = threading.local()

    @property
    def labels(self) -> List[str]:
        """Those that are open on this thread, the outermost first."""
        if not hasattr(self._threads, "labels"):
            self._threads.labels = []
        return cast(List[str], self._threads.labels)

    @property
    def depth(self) -> int:
        return len(self.labels)

    def describer(self, obj: Any = None, owner: str = "") -> Any:
        """With a function, or without anything, a decorator; also for `with`.

        With a tensor, or an address: the block that holds it belongs to `owner` as well, from when
        it was taken. The tensor is given back.
        """
        label = _Owner(_check_name(owner, "owner"))
        if obj is None:
            return label
        if callable(obj) and not hasattr(obj, "data_ptr"):
            return label(obj)
        leaktide.tag_block(_address_of(obj), owner)
        return obj


describe = _Describe()


# --- watching -------------------------------------------------------------------------------------

class _Watcher:
    """Tensors whose contents are read before and after every operator: docs/watch.md."""

    def watch(self, tensor: Any, name: str = "", dump_nums: int = -1,
              length: Optional[int] = None) -> None:
        """dump_nums: so many readings at most, -1 for no limit. length: bytes, for an address."""
        address = _address_of(tensor)
        if length is None:
            if not hasattr(tensor, "element_size"):
                raise ValueError("watch: an address needs its length")
            length = tensor.numel() * tensor.element_size()
        if not isinstance(length, int) or length <= 0:
            raise ValueError("length: a number of bytes above 0 is needed")
        if not isinstance(dump_nums, int) or dump_nums < -1 or dump_nums == 0:
            raise ValueError("dump_nums: a number above 0 is needed, or -1")
        if not isinstance(name, str):
            raise TypeError("name: a str is needed, not %s" % type(name).__name__)
        if not 0 < len(name) <= _WATCH_NAME_MOST:
            raise ValueError("name: 1 to %d characters are needed" % _WATCH_NAME_MOST)
        _say("watch %d %d %d %s" % (address, length, dump_nums, name))

    def remove(self, tensor: Any, length: Optional[int] = None) -> None:
        """No longer; ValueError when it is not watched."""
        del length
        _say("unwatch %d" % _address_of(tensor))


watcher = _Watcher()


# --- functions ------------------------------------------------------------------------------------

class _FunctionTracer:
    """When functions of Python begin and end, between start() and stop(): a row for each call.

    It costs about 2.5 microseconds at each end of a call. Functions of C are not told of. From Python
    3.12 on all threads are seen at once (sys.monitoring); before, this thread and those that begin
    later (sys.setprofile), and no other profiler meanwhile.
    """

    def __init__(self) -> None:
        self._names: Dict[Any, bytes] = {}
        self._tool: Optional[int] = None
        self._is_on = False
        self._own = {__file__, leaktide.__file__}

    def _name(self, code: Any) -> bytes:
        """b"" for our own functions."""
        name = self._names.get(code)
        if name is None:
            text = "%s(%d): %s" % (code.co_filename, code.co_firstlineno,
                                   getattr(code, "co_qualname", code.co_name))
            name = b"" if code.co_filename in self._own else text.encode("utf-8", "replace")
            self._names[code] = name
        return name

    def _begins(self, code: Any, *_: Any) -> None:
        name = self._name(code)
        if name and leaktide._tracer is not None:
            leaktide._tracer.note(b"python call", name, 0, 0)

    def _ends(self, code: Any, *_: Any) -> None:
        name = self._name(code)
        if name and leaktide._tracer is not None:
            leaktide._tracer.note(b"python return", name, 0, 0)

    def _profile(self, frame: Any, event: str, argument: Any) -> None:
        del argument
        if event == "call":
            self._begins(frame.f_code)
        elif event == "return":
            self._ends(frame.f_code)

    def _monitor(self, monitoring: Any) -> bool:
        """False when others have taken every place."""
        for tool in (monitoring.PROFILER_ID, 3, 4):
            try:
                monitoring.use_tool_id(tool, "leaktide")
            except ValueError:
                continue
            events = monitoring.events
            begins = (events.PY_START, events.PY_RESUME, events.PY_THROW)
            ends = (events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND)
            for event in begins:
                monitoring.register_callback(tool, event, self._begins)
            for event in ends:
                monitoring.register_callback(tool, event, self._ends)
            self._tool = tool
            monitoring.set_events(tool, sum(begins) + sum(ends))
            return True
        return False

    def start(self) -> None:
        """From the next call on."""
        if self._is_on:
            return
        self._is_on = True
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is None or not self._monitor(monitoring):
            threading.setprofile(self._profile)
            sys.setprofile(self._profile)

    def stop(self) -> None:
        """Calls that are open then have no end."""
        if not self._is_on:
            return
        self._is_on = False
        if self._tool is not None:
            monitoring = getattr(sys, "monitoring")
            monitoring.set_events(self._tool, 0)
            monitoring.free_tool_id(self._tool)
            self._tool = None
        else:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]


tracer = _FunctionTracer()


# --- files ----------------------------------------------------------------------------------------

def _command() -> str:
    import shutil

    chosen = os.environ.get("LEAKTIDE_COMMAND")
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.join(here, *[os.pardir] * 3, "bin", "leaktide")  # of an installed tree
    in_target = os.path.join(here, "bin", "leaktide")  # of pip install --target
    for candidate in (chosen, beside, in_target, shutil.which("leaktide")):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise FileNotFoundError("the command leaktide is not in PATH; name it in LEAKTIDE_COMMAND")


def _environment() -> Dict[str, str]:
    """For a command of ours, which nobody records."""
    return {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "LEAKTIDE_OPTIONS")}


def _ask(analysis: str, input_path: str, *options: str) -> bool:
    """Prints what the command says; True when it found something."""
    import subprocess

    if not isinstance(input_path, (str, os.PathLike)):
        raise TypeError("input_path: a path is needed, not %s" % type(input_path).__name__)
    done = subprocess.run([_command(), "msmemscope", "--analysis=" + analysis,
                           "--input-path=" + os.fspath(input_path), *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment(),
                          universal_newlines=True, check=False)
    print(done.stdout, end="")
    if done.returncode not in (0, 1, 4):
        raise ValueError(done.stderr.strip() or "leaktide ended with %d" % done.returncode)
    return done.returncode == 1


def check_leaks(input_path: str, mstx_info: str, start_index: int = 0) -> bool:
    """Driver blocks that a stretch between marks left behind; prints them.

    Of the marks with the text mstx_info, those with the numbers start_index, + 1 and + 2 count: what
    is taken between the first two and not given back up to the third is left behind.
    """
    if not isinstance(start_index, int) or start_index < 0:
        raise ValueError("start_index: a whole number from 0 is needed")
    return _ask("leaks", input_path, "--mstx-info=" + mstx_info,
                "--start-index=%d" % start_index)


def check_inefficient(input_path: str, mem_size: int = 0,
                      inefficient_type: Optional[Union[str, Sequence[str]]] = None,
                      idle_threshold: int = 3000) -> bool:
    """Blocks that are used badly; writes what it finds into the file, and prints how much."""
    options = ["--mem-size=%d" % mem_size, "--idle-threshold=%d" % idle_threshold]
    if inefficient_type:
        types = [inefficient_type] if isinstance(inefficient_type, str) else inefficient_type
        options.append("--inefficient-type=" + ",".join(types))
    return _ask("inefficient", input_path, *options)


_ANALYZERS: Dict[str, Callable[..., bool]] = {"leaks": check_leaks,
                                              "inefficient": check_inefficient}


def list_analyzers() -> List[str]:
    """What analyze() knows."""
    return list(_ANALYZERS)


def get_analyzer_config(analyzer_type: str) -> Dict[str, Any]:
    """The arguments of an analyzer, with their defaults; None where one must be given."""
    import inspect

    if analyzer_type not in _ANALYZERS:
        raise ValueError("there is no analyzer %r; there are %s"
                         % (analyzer_type, ", ".join(_ANALYZERS)))
    empty = inspect.Parameter.empty
    return {name: None if parameter.default is empty else parameter.default for name, parameter
            in inspect.signature(_ANALYZERS[analyzer_type]).parameters.items()}


def analyze(analyzer_type: str, **arguments: Any) -> bool:
    """check_leaks() or check_inefficient(), by name."""
    get_analyzer_config(analyzer_type)
    return _ANALYZERS[analyzer_type](**arguments)


class LeaksConfig:
    """The arguments of check_leaks(), which looks at them when the analyzer runs."""

    def __init__(self, input_path: str, mstx_info: str, start_index: int = 0) -> None:
        self.input_path, self.mstx_info, self.start_index = input_path, mstx_info, start_index


class InefficientConfig:
    """The arguments of check_inefficient(), which looks at them when the analyzer runs."""

    def __init__(self, input_path: str, mem_size: int = 0,
                 inefficient_type: Optional[Union[str, Sequence[str]]] = None,
                 idle_threshold: int = 3000) -> None:
        self.input_path, self.mem_size = input_path, mem_size
        self.inefficient_type, self.idle_threshold = inefficient_type, idle_threshold


class LeaksAnalyzer:
    """check_leaks() as a class."""

    def analyze(self, config: Optional[LeaksConfig] = None, **arguments: Any) -> bool:
        return check_leaks(**(vars(config) if config else arguments))


class InefficientAnalyzer:
    """check_inefficient() as a class."""

    def analyze(self, config: Optional[InefficientConfig] = None, **arguments: Any) -> bool:
        return check_inefficient(**(vars(config) if config else arguments))


# --- not here -------------------------------------------------------------------------------------

def _not_here(what: str) -> None:
    warnings.warn("%s: leaktide does not have this; the recording goes on without it" % what,
                  RuntimeWarning, stacklevel=3)


def init_framework_hooks(framework: str, version: str, component: str, hook_type: str) -> None:
    """A warning: owners of frameworks come from their pools and from tags (describe.describer)."""
    _not_here("init_framework_hooks(%r, %r, %r, %r)" % (framework, version, component, hook_type))


def cleanup_framework_hooks() -> None:
    """Nothing: there are none."""


def enable_npu_sanitizer() -> None:
    """A warning."""
    _not_here("enable_npu_sanitizer()")
