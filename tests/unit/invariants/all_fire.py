#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""There are enough assertions, and only those count that were seen to fire.

usage: all_fire.py ROOT FOLDER=LEAST... -- TEST...

Runs the tests, which write "fired FILE:LINE: not so: CONDITION" (death.h), and compares that with
the MT_ASSERT in the folders of ROOT. LEAST: assertions for each 1,000 lines that are neither blank
nor comment. Fails where there are fewer. Those that fire in no test are listed.
"""

import os
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
FIRED = re.compile(r"^fired (?:\S*?/)??((?:tracer|analyzer)/\S+):\d+: not so: (.*)$", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def packed(condition):
    return "".join(condition.split())


def fired_in(tests):
    """{(file, condition)}; None where the build has no assertions."""
    fired = set()
    for test in tests:
        done = subprocess.run([test], capture_output=True, text=True, check=False)
        if done.returncode == SKIPPED:
            return None
        fired.update((os.path.normpath(path), packed(condition))
                     for path, condition in FIRED.findall(done.stdout))
    return fired


def conditions_of(code):
    """(line, condition) of each MT_ASSERT."""
    for match in re.finditer(r"\bMT_ASSERT\(", code):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        yield code.count("\n", 0, match.start()) + 1, packed(code[match.end():end - 1])


def look_at(root, folder, fired):
    """(lines of code, assertions that fired, places of those that did not)."""
    lines, count, silent = 0, 0, []
    for path in sorted((root / folder).rglob("*.[ch]")):
        name = str(path.relative_to(root))
        code = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), path.read_text())
        lines += sum(1 for line in code.splitlines() if line.strip())
        for line, condition in conditions_of(code):
            if (name, condition) in fired:
                count += 1
            else:
                silent.append(f"{name}:{line}: {condition}")
    return lines, count, silent


def main():
    arguments = sys.argv[1:]
    split = arguments.index("--")
    root, tests = pathlib.Path(arguments[0]), arguments[split + 1:]
    fired = fired_in(tests)
    if fired is None:
        return SKIPPED
    is_wrong = False
    for folder, least in (word.split("=") for word in arguments[1:split]):
        lines, count, silent = look_at(root, folder, fired)
        share = 1000 * count / lines
        print(f"{folder}: {count} assertions that fire in {lines} lines: {share:.2f} per 1,000; "
              f"at least {least}")
        print("".join(f"no test makes it fire: {place}\n" for place in silent), end="")
        is_wrong = is_wrong or share < float(least)
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
