# SPDX-License-Identifier: Apache-2.0
"""Has every sentence of the page a Chinese one, and every Chinese one a use?

Run as words_test.py FOLDER-OF-THE-PAGE.
"""

import os
import re
import sys
import unittest

FOLDER = sys.argv[1]
LITERAL = r"'(?:[^'\\]|\\.)*'"


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def literals(text):
    return "".join(part[1:-1].replace("\\'", "'") for part in re.findall(LITERAL, text))


def said():
    """Every sentence given to say(), also in pieces and as a choice of two."""
    found = set()
    for name in sorted(os.listdir(FOLDER)):
        if not name.endswith(".js") or name == "language.js":
            continue
        text = read(name)
        piece = r"\s*%s(?:\s*\+\s*%s)*" % (LITERAL, LITERAL)
        for match in re.finditer(r"\bsay\((%s)" % piece, text):
            found.add(literals(match.group(1)))
        for match in re.finditer(r"\bsay\([^'()]*\?\s*(%s)\s*:\s*(%s)" % (LITERAL, LITERAL), text):
            found.update(literals(part) for part in match.groups())
    return found


def translated():
    body = read("language.js").split("const chinese = {")[1].split("\n};")[0]
    pairs = re.findall(r"(%s):\s*(%s(?:\s*\+\s*%s)*)" % (LITERAL, LITERAL, LITERAL), body)
    return {literals(key): literals(value) for key, value in pairs}


class WordsTest(unittest.TestCase):
    def test_every_sentence_is_translated(self):
        self.assertGreater(len(said()), 100)
        self.assertEqual(sorted(said() - set(translated())), [])

    def test_every_translation_has_a_use(self):
        self.assertEqual(sorted(set(translated()) - said()), [])

    def test_placeholders_are_the_same(self):
        for english, chinese in translated().items():
            self.assertEqual(sorted(re.findall(r"\{\d\}", english)), sorted(re.findall(r"\{\d\}", chinese)),
                             english)

    def test_modules_are_all_joined_and_import_what_stands_before(self):
        order = re.findall(r"^  ([a-z_]+)\.js\)?$", read("CMakeLists.txt"), re.M)
        files = sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".js"))
        self.assertEqual(sorted(order), files)
        for place, name in enumerate(order):
            imports = set(re.findall(r"from '\./([a-z_]+)\.js'", read(name + ".js")))
            self.assertLessEqual(imports, set(order[:place]), name)

    def test_what_is_imported_is_exported_and_used(self):
        for name in os.listdir(FOLDER):
            if not name.endswith(".js"):
                continue
            text = read(name)
            for names, source in re.findall(r"^import \{([^}]*)\} from '\./([a-z_]+\.js)';", text, re.M):
                for each in re.split(r",\s*", names.strip()):
                    self.assertRegex(read(source), r"\nexport [a-z ]*\b(function|const|class) %s\b" % each,
                                     "%s imports %s" % (name, each))
                    self.assertGreater(len(re.findall(r"\b%s\b" % each, text)), 1,
                                       "%s does not use %s" % (name, each))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
