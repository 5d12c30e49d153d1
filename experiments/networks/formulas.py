"""Networks of FastEnsemble's paper that a copy of its data may lack, made by their formulas.

LFR networks are those of networkx's generator with the exponents 3 and 1.5, at least ten nodes in a community, and the seed 1932. The
paper names none of them; they were found by the sizes of the published communities. All files with edges of 1,000 nodes, and of 10,000
nodes with mean degrees 5 and 20, have exactly the edges made here.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Edges = NDArray[np.int64]
LFR = re.compile(r"lfr_training/n_(?P<nodes>\d+)/mu_(?P<mixing>0\.\d)$")
RING = re.compile(r"ring_(mod|cpm)/n_(?P<cliques>\d+)$")
SEED = 1932


def has_formula(folder: Path) -> bool:
    """Return whether the network of a folder can be made without a file."""
    return any(form.search(folder.as_posix()) for form in (RING, LFR))


def edges_by_formula(folder: Path) -> Edges:
    """Return the edges of a network, each once with its smaller end first."""
    place = folder.as_posix()
    if ring := RING.search(place):
        return ring_of_cliques(int(ring["cliques"]))
    lfr = LFR.search(place)
    assert lfr, place
    edges, made = lfr_network(int(lfr["nodes"]), float(lfr["mixing"]), 10)
    known = np.loadtxt(folder / "community.dat", dtype=np.int64)
    published = known[np.argsort(known[:, 0]), 1]
    pairs = np.unique(np.column_stack([published, made]), axis=0)
    if not len(pairs) == len(np.unique(made)) == len(np.unique(published)):
        raise ValueError(f"The communities that networkx makes are not those of {place}.")
    return edges


def ring_of_cliques(number: int) -> Edges:
    """Return a ring of cliques of ten nodes: the second node of each is tied to the first of the next."""
    n = 10 * number
    one, other = np.triu_indices(10, 1)
    inside = np.arange(0, n, 10)[:, None, None] + np.stack([one, other], axis=1)
    between = np.stack([np.arange(1, n, 10), (np.arange(1, n, 10) + 9) % n], axis=1)
    return np.sort(np.concatenate([inside.reshape(-1, 2), between]), axis=1)


def lfr_network(n: int, mixing: float, mean_degree: float) -> tuple[Edges, NDArray[np.int64]]:
    """Return an LFR network, self-loops included, and the community of each node. 100,000 nodes take two minutes."""
    import networkx

    graph = networkx.LFR_benchmark_graph(
        n, 3, 1.5, mixing, average_degree=mean_degree, min_community=10, seed=SEED
    )
    labels = np.full(n, -1)
    for node, community in graph.nodes(data="community"):
        if labels[node] < 0:
            labels[list(community)] = node
    edges = np.sort(np.array(graph.edges, dtype=np.int64), axis=1)
    return np.unique(edges, axis=0), np.unique(labels, return_inverse=True)[1].astype(np.int64)
