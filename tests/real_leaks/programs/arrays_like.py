"""Arrays of another library are made through NumPy."""
import numpy

from loop import turns


class Elsewhere:
    def __array_function__(self, function, types, arguments, named):
        return self


model = Elsewhere()
for turn in turns(60):
    for n in range(30):
        numpy.zeros((2, n + 1), like=model)
        numpy.empty(n + 1, like=model)
