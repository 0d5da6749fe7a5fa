"""Vertices are deleted from a graph by a list of their ids."""
import igraph

from loop import turns

for turn in turns(60):
    graph = igraph.Graph.Ring(500)
    for n in range(20):
        graph.delete_vertices([0, 1, 2, 3, 4])
