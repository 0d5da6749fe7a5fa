# SPDX-License-Identifier: Apache-2.0
"""Tell leaktide what a Python program is doing: steps, ranges, marks, owners, private pools.

And read what was recorded: leaktide.open("run.leaktide"), in leaktide_reading.py.

One file, no build step, nothing beside the standard library; CPython 3.8 and later. Import it
always: without a tracer in the process every call returns at once and nothing is recorded.

    import leaktide

    for batch in leaktide.steps(loader):          # each turn of the loop is a step
        with leaktide.range("forward"):
            loss = model(batch)
        with leaktide.tag("optimizer"):           # blocks made here belong to "optimizer"
            optimizer.step()
    leaktide.mark("epoch 1")

    @leaktide.step()                              # or: each call of the function is a step
    def train_one_batch(batch): ...

Steps belong to the process, so one loop should count them. Ranges and tags nest per thread: what
a thread opens, it closes. A generator or coroutine that yields inside a range must be resumed on
the same thread, or its range ends the wrong one. As a decorator they are for plain functions: of
an async function they would see only how its coroutine is made. All functions may be called from
any thread.
"""

import ctypes
import functools
import os
import warnings
from typing import Any, Callable, Iterable, Iterator, Optional, TypeVar, Union, cast

# Without `range` and `open`: `from leaktide import *` shall not hide the built-ins.
__all__ = [
    "is_traced", "layer", "mark", "pool_alloc", "pool_free", "pool_reserved", "step", "step_begin",
    "step_end", "steps", "tag", "tag_block",
]

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])

_NO_ARGUMENTS = ctypes.CFUNCTYPE(None)
_TEXT = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class _Functions(ctypes.Structure):
    """struct mt_tracer_functions of leaktide/tracer.h."""

    _fields_ = [
        ("size_bytes", ctypes.c_size_t),
        ("step_begin", _NO_ARGUMENTS),
        ("step_end", _NO_ARGUMENTS),
        ("range_push", _TEXT),
        ("range_pop", _NO_ARGUMENTS),
        ("mark", _TEXT),
        ("tag_push", _TEXT),
        ("tag_pop", _NO_ARGUMENTS),
        ("pool_alloc", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p,
                                        ctypes.c_uint64)),
        ("pool_free", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)),
        ("pool_reserved", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint64)),
        ("tag_block", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)),
        ("note", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64,
                                  ctypes.c_uint64)),
    ]


def _find() -> Optional[_Functions]:
    """The tracer of this process; None when there is none, or an older one that lacks calls."""
    try:
        getter = ctypes.CDLL(None).mt_tracer_functions
    except (AttributeError, OSError, TypeError):  # no such symbol; no such loader
        return None
    getter.argtypes = []
    getter.restype = ctypes.POINTER(_Functions)
    found = getter()
    if not found or found.contents.size_bytes < ctypes.sizeof(_Functions):
        return None
    return cast(_Functions, found.contents)


# The fields are fetched once: reading one makes a new callable each time.
class _Tracer:
    def __init__(self, functions: _Functions) -> None:
        self._keep_alive = functions
        for name, _ in _Functions._fields_[1:]:
            setattr(self, name, getattr(functions, name))

    step_begin: Callable[[], None]
    step_end: Callable[[], None]
    range_push: Callable[[bytes], None]
    range_pop: Callable[[], None]
    mark: Callable[[bytes], None]
    tag_push: Callable[[bytes], None]
    tag_pop: Callable[[], None]
    pool_alloc: Callable[[bytes, int, Optional[int], int], None]
    pool_free: Callable[[bytes, int], None]
    pool_reserved: Callable[[bytes, int, int], None]
    tag_block: Callable[[int, bytes], None]
    note: Callable[[bytes, bytes, int, int], None]


_functions = _find()
_tracer = _Tracer(_functions) if _functions is not None else None


def _bytes(text: Union[str, bytes]) -> bytes:
    """UTF-8 without NUL; lone surrogates, as in names of files, become question marks."""
    if isinstance(text, str):
        text = text.encode("utf-8", "replace")
    return text.split(b"\0", 1)[0]


class _Span:
    """Opens something on entry and closes it on exit. Also a decorator: once per call."""

    __slots__ = ()

    def __enter__(self: _T) -> _T:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __call__(self, function: _F) -> _F:
        @functools.wraps(function)
        def inside(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)

        return cast(_F, inside)


class _Step(_Span):
    __slots__ = ("_is_used",)

    def __init__(self) -> None:
        self._is_used = False

    def __call__(self, function: _F) -> _F:
        self._is_used = True
        return super().__call__(function)

    def __enter__(self) -> "_Step":
        self._is_used = True
        step_begin()
        return self

    def __exit__(self, *exception: object) -> None:
        step_end()

    def __del__(self) -> None:
        if not self._is_used:
            warnings.warn("leaktide.step() alone marks nothing: write `with leaktide.step():`, or leaktide.step_begin()",
                          RuntimeWarning, stacklevel=2)


class _Range(_Span):
    __slots__ = ("_name",)

    def __init__(self, name: Union[str, bytes]) -> None:
        self._name = _bytes(name)

    def __enter__(self) -> "_Range":
        if _tracer is not None:
            _tracer.range_push(self._name)
        return self

    def __exit__(self, *exception: object) -> None:
        if _tracer is not None:
            _tracer.range_pop()


class _Tag(_Span):
    __slots__ = ("_owner",)

    def __init__(self, owner: Union[str, bytes]) -> None:
        self._owner = _bytes(owner)

    def __enter__(self) -> "_Tag":
        if _tracer is not None:
            _tracer.tag_push(self._owner)
        return self

    def __exit__(self, *exception: object) -> None:
        if _tracer is not None:
            _tracer.tag_pop()


