"""Curves are drawn through points."""
import numpy
from scipy.interpolate import splprep

from loop import turns

angle = numpy.linspace(0, 6, 40)
for turn in turns(60):
    for n in range(5):
        splprep([numpy.cos(angle), numpy.sin(angle * n + turn)], s=0)
