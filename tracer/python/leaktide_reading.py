# SPDX-License-Identifier: Apache-2.0
"""Read recordings from Python: verdict, findings, tables. No build step: ctypes on libleaktide.

    import leaktide

    with leaktide.open("run.leaktide") as recording:
        print(recording.verdict)
        for leak in recording.leaks():  # NotJudged where nobody can say whether something leaks
            print(leak.bytes_per_step, leak.site, leak.advice)
        peak = recording.peak()
        peak.tables["held_at_peak"].to_pandas()

In a notebook a recording and an answer show their verdict and tables. What is returned is Python's
own: it stays when the recording is closed. A recording may be used from several threads, which then
wait for each other. The library is the file that LEAKTIDE_LIBRARY names, else the one of the folder
tree in which this file lies, else what the loader finds. CPython 3.8 and later.
"""

import ctypes
import glob
import html
import os
import threading
import weakref
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

__all__ = [
    "Answer", "Cancelled", "Error", "Finding", "Frame", "NotFound", "NotJudged", "Recording",
    "Table", "Tables", "WrongUse", "open_recording",
]

_SONAME = "libleaktide.so.0.1"
_Path = Union[str, "os.PathLike[str]"]
Progress = Callable[[int, int, int], Optional[bool]]


class Error(Exception):
    """What the library says when it cannot: one sentence; `result` is its MT_ code."""

    result = 0


class NotFound(Error, FileNotFoundError):
    """There is no such recording."""


class WrongUse(Error, ValueError):
    """No recording is named, there is no such question, or an option makes no sense."""


class Cancelled(Error):
    """The progress function returned False."""


class NotJudged(Error):
    """No leak was found, but nobody can say that there is none; the text says why."""

    doubt: Optional[str] = None  # a word for it, as "steps": docs/summaries.md
    answer: Optional["Answer"] = None  # all that is said instead


_USAGE, _NOT_FOUND, _CANCELLED = 1, 5, 8
_KINDS_OF_ERROR = {_USAGE: WrongUse, _NOT_FOUND: NotFound, _CANCELLED: Cancelled}


@dataclass(frozen=True)
class Frame:
    """A call of a stack. Texts that are not known are ""; so is line 0."""

    function: str
    file: str
    line: int
    module: str
    is_inlined: bool
    is_plumbing: bool


@dataclass(frozen=True)
class Finding:
    """Something that was found, as a leak. `values` has all its figures, by their keys in JSON."""

    kind: str
    sentence: str
    site: Optional[str]
    ledger: Optional[str]
    bytes_per_step: Optional[int]
    advice: Optional[str]
    stack: List[Frame] = field(repr=False)
    values: Dict[str, Any] = field(repr=False)


class Table(List[Dict[str, Any]]):
    """A list of rows, each a dict from the key of a column to a value of Python's."""

    def __init__(self, name: str, title: str, columns: Dict[str, Optional[str]],
                 rows: List[Dict[str, Any]], remarks: List[str],
                 ledger: Optional[str] = None) -> None:
        super().__init__(rows)
        self.name = name
        self.ledger = ledger  # the memory pool that it is about; None: about none, or about all
        self.title = title
        self.columns = columns  # key: title for people, None when not shown to them
        self.remarks = remarks

    def to_pandas(self) -> Any:
        """The same as a pandas.DataFrame; ImportError where there is no pandas."""
        import pandas  # type: ignore

        return pandas.DataFrame(list(self), columns=list(self.columns))

    def _repr_html_(self, most: int = 20) -> str:
        shown = [(key, title) for key, title in self.columns.items() if title is not None]
        head = "".join("<th>%s</th>" % html.escape(title) for _, title in shown)
        rows = ["<tr>%s</tr>" % "".join("<td>%s</td>" % html.escape(_shown(key, row[key]))
                                        for key, _ in shown) for row in self[:most]]
        below = ["<p>%s</p>" % html.escape(remark) for remark in self.remarks]
        if len(self) > most:
            below.insert(0, "<p>%d more rows</p>" % (len(self) - most))
        return "<h4>%s</h4><table><tr>%s</tr>%s</table>%s" % (
            html.escape(self.title), head, "".join(rows), "".join(below))


