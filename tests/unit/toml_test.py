"""The reader of policies against Python's own reader of TOML.

Whatever it accepts must mean the same there; what it must accept, and how it refuses, is listed.

Run as toml_test.py TOML-DUMP
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

try:
    import tomllib
except ImportError:  # before Python 3.11
    print("skipped: this Python has no tomllib")
    sys.exit(77)

DUMP = sys.argv[1]

ACCEPTED = [
    "",
    "# only a comment",
    "a = 1\nb = -2\nc = +3\nd = 1_000_000\ne = 0\n",
    "a = 1.5\nb = -0.25\nc = 3_1.4_1\nd = +0.0\n",
    "a = true\nb = false\n",
    'a = "text"\nb = \'lit\\eral\'\nc = "\\t\\n\\"\\\\\\u00e4\\U0001F600"\nd = ""\ne = \'\'\n',
    'bare_key-1 = 1\n"quoted key" = 2\n\'x.y\' = 3\n1234 = 4\n',
    "a.b.c = 1\na.b.d = 2\na.e = 3\n",
    "[a]\nx = 1\n[a.b]\ny = 2\n[c.d.e]\nz = 3\n[c]\nw = 4\n",
    '[device."npu:*"]\npeak = { max = "1 GiB", rel = "+2%" }\n[device."npu:*".pool.pta]\nx = 1\n',
    "[[site]]\na = 1\n[[site]]\na = 2\n[site.more]\nb = 1\n[[site.list]]\nc = 1\n[[site.list]]\n",
    "a = [1, 2, 3]\nb = []\nc = [\n  1, # one\n  2,\n]\nd = [[1], ['x'], [{a = 1}]]\n",
    "a = {}\nb = { x = 1, y.z = 2, 'q r' = 3 }\n",
    "  a  =  1  # comment\n\t[ b . c ]\n d=2",
    "a = 1\r\nb = 2\r\n",
    "\ufeffa = 1\n",
    "[a]\nb.c = 1\n[a.d]\n",
]

REFUSED = [
    ("a", 1), ("a =", 1), ("a = 1 2", 1), ("= 1", 1), ("a = 1\na = 2", 2), ("a = 'x", 1),
    ('a = "x\ny"', 1), ('a = "\\q"', 1), ('a = "\\u12"', 1), ('a = "\\ud800"', 1), ("a = 01", 1),
    ("a = 1__0", 1), ("a = _1", 1), ("a = .5", 1), ("a = 5.", 1), ("a = truely", 1),
    ("[a", 1), ("[a]]", 1), ("[[a]", 1), ("[a]\n[a]", 2), ("a = 1\n[a]", 2), ("[a]\nb = 1\n[a.b]", 3),
    ("a = { x = 1 }\n[a.b]", 2), ("a = { x = 1 }\na.y = 2", 2), ("a = [1]\n[[a]]", 2),
    ("a = [1 2]", 1), ("a = [1,\n2", 2), ("a = { x = 1,\ny = 2 }", 1), ("a = 99999999999999999999", 1),
    ('a = """x"""', 1), ("a = 1979-05-27", 1), ("a = 0xff", 1), ("a = 1e3", 1), ("a = inf", 1),
    ("\na = 1\n\nb = ?", 4), ("[]", 1), ("[a.]", 1), ("a. = 1", 1), ("a = [" * 100, 1),
]


class TomlTest(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("wb", suffix=".toml", delete=False) as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        try:
            done = subprocess.run([DUMP, file.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  check=False, timeout=20)
        finally:
            os.unlink(file.name)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        if done.returncode:
            return None, done.stderr.decode()
        return json.loads(done.stdout.decode()), None

    def test_means_what_toml_says(self):
        for text in ACCEPTED:
            with self.subTest(text=text):
                found, refusal = self.read(text)
                self.assertIsNone(refusal)
                self.assertEqual(found, tomllib.loads(text.replace("\r\n", "\n").lstrip("\ufeff")))

    def test_refuses_with_file_and_line(self):
        for text, line in REFUSED:
            with self.subTest(text=text[:40]):
                found, refusal = self.read(text)
                self.assertIsNone(found)
                self.assertTrue(refusal.startswith("policy:%d: " % line), refusal)
                self.assertEqual(refusal.count("\n"), 1)

    def test_damaged_text_is_read_alike_or_refused(self):
        random.seed(3)
        alphabet = 'ab."\'=[]{},#\n\r 01_-+.eE\\tu\u00e4\x00'
        agreed = 0
        for _ in range(600):
            text = list(random.choice(ACCEPTED))
            for _ in range(random.randrange(1, 4)):
                at = random.randrange(len(text) + 1)
                text[at:at + random.randrange(2)] = random.choice(alphabet)
            text = "".join(text)
            found, refusal = self.read(text)
            if refusal:
                continue
            agreed += 1
            self.assertEqual(found, tomllib.loads(text.lstrip("\ufeff")), repr(text))
        self.assertGreater(agreed, 40)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
