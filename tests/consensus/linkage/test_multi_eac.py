"""Evidence accumulation of stable clusters, and of valid partitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from tests.cases import E1
from tests.naive import linkage as naive

from conclust import EAC, Ensemble, MultiEAC, WeightedEAC, weighting
from conclust.consensus.linkage import cluster_stability
from conclust.exceptions import (
    EvidenceWarning,
    InputError,
)

LINKAGES = ("single", "average", "complete", "ward")


def naive_stability(labels, weights=None):
    n, m = labels.shape
    weights = np.ones(m) if weights is None else np.asarray(weights, dtype=float)
    values = []
    for u in range(m):
        for c in range(labels[:, u].max() + 1):
            total = observed_weight = 0.0
            for v in range(m):
                members = {i for i in range(n) if labels[i, u] == c and labels[i, v] != -1}
                if v == u or not members:
                    continue
                best = 0.0
                for d in range(labels[:, v].max() + 1):
                    other = {i for i in range(n) if labels[i, v] == d and labels[i, u] != -1}
                    best = max(best, len(members & other) / len(members | other))
                total += weights[v] * best
                observed_weight += weights[v]
            values.append(total / observed_weight if observed_weight else 1.0)
    return np.array(values)


def naive_dissimilarity(labels, cluster_weights, weights):
    n, m = labels.shape
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    D = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            c = N = 0.0
            for u in range(m):
                a, b = labels[i, u], labels[j, u]
                if a == -1 or b == -1:
                    continue
                wa = cluster_weights[offsets[u] + a] if a >= 0 else 1.0
                wb = cluster_weights[offsets[u] + b] if b >= 0 else 1.0
                N += weights[u] * np.sqrt(wa * wb)
                if a == b >= 0:
                    c += weights[u] * wa
            if N > 0:
                D[i, j] = 1 - c / N
    np.fill_diagonal(D, 0.0)
    return D


def quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        return model.fit(X)


def canonical(rng, n, m, **kind):
    """Labels equal to the codes of the Ensemble, so that weights of clusters fit."""
    ensemble = Ensemble(naive.random_labels(rng, n, m, **kind))
    return ensemble.labels, ensemble


@pytest.mark.parametrize("seed", range(3))
def test_stability_is_the_mean_of_the_best_jaccard_indices(seed):
    rng = np.random.default_rng(seed)
    labels, ensemble = canonical(rng, 30, 6, missing=0.2 * (seed % 2), noise=0.1 * (seed % 3))
    np.testing.assert_allclose(cluster_stability(ensemble), naive_stability(labels), atol=1e-12)
    weights = rng.integers(0, 3, size=6) + np.array([1.0, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(
        cluster_stability(ensemble.reweighted(weights)),
        naive_stability(labels, weights),
        atol=1e-12,
    )


@pytest.mark.parametrize("seed", range(2))
def test_unstable_clusters_count_as_missing(seed):
    rng = np.random.default_rng(seed)
    labels, ensemble = canonical(rng, 40, 12)
    model = quiet(MultiEAC(3, cluster_weights="stable", threshold=0.35), ensemble)
    kept = model.cluster_weights_.astype(bool)
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_array_equal(kept, cluster_stability(ensemble) > 0.35)
    holes = np.where(kept[labels + ensemble.offsets[:-1]], labels, -1)
    assert not (holes == -1).all(axis=1).any()  # nothing is missing everywhere
    assert not (holes == -1).all(axis=0).any()
    by_hand = quiet(EAC(3), holes)
    np.testing.assert_allclose(
        np.sort(model.linkage_matrix_[:, 2]), np.sort(by_hand.linkage_matrix_[:, 2]), atol=1e-9
    )


@pytest.mark.parametrize("linkage", LINKAGES)
def test_every_merge_has_the_smallest_distance(linkage):
    rng = np.random.default_rng(0)
    labels, ensemble = canonical(rng, 18, 5, missing=0.1, noise=0.1)
    cluster_weights = rng.random(int(ensemble.offsets[-1]))
    weights = rng.random(5) + 0.1
    model = quiet(
        MultiEAC(2, cluster_weights=cluster_weights, linkage=linkage), ensemble.reweighted(weights)
    )
    D = naive_dissimilarity(labels, cluster_weights, weights)
    if linkage == "ward":
        D = np.sqrt(D)
    naive.replay(
        model.linkage_matrix_, lambda A, B: naive.between(D, A, B, linkage), tolerance=1e-6
    )


def test_blocks_of_soft_rows_equal_one_block(monkeypatch):
    rng = np.random.default_rng(0)
    soft = Ensemble.from_memberships([rng.dirichlet(np.ones(3), 60) for _ in range(6)])
    whole = MultiEAC(3).fit(soft)
    monkeypatch.setattr("conclust.trees.agglomeration._SOFT_BLOCK_ENTRIES", 400)
    parts = MultiEAC(3).fit(soft)
    np.testing.assert_allclose(whole.linkage_matrix_, parts.linkage_matrix_, atol=1e-9)


def test_pairs_without_evidence_are_reported():
    with pytest.warns(EvidenceWarning, match="No partition has both objects of 3 pairs in"):
        MultiEAC(2, cluster_weights=[1, 0]).fit([[0], [0], [0], [1]])


@pytest.mark.parametrize("weights", ["jaccard", "stable"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_single_linkage_needs_no_matrix(weights, missing):
    labels, ensemble = canonical(np.random.default_rng(4), 90, 7, k=6, missing=missing, noise=0.1)
    ensemble = ensemble.reweighted(np.arange(7.0))
    model = MultiEAC(4, linkage="single", cluster_weights=weights, threshold=0.2)
    by_matrix = quiet(model, ensemble).linkage_matrix_
    by_rows = quiet(clone(model).set_params(max_dense=5), ensemble).linkage_matrix_
    np.testing.assert_allclose(by_rows[:, 2], by_matrix[:, 2], atol=1e-11)
    if weights == "jaccard":  # no weight is 0: equal labels are at distance 0
        D = naive_dissimilarity(labels, model.cluster_weights_, np.arange(7.0))
        naive.replay(by_rows, lambda A, B: naive.between(D, A, B, "single"), 1e-9)


@pytest.mark.parametrize("given", [[1.0], [[1.0] * 6], [-1.0] * 6, [np.nan] * 6, [{}] * 6])
def test_cluster_weights_that_do_not_fit_are_refused(given):
    with pytest.raises(InputError, match="The cluster_weights of MultiEAC must be"):
        MultiEAC(2, cluster_weights=given).fit(E1)


def test_weighted_eac_equals_eac_of_the_weighted_ensemble():
    rng = np.random.default_rng(0)
    labels = naive.random_labels(rng, 50, 8)
    X = rng.normal(size=(50, 3))
    for data, v in (
        (None, weighting.agreement_weights(labels)),
        (X, weighting.validity_weights(labels, X)),
    ):
        for linkage in LINKAGES:
            model = WeightedEAC(3, data=data, linkage=linkage).fit(labels)
            by_hand = EAC(3, linkage=linkage).fit(Ensemble(labels, weights=v))
            np.testing.assert_array_equal(model.weights_, v)
            np.testing.assert_array_equal(model.linkage_matrix_, by_hand.linkage_matrix_)
            np.testing.assert_array_equal(model.labels_, by_hand.labels_)


def test_weights_of_the_ensemble_multiply():
    rng = np.random.default_rng(0)
    labels = naive.random_labels(rng, 50, 4)
    partition_weights = np.array([1.0, 2.0, 0.0, 1.0])
    model = WeightedEAC(3).fit(Ensemble(labels, weights=partition_weights))
    np.testing.assert_array_equal(
        model.weights_, partition_weights * weighting.agreement_weights(labels)
    )


def test_data_of_objects_missing_everywhere_is_ignored():
    rng = np.random.default_rng(0)
    labels = naive.random_labels(rng, 50, 6)
    X = rng.normal(size=(50, 3))
    holes = labels.copy()
    holes[[3, 30]] = -1
    rest = np.delete(np.arange(50), [3, 30])
    model = quiet(WeightedEAC(3, data=X), holes)
    np.testing.assert_array_equal(
        model.weights_, WeightedEAC(3, data=X[rest]).fit(labels[rest]).weights_
    )
    with pytest.raises(InputError, match=r"The data of WeightedEAC must be of shape \(50, n_"):
        WeightedEAC(3, data=X[rest]).fit(labels)
