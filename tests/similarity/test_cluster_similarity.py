"""Similarities of clusters, against worked examples, naive twins on sets, and limits."""

import numpy as np
import pytest
from tests.cases import E1, E2, E3
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
from conclust.similarity.mutual import averaging_indicator, quadratic_forms

CASES = [
    (missing, noise, weighted)
    for missing in (0.0, 0.3)
    for noise in (0.0, 0.2)
    for weighted in (False, True)
]


def dense(W):
    return W if isinstance(W, np.ndarray) else W.toarray()


def pairs(W, labels):
    """Similarities of objects implied by W, as means over partitions."""
    B = Ensemble(labels).indicator.toarray()
    return B @ dense(W) @ B.T / np.asarray(labels).shape[1]


def sample(missing, noise, weighted, n=14, m=5):
    rng = np.random.default_rng(17)
    labels = random_labels(rng, n, m, k=4, missing=missing, noise=noise)
    return labels, rng.integers(0, 4, m) / 2.0 + np.eye(m)[0] if weighted else None


# -- worked examples; the second partition of E2 begins with its cluster 0


@pytest.mark.parametrize(
    ("labels", "within", "between"),
    [
        (E1, [0.4, 0.4, 0.8], {(0, 1): 1.0, (0, 2): 0.6, (0, 3): 0.533333, (2, 3): 0.933333}),
        (E2, [0.685714, 0.777143, 0.8], {(0, 1): 0.933333, (0, 3): 0.754286, (3, 5): 0.925714}),
    ],
)
def test_connected_triples_match_the_worked_examples(labels, within, between):
    W = connected_triples(labels)
    np.testing.assert_allclose([W[0, 1], W[2, 3], W[4, 5]], within, atol=1e-6)
    for (i, j), value in between.items():
        assert pairs(W, labels)[i, j] == pytest.approx(value, abs=1e-6)


def test_triple_quality_matches_a_worked_example():
    W = triple_quality(E1)
    assert W[0, 1] == pytest.approx(0.381818, abs=1e-6)
    assert pairs(W, E1)[0, 2] == pytest.approx(0.587879, abs=1e-6)


@pytest.mark.parametrize(
    ("labels", "R", "between"),
    [
        (
            E1,
            {(0, 1): 0.743150, (0, 4): 0.930726, (1, 5): 0.940622},
            {(0, 1): 1.0, (0, 2): 0.828767, (0, 3): 0.770300, (2, 3): 0.941534},
        ),
        (
            E2,
            {},
            {(0, 1): 0.979708, (0, 3): 0.917452, (0, 5): 0.948186, (3, 5): 0.969267},
        ),
    ],
)
def test_trajectories_match_the_worked_examples(labels, R, between):
    actual = trajectory_similarity(labels)
    for (k, x), value in R.items():
        assert actual[k, x] == pytest.approx(value, abs=1e-6)
    partitions = Ensemble(labels).column_partitions
    S = pairs(np.where(partitions[:, None] == partitions, actual, 0.0), labels)
    for (i, j), value in between.items():
        assert S[i, j] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("labels", "n_iter", "between"),
    [
        (E1, 2, {(0, 1): 0.266667, (0, 2): 0.088889, (2, 3): 0.177778, (0, 3): 0.0}),
        (E1, 5, {(0, 1): 0.519541, (0, 2): 0.231076, (2, 3): 0.418713, (0, 3): 0.079328}),
        (E2, 5, {(0, 1): 0.364319, (1, 2): 0.420067, (3, 4): 0.454074, (0, 5): 0.237894}),
    ],
)
def test_simrank_matches_the_worked_examples(labels, n_iter, between):
    S = 0.8 * pairs(simrank(labels, n_iter=n_iter), labels) / 3
    for (i, j), value in between.items():
        assert S[i, j] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("labels", "between"),
    [
        (E1, {(0, 1): 0.777778, (0, 2): 0.366667, (2, 3): 0.469444, (0, 3): 0.147222}),
        (E2, {(0, 1): 0.554321, (1, 3): 0.563580}),
    ],
)
def test_approximate_simrank_matches_the_worked_examples(labels, between):
    S = pairs(approximate_simrank(labels), labels) / 3
    for (i, j), value in between.items():
        assert S[i, j] == pytest.approx(value, abs=1e-6)


# -- twins


