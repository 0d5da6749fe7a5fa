#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What five kinds of user expected and did not find, and the test that shows each of it today.

    expected_by_users.py BUILD-FOLDER [--list]

Runs each test once and prints a row for each item: passed, FAILED, skipped, or why it is not there. Exit status 1 if one failed.
Some of the tests take minutes; those of the page need Chromium.
"""

import subprocess
import sys
import time

# Item -> test of ctest that shows it; in brackets, which part of it.
SHOWN = [
    ("wheel", "install.wheel"),
    ("colour, NO_COLOR, --color", "cli.terminal"),
    ("width of the terminal", "cli.terminal"),
    ("pager", "cli.terminal"),
    ("hyperlinks (OSC 8) to file:line", "cli.terminal"),
    ("transcripts of every command at 80 and 200 columns", "cli.transcripts"),
    ("progress of long work", "integration.large_input"),
    ("a line while a program is recorded", "integration.run_line"),
    ("debuginfod", "integration.debug_server"),
    ("names kept in the recording", "integration.names_kept"),
    ("source view", "browser.leak_page"),
    ("search in the icicle, inverted icicle", "browser.leak_page"),
    ("timeline per thread", "browser.leak_page"),
    ("download as csv, svg, png, json", "browser.leak_page"),
    ("touch", "browser.leak_page"),
    ("csv and md of questions", "cli.cases"),
    ("notebook", "integration.reading"),
    ("linkable C API, pkg-config, CMake package", "install.tree"),
    ("JSON schema", "integration.json_schema"),
    ("GitHub action, problem matcher, comment in the pull request", "install.ci_gate"),
    ("pytest, at most 0.3 s a test", "integration.pytest_plugin"),
    ("Chinese: verdicts, command line", "cli.chinese"),
    ("Chinese: page", "browser.leak_page"),
    ("Chinese: docs", "lint.translations"),
    ("completion: bash, zsh, fish", "cli.completion"),
]
LATER = [
    ("deb, rpm, tar ball", "./package makes them; ctest -L long -R install.reproducible builds all twice, in many minutes"),
    ("container", "samples/container/Dockerfile; tests/install/ways.py runs its line in a root file system"),
    ("attach", "not built yet"),
    ("live view (top)", "not built yet; a recording can be asked while it is written, and `leaktide ctl PID status`"),
    ("limit of disk", "not built yet"),
]


def run(build, test):
    """What ctest says of it, and seconds."""
    began = time.monotonic()
    done = subprocess.run(["ctest", "--test-dir", build, "-R", "^%s$" % test.replace(".", r"\.")], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    seconds = time.monotonic() - began
    if "No tests were found" in done.stdout:
        return "not in this build", seconds
    if done.returncode:
        return "FAILED", seconds
    return "skipped" if "Skipped" in done.stdout else "passed", seconds


def main():
    build, results = sys.argv[1], {}
    for item, test in SHOWN:
        if test not in results:
            results[test] = ("", 0) if "--list" in sys.argv else run(build, test)
        print("%-60s %-28s %s %.0f s" % (item, test, *results[test]), flush=True)
    for item, reason in LATER:
        print("%-60s %s" % (item, reason))
    sys.exit(any(result == "FAILED" for result, _ in results.values()))


if __name__ == "__main__":
    main()
