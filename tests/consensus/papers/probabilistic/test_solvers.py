"""The interface of the solvers: the problem, the solution, and a new solver without a change in PCC."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from tests.cases import planted

from conclust import PCC, EnsembleGenerator
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.consensus.papers.probabilistic.search.starts import inside
from conclust.consensus.papers.probabilistic.solvers import SOLVERS, choose
from conclust.divergences import Divergence, kl, l2
from conclust.ensemble import Ensemble
from conclust.evidence import evidence
from conclust.exceptions import EnsembleWarning


@pytest.mark.parametrize("name", SOLVERS)
def test_all_solvers_have_one_interface(name):
    solver = SOLVERS[name]
    ensemble = Ensemble(planted(1, 60, 8, flip=0.3)[0])
    pair_evidence = evidence(ensemble) if solver.forms_pairs else None
    problem = Problem(ensemble, 4, l2, pair_evidence)
    rng = np.random.default_rng(0)
    printed = []
    run = Run(np.random.SeedSequence(0), 2, 1, lambda line, *of: printed.append(line))
    for start in (None, inside(rng.dirichlet(np.ones(4), 60))):
        before = None if start is None else start.copy()
        actual = solver.solve(problem, start, Stopping(50, 1e-6, 1e-8), run)
        assert isinstance(actual, Solution)
        assert actual.membership.shape == (60, 4)
        np.testing.assert_allclose(actual.membership.sum(axis=1), 1, atol=1e-12)
        assert actual.trace.ndim == 2
        assert actual.trace.shape[1] == 2
        assert actual.trace[-1, 0] <= actual.trace[0, 0]
        assert (actual.constant is not None) == (name == "factored")
        if start is not None:
            np.testing.assert_array_equal(start, before)
        if actual.placement is not None:
            placed = actual.placement.reordered(np.array([2, 0, 1, 3])).place(
                ensemble.codes, 1e-9, 1
            )
            # Placed by the sums of the others, each object is close to its previous position.
            assert np.abs(placed - actual.membership[:, [2, 0, 1, 3]]).mean() < 0.05
    assert printed


def test_all_pairs_are_used_while_their_work_is_small():
    for n, k, expected in (
        (8000, 1, "pairwise"),
        (8001, 1, "landmark"),
        (3950, 8, "pairwise"),
        (3960, 8, "landmark"),
        (1500, 50, "pairwise"),
        (1600, 50, "landmark"),
    ):
        assert choose("auto", kl, None, n, k, "PCC") == expected
    custom = Divergence(kl.value, kl.derivative, name="own")
    assert choose("auto", custom, None, 9000, 50, "PCC") == "pairwise"
    assert choose("auto", l2, None, 10**6, 50, "PCC") == "factored"
    assert choose("auto", kl, 10, 10**6, 50, "PCC") == "pairwise"


@pytest.mark.long
def test_a_bound_equal_to_the_objects_reaches_the_objective_of_a_bound_of_50():
    # Random starts with a column for each object exhausted the budget of the search: 1 % above.
    X = StandardScaler().fit_transform(load_wine().data)
    labels = EnsembleGenerator("kmeans", random_state=0).fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnsembleWarning)
        most, fifty = (PCC(k, random_state=0).fit(labels) for k in (len(X), 50))
    assert most.objective_ <= fifty.objective_
    assert most.n_clusters_max_ == len(X)
