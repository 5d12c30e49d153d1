"""NaN and infinite values in points are refused with their columns."""

import numpy as np
import pandas as pd
import pytest

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.exceptions import InputError

POINTS = np.arange(60.0).reshape(10, 6)


def refusal(X):
    with pytest.raises(InputError) as caught:
        EnsembleGenerator("kmeans", 2).fit(X)
    return str(caught.value)


def test_gaps_are_counted_by_column():
    X = POINTS.copy()
    X[:3, 1] = np.nan
    X[4, 2] = np.nan
    X[4, 0] = np.inf
    assert refusal(X) == (
        "Input X contains NaN in columns 1 (3 rows), 2 (1 row): fill them before, e.g. with scikit-learn's "
        "SimpleImputer, or use `conclust cluster --impute median`."
    )


def test_columns_have_their_names():
    frame = pd.DataFrame(POINTS, columns=["age", "b", "c", "d", "e", "f"])
    frame.loc[[2, 5], "age"] = np.nan
    assert "NaN in column 'age' (2 rows): fill" in refusal(frame)
    frame.loc[1] = np.nan
    assert "'age' (3 rows), 'b' (1 row), 'c' (1 row), 'd' (1 row) and 2 more: fill" in refusal(
        frame
    )


def test_infinite_values_have_a_sentence_of_their_own():
    X = POINTS.copy()
    X[7, 5] = -np.inf
    assert refusal(X) == (
        "Input X contains infinity in column 5 (1 row): replace such values, or leave out their rows."
    )


def test_the_pipeline_refuses_them_so_too():
    X = POINTS.copy()
    X[0, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 3 \(1 row\)"):
        ConsensusClustering().fit(X)


def test_other_refusals_are_as_they_were():
    with pytest.raises(ValueError, match="Expected 2D array"):
        EnsembleGenerator("kmeans", 2).fit([np.nan, 1.0])
