"""MDEC's three consensus functions against equivalent methods and the dense spectral cut."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1, E2, planted, random_labels

from conclust import LWEA, LWGP, MDEC, Ensemble
from conclust.consensus.literature.mdec import evidence_cut
from conclust.exceptions import EnsembleWarning, EvidenceWarning, ParameterError
from conclust.similarity import cluster_certainty


def weighted_evidence(ensemble, cluster_weights):
    """S with a unit diagonal, as a matrix of all objects."""
    B = ensemble.indicator.toarray()
    S = (B * cluster_weights * ensemble.column_weights) @ B.T
    observed = ensemble.present @ ensemble.partition_weights
    S /= np.sqrt(np.outer(observed, observed))
    np.fill_diagonal(S, 1.0)
    return S


def normalized(S):
    root = 1 / np.sqrt(S.sum(axis=1))
    return S * root[:, None] * root


def ensembles():
    plain, _ = planted(n=60, m=8, flip=0.3)
    missing, _ = planted(seed=1, n=60, m=8, flip=0.3, missing=0.2, noise=0.05)
    weights = np.arange(1.0, 9.0)
    return {
        "plain": Ensemble(plain),
        "few rows": Ensemble(planted(n=60, m=3, flip=0.2)[0]),
        "weighted": Ensemble(plain, weights=weights),
        "missing": Ensemble(missing),
        "missing, weighted": Ensemble(missing, weights=weights),
    }


@pytest.mark.parametrize("name", ensembles())
@pytest.mark.parametrize("whole", [1_500, 2])
def test_the_spectral_cut_equals_that_of_the_dense_matrix(name, whole, monkeypatch):
    monkeypatch.setattr("conclust.spectra.bipartite._WHOLE", whole)  # 2: by Lanczos
    ensemble = ensembles()[name]
    model = MDEC(3, consensus="spectral", random_state=0).fit(ensemble)
    S = weighted_evidence(ensemble, cluster_certainty(ensemble, 1.0))
    expected = np.linalg.eigvalsh(normalized(S))[::-1][:3]
    np.testing.assert_allclose(model.eigenvalues_, expected, atol=1e-6)
    other = SpectralClustering(
        3, affinity="precomputed", n_init=20, random_state=0, assign_labels="kmeans"
    ).fit(S)
    assert adjusted_rand_score(other.labels_, model.labels_) > 0.9


@pytest.mark.parametrize("labels", [E1, E2, planted(flip=0.3)[0], planted(missing=0.3)[0]])
@pytest.mark.parametrize("theta", [1.0, 0.3])
def test_linkage_and_the_bipartite_cut_equal_lwea_and_lwgp(labels, theta):
    for k in (None, 2, 3):
        tree, other = MDEC(k, theta=theta).fit(labels), LWEA(k, theta=theta).fit(labels)
        np.testing.assert_array_equal(tree.labels_, other.labels_)
        np.testing.assert_array_equal(tree.linkage_matrix_, other.linkage_matrix_)
        np.testing.assert_array_equal(tree.lifetimes_, other.lifetimes_)
        np.testing.assert_array_equal(tree.certainty_, other.certainty_)
    cut = MDEC(2, consensus="bipartite", theta=theta, random_state=0).fit(labels)
    other = LWGP(2, theta=theta, random_state=0).fit(labels)
    assert adjusted_rand_score(cut.labels_, other.labels_) == 1
    np.testing.assert_array_equal(cut.singular_values_, other.singular_values_)


def test_objects_with_the_same_labels_are_counted_together(monkeypatch):
    labels = random_labels(0, 40, 4, 3)
    several = np.repeat(labels, np.arange(40) % 3 + 1, axis=0)
    S = weighted_evidence(Ensemble(several), np.ones(int(Ensemble(several).offsets[-1])))
    found = evidence_cut(
        Ensemble(several),
        np.ones(int(Ensemble(several).offsets[-1])),
        4,
        np.random.SeedSequence(0),
    )
    np.testing.assert_allclose(found[1], np.linalg.eigvalsh(normalized(S))[::-1][:4], atol=1e-9)
    rows = [tuple(row) for row in several]
    assert len({(row, label) for row, label in zip(rows, found[0], strict=True)}) == len(set(rows))


def test_components_are_cut_apart_first():
    left, right = planted(n=30, m=6)[0], planted(seed=1, n=20, m=6)[0] + 10
    labels, half = np.vstack([left, right]), np.repeat([0, 1], [30, 20])
    spectral = {"consensus": "spectral", "random_state": 0}
    two = MDEC(2, **spectral).fit(labels)
    assert adjusted_rand_score(half, two.labels_) == 1
    six = MDEC(6, **spectral).fit(labels)
    S = normalized(weighted_evidence(Ensemble(labels), cluster_certainty(labels, 1.0)))
    np.testing.assert_allclose(six.eigenvalues_, np.linalg.eigvalsh(S)[::-1][:6], atol=1e-6)
    assert six.n_clusters_ == 6
    assert not ((six.labels_[:, None] == six.labels_) & (half[:, None] != half)).any()
    three = np.vstack([labels, [[50] * 6] * 4])
    with pytest.warns(EnsembleWarning, match="3 components.*MDEC joined"):
        found = MDEC(2, **spectral).fit(three).labels_
    assert adjusted_rand_score(np.append(half, [1] * 4), found) == 1


def test_invalid_parameters_are_refused_and_missing_evidence_warns():
    for consensus in ("spectral", "bipartite"):
        with pytest.raises(ParameterError, match="MDEC needs the number of clusters"):
            MDEC(consensus=consensus).fit(E1)
    apart = np.array([[0, -1], [0, -1], [-1, 0], [-1, 0], [0, 0]])
    with pytest.warns(EvidenceWarning, match="No partition observed"):
        MDEC(2).fit(apart)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", EnsembleWarning)  # one cluster for two
        noise = MDEC(2, consensus="spectral", random_state=0).fit(np.full((4, 2), -2))
    assert (noise.labels_ == 0).all()
