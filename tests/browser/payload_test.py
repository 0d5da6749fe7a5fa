# SPDX-License-Identifier: Apache-2.0
"""The data inside of the HTML report, read without a browser: is it what the recording holds?

Run as payload_test.py LEAKTIDE.
"""

import base64
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import zlib

from made_up_profile import EVIL, write_profile

LEAKTIDE = sys.argv[1]


def varints(data, count):
    at = 0
    for _ in range(count):
        number = shift = 0
        while True:
            number |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                break
        yield number
    if at != len(data):
        raise AssertionError("%d bytes after the last number" % (len(data) - at))


def column_of(column, data):
    if column["kind"] == "text":
        texts = data.decode().split("\0")
        assert texts.pop() == ""
        return texts
    numbers = list(varints(data, column["rows"]))
    if column["kind"] == "delta":
        before = 0
        for i, zigzag in enumerate(numbers):
            before = (before + (zigzag >> 1 ^ -(zigzag & 1))) % 2**64
            numbers[i] = before
    return numbers


def datasets_of(page):
    """{name: {key: column}}, and the JSON report under "report"."""
    found = {}
    for name, text in re.findall(r'<script type="application/octet-stream" id="data-([^"]*)">([^<]*)</script>', page):
        data = zlib.decompress(base64.b64decode(text, validate=True))
        if name == "report":
            found[name] = json.loads(data)
            continue
        header, body = data.split(b"\n", 1)
        found[name], at = {}, 0
        for column in json.loads(header)["columns"]:
            found[name][column["key"]] = column_of(column, body[at:at + column["bytes"]])
            assert len(found[name][column["key"]]) == column["rows"]
            at += column["bytes"]
        assert at == len(body)
    return found


class PayloadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            profile = write_profile(folder)
            page, exported = os.path.join(folder, "report.html"), os.path.join(folder, "report.db")
            subprocess.run([LEAKTIDE, "report", "-f", "html", "-o", page, profile], check=True, timeout=60)
            subprocess.run([LEAKTIDE, "export", "--to", "sqlite", "-o", exported, profile], check=True, timeout=60)
            with open(page, encoding="utf-8") as file:
                cls.page = file.read()
            cls.data = datasets_of(cls.page)
            database = sqlite3.connect(exported)
            cls.blocks = database.execute(
                "SELECT born_ns, freed_ns, size_bytes, who FROM named_blocks WHERE is_older IS NOT 1"
                " ORDER BY born_ns, block").fetchall()
            cls.peak = database.execute("SELECT MAX(live_bytes) FROM curve WHERE ledger = 0").fetchone()[0]
            database.close()

    def test_every_block_is_there(self):
        blocks, groups, names = self.data["blocks"], self.data["groups"], self.data["names"]["text"]
        self.assertEqual(self.data["picture"]["rest_count"], [0])
        rows = [(born, born + life - 1 if life else None, size, names[groups["label"][group]])
                for born, life, size, group in zip(blocks["born_ns"], blocks["life_ns_next"],
                                                   blocks["size_bytes"], blocks["group"])]
        key = lambda row: (row[0], row[2], row[3])
        self.assertEqual(sorted(rows, key=key), sorted(self.blocks, key=key))

    def test_curve_reaches_the_peak(self):
        points, curves = self.data["points"], self.data["curves"]
        first = curves["of"].index(0)
        start = sum(curves["point_count"][:first])
        highest = max(last + above for last, above in list(
            zip(points["last_bytes"], points["above_bytes"]))[start:start + curves["point_count"][first]])
        self.assertEqual(highest, self.peak)
        self.assertEqual(self.data["ledgers"]["peak_bytes"][0], self.peak)
        self.assertEqual(next(table["rows"][0]["peak_bytes"] for table in self.data["report"]["tables"]
                              if table["name"] == "peaks"), self.peak)

    def test_nothing_of_a_stranger_is_outside_of_the_data(self):
        outside = re.sub(r'<script type="application/octet-stream".*?</script>', "", self.page, flags=re.S)
        for name in EVIL[:2]:
            self.assertNotIn(name, outside)

    def test_nothing_is_asked_of_a_network(self):
        self.assertIn("default-src 'none'", self.page)
        for words in (r"\bsrc=[\"']?http", r"\bhref=[\"']?http", r"@import", r"\bfetch\(", r"XMLHttpRequest",
                      r"\bimport\("):
            self.assertIsNone(re.search(words, self.page), words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
