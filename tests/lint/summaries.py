#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/summaries.md are those of analyzer/summary/summary_tables.def.

    summaries.py SOURCE-FOLDER            reports what differs; the exit status is 1 if anything does
    summaries.py SOURCE-FOLDER --update   writes them into the page
"""
import pathlib
import re
import sys

DEFINITIONS = "analyzer/summary/summary_tables.def"
PAGE = "docs/summaries.md"
BEGIN, END = "<!-- tables -->\n", "<!-- end of tables -->\n"
TEXT = r'"((?:[^"\\]|\\.)*)"'


def tables(definitions):
    """Markdown: a section for each table, a row for each column."""
    definitions = re.sub(r"/\*.*?\*/", "", definitions, flags=re.S)
    rows = re.findall(r"^SUMMARY_(TABLE|COLUMN)\((.*?)\)$", definitions, re.M | re.S)
    lines = []
    for kind, words in rows:
        words = words.replace("\n", " ")
        if kind == "TABLE":
            name, meaning = re.fullmatch(rf"\s*(\w+),\s*{TEXT}\s*", words).groups()
            lines += [f"\n### {name}.parquet", "", f"A row is {meaning}.", "", "| column | kind | |", "|---|---|---|"]
        else:
            found = re.fullmatch(rf"\s*\w+,\s*(\w+),\s*(\w+),\s*(\w+),\s*{TEXT}\s*", words)
            column, of, presence, meaning = found.groups()
            of = of.lower() + (", may be missing" if presence == "OPTIONAL" else "")
            lines.append(f"| `{column}` | {of} | {meaning} |")
    return "\n".join(lines).lstrip("\n") + "\n"


def main():
    root = pathlib.Path(sys.argv[1])
    wanted = tables((root / DEFINITIONS).read_text())
    page = (root / PAGE).read_text()
    before, rest = page.split(BEGIN)
    there, after = rest.split(END)
    if "--update" in sys.argv[2:]:
        (root / PAGE).write_text(before + BEGIN + wanted + END + after)
    elif there != wanted:
        print(f"{PAGE} has other tables than {DEFINITIONS}: tests/lint/summaries.py . --update")
        return 1
    return 0


sys.exit(main())
