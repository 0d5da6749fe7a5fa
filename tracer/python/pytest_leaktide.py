# SPDX-License-Identifier: Apache-2.0
"""Memory budgets for tests: a plug-in for pytest, in one file.

    # conftest.py
    pytest_plugins = ["pytest_leaktide"]

    @pytest.mark.leaktide(peak="24 MiB", leak="0")
    def test_one_batch():
        train_one_batch()

    def test_tool(leaktide_run):
        leaktide_run(["./convert", "in.bin"], peak="64 MiB", leak="0")

A marked test runs in a process of its own under `leaktide run`, its body several times, each time as
a step. These processes are forks of one that has loaded pytest and no test, and only the steps are
recorded. peak is what a call may use on top of what was there before it; leak is how much each call
may leave behind, where "leave behind" is leaktide's verdict: growth from call to call that is not by
chance. Both are of each pool by itself: the host heap, and each pool of a device. Caches that fill
and stop are no leaks. Where leaktide cannot say whether something leaks, a test with leak fails.

The command is `leaktide` of the PATH, or the one that the variable LEAKTIDE names.
"""

import gc
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import pytest

_INNER = "LEAKTIDE_PYTEST_ITEM"  # set in the process that is recorded: which test it is
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
          "kB": 1000, "KB": 1000, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_REPEAT = 10
_PATIENCE_S = 20
_DEVICES = "npu,gpu,opencl,cpu"


def _refuse(sentence):
    """Wrong use is one sentence, not a stack."""
    pytest.fail(sentence, pytrace=False)


def _refuse_all(sentences):
    if sentences:
        _refuse("memory budget not kept:\n  " + "\n  ".join(sentences))


def size_of(text):
    """Bytes of "24 MiB"; "0" needs no unit."""
    match = re.match(r"^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$", str(text))
    if not match or (match.group(2) not in _UNITS and float(match.group(1)) != 0):
        _refuse("leaktide: %r is no size; write it like \"24 MiB\"" % (text,))
    return int(float(match.group(1)) * _UNITS.get(match.group(2), 1))


def size_text(size_bytes):
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size_bytes >= _UNITS[unit]:
            return "%.3g %s" % (size_bytes / _UNITS[unit], unit)
    return "%d B" % size_bytes


def _command():
    found = os.environ.get("LEAKTIDE") or shutil.which("leaktide")
    if not found:
        _refuse("leaktide: there is no command leaktide in the PATH; name it in the variable "
                "LEAKTIDE")
    return found


def _ask(question, recording, *options):
    done = subprocess.run([_command(), question, "--format=json", *options, recording],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, check=False)
    if not done.stdout:
        raise RuntimeError(done.stderr.strip() or "leaktide %s said nothing" % question)
    return json.loads(done.stdout)


def _rows(question, name, recording, ledger=None, *options):
    return _rows_of(_ask(question, recording, *options), name, ledger)


def _rows_of(answer, name, ledger=None):
    for table in answer["tables"]:
        if (table["name"], table["ledger"]) == (name, ledger):
            return table["rows"]
    return []


def _rate(finding):
    """Bytes per step; of a loop that marks none, per turn."""
    return finding.get("growth_bytes_per_step") or 0


class NotJudged(Exception):
    """No leak was found, but nobody can say that there is none; the text says why."""


