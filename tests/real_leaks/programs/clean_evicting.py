"""A bounded cache is full from the first turns on, and always asked for new keys."""
import functools

from loop import turns


@functools.lru_cache(maxsize=50)
def page(number):
    return "page %d " % number * 50


for turn in turns(60):
    for n in range(20):
        page(turn * 20 + n)
