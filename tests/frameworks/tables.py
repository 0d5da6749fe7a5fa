#!/usr/bin/env python3
"""All tables of frameworks, as Markdown: what was once found wrong, on devices and with recordings of others; what the profilers'
documents wish; frameworks beside their own numbers; and the original beside us.

    tables.py [--cache FOLDER] [--data FOLDER] [--fetch] [--part NAME]... [--row TEXT]... [--table FILE] [--original FOLDER] LEAKTIDE EVENT-DUMP

A row of the first three tables is "A", or says what is not so (graded.py); --data is the folder of recordings that these
rows name. The fourth table is run.py, the fifth original.py. The status is 1 where something is not as it should be, 77 where
nothing could be run.
"""
import os
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import graded  # noqa: E402
import graded_devices  # noqa: E402
import graded_recordings  # noqa: E402
import graded_wishes  # noqa: E402
import original  # noqa: E402
import run  # noqa: E402

GRADED = {"devices": ("Programs on devices", graded_devices.ROWS),
          "recordings": ("Recordings of others", graded_recordings.ROWS),
          "wishes": ("What the profilers' documents wish", graded_wishes.ROWS)}
TABLES = [*GRADED, "frameworks", "original"]


def tell_graded(options, title, rows, made):
    outcomes = Counter()
    print("\n## %s\n\n| row | right | source | grade |\n|---|---|---|---|" % title)
    for row in rows:
        if options.row and not any(text in "%s %s" % (row.name, row.right) for text in options.row):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            kit = graded.Kit(options.leaktide, options.data, scratch, options, made)
            grade, is_good = graded.grade_of(row, kit)
        outcomes[is_good] += 1
        print("| %s |" % " | ".join(map(graded.cell, (row.name, row.right, row.source, grade))), flush=True)
    print("\n%d A, %d not, %d graded by reading or not run" % (outcomes[True], outcomes[False], outcomes[None]))
    return outcomes


def as_text(title, tell):
    """What is aligned already, as it is."""
    print("\n## %s\n\n```text" % title)
    told = tell()
    print("```", flush=True)
    return told


def tell_original(options):
    options.only, options.python = None, sys.executable
    return Counter([original.tell(options)])


def main():
    parser = run.parser_of(__doc__)
    parser.add_argument("--original", default="")
    parser.add_argument("--data", default="")
    parser.add_argument("--part", action="append", choices=TABLES)
    parser.add_argument("--row", action="append", metavar="TEXT")
    options = parser.parse_args()
    options.leaktide, options.event_dump = os.path.abspath(options.leaktide), os.path.abspath(options.event_dump)
    options.original = os.path.abspath(options.original) if options.original else ""
    options.data = os.path.abspath(options.data) if options.data else ""
    outcomes, chosen = Counter(), options.part or TABLES
    with tempfile.TemporaryDirectory() as folder:
        made = {"folder": folder}
        for name, (title, rows) in GRADED.items():
            if name in chosen:
                outcomes += tell_graded(options, title, rows, made)
    if "frameworks" in chosen:
        outcomes += as_text("Frameworks", lambda: run.tell_all(options))
    if "original" in chosen:
        outcomes += as_text("The original", lambda: tell_original(options))
    return 1 if outcomes[False] else 0 if outcomes[True] else 77


if __name__ == "__main__":
    sys.exit(main())
