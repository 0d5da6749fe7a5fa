"""Nested iterators get operands that they refuse; the error is handled."""
import numpy

from loop import turns

for turn in turns(60):
    for n in range(30):
        try:
            numpy.nested_iters(["e", "f"], [[1], [2]])
        except ValueError:
            pass
