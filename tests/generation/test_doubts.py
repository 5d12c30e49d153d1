"""What is named as a doubt about points, and what is not."""

import numpy as np
import pytest

from conclust import ConsensusClustering
from conclust.generation.points import Doubt, doubts
from conclust.words.points import of_doubts

RNG = np.random.default_rng(0)


def test_a_cell_far_beyond_its_column_is_named():
    X = RNG.normal(50, 10, (60, 3))
    assert doubts(X) == []
    X[4, 1] = 1e6
    (found,) = doubts(X)
    assert (found.kind, found.row, found.column, found.value) == ("far", 4, 1, 1e6)
    (said,) = of_doubts([found], ["age", "income", "visits"], [f"p{i}" for i in range(60)])
    assert "Object 'p4' has 1,000,000 in column 'income'" in said
    X[9, 1] = -1e6
    assert len(doubts(X)) == 2


def test_the_sum_of_a_column_is_named():
    column = RNG.lognormal(5, 1, 20)
    X = np.column_stack([np.append(column, column.sum()), RNG.normal(size=21)])
    assert doubts(X) == [Doubt("total", 20, 0, X[20, 0], doubts(X)[0].times)]
    few, X[3, 0] = RNG.uniform(1, 50, (60, 1)), np.nan
    (about,) = doubts(np.append(few, [0.97 * few.sum(0)], axis=0))  # not all are there
    assert (about.kind, about.row) == ("far", 60)
    assert doubts(X[:-1]) == []


def test_a_column_that_numbers_the_objects_is_named():
    X = np.column_stack([np.arange(100001, 100061), RNG.normal(size=60)])
    (said,) = of_doubts(doubts(X), ["id", "age"])
    assert said.startswith("Column 'id' numbers the objects one by one")
    assert doubts(X[RNG.permutation(60)]) == doubts(X[:, :1]) == []


@pytest.mark.parametrize("spread", [0.5, 1.5, 2.5])
def test_long_tails_are_no_doubt(spread):
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert doubts(rng.lognormal(0, spread, (300, 3))) == []
    assert doubts(rng.pareto(1.0, (300, 3))) == []


def test_repeats_are_named_unless_the_columns_are_coarse():
    X = RNG.normal(size=(40, 2))
    X[7] = X[3]
    ids = [f"p{i}" for i in range(39)] + ["p0"]
    names, rows = doubts(X, ids)
    assert (names.again, rows.again) == ((("p0", 2),), ((7, 3),))
    (said,) = of_doubts([rows], ids=ids)
    assert "1 row repeats all numbers of another: objects 'p7' and 'p3'" in said
    assert doubts(RNG.integers(0, 3, (200, 2)).astype(float)) == []


def test_the_pipeline_has_the_doubts():
    X = RNG.normal(size=(80, 3))
    model = ConsensusClustering(random_state=0).fit(X)
    assert model.doubts_ == []
    X[5, 2] = 1e5
    assert "column 2" in ConsensusClustering(random_state=0).fit(X).doubts_[0]
