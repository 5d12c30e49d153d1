"""Clusters of a given number: cuts of the trees and k-means, judged by the nearest neighbours of the points."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from conclust._types import Floats, Ints
from conclust.consensus.auto import Decision, Trees, decision_on
from conclust.consensus.auto.votes import clusters_with_most_votes, votes_for
from conclust.neighbours import neighbour_graph
from conclust.number.mixture import kmeans_labels
from conclust.points.refinement import cut_shares
from conclust.trees.counted import counted_cut

# The neighbours whose ties judge. More of them reach across thin clusters.
_NEIGHBOURS = 5


class GivenCut(NamedTuple):
    """Clusters of the objects of the trees, the same after the votes, and the objects of specks."""

    labels: Ints
    placed: Ints
    specks: Ints


def decide_given(
    points: Floats, trees: Trees, n_clusters: int, seed: int, *, n_jobs: int | None = None
) -> Decision:
    """Return the decision for a number that is given: the clusters of `cut_into`, with the objects of specks named."""
    found = cut_into(points, trees, n_clusters, seed, n_jobs=n_jobs) if trees.n_objects else None
    if found is None:
        return decision_on(trees, n_clusters, None)
    decision = decision_on(trees, n_clusters, found.labels)
    return replace(decision, specks=tuple(found.specks.tolist()))


def cut_into(
    points: Floats, trees: Trees, n_clusters: int, seed: int, *, n_jobs: int | None = None
) -> GivenCut | None:
    """Return the clusters with the smallest mean share of ties between near neighbours that are cut.

    Candidates are the cuts of both trees, without specks, judged after all objects have moved to the cluster with the most
    votes, and the clusters of k-means. Trees follow clusters of any shape; k-means divides clusters that overlap.

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_features)
        The points that the trees join, in the scale of the members.
    trees : Trees
        The consensus, cut at any number of clusters.
    n_clusters : int
        The number of clusters.
    seed : int
        Draws the starts of k-means.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    GivenCut or None
        None where no candidate has this number of clusters.
    """
    n = len(points)
    if n_clusters < 2 or n <= max(n_clusters, _NEIGHBOURS):
        return None
    candidates = [_of_tree(trees, tree, n_clusters) for tree in trees.matrices.values()]
    by_centers = kmeans_labels(points, n_clusters, seed)
    candidates.append(GivenCut(by_centers, by_centers, np.empty(0, np.int64)))
    possible = [one for one in candidates if len(np.unique(one.placed)) == n_clusters]
    graph = neighbour_graph(points, _NEIGHBOURS, n_jobs=n_jobs)
    return min(possible, key=lambda one: cut_shares(graph, one.placed)[0], default=None)


def _of_tree(trees: Trees, tree: Floats, n_clusters: int) -> GivenCut:
    """Return the cut of a tree, every object where most votes are."""
    labels = counted_cut(tree, n_clusters)
    specks = np.flatnonzero(labels < 0)
    part, within = trees.ensemble, labels
    if len(specks):
        clustered = np.flatnonzero(labels >= 0)
        part, within = part.part(clustered), labels[clustered]
    votes = votes_for(part, within, trees.counting)
    placed = clusters_with_most_votes(trees.ensemble, votes)
    return GivenCut(np.where(labels < 0, placed, labels), placed, specks)
