"""Stability and ambiguity of objects, against all pairs one by one."""

from itertools import pairwise

import numpy as np
import pytest
from tests.cases import E1
from tests.naive import confidence as naive
from tests.naive.linkage import random_labels

from conclust import Ensemble
from conclust.confidence import object_ambiguity, sample_stability
from conclust.confidence import stability as module
from conclust.exceptions import ParameterError

KINDS = [
    (0.0, 0.0, False),
    (0.0, 0.2, False),
    (0.0, 0.0, True),
    (0.3, 0.1, False),
    (0.3, 0.0, True),
]


def ensemble_of(missing, noise, weighted, n=40, m=6):
    labels = random_labels(np.random.default_rng(8), n, m, k=5, missing=missing, noise=noise)
    labels[5] = labels[9]
    return Ensemble(labels, weights=np.arange(1.0, m + 1) if weighted else None)


def otsu(values):
    """The threshold that separates values with the largest variance between the two groups."""
    at = np.unique(np.round(values, 12))
    if len(at) == 1:
        return at[0]
    actual = []
    for low, high in pairwise(at):
        t = 0.5 * (low + high)
        a, b = values[values < t], values[values >= t]
        actual.append((len(a) * len(b) * (a.mean() - b.mean()) ** 2, -t))
    best = max(value for value, _ in actual)
    return -max(t for value, t in actual if value >= best * (1 - 1e-12))


@pytest.mark.parametrize(("missing", "noise", "weighted"), KINDS)
def test_ambiguity_is_the_mean_over_pairs(missing, noise, weighted):
    e = ensemble_of(missing, noise, weighted)
    p = naive.shares(e)
    np.fill_diagonal(p, np.nan)
    expected = np.nanmean(4 * p * (1 - p), axis=1)
    np.testing.assert_allclose(object_ambiguity(e), expected, atol=1e-12)


def test_ambiguity_needs_no_table_and_takes_soft_members(monkeypatch):
    e = ensemble_of(0.0, 0.2, True)
    expected = object_ambiguity(e)
    monkeypatch.setattr(module, "_TABLE", 3)
    np.testing.assert_allclose(object_ambiguity(e), expected, atol=1e-12)
    members = [np.random.default_rng(u).dirichlet(np.ones(3), 12) for u in range(4)]
    p = sum(M @ M.T for M in members) / 4
    np.fill_diagonal(p, 0.0)
    soft = object_ambiguity(Ensemble.from_memberships(members))
    np.testing.assert_allclose(soft, (4 * p * (1 - p)).sum(axis=1) / 11, atol=1e-12)


@pytest.mark.parametrize("determinacy", ["linear", "quadratic"])
@pytest.mark.parametrize(("missing", "noise", "weighted"), KINDS)
def test_stability_averages_over_all_pairs(determinacy, missing, noise, weighted):
    e = ensemble_of(missing, noise, weighted)
    p = naive.shares(e)
    np.fill_diagonal(p, np.nan)
    if missing or weighted:
        p = np.rint(p * 1000) / 1000
    th = otsu(p[~np.isnan(p)])
    f = np.where(p < th, (th - p) / th, (p - th) / (1 - th))
    raw = np.nanmean(f**2 if determinacy == "quadratic" else f, axis=1)
    scaled = (raw - raw.min()) / (raw.max() - raw.min())
    actual = sample_stability(e, determinacy=determinacy)
    assert actual.threshold == pytest.approx(th, abs=1e-12)
    np.testing.assert_allclose(actual.determinacy, raw, atol=1e-10)
    np.testing.assert_allclose(actual.stability, scaled, atol=1e-10)
    np.testing.assert_array_equal(actual.core, scaled >= otsu(scaled))


def test_unanimous_objects_are_all_stable():
    actual = sample_stability(np.repeat([0, 1, 2], 5)[:, None] * [1, 1, 1])
    assert actual.stability.tolist() == [1.0] * 15
    assert actual.core.all()
    assert sample_stability(np.zeros((4, 3), dtype=int)).core.all()


def test_objects_on_planted_borders_form_the_halo():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 30)
    labels = np.repeat(truth[:, None], 20, axis=1)
    labels[[3, 40]] = rng.integers(0, 2, (2, 20))
    stability = sample_stability(labels)
    np.testing.assert_array_equal(np.flatnonzero(~stability.core), [3, 40])
    assert set(np.argsort(-object_ambiguity(labels))[:2]) == {3, 40}


def test_objects_missing_everywhere_have_no_stability():
    labels = np.vstack([E1, [-1, -1, -1]])
    actual, of_e1 = sample_stability(labels), sample_stability(E1)
    np.testing.assert_array_equal(actual.stability, [*of_e1.stability, np.nan])
    assert not actual.core[-1]
    assert np.isnan(object_ambiguity(labels)[-1])


def test_unknown_determinacy_is_refused():
    with pytest.raises(ParameterError, match="'determinacy' parameter of sample_stability"):
        sample_stability(E1, determinacy="cubic")


@pytest.mark.parametrize("determinacy", ["linear", "quadratic"])
def test_objects_that_are_always_together_are_fully_determined(determinacy):
    # The threshold is 1, so that no share is on its upper side.
    actual = sample_stability(np.zeros((5, 3), dtype=int), determinacy=determinacy)
    assert actual.threshold == 1.0
    np.testing.assert_array_equal(actual.determinacy, np.ones(5))
    assert actual.core.all()
