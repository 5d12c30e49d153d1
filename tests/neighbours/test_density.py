import numpy as np
import pytest
from sklearn.datasets import make_moons
from tests.naive import neighbours as naive

from conclust.neighbours import find_neighbours
from conclust.neighbours.graph import core_squares, cut_ties, density_forest


@pytest.mark.parametrize("seed", range(6))
def test_clusters_match_their_definition(seed):
    rng = np.random.default_rng(seed)
    distinct = rng.normal(size=(40, 2)) + 4 * rng.integers(0, 2, (40, 1)) * (seed % 2)
    objects = np.concatenate([np.arange(40), rng.integers(0, 40, 30 * (seed % 3))])
    points = distinct[objects]
    masses = np.bincount(objects, minlength=40).astype(float)
    k = 4 + seed
    neighbours = find_neighbours(points, k)
    for m in (1, 2, 4, 16):
        forest = density_forest(neighbours, m)
        for n_clusters, least in ((1, 2.0), (3, 2.0), (5, 3.5), (9, 1.0), (4, 12.0)):
            labels, count = cut_ties(forest, neighbours, n_clusters, least)
            expected = naive.density_clusters(distinct, k, m, n_clusters, least, masses)
            assert np.array_equal(labels, expected)
            assert count == expected.max() + 1


def test_the_core_distance_of_duplicates_is_zero():
    neighbours = find_neighbours([[0.0]] * 4 + [[1.0], [3.0]], 2)
    assert core_squares(neighbours, 3).tolist() == [0.0, 1.0, 9.0]
    assert core_squares(neighbours, 4).tolist() == [1.0, 1.0, 9.0]


def test_moons_are_separated():
    points, kind = make_moons(500, noise=0.06, random_state=1)
    neighbours = find_neighbours(points, 20)
    labels, count = cut_ties(density_forest(neighbours, 8), neighbours, 2, 100.0)
    assert count == 2
    assert len({*zip(labels.tolist(), kind.tolist(), strict=True)}) == 2


def test_islands_are_never_joined():
    points = np.concatenate([np.arange(6.0), 100 + np.arange(6.0), 900 + np.arange(6.0)])[:, None]
    neighbours = find_neighbours(points, 2)
    labels, count = cut_ties(density_forest(neighbours, 2), neighbours, 2, 2.0)
    assert count == 3
    assert labels.tolist() == [0] * 6 + [1] * 6 + [2] * 6
