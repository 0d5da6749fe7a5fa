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
a step. peak is what a call may use on top of what was there before it; leak is how much each call
may leave behind, where "leave behind" is leaktide's verdict: growth from call to call that is not by
chance. Both are of each pool by itself: the host heap, and each pool of a device. Caches that fill
and stop are no leaks.

The command is `leaktide` of the PATH, or the one that the variable LEAKTIDE names.
"""

import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

_INNER = "LEAKTIDE_PYTEST_ITEM"  # set in the process that is recorded: which test it is
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
          "kB": 1000, "KB": 1000, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_REPEAT = 10
_DEVICES = "npu,gpu,opencl,cpu"


def _refuse(sentence):
    """Wrong use is one sentence, not a stack."""
    pytest.fail(sentence, pytrace=False)


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
    for table in _ask(question, recording, *options)["tables"]:
        if (table["name"], table["ledger"]) == (name, ledger):
            return table["rows"]
    return []


def _rate(finding):
    """Bytes per step; of a loop that marks none, per turn."""
    return finding.get("growth_bytes_per_step") or 0


class Recording:
    """What a program used. Sizes in bytes, by ledger: "host", "pta device 0"."""

    def __init__(self, path):
        self.path = path
        self.steps = {}  # by ledger the step that used most: its number, its time, its bytes

    def step_peaks(self, warm_up=2):
        """The most that a step used on top of what was there when it began."""
        peaks, before = {}, {}
        for row in _rows("steps", "steps", self.path):
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
        return [finding for finding in _ask("leaks", self.path, *options)["findings"]
                if finding["kind"] == "leak"]

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
            found = self.leaks(*options)
            grown = sum(_rate(finding) for finding in found)
            if grown > size_of(leak):
                wrong.extend(finding["sentence"] for finding in found)
        return wrong


def _record(folder, arguments, environment, options=()):
    path = os.path.join(folder, "run")
    done = subprocess.run([_command(), "run", "--quiet", "--device=" + _DEVICES, *options,
                           "--output-path=" + path, "--", *arguments],
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, check=False)
    return done, Recording(path)


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


def _call_in_steps(item, repeat):
    import leaktide

    for _ in range(repeat):
        leaktide.step_begin()
        _call(item)
        gc.collect()
        leaktide.step_end()


def _call_recorded(item, limits):
    environment = dict(os.environ)
    environment[_INNER] = item.nodeid
    environment["PYTHONMALLOC"] = "malloc"  # each object of Python is a block of its own
    with tempfile.TemporaryDirectory(prefix="leaktide-") as folder:
        done, recording = _record(folder, [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir",
            str(item.config.rootpath), str(item.config.rootpath / item.nodeid)], environment)
        if done.returncode != 0:
            pytest.fail("under leaktide the test ended with %d:\n%s"
                        % (done.returncode, done.stdout), pytrace=False)
        warm_up = limits.get("warm_up", 2)
        wrong = recording.check(recording.step_peaks(warm_up), limits.get("peak"),
                                limits.get("leak"), "--warm-up=%d" % warm_up)
    if wrong:
        pytest.fail("memory budget exceeded:\n  " + "\n  ".join(wrong), pytrace=False)


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
        if wrong:
            pytest.fail("memory budget exceeded:\n  " + "\n  ".join(wrong), pytrace=False)
        return done.stdout

    return run
