"""Graphs are taken apart into their components."""
import igraph

from loop import turns

graph = igraph.Graph(30, [(n, n + 1) for n in range(29) if n % 3])
for turn in turns(60):
    for n in range(5):
        graph.decompose()
