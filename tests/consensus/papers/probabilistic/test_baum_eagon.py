"""BaumEagon against one update by definition, the greedy solver, and the guarantees of growth transformations."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import random_labels
from tests.naive import greedy as naive
from tests.naive import least_squares

from conclust import BaumEagon, Ensemble
from conclust._kernels import grow_rows, own_rows
from conclust.consensus.papers.probabilistic.baum_eagon import (
    _ByClusters,
    _ByMatrices,
    _extended,
    _grow,
    _pairs_of,
)
from conclust.consensus.papers.probabilistic.objective import squared, squared_of_clusters
from conclust.evidence import evidence


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["hard", "noise", "soft"])
def test_the_constant_by_clusters_equals_that_by_pairs(kind, weighted):
    rng = np.random.default_rng(0)
    weights = rng.random(6) + 0.2 if weighted else None
    if kind == "soft":
        members = [rng.dirichlet(np.ones(3), 90) for _ in range(6)]
        ensemble = Ensemble.from_memberships(members, weights=weights)
    else:
        ensemble = Ensemble(
            random_labels(0, 90, 6, 3, noise=0.2 if kind == "noise" else 0.0), weights=weights
        )
    assert ensemble.is_soft == (kind == "soft")
    assert squared_of_clusters(ensemble) == pytest.approx(squared(ensemble, 1), rel=1e-12)


def test_many_objects_need_no_pairs(monkeypatch):
    """The objective is the same with and without pairs, and without missing labels none are formed."""
    labels = random_labels(1, 300, 5, 3, noise=0.1)
    with_pairs = BaumEagon(3, random_state=0).fit(labels)

    def refuse(*_):
        raise AssertionError("pairs are formed")

    monkeypatch.setattr("conclust.consensus.papers.probabilistic.baum_eagon._FEW", 100)
    monkeypatch.setattr("conclust.consensus.papers.probabilistic.baum_eagon.squared", refuse)
    without = BaumEagon(3, random_state=0).fit(labels)
    assert without.objective_ == pytest.approx(with_pairs.objective_, rel=1e-9)
    np.testing.assert_array_equal(without.labels_, with_pairs.labels_)


@pytest.mark.parametrize("sums", [_ByClusters, _ByMatrices])
@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("weighted", [False, True])
def test_updates_and_objectives_match_their_definition(missing, weighted, sums):
    labels = random_labels(0, 20, 6, 3, missing=missing, noise=0.1)
    weights = np.random.default_rng(1).random(6) + 0.2 if weighted else None
    ensemble = Ensemble(labels, weights=weights)
    c, N = evidence(ensemble)
    Y = np.random.default_rng(2).dirichlet(np.ones(4), 20)
    actual = _grow(sums(ensemble, False, 1), Y, 3, 0.0, accelerate=False)
    expected = [Y]
    for _ in range(3):
        expected.append(naive.growth(c, N, expected[-1]))
    np.testing.assert_allclose(actual.point, expected[-1], rtol=1e-9)
    for f, y in zip(actual.trace, expected, strict=True):
        assert f == pytest.approx(least_squares.objective(labels, y, weights), rel=1e-9)
    np.testing.assert_allclose(actual.point.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_sums_by_matrices_equal_those_by_clusters(diagonal, soft):
    labels = random_labels(1, 30, 9, 4, missing=0.3, noise=0.1)
    labels[4] = -1
    ensemble = Ensemble(labels, weights=np.arange(9) % 4)
    if soft:
        rng = np.random.default_rng(0)
        ensemble = Ensemble.from_memberships([rng.dirichlet(np.ones(3), 30) for _ in range(4)])
    Y = np.random.default_rng(2).dirichlet(np.ones(6), 30)
    f, after = _ByClusters(ensemble, diagonal, 1).step(Y)
    g, other = _ByMatrices(ensemble, diagonal, 1).step(Y)
    assert g == pytest.approx(f, rel=1e-12)
    np.testing.assert_allclose(other, after, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_the_objective_never_rises(seed, accelerate):
    labels = random_labels(seed, 60, 8, 4, missing=0.3)
    start = np.random.default_rng(seed).dirichlet(np.ones(5), 60)
    pairs = _ByClusters(Ensemble(labels), False, 1)
    trace = np.array(_grow(pairs, start, 400, 0.0, accelerate=accelerate).trace)
    assert (np.diff(trace) <= 1e-10 * trace[0]).all()
    assert trace[-1] < 0.9 * trace[0]


@pytest.mark.parametrize("diagonal", [False, True])
def test_leaps_end_at_the_limit_of_many_steps(diagonal):
    truth = np.repeat(np.arange(3), 12)
    rng = np.random.default_rng(6)
    labels = np.where(rng.random((36, 10)) < 0.2, rng.integers(0, 3, (36, 10)), truth[:, None])
    start = 0.2 * rng.dirichlet(np.ones(3), 36) + 0.8 * np.eye(3)[truth]
    pairs = _ByClusters(Ensemble(labels), diagonal, 1)
    short = _grow(pairs, start, 50_000, 1e-12, accelerate=False)
    longer = _grow(pairs, start, 50_000, 1e-12, accelerate=True)
    # Short steps end early because convergence is slow at the end.
    assert longer.trace[-1] <= short.trace[-1] <= 1.01 * longer.trace[-1]
    np.testing.assert_allclose(longer.point, short.point, atol=0.02)
    assert 3 * len(longer.trace) < len(short.trace)


def test_an_object_without_sums_is_not_moved():
    Y = np.array([[0.2, 0.8], [0.5, 0.5], [0.3, 0.7], [1.0, 0.0]])
    H = np.array([[3.0, 1.0], [0.0, 2.0], [0.0, 0.0], [0.0, 2.0]])
    grown = np.empty_like(Y)
    grow_rows(Y, np.zeros(4), np.zeros(4), H, np.zeros((4, 2)), grown)
    np.testing.assert_allclose(grown, [[3 / 7, 4 / 7], [0, 1], [0.3, 0.7], [1, 0]])


@pytest.mark.parametrize("k", [1, 3, 7, 8, 13, 128, 129, 300])
def test_growth_steps_have_the_bits_of_numpy(k):
    rng = np.random.default_rng(k)
    Y, observed, fitted = (rng.random((9, k)) for _ in range(3))
    Y[2] = 0.0
    degree, own_c, own_N = (rng.random(9) for _ in range(3))
    own = np.empty_like(Y)
    own_rows(Y, own_N, own)
    np.testing.assert_array_equal(own, -own_N[:, None] * (Y**2).sum(axis=1, keepdims=True) * Y)
    observed_after = observed - own_c[:, None] * Y
    expected = Y * np.maximum(degree[:, None] + observed_after - fitted, 0.0)
    total = expected.sum(axis=1, keepdims=True)
    expected = np.where(total > 0, expected / np.where(total > 0, total, 1.0), Y)
    grown = np.empty_like(Y)
    grow_rows(Y, degree, own_c, observed, fitted, grown)
    np.testing.assert_array_equal(observed, observed_after)
    np.testing.assert_array_equal(grown, expected)


@pytest.mark.parametrize("groups_at_once", [1, 2, 100])
def test_presence_groups_give_the_same_sums_in_blocks(groups_at_once, monkeypatch):
    ensemble = Ensemble(random_labels(2, 40, 7, 3, missing=0.3), weights=np.arange(1.0, 8.0))
    Y = np.random.default_rng(3).dirichlet(np.ones(3), 40)
    monkeypatch.setattr(
        "conclust.consensus.papers.probabilistic.baum_eagon._CELLS", groups_at_once * Y.size
    )
    pairs = _ByClusters(ensemble, False, 1)
    _, N = evidence(ensemble)
    np.fill_diagonal(N, 0)
    np.testing.assert_allclose(pairs.sums(Y)[1], (N * (Y @ Y.T)) @ Y, rtol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_objective_with_the_diagonal_is_half_the_frobenius_norm(missing):
    # The sum over partitions of |Y Y' - B_u B_u'|^2 over the objects that u observed, less what no
    # membership changes: sum over ordered pairs of c - c^2 / N.
    labels = random_labels(4, 30, 6, 3, missing=missing)
    model = BaumEagon(3, random_state=0, diagonal=True, max_iter=20_000).fit(labels)
    Y = model.membership_
    total, c, N = 0.0, np.zeros((30, 30)), np.zeros((30, 30))
    for column in labels.T:
        seen = np.flatnonzero(column != -1)
        together = (column[seen, None] == column[seen]).astype(float)
        total += ((Y[seen] @ Y[seen].T - together) ** 2).sum()
        c[np.ix_(seen, seen)] += together
        N[np.ix_(seen, seen)] += 1
    unmoved = (c - c**2 / np.maximum(N, 1)).sum()
    assert model.objective_ == pytest.approx(0.5 * (total - unmoved), rel=1e-6)
    assert (np.diff(model.trace_) <= 1e-10 * model.trace_[0]).all()
    without = BaumEagon(3, random_state=0, max_iter=20_000).fit(labels)
    assert (Y**2).sum() > (without.membership_**2).sum()


def test_soft_members_are_weighted_by_their_posteriors():
    rng = np.random.default_rng(2)
    memberships = [rng.dirichlet(np.ones(k), 20) for k in (2, 3)]
    model = BaumEagon(3, random_state=0, max_iter=20_000).fit(
        Ensemble.from_memberships(memberships)
    )
    expected = least_squares.soft_objective(memberships, model.membership_)
    assert model.objective_ == pytest.approx(expected, rel=1e-6, abs=1e-9)


def _planted(n, missing=0.0):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, n)
    labels = np.where(rng.random((n, 9)) < 0.3, rng.integers(0, 4, (n, 9)), truth[:, None])
    labels[rng.random(labels.shape) < missing] = -1
    return labels


@pytest.mark.long
@pytest.mark.parametrize(("agree", "missing"), [(True, 0.2), (False, 0.0)])
def test_starts_compared_on_few_objects_end_as_low_as_all_on_all(agree, missing, monkeypatch):
    labels = _planted(700, missing)
    if not agree:
        monkeypatch.setattr("conclust.consensus.papers.probabilistic.baum_eagon._SAME", 2.0)
    model = BaumEagon(4, random_state=0).fit(labels)
    published = BaumEagon(4, random_state=0, accelerate=False, max_iter=50_000).fit(labels)
    assert model.objective_ <= published.objective_ * (1 + 1e-4)
    np.testing.assert_array_equal(model.labels_, published.labels_)
    # Many further published steps find no other solution.
    pairs = _pairs_of(Ensemble(labels), False, 1, 4)
    monkeypatch.setattr("conclust.consensus.papers.probabilistic.baum_eagon._STILL", 0.0)
    further = _grow(pairs, model.membership_, 5_000, 0.0, accelerate=False)
    assert model.objective_ <= further.trace[-1] * (1 + 1e-3)
    np.testing.assert_allclose(further.point, model.membership_, atol=0.03)
    assert (np.diff(model.trace_) <= 1e-10 * model.trace_[0]).all()
    assert model.trace_[-1] == model.objective_
    assert model.objective_ == pytest.approx(
        least_squares.objective(labels, model.membership_, None), rel=1e-9
    )


def test_memberships_of_other_objects_fit_those_of_some():
    truth = np.repeat([0, 1, 2], 20)
    ensemble = Ensemble(np.column_stack([truth, truth, (truth + 1) % 3]))
    chosen = np.arange(0, 60, 7)
    extended = _extended(np.eye(3)[truth[chosen]], ensemble.part(chosen), ensemble, chosen)
    np.testing.assert_allclose(extended, (np.eye(3)[truth] + 0.01 * (np.eye(3)[truth] == 0)) / 1.02)
