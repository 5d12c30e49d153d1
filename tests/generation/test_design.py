"""Members by design: what does not depend on the seed, and how equal the members of two seeds are."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.generation.members import place
from conclust.metrics import adjusted_rand_index


@pytest.mark.parametrize("count", [4, 6, 17, 40, 100])
def test_the_first_members_are_spread_evenly(count):
    for side in np.array([place(turn) for turn in range(count)]).T:
        ends = np.sort(np.r_[side, side.min() + 1.0])
        assert np.diff(ends).max() < 3.0 / count
        assert abs(side.mean() - 0.5) < 0.5 / count**0.5


@pytest.mark.parametrize("kind", ["spectral"])
def test_the_numbers_of_clusters_do_not_depend_on_the_seed(kind):
    X = np.random.default_rng(0).normal(size=(200, 3))
    numbers = [
        [m.n_clusters for m in EnsembleGenerator(kind, 10, random_state=seed).fit(X).members_]
        for seed in (0, 1)
    ]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_two_seeds_give_the_same_clusters(load):
    X = load().data
    answers = [
        ConsensusClustering(n_clusters=3, random_state=s).fit(X).labels_ for s in range(20, 23)
    ]
    assert all(adjusted_rand_index(a, b) > 0.9 for a, b in combinations(answers, 2))