class Tables(Sequence[Table]):
    """The tables of an answer in its order; also by name, tables["leaks"], which is the first of
    that name, or by name and ledger, tables["held_at_peak", "cuda device 0"]."""

    def __init__(self, tables: List[Table]) -> None:
        self._tables = tables

    def __len__(self) -> int:
        return len(self._tables)

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, (str, tuple)):
            return self._tables[which]
        for table in self._tables:
            if which in (table.name, (table.name, table.ledger)):
                return table
        raise KeyError(which)

    def __iter__(self) -> Iterator[Table]:
        return iter(self._tables)

    def __repr__(self) -> str:
        return "<tables: %s>" % ", ".join("%s (%d rows)" % (table.name, len(table))
                                          for table in self._tables)


@dataclass(frozen=True)
class Answer:
    """What a question about a recording was answered. outcome: "fine", "no data" or "found"."""

    question: str
    outcome: str
    verdict: List[str]
    facts: Dict[str, Any] = field(repr=False)
    findings: List[Finding] = field(repr=False)
    tables: Tables
    notes: List[str] = field(repr=False)  # what was lost, skipped or guessed

    def _repr_html_(self) -> str:
        verdict = "".join("<p><b>%s</b></p>" % html.escape(sentence) for sentence in self.verdict)
        # A table without rows has nothing to show.
        return verdict + "".join(table._repr_html_() for table in self.tables if table)


def _shown(key: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):  # a series
        return "%s … %s" % (_shown(key, value[0]), _shown(key, value[-1])) if value else ""
    if isinstance(value, int) and not isinstance(value, bool):
        return _size(value) if "bytes" in key.split("_") else "{:,}".format(value)
    return str(value)


def _size(size_bytes: int) -> str:
    size, units = float(abs(size_bytes)), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return "%s%.4g %s" % ("-" if size_bytes < 0 else "", size, units[0])


# --- leaktide/*.h -------------------------------------------------------------------------------


class _Error(ctypes.Structure):
    _fields_ = [("message", ctypes.c_char * 512), ("option", ctypes.c_char_p)]


class _Progress(ctypes.Structure):
    _fields_ = [("event_count", ctypes.c_uint64), ("expected_count", ctypes.c_uint64),
                ("reading", ctypes.c_uint)]


_ProgressFunction = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.POINTER(_Progress))


class _OpenOptions(ctypes.Structure):
    _fields_ = [("size_bytes", ctypes.c_size_t), ("is_partial", ctypes.c_bool),
                ("steps", ctypes.c_char_p), ("schedule", ctypes.c_uint64 * 5),
                ("step_site", ctypes.c_char_p), ("site_rules", ctypes.c_char_p),
                ("sysroot", ctypes.c_char_p), ("debug_folders", ctypes.c_char_p),
                ("on_progress", _ProgressFunction), ("progress_context", ctypes.c_void_p),
                ("asks_debug_servers", ctypes.c_bool)]


class _AskOptions(ctypes.Structure):
    _fields_ = [("size_bytes", ctypes.c_size_t), ("top", ctypes.c_size_t),
                ("warm_up_steps", ctypes.c_int), ("margin_percent", ctypes.c_uint),
                ("block_name", ctypes.c_char_p), ("block_least_bytes", ctypes.c_uint64),
                ("block_most_bytes", ctypes.c_uint64), ("block_from_ns", ctypes.c_uint64),
                ("block_to_ns", ctypes.c_uint64), ("flags", ctypes.c_uint64),
                ("stack_depth", ctypes.c_uint), ("stack_least_percent", ctypes.c_uint),
                ("allocator_settings", ctypes.c_char_p), ("parallel", ctypes.c_char_p),
                ("page_folder", ctypes.c_char_p), ("why", ctypes.c_char_p)]


class _Frame(ctypes.Structure):
    _fields_ = [("function", ctypes.c_char_p), ("file", ctypes.c_char_p),
                ("module", ctypes.c_char_p), ("line", ctypes.c_uint32),
                ("is_inlined", ctypes.c_bool), ("is_plumbing", ctypes.c_bool)]


# enum mt_value_kind
_NONE, _TEXT, _BYTES_CHANGE, _COUNT_CHANGE, _FLAG, _SERIES, _STACK, _WORD = (
    0, 1, 3, 5, 10, 11, 12, 13)
_OUTCOMES = ("fine", "no data", "found")

