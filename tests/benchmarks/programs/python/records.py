# SPDX-License-Identifier: Apache-2.0
"""records.py COUNT: so many records of five objects, each of which takes another's place."""
import sys

kept = [None] * 1000
for i in range(int(sys.argv[1])):
    kept[i % 1000] = {"id": i + 1000, "name": "item %d" % i, "at": [i + 0.5, (i, i + 1)]}
print(len(kept))
