"""Types are made for a moment, and forgotten."""
import collections
import dataclasses
import gc

from loop import turns

for turn in turns(60):
    point = dataclasses.make_dataclass("Point", ["x", "y"])
    row = collections.namedtuple("Row", "a b c")
    assert point(1, 2) and row(1, 2, 3)
    gc.collect()