_P, _Size, _Text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
_TextOut = ctypes.POINTER(ctypes.c_char_p)
_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "mt_version": (_Text, []),
    "mt_trace_open_with": (ctypes.c_int, [ctypes.POINTER(_Text), _Size,
                                          ctypes.POINTER(_OpenOptions), ctypes.POINTER(_P),
                                          ctypes.POINTER(_Error)]),
    "mt_trace_close": (None, [_P]),
    "mt_trace_is_complete": (ctypes.c_bool, [_P]),
    "mt_trace_event_count": (ctypes.c_uint64, [_P]),
    "mt_trace_ask": (ctypes.c_int, [_P, _Text, ctypes.POINTER(_AskOptions), ctypes.POINTER(_P),
                                    ctypes.POINTER(_Error)]),
    "mt_answer_close": (None, [_P]),
    "mt_answer_outcome": (ctypes.c_int, [_P]),
    "mt_answer_verdict_at": (_Text, [_P, _Size]),
    "mt_answer_note_at": (_Text, [_P, _Size, _P]),
    "mt_answer_fact_at": (_P, [_P, _Size, _TextOut]),
    "mt_answer_finding_at": (_P, [_P, _Size]),
    "mt_finding_kind": (_Text, [_P]),
    "mt_finding_sentence": (_Text, [_P]),
    "mt_finding_value_at": (_P, [_P, _Size, _TextOut]),
    "mt_answer_table_at": (_P, [_P, _Size]),
    "mt_table_name": (_Text, [_P]),
    "mt_table_title": (_Text, [_P]),
    "mt_table_ledger": (_Text, [_P]),
    "mt_table_row_count": (_Size, [_P]),
    "mt_table_column_at": (_Text, [_P, _Size, _TextOut]),
    "mt_table_value": (_P, [_P, _Size, _Size]),
    "mt_table_remark_at": (_Text, [_P, _Size]),
    "mt_value_kind": (ctypes.c_int, [_P]),
    "mt_value_number": (ctypes.c_uint64, [_P]),
    "mt_value_change": (ctypes.c_int64, [_P]),
    "mt_value_text": (_Text, [_P]),
    "mt_value_series": (ctypes.POINTER(ctypes.c_uint64), [_P, ctypes.POINTER(_Size), _P]),
    "mt_value_frame_at": (ctypes.c_bool, [_P, _Size, ctypes.POINTER(_Frame)]),
}


def _places() -> Iterator[str]:
    """Where the library may lie; the loader's own places last."""
    here = os.path.dirname(os.path.abspath(__file__))
    tree = os.path.dirname(os.path.dirname(os.path.dirname(here)))  # of share/leaktide/python
    folders = [here, os.path.join(tree, "lib"), os.path.join(tree, "lib64")]
    folders += [os.path.join(root, "libexec", "leaktide") for root in (here, tree)]  # of a wheel
    folders += sorted(glob.glob(os.path.join(glob.escape(tree), "lib", "*")))
    for folder in folders:
        place = os.path.join(folder, _SONAME)
        if os.path.isfile(place):
            yield place
    yield _SONAME


def _load() -> ctypes.CDLL:
    named = os.environ.get("LEAKTIDE_LIBRARY")
    trouble: Optional[OSError] = None
    library = None
    for place in [named] if named else _places():
        try:
            library = ctypes.CDLL(place)
            break
        except OSError as error:
            trouble = error
    if library is None:
        raise ImportError("leaktide: recordings are read by %s, which cannot be loaded (%s); "
                          "install leaktide, or name the file in LEAKTIDE_LIBRARY"
                          % (_SONAME, trouble))
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError("leaktide: %s is of another version: it has no %s"
                              % (library._name, name)) from None
        function.restype, function.argtypes = result, arguments
    return library


_library: Optional[ctypes.CDLL] = None


def _functions() -> Any:
    global _library
    if _library is None:
        _library = _load()
    return _library


# --- from C to Python ---------------------------------------------------------------------------


def _text(text: Optional[bytes]) -> str:
    return text.decode("utf-8", "replace") if text else ""


def _all(at: Callable[[int], Any]) -> Iterator[Any]:
    """at(0), at(1), ... up to None."""
    index = 0
    while True:
        item = at(index)
        if item is None:
            return
        yield item
        index += 1


def _frames(value: int) -> List[Frame]:
    lib, frame, frames = _functions(), _Frame(), []
    while lib.mt_value_frame_at(value, len(frames), frame):
        frames.append(Frame(_text(frame.function), _text(frame.file), frame.line,
                            _text(frame.module), frame.is_inlined, frame.is_plumbing))
    return frames


