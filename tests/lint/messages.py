#!/usr/bin/env python3
"""Sentences for people are formatted by few functions, so that another language is a catalogue.

usage: messages.py FOLDER | messages.py --self-test

A sentence is a string of C with three words and a blank. It is in its place as an argument of one of
MESSAGES, in translated(), or in a table (an initializer), which is looked up where it is written.
Anywhere else it is refused, but for the folders of LATER. CONTRIBUTING.md has the rule.
"""

import pathlib
import re
import sys

# They look the English up in the catalogue: base/sentence.h and those that call it.
MESSAGES = [
    "translated", "sentence", "sentence_list", "text_add_sentence", "outlet_sentence",
    "report_verdict", "report_text", "report_finding", "report_table", "report_ledger_table",
    "report_table_remark", "report_note", "model_note", "model_lack", "mt_error_set", "complain", "tell",
]
# They hand the words on to one of MESSAGES.
WRAPPERS = ["note_if", "add_note", "refuse", "refuse_value", "complain_at", "reader_fail", "stop",
            "tell_unsure"]
# What they are handed is compared, or stays English: asserted, help of
# OpenMetrics, names in a model.
NO_SENTENCE = ["_Static_assert", "strcmp", "memcmp", "add_head", "text_of"]

# Folders with sentences that are still built by hand. One without any leaves this list.
LATER = ["analyzer/analyses/leaks", "analyzer/cli", "analyzer/launcher", "analyzer/main"]

# Folders that write in the words of other programs.
FOREIGN = ["analyzer/export", "analyzer/msmemscope/command", "analyzer/msmemscope/dump"]

TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])'|\"(?:\\.|[^\"\\\n])*\"|\w+|\S", re.S)
WORD = re.compile(r"[A-Za-z]{2,}")
# SQL and markup.
NO_LANGUAGE = re.compile(r"\s*(?:<|(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WITH)\b)")


def is_sentence(text):
    """Three words, of which two follow each other: no key, no format of numbers."""
    if NO_LANGUAGE.match(text):
        return False
    plain = re.sub(r"%[-+0-9.*]*[a-z]+|\\x[0-9a-f]{2}|\\.", " ", text)
    return len(WORD.findall(plain)) >= 3 and re.search(r"[a-z]{2,},? [a-z]{2,}", plain) is not None


def opens_table(tokens, at):
    """Whether the brace at this place begins an initializer, not a block."""
    before = tokens[at - 1] if at else ""
    if before in ("=", ",", "{", "("):
        return True
    return before == ")" and "struct" in tokens[max(0, at - 6):at] and tokens[at - 3] == "struct"


def strings(source):
    """Each string with where it stands: the name of the function called, "{" in a table, or ""."""
    source = re.sub(r"^#(?:define|error)(?:[^\n]*\\\n)*[^\n]*", "", source, flags=re.M)  # parts of tables
    tokens = [token for token in TOKEN.findall(source) if not token.startswith(("/*", "//"))]
    places, text = [], None
    for at, token in enumerate(tokens):
        if token.startswith('"'):
            text = (text or "") + token[1:-1]
            continue
        if text is not None and not token.startswith("PRI"):
            yield text, places[-1] if places else ""
            text = None
        if token == "(":
            before = tokens[at - 1] if at else ""
            is_call = re.fullmatch(r"\w+", before) and before not in ("if", "while", "return", "for")
            places.append(before if is_call else places[-1] if places else "")
        elif token == "{":
            places.append("{" if opens_table(tokens, at) else "")
        elif token in ")}" and places:
            places.pop()


def faults(source):
    right = set(MESSAGES + WRAPPERS + NO_SENTENCE + ["{"])
    return [(text, place) for text, place in strings(source)
            if is_sentence(text) and place not in right]


def check(folder):
    complaints, seen = [], set()
    for path in sorted(folder.glob("analyzer/**/*.c")):
        name = path.parent.relative_to(folder).as_posix()
        if name in FOREIGN:
            continue
        found = faults(path.read_text(encoding="utf-8"))
        if found:
            seen.add(name)
        if name not in LATER:
            complaints += ["%s/%s: \"%s\" in %s: use sentence() or its kind, or translated()"
                           % (name, path.name, text, place or "an expression")
                           for text, place in found]
    complaints += ["%s: builds no sentence by hand: take it off the list LATER" % name
                   for name in LATER if name not in seen]
    return complaints


def self_test():
    built = 'void f(void) {\n    snprintf(text, 9, "the leak of %%s" " grew", name);\n}\n'
    assert faults(built) == [("the leak of %%s grew", "snprintf")]
    assert faults('x = is_so ? "one of many words" : "";') == [("one of many words", "")]
    assert not faults('x = is_so ? translated("one of many words") : "";')
    assert not faults('report_note(report, 0, is_so ? "one of many words" : f("a", 2));')
    assert not faults('static const struct row rows[] = {{"key", "what the key means"}};')
    assert not faults('add((struct row){"key", "what the key means"});')
    assert not faults('/* f("one of many words"); */ f("%s of %d", "a.b", "two words");')


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    complaints = check(pathlib.Path(sys.argv[1]))
    print("\n".join(complaints))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
