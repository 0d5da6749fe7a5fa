"""The plug-in for pytest, used by tests that keep their budget and by tests that do not.

Run as pytest_plugin_test.py LEAKTIDE FOLDER-OF-THE-PLUG-IN
"""

import os
import subprocess
import sys
import tempfile

try:
    import pytest
except ImportError:
    print("skipped: python3-pytest is not installed")
    sys.exit(77)

LEAKTIDE, PLUGIN = sys.argv[1:3]

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


def test_runs_a_program(leaktide_run):
    assert leaktide_run(["echo", "hello"], peak="16 MiB") == "hello\\n"


def test_runs_a_program_that_fails(leaktide_run):
    leaktide_run(["sh", "-c", "exit 3"], peak="16 MiB")


def test_counts_leaks_by_turns(monkeypatch):
    found = [{"sentence": "leak: 2 KiB per turn", "growth_bytes_per_step": 2048},
             {"sentence": "leak: 9 KiB", "growth_bytes_per_step": None}]
    recording = pytest_leaktide.Recording("nowhere")
    monkeypatch.setattr(recording, "leaks", lambda: found)
    assert recording.check({}, leak="2 KiB") == []
    assert recording.check({}, leak="1 KiB") == [row["sentence"] for row in found]
'''

EXPECTED = {
    "test_keeps_its_budget": None,
    "test_leaks": "leak: 48.9 KiB per step",
    "test_needs_too_much": "limit 1 MiB",
    "test_is_wrong_itself": "'this' == 'that'",
    "test_has_an_unknown_unit": "'1 MiBs' is no size",
    "test_has_an_unknown_word": "peak, leak, repeat and warm_up are known",
    "test_runs_a_program": None,
    "test_runs_a_program_that_fails": "ended with 3",
    "test_counts_leaks_by_turns": None,
}


class Outcomes:
    """What pytest made of each test."""

    def __init__(self):
        self.reports = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            self.reports[report.nodeid.split("::")[-1]] = report


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
    wrong = 0
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
