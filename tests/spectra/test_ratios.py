"""Ratios with 0 in the denominator and labels as matrices, compared with loops over their cells."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from conclust._arrays.containers import is_missing
from conclust._arrays.rows import EqualRows, inverse_or_zero, ratio, shares_of_rows
from conclust.ensemble.labels import one_hot, one_hot_rows
from conclust.spectra.gram import runs_of_partitions


@pytest.mark.parametrize("otherwise", [0.0, 1.0, np.nan])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32])
def test_a_ratio_is_taken_where_the_denominator_is_positive(dtype, otherwise):
    a, b = np.array([[0, 3, 5], [-2, 7, 0]], dtype), np.array([[0, 0, 2], [4, 1, 3]], dtype)
    expected = [
        [float(x) / float(y) if y > 0 else otherwise for x, y in zip(*rows, strict=True)]
        for rows in zip(a, b, strict=True)
    ]
    before = a.copy(), b.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for numerator in (a, np.asfortranarray(a)):
            found = ratio(numerator, b, otherwise)
            assert found.dtype == np.float64
            np.testing.assert_array_equal(found, np.array(expected))
    np.testing.assert_array_equal((a, b), before)


def test_nan_in_a_numerator_stays_and_in_a_denominator_counts_as_zero():
    found = ratio(np.array([np.nan, 1.0, np.nan]), np.array([2.0, np.nan, 0.0]), 7.0)
    np.testing.assert_array_equal(found, [np.nan, 7.0, 7.0])


def test_reciprocals_and_shares_have_no_division_by_zero():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(inverse_or_zero(np.array([4, 0, 1])), [0.25, 0.0, 1.0])
        np.testing.assert_array_equal(inverse_or_zero(np.array([-1.0, np.nan, 2.0])), [0, 0, 0.5])
        shares = shares_of_rows(np.array([[0.0, 0.0], [1.0, 3.0]]))
    np.testing.assert_array_equal(shares, [[0.5, 0.5], [0.25, 0.75]])


def test_labels_as_matrices_of_zeros_and_ones():
    labels = np.array([2, -1, 0, 2, -2, 1])
    rows = one_hot_rows(labels, 4)
    expected = [[float(label == k) for k in range(4)] for label in labels]
    np.testing.assert_array_equal(rows, expected)
    placed = labels[labels >= 0]
    np.testing.assert_array_equal(one_hot(placed, 4).toarray(), one_hot_rows(placed, 4))


def test_runs_of_partitions_have_at_most_so_many_clusters_or_one_partition():
    counts = np.random.default_rng(0).integers(0, 9, 40)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    for room in (1, 5, 12, 1000):
        runs = list(runs_of_partitions(offsets, room))
        assert [u for some, _ in runs for u in range(some.start, some.stop)] == list(range(40))
        for some, rows in runs:
            assert (rows.start, rows.stop) == (offsets[some.start], offsets[some.stop])
            assert rows.stop - rows.start <= room or some.stop - some.start == 1


def test_groups_of_equal_rows_are_drawn_by_their_rows():
    rows = EqualRows.of(np.array([[0], [1], [0], [2], [2], [0], [3]]))
    values = np.array([5, 6, 5, 7, 7, 5, 8], dtype=np.int32)
    np.testing.assert_array_equal(rows.one_of_each(values)[rows.inverse], values)
    assert rows.one_of_each(values).dtype == np.int32
    for seed in range(20):
        objects = np.random.default_rng(seed).permutation(7)
        by_draw = list(dict.fromkeys(rows.inverse[objects].tolist()))
        drawn = rows.drawn(2, np.random.default_rng(seed))
        assert drawn.tolist() == sorted(by_draw[:2])
    assert rows.drawn(4, np.random.default_rng(0)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "cell",
    [
        None,
        float("nan"),
        np.float32("nan"),
        np.float64("nan"),
        np.datetime64("NaT"),
        np.timedelta64("NaT"),
        pd.NA,
        pd.NaT,
    ],
)
def test_cells_that_are_missing(cell):
    assert is_missing(cell) is True


@pytest.mark.parametrize(
    "cell", [0, 1.5, np.float32(2), "nan", "", np.datetime64("2020-01-01"), (1,), True, np.inf]
)
def test_cells_that_are_not_missing(cell):
    assert is_missing(cell) is False
