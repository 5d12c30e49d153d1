"""Compares the communities of a graph with those of random graphs that have its degrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from conclust._random import spawn_generators
from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.measures.agreement import partition_similarities
from conclust.networks.reading import Network, read_network

# Mean adjusted Rand index of the runs from which their communities are taken as found.
_AGREED = 0.5
# Random graphs, and runs on each.
_GRAPHS, _RUNS = 10, 5


def modularity(network: Network, labels: Ints) -> float:
    """Return the modularity of communities, with the weights of edges."""
    loops = np.zeros(network.n_nodes) if network.loops is None else 2.0 * network.loops  # both ends
    degrees = np.bincount(network.sources, network.weights, network.n_nodes) + loops
    inside = labels[network.sources] == labels[network.ends]
    share = (network.weights[inside].sum() + loops.sum()) / degrees.sum()
    return float(share - ((np.bincount(labels, degrees) / degrees.sum()) ** 2).sum())


def no_communities(
    network: Network,
    runs: Ensemble,
    find: Callable[[Network, int], Ints],
    source: np.random.SeedSequence,
) -> str | None:
    """Return why a graph has no communities, or None if it has some.

    It has none if its runs disagree, and neither agree better nor find a larger modularity than runs on random graphs
    with the same degrees.

    Parameters
    ----------
    network : Network
        The graph.
    runs : Ensemble
        Communities of the nodes by several runs.
    find : callable
        Makes a run on a graph from a seed.
    source : SeedSequence
        Seeds the random graphs.
    """
    if runs.n_partitions < 2 or not len(network.ends):
        return None
    agreement, found = _measured(network, list(runs.labels.T))
    if agreement >= _AGREED:
        return None
    agreements, moduli = [], []
    for one, seeds in _random_graphs(network, source):
        measured = _measured(one, [find(one, seed) for seed in seeds])
        agreements.append(measured[0])
        moduli.append(measured[1])
        if agreement <= max(agreements) and found <= max(moduli):
            return (
                f"the runs agree by a mean adjusted Rand index of {agreement:.2f} and have a modularity of {found:.2f}, which "
                f"random graphs with the same degrees have too ({max(agreements):.2f} and {max(moduli):.2f})"
            )
    return None


def _measured(network: Network, runs: list[Ints]) -> tuple[float, float]:
    """Return the mean adjusted Rand index of runs, and their mean modularity."""
    labels = np.column_stack(runs)
    similarities = partition_similarities(Ensemble(labels), measure="ari")
    pairs = similarities[np.triu_indices(len(runs), 1)]
    return float(np.mean(pairs)), float(np.mean([modularity(network, run) for run in runs]))


def _random_graphs(
    network: Network, source: np.random.SeedSequence
) -> Iterator[tuple[Network, list[int]]]:
    """Yield graphs whose edges join the ends of those of the graph at random, and seeds of runs on each."""
    once = network.sources < network.ends
    ends = np.concatenate([network.sources[once], network.ends[once]])
    weights: Floats = network.weights[once]
    for rng in spawn_generators(source, _GRAPHS):
        places = tuple(np.sort(rng.permutation(ends).reshape(2, -1), axis=0))
        edges = sp.coo_array((rng.permutation(weights), places), shape=(network.n_nodes,) * 2)
        yield read_network(edges.tocsr()), rng.integers(2**63, size=_RUNS).tolist()