@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
def test_similarities_match_their_naive_twins(missing, noise, weighted):
    labels, weights = sample(missing, noise, weighted)
    e = Ensemble(labels, weights=weights)
    for actual, expected in (
        (connected_triples(e, decay=0.7), naive.triples(labels, weights, 0.7)),
        (triple_quality(e, decay=0.7), naive.triples(labels, weights, 0.7, quality=True)),
        (approximate_simrank(e, decay=0.7), naive.approximate_simrank(labels, weights, 0.7)),
        (
            trajectory_similarity(e, n_steps=7, lazy=False),
            naive.trajectories(labels, 7, weights),
        ),
        (
            trajectory_similarity(e, n_steps=4, lazy=True),
            naive.trajectories(labels, 4, weights, lazy=True),
        ),
    ):
        np.testing.assert_allclose(dense(actual), expected, atol=1e-11)


@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
@pytest.mark.parametrize("n_iter", [2, 3, 4, 5, 6])
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


@pytest.mark.parametrize("n_steps", [1, 2, 3, 5, 16, 20, 33])
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
def test_similarities_are_symmetric_shares(function):
    W = dense(function(random_labels(np.random.default_rng(8), 60, 7, k=9)))
    np.testing.assert_array_equal(W, W.T)
    assert (W >= 0).all()
    assert (W <= 1).all()
    assert (np.diag(W) == 1).all()


@pytest.mark.parametrize("function", [connected_triples, triple_quality, approximate_simrank])
def test_without_decay_clusters_resemble_only_themselves(function):
    np.testing.assert_array_equal(dense(function(E2, decay=0.0)), np.eye(6))


def test_two_iterations_of_simrank_give_evidence_accumulation():
    np.testing.assert_array_equal(simrank(E2, n_iter=2), np.eye(6))


@pytest.mark.parametrize("function", ALL)
def test_clusters_of_one_partition_are_dissimilar(function):
    labels = np.array([[0], [0], [1], [2], [2]])
    np.testing.assert_array_equal(dense(function(labels)), np.eye(3))


@pytest.mark.parametrize("function", ALL)
def test_clusters_of_equal_partitions_are_dissimilar(function):
    W, partitions = dense(function(E3)), Ensemble(E3).column_partitions
    within = (partitions[:, None] == partitions) & ~np.eye(9, dtype=bool)
    assert (W[within] == 0).all()


@pytest.mark.parametrize("function", ALL)
def test_noise_has_no_cluster(function):
    assert dense(function(np.full((4, 2), -2))).shape == (0, 0)


def test_neighbours_meet_on_bipartite_graphs_only_if_walks_may_stay():
    labels = [[0, 0], [0, 1], [1, 1], [1, 1]]
    partitions = Ensemble(labels).column_partitions
    across = partitions[:, None] != partitions
    assert (trajectory_similarity(labels, lazy=False)[across] == 0).all()
    assert (trajectory_similarity(labels)[across] > 0.5).all()
    np.testing.assert_allclose(
        trajectory_similarity(labels), trajectory_similarity(labels, lazy=True), atol=1e-12
    )
    # Three partitions make triangles.
    np.testing.assert_array_equal(trajectory_similarity(E1), trajectory_similarity(E1, lazy=False))


def test_partitions_of_weight_0_are_left_out():
    labels = random_labels(np.random.default_rng(9), 30, 6)
    other = np.insert(labels, 2, np.arange(30) % 7, axis=1)
    weighted = Ensemble(other, weights=np.insert(np.ones(6), 2, 0.0))
    kept = weighted.column_weights > 0
    for function in ALL:
        actual = dense(function(weighted))[np.ix_(kept, kept)]
        np.testing.assert_allclose(actual, dense(function(labels)), atol=1e-12)


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
    monkeypatch.setattr("conclust.similarity.mutual._BLOCK_ENTRIES", 5 * V.shape[1])
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
        (trajectory_similarity, {"lazy": 1}),
    ],
)
def test_invalid_parameters_are_refused(function, given):
    with pytest.raises(
        ParameterError, match=rf"{next(iter(given))!r} parameter of {function.__name__}"
    ):
        function(E1, **given)


@pytest.mark.parametrize("function", ALL)
def test_too_many_clusters_are_refused(function, monkeypatch):
    monkeypatch.setattr("conclust.ensemble.products._MOST", 30)
    with pytest.raises(DenseLimitError, match=r"At most 30 are made\. Use fewer partitions"):
        function(E1)


def test_oversized_blocks_are_refused(monkeypatch):
    labels = np.arange(12)[:, None] % [12, 1]
    monkeypatch.setattr("conclust.ensemble.products._MOST", 80)
    for function in (connected_triples, triple_quality):
        with pytest.raises(DenseLimitError, match="partitions of fewer clusters"):
            function(labels)


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
