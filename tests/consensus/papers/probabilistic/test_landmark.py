"""Landmarks: an object's placement is the best there is, pooling loses nothing, threads change nothing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.naive import greedy as naive
from tests.naive.least_squares import counts

from conclust import Ensemble
from conclust.consensus.papers.probabilistic import descent
from conclust.consensus.papers.probabilistic.placements import landmarks as placed_by_landmarks
from conclust.consensus.papers.probabilistic.placements.landmarks import LandmarkModel
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Stopping
from conclust.consensus.papers.probabilistic.search.starts import inside
from conclust.consensus.papers.probabilistic.solvers import landmark
from conclust.divergences import kl, l2, mahalanobis, power
from conclust.evidence import evidence

DIVERGENCES = {
    "l2": l2,
    "kl": kl,
    "power": power(1.4),
    "mahalanobis": mahalanobis([[2, 0], [0, 3]]),
}
SEED = np.random.SeedSequence(0)


def labels_of(seed, n, m, k, missing=0.0, noise=0.0, flip=0.3):
    """Labels of k planted clusters, some of them wrong, missing or noise."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    labels = np.column_stack([rng.permutation(k)[truth] for _ in range(m)])
    labels = np.where(rng.random(labels.shape) < flip, rng.integers(0, k, labels.shape), labels)
    labels[rng.random(labels.shape) < noise] = -2
    labels[rng.random(labels.shape) < missing] = -1
    labels[:, 0] = truth
    return labels


def solved(ensemble, k, divergence, start=None, threads=1, **how):
    """Return the solution by landmarks, and the landmark objects."""
    problem, run = Problem(ensemble, k, divergence), Run(SEED, threads=threads)
    solver = landmark.Landmark(**how)
    return solver.solve(problem, start, Stopping(), run), solver.landmarks(problem, run)


CASES = {
    "complete": {},
    "missing": {"missing": 0.4},
    "noise": {"noise": 0.2},
    "weights": {"missing": 0.3, "weighted": True},
}


def ensemble_of(seed, n, m, k, weighted=False, **how):
    labels = labels_of(seed, n, m, k, **how)
    weights = np.random.default_rng(seed).random(m) + 0.1 if weighted else None
    return labels, weights, Ensemble(labels, weights=weights)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", DIVERGENCES)
def test_no_membership_on_a_grid_is_better(case, name):
    labels, weights, ensemble = ensemble_of(1, 46, 9, 4, **CASES[case])
    few = np.arange(40)
    Y = np.random.default_rng(2).dirichlet(np.full(3, 0.4), 40)
    model = LandmarkModel.of(ensemble.part(few), Y, DIVERGENCES[name])
    assert len(model.prototypes) == 40  # all differ, so pooling has no effect
    placed, loss, residual = model.placed(ensemble.codes[40:], 1e-9, 1)
    assert residual <= 1e-9
    np.testing.assert_allclose(placed.sum(axis=1), 1, atol=1e-12)
    assert (placed >= 0).all()
    c, N = counts(labels, weights)
    total = 0.0
    for i, y in enumerate(placed, 40):
        best, where = naive.placement(c[i, :40], N[i, :40], Y, DIVERGENCES[name], 30)
        products = np.clip(Y @ y, naive.LEAST, 1 - naive.LEAST)
        some = N[i, :40] > 0
        p = c[i, :40][some] / N[i, :40][some]
        value = float(N[i, :40][some] @ DIVERGENCES[name].value(p, products[some]))
        total += value
        assert value <= best * (1 + 1e-9)
        assert np.abs(y - where).max() <= 0.15
    assert loss == pytest.approx(total, rel=1e-6)


