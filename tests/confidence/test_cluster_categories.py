"""Shares of categories, against the features of their indicators."""

import numpy as np
import pandas as pd
import pytest

from conclust.confidence import cluster_categories, cluster_features
from conclust.exceptions import InputError


@pytest.mark.parametrize("seed", range(3))
def test_shares_are_means_of_indicators(seed):
    rng = np.random.default_rng(seed)
    n = 60
    labels = np.concatenate([np.arange(3), rng.integers(-1, 3, n - 3)])
    text = np.array(["red", "green", "blue", None], dtype=object)
    columns = text[rng.integers(0, 4, (n, 2))]
    columns[:, 1] = rng.integers(0, 2, n)  # numbers are categories too
    categories = cluster_categories(columns, labels)
    assert sorted(zip(categories.column.tolist(), map(str, categories.category), strict=True)) == [
        *((0, name) for name in ("blue", "green", "red")),
        *((1, name) for name in ("0", "1")),
    ]
    indicators = np.column_stack(
        [
            [np.nan if cell is None else float(cell == name) for cell in columns[:, j]]
            for j, name in zip(categories.column, categories.category, strict=True)
        ]
    )
    expected = cluster_features(indicators, labels)
    for name in ("inside", "outside", "deviation", "difference"):
        np.testing.assert_allclose(
            getattr(categories.shares, name), getattr(expected, name), rtol=1e-12, atol=1e-14
        )


def test_a_category_in_only_one_cluster_has_an_infinite_difference():
    categories = cluster_categories([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1])
    np.testing.assert_array_equal(
        categories.shares.difference, [[np.inf, -np.inf], [-np.inf, np.inf]]
    )


def test_empty_cells_of_every_kind_are_left_out():
    frame = pd.DataFrame({"plan": pd.array(["x", pd.NA, "y", "x"], dtype="string")})
    cells = np.array([["x"], [None], ["y"], ["x"]], dtype=object)
    for given in (frame, cells, np.where(cells == None, np.nan, cells)):  # noqa: E711
        categories = cluster_categories(given, [0, 0, 1, 1])
        assert categories.category == ("x", "y")
        np.testing.assert_array_equal(categories.shares.inside, [[1.0, 0.0], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("categories", "said"),
    [
        (np.array(["a", "b", "c", "d"]), r"Got an array of shape \(4,\)"),
        ([["a"], ["b"], ["c"]], "a row for each of the 4 labels"),
        (np.array([[[1]], [[2]], [[2]], [[1]]]), "Got an array of shape"),
        ([[{1}], [{2}], [{2}], [{1}]], "names or numbers. Got set in row 0"),
    ],
)
def test_invalid_tables_of_categories_are_refused(categories, said):
    with pytest.raises(InputError, match=said):
        cluster_categories(categories, [0, 0, 1, 1])
