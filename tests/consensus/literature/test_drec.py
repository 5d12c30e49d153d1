"""DREC against columns solved one by one, a worked example, and its options."""

import numpy as np
import pytest
from tests.cases import E2, planted
from tests.naive.linkage import random_labels
from tests.naive.refinement import dense_representation

from conclust import DREC, Ensemble
from conclust.consensus.literature.drec import _features, representation_affinity
from conclust.exceptions import DenseLimitError, ParameterError
from conclust.metrics import adjusted_rand_index


def affinity(labels, penalty, *, weights=None, weighted=False):
    """That of all objects, by distinct rows."""
    start = Ensemble(labels, weights=weights).distinct_rows(noise="apart")
    masses = start.masses if weighted else np.ones(len(start))
    actual = representation_affinity(_features(start.ensemble), penalty, masses)
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


def test_the_worked_example_is_reproduced():
    A = representation_affinity(
        Ensemble(np.unique(E2, axis=0)).indicator, 100.0, np.ones(4)
    )  # 000, 001, 101, 111
    assert A[0, 1] == pytest.approx(0.193820, abs=1e-6)
    assert A[0, 2] == pytest.approx(0.011749, abs=1e-6)
    assert A[1, 2] == pytest.approx(0.193002, abs=1e-6)
    np.testing.assert_allclose(np.diag(A), 1.0)


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


def test_weighted_rows_stand_for_objects():
    labels = np.unique(random_labels(np.random.default_rng(3), 12, 4), axis=0)
    times = np.random.default_rng(4).integers(1, 5, len(labels))
    many = np.repeat(labels, times, axis=0)
    twin = dense_representation(indicator(many), 0.5)
    np.testing.assert_allclose(affinity(many, 0.5, weighted=True), twin, atol=1e-7)
    # As published every row counts once.
    place = np.repeat(np.arange(len(labels)), times)
    once = affinity(labels, 0.5)[np.ix_(place, place)]
    np.testing.assert_allclose(affinity(many, 0.5), once, atol=1e-9)
    assert np.abs(once - twin).max() > 1e-3


def test_a_large_penalty_makes_the_residuals_zero():
    labels = np.unique(random_labels(np.random.default_rng(5), 40, 6), axis=0)
    K = indicator(labels) @ indicator(labels).T
    e, U = np.linalg.eigh(K)
    ridge = e / (e + 2 * 1e4 * np.sqrt(6))
    rows = U[:, ridge > 1e-4 * ridge.max()] * np.sqrt(ridge[ridge > 1e-4 * ridge.max()])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(affinity(labels, 1e4), (rows @ rows.T) ** 4, atol=1e-3)


def test_few_rows_become_separate_clusters():
    labels = np.repeat([[0, 0], [1, 1], [2, 0]], 4, axis=0)
    model = DREC(5, random_state=0).fit(labels)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], 4))


def test_partitions_without_weight_have_no_effect():
    labels, truth = planted(n=60, m=8, flip=0.15)
    other = np.random.default_rng(0).integers(0, 30, 60)
    ensemble = Ensemble(np.column_stack([labels, other]), weights=np.append(np.ones(8), 0.0))
    a, b = DREC(3, random_state=0).fit(ensemble), DREC(3, random_state=0).fit(labels)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert adjusted_rand_index(truth, a.labels_) > 0.8


def test_too_many_rows_for_a_dense_matrix_are_refused():
    with pytest.raises(DenseLimitError, match=r"DREC cuts a matrix of all pairs of the 8 .*LWGP"):
        DREC(2, max_dense=7).fit(np.arange(12).reshape(-1, 1) % 8)


@pytest.mark.parametrize(
    "given", [{"penalty": 0}, {"weighted": 1}, {"n_init": 0}, {"max_dense": 0}]
)
def test_invalid_parameters_are_refused(given):
    with pytest.raises(ParameterError, match=f"{next(iter(given))!r} parameter of DREC"):
        DREC(2, **given).fit(E2)
