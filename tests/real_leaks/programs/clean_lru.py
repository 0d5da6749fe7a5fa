"""A cache of 128 entries whose keys come ever more slowly."""
import functools
import random

from loop import turns

chance = random.Random(1)


@functools.lru_cache(maxsize=128)
def page(n):
    return ["line %d of %d" % (k, n) for k in range(30)]


for turn in turns(100):
    for n in range(6):
        page(int(chance.paretovariate(0.7)) % 2000)
