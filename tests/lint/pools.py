#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each pool that the tracer names has a row in analyzer/model/pools.def, which is the only place of the
analyzer that names pools, and a place in docs/pools.md.

And each table of hooks is known to dlsym and to the test that calls every line; the families of devices are
the same in the table, the help, the man page and pytest. Which ledger lies in which is asked in one place.

usage: pools.py PROJECT_FOLDER
"""
import pathlib
import re
import sys

# Words that are names of pools and mean something else in these files.
WORDS = {
    "host": {"command_run.c", "labels.c", "export_sqlite.c", "ascend_folder.c", "memscope_rows.c", "pools.c"},
    "mindspore": {"ascend_tables.c"},  # the framework of a profile
    "cuda": {"command_run.c"},  # what people call a family
    "python": {"command_run.c", "compat_values.c", "program_file.c", "site_rules.c"},  # a language
    "shared_memory": {"policy.c", "rules.def"},  # a part of a process's account
    "unknown": {"category.c", "export_memory_viz.c"},
}

# How a source of the tracer names a pool.
NAMES = (
    re.compile(r'\bPOOL\(\w+, "([^"]+)"\)'),
    re.compile(r'\.pool = "([^"]+)"'),  # a domain of mstx
)
# Where the families of devices are written for people: the words between, with "cpu", are those of
# include/leaktide/device_families.def.
FAMILIES = (
    ("analyzer/cli/command_run.c", r'"device", "LIST", "([^:]*):'),
    ("docs/man/leaktide.1", r"^\.It Fl -device[^\n]*\n(?:[^.\n][^\n]*\n)*\.Cm ([^\n]*)"),
    ("tracer/python/pytest_leaktide.py", r'_DEVICES = "([^"]*)"'),
    ("tracer/config/config.c", r'"expected (npu[^"]*), separated by commas, N'),
    ("tracer/control/control_words.c", r'"devices are ([^"]*), N up'),
)
# What names one so that this script would not see it.
HIDDEN = re.compile(
    r"\brecord_(?:alloc|alloc_failed|free|pool_reserved|tensor_access)\(\s*(?:text_of\(\s*\"|\(struct text\))"
    r"|\bstruct text \w*pool\w* = \{"
)


# Which memory lies in which: in these files, and asked of analyses/sites/ledger_layers.h by all others.
LAYERS = re.compile(r"\b(?:pool_lies_in|cut_up_bytes|ledger->is_reserved)\b|(?:->|\.)lies_in\b")
LAYERS_FILES = {"pools.c", "pools.h", "tally.h", "tally_groups.c", "tally_layers.c", "tally_rows_check.c", "ledger_layers.c",
                "oom.c", "segments_below.c"}


def sources(folder):
    for pattern in ("*.c", "*.h", "*.def"):
        yield from sorted(folder.rglob(pattern))


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def without_comments(text):
    return re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S)


def families_missing(root):
    """Places whose words are not the families."""
    table = (root / "include/leaktide/device_families.def").read_text()
    families = set(re.findall(r'^FAMILY\(\w+, "([^"]+)"\)', table, re.M))
    for name, pattern in FAMILIES:
        found = re.search(pattern, (root / name).read_text(), re.M)
        words = set(re.findall(r"[a-z]{2,}", found.group(1))) - {"cpu", "or"} if found else set()
        if words != families:
            yield (f"{name}: the devices are {sorted(words)}, and in "
                   f"include/leaktide/device_families.def {sorted(families)}")


def tables_missing(root):
    """Tables of hooks that something does without."""
    lookup = (root / "tracer/hooks/symbol_lookup.c").read_text()
    test = (root / "tests/unit/hook_tables_test.c").read_text()
    for path in sorted((root / "tracer/hooks").glob("*.c")):
        text = path.read_text()
        for table in re.findall(r'^#define HOOK_TABLE +"([^"]+)"', text, re.M):
            if f'#include "{table}"' not in test:
                yield f"tests/unit/hook_tables_test.c: does not include {table}"
        for entries in re.findall(r"^#define HOOK_ENTRIES +(\w+)", text, re.M):
            if f"&{entries}}}" not in lookup:
                yield f"tracer/hooks/symbol_lookup.c: programs that ask dlsym pass by {entries}"


def layers_bypassed(root):
    """Who decides anew which memory lies in which."""
    for path in sources(root / "analyzer"):
        text = without_comments(path.read_text())
        for number, line in enumerate(text.splitlines(), 1):
            if path.name not in LAYERS_FILES and LAYERS.search(line):
                yield f"{path.relative_to(root)}:{number}: which memory lies in which is asked of ledger_layers.h"


def main():
    root = pathlib.Path(sys.argv[1])
    table = root / "analyzer/model/pools.def"
    rows = re.findall(r'^POOL\(\w+, "([^"]+)"', table.read_text(), re.M)
    wrong = []
    named = set()

    wrong.extend(families_missing(root))
    wrong.extend(tables_missing(root))
    wrong.extend(layers_bypassed(root))

    for path in sources(root / "tracer"):
        text = without_comments(path.read_text())
        place = path.relative_to(root)
        for pattern in NAMES:
            for found in pattern.finditer(text):
                named.add(found.group(1))
                if found.group(1) not in rows:
                    wrong.append(f"{place}:{line_of(text, found.start())}: the pool "
                                 f"\"{found.group(1)}\" has no row in analyzer/model/pools.def")
        for found in HIDDEN.finditer(text):
            wrong.append(f"{place}:{line_of(text, found.start())}: pools are named with POOL()")

    for path in sources(root / "analyzer"):
        if path == table:
            continue
        text = without_comments(path.read_text())
        for found in re.finditer(r'"((?:[^"\\\n]|\\.)*)"', text):
            word = found.group(1)
            is_pool = any(word == row or row.endswith("*") and word.startswith(row[:-1])
                          for row in rows)
            if is_pool and path.name not in WORDS.get(word, ()):
                wrong.append(f"{path.relative_to(root)}:{line_of(text, found.start())}: "
                             f"the pool \"{word}\" is named outside pools.def")

    documented = (root / "docs/pools.md").read_text()
    for row in rows:
        if f"`{row}`" not in documented:
            wrong.append(f"docs/pools.md: no word about `{row}`")
    if not rows or not named:
        wrong.append("no pools found: this script looks for something else than there is")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
