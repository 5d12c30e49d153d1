"""The solvers of the pair objective against each other: on easy data, on hard data, on patterns."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import planted

from conclust import PCC, Ensemble, EnsembleGenerator
from conclust.consensus.papers.probabilistic import descent
from conclust.consensus.papers.probabilistic.problem import Stopping
from conclust.consensus.papers.probabilistic.search import starts
from conclust.consensus.papers.probabilistic.solvers import greedy, pairwise
from conclust.divergences import Divergence, kl, l2, power
from conclust.evidence import DenseEvidence, evidence, sample_pairs
from conclust.exceptions import EvidenceWarning

OWN = Divergence(kl.value, kl.derivative, kl.curvature, name="own kl")
POWER = power(1.5)


def ensemble_of(points, n_clusters, seed):
    generator = EnsembleGenerator(
        "kmeans", n_partitions=25, n_clusters=n_clusters, init="random", random_state=seed
    )
    return generator.fit_transform(points)


def micro_blocks(seed):
    """Many small clusters in every partition: nearly all pairs are apart."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(200, 2)) + 4 * rng.integers(0, 2, (200, 2))
    return ensemble_of(points, 25, seed)


def overlapping(seed):
    rng = np.random.default_rng(seed)
    corners = 1.8 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    return ensemble_of(rng.normal(size=(200, 2)) + corners[rng.integers(0, 4, 200)], (2, 8), seed)


def unbalanced(seed):
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, 240, p=[0.7, 0.15, 0.08, 0.04, 0.03])
    points = rng.normal(size=(240, 3)) + rng.normal(0, 3, (5, 3))[truth]
    return ensemble_of(points, (2, 8), seed)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("divergence", [kl, l2, POWER], ids=lambda d: d.name)
def test_all_solvers_agree_from_one_start_on_easy_data(divergence, seed):
    labels, _ = planted(seed, n=150, m=20, flip=0.15)
    pair_evidence = evidence(labels)
    Y = starts.inside(np.eye(3)[labels[:, 0]])
    reference = greedy.steps(pair_evidence, Y, divergence, tol=1e-6).objective
    solvers = ["pairwise", "greedy", "landmark"] + ["factored"] * (divergence is l2)
    for solver in solvers:
        model = PCC(3, divergence=divergence, solver=solver, init=Y, random_state=0).fit(labels)
        assert model.objective_ == pytest.approx(reference, rel=1e-3), solver


@pytest.mark.parametrize("seed", [0, 4])
@pytest.mark.parametrize("make", [micro_blocks, overlapping, unbalanced])
@pytest.mark.parametrize("divergence", [kl, l2], ids=lambda d: d.name)
def test_no_greedy_start_ends_lower_on_hard_data(divergence, make, seed):
    labels = make(seed)
    pair_evidence = evidence(labels)
    actual = PCC(5, divergence=divergence, n_init=5, random_state=0).fit(labels).objective_
    for other in range(2):
        Y = starts.random_membership(len(pair_evidence[0]), 5, np.random.default_rng(other))
        assert actual <= 1.001 * greedy.steps(pair_evidence, Y, divergence, tol=1e-6).objective


def test_escapes_reach_solutions_that_random_starts_miss():
    labels = overlapping(4)
    pair_evidence = evidence(labels)
    actual = PCC(5, n_init=5, random_state=0).fit(labels).objective_
    for seed in range(5):
        Y = starts.inside(
            starts.random_membership(len(pair_evidence[0]), 5, np.random.default_rng(seed))
        )
        plain = descent.descend(pair_evidence, Y, kl, Stopping(200, 1e-7, 1e-8))
        assert plain.converged
        assert plain.objective > 1.001 * actual


def test_a_pattern_may_leave_the_last_object_without_pairs():
    labels = np.random.default_rng(0).integers(0, 3, (30, 6))
    labels[29, :5] = labels[:29, 5] = -1  # no object was observed together with the last one
    pattern = sample_pairs(labels, 2, random_state=0)
    assert 29 not in pattern.indices
    counted = pattern.matrices()
    for matrix, entries in zip(counted, (pattern.counts, pattern.copresence), strict=True):
        naive = np.zeros((30, 30))
        for i in range(30):
            row = slice(pattern.indptr[i], pattern.indptr[i + 1])
            naive[i, pattern.indices[row]] = entries[row]
        np.testing.assert_array_equal(matrix.toarray(), naive)
    with pytest.warns(EvidenceWarning, match="2 sets that no partition connects"):
        model = PCC(4, pairs=2, random_state=0).fit(labels)
    assert model.converged_
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1)


@pytest.mark.parametrize("seed", range(2))
def test_solutions_exact_up_to_rounding_are_not_escaped(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 7))
    truth = np.repeat(np.arange(k), rng.integers(2, 9, k))
    labels = np.tile(truth[:, np.newaxis], (1, int(rng.integers(1, 12))))
    tried = []

    def escape(best, *rest):
        tried.append(best.objective)
        return best

    monkeypatch.setattr(pairwise, "escape", escape)
    model = PCC(k + 1, random_state=seed).fit(labels)
    assert model.objective_ == pytest.approx(0.0, abs=1e-6)
    assert all(f > 1e-10 * labels.shape[1] * len(truth) for f in tried)


@pytest.mark.parametrize(
    ("solver", "divergence"),
    [
        *(("pairwise", divergence) for divergence in (kl, l2, POWER, OWN)),
        *(("greedy", divergence) for divergence in (kl, l2, POWER)),
    ],
    ids=str,
)
def test_a_pattern_of_all_pairs_gives_the_result_of_all_pairs(solver, divergence):
    labels, _ = planted(5, n=60, m=20, flip=0.15)
    pattern = sample_pairs(labels, 59, random_state=0)
    Y = starts.inside(np.eye(3)[labels[:, 0]])
    how = {"divergence": divergence, "solver": solver, "init": Y, "random_state": 0}
    all_pairs, given = (PCC(3, pairs=pairs, **how).fit(labels) for pairs in (None, pattern))
    assert given.objective_ == pytest.approx(all_pairs.objective_, rel=1e-6)
    np.testing.assert_allclose(given.membership_, all_pairs.membership_, atol=1e-4)


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 11, 13])
@pytest.mark.parametrize("k", [2, 4, 5, 12, 14])
def test_rows_of_any_length_are_gathered_completely(n, k):
    # Objects with 1 to n partners, and memberships of one to four packs.
    labels = Ensemble(planted(n, n=n + 1, m=20, k=2, flip=0.15)[0])
    Y = starts.inside(np.random.default_rng(n).dirichlet(np.ones(k), n + 1))
    c, N = evidence(labels)
    dense = descent._Work(DenseEvidence(c, N), Y, kl)
    sparse = descent._Work(sample_pairs(labels, n, random_state=0), Y, kl)
    for work in (dense, sparse):
        work.visit(work.everyone, 0.0, 0.0, finish=False)
    np.testing.assert_allclose(sparse.Y, dense.Y, atol=1e-10)
    assert sparse.objective() == pytest.approx(dense.objective(), rel=1e-10)
