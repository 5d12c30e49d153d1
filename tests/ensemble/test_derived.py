"""Derived quantities of an ensemble: each against its definition, and a part against the whole."""

from __future__ import annotations

import numpy as np
import pytest

from conclust import Ensemble
from conclust.ensemble.labels import over_clusters, over_partitions


def grouped(rng, n=60):
    """Labels of six partitions, of which 0, 2 and 5, and 1 and 3, observed the same objects."""
    labels = rng.integers(0, 4, (n, 6))
    seen = rng.random((n, 3)) < 0.7
    labels[~seen[:, [0, 1, 0, 1, 2, 0]]] = -1
    return labels


def test_counts_and_weights_match_their_definitions():
    labels = np.array([[0, 2, -1], [1, -2, -1], [-1, -2, 0], [1, 0, 0]])
    ensemble = Ensemble(labels, weights=[2.0, 0.5, 1.0])
    assert ensemble.missing_counts.tolist() == [1, 0, 2]
    assert ensemble.noise_counts.tolist() == [0, 2, 0]
    assert ensemble.observed_counts.tolist() == [3, 4, 2]
    assert ensemble.partition_weights.tolist() == [2.0, 0.5, 1.0]
    assert ensemble.column_partitions.tolist() == [0, 0, 1, 1, 2]
    assert ensemble.cluster_sizes.tolist() == [1.0, 2.0, 1.0, 1.0, 2.0]
    np.testing.assert_array_equal(ensemble.noise, labels == -2)
    assert ensemble.column_weights.tolist() == [2.0, 2.0, 0.5, 0.5, 1.0]
    plain = ensemble.reweighted(None)
    assert plain.partition_weights.tolist() == [1.0] * 3
    assert plain.column_weights.tolist() == [1.0] * 5
    for name in ("missing_counts", "noise_counts", "observed_counts", "column_weights"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(ensemble, name)[0] = 7
    # A partition of noise only has no cluster, and no column.
    alone = Ensemble([[-2, 0], [-2, 1], [-2, 0]])
    assert alone.column_partitions.tolist() == [1, 1]
    assert alone.column_weights.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("k", [4, 300])
def test_sizes_of_clusters_are_counted(k):
    rng = np.random.default_rng(k)
    labels = np.where(
        rng.random((900, 3)) < 0.1, rng.integers(-2, 0, (900, 3)), rng.integers(0, k, (900, 3))
    )
    ensemble = Ensemble(labels)
    counted = [
        np.count_nonzero(column == cluster)
        for column, count in zip(ensemble.labels.T, ensemble.cluster_counts, strict=True)
        for cluster in range(count)
    ]
    assert ensemble.cluster_sizes.tolist() == counted
    assert ensemble.part(np.arange(5)).cluster_sizes.sum() == (labels[:5] >= 0).sum()
    soft = Ensemble.from_memberships([rng.dirichlet(np.ones(3), 40), rng.dirichlet(np.ones(2), 40)])
    np.testing.assert_allclose(soft.cluster_sizes, soft.indicator.toarray().sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
def test_values_map_to_clusters_and_back(axis):
    offsets = np.array([0, 2, 2, 5])
    values = np.random.default_rng(0).random((3, 3))
    spread = over_clusters(values, offsets, axis=axis)
    np.testing.assert_array_equal(spread, np.take(values, [0, 0, 2, 2, 2], axis=axis))
    sums = over_partitions(spread, offsets, axis=axis)
    times = np.array([2.0, 0.0, 3.0])
    np.testing.assert_allclose(sums, values * (times[:, None] if axis == 0 else times))


@pytest.mark.parametrize("seed", range(5))
def test_presence_groups_hold_partitions_that_observed_the_same_objects(seed):
    ensemble = Ensemble(grouped(np.random.default_rng(seed)))
    groups = ensemble.presence_groups
    assert len(groups.first) == 3
    for u in range(6):
        for v in range(6):
            same = np.array_equal(ensemble.present[:, u], ensemble.present[:, v])
            assert (groups.of_partition[u] == groups.of_partition[v]) == same
    for g, u in enumerate(groups.first):
        assert np.flatnonzero(groups.of_partition == g)[0] == u


def test_presence_groups_may_be_one_or_one_per_partition():
    complete = Ensemble([[0, 1, 0], [1, 1, 0]]).presence_groups
    assert complete.of_partition.tolist() == [0, 0, 0]
    assert complete.first.tolist() == [0]
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((50, 8)) < 0.4, -1, rng.integers(0, 3, (50, 8)))
    apart = Ensemble(labels).presence_groups
    assert apart.of_partition.tolist() == apart.first.tolist() == list(range(8))


# -- a part of the objects


def test_a_part_counts_its_own_missing_labels_and_noise():
    labels = np.zeros((20, 2), dtype=int)
    labels[10:, 0], labels[15:, 1] = -1, -2
    ensemble = Ensemble(labels)
    part = ensemble.part(np.arange(8, 12))
    assert part.missing_counts.tolist() == [2, 0]
    assert part.noise_counts.tolist() == [0, 0]
    assert repr(part) == "Ensemble(4 objects, 2 partitions of 1 cluster, 25.0% missing)"
    assert part.has_missing
    assert not part.has_noise
    assert part.observed_counts.tolist() == [2, 4]
    complete = ensemble.part(np.arange(5))
    assert not complete.has_missing
    assert not complete.has_noise
    assert repr(complete) == "Ensemble(5 objects, 2 partitions of 1 cluster)"
    # A partition that observed none of these is not an error in a part.
    unknown = ensemble.part(np.array([12, 16]))
    assert unknown.missing_counts.tolist() == [2, 0]
    assert unknown.noise_counts.tolist() == [0, 1]


@pytest.mark.parametrize("soft", [False, True])
def test_a_part_keeps_the_rows_of_the_ensemble(soft):
    rng = np.random.default_rng(3)
    if soft:
        memberships = [rng.dirichlet(np.ones(k), 30) for k in (2, 4)]
        memberships[0][::5] = np.nan
        ensemble = Ensemble.from_memberships(memberships, weights=[1.0, 3.0])
    else:
        ensemble = Ensemble(grouped(rng, 30), weights=rng.integers(1, 4, 6))
    objects = rng.permutation(30)[:12]
    part = ensemble.part(objects)
    np.testing.assert_array_equal(part.labels, ensemble.labels[objects])
    np.testing.assert_array_equal(part.present, ensemble.present[objects])
    np.testing.assert_array_equal(part.indicator.toarray(), ensemble.indicator.toarray()[objects])
    np.testing.assert_allclose(
        part.gram.toarray(), part.indicator.toarray().T @ part.indicator.toarray(), rtol=1e-12
    )
    np.testing.assert_array_equal(part.offsets, ensemble.offsets)
    np.testing.assert_array_equal(part.weights, ensemble.weights)
    np.testing.assert_array_equal(part.missing_counts, (part.labels == -1).sum(axis=0))
    assert part.names == ensemble.names
    assert part.is_soft == soft


def test_observed_weights_sum_over_observing_partitions():
    labels = np.array([[0, -1, 0], [0, 1, -2], [-1, -1, -1]])
    np.testing.assert_array_equal(Ensemble(labels).observed_weights, [2, 3, 0])
    ensemble = Ensemble(labels, weights=[0.5, 2.0, 4.0])
    np.testing.assert_array_equal(ensemble.observed_weights, [4.5, 6.5, 0.0])
    np.testing.assert_array_equal(Ensemble(labels[:2, :1], weights=[3.0]).observed_weights, 3.0)
