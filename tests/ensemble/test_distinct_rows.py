"""Equal rows of labels, against numpy.unique and a dictionary of rows."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust import Ensemble
from conclust._arrays.rows import EqualRows
from conclust.ensemble import DistinctRows
from conclust.exceptions import ParameterError

matrices = st.integers(2, 12).flatmap(
    lambda n: st.integers(1, 3).flatmap(
        lambda m: st.lists(
            st.lists(st.integers(-2, 2), min_size=m, max_size=m), min_size=n, max_size=n
        )
    )
)


def grouped_by_hand(keys):
    """Number equal keys by first appearance: the first place of each, and the number of each place."""
    number, first, inverse = {}, [], []
    for place, key in enumerate(keys):
        if key not in number:
            number[key] = len(number)
            first.append(place)
        inverse.append(number[key])
    return first, inverse


def assert_same(rows, keys):
    first, inverse = grouped_by_hand(keys)
    np.testing.assert_array_equal(rows.first, first)
    np.testing.assert_array_equal(rows.inverse, inverse)
    np.testing.assert_array_equal(rows.counts, np.bincount(inverse))
    np.testing.assert_array_equal(rows.masses, np.bincount(inverse).astype(float))
    assert len(rows) == len(first)
    assert rows.first.dtype == rows.inverse.dtype == rows.counts.dtype == np.int64


@settings(max_examples=200, deadline=None, derandomize=True)
@given(matrices)
def test_rows_with_missing_labels_and_with_noise_are_distinguished(matrix):
    labels = np.array(matrix)
    labels[0] = np.maximum(labels[0], 0)  # no partition is missing everywhere
    ensemble = Ensemble(labels)
    rows = ensemble.distinct_rows()
    assert_same(rows, [tuple(row) for row in ensemble.labels.tolist()])
    # The same groups as NumPy's, which numbers them in the order of the sorted rows.
    _, first, inverse, counts = np.unique(
        ensemble.labels, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    np.testing.assert_array_equal(rows.first, first[order])
    np.testing.assert_array_equal(rows.counts, counts[order])
    np.testing.assert_array_equal(rows.inverse, np.argsort(order)[inverse.ravel()])

    apart = ensemble.distinct_rows(noise="apart")
    keys = [
        (*row, i) if -2 in row else tuple(row) for i, row in enumerate(ensemble.labels.tolist())
    ]
    assert_same(apart, keys)

    for actual in (rows, apart):
        np.testing.assert_array_equal(actual.ensemble.labels, ensemble.labels[actual.first])
        assert actual.ensemble.names == ensemble.names
        assert actual.n_objects == ensemble.n_samples
        assert actual.cells == actual.ensemble.codes.size
    # One object with each row has all clusters, numbered by first appearance: an ensemble of its own.
    if len(rows) > 1:
        assert rows.ensemble == Ensemble(ensemble.labels[rows.first])


@pytest.mark.parametrize("k", [3, 300, 70_000])
def test_codes_of_any_width_are_compared(k):
    rng = np.random.default_rng(k)
    labels = np.column_stack([np.arange(k), rng.integers(0, 3, k)])
    labels = np.vstack([labels, labels[rng.permutation(k)[: k // 2]]])
    assert_same(Ensemble(labels).distinct_rows(), map(tuple, labels.tolist()))


def test_rows_of_probabilities_are_compared():
    p = np.array([[0.5, 0.5], [1.0, 0.0], [0.5, 0.5], [0.25, 0.75], [np.nan, np.nan]])
    q = np.array([[1.0], [1.0], [1.0], [1.0], [1.0]])
    soft = Ensemble.from_memberships([p, q])
    rows = soft.distinct_rows()
    assert_same(rows, map(tuple, soft.indicator.toarray().tolist()))
    assert len(rows) == 4
    np.testing.assert_array_equal(
        rows.ensemble.indicator.toarray(), soft.indicator.toarray()[rows.first]
    )
    assert rows.ensemble.is_soft


def test_labels_are_not_copied_if_all_rows_differ():
    ensemble = Ensemble([[0, 0], [0, 1], [1, 1]])
    assert ensemble.distinct_rows().ensemble is ensemble


def test_rows_are_computed_once_and_do_not_keep_an_ensemble_alive():
    ensemble = Ensemble(np.random.default_rng(0).integers(0, 3, (100, 4)))
    assert ensemble.distinct_rows().inverse is ensemble.distinct_rows().inverse
    gone = weakref.ref(ensemble)
    gc.disable()  # a cycle would live until the garbage collector runs
    try:
        del ensemble
        assert gone() is None
    finally:
        gc.enable()


def test_a_subset_of_objects_keeps_the_order_of_rows():
    labels = np.random.default_rng(1).integers(0, 3, (200, 3))
    rows = Ensemble(labels).distinct_rows()
    objects = np.random.default_rng(2).permutation(200)[:40]
    some, kept = rows.some(objects)
    assert some.n_objects == 40
    assert some.counts.sum() == 40
    assert (np.diff(kept) > 0).all()
    np.testing.assert_array_equal(some.first, rows.first[kept])
    np.testing.assert_array_equal(some.ensemble.labels[some.inverse], rows.whole.labels[objects])
    np.testing.assert_array_equal(kept[some.inverse], rows.inverse[objects])


def test_rows_can_be_reordered_and_reweighted():
    labels = np.array([[0], [1], [1], [2], [1], [2]])
    rows = Ensemble(labels).distinct_rows()
    by_size = rows.reordered(np.argsort(-rows.counts, kind="stable"))
    assert by_size.counts.tolist() == [3, 2, 1]
    np.testing.assert_array_equal(by_size.ensemble.labels[by_size.inverse], rows.whole.labels)
    times = np.array([5, 1, 1, 1, 1, 7])
    assert rows.counted(times).counts.tolist() == [5, 3, 8]
    assert rows.counted(times).masses.tolist() == [5.0, 3.0, 8.0]
    each = DistinctRows.each_object(rows.whole)
    assert each.first.tolist() == each.inverse.tolist() == list(range(6))
    assert each.ensemble is rows.whole
    # All rows differ and the order is changed: the ensemble follows it.
    turned = Ensemble([[0], [1], [2]]).distinct_rows().reordered(np.array([2, 0, 1]))
    assert turned.ensemble.labels.ravel().tolist() == [2, 0, 1]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=40))
def test_rows_of_any_matrix_are_compared(values):
    matrix = np.array(values)[: len(values) // 2 * 2].reshape(-1, 2)
    assert_same(EqualRows.of(matrix), map(tuple, matrix.tolist()))
    assert_same(EqualRows.of(np.asfortranarray(matrix)), map(tuple, matrix.tolist()))
    assert_same(EqualRows.each_alone(len(matrix)), range(len(matrix)))


def test_rows_can_be_pickled():
    rows = Ensemble([[0, 1], [0, 1], [1, -1]]).distinct_rows()
    back = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(back.inverse, rows.inverse)
    assert back.whole == rows.whole


def test_an_invalid_option_is_refused():
    with pytest.raises(ParameterError, match="'noise' parameter of distinct_rows"):
        Ensemble([[0], [1]]).distinct_rows(noise="together")


@pytest.mark.parametrize(("shape", "groups"), [((0, 3), 0), ((0, 0), 0), ((4, 0), 1), ((1, 2), 1)])
def test_matrices_without_rows_or_columns_have_equal_rows_too(shape, groups):
    actual = EqualRows.of(np.zeros(shape))
    assert len(actual) == groups
    assert actual.inverse.tolist() == [0] * shape[0]
    assert actual.counts.sum() == shape[0]


def test_equal_rows_are_equal_to_the_byte():
    actual = EqualRows.of(np.array([[0.0, np.nan], [-0.0, np.nan], [0.0, np.nan]]))
    assert actual.inverse.tolist() == [0, 1, 0]