def _value(value: Optional[int]) -> Any:
    lib = _functions()
    kind = lib.mt_value_kind(value)
    if kind == _NONE:
        return None
    if kind == _TEXT:
        return _text(lib.mt_value_text(value))
    if kind == _WORD:
        return _text(lib.mt_value_text(value)).replace(" ", "_")
    if kind in (_BYTES_CHANGE, _COUNT_CHANGE):
        return lib.mt_value_change(value)
    if kind == _SERIES:
        count = ctypes.c_size_t()
        numbers = lib.mt_value_series(value, count, None)
        return numbers[:count.value] if count.value else []
    if kind == _STACK:
        return _frames(value or 0)
    number = lib.mt_value_number(value)
    return bool(number) if kind == _FLAG else number


def _values(at: Callable[..., Optional[int]], owner: int) -> Dict[str, Any]:
    key = ctypes.c_char_p()
    return {_text(key.value): _value(value) for value in _all(lambda i: at(owner, i, key))}


def _finding(finding: int) -> Finding:
    lib = _functions()
    values = _values(lib.mt_finding_value_at, finding)
    return Finding(kind=_text(lib.mt_finding_kind(finding)),
                   sentence=_text(lib.mt_finding_sentence(finding)),
                   site=values.get("site"), ledger=values.get("ledger"),
                   bytes_per_step=values.get("growth_bytes_per_step"),
                   advice=values.get("what_to_do"), stack=values.get("stack") or [],
                   values=values)


def _table(table: int) -> Table:
    lib, title = _functions(), ctypes.c_char_p()
    columns = {_text(key): _text(title.value) if title.value is not None else None
               for key in _all(lambda i: lib.mt_table_column_at(table, i, title))}
    rows = [{key: _value(lib.mt_table_value(table, row, column))
             for column, key in enumerate(columns)}
            for row in range(lib.mt_table_row_count(table))]
    remarks = [_text(text) for text in _all(lambda i: lib.mt_table_remark_at(table, i))]
    ledger = lib.mt_table_ledger(table)
    return Table(_text(lib.mt_table_name(table)), _text(lib.mt_table_title(table)), columns, rows,
                 remarks, None if ledger is None else _text(ledger))


def _answer(question: str, answer: int) -> Answer:
    lib = _functions()
    return Answer(
        question=question,
        outcome=_OUTCOMES[lib.mt_answer_outcome(answer)],
        verdict=[_text(text) for text in _all(lambda i: lib.mt_answer_verdict_at(answer, i))],
        facts=_values(lib.mt_answer_fact_at, answer),
        findings=[_finding(it) for it in _all(lambda i: lib.mt_answer_finding_at(answer, i))],
        tables=Tables([_table(it) for it in _all(lambda i: lib.mt_answer_table_at(answer, i))]),
        notes=[_text(text) for text in _all(lambda i: lib.mt_answer_note_at(answer, i, None))])


def _not_judged(answer: Answer) -> NotJudged:
    doubts = [row for table in answer.tables if table.name == "doubts" for row in table]
    raised = NotJudged(doubts[0]["sentence"] if doubts else " ".join(answer.verdict))
    raised.doubt = doubts[0]["doubt"] if doubts else None
    raised.answer = answer
    return raised


class _Watch:
    """The library's calls while it reads: they tell progress, and let Ctrl-C through."""

    def __init__(self, progress: Optional[Progress]) -> None:
        self._progress = progress
        self._trouble: Optional[BaseException] = None
        self.function = _ProgressFunction(self._tell)

    def _tell(self, _context: Any, told: Any) -> bool:
        try:
            it = told.contents
            return self._progress is None or self._progress(
                it.event_count, it.expected_count, it.reading) is not False
        except BaseException as trouble:  # goes on where Python called the library
            self._trouble = trouble
            return False

    def check(self, result: int, error: _Error) -> None:
        trouble, self._trouble = self._trouble, None
        if trouble is not None:
            raise trouble
        if result:
            raised = _KINDS_OF_ERROR.get(result, Error)(_text(error.message))
            raised.result = result
            raise raised


def _bytes_or_none(text: Optional[_Path]) -> Optional[bytes]:
    return None if text is None else os.fsencode(text)


def _list_or_none(paths: Optional[Sequence[_Path]]) -> Optional[bytes]:
    return None if paths is None else b":".join(os.fsencode(path) for path in paths)