class Recording:
    """What a program used. Sizes in bytes, by ledger: "host", "pta device 0"."""

    def __init__(self, path):
        self.path = path
        self.steps = {}  # by ledger the step that used most: its number, its time, its bytes

    def _answer_with_steps(self, count):
        """What is said of the steps, when all are on disk: the recorder writes the last ones after the process ended."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            answer = _ask("steps", self.path)
            found = answer["facts"]["step_count"]
            if found >= count:
                return answer
            if time.monotonic() > until:
                pytest.fail("leaktide: %d of %d steps were recorded" % (found, count), pytrace=False)
            time.sleep(0.05)

    def step_peaks(self, warm_up=2, count=0):
        """The most that a step used on top of what was there when it began; count steps are there."""
        peaks, before = {}, {}
        for row in _rows_of(self._answer_with_steps(count), "steps"):
            ledger = row["ledger"]
            if row["step"] > warm_up and ledger in before:
                used = row["peak_bytes"] - before[ledger]
                if used > peaks.get(ledger, -1):
                    peaks[ledger], self.steps[ledger] = used, (row["step"], row["duration_ns"], used)
            before[ledger] = row["end_bytes"]
        return peaks

    def peaks(self):
        """The highest point of the whole recording."""
        return {row["ledger"]: row["peak_bytes"]
                for row in _rows("peak", "peaks", self.path)}

    def holders(self, ledger):
        """The sites that held most at the peak, as sentences; of a step, what it made itself."""
        if ledger in self.steps:
            held = self._made_in_step(ledger, *self.steps[ledger])
        else:
            held = [(row["held_bytes"], row["site"]) for row in _rows("peak", "held_at_peak", self.path, ledger)]
        return ["%s at %s" % (size_text(size), site) for size, site in held[:3]]

    def _made_in_step(self, ledger, step, duration_ns, used):
        """Blocks at the step's peak that are no older than the step is long, by site; of the whole, at most all."""
        tables = _ask("peak", self.path, "--steps=%d" % step)["tables"]
        rows = {(table["name"], table["ledger"]): table["rows"] for table in tables}
        peaks_ns = [row["peak_ns"] for row in rows.get(("peaks", None), ()) if row["ledger"] == ledger]
        sites = {}
        for row in rows.get(("blocks_at_peak", ledger), ()):
            if peaks_ns and row["born_ns"] >= peaks_ns[0] - duration_ns:
                sites[row["site"]] = sites.get(row["site"], 0) + row["size_bytes"]
        held = []
        for size, site in sorted(((size, site) for site, size in sites.items()), key=lambda part: (-part[0], str(part[1]))):
            if size <= used:  # what took the place of an older block is no part of it
                held.append((size, site))
                used -= size
        return held

    def leaks(self, *options):
        """Findings: growth_bytes_per_step or _per_turn, site, file, line, ledger, sentence."""
        answer = _ask("leaks", self.path, *options)
        found = [finding for finding in answer["findings"] if finding["kind"] == "leak"]
        if not found and answer["outcome"] == "no_data":
            doubts = _rows_of(answer, "doubts")
            raise NotJudged(doubts[0]["sentence"] if doubts else " ".join(answer["verdict"]))
        return found

    def check(self, peaks, peak=None, leak=None, *options):
        """A list of sentences: what is over its limit."""
        wrong = []
        if peak is not None:
            for ledger, used in sorted(peaks.items()):
                if used > size_of(peak):
                    held = ", ".join(self.holders(ledger))
                    wrong.append("peak of %s: %s, limit %s%s" % (
                        ledger, size_text(used), size_text(size_of(peak)), held and ": " + held))
        if leak is not None:
            wrong.extend(self._over(leak, *options))
        return wrong

    def _over(self, leak, *options):
        try:
            found = self.leaks(*options)
        except NotJudged as why:
            return ["leaks cannot be judged: %s" % why]
        grown = sum(_rate(finding) for finding in found)
        return [finding["sentence"] for finding in found] if grown > size_of(leak) else []


def _run_command(path, *options):
    """The beginning of a command line; the program and its arguments follow."""
    return [_command(), "run", "--quiet", "--device=" + _DEVICES, *options, "--output-path=" + path, "--"]


def _record(folder, arguments, environment):
    path = os.path.join(folder, "run")
    done = subprocess.run([*_run_command(path), *arguments], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, check=False)
    return done, Recording(path)


