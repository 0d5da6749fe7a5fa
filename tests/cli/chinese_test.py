# SPDX-License-Identifier: Apache-2.0
"""Every case of tests/cli in Chinese: the same exit status, the same numbers and names, the same JSON.

usage: chinese_test.py LEAKTIDE MAKE_TRACES CASES

A sentence may have another order, so numbers and names of the two languages are compared as bags. What is in a format for
programs is compared byte by byte.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WORDS_SAME = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|--[a-z][-a-z]+|\w+\+0x[0-9a-f]+")
CHINESE = re.compile("[\u4e00-\u9fa5]")
FOR_PROGRAMS = re.compile(r"(?:-f |--format[= ])\S*(?:json|csv|sarif|junit|gitlab|openmetrics)|completion|--to[= ]")
# The C library's words, versions, and a format that is none.
NOT_OURS = re.compile(r"No such file|version [0-9]|--format=jsn")


def run(leaktide, command, language):
    # eval, as run_cases.sh does it: a case may quote.
    done = subprocess.run(["bash", "-c", "exec \"$0\" " + command[len("leaktide"):], leaktide], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          env=dict(os.environ, LANG=language, TZ="UTC"))
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def difference(english, chinese):
    """Numbers, options and sites that only one of two texts has."""
    bags = [collections.Counter(WORDS_SAME.findall(text)) for text in (english, chinese)]
    return sorted(((bags[0] - bags[1]) + (bags[1] - bags[0])).elements())


def faults_of(leaktide, command):
    status, out, errors = run(leaktide, command, "C")
    other_status, other_out, other_errors = run(leaktide, command, "zh_CN.UTF-8")
    if status != other_status:
        yield f"exit status {status} and {other_status}"
    if FOR_PROGRAMS.search(command):
        if out != other_out:
            yield "what programs read is not the same"
        return
    for said, other in ((out, other_out), (errors, other_errors)):
        if difference(said, other):
            yield f"only in one language: {difference(said, other)[:8]}"
        if re.search("[a-z]{3} [a-z]{3}", said) and not NOT_OURS.search(said) and not CHINESE.search(other):
            yield f"nothing is Chinese in: {other[:80]!r}"


def main():
    leaktide, make_traces, cases = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name in ("LEAKTIDE_OPTIONS", "LEAKTIDE_LIBRARY", "LEAKTIDE_TRACER", "LC_ALL", "LC_MESSAGES"):
            os.environ.pop(name, None)
        subprocess.run([make_traces], check=True)
        for recording in (cases / "../../fixtures/recordings").iterdir():
            (shutil.copytree if recording.is_dir() else shutil.copy)(recording, pathlib.Path(work, recording.name))
        paths = sorted(cases.glob("*.case"))
        for path in paths:
            command = path.read_text(encoding="utf-8").split("\n", 1)[0]
            for fault in faults_of(str(leaktide), command):
                failed += 1
                print(f"{path.name}: {fault}")
    print(f"{len(paths)} cases, {failed} faults")
    return bool(failed or len(paths) < 50)


if __name__ == "__main__":
    sys.exit(main())
