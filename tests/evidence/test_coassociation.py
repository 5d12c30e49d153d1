"""Co-association and co-presence: every form of the kernel against the naive twin, and the API."""

import numpy as np
import pytest
from tests.cases import E1, labels_of_codes, random_codes
from tests.naive import evidence as naive

from conclust import Ensemble, coassociation, copresence
from conclust._kernels import BitSlices, bitslice_forms
from conclust.ensemble.labels import label_view
from conclust.evidence import (
    coassociation_blocks,
    dense,
    evidence,
    frequencies,
    pair_counts,
    sample_pairs,
)
from conclust.exceptions import DenseLimitError, InputError, ParameterError

FORMS = bitslice_forms()


def broadcast_counts(codes):
    """A second oracle, fast enough for hundreds of objects and partitions."""
    labels = labels_of_codes(codes)
    c = sum(np.equal.outer(x, x) & (x >= 0)[:, None] for x in labels.T)
    present = sum(np.logical_and.outer(x != -1, x != -1) for x in labels.T)
    return np.asarray(c, dtype=np.int64), np.asarray(present, dtype=np.int64)


def kernel_counts(codes, form, threads=1, rows=None, count=None):
    n, m = codes.shape
    begin, end = rows or (0, n)
    count = count or (np.uint8 if m <= 255 else np.uint16)
    c, present = (np.full((end - begin, n), 77, dtype=count) for _ in range(2))
    BitSlices(label_view(codes), threads).coassociation(begin, end, c, present, threads, form)
    return c, present


def test_the_portable_form_is_always_available():
    assert FORMS[-1] == "portable"
    assert len(FORMS) == len(set(FORMS))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize(
    ("n", "clusters", "dtype"),
    [
        (1, [1], np.uint8),
        (2, [2, 1], np.uint8),
        (5, [3] * 7, np.uint8),
        (63, [2, 3, 4, 5, 6, 7, 8, 9, 17], np.uint8),
        (64, [10] * 8, np.uint16),
        (65, [1, 250, 33, 2] * 4, np.uint8),
        (130, [300, 2, 5] * 5, np.uint16),
        (70, [70000, 3], np.uint32),
    ],
)
def test_forms_equal_the_naive_twin(form, missing, noise, n, clusters, dtype):
    codes = random_codes(np.random.default_rng(n), n, clusters, dtype, missing, noise)
    c, present = kernel_counts(codes, form)
    expected_c, expected_present = naive.counts(labels_of_codes(codes))
    np.testing.assert_array_equal(c, expected_c)
    np.testing.assert_array_equal(present, expected_present)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("m", [1, 247, 248, 249, 255, 256, 257, 600])
def test_forms_flush_before_bytes_overflow(form, missing, m):
    # Objects 0 and 1 differ everywhere, 2 and 3 nowhere: the extremes of the byte accumulators.
    rng = np.random.default_rng(m)
    codes = random_codes(rng, 71, [2 + u % 11 for u in range(m)], np.uint8, missing)
    codes[:2] = [[0], [1]]
    codes[2:4] = 1
    expected_c, expected_present = broadcast_counts(codes)
    for count in [np.uint8] * (m <= 255) + [np.uint16, np.uint32]:
        c, present = kernel_counts(codes, form, count=count)
        np.testing.assert_array_equal(c, expected_c)
        np.testing.assert_array_equal(present, expected_present)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_blocks_and_threads_do_not_change_counts(form, threads):
    codes = random_codes(np.random.default_rng(5), 333, [12] * 40, np.uint8, 0.2, 0.1)
    expected_c, expected_present = broadcast_counts(codes)
    for begin, end in [(0, 333), (0, 1), (332, 333), (17, 86), (63, 128), (5, 5)]:
        c, present = kernel_counts(codes, form, threads, (begin, end))
        np.testing.assert_array_equal(c, expected_c[begin:end])
        np.testing.assert_array_equal(present, expected_present[begin:end])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [383, 384, 385, 400, 781])
def test_whole_matrices_are_mirrored_square_by_square(form, n):
    # Squares of 384 objects; 400 and 781 leave remainders that are and are not multiples of 16.
    codes = random_codes(np.random.default_rng(n), n, [3, 12, 40] * 7, np.uint8, 0.3, 0.1)
    expected_c, expected_present = broadcast_counts(codes)
    for threads in (1, 3):
        c, present = kernel_counts(codes, form, threads)
        np.testing.assert_array_equal(c, expected_c)
        np.testing.assert_array_equal(present, expected_present)
        alone = np.full_like(c, 77)
        BitSlices(label_view(codes), 1).coassociation(0, n, alone, None, threads, form)
        np.testing.assert_array_equal(alone, c)


