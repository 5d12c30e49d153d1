"""Starts of k-means members: k-means++ finds small clusters near a large one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from tests.naive.kmeans import greedy_start, lloyd

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.exceptions import ParameterError
from conclust.generation.members import KMeansRecipe
from conclust.generation.runs import run_kmeans
from conclust.metrics import adjusted_rand_index

UNEVEN = [([big, 50, 50, 50, 50, 50], d) for big in (500, 1000) for d in (5, 10)]


@pytest.mark.parametrize(("sizes", "d"), UNEVEN)
def test_small_clusters_near_a_large_one_are_found(sizes, d):
    X, y = make_blobs(sizes, n_features=d, random_state=0)
    expected = adjusted_rand_index(y, KMeans(6, n_init=20, random_state=0).fit(X).labels_)
    generator = EnsembleGenerator("kmeans", 60)
    model = ConsensusClustering(n_clusters=6, generator=generator, random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) >= expected - 1e-12
    assert expected == 1.0


@pytest.mark.parametrize(("n", "d", "k"), [(60, 3, 5), (25, 1, 4), (200, 7, 12)])
def test_members_match_the_naive_twin(n, d, k):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)) + 4 * rng.normal(size=(k, d))[np.arange(n) % k]
    seed = int(np.random.default_rng(7).integers(2**63))
    (actual,) = KMeansRecipe(tol=0.0).run(X, [k], np.random.default_rng(7))
    start = greedy_start(X, k, 2 + int(np.log(k)), seed)
    labels, centers = lloyd(X, X[start], 300)
    assert len(np.unique(labels)) == k
    ours = actual.model.centers
    order = np.lexsort(ours.T), np.lexsort(centers.T)
    np.testing.assert_allclose(ours[order[0]], centers[order[1]], atol=1e-12)
    # The same objects together, whatever the numbers of the clusters.
    assert len(np.unique(np.column_stack([actual.labels, labels]), axis=0)) == k


@pytest.mark.parametrize("n", [*range(1, 12), 30, 60])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_few_or_equal_points_and_constant_columns_are_handled(n, init):
    rng = np.random.default_rng(n)
    recipe = KMeansRecipe(init=init)
    for X in (
        rng.normal(size=(n, 2)),
        np.repeat(rng.normal(size=(-(-n // 3), 2)), 3, axis=0)[:n],
        np.column_stack([np.full(n, 1e6), rng.integers(0, 3, n), np.zeros(n)]),
        np.zeros((n, 1)),
    ):
        distinct = len(np.unique(X, axis=0))
        for k in {1, min(2, n), n}:
            (actual,) = recipe.run(np.ascontiguousarray(X, dtype=float), [k], rng)
            assert len(actual.model.centers) == min(k, distinct)
            assert len(np.unique(actual.labels)) == min(k, distinct)


@pytest.mark.parametrize(
    ("method", "n_clusters"),
    [
        ("kmeans", [7, 9]),
        ("mixed", [7, 9]),
        (["spectral", "kmeans"], [7, 9]),
        ([("kmeans", [7, 9])], None),
    ],
)
def test_every_kind_of_k_means_can_start_by_k_means_plus_plus(method, n_clusters):
    X, _ = make_blobs(80, 3, centers=5, random_state=1)
    spread, random = (
        EnsembleGenerator(method, init=init, n_clusters=n_clusters, random_state=0).fit(X).members_
        for init in ("k-means++", "random")
    )
    for one, other in zip(spread, random, strict=True):
        assert (one.method, one.seed) == (other.method, other.seed)
        if one.method == "kmeans":
            assert not np.array_equal(one.centers, other.centers)
        elif one.model is not None:
            assert one.model.centers.tobytes() == other.model.centers.tobytes()


def test_centres_are_found_without_labels():
    """More clusters than two bytes can count are possible without labels."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    drawn, seeds = np.arange(50, dtype=np.int32)[np.newaxis], np.array([3], dtype=np.uint64)
    both = run_kmeans(X, 4, drawn, seeds, centers=True)
    alone = run_kmeans(X, 4, drawn, seeds, centers=True, labels=False)
    assert alone.labels.shape == (0, 1)
    assert alone.centers.tobytes() == both.centers.tobytes()
    assert alone.inertia.tobytes() == both.inertia.tobytes()


@pytest.mark.parametrize(
    ("method", "init", "said"),
    [
        ("kmeans", "kmeans++", "one of"),
        ("kmeans", None, "one of"),
        ("spectral", "random", "without members by 'kmeans'"),
        (KMeans(3), "random", "without members by 'kmeans'"),
    ],
)
def test_invalid_starts_are_refused(method, init, said):
    with pytest.raises(
        ParameterError, match=f"'init' parameter of EnsembleGenerator must be .*{said}"
    ):
        EnsembleGenerator(method, init=init).fit(np.eye(9))
