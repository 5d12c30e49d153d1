"""The greedy solver against its twin, step by step, and at known solutions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import E1, random_labels
from tests.naive import greedy as naive

from conclust import Ensemble
from conclust._kernels import GreedySolver, PairCounts
from conclust.consensus.papers.probabilistic.solvers import greedy
from conclust.divergences import Divergence, kl, l2, mahalanobis, power
from conclust.evidence import DenseEvidence, SparseEvidence, evidence

DIVERGENCES = {
    "l2": l2,
    "kl": kl,
    "power": power(1.4),
    "mahalanobis": mahalanobis([[2, 0], [0, 3]]),
}


def start_of(seed, n, k):
    return np.random.default_rng(seed).dirichlet(np.ones(k), n)


def pattern(c, N):
    """All pairs with evidence, as a pattern."""
    mask = N > 0
    np.fill_diagonal(mask, False)
    indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
    small = c.dtype.kind == "u"
    kind = np.uint32 if small else np.float64
    indices = np.nonzero(mask)[1].astype(np.int32)
    return SparseEvidence(indptr, indices, c[mask].astype(kind), N[mask].astype(kind))


def kernel_solver(c, N, Y, divergence, max_steps, tol=0.0):
    kernel = divergence._kernel
    return GreedySolver(PairCounts(c, N), Y, kernel.code, kernel.parameter, None, tol, max_steps)


@pytest.mark.parametrize("name", ["l2", "kl", "power"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_steps_match_the_naive_twin(name, k):
    divergence = DIVERGENCES[name]
    c, N = evidence(random_labels(0, 12, 6, 3, 0.2))
    Y = start_of(1, 12, k)
    expected = Y
    for steps in range(1, 16):
        expected = naive.step(c, N, expected, divergence)
        actual = greedy.steps(DenseEvidence(c, N), Y, divergence, tol=0.0, max_iter=steps)
        assert actual.n_iter == steps
        np.testing.assert_allclose(actual.membership, expected, atol=1e-6)
        np.testing.assert_array_equal(actual.membership == 0, expected == 0)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_the_objective_and_the_residual_match_their_definition(name):
    divergence = DIVERGENCES[name]
    c, N = evidence(random_labels(2, 15, 7, 3, 0.2))
    actual = greedy.steps(DenseEvidence(c, N), start_of(3, 15, 3), divergence, tol=1e-7)
    assert actual.converged
    assert actual.residual <= 1e-7
    assert actual.objective == pytest.approx(
        naive.objective(c, N, actual.membership, divergence), rel=1e-9
    )
    assert naive.residual(c, N, actual.membership, divergence) <= 2e-7
    np.testing.assert_allclose(actual.membership.sum(axis=1), 1, atol=1e-12)
    assert (actual.membership >= 0).all()
    start = naive.objective(c, N, start_of(3, 15, 3), divergence)
    assert actual.trace[0, 0] == pytest.approx(start, rel=1e-9)


@pytest.mark.parametrize("name", ["l2", "kl"])
@pytest.mark.parametrize("k", [3, 10, 18])
def test_tracked_gradients_equal_recomputed_ones(name, k):
    divergence = DIVERGENCES[name]
    c, N = evidence(random_labels(6, 24, 8, 4, 0.2))
    solver = kernel_solver(c, N, start_of(7, 24, k), divergence, 10**6, 1e-9)
    Y, tracked = np.empty((24, k)), np.empty((24, k))
    for _ in range(40):
        ended = solver.run(300)
        if solver.steps:
            solver.read(Y, tracked)
            expected = naive.gradient(c, N, Y, divergence)
            scale = np.abs(expected).max()
            np.testing.assert_allclose(tracked, expected, atol=1e-9 * scale)
        if ended:
            break
    assert solver.steps > 24


@pytest.mark.parametrize("name", ["l2", "kl", "power"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_full_pattern_gives_the_bits_of_the_dense_matrix(name, weighted):
    labels = random_labels(8, 40, 9, 4, missing=0.6)
    weights = np.random.default_rng(0).random(9) + 0.1 if weighted else None
    c, N = evidence(Ensemble(labels, weights=weights))
    Y = start_of(9, 40, 4)
    dense = greedy.steps(DenseEvidence(c, N), Y, DIVERGENCES[name], tol=1e-6)
    sparse = greedy.steps(pattern(c, N), Y, DIVERGENCES[name], tol=1e-6)
    np.testing.assert_array_equal(dense.membership, sparse.membership)
    assert dense.objective == sparse.objective
    assert dense.n_iter == sparse.n_iter


def test_types_of_counts_change_no_bit():
    c, N = evidence(random_labels(10, 30, 9, 3, 0.2))
    Y = start_of(11, 30, 3)
    expected = greedy.steps(DenseEvidence(c, N), Y, kl, tol=1e-6)
    sparse = pattern(c, N)
    wide = SparseEvidence(
        sparse.indptr, sparse.indices, sparse.counts * 1.0, sparse.copresence * 1.0
    )
    kinds = [(np.uint16,) * 2, (np.uint32,) * 2, (float,) * 2, (float, N.dtype)]
    for other in [wide, *(DenseEvidence(c.astype(one), N.astype(two)) for one, two in kinds)]:
        actual = greedy.steps(other, Y, kl, tol=1e-6)
        np.testing.assert_array_equal(actual.membership, expected.membership)


def test_splitting_the_work_into_calls_changes_no_bit():
    c, N = evidence(random_labels(12, 30, 9, 3, 0.2))
    values = []
    for visits in (1, 77, 10**9):
        solver = kernel_solver(c, N, start_of(13, 30, 3), kl, 10**6, 1e-6)
        while not solver.run(visits):
            pass
        Y, g = np.empty((30, 3)), np.empty((30, 3))
        solver.read(Y, g)
        values.append((Y, g, solver.steps, solver.trace))
    for other in values[1:]:
        np.testing.assert_array_equal(values[0][0], other[0])
        np.testing.assert_array_equal(values[0][1], other[1])
        assert values[0][2:] == other[2:]


@pytest.mark.parametrize("n", [2, 7, 8, 9, 63, 64, 65, 513])
def test_the_queue_finds_the_largest_gap_at_any_size(n):
    # The step must be that of the object with the largest gap.
    labels = random_labels(14, n, 5, 3, 0.2)
    c, N = evidence(labels)
    Y = start_of(15, n, 3)
    for steps in range(1, 6):
        before = greedy.steps(DenseEvidence(c, N), Y, l2, tol=0.0, max_iter=steps - 1).membership
        after = greedy.steps(DenseEvidence(c, N), Y, l2, tol=0.0, max_iter=steps).membership
        moved = np.flatnonzero((np.abs(before - after) > 1e-12).any(axis=1))
        W = 2.0 * (N * (before @ before.T) - c)
        np.fill_diagonal(W, 0)
        g = W @ before
        gaps = np.where(before > 0, g, -np.inf).max(axis=1) - g.min(axis=1)
        assert len(moved) <= 1
        if len(moved):
            assert gaps[moved[0]] == pytest.approx(gaps.max(), rel=1e-9)


def test_objects_without_evidence_are_not_moved():
    labels = np.array([[0, 0, -1], [0, 0, -1], [1, 1, -1], [-1, -1, 0]])
    Y = start_of(18, 4, 2)
    for given in (evidence(labels), pattern(*evidence(labels))):
        actual = greedy.steps(given, Y, kl, tol=1e-8)
        np.testing.assert_allclose(actual.membership[3], Y[3], atol=1e-15)
        assert actual.converged


# No multiple of a built-in one: Bregman's of h(q) = q^2 + q^3 / 6.
OWN_CUBIC = Divergence(
    lambda p, q: p**2 + p**3 / 6 - q**2 - q**3 / 6 - (p - q) * (2 * q + q**2 / 2),
    lambda p, q: (2 + q) * (q - p),
)


def test_steps_with_a_custom_divergence_match_the_naive_twin():
    c, N = evidence(random_labels(24, 12, 6, 3, 0.2))
    expected = Y = start_of(25, 12, 3)
    for steps in range(1, 13):
        expected = naive.step(c, N, expected, OWN_CUBIC)
        actual = greedy.steps(DenseEvidence(c, N), Y, OWN_CUBIC, tol=0.0, max_iter=steps)
        np.testing.assert_allclose(actual.membership, expected, atol=1e-6)
    ended = greedy.steps(DenseEvidence(c, N), Y, OWN_CUBIC, tol=1e-6)
    assert ended.converged
    assert naive.residual(c, N, ended.membership, OWN_CUBIC) <= 2e-6
    assert ended.objective == pytest.approx(
        naive.objective(c, N, ended.membership, OWN_CUBIC), rel=1e-9
    )


def test_errors_of_a_custom_divergence_reach_the_caller():
    def fails(p, q):
        if len(p) < 10:  # as in a step; not in the check of a new Divergence
            raise ZeroDivisionError("mine")
        return 2 * (q - p)

    custom = Divergence(lambda p, q: (p - q) ** 2, fails)
    with pytest.raises(ZeroDivisionError, match="mine"):
        greedy.steps(evidence(E1), start_of(0, 4, 2), custom)
