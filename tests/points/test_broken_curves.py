"""Thin curves with many points, whose neighbour graph breaks at random gaps."""

import numpy as np
import pytest

from conclust import ConsensusClustering


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
