"""The nearest pairs, against a naive search of all pairs."""

import numpy as np
import pytest
from tests.cases import random_labels
from tests.naive import trajectories as naive

from conclust import Ensemble
from conclust.evidence import SparseEvidence, evidence, nearest, nearest_pairs
from conclust.evidence.nearest import _in_small_clusters
from conclust.exceptions import DenseLimitError, ParameterError, UnsupportedEnsembleError

# The last ones are counted with all objects at once if no label is missing.
SHAPES = [(30, 5, 3), (40, 70, 3), (120, 4, 90), (400, 12, 350), (259, 256, 2)]


@pytest.mark.parametrize(("missing", "noise"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.2), (0.2, 0.1)])
@pytest.mark.parametrize(("n", "m", "k"), SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_nearest_pairs_match_a_search_of_all_pairs(n, m, k, missing, noise, weighted):
    labels = random_labels(n + m, n, m, k, missing, noise)
    # Clusters of very different sizes: the search ends early for some objects.
    labels[:, 0] = np.where(labels[:, 0] > 1, labels[:, 0], np.minimum(labels[:, 0], 0))
    weights = np.random.default_rng(0).integers(1, 4, m) / 7.0 if weighted else None
    e = Ensemble(labels, weights=weights)
    c, N = (np.asarray(x, dtype=float) for x in evidence(e))
    S = np.divide(c, N, out=np.zeros_like(c), where=N > 0)
    np.fill_diagonal(S, 0.0)
    for per_object in (1, 3, n):
        expected = naive.elite(S, per_object)
        pairs = nearest_pairs(e, per_object)
        np.testing.assert_allclose(pairs.to_scipy().toarray(), expected, rtol=1e-12)
        assert pairs.n_pairs == np.count_nonzero(expected) // 2


def own_choices(labels, weights, per_object, most):
    """The partners of each object by a full search: most similar first, then by smaller clusters, then by order."""
    n, m = labels.shape
    S = naive.similarity(labels, weights)
    np.fill_diagonal(S, 0.0)
    chosen = np.zeros((n, n), bool)
    for i in range(n):
        worth = np.zeros(n)
        for u in range(m):
            if labels[i, u] >= 0:
                same = labels[:, u] == labels[i, u]
                worth += weights[u] * same / same.sum()
        near = [j for j in range(n) if S[i, j] > 0]
        near.sort(key=lambda j: (-round(S[i, j], 12), -round(worth[j], 12), (j - i) % n))
        last = sorted((S[i, j] for j in near), reverse=True)[:per_object][-1:] or [np.inf]
        ties = [j for j in near if S[i, j] >= last[0] - 1e-12]
        chosen[i, ties[:most]] = True
    return chosen


@pytest.mark.parametrize("most", [3, 5, 8])
@pytest.mark.parametrize(("missing", "noise", "weighted"), [(0.0, 0.0, False), (0.2, 0.1, True)])
def test_max_partners_limits_ties_as_defined(most, missing, noise, weighted):
    labels = random_labels(5, 60, 4, 3, missing, noise)
    weights = np.array([1.0, 3.0, 2.0, 1.0]) if weighted else np.ones(4)
    e = Ensemble(labels, weights=weights if weighted else None)
    chosen = own_choices(e.labels, weights, 3, most)
    pairs = nearest_pairs(e, 3, max_partners=most)
    np.testing.assert_array_equal(pairs.to_scipy().toarray() > 0, chosen | chosen.T)
    whole = nearest_pairs(e, 3).to_scipy().toarray()
    assert pairs.n_pairs < np.count_nonzero(whole) // 2
    kept = pairs.to_scipy().toarray()
    np.testing.assert_array_equal(kept[kept > 0], whole[kept > 0])
    # A bound that no object reaches changes nothing.
    np.testing.assert_array_equal(nearest_pairs(e, 3, max_partners=60).to_scipy().toarray(), whole)


def test_ties_are_ranked_in_blocks_of_any_size(monkeypatch):
    labels = random_labels(5, 60, 4, 3, 0.2, 0.1)
    whole = nearest_pairs(labels, 3, max_partners=5)
    # A block of one pair, and blocks that do not divide the number of pairs.
    for cells in (1, 28):
        monkeypatch.setattr("conclust.evidence.nearest._CELLS", cells)
        in_blocks = nearest_pairs(labels, 3, max_partners=5)
        np.testing.assert_array_equal(in_blocks.indices, whole.indices)
        np.testing.assert_array_equal(in_blocks.indptr, whole.indptr)
    # The first pair counts too: objects 0 and 1 are in one cluster of two, all others in one of four.
    few = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [1, 1], [1, 1]])
    sums = _in_small_clusters(Ensemble(few), np.array([0, 2]), np.array([1, 4]))
    assert sums.tolist() == [1 / 2 + 1 / 4, 1 / 4]


