#!/usr/bin/env python3
"""Other people's tests, natively and recorded by leaktide: the same must pass.

    run.py [options] LEAKTIDE

LEAKTIDE is the command to test. Each suite (suites.py) runs natively twice, then under `leaktide run`
with each set of options. A test whose result differs between two native runs says nothing and is
not counted. Where a recorded run differs, the suite runs natively once more before that is believed.

Sources are fetched and built once, in a cache outside the checkout. Loads go to 127.0.0.1 only.
Prints each difference, a table, and last of all "N passed, N failed, N skipped": suites times
sets of options. Status 0, or 1 if one differs, 77 if none could run.
"""

import argparse
import concurrent.futures
import contextlib
import fcntl
import glob
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, namedtuple

import fetching
import suites as table

HERE = os.path.dirname(os.path.abspath(__file__))
OPTION_SETS = (("cpu", ("--device=cpu",)),
               ("cpu, stacks", ("--device=cpu", "--call-stack=c")))
SHOWN_DIFFERENCES = 20  # of a run; the log has all
TIME_IS_UP = 124
SKIPPED = 77
USER = 65534  # nobody
OURS = ("LD_PRELOAD", "OPENCL_LAYERS", "LEAKTIDE_OPTIONS", "MSTX_INJECTION_PATH", "MAKEFLAGS",
        "MFLAGS", "MAKELEVEL", "CDPATH", "PYTHONPATH", "PYTHONHOME", "DISPLAY")

# results: name -> what became of it. recordings: processes that left one.
Run = namedtuple("Run", "results duration_s recordings size_bytes")
Difference = namedtuple("Difference", "test native recorded")
Outcome = namedtuple("Outcome", "suite native flaky recorded differences why_skipped")