@pytest.mark.parametrize("form", FORMS)
def test_either_count_can_be_made_alone(form):
    codes = random_codes(np.random.default_rng(6), 150, [5] * 20, np.uint8, 0.2)
    both = kernel_counts(codes, form)
    slices = BitSlices(label_view(codes), 1)
    c, present = np.empty_like(both[0]), np.empty_like(both[1])
    slices.coassociation(0, 150, c, None, 1, form)
    slices.coassociation(0, 150, None, present, 1, form)
    np.testing.assert_array_equal(c, both[0])
    np.testing.assert_array_equal(present, both[1])


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weighted_forms_and_threads_agree_to_the_bit(missing):
    rng = np.random.default_rng(7)
    codes = random_codes(rng, 201, [2, 9, 30, 5] * 7, np.uint8, missing, 0.1)
    weights = rng.random(28)
    results = []
    for form in FORMS:
        for threads in (1, 2, 4):
            c, present = np.empty((150, 201)), np.empty((150, 201))
            BitSlices(label_view(codes), threads).weighted_coassociation(
                weights, 20, 170, c, present, threads, form
            )
            results.append((c.tobytes(), present.tobytes()))
            one = np.empty((150, 201))
            BitSlices(label_view(codes), 1).weighted_coassociation(
                weights, 20, 170, one, None, threads, form
            )
            assert one.tobytes() == c.tobytes()
    assert len(set(results)) == 1
    expected = naive.counts(labels_of_codes(codes), weights)
    np.testing.assert_allclose(c, np.array(expected[0])[20:170], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(present, np.array(expected[1])[20:170], rtol=1e-14, atol=1e-14)
    assert (c <= present).all()


# -- the public functions


@pytest.mark.parametrize(("m", "dtype"), [(1, np.int16), (16383, np.int16), (16384, np.int32)])
def test_counts_are_signed_and_wide_enough_for_sums_of_two(m, dtype):
    c, present = evidence(np.zeros((2, m), dtype=np.uint8))
    assert c.dtype == present.dtype == dtype
    assert (c == m).all()
    assert (present == m).all()
    assert (1 - c == 1 - m).all()
    assert (c + present == 2 * m).all()


def test_differences_of_counts_do_not_overflow():
    labels = np.random.default_rng(0).integers(0, 3, (30, 100))
    labels[:, 70:][:5] = -1
    c, present = naive.counts(labels)
    np.testing.assert_array_equal(1 - coassociation(labels), 1 - c)
    pair_evidence = evidence(labels)
    np.testing.assert_array_equal(pair_evidence.counts - pair_evidence.copresence, c - present)
    some = pair_counts(labels, [0, 7], [1, 9])
    np.testing.assert_array_equal(some[0] - some[1], (c - present)[[0, 7], [1, 9]])
    sample = sample_pairs(labels, 2, random_state=0)
    i = np.repeat(np.arange(30), np.diff(sample.indptr))
    expected = (c - present)[i, sample.indices]
    np.testing.assert_array_equal(sample.counts - sample.copresence, expected)


@pytest.mark.parametrize("weights", [None, [0.5, 2.0, 1.0, 0.25, 1.0, 3.0]])
def test_shares_are_counts_divided_by_copresence(weights, monkeypatch):
    labels = labels_of_codes(
        random_codes(np.random.default_rng(8), 70, [4] * 6, np.uint8, 0.6, 0.1)
    )
    ensemble = Ensemble(labels, weights=weights)
    c, present = naive.counts(labels, weights)
    with np.errstate(invalid="ignore"):
        expected = c / present
    assert np.isnan(expected).any()
    monkeypatch.setattr(dense, "_BLOCK_BYTES", 70 * 8 * 9)  # nine rows of doubles
    shares = coassociation(ensemble, normalize=True)
    assert shares.dtype == np.float64
    np.testing.assert_allclose(shares, expected, rtol=1e-12)
    np.testing.assert_array_equal(shares, shares.T)
    part = coassociation(ensemble, normalize=True, rows=slice(11, 40))
    np.testing.assert_array_equal(part, shares[11:40])
    with pytest.raises(DenseLimitError, match="70 objects"):
        coassociation(ensemble, normalize=True, max_dense=69)
    with pytest.raises(ParameterError, match="'normalize' parameter of coassociation must be a bo"):
        coassociation(ensemble, normalize=1)


@pytest.mark.parametrize("dtype", ["int8", np.uint32])
def test_counts_can_have_a_requested_type(dtype):
    labels = np.random.default_rng(10).integers(-1, 3, (50, 127))
    c, present = evidence(labels)
    for actual, expected in (
        (coassociation(labels, dtype=dtype), c),
        (copresence(labels, dtype=dtype), present),
        (evidence(labels, dtype=dtype).counts, c),
    ):
        assert actual.dtype == dtype
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", ["int8", "float32", "nonsense"])
def test_types_that_cannot_hold_counts_are_refused(dtype):
    labels = np.zeros((3, 128), dtype=int)
    with pytest.raises(
        ParameterError, match="'dtype' parameter of coassociation must be an integer"
    ):
        coassociation(labels, dtype=dtype)
    weighted = Ensemble(labels, weights=np.ones(128))
    with pytest.raises(ParameterError, match="None where the ensemble has weights"):
        copresence(weighted, dtype=np.int16)


def test_rows_and_blocks_match_the_full_matrix():
    ensemble = Ensemble(
        labels_of_codes(random_codes(np.random.default_rng(1), 100, [4] * 9, np.uint8, 0.3))
    )
    c, present = evidence(ensemble)
    np.testing.assert_array_equal(coassociation(ensemble, rows=slice(10, 30)), c[10:30])
    np.testing.assert_array_equal(coassociation(ensemble, rows=slice(-5, None)), c[-5:])
    np.testing.assert_array_equal(copresence(ensemble, rows=range(99, 100)), present[99:])
    for block_rows in (None, 1, 33, 1000):
        blocks = list(coassociation_blocks(ensemble, block_rows=block_rows))
        assert [i for block in blocks for i in block.rows] == list(range(100))
        np.testing.assert_array_equal(np.vstack([block.counts for block in blocks]), c)
        np.testing.assert_array_equal(np.vstack([block.copresence for block in blocks]), present)


@pytest.mark.parametrize(
    "rows", [slice(0, 5), slice(0, 4, 2), slice(2, 2), slice(0.0, 2.0), range(-1, 2), [0, 1], 2]
)
def test_rows_need_not_be_consecutive(rows):
    with pytest.raises(InputError, match=r"rows must be a slice or range .* between 0 and 4\. Got"):
        coassociation(E1, rows=rows)


def test_the_dense_limit_error_names_alternatives():
    for function in (coassociation, copresence, evidence):
        with pytest.raises(DenseLimitError, match=r"max_dense=3\..*rows=.*sample_pairs.*PCC"):
            function(E1, max_dense=3)
        assert len(function(E1, max_dense=3, rows=slice(0, 1))) > 0
        assert len(function(E1, max_dense=None)) > 0
    with pytest.raises(ParameterError, match="The 'max_dense' parameter of coassociation must be"):
        coassociation(E1, max_dense=0)
    with pytest.raises(ParameterError, match="The 'block_rows' parameter of coassociation_blocks"):
        coassociation_blocks(E1, block_rows=0)
    with pytest.raises(ParameterError, match="The 'n_jobs' parameter of evidence"):
        evidence(E1, n_jobs=0)


def soft_members(rng, n, clusters, absent):
    members = [rng.dirichlet(np.ones(k), n) for k in clusters]
    for member in members:
        member[rng.random(n) < absent] = 0.0
    return members


@pytest.mark.parametrize("weights", [None, [0.5, 1.0, 0.25]])
def test_soft_members_count_by_products_of_memberships(weights):
    rng = np.random.default_rng(3)
    members = soft_members(rng, 300, [2, 5, 3], 0.2)
    ensemble = Ensemble.from_memberships(members, weights=weights)
    c, present = evidence(ensemble)
    expected = naive.soft_counts([P[:40] for P in members], weights or [1, 1, 1])
    np.testing.assert_allclose(c[:40, :40], expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(c, c.T)
    seen = np.column_stack([P.sum(axis=1) > 0 for P in members])
    w = np.ones(3) if weights is None else np.array(weights)
    np.testing.assert_array_equal(present, (seen * w) @ seen.T)
    assert present.dtype == (np.int16 if weights is None else np.float64)
    np.testing.assert_array_equal(coassociation(ensemble, rows=slice(100, 290)), c[100:290])


def test_frequencies_are_undefined_without_evidence():
    c, present = evidence([[0, -1], [-1, 0], [0, 0]])
    p = frequencies(c, present)
    assert np.isnan(p[0, 1])
    assert p[0, 2] == p[1, 2] == 1
    assert frequencies([1.0 + 1e-15], [1.0]) == 1
    with pytest.raises(InputError, match=r"same shape. Got \(2,\) and \(3,\)"):
        frequencies([1, 2], [1, 2, 3])
