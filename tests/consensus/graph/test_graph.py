"""HBGF, MCLA, CSPA, HGPA: their criteria, partitioners and hard cases."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1, E2, planted, random_graph
from tests.naive import graph as naive

from conclust import CSPA, HBGF, HGPA, MCLA, Ensemble, best_by_anmi
from conclust.consensus.graph.kmeans import Points, kmeans, nearest_center
from conclust.consensus.graph.partition import (
    connectivities,
    cut_weight,
    partition_graph,
)
from conclust.evidence import coassociation, sample_pairs
from conclust.exceptions import (
    EvidenceWarning,
    InputError,
    ParameterError,
)
from conclust.similarity import cluster_jaccard
from conclust.spectra.bipartite import edges_of
from conclust.spectra.transfer_cut import (
    bipartite_spectrum,
    graph_embedding,
    leading_eigenvectors,
    unit_rows,
)

METHODS = (HBGF, MCLA, CSPA, HGPA)


# -- worked examples


@pytest.mark.parametrize("cls", METHODS)
def test_the_first_example_is_solved(cls):
    np.testing.assert_array_equal(cls(2, random_state=0).fit(E1).labels_, [0, 0, 1, 1])


@pytest.mark.parametrize("cls", [HBGF, MCLA, HGPA])
def test_the_second_example_is_solved(cls):
    np.testing.assert_array_equal(cls(2, random_state=0).fit(E2).labels_, [0, 0, 0, 1, 1, 1])


# Table 1 of Strehl and Ghosh (2002): seven objects, three of them missing in the last partition.
STREHL_GHOSH = np.array(
    [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [4, 4, 2, 2, 3, 3, 3], [1, 2, -1, 1, 2, -1, -1]]
).T


@pytest.mark.parametrize("seed", range(5))
def test_the_example_of_strehl_and_ghosh_is_solved(seed):
    model = CSPA(3, random_state=seed).fit(STREHL_GHOSH)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 2, 2])
    # Another partition has the same cut, with parts of 3, 1 and 3 objects; by c / N it is lower.
    p = coassociation(STREHL_GHOSH) / 4
    assert naive.cut(p, model.labels_) == naive.cut(p, [0, 0, 0, 1, 2, 2, 2]) == model.objective_
    other = CSPA(3, normalized=True, random_state=seed).fit(STREHL_GHOSH)
    np.testing.assert_array_equal(other.labels_, [0, 0, 0, 1, 2, 2, 2])


def test_the_second_example_has_a_lower_cut_of_co_association_elsewhere():
    # Four objects per part are allowed: ceil(1.05 x 3). The published solution cuts 3, this one 8/3.
    model = CSPA(2, random_state=0).fit(E2)
    assert model.objective_ == pytest.approx(8 / 3)
    p = coassociation(E2) / 3
    assert naive.cut(p, [0, 0, 0, 1, 1, 1]) == pytest.approx(3)
    assert naive.best_balanced(lambda labels: naive.cut(p, labels), 6, 2, 4) == pytest.approx(8 / 3)


@pytest.mark.parametrize("cls", METHODS)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_consensus_of_equal_partitions_is_that_partition(cls, k):
    truth = np.arange(20) % k
    rng = np.random.default_rng(k)
    labels = np.column_stack([rng.permutation(k)[truth] for _ in range(6)])
    model = cls(k, random_state=0).fit(labels)
    np.testing.assert_array_equal(model.labels_, truth)
    assert model.objective_ == 0


def test_singular_values_match_the_first_example():
    spectrum = bipartite_spectrum(Ensemble(E1).indicator, 4)
    np.testing.assert_allclose(spectrum.values, [1, 0.905065, 0.425274], atol=1e-6)


def test_similarities_match_the_first_example():
    J = cluster_jaccard(Ensemble(E1)).toarray()
    a1, b1, a2, a3, b3 = 0, 1, 2, 4, 5
    assert J[a1, a2] == 1
    assert J[a1, a3] == pytest.approx(2 / 3)
    assert J[b1, a3] == pytest.approx(1 / 4)
    assert J[b1, b3] == pytest.approx(1 / 2)


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


def test_a_precomputed_gram_does_not_change_the_result():
    labels, _ = planted()
    ensemble = Ensemble(labels)
    a = bipartite_spectrum(ensemble.indicator, 3)
    b = bipartite_spectrum(edges_of(ensemble), 3)
    np.testing.assert_allclose(a.values, b.values, atol=1e-12)
    np.testing.assert_allclose(abs(a.objects), abs(b.objects), atol=1e-9)


def test_lanczos_agrees_with_the_dense_solver(monkeypatch):
    labels, _ = planted(n=300, m=40, k=4)
    B = Ensemble(labels).indicator
    W = random_graph(np.random.default_rng(0), 60)
    rng = np.random.default_rng(1)
    whole, embedded = bipartite_spectrum(B, 4), graph_embedding(W, 3, rng)
    monkeypatch.setattr("conclust.spectra.eigenpairs._WHOLE", 10)
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
    monkeypatch.setattr("conclust.spectra.eigenpairs._WHOLE", 10)
    monkeypatch.setattr("conclust.spectra.eigenpairs.eigsh", not_converged)
    for graph in (W, sp.csr_array(W)):
        np.testing.assert_allclose(abs(graph_embedding(graph, 3, rng)), abs(whole), atol=1e-10)
    np.testing.assert_allclose(leading_eigenvectors(lambda v: W @ v, 60, 3)[0], values, atol=1e-9)
    monkeypatch.setattr("conclust.spectra.eigenpairs._WHOLE_AT_LAST", 59)
    with pytest.raises(InputError, match=r"graph with 60 vertices converged.* without a spectral"):
        graph_embedding(W, 3, rng)


@pytest.mark.parametrize("cls", METHODS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_hard_memberships_give_the_result_of_labels(cls, missing):
    labels, _ = planted(missing=missing)
    hard = Ensemble(labels)
    blocks = [
        np.where(labels[:, [u]] >= 0, np.eye(3)[np.maximum(labels[:, u], 0)], 0.0)
        for u in range(labels.shape[1])
    ]
    soft = Ensemble.from_memberships(blocks)
    a = cls(3, random_state=0).fit(hard)
    b = cls(3, random_state=0).fit(soft)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.objective_ == pytest.approx(b.objective_)


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


def test_noise_is_observed_but_in_no_cluster():
    labels = np.array([[0, 0], [0, -2], [1, 1], [1, 1]])
    mcla = MCLA(2, random_state=0).fit(labels)
    np.testing.assert_allclose(
        mcla.membership_, naive.associations(labels, mcla.meta_clusters_, 2), atol=1e-12
    )
    for cls in METHODS:
        np.testing.assert_array_equal(cls(2, random_state=0).fit(labels).labels_, [0, 0, 1, 1])


@pytest.mark.parametrize("cls", METHODS)
def test_noise_everywhere_leaves_no_graph_to_cut(cls):
    model = cls(2, random_state=0).fit(np.full((6, 3), -2))
    assert model.objective_ == 0
    assert model.labels_.min() == 0


def test_new_objects_join_meta_clusters():
    labels, truth = planted(flip=0.05)
    model = MCLA(3, random_state=0).fit(labels)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    new = np.vstack([np.zeros(15, int), np.full(15, -1)])
    np.testing.assert_array_equal(model.predict(new), [model.labels_[truth == 0][0], -1])


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


def test_objects_that_no_partition_separates_stay_together():
    labels = np.repeat(E2, 5, axis=0)
    for cls in (CSPA, HGPA):
        found = cls(2, random_state=0).fit(labels).labels_.reshape(6, 5)
        assert (found == found[:, :1]).all()


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


def test_pairs_of_other_objects_are_refused():
    pairs = sample_pairs(E1, 2, random_state=0)
    with pytest.raises(InputError, match="cover 4 objects, but the labels have 6"):
        CSPA(2, pairs=pairs).fit(E2)
    with pytest.raises(ParameterError, match="'pairs' parameter of CSPA"):
        CSPA(2, pairs=0).fit(E2)


def test_pairs_without_evidence_are_reported():
    labels = np.array([[0, -1], [0, -1], [-1, 0], [-1, 0], [0, 1]])
    with pytest.warns(EvidenceWarning, match="both rows of 1 pair of distinct rows of labels"):
        CSPA(2, random_state=0).fit(labels)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_do_not_change_results(n_jobs):
    labels, _ = planted(n=1500, flip=0.3)
    expected = CSPA(3, n_init=2, random_state=0, n_jobs=1).fit(labels)
    model = CSPA(3, n_init=2, random_state=0, n_jobs=n_jobs).fit(labels)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.objective_ == expected.objective_


def test_restarts_on_a_sample_finish_on_all_objects():
    labels, truth = planted(n=12_000, flip=0.2)
    for model in (HBGF(3, random_state=0), HBGF(3, joint=False, random_state=0)):
        assert adjusted_rand_score(model.fit(labels).labels_, truth) > 0.99


def test_k_means_uses_at_most_as_many_centers_as_distinct_rows():
    rows = np.repeat(np.eye(3), 4, axis=0)
    centers = kmeans(Points(rows, np.ones(len(rows))), 5, np.random.SeedSequence(0))
    assert len(centers) == 3
    labels, distances = nearest_center(rows, centers)
    assert len(set(labels.tolist())) == 3
    np.testing.assert_allclose(distances, 0, atol=1e-12)


def test_very_many_clusters_use_fewer_starts(monkeypatch):
    asked = []

    def watched(*args, n_init, **kwargs):
        asked.append(n_init)
        return partition_graph(*args, n_init=n_init, **kwargs)

    monkeypatch.setattr("conclust.consensus.graph.mcla.partition_graph", watched)
    labels = np.random.default_rng(0).integers(0, 5, (30, 80))  # 400 clusters
    for k in (20, 21, 30):
        MCLA(k, n_init=4, random_state=0).fit(labels)
    MCLA(30, n_init=1, random_state=0).fit(labels)
    assert asked == [4, 4, 3, 1]


def test_rows_of_zeros_remain_zero():
    np.testing.assert_array_equal(unit_rows(np.array([[3.0, 4.0], [0, 0]])), [[0.6, 0.8], [0, 0]])


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


def test_connectivity_matches_its_definition():
    H = Ensemble(E1).indicator
    labels = np.array([0, 0, 1, 1])
    assert (
        connectivities(H, [labels], np.ones(H.shape[1]))[0] == naive.connectivity(E1, labels) == 1
    )


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
