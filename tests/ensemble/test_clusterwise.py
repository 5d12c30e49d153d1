"""Dissimilarities with weighted clusters: every form against naive twins, and by two code paths."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.cases import labels_of_codes, random_codes
from tests.naive import evidence as naive
from tests.naive.linkage import random_labels

from conclust import Ensemble
from conclust._kernels import BitSlices, bitslice_forms, clusterwise_dissimilarities
from conclust.ensemble.labels import label_view
from conclust.trees import agglomeration
from conclust.trees.agglomeration import cluster_dissimilarities, starting_clusters

FORMS = bitslice_forms()


def own_weights(rng, labels):
    """Weights of the clusters of each object; arbitrary values where it has none."""
    values = np.empty(labels.shape)
    for u, column in enumerate(labels.T):
        weights = rng.random(max(column.max(), 0) + 1)
        values[:, u] = np.where(column >= 0, weights[np.maximum(column, 0)], 7.0)
    return values


def kernel(codes, own, weights, *, sizes=None, form="auto", threads=1, given=None):
    """Return D and the unobserved pairs; `given`: the denominators instead of weights."""
    n = len(codes)
    D = np.full((n, n), 77.0) if given is None else np.triu(given)
    sizes = np.ones(n, dtype=np.int64) if sizes is None else sizes
    slices = BitSlices(label_view(codes), threads)
    unseen = clusterwise_dissimilarities(slices, own, weights, sizes, D, threads, form)
    return D, unseen


def sparse_formula(ensemble, cluster_weights, given, start):
    """1 - c / N of all starting clusters as products of matrices."""
    rows, weights = start.first, ensemble.partition_weights
    per_cluster = cluster_weights * np.repeat(weights, ensemble.cluster_counts)
    B = ensemble.indicator[rows]
    c = ((B @ sp.diags_array(per_cluster)) @ B.T).toarray()
    Z = np.sqrt(given[rows] * weights)
    N = Z @ Z.T
    nothing = N <= 0
    np.fill_diagonal(nothing, False)
    p = np.divide(c, N, out=np.zeros_like(c), where=N > 0)
    D = np.clip(1.0 - p, 0.0, 1.0)
    np.fill_diagonal(D, 0.0)
    return D, int(start.counts @ (nothing @ start.counts)) // 2


@pytest.mark.parametrize(("missing", "noise"), [(0, 0), (0.4, 0), (0, 0.3), (0.4, 0.3)])
@pytest.mark.parametrize(
    ("n", "clusters", "dtype"),
    [
        (1, [1], np.uint8),
        (2, [2, 1], np.uint8),
        (5, [3] * 3, np.uint8),
        (65, [2, 3, 4, 5, 6, 7, 8, 250, 17], np.uint8),
        (130, [300, 2, 5] * 6, np.uint16),
        (67, [70000, 3, 3, 3, 3], np.uint32),
    ],
)
def test_forms_equal_the_naive_twin(missing, noise, n, clusters, dtype):
    rng = np.random.default_rng(n)
    codes = random_codes(rng, n, clusters, dtype, missing, noise)
    labels = labels_of_codes(codes)
    cluster_weights, weights = (
        own_weights(rng, labels),
        rng.random(len(clusters)) * (np.arange(len(clusters)) != 1),
    )
    sizes = rng.integers(1, 9, n)
    expected, apart = naive.clusterwise(
        labels.tolist(), cluster_weights, lambda u, i, j: weights[u]
    )
    for form in FORMS:
        D, unseen = kernel(codes, cluster_weights, weights, sizes=sizes, form=form)
        np.testing.assert_allclose(D, expected, atol=1e-14, err_msg=form)
        assert unseen == sum(int(sizes[i] * sizes[j]) for i, j in apart), form


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_denominators_can_be_given(form, missing):
    rng = np.random.default_rng(4)
    codes = random_codes(rng, 70, [4, 9, 2, 3], np.uint8, missing, 0.2)
    labels = labels_of_codes(codes)
    cluster_weights = own_weights(rng, labels)
    given = rng.random((70, 70)) + 4.0
    given = np.where(rng.random((70, 70)) < 0.1, 0.0, given)
    given = np.triu(given) + np.triu(given, 1).T
    D, unseen = kernel(codes, cluster_weights, None, form=form, given=given)
    c = np.array(
        [
            [cluster_weights[i][(a == b) & (a >= 0)].sum() for b in labels]
            for i, a in enumerate(labels)
        ]
    )
    expected = np.where(given > 0, 1.0 - c / np.where(given > 0, given, 1.0), 1.0)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(D, expected, atol=1e-14)
    assert unseen == np.count_nonzero(np.triu(given <= 0, 1))


@pytest.mark.parametrize("n", [63, 64, 65, 1023, 1025, 1153])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_forms_and_threads_agree_to_the_bit(n, missing):
    # A task has 64 rows and moves on after 1,024 objects.
    rng = np.random.default_rng(n)
    codes = random_codes(rng, n, [2, 9, 30, 5] * 7, np.uint8, missing, 0.1)
    cluster_weights = own_weights(rng, labels_of_codes(codes))
    weights = rng.random(28)
    given = rng.random((n, n)) * 28
    for kind in ({"weights": weights}, {"weights": None, "given": given}):
        first, unseen = kernel(codes, cluster_weights, **kind)
        np.testing.assert_array_equal(first, first.T)
        assert (np.diag(first) == 0).all()
        for form in FORMS:
            for threads in (1, 2, 4):
                D, same = kernel(codes, cluster_weights, form=form, threads=threads, **kind)
                np.testing.assert_array_equal(D, first)
                assert same == unseen


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_types_of_codes_agree_to_the_bit(dtype):
    rng = np.random.default_rng(1)
    codes = random_codes(rng, 90, [7, 3] * 6, np.uint8, 0.2, 0.1)
    cluster_weights = own_weights(rng, labels_of_codes(codes))
    wide = codes.astype(dtype)
    for reserved in (0, 1):
        wide[codes == 255 - reserved] = np.iinfo(dtype).max - reserved
    expected, _ = kernel(codes, cluster_weights, np.ones(12))
    np.testing.assert_array_equal(kernel(wide, cluster_weights, np.ones(12))[0], expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("missing", "noise"), [(0, 0), (0.5, 0), (0, 0.2), (0.3, 0.2)])
def test_sums_of_ensembles_equal_matrix_products(threads, weighted, missing, noise):
    rng = np.random.default_rng(3)
    labels = random_labels(rng, 400, 11, missing=missing, noise=noise)
    labels = np.vstack([labels, labels[:150]])
    weights = np.where(np.arange(11) == 4, 0.0, rng.random(11)) if weighted else None
    ensemble = Ensemble(labels, weights=weights).observed_only()
    start = starting_clusters(ensemble)
    cluster_weights = rng.random(int(ensemble.offsets[-1]))
    seen = ensemble.present.astype(np.float64)
    expected, apart = sparse_formula(ensemble, cluster_weights, seen, start)
    D, unseen = cluster_dissimilarities(ensemble, cluster_weights, None, start, n_jobs=threads)
    np.testing.assert_allclose(D, expected, atol=1e-14)
    assert unseen == apart
    weights = seen * rng.random(seen.shape) * (rng.random(seen.shape) < 0.5)
    # All rows of a starting cluster are equal.
    weights = weights[start.first[start.inverse]]
    expected, apart = sparse_formula(ensemble, cluster_weights, weights, start)
    D, unseen = cluster_dissimilarities(ensemble, cluster_weights, weights, start, n_jobs=threads)
    np.testing.assert_allclose(D, expected, atol=1e-13)
    assert unseen == apart > 0


def test_soft_members_that_are_certain_equal_labels():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=(60, 5))
    hard = Ensemble(labels)
    soft = Ensemble.from_memberships([np.eye(4)[column] for column in hard.labels.T])
    cluster_weights = rng.random(20)
    start = starting_clusters(soft)
    for weights in (None, rng.random((60, 5))):
        results = [
            cluster_dissimilarities(e, cluster_weights, weights, start) for e in (hard, soft)
        ]
        np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-14)
        assert results[0][1] == results[1][1]


def test_rounding_to_the_grid_equals_rint():
    rng = np.random.default_rng(2)
    ties = (np.arange(50) + 0.5) / 2.0**40
    values = np.concatenate([rng.random(5000), ties, 1 - ties, [0.0, 1.0, 1e-300, 1 / 3]])
    expected = np.rint(values * 2.0**40) / 2.0**40
    for shape in (-1, (2, -1), (-1, 2)):
        snapped = values.reshape(shape).copy()
        agglomeration._snap(snapped)
        np.testing.assert_array_equal(snapped.ravel(), expected)
