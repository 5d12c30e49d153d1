"""Similarities of clusters, against worked examples, naive twins on sets, and limits."""

import numpy as np
import pytest
from tests.cases import E1
from tests.naive import similarity as naive
from tests.naive.linkage import random_labels

from conclust import Ensemble
from conclust.exceptions import DenseLimitError, ParameterError
from conclust.similarity import (
    approximate_simrank,
    cluster_jaccard,
    common_neighbours,
    connected_triples,
    simrank,
    trajectory_similarity,
    triple_quality,
)
from conclust.spectra.gram import averaging_indicator, quadratic_forms

CASES = [(0.0, 0.0, False), (0.3, 0.0, True), (0.0, 0.2, True), (0.3, 0.2, False)]


def dense(W):
    return W if isinstance(W, np.ndarray) else W.toarray()


def sample(missing, noise, weighted, n=14, m=5):
    rng = np.random.default_rng(17)
    labels = random_labels(rng, n, m, k=4, missing=missing, noise=noise)
    return labels, rng.integers(0, 4, m) / 2.0 + np.eye(m)[0] if weighted else None


# -- worked examples; the second partition of E2 begins with its cluster 0


# -- twins


@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
def test_similarities_match_their_naive_twins(missing, noise, weighted):
    labels, weights = sample(missing, noise, weighted)
    e = Ensemble(labels, weights=weights)
    for actual, expected in (
        (connected_triples(e, decay=0.7), naive.triples(labels, weights, 0.7)),
        (triple_quality(e, decay=0.7), naive.triples(labels, weights, 0.7, quality=True)),
        (approximate_simrank(e, decay=0.7), naive.approximate_simrank(labels, weights, 0.7)),
        (trajectory_similarity(e, n_steps=7), naive.trajectories(labels, 7, weights)),
    ):
        np.testing.assert_allclose(dense(actual), expected, atol=1e-11)


@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
@pytest.mark.parametrize("n_iter", [2, 5])
def test_simrank_matches_the_naive_twin(missing, noise, weighted, n_iter):
    labels, weights = sample(missing, noise, weighted, n=9, m=4)
    e = Ensemble(labels, weights=weights)
    S, C = naive.simrank(labels, n_iter, weights, 0.7)
    actual = simrank(e, decay=0.7, n_iter=n_iter)
    np.testing.assert_allclose(actual, C, atol=1e-13)
    V = averaging_indicator(e).toarray()
    seen = 0.7 * V @ actual @ V.T
    np.fill_diagonal(seen, 1.0)
    np.testing.assert_allclose(seen, S, atol=1e-13)


@pytest.mark.parametrize("n_steps", [1, 5, 33])
def test_all_steps_at_once_equal_their_sum(n_steps):
    labels = random_labels(np.random.default_rng(3), 40, 8, k=6)
    actual = trajectory_similarity(labels, n_steps=n_steps)
    np.testing.assert_allclose(actual, naive.trajectories(labels, n_steps), atol=1e-12)


def test_repeated_objects_change_nothing_of_simrank():
    labels = np.repeat(random_labels(np.random.default_rng(5), 6, 4), [1, 3, 1, 2, 1, 4], axis=0)
    np.testing.assert_allclose(simrank(labels), naive.simrank(labels, 5)[1], atol=1e-13)


def test_memberships_of_0_and_1_equal_labels():
    labels = random_labels(np.random.default_rng(6), 20, 4)
    hard = Ensemble(labels)
    soft = Ensemble.from_memberships(
        [np.eye(k)[c] for k, c in zip(hard.cluster_counts, hard.labels.T, strict=True)]
    )
    for function in (
        connected_triples,
        triple_quality,
        trajectory_similarity,
        simrank,
        approximate_simrank,
        cluster_jaccard,
    ):
        np.testing.assert_allclose(dense(function(soft)), dense(function(hard)), atol=1e-12)


# -- limits and invariants

ALL = [connected_triples, triple_quality, trajectory_similarity, simrank, approximate_simrank]


@pytest.mark.parametrize("function", ALL)
def test_noise_has_no_cluster(function):
    assert dense(function(np.full((4, 2), -2))).shape == (0, 0)


