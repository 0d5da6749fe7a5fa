#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A number that decides a verdict stands in analyzer/analyses/thresholds/thresholds.def and nowhere else.

    thresholds.py SOURCE-FOLDER     reports every fault; the exit status is 1 if there is any
    thresholds.py --self-test       makes files with each fault, and looks whether it is reported

Refused in the folders of the verdict: constants of numbers, fractions, a number of 2 and more that divides,
multiplies or is compared with. ALLOWED has those that decide nothing. Refused in the table: more than ROWS_MOST
rows, a name that does not say what it limits, a row that nothing uses.
"""
import pathlib
import re
import sys
import tempfile

FOLDERS = ("evidence", "verdict", "leaks")
TABLE = "analyzer/analyses/thresholds/thresholds.def"
ROWS_MOST = 42

# The arithmetic of tests of statistics.
FILES_LEFT_OUT = {"trend.c"}
# Constants and pieces of lines that decide nothing.
ALLOWED = {
    "sizes of rows and queues": ("BLOCK_RISE_MOST", "CLOCK_SAMPLES_MOST", "OVERDUE_ROWS_MOST", "ROWS_FIRST", "ROWS_MORE",
                                 "rows_after_joining", "capacity * 2", "SURVIVOR_CHANGES_MOST", "TREND_EXACT_MAX", "TREND_MAX",
                                 "WHY_ROWS_MOST", "DEVICES_ROOM"),
    "two become one": ("FIRST_STRIDE_NS", "[2 * i]"),
    "memory that is asked for early": ("__builtin_prefetch", "WIDE_ROWS", "ROW_AFTER", "BIRTHS_AFTER"),
    "the middle": ("(low + high + 1) / 2", "[count / 2]"),
    "pairs, thirds and edges": ("(history->count - 1) / 2", "2 * third", "edge < 2"),
    "what is printed, and in which order": ("PARTS_SHOWN_PERCENT", "SURVIVOR_PARTS_MOST", "stacks_shown", "functions_shown",
                                            "findings_most", "devices_most", "function_most_bytes", "leaking_stacks_most", "share_least",
                                            "with_survivors * 2", "unreleased_bytes / 2"),
    "numbers of a thousand and a milliard": ("1e9 + 0.5", "* 1000 + steps / 2", "per_1000", "1000 * rate_per_turn",
                                              "1000 * furthest"),
}
ENDINGS = {"PARTS": ("_SHARE",), "TIMES": ("_TIMES",)}
OTHER_ENDINGS = ("_MIN", "_MAX", "_STEPS", "_MOMENTS")

ENUM = re.compile(r"\benum\b\s*\w*\s*\{([^}]*)\}")
CONSTANT = re.compile(r"(\w+)\s*=\s*\(?(?:UINT64_C\()?\d")
PATTERNS = (
    (re.compile(r"#\s*define\s+\w+\s+\(?(?:UINT64_C\()?[\d.]"), "a constant"),
    (re.compile(r"\bstatic const (?:double|float|u?int\w*_t|size_t|unsigned|int)\s+\w+\s*=\s*[\d.]"), "a constant"),
    (re.compile(r"(?<![\w.])(?:\d+\.\d+|\d+(?:\.\d+)?e-?\d+)"), "a fraction"),
    (re.compile(r"(?<![\w*])[/*%]\s*(?:[2-9]|\d{2,})\b|(?<![\w.])(?:[2-9]|\d{2,}) \* "), "a factor"),
    (re.compile(r"(?<![<>-])[<>]=? (?:[2-9]|\d{2,})\b"), "a limit"),
)
ROW = re.compile(r'^THRESHOLD(?:_DOUBLE)?\((\w+), ([^,]+), (\w+),\s*"([^"]*)",\s*"([^"]*)"\)', re.M)


def code_of(text):
    """Without comments and strings; lines stay."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def is_allowed(text):
    return any(part in text for parts in ALLOWED.values() for part in parts)


def faults_of_file(name, text):
    code = code_of(text)
    for body in ENUM.finditer(code):
        for found in CONSTANT.finditer(body[1]):
            if not is_allowed(found[1]):
                line = code.count("\n", 0, body.start(1) + found.start()) + 1
                yield f"{name}:{line}: a constant outside of thresholds.def: {found[1]}"
    for number, line in enumerate(code.splitlines(), 1):
        for pattern, what in PATTERNS:
            if pattern.search(line) and not is_allowed(line):
                yield f"{name}:{number}: {what} outside of thresholds.def: {line.strip()}"
                break


