"""Spectral starts and embeddings where Lanczos does not converge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.metrics import adjusted_rand_score

from conclust import PCC, Ensemble
from conclust._random import seed_sequence
from conclust.consensus.papers.probabilistic.search import starts
from conclust.evidence import evidence
from conclust.generation.kinds import grid as mixed


def planted(n=260, m=12, k=4):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, k, n)
    drawn = [np.where(rng.random(n) < 0.2, rng.integers(0, k, n), truth) for _ in range(m)]
    return np.column_stack(drawn), truth


def failing(kept):
    def not_converged(operator, k, **options):
        n = operator.shape[0]
        raise ArpackNoConvergence(
            "no convergence", np.ones(kept), np.linalg.qr(np.ones((n, kept)) + np.eye(n, kept))[0]
        )

    return not_converged


def test_small_evidence_is_solved_densely(monkeypatch):
    labels, _ = planted()
    pairs = evidence(Ensemble(labels))
    expected = starts.spectral_start(pairs, 4, seed_sequence(0))
    monkeypatch.setattr(starts, "eigsh", failing(0))
    actual = starts.spectral_start(pairs, 4, seed_sequence(0))
    # The order of the directions decides on the columns of Helmert's matrix: the space is the same.
    for one in (expected, actual):
        np.testing.assert_allclose(one.sum(axis=1), 1)
    spaces = [
        np.linalg.qr(one - one.mean(axis=1, keepdims=True))[0][:, :3] for one in (expected, actual)
    ]
    np.testing.assert_allclose(np.linalg.svd(spaces[0].T @ spaces[1])[1], 1, atol=1e-6)


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_converged_vectors_of_many_objects_give_a_start(monkeypatch, kept):
    labels, truth = planted()
    monkeypatch.setattr(starts, "eigsh", failing(kept))
    monkeypatch.setattr(starts, "_WHOLE_AT_LAST", 10)
    Y = starts.spectral_start(evidence(Ensemble(labels)), 4, seed_sequence(0))
    assert Y.shape == (260, 4)
    assert (Y >= 0).all()
    np.testing.assert_allclose(Y.sum(axis=1), 1)
    assert np.linalg.matrix_rank(Y - 0.25, tol=1e-8) == max(kept, 1)
    model = PCC(4, init="spectral", random_state=0).fit(labels)
    assert adjusted_rand_score(truth, model.labels_) > 0.95


def test_mixed_members_solve_the_affinity_densely(monkeypatch):
    points = np.random.default_rng(0).normal(size=(80, 2))
    affinity = mixed._normalised_affinity(points)
    monkeypatch.setattr(mixed, "_DIRECT", 10)
    actual = mixed._leading_vectors(affinity.copy(), 3, np.random.default_rng(0))
    monkeypatch.setattr(mixed, "eigsh", failing(0))
    whole = mixed._leading_vectors(affinity.copy(), 3, np.random.default_rng(0))
    np.testing.assert_allclose(abs(actual), abs(whole), atol=1e-7)
    values = np.sort(np.linalg.eigvalsh(affinity))[::-1][:3]
    np.testing.assert_allclose(affinity @ whole, whole * values, atol=1e-10)
