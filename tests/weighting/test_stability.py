"""The stability of clusters when the points are perturbed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from tests.naive.weighting import stabilities

from conclust import Ensemble, EnsembleGenerator, MultiEAC
from conclust._random import spawn_generators
from conclust.exceptions import InputError, ParameterError, UnsupportedEnsembleError
from conclust.metrics import adjusted_rand_index
from conclust.weighting import perturbed_stability


class Cuts(TransformerMixin, BaseEstimator):
    """Cuts the first feature at quantiles of the points seen; some are missing, some noise.

    The choice also depends on the observed points: a point may be missing in one run only.
    """

    def __init__(self, pieces=(2, 4, 3)):
        self.pieces = pieces

    def fit_transform(self, X, y=None):
        columns = []
        for k in self.pieces:
            ends = np.quantile(X[:, 0], np.linspace(0, 1, k + 1)[1:-1])
            column = np.searchsorted(ends, X[:, 0])
            column[X[:, 1] > np.quantile(X[:, 1], 0.8)] = -1
            column[X[:, 1] < np.quantile(X[:, 1], 0.1)] = -2
            columns.append(column)
        return np.column_stack(columns)


def blobs(seed=0, n=30):
    centres = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], n, axis=0)
    return centres + np.random.default_rng(seed).normal(size=centres.shape)


@pytest.mark.parametrize("measure", ["together", "jaccard"])
@pytest.mark.parametrize("fraction", [0.3, 0.8])
def test_stabilities_match_the_naive_twin(measure, fraction):
    X = np.random.default_rng(0).normal(size=(40, 2))
    labels = Ensemble(Cuts().fit_transform(X)).labels
    stability = perturbed_stability(
        labels, X, Cuts(), measure=measure, n_resamples=5, fraction=fraction, random_state=0
    )
    reruns = []
    for rng in spawn_generators(np.random.SeedSequence(0), 5):
        drawn = np.sort(rng.permutation(40)[: int(fraction * 40)])
        reruns.append((drawn, Cuts().fit_transform(X[drawn])))
    assert any(((labels[drawn] == -1) != (repeated == -1)).any() for drawn, repeated in reruns)
    np.testing.assert_allclose(stability, stabilities(labels, reruns, measure), atol=1e-12)
    assert np.ptp(stability) > 0.05


@pytest.mark.parametrize("measure", ["together", "jaccard"])
def test_true_clusters_are_stable(measure):
    X = blobs()
    generator = EnsembleGenerator([("ward", [3]), ("kmeans", [8, 9])], random_state=0)
    ensemble = Ensemble(generator.fit_transform(X))
    stability = perturbed_stability(ensemble, X, generator, measure=measure, random_state=0)
    assert (stability[:3] == 1.0).all()
    assert stability[3:].mean() < 0.9


def test_only_stable_clusters_vote():
    X, truth = blobs(), np.repeat(np.arange(3), 30)
    rng = np.random.default_rng(0)

    class Noisy(Cuts):
        """Three clusters, and random partitions that differ each time."""

        def fit_transform(self, X, y=None):
            good = EnsembleGenerator([("ward", [3])]).fit_transform(X)
            return np.column_stack([good, rng.integers(3, size=(len(X), 6))])

    labels = Noisy().fit_transform(X)
    stability = perturbed_stability(labels, X, Noisy(), random_state=0)
    assert (stability[:3] > 0.95).all()
    assert (stability[3:] < 0.5).all()
    model = MultiEAC(3, cluster_weights=(stability > 0.9).astype(float)).fit(labels)
    assert adjusted_rand_index(model.labels_, truth) == 1.0


def test_mismatched_arguments_are_refused():
    X = blobs()
    labels = EnsembleGenerator("kmeans", 3, n_clusters=3, random_state=0).fit_transform(X)
    with pytest.raises(ParameterError, match="n_clusters"):
        perturbed_stability(labels, X, EnsembleGenerator("kmeans", n_partitions=3))
    with pytest.raises(InputError, match="3 partitions"):
        perturbed_stability(labels, X, EnsembleGenerator("kmeans", 2, n_clusters=3))
    with pytest.raises(InputError, match="shape"):
        perturbed_stability(labels, X[:5], Cuts())
    with pytest.raises(ParameterError, match="'generator'"):
        perturbed_stability(labels, X, "kmeans")
    with pytest.raises(ParameterError, match="'fraction'"):
        perturbed_stability(labels, X, Cuts(), fraction=0.0)
    with pytest.raises(ParameterError, match="'measure'"):
        perturbed_stability(labels, X, Cuts(), measure="nmi")
    soft = Ensemble.from_memberships([np.full((90, 2), 0.5)] * 3)
    with pytest.raises(UnsupportedEnsembleError, match="hard partitions"):
        perturbed_stability(soft, X, Cuts())
