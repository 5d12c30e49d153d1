"""DREC against columns solved one by one, a worked example, and its options."""

import numpy as np
import pytest
from tests.naive.linkage import random_labels
from tests.naive.refinement import dense_representation

from conclust import Ensemble
from conclust.consensus.literature.drec import _features, representation_affinity


def affinity(labels, penalty, *, weights=None):
    """That of all objects, by distinct rows."""
    start = Ensemble(labels, weights=weights).distinct_rows(noise="apart")
    actual = representation_affinity(_features(start.ensemble), penalty)
    return actual[np.ix_(start.inverse, start.inverse)]


def indicator(labels, weights=None):
    """One column per cluster, and one per noise object of a partition."""
    labels = np.asarray(labels)
    weights = np.ones(labels.shape[1]) if weights is None else weights / np.mean(weights)
    columns = []
    for column, weight in zip(labels.T, weights, strict=True):
        columns += [np.sqrt(weight) * (column == name) for name in np.unique(column[column >= 0])]
        columns += [
            np.sqrt(weight) * (np.arange(len(column)) == i) for i in np.flatnonzero(column == -2)
        ]
    return np.column_stack(columns).astype(float)


@pytest.mark.parametrize("penalty", [0.3, 3.0, 100.0])
@pytest.mark.parametrize(("n", "m"), [(40, 5), (9, 8)])
def test_factors_equal_columns_solved_one_by_one(penalty, n, m):
    # More rows than clusters, and fewer.
    labels = np.unique(random_labels(np.random.default_rng(1), n, m), axis=0)
    twin = dense_representation(indicator(labels), penalty)
    np.testing.assert_allclose(affinity(labels, penalty), twin, atol=1e-7)


def test_missing_noise_and_weights_match_the_naive_twin():
    rng = np.random.default_rng(2)
    labels = random_labels(rng, 25, 6, missing=0.2, noise=0.1)
    weights = rng.random(6) + 0.2
    start = Ensemble(labels).distinct_rows(noise="apart")
    X = indicator(labels, weights)[start.first]
    actual = affinity(labels, 3.0, weights=weights)[np.ix_(start.first, start.first)]
    np.testing.assert_allclose(actual, dense_representation(X, 3.0), atol=1e-7)
