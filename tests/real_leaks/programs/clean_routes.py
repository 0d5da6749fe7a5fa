"""Shortest ways are looked for in graphs."""
import networkx

from loop import turns

for turn in turns(60):
    graph = networkx.grid_2d_graph(5, 5)
    graph.add_edge((0, 0), (4, 4), weight=turn)
    networkx.shortest_path(graph, (0, 0), (4, 3))
