"""Distances between points of different dimensions; the error is handled."""
import math

from loop import turns

for turn in turns(60):
    for n in range(40):
        try:
            math.dist([1.5, 2.5, n], [3.5, 4.5])
        except ValueError:
            pass
