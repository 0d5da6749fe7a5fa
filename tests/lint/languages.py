#!/usr/bin/env python3
"""Catalogues of sentences say what the sources say, whole, and in formats that printf fills alike.

usage: languages.py FOLDER | languages.py --self-test

A sentence is what lint.messages calls one: three words, as the argument of a function that looks it up, or in a table or a
macro of the analyzer. Each has a translation. No translation is of a text that is in no source any more. Conversions of both sides are the
same in the same order, or all have positions (%2$s). Parts in braces, options and units are the same, too.
"""

import pathlib
import re
import sys

import messages

CATALOGUE = "analyzer/base/languages/zh_CN.po"
ENTRY = re.compile(r'^msgid "(.*)"\nmsgstr "(.*)"$', re.M)
CONVERSION = re.compile(r"%(?:(\d+)\$)?[-+0# ]*(\*|\d+)?(?:\.(\*|\d+))?(<PRI\w+>|(?:hh|h|ll|l|z|j|t)?[a-zA-Z%])")
DEFINES = re.compile(r"^#define \w+(?:\([^)\n]*\))?((?:[^\n]*\\\n)*[^\n]*)", re.M)
# A translation has them as they are.
KEEPERS = re.compile(r"--[a-z][-a-z]+|\b[KMGT]iB\b")
# Rows of tables that are looked up where they are shown.
TABLES = ["DOUBT", "WHY"]
# What stands for a part of a sentence.
PART = re.compile(r"\{\w+\}")
# Columns of the vendor's tables, SQL, and command lines of examples: no words for people.
NAMES = re.compile(r"APP reserved|activeReleaseTime|coalesce\(|  leaktide ")


def entries(text):
    """(English, other) of each message, without the head."""
    return [(english, other) for english, other in ENTRY.findall(text) if english]


def texts(folder):
    """(all strings of the analyzer, those that are sentences with where they stand)"""
    every, sentences, parts = set(), {}, messages.literals(folder)
    paths = [path for pattern in ("analyzer/**/*.[ch]", "analyzer/**/*.def", "include/leaktide/*.def")
             for path in sorted(folder.glob(pattern))]
    for path in paths:
        name = path.relative_to(folder).as_posix()
        is_foreign = name in messages.FOREIGN or path.parent.relative_to(folder).as_posix() in messages.FOREIGN
        source = path.read_text(encoding="utf-8")
        macros = "{" + ";\n".join(DEFINES.findall(source)).replace("\\\n", "\n") + "}"
        found = list(messages.strings(source, parts)) + [(text, "{") for text, _ in messages.strings(macros)]
        every.update(text for text, _ in found)
        if not is_foreign:
            sentences.update((text, name) for text, place in found if messages.is_sentence(text)
                             and not NAMES.match(text) and place in messages.MESSAGES + messages.WRAPPERS + TABLES + ["{"])
    return every, sentences


def conversions(text):
    """(types in their order, types by position)"""
    plain, placed = [], {}
    for position, width, precision, kind in CONVERSION.findall(text):
        if kind == "%":
            continue
        if position:
            placed[int(position)] = kind
            continue
        plain += ["*"] * ((width == "*") + (precision == "*")) + [kind]
    return plain, placed


def are_filled_alike(english, other):
    wanted = conversions(english)[0]
    plain, placed = conversions(other)
    if placed:
        return not plain and placed == dict(enumerate(wanted, 1))
    return plain == wanted


def faults_of_entry(english, other):
    if not other:
        yield "no translation"
    if not are_filled_alike(english, other):
        yield "other conversions"
    if sorted(PART.findall(english)) != sorted(PART.findall(other)):
        yield "other parts"
    if english.count("\\n") != other.count("\\n"):
        yield "other lines"
    for kept in sorted(set(KEEPERS.findall(english)) - set(KEEPERS.findall(other))):
        yield f"{kept} is missing"


def check(text, every, sentences):
    found = entries(text)
    complaints = [f"{CATALOGUE}: \"{english}\": {fault}" for english, other in found
                  for fault in faults_of_entry(english, other)]
    known = [english for english, _ in found]
    complaints += [f"{CATALOGUE}: \"{english}\" is there twice" for english in sorted(set(known))
                   if known.count(english) > 1]
    complaints += [f"{CATALOGUE}: \"{english}\" is in no source" for english in known if english not in every]
    return complaints + [f"{name}: \"{english}\" has no translation in {CATALOGUE}"
                         for english, name in sorted(sentences.items()) if english not in known]


def self_test():
    good = 'msgid "%s grew by %s"\nmsgstr "%2$s %1$s"\n'
    every, sentences = {"%s grew by %s"}, {"%s grew by %s": "a.c"}
    assert not check(good, every, sentences)
    assert "other conversions" in check(good.replace("%2$s", "%2$d"), every, sentences)[0]
    assert "other conversions" in check(good.replace("%2$s", "%s"), every, sentences)[0]
    assert "no source" in check(good, set(), {})[0]
    assert "twice" in check(good + good, every, sentences)[0]
    assert "has no translation" in check("", every, sentences)[0]
    assert "other lines" in check(good.replace('%1$s"', '%1$s\\n"'), every, sentences)[0]
    assert "other parts" in list(faults_of_entry("{who} grew by {bytes}", "{who} {byte}"))
    assert not list(faults_of_entry("{who} grew by {bytes}", "{bytes} {who}"))
    assert are_filled_alike("%.*s of %<PRIu64>", "%.*s / %<PRIu64>")
    assert not are_filled_alike("%.*s of %<PRIu64>", "%s / %<PRIu64>")
    assert "--steps is missing" in list(faults_of_entry("name it with --steps", "指定"))


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    folder = pathlib.Path(sys.argv[1])
    complaints = check((folder / CATALOGUE).read_text(encoding="utf-8"), *texts(folder))
    print("\n".join(complaints))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