def memberships(kind, n, k, rng):
    """Memberships of n landmarks in k clusters, a few of which are hard cases of this kind."""
    Y = rng.dirichlet(np.full(k, 3.0 / k), n)
    if kind == "crisp":
        Y = np.eye(k)[rng.integers(0, k, n)]
    elif kind == "untouched":
        Y[:, : k // 2] = 0.0
    elif kind == "hardly touched":
        Y[:, : k // 2] *= 10.0 ** -rng.integers(3, 12, k // 2)
    elif kind == "one":
        Y[:] = np.eye(k)[k - 1]
    return Y / Y.sum(axis=1, keepdims=True)


def gaps(c, N, Y, placed, divergence):
    """Return each object's gap of optimality per unit of evidence, from its counts with the landmarks.

    The largest slope of a cluster with some of its mass, minus the smallest slope of all: 0 at the minimum.
    """
    a = np.clip(placed @ Y.T, 1e-12, 1 - 1e-12)
    p = np.divide(c, N, out=np.zeros(N.shape), where=N > 0)
    slopes = (N * divergence.derivative(p, a)) @ Y
    held = np.where(placed > 0, slopes, -np.inf).max(axis=1)
    return (held - slopes.min(axis=1)) / N.sum(axis=1)


@cache
def objects_to_place(k):
    case = CASES[["complete", "missing", "weights"][k % 3]]
    labels, weights, ensemble = ensemble_of(k, 190, 15, 5, **case)
    return ensemble, counts(labels, weights)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["soft", "crisp", "untouched", "hardly touched", "one"])
@pytest.mark.parametrize("k", [2, 19, 130])
@pytest.mark.parametrize("name", ["l2", "kl", "power"])
def test_placements_are_optimal_for_any_landmarks(kind, k, name):
    """The conditions of optimality hold with few or many clusters, some with no or few landmarks."""
    ensemble, counted = objects_to_place(k)
    few = 120
    Y = memberships(kind, few, k, np.random.default_rng(k))
    model = LandmarkModel.of(ensemble.part(np.arange(few)), Y, DIVERGENCES[name])
    placed, _, residual = model.placed(ensemble.codes[few:], 1e-7, 1)
    np.testing.assert_allclose(placed.sum(axis=1), 1, atol=1e-12)
    assert (placed >= 0).all()
    assert residual <= 1e-7
    if kind != "crisp":  # slopes are unbounded if y'y_j is 0 or 1 and contradicts the labels
        c, N = (part[few:, :few] for part in counted)
        assert gaps(c, N, Y, placed, DIVERGENCES[name]).max() <= 1.1e-7


@pytest.mark.parametrize("weights", [None, np.ones(90)])
def test_counts_above_sixteen_bits_are_exact(weights):
    """Integer counts are added in sixteen bits only if all sums fit: 90 x 1,460 does not."""
    few = 1500
    labels = np.random.default_rng(0).integers(0, 2, (few + 40, 90))
    labels[:, :80] = 0
    ensemble = Ensemble(labels, weights=weights)
    Y = np.repeat([[0.9, 0.1], [0.2, 0.8]], [few - 40, 40], axis=0)
    model = LandmarkModel.of(ensemble.part(np.arange(few)), Y, kl)
    placed, _, _ = model.placed(ensemble.codes[few:], 1e-9, 1)
    c = (labels[few:, None, :] == labels[None, :few, :]).sum(axis=2)
    assert gaps(c, np.full_like(c, 90), Y, placed, kl).max() <= 1.1e-9


@pytest.mark.parametrize("name", ["l2", "kl", "power"])
def test_pooling_equal_landmarks_is_exact(name):
    _, _, ensemble = ensemble_of(3, 260, 12, 4, missing=0.3)
    few = np.arange(200)
    Y = np.random.default_rng(4).dirichlet(np.ones(4), 9)[
        np.random.default_rng(5).integers(0, 9, 200)
    ]
    pooled = LandmarkModel.of(ensemble.part(few), Y, DIVERGENCES[name])
    assert len(pooled.prototypes) == 9
    apart = Y + np.random.default_rng(6).normal(0, 1e-13, Y.shape)
    each = LandmarkModel.of(ensemble.part(few), apart, DIVERGENCES[name], 1000)
    assert len(each.prototypes) == 200
    a, _, _ = pooled.placed(ensemble.codes[200:], 1e-10, 1)
    b, _, _ = each.placed(ensemble.codes[200:], 1e-10, 1)
    np.testing.assert_allclose(a, b, atol=1e-4)


@pytest.mark.parametrize("name", ["l2", "kl"])
@pytest.mark.parametrize("k", [3, 6, 11])
def test_landmarks_at_all_objects_give_the_pairwise_solution(name, k):
    _, _, ensemble = ensemble_of(7, 90, 10, 3, missing=0.2)
    start = np.random.default_rng(1).dirichlet(np.ones(k), 90)
    start = inside(start)
    found, landmarks = solved(ensemble, k, DIVERGENCES[name], start)
    expected = descent.descend(
        evidence(ensemble),
        start,
        DIVERGENCES[name],
        Stopping(),
    )
    np.testing.assert_array_equal(found.membership, expected.membership)
    assert found.objective == expected.objective
    np.testing.assert_array_equal(landmarks, np.arange(90))


@pytest.mark.parametrize("name", DIVERGENCES)
def test_planted_clusters_are_found_by_few_landmarks(name):
    labels, _, ensemble = ensemble_of(9, 3000, 12, 3, missing=0.3, flip=0.2)
    found, landmarks = solved(ensemble, 4, DIVERGENCES[name], n_landmarks=200)
    assert len(landmarks) == 200
    assert found.converged
    guess = found.membership.argmax(axis=1)
    table = np.zeros((4, 3))
    np.add.at(table, (guess, labels[:, 0]), 1)
    assert table.max(axis=1).sum() >= 0.97 * 3000


def test_threads_and_blocks_change_no_bit(monkeypatch):
    _, _, ensemble = ensemble_of(11, 1500, 10, 3, missing=0.3, weighted=True)
    found = []
    for threads, at_once, grouped in ((1, 20_000, 1 << 19), (2, 20_000, 1 << 19), (4, 130, 300)):
        monkeypatch.setattr(placed_by_landmarks, "_AT_ONCE", at_once)
        monkeypatch.setattr(placed_by_landmarks, "_GROUPED", grouped)
        how = {"n_landmarks": 150, "n_prototypes": 40}
        found.append(solved(ensemble, 3, kl, threads=threads, **how)[0])
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].membership, other.membership)
    assert found[0].objective == found[1].objective


