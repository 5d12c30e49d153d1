"""Splits merged communities: each is clustered again separately, and split if that describes its edges better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from conclust._arrays.ratios import ratio
from conclust._arrays.scale import moderate
from conclust._random import spawn_seeds
from conclust._threads import side_by_side
from conclust._types import Bools, Floats, Ints
from conclust.ensemble import as_ensemble
from conclust.ensemble.labels import canonical_labels
from conclust.evidence.pairs import evidence_of_pattern
from conclust.neighbours.leiden import CommunityGraph
from conclust.networks.reading import Network

# Maximum share of the edges of a community between its parts. Random groups merged by modularity
# share few edges; the pieces of a uniform cloud of points share a quarter of them or more.
_LARGEST_CUT = 0.15
_LEVELS = 64
# Shares and thresholds are compared with this tolerance.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Split:
    """The gain by splitting each community.

    Attributes
    ----------
    saved : ndarray of float64 of shape (n_communities,)
        Nats by which the description of the edges inside becomes shorter; 0 for a community that stays whole.
    cut : ndarray of float64 of shape (n_communities,)
        Share of the edges of the community between its parts.
    """

    saved: Floats
    cut: Floats


def split_communities(
    network: Network,
    labels: Ints,
    threshold: float,
    n_runs: int,
    root: np.random.SeedSequence,
    n_threads: int,
) -> Ints:
    """Split merged communities, and their parts, until none can be split.

    Parameters
    ----------
    network : Network
        The graph.
    labels : ndarray of int64 of shape (n_nodes,)
        Communities, numbered from 0.
    threshold : float
        Smallest share of the runs of an edge that remains in the clustering of a community.
    n_runs : int
        Number of runs in each community.
    root : SeedSequence
        Source of the seeds.
    n_threads : int
        Number of runs at a time. The result does not depend on it.

    Returns
    -------
    ndarray of int64 of shape (n_nodes,)
        Communities, numbered from 0 by first appearance.

    Notes
    -----
    Modularity expects edges between two communities by their degrees in the whole network: the larger it is, the less,
    until a single edge is more than expected and its ends are merged (the resolution limit). Inside a community the same
    rule compares with the degrees inside, so that what was merged comes apart. A level is a consensus of `n_runs` runs
    on the edges inside of all communities at once, O(m) time a run; levels look only at the parts that the level before has made.
    """
    split_labels = labels.copy()
    nodes = np.arange(network.n_nodes)
    graph = network
    for seeds in (spawn_seeds(level, n_runs + 1) for level in _levels(root)):
        graph = _inside(graph, split_labels[nodes])
        part_labels = canonical_labels(split_labels[nodes])
        parts = _parts(graph, part_labels, threshold, seeds, n_threads)
        split = weigh_splits(graph, part_labels, parts)
        accepted = (split.saved > 0) & (split.cut <= _LARGEST_CUT)
        if not accepted.any():
            break
        active = accepted[part_labels]
        nodes = nodes[active]
        split_labels[nodes] = split_labels.max() + 1 + parts[active]
        graph = _among(graph, active)
    return canonical_labels(split_labels)


def weigh_splits(network: Network, labels: Ints, parts: Ints) -> Split:
    """Measure the gain by describing each community as several parts.

    Parameters
    ----------
    network : Network
        A graph without edges between communities.
    labels : ndarray of int64 of shape (n_nodes,)
        Communities, numbered from 0.
    parts : ndarray of int64 of shape (n_nodes,)
        Parts of communities, numbered from 0 over all of them.

    Returns
    -------
    Split
        For each community.

    Notes
    -----
    The description length is that of the degree-corrected stochastic block model with uniform priors of the degrees
    (Peixoto, Phys. Rev. E 95, 012317, 2017), and of the numbers of edges within and between groups (Zhang and Peixoto,
    Phys. Rev. Research 2, 043271, 2020). Edges with weights count as the number of edges without weights that is equally
    certain, ``(sum w)^2 / sum w^2``.
    """
    upper = network.sources < network.ends
    weights, _ = moderate(network.weights[upper])
    # Equal weights become exactly 1.
    even = len(weights) == 0 or bool((weights == weights[0]).all())
    unit = 1.0 if even else float(np.square(weights).sum() / weights.sum())
    edges = np.ones(len(weights)) if even else weights / unit
    one, other = parts[network.sources[upper]], parts[network.ends[upper]]
    n_groups, n_parts = int(labels.max()) + 1, int(parts.max()) + 1
    owner = np.empty(n_parts, dtype=np.int64)
    owner[parts] = labels
    sizes = np.bincount(labels).astype(np.float64)
    part_sizes = np.bincount(parts).astype(np.float64)
    degrees = np.bincount(np.concatenate([one, other]), np.tile(edges, 2), n_parts).astype(
        np.float64
    )
    low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other).astype(np.int64)
    pairs, place = np.unique(low * n_parts + high, return_inverse=True)
    counts = np.bincount(place, edges, len(pairs))
    first, second = pairs // n_parts, pairs % n_parts
    between = first != second
    within = np.zeros(n_parts)
    within[first[~between]] = counts[~between]

    def total(values: Floats, of: Ints = owner) -> Floats:
        return np.bincount(of, values, n_groups).astype(np.float64)

    inside = total(within)
    crossing = total(counts[between], owner[first[between]])
    every = inside + crossing
    n_of = total(np.ones(n_parts))
    whole = _placed(every, 2.0 * every, sizes)
    apart = total(_placed(within, degrees, part_sizes))
    apart -= total(gammaln(counts[between] + 1.0), owner[first[between]])
    apart += _log_multisets(n_of, inside) + np.log(every + 1.0)
    apart += _log_multisets(np.maximum(n_of * (n_of - 1.0) / 2.0, 1.0), crossing)
    apart += gammaln(sizes + 1.0) - total(gammaln(part_sizes + 1.0))
    apart += gammaln(sizes) - gammaln(n_of) - gammaln(sizes - n_of + 1.0)
    return Split(np.where(n_of > 1, whole - apart, 0.0), ratio(crossing, every))


def _placed(within: Floats, degrees: Floats, sizes: Floats) -> Floats:
    """Return the description length, in nats, of the ends of the edges of groups, from their inner edges, sums of degrees, and sizes."""
    paired = within * np.log(2.0) + gammaln(within + 1.0)
    placed: Floats = gammaln(degrees + 1.0) - paired + _log_multisets(sizes, degrees)
    return placed


def _log_multisets(kinds: Floats, count: Floats) -> Floats:
    """Return the logarithm of the number of multisets of `count` elements of some kinds."""
    logs: Floats = gammaln(kinds + count) - gammaln(kinds) - gammaln(count + 1.0)
    return logs


def _parts(
    network: Network, labels: Ints, threshold: float, seeds: list[int], n_threads: int
) -> Ints:
    """Return a consensus inside each community, from runs that use only the degrees within it."""
    *runs, last = seeds
    find = _communities(network, labels)
    labels_of_runs = np.empty((network.n_nodes, len(runs)), dtype=np.int32)
    with side_by_side(min(n_threads, len(runs))) as work:
        for u, column in enumerate(work(find, runs)):
            labels_of_runs[:, u] = column
    evidence = evidence_of_pattern(
        as_ensemble(labels_of_runs), network.starts, network.ends, n_jobs=n_threads
    )
    shares = evidence.counts / float(len(runs))
    inner = shares >= threshold - _ROUNDING
    certain = with_edges(network, inner, network.weights[inner] * shares[inner])
    return canonical_labels(_communities(certain, labels)(last))


def _communities(network: Network, labels: Ints) -> Callable[[int], NDArray[np.int32]]:
    """Return the search for communities by modularity in the subgraph of each community."""
    degrees = np.bincount(network.sources, network.weights, network.n_nodes)
    loads = ratio(degrees, np.sqrt(np.bincount(labels, degrees)[labels]))
    graph = CommunityGraph(network.starts, network.ends, network.weights, loads, 1.0)
    return lambda seed: graph.communities(1.0, seed)[0]


def _levels(root: np.random.SeedSequence) -> list[np.random.SeedSequence]:
    key = root.spawn_key
    return [
        np.random.SeedSequence(root.entropy, spawn_key=(*key, level)) for level in range(_LEVELS)
    ]


def _inside(network: Network, labels: Ints) -> Network:
    """Return the graph without the edges between communities."""
    inner = labels[network.sources] == labels[network.ends]
    return with_edges(network, inner, network.weights[inner])


def with_edges(network: Network, mask: Bools, weights: Floats) -> Network:
    """Return a network with some of the edges, and their weights."""
    before = np.concatenate([[0], np.cumsum(mask)])
    starts = before[network.starts].astype(np.int64)
    return Network(starts, network.ends[mask], weights, network.nodes, loops=network.loops)


def _among(network: Network, active: Bools) -> Network:
    """Return the graph of some nodes, which have no edges to the others."""
    inner = active[network.sources]
    number = np.cumsum(active, dtype=np.int64) - 1
    lengths = np.diff(network.starts)[active]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ends = number[network.ends[inner]].astype(np.int32)
    return Network(starts, ends, network.weights[inner], network.nodes)