def test_objects_of_one_cluster_are_tied_to_adjacent_ones():
    actual = nearest_pairs(np.zeros((50, 2), int), 2, max_partners=2).to_scipy().toarray()
    np.testing.assert_array_equal(np.flatnonzero(actual[10]), [8, 9, 11, 12])


def test_counts_match_the_dense_evidence():
    e = Ensemble(random_labels(0, 50, 8, 4, 0.2))
    pairs = nearest_pairs(e, 4)
    SparseEvidence(pairs.indptr, pairs.indices, pairs.counts, pairs.copresence)  # checks the form
    c, N = evidence(e)
    rows = np.repeat(np.arange(50), pairs.lengths)
    np.testing.assert_array_equal(pairs.counts, c[rows, pairs.indices])
    np.testing.assert_array_equal(pairs.copresence, N[rows, pairs.indices])


def test_ties_are_kept_whatever_the_order_of_the_weights():
    # 0.1 + 0.2 and 0.3 are equal on paper: object 0 has two nearest ones.
    labels = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [2, 2, 2]])
    actual = nearest_pairs(Ensemble(labels, weights=[0.1, 0.2, 0.3]), 1).to_scipy().toarray()
    assert (actual[0] > 0).tolist() == [False, True, True, False]
    assert not actual[3].any()


def test_threads_change_no_bit():
    e = Ensemble(random_labels(5, 3000, 10, 20, 0.1))
    one, two = (nearest_pairs(e, 10, n_jobs=jobs) for jobs in (1, 3))
    for name in ("indptr", "indices", "counts", "copresence"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_invalid_arguments_are_refused():
    with pytest.raises(ParameterError, match="'max_partners' parameter of nearest_pairs"):
        nearest_pairs([[0], [0], [0], [0]], 3, max_partners=2)
    with pytest.raises(ParameterError, match="'per_object'"):
        nearest_pairs([[0], [1]], 0)
    soft = Ensemble.from_memberships([np.full((3, 2), 0.5)])
    with pytest.raises(UnsupportedEnsembleError, match="sample_pairs and evidence do"):
        nearest_pairs(soft)


@pytest.mark.parametrize("weights", [None, np.linspace(1, 2, 3)])
@pytest.mark.parametrize("n", [60, 700])
def test_too_many_ties_are_refused_before_all_are_found(monkeypatch, n, weights):
    ensemble = Ensemble(np.repeat([[0, 0, 1], [1, 1, 0]], n // 2, axis=0), weights=weights)
    n_pairs = n * (n // 2 - 1)
    monkeypatch.setattr(nearest, "_MOST", n_pairs)
    assert len(nearest_pairs(ensemble, 5).indices) == n_pairs
    bounded = nearest_pairs(ensemble, 5, max_partners=7)
    monkeypatch.setattr(nearest, "_MOST", n_pairs - 1)
    with pytest.raises(DenseLimitError, match=rf"max_partners=25 .* max_partners={n} to keep all"):
        nearest_pairs(ensemble, 5)
    assert len(nearest_pairs(ensemble, 5, max_partners=n).indices) == n_pairs
    in_blocks = nearest_pairs(ensemble, 5, max_partners=7)
    np.testing.assert_array_equal(in_blocks.indptr, bounded.indptr)
    np.testing.assert_array_equal(in_blocks.indices, bounded.indices)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("n", "m", "k"), SHAPES)
def test_partners_found_in_blocks_are_those_found_at_once(monkeypatch, n, m, k, missing):
    ensemble = Ensemble(random_labels(3, n, m, k, missing))
    bounded = nearest_pairs(ensemble, 4, max_partners=5)
    spans, kernel = [], nearest.NearestPairs

    def recorded(view, per_object, first, last, *rest):
        spans.append((first, last))
        return kernel(view, per_object, first, last, *rest)

    monkeypatch.setattr(nearest, "_MOST", 0)
    monkeypatch.setattr(nearest, "NearestPairs", recorded)
    in_blocks = nearest_pairs(ensemble, 4, max_partners=5)
    assert spans[1:] == [(first, min(first + 256, n)) for first in range(0, n, 256)]
    np.testing.assert_array_equal(in_blocks.indptr, bounded.indptr)
    np.testing.assert_array_equal(in_blocks.indices, bounded.indices)