class _Layer(_Span):
    __slots__ = ("_path",)

    def __init__(self, path: Union[str, bytes]) -> None:
        self._path = _bytes(path)

    def __enter__(self) -> "_Layer":
        if _tracer is not None:
            _tracer.note(b"nn module begin", self._path, 0, 0)
        return self

    def __exit__(self, *exception: object) -> None:
        if _tracer is not None:
            _tracer.note(b"nn module end", self._path, 0, 0)


_NOTHING = _Span()


def _find_control() -> Optional[Callable[..., bool]]:
    try:
        control = ctypes.CDLL(None).mt_control
    except (AttributeError, OSError, TypeError):  # no tracer; no such loader
        return None
    control.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    control.restype = ctypes.c_bool
    return cast(Callable[..., bool], control)


_control = _find_control()


def _ask_recorder(line: str) -> str:
    """What the recorder of this process answers, "" where there is none; ValueError when it refuses."""
    if _control is None:
        return ""
    answer = ctypes.create_string_buffer(4096)
    is_done = _control(os.fsencode(line), answer, len(answer))
    said = os.fsdecode(answer.value).strip()
    if not is_done:
        raise ValueError(said or "not possible here")
    return said


def is_traced() -> bool:
    """True when a leaktide tracer is loaded in this process."""
    return _tracer is not None


def step_begin() -> None:
    """One iteration of the program starts. A step that is still open ends here."""
    if _tracer is not None:
        _tracer.step_begin()


def step_end() -> None:
    """The open step ends; without one, nothing happens."""
    if _tracer is not None:
        _tracer.step_end()


def step() -> _Span:
    """One iteration, for `with leaktide.step():` or as a decorator: `@leaktide.step()`."""
    return _Step() if _tracer is not None else _NOTHING


def steps(iterable: Iterable[_T]) -> Iterator[_T]:
    """The items of `iterable`; the loop body of each item is a step.

    Getting the next item is not part of a step. The last step ends when the loop does, also when
    it is left by `break` or an exception.
    """
    for item in iterable:
        step_begin()
        try:
            yield item
        finally:
            step_end()


def range(name: Union[str, bytes]) -> _Span:  # the built-in of this name is not used here
    """A named part of a step, for `with` or as a decorator. Nests per thread."""
    return _Range(name) if _tracer is not None else _NOTHING


def tag(owner: Union[str, bytes]) -> _Span:
    """Blocks that this thread gets inside belong to `owner`, as in "model@weight". Nests."""
    return _Tag(owner) if _tracer is not None else _NOTHING


def layer(path: Union[str, bytes]) -> _Span:
    """The module of a model of this path, "blocks.17.mlp", runs inside, on this thread. Nests; the innermost counts.

    Of PyTorch `leaktide run --layers=yes` says it by itself.
    """
    return _Layer(path) if _tracer is not None else _NOTHING


def tag_block(address: int, owner: Union[str, bytes]) -> None:
    """The block that holds this address, of a tensor say, belongs to `owner` as well.

    It must be alive; it counts for `owner` from when it was taken. leaktide.tag_block(t.data_ptr(), "kv cache")
    """
    if _tracer is not None:
        _tracer.tag_block(address, _bytes(owner))


def mark(name: Union[str, bytes]) -> None:
    """An instant worth finding again."""
    if _tracer is not None:
        _tracer.mark(_bytes(name))


def pool_alloc(pool: Union[str, bytes], device: int, address: Optional[int],
               size_bytes: int) -> None:
    """A pool of the program hands out size_bytes at address, on device (-1: host memory).

    With address None, the pool could not serve the request. Call it after the block was handed
    out.
    """
    if _tracer is not None:
        _tracer.pool_alloc(_bytes(pool), device, address, size_bytes)


def pool_free(pool: Union[str, bytes], address: int) -> None:
    """The pool takes the block back. Call it before the block can be handed out again."""
    if _tracer is not None:
        _tracer.pool_free(_bytes(pool), address)


def pool_reserved(pool: Union[str, bytes], device: int, size_bytes: int) -> None:
    """What the pool holds from below now, in bytes."""
    if _tracer is not None:
        _tracer.pool_reserved(_bytes(pool), device, size_bytes)


def _reading() -> Any:
    try:
        import leaktide_reading
    except ModuleNotFoundError as error:
        if error.name != "leaktide_reading":
            raise
        raise ImportError("leaktide: recordings are read by leaktide_reading.py, which must lie "
                          "beside leaktide.py") from None
    return leaktide_reading


def open(path: Any = None, *more: Any, **options: Any) -> Any:  # nor is this one
    """A recording, to be read: see open_recording() of leaktide_reading.py, beside this file.

    with leaktide.open("run.leaktide") as recording:
        print(recording.verdict, recording.leaks())  # NotJudged: nobody can say what leaks
    """
    return _reading().open_recording(path, *more, **options)


def __getattr__(name: str) -> Any:
    """leaktide.NotJudged: loaded by those who name it."""
    if name == "NotJudged":
        return _reading().NotJudged
    raise AttributeError("module 'leaktide' has no attribute %r" % name)


def _offer_msmemscope() -> None:
    """leaktide.msmemscope, where its file lies beside this one."""
    import importlib
    import sys

    try:
        module = importlib.import_module("leaktide_msmemscope")
    except ImportError:  # this file was copied alone
        return
    globals()["msmemscope"] = module
    sys.modules[__name__ + ".msmemscope"] = module


_offer_msmemscope()
