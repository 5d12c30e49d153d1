"""Clusters of a number: by centres, or by a tree that cuts clearly fewer ties between near neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from conclust._types import Floats, Ints
from conclust.consensus.auto.trees import Trees
from conclust.consensus.auto.votes import clusters_with_most_votes, votes_for
from conclust.neighbours import NeighbourGraph, neighbour_graph
from conclust.number.constants import CLEARLY_FEWER, TIES
from conclust.trees.agglomeration import counted_cut


class CutOfTree(NamedTuple):
    """Clusters of the objects of the trees, the same after the votes, and the objects of specks."""

    labels: Ints
    placed: Ints
    specks: Ints


def cuts_without_specks(trees: Trees, n_clusters: int) -> list[CutOfTree]:
    """Return the cut of each tree into a number of clusters; objects of specks are where most votes are."""
    return [_cut(trees, tree, n_clusters) for tree in trees.matrices.values()]


def fewest_cut(
    points: Floats, n_clusters: int, candidates: Sequence[Ints], n_jobs: int | None = None
) -> int | None:
    """Return the first candidate, or a later one that cuts clearly fewer ties between near neighbours.

    Without the margin, the choice between candidates that are about as good would depend on the seed.

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_features)
        The points.
    n_clusters : int
        The number of clusters; candidates with fewer are left out.
    candidates : sequence of ndarray of int64 of shape (n_objects,)
        The clusters.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    int or None
        The place of the candidate; None if none has this number of clusters.
    """
    graph = neighbour_graph(points, min(TIES, len(points) - 1), n_jobs=n_jobs)
    best, fewest = None, np.inf
    for at, labels in enumerate(candidates):
        if len(np.unique(labels)) == n_clusters:
            share = share_of_ties_cut(graph, labels)
            if share < CLEARLY_FEWER * fewest:
                best, fewest = at, share
    return best


def share_of_ties_cut(graph: NeighbourGraph, labels: Ints) -> float:
    """Return the share of the ties of a cluster that leave it, as the mean over clusters."""
    of_points = labels[graph.rows.first]
    source = of_points[graph.sources]
    leaves = source != of_points[graph.ends]
    ties = np.bincount(source)
    cut = np.bincount(source, weights=leaves)
    held = ties > 0
    return float((cut[held] / ties[held]).mean())


def _cut(trees: Trees, tree: Floats, n_clusters: int) -> CutOfTree:
    labels = counted_cut(tree, n_clusters)
    specks = np.flatnonzero(labels < 0)
    part, within = trees.ensemble, labels
    if len(specks):
        clustered = np.flatnonzero(labels >= 0)
        part, within = part.part(clustered), labels[clustered]
    votes = votes_for(part, within, trees.counting)
    placed = clusters_with_most_votes(trees.ensemble, votes)
    return CutOfTree(np.where(labels < 0, placed, labels), placed, specks)
