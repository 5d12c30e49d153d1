from __future__ import annotations

import numpy as np
import pytest
from tests.naive import least_squares as naive

from conclust import PCC, Ensemble
from conclust.consensus.papers.probabilistic.objective import squared
from conclust.consensus.papers.probabilistic.placements.factored_model import FactoredModel, padded
from conclust.consensus.papers.probabilistic.search import multistart, starts


def started(labels, Y, weights=None):
    ensemble = Ensemble(labels, weights=weights)
    model = FactoredModel.of(ensemble)
    descent = multistart._Descent(ensemble, model, Y.shape[1], squared(ensemble, 1))
    solver = model.solver(ensemble.label_view, Y.shape[1])
    wide = padded(Y)
    solver.rebuild(wide, 1)
    return multistart.Start(solver, wide, solver.objective()), descent


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("missing", "noise"), [(0, 0), (0.3, 0), (0.3, 0.2)])
def test_the_cost_of_a_merge_matches_merging(missing, noise, weighted):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (14, 5))
    labels[rng.random(labels.shape) < missing] = -1
    labels[rng.random(labels.shape) < noise] = -2
    labels[0] = 0
    weights = rng.random(5) if weighted else None
    Y = rng.dirichlet(np.ones(4), 14)
    start, descent = started(labels, Y, weights)
    cost = multistart._merge_costs(start, descent)
    before = naive.loss(labels, Y, weights)
    for a in range(4):
        for b in range(a + 1, 4):
            merged = Y.copy()
            merged[:, a] += merged[:, b]
            merged[:, b] = 0
            after = naive.loss(labels, merged, weights)
            assert cost[a, b] == pytest.approx(after - before, rel=1e-9, abs=1e-9)


def test_escapes_improve_on_random_starts_on_real_digits():
    from sklearn.datasets import load_digits

    from conclust import EnsembleGenerator

    X = load_digits().data
    generator = EnsembleGenerator("kmeans", n_partitions=60, scale="minmax", random_state=0)
    _, descent = started(generator.fit_transform(X), np.full((len(X), 10), 0.1))
    mended = 0
    for seed in range(6):
        once = descent.run(starts.random_membership(len(X), 10, np.random.default_rng(seed)))
        best = multistart._escape(once, descent, 5, np.random.default_rng(seed))
        assert best.loss <= once.loss
        mended += best.escapes > 0
        repeated = best.solver.objective()
        best.solver.rebuild(best.Y, 1)
        assert best.solver.objective() == pytest.approx(repeated, rel=1e-9)
    assert mended >= 2


def test_more_clusters_never_fit_worse():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 5, 200)
    labels = np.column_stack(
        [np.where(rng.random(200) < 0.3, rng.integers(0, 5, 200), truth) for _ in range(15)]
    )
    objectives = [
        PCC(k, divergence="l2", random_state=0).fit(labels).objective_ for k in range(1, 7)
    ]
    assert (np.diff(objectives) <= 1e-3 * np.array(objectives[:-1])).all()
