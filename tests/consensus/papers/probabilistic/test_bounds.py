"""A bound above the number of objects costs nothing: "at most K" is at most min(K, n)."""

import time

import numpy as np
import pytest
from tests.cases import planted

from conclust import PCC, PEACE, BaumEagon, WeightedPCC
from conclust.blocks import LabelStore

ROWS = [[0, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize("method", [PCC, WeightedPCC, PEACE, BaumEagon])
@pytest.mark.parametrize("k", [2000, 2**62, 2**64, 10**30])
def test_bounds_above_the_number_of_objects_are_reduced_to_it(method, k):
    begun = time.process_time()
    model = method(k, random_state=0, n_jobs=1).fit(ROWS)
    assert time.process_time() - begun < 1
    assert model.n_clusters_max_ == 3
    np.testing.assert_array_equal(
        model.membership_, method(3, random_state=0, n_jobs=1).fit(ROWS).membership_
    )


def test_bounds_above_the_number_of_objects_are_reduced_in_blocks():
    labels = planted(seed=3, n=30, m=8, k=3, flip=0.1)[0]
    store = LabelStore(labels, block_rows=7)
    model = PCC(10**30, divergence="l2", random_state=0).fit(store)
    assert model.n_clusters_max_ == 30
    np.testing.assert_array_equal(
        np.asarray(model.labels_),
        np.asarray(PCC(30, divergence="l2", random_state=0).fit(store).labels_),
    )


def test_a_membership_to_start_from_keeps_its_columns():
    labels = planted(seed=3, n=6, m=8, k=2)[0]
    start = np.random.default_rng(0).dirichlet(np.ones(9), 6)
    assert PCC(9, init=start, random_state=0).fit(labels).n_clusters_max_ == 9


@pytest.mark.long
@pytest.mark.parametrize(("divergence", "seed"), [("l2", 0), ("kl", 1)])
def test_as_many_clusters_as_objects_fit_as_well_as_fifty(divergence, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(120, 2)) + 4 * rng.integers(0, 4, (120, 1))
    # Each partition assigns points to the nearest of some random centres.
    drawn = [points[rng.choice(120, int(rng.integers(5, 25)))] for _ in range(40)]
    labels = np.column_stack(
        [((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1) for centres in drawn]
    )
    few, many = (
        PCC(k, divergence=divergence, random_state=0, n_jobs=1).fit(labels) for k in (50, 120)
    )
    assert few.n_clusters_ < 50
    assert many.n_clusters_max_ == 120
    assert many.objective_ <= few.objective_ * (1 + 1e-4)
