import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust import Ensemble, corrupt
from conclust.exceptions import InputError, ParameterError, UnsupportedEnsembleError

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 4, size=(60, 20))
LABELS[RNG.random((60, 20)) < 0.2] = -1
LABELS[RNG.random((60, 20)) < 0.1] = -2
WEIGHTS = RNG.random(20)


def test_a_share_of_labels_is_replaced_and_reported():
    ensemble = Ensemble(LABELS, weights=WEIGHTS)
    spoiled, indices = corrupt(ensemble, 0.25, random_state=0, return_indices=True)
    assert isinstance(spoiled, Ensemble)
    assert len(indices) == 5
    assert (np.diff(indices) > 0).all()
    changed = np.flatnonzero((spoiled.labels != ensemble.labels).any(axis=0))
    assert changed.tolist() == indices.tolist()
    assert np.array_equal(spoiled.cluster_counts, ensemble.cluster_counts)
    assert np.array_equal(spoiled.labels < 0, ensemble.labels < 0)
    assert np.array_equal(spoiled.labels == -2, ensemble.labels == -2)
    assert np.array_equal(spoiled.weights, WEIGHTS)


@pytest.mark.parametrize(("fraction", "n"), [(0, 0), (0.024, 0), (0.025, 1), (0.1, 2), (1, 20)])
def test_the_share_is_rounded(fraction, n):
    assert len(corrupt(LABELS, fraction, return_indices=True)[1]) == n


def test_a_matrix_is_returned_for_a_matrix():
    spoiled = corrupt(LABELS, 0.5, random_state=0)
    assert isinstance(spoiled, np.ndarray)
    assert spoiled.dtype == np.int64
    same = corrupt(Ensemble(LABELS), 0.5, random_state=0)
    assert np.array_equal(same.labels, spoiled)
    frame = pd.DataFrame(LABELS).replace(-1, np.nan)
    assert np.array_equal(corrupt(frame, 0.5, random_state=0), spoiled)
    before = LABELS.copy()
    corrupt(LABELS, 1.0)
    assert np.array_equal(LABELS, before)


def test_results_depend_on_random_state_only():
    assert np.array_equal(
        corrupt(LABELS, 0.5, random_state=3), corrupt(LABELS, 0.5, random_state=3)
    )
    assert not np.array_equal(
        corrupt(LABELS, 0.5, random_state=3), corrupt(LABELS, 0.5, random_state=4)
    )


def test_replaced_labels_are_uniform():
    labels = np.zeros((40_000, 1), dtype=int)
    labels[:4, 0] = [0, 1, 2, 3]  # four clusters, one of nearly all objects
    counts = np.bincount(corrupt(labels, 1.0, random_state=0)[:, 0])
    assert (np.abs(counts - 10_000) < 5 * np.sqrt(7500)).all()
    which = [corrupt(LABELS, 0.1, random_state=s, return_indices=True)[1] for s in range(400)]
    chosen = np.bincount(np.concatenate(which), minlength=20)
    assert chosen.min() > 15  # 40 each on average


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(st.integers(-2, 5), min_size=2, max_size=12), st.integers(0, 99))
def test_no_cluster_is_lost(column, seed):
    if all(label == -1 for label in column):
        return
    ensemble = Ensemble([[label] for label in column])
    spoiled = corrupt(ensemble, 1.0, random_state=seed)
    assert spoiled.cluster_counts.tolist() == ensemble.cluster_counts.tolist()
    assert np.array_equal(spoiled.labels < 0, ensemble.labels < 0)


def test_invalid_input_is_refused():
    with pytest.raises(ParameterError, match=r"'fraction' parameter of corrupt must be a float in"):
        corrupt(LABELS, 1.5)
    with pytest.raises(ParameterError, match=r"'return_indices' .*a bool"):
        corrupt(LABELS, 0.5, return_indices=1)
    with pytest.raises(ParameterError, match="'random_state'"):
        corrupt(LABELS, 0.5, random_state="x")
    with pytest.raises(InputError):
        corrupt([[0.5], [1]], 0.5)
    soft = Ensemble.from_memberships([[[0.5, 0.5], [0, 1]]])
    with pytest.raises(UnsupportedEnsembleError, match="takes hard partitions"):
        corrupt(soft, 0.5)
