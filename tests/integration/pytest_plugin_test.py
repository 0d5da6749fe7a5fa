"""The plug-in for pytest, used by tests that keep their budget and by tests that do not.

Run as pytest_plugin_test.py LEAKTIDE FOLDER-OF-THE-PLUG-IN
"""

import os
import resource
import subprocess
import sys
import tempfile

try:
    import pytest
except ImportError:
    print("skipped: python3-pytest is not installed")
    sys.exit(77)

LEAKTIDE, PLUGIN = map(os.path.abspath, sys.argv[1:3])

CONFTEST = 'pytest_plugins = ["pytest_leaktide"]\n'

TESTS = '''
import pytest
import pytest_leaktide

kept = []
cache = {}


@pytest.fixture
def batch():
    return bytearray(1 << 20)


@pytest.mark.leaktide(peak="4 MiB", leak="0")
def test_keeps_its_budget(batch):
    cache.setdefault("once", bytearray(200000))
    assert len(batch) == 1 << 20


@pytest.mark.leaktide(leak="0")
def test_leaks():
    kept.append(bytearray(50000))


@pytest.mark.leaktide(leak="0", repeat=3)
def test_has_too_few_steps_to_be_judged():
    bytearray(50000)


@pytest.mark.leaktide(peak="1 MiB")
def test_needs_too_much():
    bytearray(3 << 20)


@pytest.mark.leaktide(peak="1 MiB")
def test_is_wrong_itself():
    assert "this" == "that"


@pytest.mark.leaktide(peak="1 MiBs")
def test_has_an_unknown_unit():
    pass


@pytest.mark.leaktide(peek="1 MiB")
def test_has_an_unknown_word():
    pass


@pytest.mark.leaktide(peak="2 MiB")
def test_uses_as_much_each_time():
    filled(2500000)


def filled(size):
    return len(bytearray(size))


@pytest.mark.leaktide(peak="1 MiB", repeat=3)
def test_is_killed():
    import os
    import signal
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.leaktide(peak="1 MiB", repeat=3)
def test_comes_after_one_that_was_killed(monkeypatch):
    monkeypatch.setenv("SOME", "thing")


def test_runs_a_program(leaktide_run):
    assert leaktide_run(["echo", "hello"], peak="16 MiB") == "hello\\n"


def test_runs_a_program_that_has_no_loop(leaktide_run):
    leaktide_run(["echo", "hello"], leak="0")


def test_runs_a_program_that_fails(leaktide_run):
    leaktide_run(["sh", "-c", "exit 3"], peak="16 MiB")


def test_waits_for_steps(monkeypatch):
    answers = [{"facts": {"step_count": count}, "tables": []} for count in (3, 10)]
    monkeypatch.setattr(pytest_leaktide, "_ask", lambda *_: answers.pop(0))
    assert pytest_leaktide.Recording("nowhere").step_peaks(2, 10) == {}
    assert not answers
    monkeypatch.setattr(pytest_leaktide, "_PATIENCE_S", 0)
    monkeypatch.setattr(pytest_leaktide, "_ask", lambda *_: {"facts": {"step_count": 3}, "tables": []})
    with pytest.raises(pytest.fail.Exception, match="3 of 10 steps were recorded"):
        pytest_leaktide.Recording("nowhere").step_peaks(2, 10)


def test_counts_leaks_by_turns(monkeypatch):
    found = [{"sentence": "leak: 2 KiB per turn", "growth_bytes_per_step": 2048},
             {"sentence": "leak: 9 KiB", "growth_bytes_per_step": None}]
    recording = pytest_leaktide.Recording("nowhere")
    monkeypatch.setattr(recording, "leaks", lambda: found)
    assert recording.check({}, leak="2 KiB") == []
    assert recording.check({}, leak="1 KiB") == [row["sentence"] for row in found]
'''

TIMED = '''
import pytest


@pytest.mark.leaktide(peak="4 MiB", leak="0")
@pytest.mark.parametrize("number", range(%d))
def test_one(number):
    bytearray(1 << 20)
'''

EXPECTED = {
    "test_keeps_its_budget": None,
    "test_leaks": "leak: 48.9 KiB per step",
    "test_has_too_few_steps_to_be_judged": "leaks cannot be judged: CANNOT SAY whether something leaks: 1 step",
    "test_needs_too_much": "limit 1 MiB",
    "test_uses_as_much_each_time": "limit 2 MiB: 2.38 MiB at filled (",
    "test_is_killed": "ended with -9",
    "test_comes_after_one_that_was_killed": None,
    "test_is_wrong_itself": "'this' == 'that'",
    "test_has_an_unknown_unit": "'1 MiBs' is no size",
    "test_has_an_unknown_word": "peak, leak, repeat and warm_up are known",
    "test_runs_a_program": None,
    "test_runs_a_program_that_has_no_loop": "leaks cannot be judged: ",
    "test_runs_a_program_that_fails": "ended with 3",
    "test_waits_for_steps": None,
    "test_counts_leaks_by_turns": None,
}


class Outcomes:
    """What pytest made of each test."""

    def __init__(self):
        self.reports = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            self.reports[report.nodeid.split("::")[-1]] = report


def complain_of_time():
    """A marked test takes at most 0.3 s of processor time: twenty more, a twentieth each."""
    def seconds(tests):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("conftest.py", CONFTEST), ("test_time.py", TIMED % tests)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder], check=True,
                           stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    each = (seconds(21) - seconds(1)) / 20
    print("%.3f s of processor time a marked test" % each)
    return each > 0.3


def main():
    os.environ["LEAKTIDE"] = LEAKTIDE
    os.environ["PYTHONPATH"] = PLUGIN
    sys.path.insert(0, PLUGIN)
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("conftest.py", CONFTEST), ("test_budget.py", TESTS)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.chdir(folder)
        pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", folder], plugins=[outcomes])
        os.chdir("/")
    wrong = complain_of_time()
    for name, words in EXPECTED.items():
        report = outcomes.reports.get(name)
        said = report and report.longreprtext
        if not report or (words is None) != report.passed or (words and words not in said):
            wrong += 1
            print("WRONG %s: expected %r, got %r" % (name, words, said))
    print("%d tests looked at, %d wrong" % (len(EXPECTED), wrong))
    return wrong != 0 or len(outcomes.reports) != len(EXPECTED)


if __name__ == "__main__":
    sys.exit(main())
