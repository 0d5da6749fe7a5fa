#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each row of docs/wrong-answers.md names a test that is there.

usage: wrong_answers.py PROJECT_FOLDER | --self-test
"""
import pathlib
import re
import sys

PAGE = "docs/wrong-answers.md"
ROW = re.compile(r"^\| ([A-Z])(\d+) \|.*\| (.*) \|$")
TEST = re.compile(r"`([^`:]+): ([^`]+)`")
LETTERS = "ABCDE"


def faults(page, read):
    """What is wrong with the page; read gives the text of a file, None where there is none."""
    numbers = {letter: 0 for letter in LETTERS}
    for line in page.splitlines():
        row = ROW.match(line)
        if not row:
            continue
        letter, number, cell = row[1], int(row[2]), row[3]
        if number != numbers.get(letter, -1) + 1:
            yield f"{letter}{number} is not the next row"
        numbers[letter] = number
        tests = TEST.findall(cell)
        if not tests:
            yield f"{letter}{number} names no test"
        for path, words in tests:
            text = read(path)
            if text is None:
                yield f"{letter}{number}: {path} is not there"
            elif words not in text:
                yield f"{letter}{number}: {path} has no {words}"
    for letter, count in numbers.items():
        if not count:
            yield f"there is no row of {letter}"


def reader(root):
    def read(path):
        file = root / path
        return file.read_text(encoding="utf-8") if file.is_file() else None
    return read


def self_test():
    whole = "".join(f"| {letter}1 | a | b | `t: x` |\n" for letter in LETTERS)
    files = {"t": "def x():"}
    cases = (
        (whole, []),
        (whole.replace("A1", "A2"), ["A2 is not the next row"]),
        (whole.replace("| B1 | a | b | `t: x` |", "| B1 | a | b | soon |"), ["B1 names no test"]),
        (whole.replace("| C1 | a | b | `t: x`", "| C1 | a | b | `u: x`"), ["C1: u is not there"]),
        (whole.replace("| D1 | a | b | `t: x`", "| D1 | a | b | `t: y`"), ["D1: t has no y"]),
        (whole.replace("| E1", "| x"), ["there is no row of E"]),
    )
    for page, wanted in cases:
        found = list(faults(page, files.get))
        assert found == wanted, (found, wanted)


def main():
    if sys.argv[1] == "--self-test":
        self_test()
        return 0
    root = pathlib.Path(sys.argv[1])
    found = list(faults((root / PAGE).read_text(encoding="utf-8"), reader(root)))
    for fault in found:
        print(f"{PAGE}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
