#!/usr/bin/env python3
"""What each question shows on a terminal of 80 and of 200 columns: docs/transcripts.

    transcripts.py LEAKTIDE MAKE_TRACES DOCS [--update]

Compares the pages with what is shown; --update writes them.
"""

import difflib
import os
import subprocess
import sys
import tempfile

import terminal

LEAKTIDE, MAKE_TRACES, DOCS = (os.path.realpath(word) for word in sys.argv[1:4])
COMMANDS = ["run --help", "report leak", "leaks leak", "leaks -v --wide stacks", "peak leak", "stacks leak", "blocks leak", "steps leak",
            "ops leak", "breakdown leak", "modules leak", "ranks leak", "info leak", "frag cuda", "oom refused",
            "inefficient leak", "advice leak", "account accounts", "diff short leak", "diff --steps=3,7 leak",
            "gate --policy process.toml accounts"]
LINES = 48
HEAD = """# leaktide on a terminal of %d columns and %d lines

Made by `tests/cli/transcripts.py` from made-up recordings, without colours. [terminal.md](../terminal.md) says what is shown.
"""


def transcript(folder, columns):
    parts = [HEAD % (columns, LINES)]
    for command in COMMANDS:
        shown, status = terminal.run([LEAKTIDE, *command.split()], folder, columns=columns, lines=LINES, LC_ALL="C", TZ="UTC")
        parts.append("## leaktide %s\n\n```text\n%s```\n\nExit status %d.\n" % (command, terminal.plain(shown), status))
    return "\n".join(parts)


def main():
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([MAKE_TRACES], cwd=folder, check=True)
        for columns in (80, 200):
            path = os.path.join(DOCS, "transcripts", "%d-columns.md" % columns)
            now = transcript(folder, columns)
            if sys.argv[4:] == ["--update"]:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(now)
                continue
            with open(path, encoding="utf-8") as file:
                before = file.read()
            if now != before:
                sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), now.splitlines(True), path, "now"))
                print("after a wanted change: " + " ".join(sys.argv) + " --update")
                status = 1
    sys.exit(status)


if __name__ == "__main__":
    main()
