#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each page of docs/zh-CN says what the English page of that name says, as far as can be counted.

usage: translations.py PROJECT_FOLDER | --self-test

The same on both pages: blocks of code (comments after "# " may differ), inline code, options in indented blocks,
numbers, headings and rows of tables. A link leads to something that is there, and to the Chinese page where there is one.
"""
import collections
import pathlib
import re
import sys

FOLDER = "docs/zh-CN"
README = "README.zh-CN.md"
FENCE = re.compile(r"^\s*```")
COMMENT = re.compile(r"(^|\s+)# .*$")
CODE = re.compile(r"`([^`]+)`")
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#+) (.*)")
NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)*)(?:\s*(million|thousand|万|千))?")
TIMES = {"million": 1000000, "thousand": 1000, "万": 10000, "千": 1000, "": 1}


class Page:
    """What a page of Markdown has that can be compared."""

    def __init__(self, text):
        self.blocks, self.links = [], []
        self.code, self.options, self.numbers = (collections.Counter() for _ in range(3))
        self.headings, self.rows, self.anchors = [], 0, set()
        prose = list(self.prose(text))
        for line in prose:
            self.take(line)
        self.code.update(" ".join(code.split()) for code in CODE.findall("\n".join(prose)))

    def prose(self, text):
        """The lines outside of blocks of code."""
        block = None
        for line in text.splitlines():
            if FENCE.match(line):
                if block is None:
                    block = [line]
                else:
                    self.blocks.append("\n".join(block))
                    block = None
            elif block is not None:
                block.append(COMMENT.sub("", line))
            elif line.startswith("    "):
                self.options.update(OPTION.findall(line))
            else:
                yield line

    def take(self, line):
        self.links += LINK.findall(line)
        heading = HEADING.match(line)
        if heading:
            self.headings.append(len(heading[1]))
            words = CODE.sub(r"\1", heading[2]).lower()
            self.anchors.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
        self.rows += line.startswith("|")
        plain = LINK.sub("]", CODE.sub(" ", line))
        for digits, times in NUMBER.findall(plain):
            self.numbers[number(digits.rstrip(","), times)] += 1


def number(digits, times):
    bare = digits.replace(",", "")
    return str(round(float(bare) * TIMES[times])) if times else bare


def differences(english, chinese):
    """What one page has and the other has not."""
    for name in ("code", "options", "numbers"):
        wanted, found = getattr(english, name), getattr(chinese, name)
        for word, count in sorted((wanted - found).items()):
            yield f"{name}: {word} is missing ({count})"
        for word, count in sorted((found - wanted).items()):
            yield f"{name}: {word} is not in the English page ({count})"
    if english.headings != chinese.headings:
        yield f"headings of the levels {chinese.headings}, not {english.headings}"
    if english.rows != chinese.rows:
        yield f"{chinese.rows} rows of tables, not {english.rows}"
    if len(english.blocks) != len(chinese.blocks):
        yield f"{len(chinese.blocks)} blocks of code, not {len(english.blocks)}"
    for wanted, found in zip(english.blocks, chinese.blocks):
        if wanted != found:
            yield f"this block of code is not that of the English page:\n{found}"


def link_faults(name, page, folder):
    """Links of docs/zh-CN/name that lead nowhere, or to English where there is Chinese."""
    own = "../" + name
    if own not in page.links:
        yield f"no link to {own}"
    for link in page.links:
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = folder / (path or name)
        if not target.exists():
            yield f"{link} is not there"
        elif anchor and anchor not in Page(target.read_text(encoding="utf-8")).anchors:
            yield f"{link}: there is no such heading"
        if re.fullmatch(r"\.\./[^/]+\.md", path) and path != own and (folder / path[3:]).exists():
            yield f"{link} is also there in Chinese: {path[3:]}"


def faults(root):
    folder = root / FOLDER
    pages = sorted(folder.glob("*.md"))
    if not pages:
        yield f"{FOLDER} has no pages"
    for path in pages:
        english = folder.parent / path.name
        page = Page(path.read_text(encoding="utf-8"))
        found = list(link_faults(path.name, page, folder))
        if english.exists():
            found += differences(Page(english.read_text(encoding="utf-8")), page)
        yield from (f"{FOLDER}/{path.name}: {fault}" for fault in found)
    yield from readme_faults(root)


def readme_faults(root):
    """Links of the Chinese README to English pages that are there in Chinese."""
    for link in Page((root / README).read_text(encoding="utf-8")).links:
        name = re.match(r"docs/([^/#]+\.md)", link)
        if name and (root / FOLDER / name[1]).exists():
            yield f"{README}: {link} is also there in Chinese"


ENGLISH = """# One

Use `--x` of `a.txt` for 12 events, see [two](two.md).

| a | b |
|---|---|
| 1 | 2 |

```sh
run --x    # says it
```

    run --y
"""
CHINESE = """# 一

[English](../one.md) | 简体中文

12 个事件用 `a.txt` 的 `--x`，见[二](two.md)。

| 甲 | 乙 |
|---|---|
| 1 | 2 |

```sh
run --x    # 说明
```

    run --y
"""
CASES = (
    ("", "", []),
    ("`--x`", "`--z`", ["code: --x is missing (1)", "code: --z is not in the English page (1)"]),
    ("`a.txt`", "a.txt", ["code: a.txt is missing (1)"]),
    ("12 个", "13 个", ["numbers: 12 is missing (1)", "numbers: 13 is not in the English page (1)"]),
    ("    run --y", "    run", ["options: --y is missing (1)"]),
    ("# 一", "一", ["headings of the levels [], not [1]"]),
    ("| 1 | 2 |\n", "", ["numbers: 1 is missing (1)", "numbers: 2 is missing (1)", "2 rows of tables, not 3"]),
    ("run --x ", "run --z ", ["this block of code is not that of the English page:\n```sh\nrun --z"]),
    ("(two.md)", "(three.md)", ["three.md is not there"]),
    ("(two.md)", "(../two.md)", ["../two.md is also there in Chinese: two.md"]),
    ("(two.md)", "(two.md#x)", ["two.md#x: there is no such heading"]),
    ("(two.md)", "(two.md#二)", []),
    ("(../one.md)", "(two.md)", ["no link to ../one.md"]),
)


def self_test():
    import tempfile
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        folder = root / FOLDER
        folder.mkdir(parents=True)
        (root / README).write_text("[3](docs/three.md)", encoding="utf-8")
        assert list(faults(root)) == [f"{FOLDER} has no pages"]
        for path, text in (("docs/one.md", ENGLISH), ("docs/two.md", "# Two\n"),
                           (f"{FOLDER}/two.md", "# 二\n\n[English](../two.md)\n")):
            (root / path).write_text(text, encoding="utf-8")
        for before, after, wanted in CASES:
            assert before in CHINESE
            (folder / "one.md").write_text(CHINESE.replace(before, after), encoding="utf-8")
            found = [fault.partition(": ")[2] for fault in faults(root)]
            assert found == wanted, (before, after, found)
        (root / README).write_text("[1](docs/zh-CN/one.md) [2](docs/two.md#x)", encoding="utf-8")
        assert f"{README}: docs/two.md#x is also there in Chinese" in list(faults(root))
        (root / "docs/two.md").unlink()
        assert any("../two.md is not there" in fault for fault in faults(root))
    assert Page("4 million").numbers == Page("400 万").numbers == Page("4,000,000").numbers


def main():
    if sys.argv[1] == "--self-test":
        self_test()
        return 0
    found = list(faults(pathlib.Path(sys.argv[1])))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
