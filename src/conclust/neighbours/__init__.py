"""Points and their nearest neighbours: the search, the graph, its communities and its density."""

from conclust.neighbours.graph import NeighbourGraph, neighbour_graph
from conclust.neighbours.search import Neighbours, find_neighbours

__all__ = ["NeighbourGraph", "Neighbours", "find_neighbours", "neighbour_graph"]