def test_the_objective_covers_landmarks_and_placements():
    _, _, ensemble = ensemble_of(13, 400, 10, 3)
    found, landmarks = solved(ensemble, 3, kl, n_landmarks=100)
    c, N = evidence(ensemble.part(landmarks))
    among_landmarks = naive.objective(c, N, found.membership[landmarks], kl)
    rest = np.delete(np.arange(400), landmarks)
    placed, loss, _ = found.placement.placed(ensemble.codes, 1e-8, 1, objects=rest)
    np.testing.assert_array_equal(placed, found.membership[rest])
    assert found.objective == pytest.approx(among_landmarks + loss, rel=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_objects_with_equal_labels_are_placed_the_same(case):
    _, _, ensemble = ensemble_of(14, 300, 7, 3, **CASES[case])
    Y = np.random.default_rng(0).dirichlet(np.ones(3), 300)
    model = LandmarkModel.of(ensemble, Y, kl)
    many = np.random.default_rng(1).integers(0, 300, 900)
    together, loss, gap = model.placed(ensemble.codes, 1e-9, 1, objects=many)
    alone = [model.placed(ensemble.codes[i : i + 1], 1e-9, 1) for i in many]
    np.testing.assert_array_equal(together, np.concatenate([each[0] for each in alone]))
    assert loss == pytest.approx(sum(each[1] for each in alone), rel=1e-12)
    assert gap == max(each[2] for each in alone)


def test_an_object_never_observed_with_the_landmarks_is_uniform():
    labels = labels_of(17, 60, 6, 3)
    labels[50:, :3] = -1
    labels[:50, 3:] = -1
    ensemble = Ensemble(labels)
    Y = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    model = LandmarkModel.of(ensemble.part(np.arange(50)), Y, kl)
    placed, loss, residual = model.placed(ensemble.codes[50:], 1e-9, 1)
    np.testing.assert_allclose(placed, 1 / 3)
    assert loss == 0
    assert residual == 0
