"""Certainty of objects, overlaps of clusters, and the order that shows blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import measures as naive

from conclust.exceptions import InputError
from conclust.membership import bridgeness, cluster_similarity, entropy, soft_centroids, vat_order


def dirichlet(n=60, k=4, seed=0, concentration=0.4):
    return np.random.default_rng(seed).dirichlet(np.full(k, concentration), size=n)


def test_entropy_lies_between_certain_and_uniform():
    rows = [[1, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0]]
    assert entropy(rows) == pytest.approx([0, 1, 0.5])
    assert entropy([[1.0], [1.0]]).tolist() == [0, 0]
    rng = np.random.default_rng(0)
    many = entropy(rng.dirichlet(np.ones(7), size=500))
    assert ((many > 0) & (many < 1)).all()
    assert entropy(np.eye(3, dtype=np.float32)).tolist() == [0, 0, 0]


def test_entropy_refuses_invalid_probabilities():
    with pytest.raises(InputError, match=r"row 1 with smallest value 0\.2 and sum 0\.5"):
        entropy([[0.5, 0.5], [0.2, 0.3]])


# ----------------------------------------------------------------------- bridgeness


def test_bridgeness_matches_its_definition():
    Y = dirichlet()
    expected = [1 - np.sqrt(4 / 3 * sum((y - 1 / 4) ** 2 for y in row)) for row in Y.tolist()]
    assert bridgeness(Y) == pytest.approx(expected)


# ------------------------------------------------------------- overlaps of clusters


def test_similarity_matches_its_definition():
    Y = dirichlet(30, 3)
    m = cluster_similarity(Y)
    for k in range(3):
        for other in range(3):
            shared = sum(Y[i, k] * Y[i, other] for i in range(30))
            assert m[k, other] == pytest.approx(shared / sum(Y[:, k]))
    np.testing.assert_allclose(m.sum(axis=1), 1)


def test_hard_clusters_have_zero_similarity():
    Y = np.eye(3)[[0, 0, 1, 2, 2]]
    np.testing.assert_array_equal(cluster_similarity(Y), np.eye(3))


def test_a_cluster_without_mass_has_no_similarity_and_no_centroid():
    Y = np.array([[1.0, 0, 0], [0.5, 0.5, 0]])
    m = cluster_similarity(Y)
    assert np.isnan(m[2]).all()
    assert m[:2, 2].tolist() == [0, 0]
    centroids = soft_centroids(Y, [[0.0, 1.0], [3.0, 1.0]])
    assert np.isnan(centroids[2]).all()
    assert centroids[:2].tolist() == [[1, 1], [3, 1]]


def test_centroids_match_their_definition():
    rng = np.random.default_rng(3)
    Y, X = dirichlet(40, 3), rng.normal(size=(40, 5))
    actual = soft_centroids(Y, X)
    for k in range(3):
        expected = sum(Y[i, k] * X[i] for i in range(40)) / sum(Y[:, k])
        assert actual[k] == pytest.approx(expected)
    hard = np.eye(3)[Y.argmax(axis=1)]
    means = [X[Y.argmax(axis=1) == k].mean(axis=0) for k in range(3)]
    assert soft_centroids(hard, X) == pytest.approx(np.array(means))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.zeros((3, 2)), "each of the 2 objects"),
        (np.zeros(2), "each of the 2 objects"),
        ([["a"], ["b"]], "must hold numbers"),
        ([[0.0], [np.nan]], "NaN in column 0"),
    ],
)
def test_invalid_points_are_refused(X, sentence):
    with pytest.raises(InputError, match=sentence):
        soft_centroids([[0.5, 0.5], [1.0, 0.0]], X)


# ------------------------------------------------------------------------------ order


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(1, 8), st.data())
def test_the_order_matches_its_definition(n, data):
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            D[i, j] = D[j, i] = data.draw(st.integers(0, 4))
    assert vat_order(D).tolist() == naive.vat_order(D.tolist())


def test_the_farthest_comes_first_and_the_diagonal_is_ignored():
    D = np.array([[9.0, 1, 2], [1, 9, 5], [2, 5, 9]])
    assert vat_order(D).tolist() == [1, 0, 2]
    np.fill_diagonal(D, np.nan)
    assert vat_order(D).tolist() == [1, 0, 2]
    assert vat_order(D.astype(np.float32)).tolist() == [1, 0, 2]


def test_more_objects_than_a_block_are_ordered():
    rng = np.random.default_rng(1)
    x = rng.permutation(1100)
    order = vat_order(np.abs(x[:, None] - x))
    assert x[order].tolist() in (list(range(1100)), list(range(1099, -1, -1)))


@pytest.mark.parametrize(
    ("D", "sentence"),
    [
        ([0, 1], "square"),
        ([[0, 1], [2, 0]], "symmetric"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([[0, 1j], [1j, 0]], "real"),
    ],
)
def test_invalid_dissimilarities_are_refused(D, sentence):
    with pytest.raises(InputError, match=sentence):
        vat_order(D)