def test_neighbours_meet_on_bipartite_graphs():
    labels = [[0, 0], [0, 1], [1, 1], [1, 1]]
    partitions = Ensemble(labels).column_partitions
    across = partitions[:, None] != partitions
    assert (trajectory_similarity(labels)[across] > 0.5).all()
    np.testing.assert_allclose(
        trajectory_similarity(labels, n_steps=4),
        naive.trajectories(labels, 4, lazy=True),
        atol=1e-12,
    )


def test_a_large_cluster_of_weight_0_does_not_set_the_scale():
    labels = np.random.default_rng(0).integers(0, 6, (40, 4))
    # A cluster of all objects overlaps with every other.
    with_one = Ensemble(np.column_stack([labels, np.zeros(40, int)]), weights=[1, 1, 1, 1, 0])
    for function in [*ALL, common_neighbours]:
        T = len(with_one.column_weights) - 1
        actual = dense(function(with_one))[:T, :T]
        np.testing.assert_allclose(actual, dense(function(labels)), atol=1e-12)


def test_weights_of_triples_act_as_repetitions():
    labels = random_labels(np.random.default_rng(10), 30, 4)
    e = Ensemble(labels, weights=[1.0, 2.0, 1.0, 3.0])
    repeated = Ensemble(np.repeat(labels, [1, 2, 1, 3], axis=1))
    places = zip(repeated.offsets[[0, 1, 3, 4]], e.cluster_counts, strict=True)
    first = np.concatenate([begin + np.arange(k) for begin, k in places])
    actual = dense(connected_triples(repeated))[np.ix_(first, first)]
    np.testing.assert_allclose(dense(connected_triples(e)), actual, atol=1e-12)


def test_quadratic_forms_by_blocks_are_exact(monkeypatch):
    V = averaging_indicator(Ensemble(random_labels(np.random.default_rng(1), 23, 4)))
    W = np.random.default_rng(2).random((V.shape[1], V.shape[1]))
    monkeypatch.setattr("conclust.similarity.jaccard._BLOCK_ENTRIES", 5 * V.shape[1])
    expected = np.diag(V.toarray() @ (W + W.T) @ V.toarray().T)
    np.testing.assert_allclose(quadratic_forms(V, W + W.T), expected, atol=1e-13)


# -- refusals


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (connected_triples, {"decay": 1.5}),
        (triple_quality, {"decay": -0.1}),
        (simrank, {"decay": "a"}),
        (simrank, {"n_iter": 1}),
        (approximate_simrank, {"decay": 2}),
        (trajectory_similarity, {"n_steps": 0}),
    ],
)
def test_invalid_parameters_are_refused(function, given):
    with pytest.raises(
        ParameterError, match=rf"{next(iter(given))!r} parameter of {function.__name__}"
    ):
        function(E1, **given)


@pytest.mark.parametrize("function", ALL)
def test_too_many_clusters_are_refused(function, monkeypatch):
    monkeypatch.setattr("conclust.ensemble.derived._MOST", 30)
    with pytest.raises(DenseLimitError, match=r"At most 30 are allowed\. Use fewer partitions"):
        function(E1)


def test_triple_quality_handles_partitions_with_little_overlap():
    # Each cluster has a third of each of the other partition in common, a Jaccard coefficient of 1/5: degrees below 1.
    labels = np.column_stack([np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)])
    actual = triple_quality(labels, decay=0.7).toarray()
    np.testing.assert_allclose(actual, naive.triples(labels, None, 0.7, quality=True), atol=1e-12)
    assert (actual[0, 1:3] > 0).all()


def test_jaccard_in_blocks_equals_the_full_matrix(monkeypatch):
    labels = random_labels(np.random.default_rng(5), 40, 6, missing=0.2, noise=0.1)
    whole = cluster_jaccard(Ensemble(labels)).toarray()
    monkeypatch.setattr("conclust.spectra.gram._ENTRIES", 1)
    monkeypatch.setattr("conclust.spectra.gram._BLOCK", 200)
    np.testing.assert_array_equal(cluster_jaccard(Ensemble(labels)).toarray(), whole)
