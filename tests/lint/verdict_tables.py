#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/verdicts.md, in both languages, are those of doubts.def and thresholds.def.

    verdict_tables.py FOLDER            reports what differs; the exit status is 1 if anything does
    verdict_tables.py FOLDER --write    writes them into the pages
    verdict_tables.py --self-test
"""
import ast
import pathlib
import re
import sys

import languages

DOUBTS = "analyzer/analyses/verdict/doubts.def"
THRESHOLDS = "analyzer/analyses/thresholds/thresholds.def"
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
TOKEN = re.compile(STRING.pattern + r"|[^,\"]+|,")

ENGLISH = {
    "page": "docs/verdicts.md",
    "doubts": ("doubt", "what it means", "asked"),
    "thresholds": ("number", "value", "what it keeps out"),
    "ALWAYS": "always", "UNMARKED": "if no marked steps decide", "LAST": "if there is no other doubt",
    "COUNT": "counts", "BYTES": "bytes", "SECONDS": "seconds", "TIMES": "times", "PARTS": "parts",
    "CHANCE": "statistics", "DEVIATIONS": "statistics", "DISTANCE": "statistics",
}
CHINESE = {
    "page": "docs/zh-CN/verdicts.md",
    "doubts": ("疑问", "含义", "何时询问"),
    "thresholds": ("数值", "值", "排除什么"),
    "ALWAYS": "总是", "UNMARKED": "没有标记的步作决定时", "LAST": "没有其他疑问时",
    "COUNT": "个数", "BYTES": "字节", "SECONDS": "秒", "TIMES": "倍数", "PARTS": "若干分之一",
    "CHANCE": "统计量", "DEVIATIONS": "统计量", "DISTANCE": "统计量",
}


# --- the tables of the sources ------------------------------------------------------------------

def arguments(words):
    """Of a row: strings without quotes, joined where they stand side by side."""
    found = [""]
    for token in TOKEN.finditer(words):
        if token[0] == ",":
            found.append("")
        elif token[1] is not None:
            found[-1] += token[1]
        else:
            found[-1] += token[0].strip()
    return found


def rows(source, macro):
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    return [arguments(words) for words in re.findall(rf"^{macro}\((.*?)\)(?:;|$)", source, re.M | re.S)]


def doubts(source):
    """{(word, reason): {weight: sentences}}: what a summary keeps apart."""
    found = {}
    for _, word, weight, _, sentence, reason in rows(source, "DOUBT"):
        found.setdefault((word, reason), {}).setdefault(weight, []).append(sentence)
    return found


def beginnings(sentences, translate):
    """How those begin that do not say CANNOT SAY."""
    return ", ".join(re.split("[:：]", translate(text))[0] for text in sentences if text.startswith("MAY BE"))


def size(number):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if number >> shift:
            return f"{number >> shift} {unit}"
    return str(number)


def value(words, unit):
    left, _, shift = words.partition("<<")
    number = ast.literal_eval(left.strip())
    if shift:
        number <<= int(shift)
    if unit == "BYTES":
        return size(number)
    text = f"{number:,}" if isinstance(number, int) else f"{number:f}".rstrip("0")
    return f"1/{text}" if unit == "PARTS" else text


def thresholds(source):
    """{unit: [(name, value, what it keeps out)]} in the order of the table."""
    units = {}
    for name, words, unit, keeps_out, _ in rows(source, "THRESHOLD(?:_DOUBLE)?"):
        units.setdefault(unit, []).append((name, value(words, unit), keeps_out))
    return units


# --- as Markdown --------------------------------------------------------------------------------

def line(*cells):
    return "| " + " | ".join(cells) + " |"


def head(names):
    return [line(*names), "|" + "---|" * len(names)]


def doubt_table(source, language, translate):
    lines = head(language["doubts"])
    for (word, reason), weights in doubts(source).items():
        asked = [": ".join(filter(None, (beginnings(sentences, translate), language[weight])))
                 for weight, sentences in weights.items()]
        lines.append(line(f"`{word}`", translate(reason), "; ".join(asked)))
    return lines


def threshold_table(source, language):
    lines = head(language["thresholds"])
    for unit, numbers in thresholds(source).items():
        title = f"| **{language[unit]}** | | |"
        lines += [title] if title not in lines else []
        lines += [line(f"`{name}`", number, keeps_out) for name, number, keeps_out in numbers]
    return lines


def replaced(page, name, lines):
    """The page with these lines between its markers; None without markers."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    return before + begin + "\n".join(lines) + "\n" + end + after if found and ended else None


