"""Columns of a membership that are kept, and the treatment of the rest."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import planted

from conclust import CumulativeVoting, FuzzyRows, PositionalVoting, Voting
from conclust.consensus import base


def naive(Y):
    """Return the columns kept in order, and the rows scaled, an object at a time."""
    firsts = []
    for row in Y:
        best = [k for k in firsts if row[k] == row.max()]
        if not best:
            firsts.append(int(np.argmax(row)))
    rest = [k for k in range(Y.shape[1]) if k not in firsts and max(Y[:, k]) > 1e-9]
    kept = firsts + sorted(rest, key=lambda k: -sum(Y[:, k]))
    rows = []
    for row in Y:
        lost = sum(value for k, value in enumerate(row) if k not in kept)
        held = np.array([row[k] for k in kept])
        rows.append(held / held.sum() if lost else held)
    return kept, np.array(rows)


@pytest.mark.parametrize("at_once", [1, 3, 1 << 14])
def test_columns_are_kept_by_their_mass(monkeypatch, at_once):
    monkeypatch.setattr(base, "_ROWS_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    dropped = 0
    for case in range(80):
        n, k = int(rng.integers(1, 12)), int(rng.integers(1, 7))
        Y = rng.random((n, k)) * 10.0 ** rng.integers(-3, 1, (n, k))
        nothing = rng.random(k) < 0.4
        nothing[rng.integers(k)] = False
        Y /= Y[:, ~nothing].sum(axis=1, keepdims=True)
        Y[:, nothing] = rng.choice([0.0, 0.0, 3e-17, 9e-10, 1.1e-9], (n, int(nothing.sum())))
        Y /= Y.sum(axis=1, keepdims=True)
        if case % 4 == 0:
            Y = np.eye(k)[rng.integers(k, size=n)]  # hard
        expected_columns, expected = naive(Y)
        kept, labels = base._column_order(Y)
        given = np.asfortranarray(Y) if case % 3 == 0 else Y.copy()
        actual = base._columns(given, kept)
        assert kept.tolist() == expected_columns
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(labels, actual.argmax(axis=1))
        assert actual.flags.c_contiguous
        dropped += k - len(kept)
    assert dropped > 20


@pytest.mark.parametrize(
    "model",
    [
        Voting(6, random_state=0),
        Voting(6, hard=True, random_state=0),
        PositionalVoting(6, count="condorcet", random_state=0),
        PositionalVoting(6, random_state=0),
        CumulativeVoting(6),
        CumulativeVoting(6, scheme="bvote"),
    ],
    ids=repr,
)
def test_votes_for_empty_clusters_are_counted_last(model):
    labels, _ = planted(n=80, flip=0.25)
    labels[:, 0] = np.where(labels[:, 0] == 2, 5, labels[:, 0])
    model.fit(labels)
    held = model.membership_.shape[1]
    assert model.votes_.shape[1] == 6
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-12)
    if held < 6 and not getattr(model, "hard", False):
        assert model.votes_[:, held:].sum() == 0


def test_every_column_has_a_medoid():
    labels = np.column_stack([np.repeat(np.arange(4), 12)] * 9)
    model = FuzzyRows(8, kind="cmedoids", random_state=0).fit(labels)
    assert model.medoids_.shape == (model.membership_.shape[1],)
