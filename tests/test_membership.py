"""How sure objects are, and the order that shows blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import measures as naive

from conclust.exceptions import InputError
from conclust.membership import entropy, vat_order


def test_entropy_is_between_certain_and_even():
    rows = [[1, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0]]
    assert entropy(rows) == pytest.approx([0, 1, 0.5])
    assert entropy([[1.0], [1.0]]).tolist() == [0, 0]
    rng = np.random.default_rng(0)
    many = entropy(rng.dirichlet(np.ones(7), size=500))
    assert ((many > 0) & (many < 1)).all()
    assert entropy(np.eye(3, dtype=np.float32)).tolist() == [0, 0, 0]


def test_entropy_refuses_what_is_no_probability():
    with pytest.raises(InputError, match=r"row 1 with smallest value 0\.2 and sum 0\.5"):
        entropy([[0.5, 0.5], [0.2, 0.3]])


def test_blocks_stay_contiguous():
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(5), [3, 8, 1, 12, 6]))
    D = np.where(groups[:, None] == groups, 0.1, 0.9)
    noise = rng.uniform(0, 0.05, size=D.shape)
    D += noise + noise.T
    order = vat_order(D)
    assert sorted(order) == list(range(30))
    assert np.count_nonzero(np.diff(groups[order])) == 4


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.integers(1, 8), st.data())
def test_order_of_the_definition(n, data):
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            D[i, j] = D[j, i] = data.draw(st.integers(0, 4))
    assert vat_order(D).tolist() == naive.vat_order(D.tolist())


def test_first_is_the_farthest_and_the_diagonal_is_not_read():
    D = np.array([[9.0, 1, 2], [1, 9, 5], [2, 5, 9]])
    assert vat_order(D).tolist() == [1, 0, 2]
    np.fill_diagonal(D, np.nan)
    assert vat_order(D).tolist() == [1, 0, 2]
    assert vat_order(D.astype(np.float32)).tolist() == [1, 0, 2]


def test_more_objects_than_a_block():
    rng = np.random.default_rng(1)
    x = rng.permutation(1100)
    order = vat_order(np.abs(x[:, None] - x))
    assert x[order].tolist() in (list(range(1100)), list(range(1099, -1, -1)))


@pytest.mark.parametrize(
    ("D", "sentence"),
    [
        ([0, 1], "square"),
        ([[0, 1, 2], [1, 0, 2]], "square"),
        (np.empty((0, 0)), "square"),
        ([[0, 1], [2, 0]], "symmetric"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([[0, np.inf], [np.inf, 0]], "finite"),
        ([[0, 1j], [1j, 0]], "real"),
    ],
)
def test_bad_dissimilarities(D, sentence):
    with pytest.raises(InputError, match=sentence):
        vat_order(D)