def faults_of_table(text, used):
    rows = ROW.findall(text)
    if len(rows) != len(re.findall(r"^THRESHOLD", text, re.M)):
        yield f"{TABLE}: a row that is not THRESHOLD(NAME, value, UNIT, \"...\", \"...\")"
    if len(rows) > ROWS_MOST:
        yield f"{TABLE}: {len(rows)} rows, more than {ROWS_MOST}: join two of them"
    for name, _, unit, keeps_out, tests in rows:
        if not name.isupper() or not name.endswith(ENDINGS.get(unit, OTHER_ENDINGS)):
            yield f"{TABLE}: {name}, of {unit}: its end does not say what it limits"
        if not keeps_out or not tests:
            yield f"{TABLE}: {name}: what it keeps out and which test sees it is not said"
        if name not in used:
            yield f"{TABLE}: {name}: nothing uses it"


def check(root):
    faults, used = [], set()
    folders = {root / "analyzer/analyses" / name for name in FOLDERS}
    for path in sorted((root / "analyzer").rglob("*.[ch]")):
        text = path.read_text()
        used |= set(re.findall(r"\b[A-Z][A-Z_0-9]+\b", code_of(text)))
        if path.name not in FILES_LEFT_OUT and path.parent in folders:
            faults += faults_of_file(path.name, text)
    return faults + list(faults_of_table((root / TABLE).read_text(), used))


SAMPLES = {
    "enum { peak_share = 4 };": "a constant",
    "enum {\n    peak_share = 4\n};": "a constant",
    "#define RISE_LEAST (UINT64_C(8) << 20)": "a constant",
    "static const double chance_limit = 0.01;": "a constant",
    "    return chance < 0.01;": "a fraction",
    "    return chance < 1e-4;": "a fraction",
    "    return bytes >= peak / 4;": "a factor",
    "    return falls * 10 <= count;": "a factor",
    "    return 3 * longest < silence;": "a factor",
    "    return turns >= 2;": "a limit",
    "    return shape->turns < 12 && x;": "a limit",
    "    return bytes / MOST_SHARE; /* half, 1/2 */": "",
    "    return count > 1 && last >= 0 && name->at[2];": "",
    "    report(\"%d of 3 / 4\", *text);": "",
    "enum { UNITS = sizeof(units) / sizeof(units[0]) };": "",
}
ROW_SAMPLES = {
    'THRESHOLD(LEAK_BYTES_MIN, 16 << 10, BYTES, "names",\n          "survivors")': "",
    'THRESHOLD(LEAK_BYTES, 16 << 10, BYTES, "names", "survivors")': "its end",
    'THRESHOLD(PEAK_MIN, 4, PARTS, "trifles", "survivors")': "its end",
    'THRESHOLD(PEAK_SHARE, 4, PARTS, "trifles", "")': "is not said",
    'THRESHOLD(OTHER_SHARE, 4, PARTS, "trifles", "survivors")': "nothing uses it",
    "THRESHOLD(PEAK_SHARE, 4, PARTS)": "a row that is not",
    'THRESHOLD(PEAK_SHARE, 4, PARTS, "trifles", "survivors")\n' * (ROWS_MOST + 1): "more than",
}


def self_test():
    wrong = []
    for line, wanted in SAMPLES.items():
        faults = list(faults_of_file("sample.c", line))
        if len(faults) != bool(wanted) or wanted and wanted not in faults[0]:
            wrong.append(f"{line!r}: {faults}, not {wanted!r}")
    for row, wanted in ROW_SAMPLES.items():
        faults = list(faults_of_table(row, {"LEAK_BYTES_MIN", "LEAK_BYTES", "PEAK_MIN", "PEAK_SHARE"}))
        if bool(faults) != bool(wanted) or wanted and wanted not in faults[0]:
            wrong.append(f"{row[:80]!r}: {faults}, not {wanted!r}")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in (("evidence/a.c", "x / PEAK_SHARE"), ("verdict/b.c", "x / 2"), ("peak/c.c", "x / 2"),
                           ("thresholds/thresholds.def", 'THRESHOLD(PEAK_SHARE, 4, PARTS, "trifles", "a")')):
            path = root / "analyzer/analyses" / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
        faults = check(root)
        if len(faults) != 1 or "b.c:1" not in faults[0]:
            wrong.append(f"a tree with one fault: {faults}")
    return wrong


def main():
    faults = self_test() if sys.argv[1:] == ["--self-test"] else check(pathlib.Path(sys.argv[1]))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
