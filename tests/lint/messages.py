#!/usr/bin/env python3
"""Sentences for people are formatted by few functions, so that another language is a catalogue.

usage: messages.py FOLDER | messages.py --self-test

A sentence is a string of C with three words and a blank. It is in its place as an argument of one of
MESSAGES, in translated(), or in a table (an initializer), which is looked up where it is written.
Anywhere else it is refused. Each of MESSAGES and WRAPPERS must itself look its words up with
translated(). CONTRIBUTING.md has the rule.
"""

import pathlib
import re
import sys

# They look the English up in the catalogue: base/sentence.h and those that call it.
MESSAGES = [
    "translated", "sentence", "sentence_list", "text_add_sentence", "outlet_sentence",
    "report_verdict", "report_text", "report_finding", "report_table", "report_ledger_table",
    "report_table_remark", "report_note", "model_note", "model_lack", "mt_error_set", "complain", "tell",
    "complain_format", "tell_format", "outlet_add_sentence",
]
# They put the words that they are handed into another sentence, and look them up before.
WRAPPERS = ["note_if", "add_note", "refuse", "refuse_value", "complain_at", "reader_fail", "stop",
            "tell_unsure"]
# What they are handed is compared, or stays English: asserted, help of
# OpenMetrics, names in a model.
NO_SENTENCE = ["_Static_assert", "strcmp", "memcmp", "add_head", "text_of"]

# Folders and files that write in the words of other programs, or of a shell.
FOREIGN = ["analyzer/export", "analyzer/msmemscope/command", "analyzer/msmemscope/dump",
           "analyzer/main/command_completion.c"]

TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])'|\"(?:\\.|[^\"\\\n])*\"|\w+|\S", re.S)
# What a wrapper calls the words it is handed.
WORDS_IN = re.compile(r"const char \*(?:what|why|sentence|format)\b")
WORD = re.compile(r"[A-Za-z]{2,}")
LITERAL = re.compile(r'^#define (\w+)\s+"((?:\\.|[^"\\\n])*)"$', re.M)
# SQL and markup.
NO_LANGUAGE = re.compile(r"\s*(?:<|(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WITH)\b)")


def is_sentence(text):
    """Three words, of which two follow each other: no key, no format of numbers."""
    if NO_LANGUAGE.match(text):
        return False
    plain = re.sub(r"%[-+0-9.*]*(?:<\w+>|[a-z]+)|\\x[0-9a-f]{2}|\\.", " ", text)
    return len(WORD.findall(plain)) >= 3 and re.search(r"[a-z]{2,},? [a-z]{2,}", plain) is not None


def opens_table(tokens, at):
    """Whether the brace at this place begins an initializer, not a block."""
    before = tokens[at - 1] if at else ""
    if before in ("=", ",", "{", "("):
        return True
    return before == ")" and "struct" in tokens[max(0, at - 6):at] and tokens[at - 3] == "struct"


def literals(folder):
    """The macros of the headers that are one string: {name: text}."""
    return {name: text for pattern in ("analyzer/**/*.h", "tracer/**/*.h", "include/**/*.h")
            for path in sorted(folder.glob(pattern))
            for name, text in LITERAL.findall(path.read_text(encoding="utf-8"))}


def strings(source, parts=()):
    """Each string with where it stands: the name of the function called, "{" in a table, or "".

    parts: literals() that may be joined to it.
    """
    source = re.sub(r"^#(?:define|error)(?:[^\n]*\\\n)*[^\n]*", "", source, flags=re.M)  # parts of tables
    tokens = [token for token in TOKEN.findall(source) if not token.startswith(("/*", "//"))]
    places, text = [], None
    for at, token in enumerate(tokens):
        if token.startswith('"'):
            text = (text or "") + token[1:-1]
            continue
        if text is not None and token.startswith("PRI"):
            text += "<%s>" % token  # a macro of inttypes.h, written as catalogues do
        elif text is not None and token in parts:
            text += parts[token]
        elif text is not None:
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


def functions_of(source):
    """The functions and macros of a source: {name: (parameters, what it calls)}."""
    found = re.findall(r"^#define (\w+)\(([^)]*)\)((?:[^\n]*\\\n)*[^\n]*)", source, re.M)
    found += re.findall(r"^(?!#)[\w \*]*?\b(\w+)\(([^;{}]*)\)\n\{(.*?)^\}", source, re.S | re.M)
    return {name: (parameters, set(re.findall(r"\b(\w+)\(", body)))
            for name, parameters, body in found}


def comes_to(name, goals, functions):
    """Whether a function calls one of the goals, itself or through others of its source."""
    seen, open_names = set(), {name}
    while open_names:
        called = set().union(*(functions[name][1] for name in open_names if name in functions))
        if called & goals:
            return True
        open_names = called - seen
        seen |= called
    return False


def strays(sources):
    """Those of MESSAGES and WRAPPERS that look nothing up: [(file, name)]."""
    read = [(path, functions_of(text)) for path, text in sources]
    left = [(path, name, functions) for path, functions in read
            for name in MESSAGES[1:] if name in functions]
    goals = {"translated"}
    while True:  # one may call another, of another source
        found = [row for row in left if comes_to(row[1], goals, row[2])]
        if not found:
            break
        goals |= {name for _, name, _ in found}
        left = [row for row in left if row not in found]
    left += [(path, name, functions) for path, functions in read
             for name in WRAPPERS if WORDS_IN.search(functions.get(name, ("", None))[0])
             and not comes_to(name, {"translated"}, functions)]
    return [(path, name) for path, name, _ in left]


def check(folder):
    complaints, sources = [], []
    for path in sorted(folder.glob("analyzer/**/*.[ch]")):
        name = path.relative_to(folder).as_posix()
        if name in FOREIGN or path.parent.relative_to(folder).as_posix() in FOREIGN:
            continue
        sources.append((name, path.read_text(encoding="utf-8")))
        if path.suffix == ".c":
            complaints += ["%s: \"%s\" in %s: use sentence() or its kind, or translated()"
                           % (name, text, place or "an expression")
                           for text, place in faults(sources[-1][1])]
    return complaints + ["%s: %s looks no message up" % stray for stray in strays(sources)]


def self_test():
    built = 'void f(void) {\n    snprintf(text, 9, "the leak of %%s" " grew", name);\n}\n'
    assert faults(built) == [("the leak of %%s grew", "snprintf")]
    assert faults('x = is_so ? "one of many words" : "";') == [("one of many words", "")]
    assert not faults('x = is_so ? translated("one of many words") : "";')
    assert not faults('report_note(report, 0, is_so ? "one of many words" : f("a", 2));')
    assert not faults('static const struct row rows[] = {{"key", "what the key means"}};')
    assert not faults('add((struct row){"key", "what the key means"});')
    assert strays([("a.c", "void report_note(int n, const char *english)\n{\n    put(n, english);\n}\n")])
    assert not strays([("a.c", "static void put(const char *english)\n{\n    say(translated(english));\n}\n"
                        "void tell_format(const char *english)\n{\n    put(english);\n}\n"),
                       ("a.h", "#define tell(...) tell_format(\"\" __VA_ARGS__)\n")])
    assert strays([("a.c", "static int stop(const char *why)\n{\n    return mt_error_set(e, \"%s\", why);\n}\n")])
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
