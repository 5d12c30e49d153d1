"""HGPA on memberships: level sets as hyperedges, against the integral over levels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted
from tests.naive import graph as naive

from conclust import HGPA, Ensemble
from conclust.consensus.graph.hgpa import level_sets
from conclust.consensus.graph.partition import connectivities, part_capacity


def memberships(seed, n=40, m=6, k=3, missing=0.0, sharp=0.6):
    """Noisy memberships of planted clusters, some objects unobserved, and the clusters."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    members = [
        (1 - sharp) * rng.dirichlet(np.ones(k), n) + sharp * np.eye(k)[truth] for _ in range(m)
    ]
    for P in members:
        P[rng.random(n) < missing] = 0.0
    members[0][:] = np.where(members[0].any(axis=1, keepdims=True), members[0], 1 / k)
    return members, truth


def one_hot(labels):
    """Labels as memberships of 0 and 1, with the columns in another order."""
    k = labels.max() + 1
    blocks = [np.where(column[:, None] == np.arange(k)[::-1], 1.0, 0.0) for column in labels.T]
    return Ensemble.from_memberships(blocks)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("weights", [None, [0.3, 0.7, 0.0, 1.1, 0.9, 0.1, 2.3, 1.0]])
@pytest.mark.parametrize("flip", [0.1, 0.4])
def test_memberships_of_0_and_1_are_labels_to_the_bit(missing, weights, flip):
    labels, _ = planted(n=60, m=8, flip=flip, missing=missing)
    hard = HGPA(3, random_state=0).fit(Ensemble(labels, weights=weights))
    soft = HGPA(3, random_state=0).fit(one_hot(labels).reweighted(weights))
    np.testing.assert_array_equal(hard.labels_, soft.labels_)
    assert hard.objective_ == soft.objective_


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_objective_sums_the_largest_membership_of_each_part(seed, missing):
    members, _ = memberships(seed, missing=missing)
    weights = np.random.default_rng(seed).random(6)
    ensemble = Ensemble.from_memberships(members, weights=weights)
    model = HGPA(3, random_state=seed).fit(ensemble)
    rounded = [naive.rounded(P) for P in members]
    assert model.objective_ == pytest.approx(
        naive.fuzzy_connectivity(rounded, model.labels_, weights), rel=1e-12
    )
    # Rounding moves a membership by a twentieth at most.
    exact = naive.fuzzy_connectivity(members, model.labels_, weights)
    assert abs(model.objective_ - exact) <= 0.05 * 3 * 3 * weights.sum()


@given(
    arrays(np.int64, (7, 4), elements=st.integers(0, 10)),
    st.lists(st.integers(0, 2), min_size=7, max_size=7),
)
def test_level_set_cuts_match_the_integral(levels, labels):
    members, cluster, share = level_sets(sp.csr_array(levels.astype(np.uint8)))
    P = levels / 10
    labels = np.array(labels)
    expected = naive.fuzzy_connectivity([P], labels)
    assert naive.integrated_connectivity([P], labels) == pytest.approx(expected)
    assert connectivities(members, [labels], share)[0] == pytest.approx(expected)
    # Each set once, and for each cluster all levels up to its highest.
    dense = members.toarray()
    for t in range(4):
        columns = dense[:, cluster == t]
        np.testing.assert_allclose(columns @ share[cluster == t], P[:, t], atol=1e-15)
        assert len(np.unique(columns, axis=1).T) == columns.shape[1] == len(set(levels[:, t]) - {0})