class Recording:
    """One or several recordings, read as one. Made by leaktide.open()."""

    def __init__(self, paths: Sequence[_Path], progress: Optional[Progress],
                 options: _OpenOptions) -> None:
        lib, trace, error = _functions(), ctypes.c_void_p(), _Error()
        names = (ctypes.c_char_p * len(paths))(*[os.fsencode(path) for path in paths])
        self._watch = _Watch(progress)
        self._lock = threading.Lock()
        options.on_progress = self._watch.function
        self._watch.check(lib.mt_trace_open_with(names, len(paths), options, trace, error), error)
        self._trace = trace
        # The function must live as long as the trace that may call it.
        self._close = weakref.finalize(self, _close, lib, trace, self._watch)
        self._report: Optional[Answer] = None

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives back what the library holds; a second time, nothing happens."""
        with self._lock:
            self._close()

    def _open(self) -> Any:
        if not self._close.alive:
            raise WrongUse("the recording is closed")
        return self._trace

    def ask(self, question: str, top: int = 0, warm_up: int = -1, margin_percent: int = 0,
            stack_depth: int = 0, least_percent: int = 1,
            allocator_settings: Optional[str] = None, parallel: Optional[str] = None,
            why: Optional[str] = None) -> Answer:
        """A question of the command line: "leaks", "peak", "steps", "frag" ...; top 0: all rows."""
        lib, answer, error = _functions(), ctypes.c_void_p(), _Error()
        options = _AskOptions(size_bytes=ctypes.sizeof(_AskOptions), top=top,
                              warm_up_steps=warm_up, margin_percent=margin_percent,
                              stack_depth=stack_depth, stack_least_percent=least_percent,
                              allocator_settings=_bytes_or_none(allocator_settings),
                              parallel=_bytes_or_none(parallel), why=_bytes_or_none(why))
        with self._lock:
            self._watch.check(lib.mt_trace_ask(self._open(), question.encode(), options, answer,
                                               error), error)
        try:
            return _answer(question, answer.value or 0)
        finally:
            lib.mt_answer_close(answer)

    def report(self) -> Answer:
        """The answer to everything; kept, so asked once."""
        if self._report is None:
            self._report = self.ask("report")
        return self._report

    def leaks(self) -> List[Finding]:
        """What leaks. An empty list says that nothing does; NotJudged: nobody can say."""
        answer = self.ask("leaks")
        found = [it for it in answer.findings if it.kind == "leak"]
        if not found and answer.outcome == "no data":
            raise _not_judged(answer)
        return found

    def peak(self) -> Answer:
        return self.ask("peak")

    @property
    def verdict(self) -> List[str]:
        """The sentences of the report, most important first."""
        return self.report().verdict

    @property
    def tables(self) -> Tables:
        """All tables of the report."""
        return self.report().tables

    @property
    def is_complete(self) -> bool:
        """False: events were lost, or something recorded cannot be read."""
        with self._lock:
            return bool(_functions().mt_trace_is_complete(self._open()))

    @property
    def event_count(self) -> int:
        with self._lock:
            return int(_functions().mt_trace_event_count(self._open()))

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def _close(lib: Any, trace: Any, _kept: _Watch) -> None:
    lib.mt_trace_close(trace)


def open_recording(path: Optional[_Path] = None, *more: _Path, partial: bool = False,
                   steps: Optional[str] = None, step_site: Optional[str] = None,
                   site_rules: Optional[Sequence[_Path]] = None,
                   sysroot: Optional[_Path] = None,
                   debug_folders: Optional[Sequence[_Path]] = None,
                   progress: Optional[Progress] = None,
                   debug_servers: bool = False) -> Recording:
    """Reads a recording, or several as one; options as in leaktide/analyzer.h.

    progress is called now and then with (events so far, events in all or 0, number of the reading);
    False cancels. Raises NotFound, WrongUse, Cancelled or Error; ImportError without the library.
    """
    options = _OpenOptions(size_bytes=ctypes.sizeof(_OpenOptions), is_partial=partial,
                           steps=_bytes_or_none(steps), step_site=_bytes_or_none(step_site),
                           site_rules=_list_or_none(site_rules), sysroot=_bytes_or_none(sysroot),
                           debug_folders=_list_or_none(debug_folders),
                           asks_debug_servers=debug_servers)
    return Recording([] if path is None else [path, *more], progress, options)
