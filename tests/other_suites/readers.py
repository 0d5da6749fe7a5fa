"""Reads what test suites write: the name of each test, and what became of it.

A reader gets the output of a run, and the folder that the run could write to. It gives back a
dictionary, name -> result. A result begins with "passed", "failed" or "skipped". What follows that
word belongs to the result: two runs agree only if it is the same, such as the checksum of an answer.
"""

import glob
import os
import re
import xml.etree.ElementTree as ElementTree

COLOURS = re.compile(r"\x1b\[[0-9;]*m")

WORDS = {
    "ok": "passed", "pass": "passed", "passed": "passed",
    "fail": "failed", "failed": "failed", "not ok": "failed", "err": "failed",
    "exception": "failed", "error": "failed", "xpass": "failed", "timeout": "failed",
    "skip": "skipped", "skipped": "skipped", "ignore": "skipped", "xfail": "passed",
}


def lines_like(pattern):
    """A reader of lines; groups: name and word, and answer where the pattern has one.

    A test that is named twice has the worse of its results: suites repeat what failed at the end.
    """
    expression = re.compile(pattern)

    def read(output, folder):
        results = {}
        for line in COLOURS.sub("", output).splitlines():
            found = expression.match(line)
            if not found:
                continue
            groups = found.groupdict()
            name = groups["name"].strip()
            result = " ".join(filter(None, (WORDS[groups["word"].lower()], groups.get("answer"))))
            if not results.get(name, "").startswith("failed"):
                results[name] = result
        return results

    return read


def junit(output, folder):
    """Files of JUnit's kind, as CPython writes them."""
    results = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.xml"))):
        for case in ElementTree.parse(path).iter("testcase"):
            kinds = {child.tag for child in case}
            result = ("failed" if kinds & {"failure", "error"} else
                      "skipped" if "skipped" in kinds else "passed")
            results[case.get("name")] = result
    return results


def jq(output, folder):
    """jq --run-tests says a test's name first, and then only what is wrong with it."""
    results = {}
    name = None
    for line in output.splitlines():
        found = re.match(r"(?:Testing|Test #\d+:) ('.*' at line number \d+)", line)
        if found:
            name = found.group(1)
            results[name] = "passed"
        elif line.startswith("***") and name:
            results[name] = "failed"
    return results


def sqlite(output, folder):
    """testfixture ends the line of a test with Ok; anything else there is trouble."""
    results = {}
    for line in output.splitlines():
        # Some print a dot for each piece of their work.
        found = re.match(r"([\w.,()-]+)\.\.\.(.*)", line.lstrip("."))
        if found:
            results[found.group(1)] = "passed" if found.group(2).strip() == "Ok" else "failed"
    return results


def jemalloc(output, folder):
    """The same names in many programs: a heading tells which program speaks."""
    results = {}
    program = ""
    for line in output.splitlines():
        heading = re.match(r"=== (.+) ===", line)
        found = re.match(r"(\w+ \([\w-]+\)): (pass|skip|fail)", line)
        if heading:
            program = heading.group(1)
        elif found:
            results[f"{program} {found.group(1)}"] = WORDS[found.group(2)]
    return results


# "ok 1 - name # answer", as the scenarios write it; the number is not part of the name.
tap = lines_like(r"(?P<word>ok|not ok)\b *\d* *-? *(?P<name>[^#]+)(?:# *(?P<answer>.*))?$")
automake = lines_like(r"(?P<word>PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (?P<name>\S+)$")
redis = lines_like(r"\[(?P<word>ok|err|exception|skip|ignore|timeout)\]: (?P<name>.+?)"
                   r"(?: \(\d+ ms\)| in tests/.*)?$")
openssh = lines_like(r"(?P<word>ok|failed) (?P<name>[a-z].*)$")
pg_regress = lines_like(r"(?:test)? +(?P<name>[\w-]+) +\.\.\. (?P<word>ok|FAILED|failed)\b")
tcltest = lines_like(r"(?:\+\+\+\+|====) (?P<name>\S+) .*?(?P<word>PASSED|FAILED|SKIPPED)")
mimalloc = lines_like(r"test: (?P<name>.+?)\.\.\. +(?P<word>ok|failed)")
