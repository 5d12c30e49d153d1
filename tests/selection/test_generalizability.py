"""Generalizability against scikit-learn alone, and the rules that choose a number by it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from conclust.exceptions import ParameterError
from conclust.selection import choose
from conclust.selection.resampled.generalizability import generalizability
from conclust.selection.resampled.resampling import Settings

pytestmark = pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")
WINE = scale(load_wine().data)


def naive(points, clusterer, k, classifier, rng):
    """Return the ARI of one split, with scikit-learn alone."""
    order = rng.permutation(len(points))
    one, other = points[order[: len(order) // 2]], points[order[len(order) // 2 :]]
    labels = [clone(clusterer).set_params(n_clusters=k).fit_predict(half) for half in (one, other)]
    return adjusted_rand_score(labels[1], clone(classifier).fit(one, labels[0]).predict(other))


def measured(points, ks, clusterer, classifier, m):
    settings = Settings(tuple(ks), clusterer, m, 0.8, None, 0, 1)
    return generalizability(points, settings, classifier, np.random.SeedSequence(1))


def test_generalizability_has_the_mean_and_spread_of_the_naive_twin():
    ward, nearest, rng = AgglomerativeClustering(), KNeighborsClassifier(), np.random.default_rng(0)
    actual = measured(WINE, (2, 3, 4), ward, nearest, 60)
    for k in (2, 3, 4):
        expected = [naive(WINE, ward, k, nearest, rng) for _ in range(60)]
        error = np.hypot(np.std(expected), np.std(actual[k])) / np.sqrt(60)
        assert abs(np.mean(expected) - actual[k].mean()) < 4 * error
        assert np.std(actual[k]) == pytest.approx(np.std(expected), rel=0.5)
    assert max(actual, key=lambda k: actual[k].mean()) == 3  # the cultivars


def test_generalizability_is_as_carve_measures_it():
    # CARVE 1.0 (commit 809367a), Ward's clusters, the same classifier, 100 halves: means and standard errors for 2 to 6.
    means, errors = [0.388, 0.774, 0.704, 0.638, 0.587], [0.039, 0.008, 0.008, 0.008, 0.009]
    found = measured(WINE, range(2, 7), AgglomerativeClustering(), KNeighborsClassifier(), 100)
    for k, mean, error in zip(range(2, 7), means, errors, strict=True):
        assert abs(found[k].mean() - mean) < 4 * np.hypot(error, np.std(found[k]) / 10)


def test_native_kmeans_has_the_values_of_scikit_learn():
    rng = np.random.default_rng(0)
    fast = measured(WINE, (3, 5), "kmeans", LogisticRegression(), 60)
    for k in (3, 5):
        expected = [
            naive(WINE, KMeans(n_init=1, random_state=b), k, LogisticRegression(), rng)
            for b in range(60)
        ]
        error = np.hypot(np.std(expected), np.std(fast[k])) / np.sqrt(60)
        assert abs(np.mean(expected) - fast[k].mean()) < 4 * error + 0.02  # other starts


def test_separate_clusters_generalize_without_error():
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]], 10, axis=0)
    X = X + np.random.default_rng(0).normal(0, 0.1, X.shape)
    forest, nearest = RandomForestClassifier(10), KNeighborsClassifier(1)
    for clusterer in ("kmeans", AgglomerativeClustering()):
        scores = measured(X[:-1], (4, 21), clusterer, nearest, 5)
        np.testing.assert_array_equal(scores[4], 1.0)
        assert len(scores[21]) == 0  # a half has 19 objects
    same = measured(X, (2, 3), "kmeans", forest, 5), measured(X, (2, 3), "kmeans", forest, 5)
    for k in (2, 3):
        np.testing.assert_array_equal(same[0][k], same[1][k])
    assert same[0][3].mean() < 1.0


def test_a_number_is_chosen_by_the_one_standard_error_rule():
    X, _ = make_blobs(120, centers=3, cluster_std=0.5, random_state=1)
    quick = {"n_resamples": 10, "n_references": 19, "random_state": 0, "n_jobs": 1}
    found = choose(X, range(2, 5), classifier=KNeighborsClassifier(), **quick)
    assert found.number_by() == found.number_by(rule="max") == found.n_clusters == 3
    assert found.table["generalizability"][1] == pytest.approx(1.0)
    without = choose(X, range(2, 5), **quick)
    for name, column in without.table.items():
        np.testing.assert_array_equal(column, found.table[name])
    found.table.update(
        generalizability=np.array([0.70, 0.80, 0.78]), generalizability_se=np.full(3, 0.03)
    )
    assert (found.number_by(), found.number_by(rule="max")) == (4, 3)
    found.table.update(pac=np.array([0.10, 0.05, 0.30]), pac_se=np.full(3, 0.01))
    assert (found.number_by("pac"), found.number_by("pac", rule="max")) == (3, 3)
    found.table.update(pac_se=np.full(3, np.nan), silhouette_points=np.full(3, np.nan))
    assert found.number_by("pac") == 3
    for one, criterion in ((without, "generalizability"), (found, "silhouette_points")):
        with pytest.raises(ParameterError, match="'criterion' parameter of Selection"):
            one.number_by(criterion)
    with pytest.raises(ParameterError, match="'rule' parameter of Selection"):
        found.number_by(rule="quantile")
    with pytest.raises(ParameterError, match="'classifier' parameter of choose"):
        choose(X, classifier=KMeans())


def test_one_cluster_remains_one():
    X = np.random.default_rng(1).normal(size=(120, 3))
    found = choose(X, range(2, 4), classifier=KNeighborsClassifier(), n_resamples=5, random_state=0)
    assert np.isfinite(found.table["generalizability"]).all()
    assert found.number_by() == found.number_by("mean_ari") == found.n_clusters == 1
