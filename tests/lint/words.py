#!/usr/bin/env python3
"""Words that make a reader stop are refused, in pages and in messages for people.

usage: words.py FOLDER | words.py --self-test

A page is a Markdown file or a man page; its code, in ``` or `, is left out. A message is a string
of C that has a blank. The rules for all words are in CONTRIBUTING.md.

And the product's first name is nowhere but where it has to be.
"""

import pathlib
import re
import sys

WORDS = [  # what is refused, what to write instead
    (r"behind", "after, or past"),
    (r"(?:is|are|was|were) told", "is reported, or is known"),
    (r"told apart", "distinguished"),
    (r"none of ours", "of another program, or not recorded"),
]
# "The tracer leaves no file behind" is what everybody says.
FINE = re.compile(r"\b(?:left|leaves?|leaving)\b[^.]{0,60}\bbehind\b", re.IGNORECASE)
REFUSED = [(re.compile(r"\b" + word + r"\b", re.IGNORECASE), better) for word, better in WORDS]

# The product's first name: in the trace format's magic, in a recording of that time, in the change log.
FORMER = re.compile("mem" "tide", re.IGNORECASE)
FORMER_RECORDING = "sample.mem" "tide"
FORMER_PLACES = ["CHANGELOG.md", "docs/trace-format.md", "include/leaktide/format.h",
                 "tests/fixtures/recordings/README.md", "tests/unit/second_reader/read_by_the_page.py"]
TOPS = ["*", ".*", ".ci/**/*", "analyzer/**/*", "cmake/**/*", "docs/**/*", "include/**/*", "samples/**/*", "tests/**/*",
        "tracer/**/*"]

# Names the words.
ABOUT_WORDS = ["CONTRIBUTING.md"]

PAGES = ["*.md", "docs/*.md", "docs/man/*", "samples/**/*.md", "tests/**/*.md"]
SOURCES = ["analyzer/**/*.c", "analyzer/**/*.h", "tracer/**/*.c", "tracer/**/*.h"]
COMMENT_OR_STRING = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])'|\"((?:\\.|[^\"\\\n])*)\"", re.S)


def faults(text):
    """Refused words of a text, and what to write instead."""
    text = FINE.sub("", text)
    return [(found.group(0), better) for word, better in REFUSED for found in word.finditer(text)]


def prose(page):
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", page, flags=re.S))


def messages(source):
    """The strings of a source that have a blank, one a line."""
    strings = (found.group(1) for found in COMMENT_OR_STRING.finditer(source))
    return "\n".join(string for string in strings if string and " " in string)


def former_names(folder):
    """Places that still have the product's first name."""
    for path in sorted({path for top in TOPS for path in folder.glob(top)}):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name in FORMER_PLACES:
            continue
        for text in (name, path.read_bytes().decode("utf-8", "replace") if path.suffix != ".mtt" else ""):
            if FORMER.search(text.replace(FORMER_RECORDING, "")):
                yield name


def check(folder):
    complaints = ["%s: the product is called leaktide" % name for name in former_names(folder)]
    texts = [(path, prose) for pattern in PAGES for path in sorted(folder.glob(pattern))]
    texts += [(path, messages) for pattern in SOURCES for path in sorted(folder.glob(pattern))]
    for path, part in texts:
        name = path.relative_to(folder).as_posix()
        if name in ABOUT_WORDS:
            continue
        found = faults(part(path.read_text(encoding="utf-8")))
        complaints += ["%s: \"%s\": write %s" % (name, word, better) for word, better in found]
    return complaints


def self_test():
    assert faults("the byte behind it") == [("behind", "after, or past")]
    assert not faults("It leaves no file behind.") and not faults("behindhand, retold")
    assert [word for word, _ in faults("Are told apart by size")] == ["Are told", "told apart"]
    assert not faults(prose("`behind` and\n```\nbehind\n```\n"))
    assert messages("/* \"a behind\" */ f(\"b behind\", \"behind\", '\"'); // \"c behind\"") == "b behind"


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    complaints = check(pathlib.Path(sys.argv[1]))
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
