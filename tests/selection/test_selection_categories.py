"""Categories with points: distances by definition, references that keep each column, a valid p-value."""

import numpy as np
import pandas as pd
import pytest

from conclust.exceptions import InputError
from conclust.selection import choose
from conclust.selection.resampled.null import rotation
from conclust.selection.resampled.testing import beside, permuting, read_categories

pytestmark = pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")


def test_two_categories_are_one_distance_apart_and_a_column_varies_like_a_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    scores = X - X.mean(axis=0)
    column = rng.choice(["a", "b", "c"], 50, p=[0.7, 0.2, 0.1]).astype(object)
    column[4] = None
    codes = read_categories(column[:, None], 50, "choose")
    points, widths = beside(scores, codes, 3, 1.0)
    assert widths == [3, 3]
    block = points[:, 3:]
    np.testing.assert_allclose(block.var(axis=0).sum(), scores.var(axis=0).sum() / 3)
    apart = {
        round(float(np.linalg.norm(block[i] - block[j])), 9)
        for i in range(50)
        for j in range(i)
        if column[i] != column[j] and None not in (column[i], column[j])
    }
    assert len(apart) == 1
    np.testing.assert_array_equal(block[4], 0.0)
    np.testing.assert_allclose(block.mean(axis=0), 0.0, atol=1e-12)
    doubled, _ = beside(scores, codes, 3, 4.0)
    np.testing.assert_allclose(doubled[:, 3:], 2 * block)


def test_a_reference_keeps_every_column_and_no_dependence():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(40, 2))
    scores -= scores.mean(axis=0)
    codes = np.column_stack([(scores[:, 0] > 0).astype(int), (scores[:, 0] > 0).astype(int)])
    points, widths = beside(scores, codes, 2, 1.0)
    drawn = permuting(rotation, widths)(points, np.random.default_rng(2))
    for j in range(2, points.shape[1]):
        np.testing.assert_allclose(np.sort(drawn[:, j]), np.sort(points[:, j]))
    np.testing.assert_array_equal(points[:, 2], points[:, 4])
    assert abs(np.corrcoef(drawn[:, 2], drawn[:, 4])[0, 1]) < 0.6
    repeated = permuting(rotation, widths)(points, np.random.default_rng(2))
    np.testing.assert_array_equal(drawn, repeated)


@pytest.mark.long
def test_independent_categories_give_one_cluster():
    p_values = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))
        words = rng.choice(list("abc"), (60, 2))
        selection = choose(
            X, [2, 3, 4], categories=words, n_resamples=10, n_references=19, random_state=seed
        )
        p_values.append(selection.p_value)
    assert (
        sum(p <= 0.05 for p in p_values) <= 2
    )  # P(more than 2 of 12) is 2 % at an exact level of 0.05
    assert np.mean(p_values) > 0.25


def test_associated_categories_give_clusters():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 90)
    words = np.column_stack([np.array(list("abc"))[group]] * 3)
    words[:5, 0] = "a"
    X = rng.normal(size=(90, 1))
    how = {"n_resamples": 10, "n_references": 19, "random_state": 0}
    selection = choose(X, [2, 3, 4, 5], categories=pd.DataFrame(words), **how)
    assert (selection.n_clusters, selection.p_value) == (3, 0.05)
    alone = choose(X, [2, 3, 4, 5], **how)
    assert alone.n_clusters == 1
    assert selection.settings["n_categories"] == 3
    assert "n_categories" not in alone.settings
    repeated = choose(X, [2, 3, 4, 5], categories=words.tolist(), n_jobs=2, **how)
    np.testing.assert_array_equal(repeated.labels_, selection.labels_)
    np.testing.assert_array_equal(repeated.null, selection.null)


@pytest.mark.parametrize(
    ("categories", "said"),
    [
        (
            ["a"] * 10,
            r"a row for each of the 10 objects and at least one column. Got shape \(10,\)",
        ),
        ([["a"], ["b"]] * 4, r"Got shape \(8, 1\)"),
        ([["a"]] * 10, "The column 0 of 'categories' has one category only"),
        (pd.DataFrame({"plan": ["a"] * 9 + [None]}), "The column 'plan' of 'categories' has one"),
    ],
)
def test_invalid_columns_of_categories_are_refused(categories, said):
    with pytest.raises(InputError, match=said):
        choose(np.random.default_rng(0).normal(size=(10, 2)), categories=categories)
