"""Partitions weighted by crowd agreement (WEAC, GP-MGLA), against worked examples and dense twins."""

import math

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from tests.cases import E1, E2, planted
from tests.naive.graph import jaccard
from tests.naive.measures import nmi
from tests.naive.similarity import blocks

from conclust import GPMGLA, WEAC, Ensemble
from conclust.exceptions import DenseLimitError
from conclust.similarity import common_neighbours


def agreement(labels, beta):
    """Return the weight of each partition, from the mutual information of each pair over the larger entropy."""
    labels = np.asarray(labels)
    m = labels.shape[1]
    means = [
        np.mean([nmi(labels[:, u], labels[:, v], "max") for v in range(m) if v != u])
        for u in range(m)
    ]
    return (np.array(means) / max(means)) ** beta


def shared(labels, weights):
    """Return the common neighbours of each pair of clusters, looping over third clusters."""
    J = jaccard(labels)
    of = [u for u, part in enumerate(blocks(labels)) for _ in part]
    T = len(J)
    np.fill_diagonal(J, 1.0)
    actual = np.zeros((T, T))
    for a in range(T):
        for b in range(T):
            terms = [weights[of[k]] * min(J[a, k], J[b, k]) for k in range(T)]
            actual[a, b] = math.fsum(terms)
    actual /= actual.max()
    np.fill_diagonal(actual, 1.0)
    return actual


def stacked(labels, alpha, beta):
    """Return the ties of objects, then of clusters, to clusters."""
    weights = agreement(labels, beta)
    rows = [
        [
            alpha * weights[u] * (i in cluster)
            for u, part in enumerate(blocks(labels))
            for cluster in part
        ]
        for i in range(len(labels))
    ]
    return np.vstack([rows, shared(labels, weights)])


@pytest.mark.parametrize("seed", range(4))
def test_common_neighbours_match_set_intersections(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, (20, 5))
    weights = rng.random(5) if seed % 2 else np.ones(5)
    overlaps = common_neighbours(Ensemble(labels, weights=weights))
    np.testing.assert_allclose(overlaps, shared(labels, weights), atol=1e-12)
    assert (overlaps == overlaps.T).all()


def test_clusters_without_weight_do_not_count_for_the_scale():
    # A partition of one cluster overlaps with all clusters of the others more than these do.
    labels = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]])
    overlaps = common_neighbours(Ensemble(labels, weights=[1.0, 1.0, 0.0]))
    np.testing.assert_array_equal(overlaps[:4, :4], common_neighbours(labels[:, :2]))
    assert overlaps.max() == 1.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["single", "average", "complete"])
def test_weac_equals_linkage_of_the_weighted_coassociation(seed, method):
    labels = np.random.default_rng(seed).integers(0, 3, (25, 6))
    weights = agreement(labels, 2.0)
    S = sum(w * (column[:, None] == column) for w, column in zip(weights, labels.T, strict=True))
    D = np.maximum(1 - S / weights.sum(), 0)
    np.fill_diagonal(D, 0.0)
    model = WEAC(4, linkage=method).fit(labels)
    np.testing.assert_allclose(model.weights_, weights, atol=1e-12)
    expected = linkage(squareform(D, checks=False), method)[:, 2]
    np.testing.assert_allclose(np.sort(model.linkage_matrix_[:, 2]), np.sort(expected), atol=1e-6)


@pytest.mark.parametrize("method", ["single", "average"])
def test_weac_of_many_rows_needs_no_matrix(method):
    labels = np.random.default_rng(2).integers(0, 5, (300, 9))
    model = WEAC(6, linkage=method).fit(labels)
    by_rows = WEAC(6, linkage=method, max_dense=50).fit(labels)
    heights = [np.sort(actual.linkage_matrix_[:, 2]) for actual in (model, by_rows)]
    np.testing.assert_allclose(*heights, atol=1e-9)
    with pytest.raises(DenseLimitError, match="WEAC with linkage='complete'"):
        WEAC(6, linkage="complete", max_dense=50).fit(labels)


@pytest.mark.parametrize("labels", [E1, E2, planted(1, 40, 6)[0]])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 2.0), (3.0, 0.0)])
def test_gpmgla_cuts_objects_and_tied_clusters(labels, alpha, beta):
    labels = np.asarray(labels)
    A = stacked(labels, alpha, beta)
    x, y = A.sum(axis=1), A.sum(axis=0)
    U, values, _ = np.linalg.svd(A / np.sqrt(x)[:, None] / np.sqrt(y), full_matrices=False)
    model = GPMGLA(3, alpha=alpha, beta=beta, random_state=0).fit(labels)
    np.testing.assert_allclose(model.singular_values_, values[:3], atol=1e-9)
    rows = (U / np.sqrt(x)[:, None] * values)[: len(labels), :3]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    expected = KMeans(3, n_init=50, random_state=0).fit(rows)
    inertia = sum(
        ((rows[model.labels_ == k] - rows[model.labels_ == k].mean(axis=0)) ** 2).sum()
        for k in range(model.n_clusters_)
    )
    assert inertia <= expected.inertia_ * (1 + 1e-9) + 1e-12