class _Forks:
    """A recorded process that forks one for each test. Made at the first marked test of a session."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="leaktide-")
        self._path = os.path.join(self._folder.name, "run")
        self._complaints = open(os.path.join(self._folder.name, "complaints"), "w+", encoding="utf-8")
        environment = dict(os.environ)
        environment["PYTHONMALLOC"] = "malloc"  # each object of Python is a block of its own
        self._process = subprocess.Popen(
            [*_run_command(self._path, "--collect-mode=deferred"), sys.executable, os.path.abspath(__file__)],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints,
            universal_newlines=True)

    def call(self, item):
        """Runs the test: its exit status, what it said, and its recording, which is there until the next call."""
        for path in glob.glob(os.path.join(self._path, "*.mtt")):
            os.unlink(path)
        request = {"item": item.nodeid, "folder": os.getcwd(), "environment": dict(os.environ),
                   "arguments": ["-q", "-p", "no:cacheprovider", "--rootdir", str(item.config.rootpath),
                                 str(item.config.rootpath / item.nodeid)],
                   "output": os.path.join(self._folder.name, "output")}
        answer = self._ask(json.dumps(request))
        with open(request["output"], encoding="utf-8", errors="replace") as file:
            said = file.read()
        return answer["status"], said, Recording(self._file_of(answer["process"]))

    def _ask(self, line):
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._process.wait()
            self._complaints.seek(0)
            pytest.fail("leaktide run ended with %d:\n%s" % (self._process.returncode, self._complaints.read()),
                        pytrace=False)
        return json.loads(answer)

    def _file_of(self, process):
        found = glob.glob(os.path.join(self._path, "%d-*.mtt" % process))
        if not found:
            pytest.fail("leaktide: process %d of the test was not recorded" % process, pytrace=False)
        return found[0]

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._complaints.close()
        self._folder.cleanup()


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "leaktide(peak, leak, repeat=10, warm_up=2): limits of the memory that the test "
                   "uses, and leaves behind, each time it runs")


def _marked(item):
    marker = item.get_closest_marker("leaktide")
    if not marker:
        return None
    unknown = set(marker.kwargs) - {"peak", "leak", "repeat", "warm_up"}
    if unknown or marker.args:
        _refuse("leaktide: %speak, leak, repeat and warm_up are known, each by its name" %
                ("".join("%s is not known; " % name for name in sorted(unknown))))
    if marker.kwargs.get("peak") is None and marker.kwargs.get("leak") is None:
        _refuse("leaktide: a limit is needed: peak or leak")
    for name in ("peak", "leak"):
        size_of(marker.kwargs.get(name) or 0)
    return marker.kwargs


def _call(item):
    """The body of the test, with its fixtures."""
    names = item._fixtureinfo.argnames  # as pytest's own caller does
    item.obj(**{name: item.funcargs[name] for name in names})


def _tell_recorder(line):
    import leaktide

    if not leaktide.is_traced():
        _refuse("leaktide: this process is not recorded")
    try:
        leaktide._ask_recorder(line)
    except ValueError as refused:
        _refuse("leaktide: %s" % refused)


def _call_in_steps(item, repeat):
    import leaktide

    _tell_recorder("start")
    for _ in range(repeat):
        leaktide.step_begin()
        _call(item)
        gc.collect()
        leaktide.step_end()
    _tell_recorder("stop")


_FORKS = pytest.StashKey()


def _forks_of(config):
    if _FORKS not in config.stash:
        config.stash[_FORKS] = _Forks()
    return config.stash[_FORKS]


def pytest_unconfigure(config):
    if _FORKS in config.stash:
        config.stash[_FORKS].close()


def _call_recorded(item, limits):
    status, said, recording = _forks_of(item.config).call(item)
    if status != 0:
        pytest.fail("under leaktide the test ended with %d:\n%s" % (status, said), pytrace=False)
    warm_up = limits.get("warm_up", 2)
    peaks = recording.step_peaks(warm_up, limits.get("repeat", _REPEAT))
    wrong = recording.check(peaks, limits.get("peak"), limits.get("leak"), "--warm-up=%d" % warm_up)
    _refuse_all(wrong)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    limits = _marked(pyfuncitem)
    if not limits:
        return None
    if os.environ.get(_INNER) == pyfuncitem.nodeid:
        _call_in_steps(pyfuncitem, limits.get("repeat", _REPEAT))
    else:
        _call_recorded(pyfuncitem, limits)
    return True


@pytest.fixture
def leaktide_run():
    """leaktide_run(arguments, peak=None, leak=None): runs a program, fails when it is over a limit.

    peak is of the whole run; leak is per step, of a loop without marks per turn. Returns its output.
    """
    def run(arguments, peak=None, leak=None):
        with tempfile.TemporaryDirectory(prefix="leaktide-") as folder:
            done, recording = _record(folder, arguments, dict(os.environ))
            if done.returncode != 0:
                pytest.fail("%s ended with %d:\n%s" % (arguments[0], done.returncode, done.stdout),
                            pytrace=False)
            wrong = recording.check(recording.peaks(), peak, leak)
        _refuse_all(wrong)
        return done.stdout

    return run


# What follows runs in the recorded process.

def _run_test(request):
    """In a fork: never returns."""
    status = 1
    try:
        os.environ.update(request["environment"])
        os.environ[_INNER] = request["item"]
        os.chdir(request["folder"])
        sys.path[0] = request["folder"]
        with open(request["output"], "w", encoding="utf-8") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        status = pytest.main(request["arguments"])
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(status))


def _load_pytest():
    """With its plug-ins, as a session without tests loads them; the forks have them then."""
    added = os.environ.pop("PYTEST_ADDOPTS", None)
    with tempfile.TemporaryDirectory(prefix="leaktide-") as folder:
        pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", "--rootdir", folder, folder])
    if added is not None:
        os.environ["PYTEST_ADDOPTS"] = added
    gc.collect()
    gc.freeze()  # what is there before a test is not looked at in each of its steps


def _answer_requests():
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    _load_pytest()
    for line in requests:
        process = os.fork()
        if process == 0:
            _run_test(json.loads(line))
        _, status = os.waitpid(process, 0)
        status = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        answers.write(json.dumps({"process": process, "status": status}) + "\n")
        answers.flush()


if __name__ == "__main__":
    _answer_requests()