@pytest.mark.long
def test_the_lowest_balanced_partition_is_found():
    rng = np.random.default_rng(0)
    optimal = 0
    for trial in range(60):
        k = 2 + trial % 3
        members = [rng.dirichlet(np.full(3, 0.4), 7) for _ in range(4)]
        model = HGPA(k, random_state=trial).fit(Ensemble.from_memberships(members))
        rounded = [naive.rounded(P) for P in members]
        capacity = part_capacity(np.ones(7), k, 0.05)
        assert np.bincount(model.labels_).max() <= capacity
        best = naive.best_balanced(
            lambda labels, P=rounded: naive.fuzzy_connectivity(P, labels), 7, k, capacity
        )
        assert model.objective_ >= best - 1e-9
        optimal += model.objective_ <= best + 1e-9
    assert optimal >= 57


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_columns_does_not_matter(seed):
    members, _ = memberships(seed, sharp=0.3)
    rng = np.random.default_rng(seed)
    turned = [P[:, rng.permutation(3)] for P in members]
    a, b = (HGPA(3, random_state=0).fit(Ensemble.from_memberships(P)) for P in (members, turned))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-12)


def test_a_partition_of_weight_2_counts_twice():
    members, truth = memberships(1)
    twice = HGPA(3, random_state=0).fit(Ensemble.from_memberships([*members, members[0]]))
    weights = [2.0, 1, 1, 1, 1, 1]
    once = HGPA(3, random_state=0).fit(Ensemble.from_memberships(members, weights=weights))
    np.testing.assert_array_equal(once.labels_, twice.labels_)
    np.testing.assert_array_equal(once.labels_, truth)
    assert once.objective_ == pytest.approx(twice.objective_, rel=1e-12)


def test_many_small_memberships_add_up():
    # Each of 40 clusters has small memberships only: its levels are shares of its own largest one.
    truth = np.arange(80) % 2
    rng = np.random.default_rng(0)
    members = []
    for _ in range(4):
        P = rng.random((80, 40)) * 0.3
        P[:, :20] += (truth == 0)[:, None]
        P[:, 20:] += (truth == 1)[:, None]
        members.append(P / P.sum(axis=1, keepdims=True))
    assert max(P.max() for P in members) < 0.1
    model = HGPA(2, random_state=0).fit(Ensemble.from_memberships(members))
    np.testing.assert_array_equal(model.labels_, truth)


def test_objects_with_equal_memberships_stay_together():
    members, _ = memberships(2, n=20)
    doubled = [np.repeat(P, 3, axis=0) for P in members]
    labels = HGPA(3, random_state=0).fit(Ensemble.from_memberships(doubled)).labels_
    np.testing.assert_array_equal(labels, np.repeat(labels[::3], 3))


def test_objects_with_uncertain_memberships_cost_little():
    """Uncertain memberships succeed where labels of the most probable cluster fail."""
    hard, soft = [], []
    for seed in range(5):
        members, truth = memberships(seed, n=90, m=12, sharp=0.35)
        strays = [P.argmax(axis=1) for P in members]
        model = HGPA(3, random_state=0)
        hard.append(adjusted_rand_score(truth, model.fit(np.column_stack(strays)).labels_))
        ensemble = Ensemble.from_memberships(members)
        soft.append(adjusted_rand_score(truth, model.fit(ensemble).labels_))
    assert np.mean(soft) > np.mean(hard) + 0.1


def test_mtkahypar_weighs_levels():
    pytest.importorskip("mtkahypar")
    members, truth = memberships(3)
    ensemble = Ensemble.from_memberships(members)
    models = [
        HGPA(3, partitioner="mtkahypar", n_init=2, random_state=0).fit(ensemble) for _ in "ab"
    ]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    np.testing.assert_array_equal(models[0].labels_, truth)
    rounded = [naive.rounded(P) for P in members]
    assert models[0].objective_ == pytest.approx(
        naive.fuzzy_connectivity(rounded, models[0].labels_)
    )


def test_unobserved_objects_are_excluded():
    members, truth = memberships(4, n=31)
    for P in members:
        P[30] = np.nan
    with pytest.warns(UserWarning, match="missing"):
        model = HGPA(3, random_state=0).fit(Ensemble.from_memberships(members))
    assert model.labels_[30] == -1
    assert adjusted_rand_score(truth[:30], model.labels_[:30]) == 1
