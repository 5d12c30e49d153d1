"""Self-organising maps against their definition, and against MiniSom's error on digits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from tests.naive import som as naive

from conclust import EnsembleGenerator
from conclust.generation.members import MapRecipe
from conclust.selection import consensus_clustering


@pytest.mark.parametrize(("k", "side"), [(2, 2), (9, 3), (11, 4)])
def test_codes_match_the_naive_twin(k, side):
    X = np.random.default_rng(k).normal(size=(80, 3))
    found = MapRecipe()._run(X, k, np.random.default_rng(0))
    start = X[np.random.default_rng(0).permutation(80)[:k]]
    codes = naive.codes_of(X, start, side, np.geomspace(side / 2, 0.3, 10))
    np.testing.assert_allclose(found.model.centers, codes, atol=1e-10)
    nearest = ((X[:, None] - codes) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(found.labels, nearest)


def test_the_error_is_as_small_as_with_minisom():
    # MiniSom 2.3.6, 10 x 10, ten passes, the best of four widths: mean distance 18.17 of two seeds.
    X = load_digits().data
    found = MapRecipe()._run(X, 100, np.random.default_rng(0))
    assert np.linalg.norm(X - found.model.centers[found.labels], axis=1).mean() < 1.02 * 18.17
    # Codes of neighbours on the grid are near each other, as k-means' are not.
    grid = found.model.centers.reshape(10, 10, -1)
    steps = np.linalg.norm(np.diff(grid, axis=1), axis=2).mean()
    others = np.random.default_rng(0).permutation(100)
    assert steps < 0.7 * np.linalg.norm(np.diff(found.model.centers[others], axis=0), axis=1).mean()


def test_codes_far_from_all_points_stay_finite():
    X = np.repeat([[0.0, 0.0], [1e6, 0.0]], 2000, axis=0) + np.random.default_rng(0).normal(
        size=(4000, 2)
    )
    found = MapRecipe()._run(X, 2500, np.random.default_rng(0))
    assert np.isfinite(found.model.centers).all()


@pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")  # of few codes
def test_consensus_of_codes_finds_the_populations():
    X, y = make_blobs(3000, centers=6, n_features=8, cluster_std=1.0, random_state=2)
    generator = EnsembleGenerator("som", 1, n_clusters=49, scale=None, random_state=0)
    code = generator.fit_transform(X)[:, 0]
    codes = generator.members_[0].centers
    assert len(codes) == code.max() + 1 <= 49
    np.testing.assert_array_equal(generator.transform(X)[:, 0], code)
    found = consensus_clustering(codes, 6, random_state=0)
    assert adjusted_rand_score(y, found.labels[6][code]) > 0.99
