"""Placing new objects by shared clusterings, against counts over pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust import Ensemble
from conclust.exceptions import InputError
from conclust.placing import shared_clusterings


def naive(labels, weights, consensus, new):
    """Count over all partitions and all objects of a cluster."""
    shares = np.full((len(new), consensus.max() + 1), np.nan)
    for i, row in enumerate(new):
        for k in range(shares.shape[1]):
            together = seen = 0.0
            for j in np.flatnonzero(consensus == k):
                for u, w in enumerate(weights):
                    if row[u] != -1 and labels[j, u] != -1:
                        seen += w
                        together += w * (row[u] == labels[j, u] and row[u] >= 0)
            if seen:
                shares[i, k] = together / seen
    return shares


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_shares_match_counts_over_pairs(seed, weighted):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    labels = rng.integers(-2, 4, (n, m))
    labels[0] = 0  # every partition observes something
    weights = rng.uniform(0.1, 2, m) if weighted else np.ones(m)
    consensus = rng.integers(-1, 3, n)
    consensus[0] = rng.integers(0, 3)
    new = rng.integers(-2, 5, (6, m))  # 4 was not there
    ensemble = Ensemble(labels, weights=weights if weighted else None)
    actual = shared_clusterings(ensemble, consensus, new)
    np.testing.assert_allclose(actual, naive(labels, weights, consensus, new), atol=1e-12)


def test_objects_of_the_ensemble_are_placed_in_their_clusters():
    truth = np.repeat([0, 1, 2], 10)
    labels = np.column_stack([truth, (truth + 1) % 3, truth])
    actual = shared_clusterings(Ensemble(labels), truth, labels)
    np.testing.assert_array_equal(actual.argmax(axis=1), truth)
    np.testing.assert_array_equal(actual.max(axis=1), 1.0)


def test_soft_members_are_weighted_by_their_mass():
    ensemble = Ensemble.from_memberships([[[0.75, 0.25], [1, 0], [0, 1]]])
    np.testing.assert_allclose(
        shared_clusterings(ensemble, [0, 0, 1], [[0], [1]]), [[0.875, 0], [0.125, 1]]
    )


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0, 1.0], [[0, 1, 1]]])
def test_labels_must_be_one_integer_per_object(labels):
    with pytest.raises(InputError, match="must be one whole number per object"):
        shared_clusterings(Ensemble([[0], [0], [1]]), labels, [[0]])


def test_labels_without_clusters_are_refused():
    with pytest.raises(InputError, match="puts no object in a cluster"):
        shared_clusterings(Ensemble([[0], [0], [1]]), [-1, -1, -1], [[0]])
