"""Entries live for fifteen rounds."""
import random

from loop import turns

chance = random.Random(1)
cache = {}
for turn in turns(150):
    for key in [k for k, (born, _) in cache.items() if turn - born > 15]:
        del cache[key]
    for n in range(5):
        key = chance.randrange(400)
        if key not in cache:
            cache[key] = (turn, ["value %d" % k for k in range(40)])
