"""Records of an array are looked at one by one."""
import awkward
import numpy

from loop import turns

records = awkward.Array({"a": numpy.arange(20), "b": numpy.arange(20) * 0.5})
for turn in turns(60):
    for record in records:
        pass
