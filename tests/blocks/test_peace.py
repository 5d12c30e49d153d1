"""PEACE in blocks, with more objects than are solved on all their pairs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import xlogy
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted

from conclust import PEACE, Ensemble
from conclust._random import seed_sequence
from conclust.blocks import LabelStore
from conclust.consensus.probabilistic.estimator import run_of
from conclust.consensus.probabilistic.solvers.landmark import N_LANDMARKS, Landmark
from conclust.evidence import evidence
from conclust.exceptions import ParameterError


@pytest.mark.long
@pytest.mark.parametrize("weighted", [False, True])
def test_the_likelihood_is_computed_on_the_solved_objects(weighted):
    labels, truth = planted(seed=4, n=N_LANDMARKS + 500, m=8, k=3, flip=0.25, missing=0.1)
    weights = np.linspace(0.5, 2.0, 8) if weighted else None
    model = PEACE(3, n_init=2, random_state=0)
    model.fit(LabelStore(labels, weights=weights, block_rows=700))
    run = replace(run_of(model), seed=seed_sequence(0, "PEACE"))
    chosen = Landmark().drawn(len(labels), run)
    assert len(chosen) == N_LANDMARKS
    rows = np.asarray(model.membership_)
    counted = evidence(Ensemble(labels[chosen], weights=weights))
    upper = np.triu_indices(len(chosen), 1)
    c, N = (np.asarray(table)[upper] for table in (counted.counts, counted.copresence))
    together = (rows[chosen] @ rows[chosen].T)[upper]
    observed = N > 0
    c, N, together = c[observed], N[observed], together[observed]
    expected = float((xlogy(c, together) + xlogy(N - c, 1.0 - together)).sum())
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-6)
    assert model.log_likelihood_ == model.log_likelihoods_.max()
    assert model.log_likelihoods_.shape == (2,)
    best = float((xlogy(c, c / N) + xlogy(N - c, 1.0 - c / N)).sum())
    # The other objects are additionally compared with the solved ones.
    assert model.objective_ > best - model.log_likelihood_
    assert adjusted_rand_score(truth, np.asarray(model.labels_)) > 0.95


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("solver", "greedy"),
        ("init", "random"),
        ("init", np.zeros(40, dtype=int)),
        ("pairs", 5),
        ("granularity", "matched"),
    ],
)
def test_methods_that_need_all_labels_at_once_are_refused(name, value):
    labels, _ = planted(seed=0, n=40, m=4, k=2)
    with pytest.raises(ParameterError, match=rf"'{name}' parameter of PEACE .* in blocks"):
        PEACE(2, **{name: value}).fit(LabelStore(labels, block_rows=20))