def check(root, is_writing):
    doubt_source, threshold_source = ((root / path).read_text(encoding="utf-8") for path in (DOUBTS, THRESHOLDS))
    chinese = dict(languages.entries((root / languages.CATALOGUE).read_text(encoding="utf-8")))
    for language, translate in ((ENGLISH, lambda text: text), (CHINESE, lambda text: chinese.get(text, text))):
        path = root / language["page"]
        there = page = path.read_text(encoding="utf-8")
        for name, lines in (("doubts", doubt_table(doubt_source, language, translate)),
                            ("thresholds", threshold_table(threshold_source, language))):
            wanted = replaced(page, name, lines)
            if wanted is None:
                yield f"{language['page']} has no place for {name}"
            elif wanted != page and not is_writing:
                yield f"{language['page']} has other {name} than the sources: tests/lint/verdict_tables.py . --write"
            page = wanted or page
        if is_writing and page != there:
            path.write_text(page, encoding="utf-8")


# --- itself -------------------------------------------------------------------------------------

SOME_DOUBTS = """/* DOUBT(kind, word) */
DOUBT(A, "steps", ALWAYS, few, "CANNOT SAY: {count}, "
      "or so.", "too few, "
      "mark (some)");
DOUBT(B, "steps", ALWAYS, none, "CANNOT SAY: none", "too few, mark (some)");
DOUBT(D, "turns", ALWAYS, garbage, "CANNOT SAY: both", "run it longer")
DOUBT(C, "turns", UNMARKED, turns, "MAY BE A LEAK: {detail}", "run it longer")
"""
SOME_THRESHOLDS = """
THRESHOLD(FEW_MIN, 1000, COUNT, "chance, and (so) on",
          "a b")
THRESHOLD(LEAST_BYTES, 16 << 10, BYTES, "names", "a")
THRESHOLD(PART_SHARE, 8, PARTS, "a trifle", "c")
THRESHOLD_DOUBLE(SURE_MAX, 1e-4, CHANCE, "chance", "a")
"""


def self_test():
    assert doubts(SOME_DOUBTS)["steps", "too few, mark (some)"] == {"ALWAYS": ["CANNOT SAY: {count}, or so.", "CANNOT SAY: none"]}
    chinese = {"MAY BE A LEAK: {detail}": "可能泄漏：{detail}", "run it longer": "请运行更久"}
    assert doubt_table(SOME_DOUBTS, CHINESE, lambda text: chinese.get(text, text))[3:] == [
        "| `turns` | 请运行更久 | 总是; 可能泄漏: 没有标记的步作决定时 |"]
    assert doubt_table(SOME_DOUBTS, ENGLISH, str)[2:] == [
        "| `steps` | too few, mark (some) | always |",
        "| `turns` | run it longer | always; MAY BE A LEAK: if no marked steps decide |"]
    assert threshold_table(SOME_THRESHOLDS, ENGLISH)[2:] == [
        "| **counts** | | |", "| `FEW_MIN` | 1,000 | chance, and (so) on |",
        "| **bytes** | | |", "| `LEAST_BYTES` | 16 KiB | names |",
        "| **parts** | | |", "| `PART_SHARE` | 1/8 | a trifle |",
        "| **statistics** | | |", "| `SURE_MAX` | 0.0001 | chance |"]
    assert replaced("a\n<!-- x -->\nold\n<!-- end of x -->\nb\n", "x", ["new"]) == \
        "a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n"
    assert replaced("a\n", "x", []) is None


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    found = list(check(pathlib.Path(sys.argv[1]), "--write" in sys.argv[2:]))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
