"""The certainty of clusters and partitions, against worked examples and naive twins on sets."""

import numpy as np
import pytest
from tests.cases import E1, E2, planted
from tests.naive import similarity as naive
from tests.naive.linkage import random_labels

from conclust import Ensemble
from conclust.exceptions import ParameterError
from conclust.similarity import cluster_certainty
from conclust.spectra import gram
from conclust.weighting import certainty_weights


@pytest.mark.parametrize(
    ("labels", "eci"),
    [
        (E1, [1, 0.434598, 1, 0.434598, 0.216429, 1]),
        (E2, [0.465219, 0.465219, 0.258689, 1, 1, 0.198245]),
    ],
)
def test_the_worked_examples_are_reproduced(labels, eci):
    # Huang, Wang and Lai 2018, theta = 0.4. E2's second partition begins with its cluster 0.
    np.testing.assert_allclose(cluster_certainty(labels), eci, atol=1e-6)


CASES = [(0.0, 0.0, False), (0.3, 0.0, True), (0.0, 0.2, True), (0.3, 0.2, False)]


@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("block", [1 << 24, 40])
def test_certainty_matches_the_naive_twin(monkeypatch, missing, noise, weighted, normalized, block):
    monkeypatch.setattr(gram, "_ENTRIES", block)
    monkeypatch.setattr(gram, "_BLOCK", block)
    rng = np.random.default_rng(7)
    labels = random_labels(rng, 25, 6, k=5, missing=missing, noise=noise)
    weights = rng.random(6) if weighted else None
    ensemble = Ensemble(labels, weights=weights)
    _, eci = naive.certainty(labels, 0.3, weights, normalized)
    actual = cluster_certainty(ensemble, 0.3, normalized=normalized)
    np.testing.assert_allclose(actual, eci, rtol=1e-11)
    sizes = [len(c) for part in naive.blocks(labels) for c in part]
    owner = np.repeat(np.arange(6), ensemble.cluster_counts)
    if not normalized:
        for u, mean in enumerate(certainty_weights(ensemble, 0.3)):
            of = owner == u
            alone = np.count_nonzero(labels[:, u] == -2)
            expected = np.average(
                np.append(eci[of], 1.0), weights=np.append(np.array(sizes)[of], alone)
            )
            assert mean == pytest.approx(expected, rel=1e-11)


def test_soft_members_match_the_naive_twin():
    rng = np.random.default_rng(3)
    members = [rng.dirichlet(np.ones(k), 12) for k in (2, 3, 4)]
    ensemble = Ensemble.from_memberships(members)
    B = ensemble.indicator.toarray()  # its columns are in order of first appearance
    expected, offsets = [], [0, 2, 5, 9]
    for u in range(3):
        for k in range(offsets[u], offsets[u + 1]):
            h = 0.0
            for v in range(3):
                if v != u:
                    q = B[:, k] @ B[:, offsets[v] : offsets[v + 1]] / B[:, k].sum()
                    h -= (q * np.log2(q)).sum()
            expected.append(np.exp(-h / 1.2))
    certainty = cluster_certainty(ensemble)
    np.testing.assert_allclose(certainty, expected, rtol=1e-12)


def test_repeating_the_ensemble_changes_nothing():
    labels, _ = planted(n=40, m=5)
    once, twice = cluster_certainty(labels), cluster_certainty(np.hstack([labels, labels]))
    np.testing.assert_allclose(twice, np.tile(once, 2), rtol=1e-12)
    weighted = cluster_certainty(Ensemble(labels, weights=[1, 3, 1, 1, 1]))
    repeated = cluster_certainty(np.column_stack([labels, labels[:, 1], labels[:, 1]]))
    np.testing.assert_allclose(weighted, repeated[: len(weighted)], rtol=1e-12)


def test_noise_alone_is_certain():
    assert certainty_weights([[0, -2], [0, -2], [1, -2]]).tolist() == [
        pytest.approx((2 * np.exp(-1 / 0.8) + 1) / 3),
        1.0,
    ]


@pytest.mark.parametrize("theta", [0, np.nan])
def test_theta_must_be_above_0(theta):
    for function in (cluster_certainty, certainty_weights):
        with pytest.raises(ParameterError, match="'theta' parameter"):
            function(E1, theta)
    with pytest.raises(ParameterError, match="'normalized' parameter"):
        cluster_certainty(E1, normalized=1)
