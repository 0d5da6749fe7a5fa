# SPDX-License-Identifier: Apache-2.0
"""texts.py TURNS: json, regular expressions and sorting."""
import json
import re
import sys

found = 0
word = re.compile(r"item (\d+)")
for turn in range(int(sys.argv[1])):
    text = json.dumps([{"id": i, "name": "item %d" % (i * turn % 997)} for i in range(500)])
    rows = sorted(json.loads(text), key=lambda row: row["name"])
    found += len(word.findall(text)) + len(rows)
print(found)
