"""Thin curves with many points, whose neighbour graph breaks at random gaps."""

import numpy as np
import pytest

from conclust import ConsensusClustering
from conclust.neighbours import neighbour_graph
from conclust.points.unbroken import unbroken_graph


def spiral(n, seed):
    angle = 1.5 * np.pi * (1 + 2 * np.random.default_rng(seed).uniform(size=n))
    return angle[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)]) / 10


@pytest.mark.parametrize("seed", [0, 2])
def test_a_spiral_of_many_points_is_one_cluster(seed):
    assert ConsensusClustering(random_state=seed).fit(spiral(5_000, seed)).n_clusters_ == 1


def test_two_spirals_that_are_apart_are_two_clusters():
    X = np.vstack([spiral(2_500, 0), spiral(2_500, 1) + np.array([10, 0])])
    labels = ConsensusClustering(random_state=0).fit(X).labels_
    assert labels.max() == 1
    assert len(np.unique(labels[:2_500])) == len(np.unique(labels[2_500:])) == 1


def n_ties(graph):
    return len(graph.ends)


def line(n, seed, height):
    x = np.sort(np.random.default_rng(seed).uniform(size=n))
    return np.column_stack([x, np.full(n, height)])


def test_ends_of_curves_are_connected_and_curves_side_by_side_are_not():
    # Twelve neighbours on either side of the gap are within its width.
    gap = 12 / 2_000
    curve = line(2_000, 0, 0.0)
    broken = curve + np.where(curve[:, :1] > 0.4, [[gap, 0.0]], [[0.0, 0.0]])
    assert n_ties(unbroken_graph(broken)) == n_ties(neighbour_graph(broken, 20))
    beside = np.vstack([curve, line(2_000, 1, gap)[800:1_200]])
    assert n_ties(unbroken_graph(beside)) == n_ties(neighbour_graph(beside, 10))
    few = broken[::2]
    assert n_ties(unbroken_graph(few)) == n_ties(neighbour_graph(few, 10))


@pytest.mark.parametrize("seed", range(3))
def test_two_long_spirals_in_each_other_are_two_clusters(seed):
    angle = 6 * np.pi * np.sqrt(np.random.default_rng(seed).uniform(0.05, 1.0, 1_100))
    one = angle[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.vstack([one, -one])
    labels = ConsensusClustering(random_state=0).fit(X).labels_
    assert labels.max() == 1
    assert len(np.unique(labels[:1_100])) == len(np.unique(labels[1_100:])) == 1
