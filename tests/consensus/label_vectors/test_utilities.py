"""KCC and SEC: utilities of partitions, and the normalised cut, by moves of single objects."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import E2, planted, ragged
from tests.naive.partitions import all_partitions
from tests.naive.qmi import blocks
from tests.naive.utilities import PHI, cut_loss, utility

from conclust import KCC, QMI, SEC, Ensemble, InformationTheoreticKMeans
from conclust.consensus.label_rows import RowLoss, RowMoves

UTILITIES = sorted(PHI)
LOSSES = {
    "U_c": RowLoss("quadratic"),
    "U_H": RowLoss("entropic"),
    "U_cos": RowLoss("norm"),
    "U_Lp": RowLoss("norm", 5.0),
    "cut": RowLoss("cut"),
}


# -- the criteria


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("name", UTILITIES)
def test_the_utility_matches_its_definition(name, normalized, weighted):
    for seed in range(5):
        labels = ragged(seed)
        weights = np.arange(labels.shape[1]) / 2.0 + 0.5 if weighted else None
        model = KCC(3, utility=name, normalized=normalized, random_state=seed)
        model.fit(Ensemble(labels, weights=weights))
        expected = utility(blocks(labels), model.labels_, name, weights, normalized)
        assert model.objective_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_cut_matches_its_definition(weighted):
    for seed in range(5):
        labels = ragged(seed)
        weights = np.arange(labels.shape[1]) / 2.0 + 0.5 if weighted else None
        model = SEC(3, random_state=seed).fit(Ensemble(labels, weights=weights))
        expected = cut_loss(blocks(labels), model.labels_, weights)
        assert model.objective_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_the_loss_never_rises_and_matches_the_criterion(name):
    labels = ragged(4, n=300)
    members = blocks(labels)
    ensemble = Ensemble(labels)
    rows = ensemble.distinct_rows()
    start = np.random.default_rng(0).integers(0, 4, len(rows))
    actual = RowMoves(4, LOSSES[name], 50, 0.0)._refined(rows, start.copy())
    assert actual.converged
    assert len(actual.losses) > 3
    assert (np.diff(actual.losses) <= 1e-9).all()
    before, after = start[rows.inverse], actual.labels[rows.inverse]
    if name == "cut":
        fallen = cut_loss(members, before) - cut_loss(members, after)
    else:
        gained = utility(members, after, name) - utility(members, before, name)
        fallen = gained * len(labels) * (np.log(2) if name == "U_H" else 1.0)
    assert actual.losses[0] - actual.losses[-1] == pytest.approx(fallen)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_no_single_move_improves_the_objective(name):
    labels = ragged(3, n=25)
    members = blocks(labels)
    if name == "cut":
        model = SEC(3, tol=0.0, random_state=0).fit(labels)
        loss_of = lambda z: cut_loss(members, z)  # noqa: E731
    else:
        model = KCC(3, utility=name, tol=0.0, random_state=0).fit(labels)
        loss_of = lambda z: -utility(members, z, name)  # noqa: E731
    best = loss_of(model.labels_)
    for i in range(len(labels)):
        for k in range(3):
            moved = model.labels_.copy()
            moved[i] = k
            assert loss_of(moved) >= best - 1e-9


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_six_objects_with_missing_labels_reach_the_best_partition(name, k):
    labels = E2.copy()
    labels[0, 1] = labels[4, 0] = -1
    labels[2, 2] = -2
    members = blocks(labels)
    partitions = [np.array(p) for p in all_partitions(6) if max(p) < k]
    if name == "cut":
        best = -min(cut_loss(members, p) for p in partitions)
        actual = -SEC(k, random_state=0).fit(labels).objective_
    else:
        best = max(utility(members, p, name) for p in partitions)
        actual = KCC(k, utility=name, random_state=0).fit(labels).objective_
    assert actual == pytest.approx(best)


# -- equal to others


def test_kcc_equals_qmi_with_categories_and_information_with_entropy():
    labels = ragged(5, n=200)
    category = KCC(4, utility="U_c", random_state=0).fit(labels)
    qmi = QMI(4, random_state=0).fit(labels)
    np.testing.assert_array_equal(category.labels_, qmi.labels_)
    assert 2 * category.objective_ == pytest.approx(qmi.objective_)
    np.testing.assert_array_equal(category.predict(labels), qmi.predict(labels))
    entropy = KCC(4, random_state=0).fit(labels)
    information = InformationTheoreticKMeans(4, random_state=0).fit(labels)
    np.testing.assert_array_equal(entropy.labels_, information.labels_)
    np.testing.assert_array_equal(entropy.predict(labels), information.predict(labels))


# -- missing, noise, copies, drift


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_noise_is_a_label_of_its_own(name):
    labels = ragged(7, missing=0.1, noise=0.2)
    apart = labels.copy()
    for u in range(labels.shape[1]):
        noise = np.flatnonzero(labels[:, u] == -2)
        apart[noise, u] = 100 + np.arange(len(noise))
    model = SEC(3, random_state=0) if name == "cut" else KCC(3, utility=name, random_state=0)
    a = model.fit(labels).objective_, model.labels_
    b = model.fit(apart).objective_, model.labels_
    assert a[0] == pytest.approx(b[0], rel=1e-9)
    np.testing.assert_array_equal(a[1], b[1])


@pytest.mark.parametrize("power", [5.0, 16.0])
def test_powers_of_large_clusters_leave_no_residue_in_small_ones(power):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [100_000, 40, 10])
    labels = np.column_stack([np.where(rng.random(len(truth)) < 0.01, 0, truth) for _ in range(6)])
    rows = Ensemble(labels).distinct_rows()
    # All but a few in one cluster: the large one moves into another, and small ones remain.
    start = np.where(truth[rows.first] == 0, 0, 1)
    moves = RowMoves(3, RowLoss("norm", power), 50, 0.0)
    actual = moves._refined(rows, start)
    repeated = moves._refined(rows, actual.labels.copy())
    assert repeated.losses[0] == pytest.approx(actual.losses[-1], rel=1e-12)
    assert (repeated.labels == actual.labels).all()
    assert (np.diff(actual.losses) <= 1e-9 * abs(actual.losses[0])).all()


def test_a_partition_with_one_cluster_changes_nothing():
    labels, _ = planted()
    with_one = np.column_stack([labels, np.zeros(len(labels), dtype=int)])
    for name in UTILITIES:
        for normalized in (False, True):
            model = KCC(3, utility=name, normalized=normalized, random_state=0)
            expected, actual = model.fit(labels).labels_, model.fit(with_one).labels_
            np.testing.assert_array_equal(actual, expected)


# -- new objects


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_new_objects_go_to_the_nearest_mean(name):
    """New objects of shuffled columns, between the clusters: those fitted would be placed by any cost."""
    labels = ragged(10, n=60, missing=0.2, noise=0.05)
    model = SEC(3, random_state=0) if name == "cut" else KCC(3, utility=name, random_state=0)
    members, k = blocks(labels), model.fit(labels).n_clusters_
    rng = np.random.default_rng(0)
    orders = [rng.permutation(60) for _ in members]
    shuffled = np.column_stack([labels[order, u] for u, order in enumerate(orders)])
    new = [P[order] for P, order in zip(members, orders, strict=True)]
    predicted = model.predict(shuffled)
    B, Z = (np.nan_to_num(np.hstack(each)) for each in (members, new))
    d, degrees = (B @ B.T).sum(1), (Z @ B.T).sum(1)
    for i in np.flatnonzero((shuffled != -2).all(axis=1) & (degrees > 0)):
        cost = np.zeros(k)
        for c in range(k):
            mine = model.labels_ == c
            if name == "cut":
                mean = B[mine].sum(0) / d[mine].sum()
                cost[c] = degrees[i] * ((Z[i] / degrees[i] - mean) ** 2).sum()
                continue
            for P, Q in zip(members, new, strict=True):
                if not np.isnan(Q[i, 0]):
                    cost[c] += divergence(name, Q[i], P[mine & ~np.isnan(P[:, 0])].mean(0))
        assert cost[predicted[i]] == pytest.approx(cost.min(), rel=1e-12)


def divergence(name, x, m):
    """The point-to-centroid distance of each utility in the reference."""
    label = m[x == 1].item()
    if name == "U_c":
        return 1 + (m**2).sum() - 2 * label
    if name == "U_H":
        return -np.log2(label + 1e-10)
    p = 2 if name == "U_cos" else 5
    return 1 - (label / (m**p).sum() ** (1 / p)) ** (p - 1)
