"""Distances between the points of a cloud that is scaled."""
import numpy
from scipy.spatial.distance import pdist

from loop import turns

points = numpy.arange(200.0).reshape(-1, 4)
for turn in turns(60):
    for n in range(5):
        pdist(points / (n + 1), metric="sqeuclidean")
