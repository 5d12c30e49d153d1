"""Median and least-squares partitions against brute force and their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.cases import planted
from tests.naive import median as naive
from tests.naive import optima

from conclust import AddRemAdd, Ensemble, KernelWeightedPartition, MedianPartition
from conclust._kernels import add_rem_add
from conclust.consensus.median.search import CRITERIA, evidence_of, interchangeable


def random_ensembles(count, seed=0, reserved=False):
    rng = np.random.default_rng(seed)
    for labels in optima.random_ensembles(count, seed):
        if reserved:
            labels[rng.random(labels.shape) < 0.15] = -1
            labels[rng.random(labels.shape) < 0.1] = -2
            labels[rng.integers(0, 7, labels.shape[1]), np.arange(labels.shape[1])] = 0
            labels[:, 0] = 0
        yield labels


# -- worked examples


# -- objectives match their definitions


@pytest.mark.parametrize("criterion", ["ensemble", "combined"])
@pytest.mark.parametrize("k", [None, 3])
def test_semi_averages_match_the_labels(criterion, k):
    for r, labels in enumerate(random_ensembles(20, seed=1)):
        a, N = naive.similarity(labels, criterion)
        model = AddRemAdd(k, criterion=criterion, random_state=r).fit(labels)
        assert model.semi_average_ == pytest.approx(naive.semi_averages(a, model.labels_))
        reached = naive.semi_averages(naive.shifted(a, N), model.labels_, explained=k is None)
        assert model.objective_ == pytest.approx(reached, abs=1e-10)


@pytest.mark.long
def test_missing_noise_and_weights_count_as_documented():
    actual = 0
    for r, labels in enumerate(random_ensembles(30, seed=2, reserved=True)):
        weights = np.random.default_rng(r).integers(0, 4, labels.shape[1])
        weights[0] = 1
        ensemble = Ensemble(labels, weights=weights)
        model = MedianPartition(random_state=r).fit(ensemble)
        assert model.objective_ == naive.disagreements(labels, model.labels_, weights)
        best = min(naive.disagreements(labels, p, weights) for p in optima.ALL[::7])
        actual += model.objective_ <= best
        a, N = naive.similarity(labels, weights=weights)
        model = AddRemAdd(random_state=r).fit(ensemble)
        assert model.objective_ == pytest.approx(
            naive.semi_averages(naive.shifted(a, N), model.labels_, explained=True), abs=1e-10
        )
    assert actual >= 29


# -- the extraction and the moves


@pytest.mark.parametrize("shift", ["mean", "modularity", "none"])
def test_extraction_makes_the_same_moves_as_recomputation(shift):
    for labels in random_ensembles(30, seed=4):
        a, N = naive.similarity(labels)
        a = naive.shifted(a + 1e-3 * np.random.default_rng(0).random((7, 7)), N, shift)
        a = np.ascontiguousarray((a + a.T) / 2)
        for start in range(7):
            members = np.empty(7, dtype=np.uint8)
            g = add_rem_add(a, np.ones(7), np.ones(7, dtype=np.uint8), np.array([start]), members)
            expected, value = naive.add_rem_add(a, start)
            assert set(np.flatnonzero(members)) == expected
            assert g == pytest.approx(value)


@pytest.mark.parametrize("n", [64, 75, 131], ids="n{}".format)
def test_blocks_of_units_are_extracted_like_single_ones(n):
    rng = np.random.default_rng(n)
    truth = rng.integers(0, 4, n)
    a = (truth[:, None] == truth) - 0.4 + rng.normal(scale=0.3, size=(n, n))
    a = np.ascontiguousarray((a + a.T) / 2)
    np.fill_diagonal(a, 0.0)
    alive = rng.random(n) < 0.8
    members = np.empty(n, dtype=np.uint8)
    for start in np.flatnonzero(alive)[:5]:
        expected, value = naive.add_rem_add(a[np.ix_(alive, alive)], int(alive[:start].sum()))
        g = add_rem_add(a, np.ones(n), alive.astype(np.uint8), np.array([start]), members)
        assert set(np.flatnonzero(members[alive])) == expected
        assert not members[~alive].any()
        assert g == pytest.approx(value)


def test_units_of_several_objects_are_extracted_like_the_objects():
    rng = np.random.default_rng(0)
    for _ in range(30):
        mass = rng.integers(1, 4, 6)
        of = np.repeat(np.arange(6), mass)
        a = rng.normal(size=(6, 6))
        a = np.ascontiguousarray(a + a.T)
        a[np.diag_indices(6)] = 9.0  # objects of a unit stay together
        whole = a[np.ix_(of, of)].copy()
        np.fill_diagonal(whole, 0.0)
        alive = np.ones(6, dtype=np.uint8)
        alive[5] = 0
        members = np.empty(6, dtype=np.uint8)
        for start in range(5):
            value = add_rem_add(a, mass.astype(np.float64), alive, np.array([start]), members)
            assert members[5] == 0
            inside = members[of].astype(bool)
            assert value == pytest.approx(whole[np.ix_(inside, inside)].sum() / inside.sum())
            for i in range(5):  # no unit raises it further
                moved = members.copy()
                moved[i] ^= 1
                inside = moved[of].astype(bool)
                if inside.any():
                    assert whole[np.ix_(inside, inside)].sum() / inside.sum() <= value + 1e-9


def test_starts_that_meet_lose_no_cluster():
    # Each start by itself meets no other.
    for seed in range(8):
        labels, _ = planted(seed, 90, 8, 5, flip=0.35)
        a, N = naive.similarity(labels)
        a = naive.shifted(a, N)
        mass = np.random.default_rng(seed).integers(1, 4, 90).astype(np.float64)
        alive = (np.arange(90) % 7 > 0).astype(np.uint8)
        starts = np.flatnonzero(alive)
        single = []
        for start in starts:
            members = np.empty(90, dtype=np.uint8)
            value = add_rem_add(a, mass, alive, np.array([start]), members)
            single.append((value, members))
        together = np.empty(90, dtype=np.uint8)
        assert add_rem_add(a, mass, alive, starts, together) == pytest.approx(
            max(value for value, _ in single), rel=1e-10
        )
        assert any(
            np.array_equal(together, members)
            for value, members in single
            if value > 0.999999 * max(value for value, _ in single)
        )


@pytest.mark.parametrize("n", [5, 48, 83])
def test_similarities_of_all_units_are_products_of_their_rows(n):
    rng = np.random.default_rng(n)
    labels = rng.integers(-1, 6, (n, 7))
    labels[0] = 0
    ensemble = Ensemble(labels, weights=rng.random(7))
    units = interchangeable(ensemble)
    evidence = evidence_of(ensemble, units, np.ones(int(ensemble.offsets[-1])), None)
    rows = evidence.rows.toarray()
    np.testing.assert_allclose(evidence.dense(), (rows * evidence.weights) @ rows.T, atol=1e-12)


@pytest.mark.parametrize("criterion", ["additive", "averaged", "explained"])
@pytest.mark.parametrize("wide", [False, True])
def test_fusions_are_the_best_pairs(criterion, wide):
    # Few large clusters in the members, or many small ones: whole rows of sums, or those above 0 only.
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 40 if wide else 3, (60, 9))
    ensemble = Ensemble(labels, weights=rng.random(9))  # no gains are tied
    units = interchangeable(ensemble)
    evidence = evidence_of(ensemble, units, np.ones(int(ensemble.offsets[-1])), None)
    a, mass = evidence.dense(), evidence.mass

    def value(objects):
        q = mass[objects] @ a[np.ix_(objects, objects)] @ mass[objects]
        q -= mass[objects] @ a.diagonal()[objects]
        mean = q / mass[objects].sum()
        return {"additive": q / 2, "averaged": mean, "explained": mean * abs(mean)}[criterion]

    clusters = {i: [i] for i in range(len(units))}
    values = {i: value(objects) for i, objects in clusters.items()}

    def gain(c, d):
        return value(clusters[c] + clusters[d]) - values[c] - values[d]

    gains = {pair: gain(*pair) for pair in combinations(clusters, 2)}
    while len(clusters) > 12:
        most = max(gains.values())
        c, d = next(pair for pair, gained in gains.items() if gained >= most - 1e-9)
        clusters[c] += clusters.pop(d)
        values[c] = value(clusters[c])
        gains = {pair: gained for pair, gained in gains.items() if d not in pair}
        gains.update({pair: gain(*pair) for pair in gains if c in pair})
    search = evidence.search(criterion, 12)
    search.set(np.arange(len(units)), len(units))
    search.fuse(12)
    assert search.objective() == pytest.approx(sum(values[c] for c in clusters), rel=1e-9)


def test_the_first_extracted_cluster_is_the_best_of_all_sets():
    sets = np.array(np.meshgrid(*[[0, 1]] * 7)).reshape(7, -1).T[1:]
    actual = 0
    for labels in random_ensembles(100, seed=9):
        a, N = naive.similarity(labels)
        a = naive.shifted(a, N)
        best = (np.einsum("pi,ij,pj->p", sets, a, sets) / sets.sum(axis=1)).max()
        members = np.empty(7, dtype=np.uint8)
        g = add_rem_add(a, np.ones(7), np.ones(7, dtype=np.uint8), np.arange(7), members)
        actual += g >= best - 1e-9
        assert g == pytest.approx(members @ a @ members / members.sum(), abs=1e-12)
    assert actual >= 95


@pytest.mark.parametrize("shift", ["mean", "modularity", "none"])
def test_the_objective_of_an_extraction_matches_the_labels(shift):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, (30, 5))
    a, N = naive.similarity(labels)
    model = AddRemAdd(scale_shift=shift, refine=False, random_state=0).fit(labels)
    expected = naive.semi_averages(naive.shifted(a, N, shift), model.labels_, explained=True)
    assert model.objective_ == pytest.approx(expected)
    refined = AddRemAdd(scale_shift=shift, random_state=0).fit(labels)
    assert refined.objective_ >= model.objective_ - 1e-9


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("k", [None, 4])
def test_every_move_raises_the_objective(criterion, k):
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 4, (60, 7))
    ensemble = Ensemble(labels)
    units = interchangeable(ensemble)
    evidence = evidence_of(ensemble, units, np.ones(int(ensemble.offsets[-1])), None)
    search = evidence.search(criterion, k)
    start = rng.integers(0, 4, len(units))
    start[:4] = np.arange(4)
    search.set(start, 4)
    value = search.objective()
    a, N = naive.similarity(labels)
    a = naive.shifted(a, N)
    for _ in range(3):
        for i in range(len(units)):
            search.transfer(np.array([i]))
            assert search.objective() >= value - 1e-9
            value = search.objective()
        now = np.empty(len(units), dtype=np.int64)
        search.read(now)
        of_object = now[units.inverse]
        expected = naive.semi_averages(a, of_object, explained=criterion == "explained")
        if criterion == "additive":
            expected = sum(
                a[np.ix_(of_object == c, of_object == c)].sum() / 2 for c in np.unique(of_object)
            )
        assert value == pytest.approx(expected)
        if k is None:
            search.fuse(0)
            assert search.objective() >= value - 1e-9
            value = search.objective()
        else:
            assert search.n_clusters == k


def test_more_clusters_than_sampled_objects_are_accepted():
    rng = np.random.default_rng(11)
    labels = np.column_stack([rng.integers(0, 60, 3000) for _ in range(3)])
    assert AddRemAdd(1500, n_init=1, random_state=0).fit(labels).n_clusters_ == 1500
    assert KernelWeightedPartition(1500, n_init=1, random_state=0).fit(labels).n_clusters_ == 1500
