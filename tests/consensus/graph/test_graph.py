"""HBGF, MCLA, CSPA, HGPA: their criteria, partitioners and hard cases."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted, random_graph
from tests.naive import graph as naive

from conclust import CSPA, HBGF, HGPA, MCLA, Ensemble, best_by_anmi
from conclust.consensus.graph.kmeans import Points, kmeans, nearest_center
from conclust.consensus.graph.partition import (
    cut_weight,
)
from conclust.evidence import coassociation, sample_pairs
from conclust.exceptions import (
    EvidenceWarning,
    InputError,
    ParameterError,
)
from conclust.similarity import cluster_jaccard
from conclust.spectra.transfer_cut import (
    bipartite_spectrum,
    graph_embedding,
    leading_eigenvectors,
)

METHODS = (HBGF, MCLA, CSPA, HGPA)


# -- worked examples


# Table 1 of Strehl and Ghosh (2002): seven objects, three of them missing in the last partition.
STREHL_GHOSH = np.array(
    [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [4, 4, 2, 2, 3, 3, 3], [1, 2, -1, 1, 2, -1, -1]]
).T


def test_the_example_of_strehl_and_ghosh_is_solved():
    model = CSPA(3, random_state=0).fit(STREHL_GHOSH)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 2, 2])
    # Another partition has the same cut, with parts of 3, 1 and 3 objects; by c / N it is lower.
    p = coassociation(STREHL_GHOSH) / 4
    assert naive.cut(p, model.labels_) == naive.cut(p, [0, 0, 0, 1, 2, 2, 2]) == model.objective_
    other = CSPA(3, normalized=True, random_state=0).fit(STREHL_GHOSH)
    np.testing.assert_array_equal(other.labels_, [0, 0, 0, 1, 2, 2, 2])


# -- equalities


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_transfer_cut_gives_the_singular_vectors(missing):
    labels, _ = planted(missing=missing)
    B = Ensemble(labels).indicator
    spectrum = bipartite_spectrum(B, 4)
    U, values, Vt = naive.singular_triplets(B.toarray())
    np.testing.assert_allclose(spectrum.values, values[:4], atol=1e-10)
    for r in range(3):  # distinct singular values: vectors agree up to the sign
        assert abs(spectrum.objects[:, r] @ U[:, r]) == pytest.approx(1, abs=1e-8)
        assert abs(spectrum.clusters[:, r] @ Vt[r]) == pytest.approx(1, abs=1e-8)


def test_lanczos_agrees_with_the_dense_solver(monkeypatch):
    labels, _ = planted(n=300, m=40, k=4)
    B = Ensemble(labels).indicator
    W = random_graph(np.random.default_rng(0), 60)
    rng = np.random.default_rng(1)
    whole, embedded = bipartite_spectrum(B, 4), graph_embedding(W, 3, rng)
    monkeypatch.setattr("conclust.spectra.bipartite._WHOLE", 10)
    some = bipartite_spectrum(B, 4)
    np.testing.assert_allclose(some.values, whole.values, atol=1e-6)
    np.testing.assert_allclose(abs(some.objects), abs(whole.objects), atol=1e-4)
    for graph in (W, sp.csr_array(W)):
        np.testing.assert_allclose(abs(graph_embedding(graph, 3, rng)), abs(embedded), atol=1e-4)


def not_converged(operator, k, **options):
    n = operator.shape[0]
    raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((n, 0)))


def test_the_dense_solver_replaces_lanczos_without_convergence(monkeypatch):
    W = random_graph(np.random.default_rng(0), 60)
    rng = np.random.default_rng(1)
    whole = graph_embedding(W, 3, rng)
    values = leading_eigenvectors(lambda v: W @ v, 60, 3)[0]
    monkeypatch.setattr("conclust.spectra.bipartite._WHOLE", 10)
    monkeypatch.setattr("conclust.spectra.bipartite.eigsh", not_converged)
    for graph in (W, sp.csr_array(W)):
        np.testing.assert_allclose(abs(graph_embedding(graph, 3, rng)), abs(whole), atol=1e-10)
    np.testing.assert_allclose(leading_eigenvectors(lambda v: W @ v, 60, 3)[0], values, atol=1e-9)
    monkeypatch.setattr("conclust.spectra.bipartite._WHOLE_AT_LAST", 59)
    with pytest.raises(InputError, match=r"graph with 60 vertices converged.* without a spectral"):
        graph_embedding(W, 3, rng)


@pytest.mark.parametrize("cls", METHODS)
def test_soft_members_are_weighted_by_membership(cls):
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    blocks = [rng.dirichlet(np.full(3, 0.5), 60) * 0.4 + 0.6 * np.eye(3)[truth] for _ in range(8)]
    model = cls(3, random_state=0).fit(Ensemble.from_memberships(blocks))
    np.testing.assert_array_equal(model.labels_, truth)


# -- objectives match a recount


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_objectives_match_a_recount(seed, missing):
    labels, _ = planted(seed=seed, n=24, m=5, missing=missing, flip=0.3)
    for partitioner in ("spectral", "internal"):
        model = HBGF(3, partitioner=partitioner, random_state=0).fit(labels)
        assert model.objective_ == naive.bipartite_cut(labels, model.labels_)
    both = (labels[:, None] >= 0) & (labels[None] >= 0)
    together = ((labels[:, None] == labels[None]) & both).sum(axis=2)
    for normalized in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvidenceWarning)
            cspa = CSPA(3, normalized=normalized, random_state=0).fit(labels)
        p = together / (np.maximum(both.sum(axis=2), 1) if normalized else 5)
        assert cspa.objective_ == pytest.approx(naive.cut(p, cspa.labels_))
    hgpa = HGPA(3, random_state=0).fit(labels)
    assert hgpa.objective_ == naive.connectivity(labels, hgpa.labels_)
    mcla = MCLA(3, random_state=0).fit(labels)
    J = naive.jaccard(labels)
    np.testing.assert_allclose(cluster_jaccard(Ensemble(labels)).toarray(), J, atol=1e-12)
    assert mcla.objective_ == pytest.approx(naive.cut(J, mcla.meta_clusters_))
    expected = naive.associations(labels, mcla.meta_clusters_, mcla.membership_.shape[1])
    np.testing.assert_allclose(mcla.membership_, expected, atol=1e-12)
    np.testing.assert_allclose(mcla.predict_proba(labels), expected, atol=1e-12)


# -- the traps of balance
def test_balanced_cuts_split_clusters_of_unequal_size():
    # One cluster of 50, one of 10: parts of at most 32 cannot be these; the spectral cut can.
    truth = np.repeat([0, 1], [50, 10])
    rng = np.random.default_rng(0)
    labels = np.column_stack([np.where(rng.random(60) < 0.1, 1 - truth, truth) for _ in range(15)])
    balanced = CSPA(2, random_state=0).fit(labels)
    assert np.bincount(balanced.labels_).max() < 50
    for model in (HBGF(2, random_state=0), CSPA(2, partitioner="spectral", random_state=0)):
        assert adjusted_rand_score(model.fit(labels).labels_, truth) == 1
    for cls in (CSPA, HGPA, HBGF):
        assert "assum" in cls.__doc__


# -- sampled pairs and size


def test_cspa_accepts_sampled_pairs():
    labels, truth = planted(n=300)
    labels[[4, 9]] = -1
    ensemble = Ensemble(labels)
    with pytest.warns(EvidenceWarning, match="2 objects are missing"):
        drawn = CSPA(3, pairs=20, random_state=0).fit(ensemble)
    seen = np.delete(np.arange(300), [4, 9])
    assert adjusted_rand_score(drawn.labels_[seen], truth[seen]) > 0.95
    pairs = sample_pairs(ensemble, 20, random_state=1)
    with pytest.warns(EvidenceWarning, match="2 objects are missing"):
        given = CSPA(3, pairs=pairs, random_state=0).fit(ensemble)
    p = pairs.to_scipy()[seen][:, seen]
    assert given.objective_ == pytest.approx(cut_weight(sp.csr_array(p), given.labels_[seen]))


def test_k_means_uses_at_most_as_many_centers_as_distinct_rows():
    rows = np.repeat(np.eye(3), 4, axis=0)
    centers = kmeans(Points(rows, np.ones(len(rows))), 5, np.random.SeedSequence(0))
    assert len(centers) == 3
    labels, distances = nearest_center(rows, centers)
    assert len(set(labels.tolist())) == 3
    np.testing.assert_allclose(distances, 0, atol=1e-12)


def test_weights_in_k_means_act_as_repetitions():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(c, 0.1, (20, 2)) for c in (0, 3, 6)])
    weights = rng.integers(1, 4, 60)
    a = kmeans(Points(rows, weights.astype(float)), 3, np.random.SeedSequence(1))
    repeated = np.repeat(rows, weights, axis=0)
    b = kmeans(Points(repeated, np.ones(len(repeated))), 3, np.random.SeedSequence(1))
    np.testing.assert_allclose(a[a[:, 0].argsort()], b[b[:, 0].argsort()], atol=1e-9)


# -- the best of several


def test_the_best_of_several_has_the_highest_agreement():
    labels, truth = planted()
    tried = [MCLA(2, random_state=0), HBGF(3, random_state=0), HBGF(5, random_state=0)]
    best = best_by_anmi(labels, tried)
    assert best.scores.argmax() == 1
    assert adjusted_rand_score(best.labels, truth) == 1
    assert best.estimator.get_params() == tried[1].get_params()
    assert not hasattr(tried[1], "labels_")
    with pytest.raises(ParameterError, match="'estimators' parameter of best_by_anmi"):
        best_by_anmi(labels, [])


@pytest.mark.parametrize("seed", range(3))
def test_a_partition_of_weight_2_has_the_cut_and_associations_of_two_copies_in_mcla(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 60)
    labels = np.column_stack(
        [np.where(rng.random(60) < 0.3, rng.integers(0, k, 60), truth % k) for k in range(2, 7)]
    )
    weighted = MCLA(4, random_state=0).fit(Ensemble(labels, weights=[2, 1, 1, 1, 1]))
    copied = Ensemble(np.column_stack([labels[:, 0], labels]))
    meta = np.r_[weighted.meta_clusters_[:2], weighted.meta_clusters_]
    similarity = cluster_jaccard(copied).toarray()
    apart = meta[:, None] != meta
    assert weighted.objective_ == pytest.approx(similarity[apart].sum() / 2)
    votes = copied.indicator @ np.eye(4)[meta] / np.bincount(meta)
    votes /= votes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weighted.membership_, votes)
