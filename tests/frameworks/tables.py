#!/usr/bin/env python3
"""All tables of frameworks, row by row: what is true of each, and what was recorded; then the original beside us.

    tables.py [--cache FOLDER] [--fetch] [--only STORY]... [--table FILE] [--original FOLDER] LEAKTIDE EVENT-DUMP

The first part is run.py, the second original.py. The status is 1 where something is not as it should be, 77 where nothing
could be run.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import original  # noqa: E402
import run  # noqa: E402


def main():
    parser = run.parser_of(__doc__)
    parser.add_argument("--original", default="")
    options = parser.parse_args()
    options.leaktide = os.path.abspath(options.leaktide)
    outcomes = run.tell_all(options)
    options.only, options.python = None, sys.executable
    options.original = os.path.abspath(options.original) if options.original else ""
    outcomes[original.tell(options)] += 1
    return 1 if outcomes[False] else 0 if outcomes[True] else 77


if __name__ == "__main__":
    sys.exit(main())