@contextlib.contextmanager
def scratch_folder():
    folder = tempfile.mkdtemp(prefix="suite-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Trial:
    """Runs suites with one command to test."""

    def __init__(self, leaktide, logs, patience):
        self.leaktide = leaktide
        self.logs = logs
        self.patience = patience
        self.as_other_user = ()
        if os.geteuid() == 0 and shutil.which("setpriv"):
            self.as_other_user = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")

    def environment(self, suite, source, work):
        environment = {name: value for name, value in os.environ.items() if name not in OURS}
        python = suite.python
        if suite.as_user and self.as_other_user:
            python = shutil.which("python3", path="/usr/bin") or python
        environment.update(SOURCE=source, HERE=HERE, WORK=work, HOME=work, TMPDIR=work,
                           PYTHON=python, LC_ALL="C.UTF-8", TERM="dumb", PYTHONDONTWRITEBYTECODE="1")
        return environment

    def why_not(self, suite):
        """Why a suite cannot run here, or None."""
        missing = [need for need in suite.needs if not shutil.which(need)]
        if missing:
            return f"no {missing[0]} here"
        if suite.as_user and os.geteuid() == 0:
            if not self.as_other_user:
                return "not for root, and there is no setpriv to become another user"
            for path in (self.leaktide, HERE):
                if subprocess.run([*self.as_other_user, "test", "-r", path], check=False).returncode:
                    return f"not for root, and other users cannot read {path}"
        return None

    def command(self, suite, options, work):
        command = ["bash", "-c", suite.command]
        if options:
            command = [self.leaktide, "run", "--quiet", "--no-report",
                       f"--output-path={work}/recording", *options, "--", *command]
        if suite.as_user:
            command = [*self.as_other_user, *command]
        # A recorded run has time for what recording may cost; a slow one is not a wrong one.
        limit_s = suite.limit_s * self.patience * (3 if options else 1)
        return [sys.executable, "-B", os.path.join(HERE, "supervise.py"), str(limit_s), *command]

    def stage(self, suite, environment, work):
        if suite.stage:
            done = subprocess.run(["bash", "-euc", suite.stage], env=environment, check=False,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  universal_newlines=True)
            if done.returncode != 0:
                last = done.stderr.strip().splitlines()[-1:] or [""]
                raise fetching.Unavailable(f"cannot be made ready: {last[0]}")
        if suite.as_user and self.as_other_user:
            subprocess.run(["chown", "-R", f"{USER}:{USER}", work], check=True)

    def log_of(self, suite, label):
        return os.path.join(self.logs, f"{suite.name} {label}.log".replace("/", "-"))

    def last_words(self, suite):
        lines = fetching.text_of(self.log_of(suite, "native 1")).strip().splitlines()
        return lines[-1] if lines else "no output"

    def run(self, suite, source, label, options=()):
        """One run of a suite; in an empty folder that is gone afterwards."""
        log = self.log_of(suite, label)
        with scratch_folder() as work:
            environment = self.environment(suite, source, work)
            self.stage(suite, environment, work)
            begin = time.monotonic()
            with open(log, "wb") as output:
                status = subprocess.run(self.command(suite, options, work), cwd=work,
                                        env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                        stderr=subprocess.STDOUT, check=False).returncode
            duration_s = time.monotonic() - begin
            results = read_results(suite, log, work)
            if status >= TIME_IS_UP:  # no time left, not to be started, or ended by a signal
                results["(the run)"] = f"failed with status {status}"
            recordings = glob.glob(f"{glob.escape(work)}/recording/**/*.mtt", recursive=True)
            if options and not recordings:
                results["(the recording)"] = "failed: there is none"
            sizes = sum(os.path.getsize(path) for path in recordings)
        return Run(results, duration_s, len(recordings), sizes)

    def compare(self, suite, source, say):
        """A suite natively and with each set of options."""
        runs = [self.run(suite, source, "native 1")]
        if not count(runs[0].results, "passed", ()):
            raise fetching.Unavailable(f"natively, nothing passes: {self.last_words(suite)}")
        runs.append(self.run(suite, source, "native 2"))
        say(suite.name, "natively", runs[-1])
        recorded = {}
        for label, options in OPTION_SETS:
            recorded[label] = self.run(suite, source, label, options)
            say(suite.name, label, recorded[label])
        if any(differences(runs, run) for run in recorded.values()):
            runs.append(self.run(suite, source, "native 3"))
            say(suite.name, "natively, again", runs[-1])
        return Outcome(suite, runs, flaky_tests(runs), recorded,
                       {label: differences(runs, run) for label, run in recorded.items()}, None)


def read_results(suite, log, work):
    with open(log, encoding="utf-8", errors="replace") as file:
        output = file.read()
    try:
        return suite.reader(output, work)
    except (OSError, ValueError, SyntaxError) as trouble:
        return {"(the results)": f"failed: {trouble}"}


def flaky_tests(runs):
    """Tests that say nothing, as nobody but themselves changed between the runs."""
    names = set().union(*(run.results for run in runs))
    return {name for name in names if len({run.results.get(name) for run in runs}) > 1}


def differences(native_runs, run):
    flaky = flaky_tests(native_runs)
    native = native_runs[0].results
    names = sorted((set(native) | set(run.results)) - flaky)
    return [Difference(name, native.get(name, "not run"), run.results.get(name, "not run"))
            for name in names if native.get(name) != run.results.get(name)]


def skipped(suite, why):
    return Outcome(suite, [], set(), {}, {}, why)


def try_suite(trial, sources, suite, say):
    """Everything about one suite; what cannot be had is an outcome like others."""
    why = trial.why_not(suite)
    if why:
        return skipped(suite, why)
    try:
        source = sources.built(suite.source) if suite.source else ""
        return trial.compare(suite, source, say)
    except fetching.Unavailable as trouble:
        return skipped(suite, str(trouble))


class SharedSources:
    """One fetches and builds at a time: the lists of packages are shared, and so are processors."""

    def __init__(self, cache, may_fetch):
        self.sources = fetching.Sources(cache)
        self.may_fetch = may_fetch
        self.lock = threading.Lock()

    def built(self, source):
        with self.lock:
            if not self.may_fetch and not self.sources.has(source.package, source.recipe):
                raise fetching.Unavailable("its sources are not in the cache")
            return self.sources.built(source.package, source.recipe)


def count(results, word, flaky):
    return sum(result.startswith(word) for name, result in results.items() if name not in flaky)


def print_differences(outcome):
    for label, found in outcome.differences.items():
        for difference in found[:SHOWN_DIFFERENCES]:
            print(f"{outcome.suite.name} [{label}] {difference.test}: "
                  f"natively {difference.native}, recorded {difference.recorded}")
        if len(found) > SHOWN_DIFFERENCES:
            print(f"{outcome.suite.name} [{label}] ... and {len(found) - SHOWN_DIFFERENCES} more")


def row_of(outcome):
    if outcome.why_skipped:
        return [outcome.suite.name, "skipped: " + outcome.why_skipped]
    native = outcome.native[0]
    row = [outcome.suite.name] + [str(count(native.results, word, outcome.flaky))
                                  for word in ("passed", "failed", "skipped")]
    row += [str(len(outcome.flaky)), f"{native.duration_s:.0f}"]
    for label, run in outcome.recorded.items():
        row += [str(len(outcome.differences[label])), f"{run.duration_s:.0f}",
                f"{run.recordings}"]
    return row


def print_table(outcomes):
    head = ["suite", "passed", "failed", "skipped", "flaky", "s"]
    for label, _ in OPTION_SETS:
        head += [f"differ: {label}", "s", "processes"]
    rows = [head] + [row_of(outcome) for outcome in outcomes]
    full = [row for row in rows if len(row) == len(head)]
    widths = [max(len(row[column]) for row in full) for column in range(len(head))]
    widths[0] = max(len(row[0]) for row in rows)
    for row in rows:
        print("  ".join([row[0].ljust(widths[0])] +
                        [cell if len(row) == 2 else cell.rjust(width)
                         for cell, width in zip(row[1:], widths[1:])]))


def summary(outcomes):
    """Suites times sets of options, by what became of them."""
    counted = Counter()
    for outcome in outcomes:
        if outcome.why_skipped:
            counted["skipped"] += len(OPTION_SETS)
        for found in outcome.differences.values():
            counted["failed" if found else "passed"] += 1
    return counted


def chosen(options):
    suites = table.all_suites(options.python)
    if options.short:
        suites = [suite for suite in suites if suite.is_short]
    if options.only:
        suites = [suite for suite in suites if any(text in suite.name for text in options.only)]
    return suites


@contextlib.contextmanager
def alone_in(cache):
    """Suites write in their sources, so two of us must not share a cache."""
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, "lock"), "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("leaktide", help="the command to test")
    parser.add_argument("--short", action="store_true",
                        help="a minute's selection, of what is installed and in the cache")
    parser.add_argument("--only", action="append", metavar="TEXT",
                        help="suites whose name has TEXT; may be repeated")
    parser.add_argument("--python", action="append", metavar="COMMAND", default=[],
                        help="test this interpreter; may be repeated (those found)")
    parser.add_argument("--cache", metavar="FOLDER", default=fetching.default_cache(),
                        help="where sources, builds and logs are kept (%(default)s)")
    parser.add_argument("--jobs", type=int, metavar="N", default=len(os.sched_getaffinity(0)),
                        help="suites that run at the same time (%(default)s)")
    parser.add_argument("--patience", type=float, metavar="N", default=1,
                        help="time limits, N times as long (%(default)s)")
    parser.add_argument("--list", action="store_true", help="only name the suites")
    return parser.parse_args()


def main():
    options = arguments()
    os.environ.setdefault("JOBS", str(options.jobs))
    suites = chosen(options)
    if options.list:
        print("\n".join(suite.name for suite in suites))
        return 0
    logs = os.path.join(options.cache, "logs")
    os.makedirs(logs, exist_ok=True)
    trial = Trial(os.path.abspath(options.leaktide), logs, options.patience)
    sources = SharedSources(options.cache, may_fetch=not options.short)

    def say(name, label, run):
        print(f"{name}: {label}, {run.duration_s:.0f} s", flush=True)

    with alone_in(options.cache), \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(lambda suite: try_suite(trial, sources, suite, say), suites))
    if not options.short and not options.only:
        outcomes += [skipped(table.Suite(name, "", None), why) for name, why in table.LEFT_OUT]
    print()
    for outcome in outcomes:
        print_differences(outcome)
    print()
    print_table(outcomes)
    counted = summary(outcomes)
    print(f"\nlogs: {shlex.quote(logs)}")
    print(f"{counted['passed']} passed, {counted['failed']} failed, {counted['skipped']} skipped")
    if counted["failed"]:
        return 1
    return 0 if counted["passed"] else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
