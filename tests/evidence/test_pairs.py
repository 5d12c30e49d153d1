"""Chosen and sampled pairs: counts against the naive twin, the pattern against its guarantees."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import labels_of_codes, random_codes
from tests.naive import evidence as naive

from conclust import Ensemble
from conclust._kernels import PairSample, graph_counts
from conclust._kernels import pair_counts as kernel_pair_counts
from conclust.ensemble.labels import label_view
from conclust.evidence import evidence, pair_counts, sample_pairs
from conclust.exceptions import InputError


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("m", [1, 7, 8, 17, 33, 64, 65, 130])
def test_kernel_equals_the_naive_twin(dtype, m):
    rng = np.random.default_rng(m)
    codes = random_codes(rng, 30, [4] * m, dtype, 0.2, 0.1)
    expected_c, expected_present = naive.counts(labels_of_codes(codes))
    i, j = rng.integers(0, 30, (2, 200))
    for index in (np.int32, np.int64):
        c, present = np.empty((2, 200), dtype=np.uint32)
        pairs = i.astype(index), j.astype(index)
        kernel_pair_counts(label_view(codes), *pairs, c, present, 2)
        np.testing.assert_array_equal(c, expected_c[i, j])
        np.testing.assert_array_equal(present, expected_present[i, j])
    weights = rng.random(m)
    expected_c, expected_present = naive.counts(labels_of_codes(codes), weights)
    c, present = np.empty((2, 200))
    kernel_pair_counts(label_view(codes, weights=weights), i, j, c, present, 1)
    np.testing.assert_allclose(c, expected_c[i, j], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(present, expected_present[i, j], rtol=1e-14, atol=1e-14)
    assert (c <= present).all()


def test_counts_on_a_graph_take_rows_of_any_length():
    # Empty rows at the beginning, in the middle and at the end; more entries than one task has.
    rng = np.random.default_rng(0)
    codes = random_codes(rng, 200, [4] * 20, np.uint8, 0.2, 0.1)
    sizes = rng.integers(0, 150, 200) * (rng.random(200) < 0.8)
    sizes[[0, 1, 100, 199]] = 0
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    assert indptr[-1] > 8192
    indices = rng.integers(0, 200, indptr[-1]).astype(np.int32)
    i = np.repeat(np.arange(200), sizes)
    for threads in (1, 2, 4):
        c, present = np.empty((2, indptr[-1]), dtype=np.uint32)
        graph_counts(label_view(codes), indptr, indices, c, present, threads)
        expected = pair_counts(labels_of_codes(codes), i, indices)
        np.testing.assert_array_equal(c, expected[0])
        np.testing.assert_array_equal(present, expected[1])


@pytest.mark.parametrize("weights", [None, [0.5, 0.25, 2.0, 1.0]])
@pytest.mark.parametrize("soft", [False, True])
def test_pairs_equal_the_dense_matrix(weights, soft):
    rng = np.random.default_rng(1)
    if soft:
        members = [rng.dirichlet(np.ones(k), 50) for k in (2, 3, 4, 5)]
        for member in members:
            member[rng.random(50) < 0.3] = np.nan
        ensemble = Ensemble.from_memberships(members, weights=weights)
    else:
        ensemble = Ensemble(
            labels_of_codes(random_codes(rng, 50, [4] * 4, np.uint8, 0.2, 0.1)), weights=weights
        )
    dense_c, dense_present = evidence(ensemble)
    i, j = np.divmod(np.arange(2500), 50)
    c, present = pair_counts(ensemble, i, j)
    np.testing.assert_allclose(c, dense_c.ravel(), rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(present, dense_present.ravel())
    assert c.dtype == (np.float64 if soft or weights else np.int32)
    assert present.dtype == (np.float64 if weights else np.int32)

    sample = sample_pairs(ensemble, 10, random_state=0)
    rows = np.repeat(np.arange(50), np.diff(sample.indptr))
    np.testing.assert_allclose(sample.counts, dense_c[rows, sample.indices], rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(sample.copresence, dense_present[rows, sample.indices])
    assert (sample.copresence > 0).all()


def test_empty_pairs_and_any_index_type_are_accepted():
    c, present = pair_counts([[0, 0], [0, 1]], [], [])
    assert len(c) == len(present) == 0
    for dtype in (np.uint8, np.int16, np.uint64):
        index = np.array([0, 1, 9, 1])[::2].astype(dtype) % 2
        c, present = pair_counts([[0, 0], [0, 1]], index, [1, 1])
        np.testing.assert_array_equal(c, [1, 2])


@pytest.mark.parametrize(
    ("i", "j", "message"),
    [
        ([0], [3], r"^j must hold objects from 0 to 2\. Got 3 to 3 instead"),
        ([-1], [0], r"^i must hold objects from 0 to 2\. Got -1 to -1"),
        ([0, 1], [0], r"of the same length\. Got 2 and 1"),
        ([0.0], [1], r"^i must be a vector of ints"),
        ([[0]], [1], r"^i must be a vector of ints.* shape \(1, 1\)"),
        ([True], [1], r"^i must be a vector of ints"),
    ],
)
def test_invalid_pairs_are_refused(i, j, message):
    with pytest.raises(InputError, match=message):
        pair_counts([[0, 0], [0, 1], [1, 1]], i, j)


def pattern(n, per_object, seed, threads=1):
    sample = PairSample(n, per_object, seed, threads)
    indptr = np.empty(n + 1, dtype=np.int64)
    indices = np.empty(sample.n_entries, dtype=np.int32)
    sample.read(indptr, indices, threads)
    return indptr, indices


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(2, 150), st.integers(1, 150), st.integers(0, 2**64 - 1))
def test_a_pattern_is_symmetric_and_has_enough_pairs(n, per_object, seed):
    indptr, indices = pattern(n, per_object, seed)
    graph = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
    assert graph.has_canonical_format  # sorted, without duplicates
    assert graph.diagonal().sum() == 0
    assert (graph != graph.T).nnz == 0
    assert np.diff(indptr).min() >= min(per_object, n - 1)
    assert len(indices) <= 2 * n * min(per_object, n - 1)


@pytest.mark.parametrize(("n", "per_object"), [(500, 10), (300, 100)])
def test_the_pattern_depends_on_the_seed_only(n, per_object):
    one = pattern(n, per_object, 7)
    for threads in (2, 3, 4):
        for a, b in zip(one, pattern(n, per_object, 7, threads), strict=True):
            np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one[1], pattern(n, per_object, 8)[1])


@pytest.mark.parametrize("per_object", [3, 70])
def test_sampling_is_uniform(per_object):
    # Over many seeds each pair occurs equally often: chi-squared of n (n - 1) / 2 cells.
    n, repeats = 80, 600
    seen = np.zeros((n, n))
    for seed in range(repeats):
        indptr, indices = pattern(n, per_object, seed)
        seen[np.repeat(np.arange(n), np.diff(indptr)), indices] += 1
    # Either draws the other: 1 - (1 - k / (n - 1))^2.
    p = 1 - (1 - per_object / (n - 1)) ** 2
    cells = seen[np.triu_indices(n, 1)]
    chi2 = ((cells - repeats * p) ** 2 / (repeats * p * (1 - p))).sum()
    freedom = len(cells)
    assert abs(chi2 - freedom) < 5 * np.sqrt(2 * freedom)


def test_sampled_pairs_count_like_all_pairs():
    rng = np.random.default_rng(3)
    labels = labels_of_codes(random_codes(rng, 400, [4] * 12, np.uint8, 0.2, 0.1))
    sample = sample_pairs(labels, 20, random_state=5)
    assert sample.n_samples == 400
    assert 2 * sample.n_pairs == len(sample.indices) == sample.indptr[-1]
    assert np.diff(sample.indptr).min() >= 20
    frequency = sample.to_scipy()
    rows = np.repeat(np.arange(400), np.diff(sample.indptr))
    c, present = evidence(labels)
    np.testing.assert_array_equal(
        frequency[rows, sample.indices], (c / present)[rows, sample.indices]
    )
    assert frequency.nnz == len(sample.indices)
    for n_jobs in (1, 4):
        repeated = sample_pairs(labels, 20, random_state=5, n_jobs=n_jobs)
        np.testing.assert_array_equal(repeated.indices, sample.indices)
        np.testing.assert_array_equal(repeated.counts, sample.counts)
    other = sample_pairs(labels, 20, random_state=6)
    assert not np.array_equal(other.indices, sample.indices)


def test_pairs_without_evidence_are_left_out():
    labels = [[0, -1], [0, -1], [-1, 0], [-1, 0]]
    sample = sample_pairs(labels, 3, random_state=0)
    np.testing.assert_array_equal(sample.indptr, [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(sample.indices, [1, 0, 3, 2])
    np.testing.assert_array_equal(sample.copresence, 1)


def test_evidence_of_all_pairs_and_of_a_pattern_are_equal():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, (40, 7))
    labels[rng.random((40, 7)) < 0.3] = -1
    labels[:, 0] = 0  # all pairs were observed together
    dense, sparse = evidence(labels), sample_pairs(labels, 39, random_state=0)
    apart = ~np.eye(40, dtype=bool)
    assert dense.of_all_pairs
    assert not sparse.of_all_pairs
    assert dense.n_samples == sparse.n_samples == 40
    for one, other in zip(
        (*dense.matrices(), dense.excess(3)), (*sparse.matrices(), sparse.excess(3)), strict=True
    ):
        np.testing.assert_array_equal(one * apart, other.toarray())
    # Entries that are not pairs have N = 0.
    totals = [
        np.sum([[c[N > 0].sum(), N.sum()] for c, N in pair_evidence.entries()], axis=0)
        for pair_evidence in (dense, sparse)
    ]
    np.testing.assert_array_equal(totals[0], totals[1])
    np.testing.assert_array_equal(sparse.lengths, 39)
    np.testing.assert_array_equal(dense.lengths, 40)
