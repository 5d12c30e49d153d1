"""LCE and ECPCS, against worked examples and naive twins with full matrices."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1, E2, planted
from tests.naive import similarity as naive
from tests.naive.graph import associations, singular_triplets
from tests.naive.linkage import random_labels

from conclust import EAC, ECPCS, HBGF, LCE, Ensemble
from conclust.consensus.literature.ecpcs import _normalized_cut
from conclust.exceptions import EnsembleWarning, EvidenceWarning, ParameterError
from conclust.metrics import adjusted_rand_index
from conclust.similarity import connected_triples, trajectory_similarity
from conclust.spectra import bipartite
from conclust.spectra import transfer_cut as spectral
from conclust.spectra.transfer_cut import bipartite_spectrum, graph_embedding

CASES = [(0.0, 0.0, False), (0.2, 0.0, True), (0.0, 0.2, True), (0.2, 0.2, False)]


def sample(missing, noise, weighted, n=30, m=6):
    rng = np.random.default_rng(4)
    labels = random_labels(rng, n, m, missing=missing, noise=noise)
    return labels, rng.random(m) + 0.1 if weighted else None


# -- LCE


def refined(e, W):
    """B W; objects without a cluster have what others have beside their own one, on average.

    Of partitions with such objects one more column follows: the similarity of all objects to them.
    """
    rows, columns = e.indicator.toarray() * e.column_weights @ W, []
    for u, (begin, end) in enumerate(itertools.pairwise(e.offsets)):
        own, B = slice(begin, end), e.indicator.toarray()[:, begin:end]
        inside, weight = B.any(axis=1), e.partition_weights[u]
        beside = (B @ (W[own, own] - np.eye(end - begin)))[inside].mean(axis=0)
        rows[~inside, own] = weight * beside
        if not inside.all() and beside.any():
            columns.append(weight * np.where(inside, B @ beside, B[inside].mean(axis=0) @ beside))
    return np.column_stack([rows, *columns])


@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
@pytest.mark.parametrize("similarity", ["cts", "wtq"])
def test_the_graph_is_the_refined_matrix(missing, noise, weighted, similarity):
    labels, weights = sample(missing, noise, weighted)
    e = Ensemble(labels, weights=weights)
    W = naive.triples(labels, weights, 0.7, quality=similarity == "wtq")
    _, values, _ = singular_triplets(refined(e, W))
    model = LCE(4, similarity=similarity, decay=0.7, random_state=0).fit(e)
    np.testing.assert_allclose(model.singular_values_, values[:4], atol=1e-8)


def same_spaces(U, V, values):
    """Return whether the columns of both span the same spaces for distinct singular values."""
    np.testing.assert_allclose(np.abs(np.einsum("ij,ij->j", U, V)), 1.0, atol=1e-6)
    assert (np.diff(values) < -1e-3).all()


@pytest.mark.parametrize("held", [4096, 30])
@pytest.mark.parametrize("n", [20, 200])
def test_the_spectrum_does_not_need_the_matrix(monkeypatch, held, n):
    # Densely; by products with B and W; or, with few objects, from the smaller side.
    monkeypatch.setattr(spectral, "_HELD", held)
    monkeypatch.setattr(bipartite, "_WHOLE", held)
    labels = random_labels(np.random.default_rng(8), n, 9, k=6)
    B, W = Ensemble(labels).indicator, connected_triples(labels)
    U, values, Vt = singular_triplets(B.toarray() @ W.toarray())
    spectrum = bipartite_spectrum(B, 4, mixing=W)
    np.testing.assert_allclose(spectrum.values, values[:4], atol=1e-6)
    same_spaces(spectrum.objects, U[:, :4], values[:4])
    same_spaces(spectrum.clusters, Vt[:4].T, values[:4])


@pytest.mark.parametrize("code", [-1, -2], ids=["missing", "noise"])
@pytest.mark.parametrize("similarity", ["cts", "wtq"])
def test_missing_labels_do_not_determine_the_cut(similarity, code):
    labels, truth = planted(n=300, m=12, k=4, flip=0.1)
    labels[np.random.default_rng(0).random(labels.shape) < 0.2] = code
    model = LCE(4, similarity=similarity, random_state=0).fit(labels)
    assert adjusted_rand_index(truth, model.labels_) > 0.95


def test_linkage_without_decay_equals_eac():
    labels = random_labels(np.random.default_rng(1), 50, 6)
    e = Ensemble(labels, weights=np.random.default_rng(2).random(6) + 0.5)
    for linkage in ("average", "single", "complete"):
        plain = EAC(5, linkage=linkage).fit(e)
        for given in ({"decay": 0.0}, {"similarity": "wtq", "decay": 0.0}):
            linked = LCE(5, consensus="hierarchical", linkage=linkage, **given).fit(e)
            np.testing.assert_allclose(
                linked.linkage_matrix_[:, 2], plain.linkage_matrix_[:, 2], atol=1e-11
            )
            np.testing.assert_array_equal(linked.labels_, plain.labels_)
    # The first S that is not I is the co-association times decay / N; of single linkage ties do not matter.
    heights = (
        LCE(similarity="srs", consensus="hierarchical", linkage="single", n_iter=2)
        .fit(labels)
        .linkage_matrix_[:, 2]
    )
    alike = 1 - EAC(linkage="single").fit(labels).linkage_matrix_[:, 2]
    np.testing.assert_allclose(heights, np.where(alike < 1, 1 - 0.8 / 6 * alike, 0.0), atol=1e-11)


def test_the_number_is_chosen_by_lifetime():
    labels, truth = planted(n=80, m=10, k=4, flip=0.05)
    for model in (LCE(consensus="hierarchical"), ECPCS(consensus="hierarchical")):
        np.testing.assert_array_equal(model.fit(labels).labels_, truth)
        assert model.lifetimes_.argmax() == 2
    for model in (LCE(), ECPCS()):
        with pytest.raises(ParameterError, match=r"must be an int in the range \[1, 80\]"):
            model.fit(labels)


def test_a_second_fit_resets_all_attributes():
    cut = HBGF(2, random_state=0).fit(E1).set_params(partitioner="internal")
    assert not hasattr(cut.fit(E1), "singular_values_")
    model = (
        LCE(2, consensus="hierarchical").fit(E1).set_params(consensus="spectral", random_state=0)
    )
    assert not hasattr(model.fit(E1), "linkage_matrix_")
    assert not hasattr(
        model.set_params(consensus="hierarchical", linkage="single").fit(E1), "singular_values_"
    )
    model = ECPCS(2, random_state=0).fit(E1).set_params(consensus="hierarchical")
    assert not hasattr(model.fit(E1), "meta_clusters_")


# -- ECPCS


def test_ecpcs_matches_the_worked_examples():
    tree = ECPCS(2, consensus="hierarchical").fit(E1)
    expected = [0, 1 - 0.941534, 1 - (0.828767 + 0.770300) / 2]
    np.testing.assert_allclose(tree.linkage_matrix_[:, 2], expected, atol=1e-6)
    tree = ECPCS(3, consensus="hierarchical").fit(E2)
    assert tree.labels_.tolist() == [0, 0, 0, 1, 1, 2]
    assert tree.set_params(n_clusters=2).fit(E2).labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert ECPCS(2, random_state=0).fit(E1).labels_.tolist() == [0, 0, 1, 1]
    assert ECPCS(2, random_state=0).fit(E2).labels_.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
def test_objects_join_the_meta_cluster_with_most_of_their_clusters(missing, noise, weighted):
    labels, weights = sample(missing, noise, False)
    weights = np.array([2.0, 1.0, 0.0, 1.0, 3.0, 1.0]) if weighted else None
    model = ECPCS(3, random_state=0).fit(Ensemble(labels, weights=weights))
    meta = model.meta_clusters_
    e = Ensemble(labels)
    if weighted:
        assert (meta[e.offsets[2] : e.offsets[3]] == -1).all()
        # Weights are repetitions, cluster by cluster.
        times = weights.astype(int)
        labels = np.repeat(labels, times, axis=1)
        parts = [meta[e.offsets[u] : e.offsets[u + 1]] for u in np.repeat(np.arange(6), times)]
        meta = np.concatenate(parts)
    expected = associations(labels, meta, meta.max() + 1)
    ties = np.sort(expected, axis=1)
    clear = (labels != -1).any(axis=1) & (ties[:, -1] - ties[:, -2] > 1e-9)
    best = expected.argmax(axis=1)
    for a in range(len(best)):
        for b in range(a):
            if clear[a] and clear[b]:
                assert (model.labels_[a] == model.labels_[b]) == (best[a] == best[b])


@pytest.mark.parametrize("whole", [1500, 10])
def test_the_cut_counts_loops(monkeypatch, whole):
    # Cour, Yu and Shi: 1/2 on the diagonal, 1 more in the degrees.
    monkeypatch.setattr(bipartite, "_WHOLE", whole)
    R = trajectory_similarity(random_labels(np.random.default_rng(1), 60, 12, k=5), n_steps=3)
    n = len(R)
    root = 1 / np.sqrt(R.sum(axis=1) + 1.0)
    values, vectors = np.linalg.eigh((R + 0.5 * np.eye(n)) * root[:, None] * root)
    expected = vectors[:, -3:] / np.linalg.norm(vectors[:, -3:], axis=1, keepdims=True)
    actual = graph_embedding(R, 3, np.random.default_rng(0), loops=np.full(n, 0.5))
    assert np.diff(values[-4:]).min() > 1e-4
    np.testing.assert_allclose(actual @ actual.T, expected @ expected.T, atol=1e-5)


@pytest.mark.parametrize(
    ("similarity", "consensus", "code", "share", "warned"),
    [
        ("wtq", "spectral", -1, 0.4, True),
        ("wtq", "spectral", -1, 0.1, False),
        ("cts", "hierarchical", -2, 0.3, True),
        ("cts", "hierarchical", -2, 0.05, False),
    ],
)
def test_uninformative_labels_give_a_warning(similarity, consensus, code, share, warned):
    labels, truth = planted(seed=0, n=150, m=10, k=4, flip=0.35 if code == -1 else 0.15)
    labels = np.where(np.random.default_rng(0).random(labels.shape) < share, code, labels)
    model = LCE(4, similarity=similarity, consensus=consensus, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        actual = adjusted_rand_index(truth, model.fit(labels).labels_)
    messages = [str(one.message) for one in caught if issubclass(one.category, EnsembleWarning)]
    assert any("of the labels are" in text for text in messages) == warned
    # The warning is true: the clusters are not found there, but they are by the suggested methods.
    if warned:
        assert actual < 0.75
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvidenceWarning)
            instead = LCE(4, similarity="asrs", consensus="hierarchical").fit(labels).labels_
        assert adjusted_rand_index(truth, instead) > 0.75


@pytest.mark.parametrize("seed", [4, 5, 7, 9])
def test_a_cluster_of_weight_2_counts_as_two_of_weight_1(seed):
    rng = np.random.default_rng(seed)
    R = rng.random((8, 8)) ** 2
    R = (R + R.T) / 2
    np.fill_diagonal(R, 1.0)
    weights = rng.integers(1, 6, 8)
    times = np.repeat(np.arange(8), weights)

    def cut(R, weights):
        return _normalized_cut(R, weights, 2, np.random.SeedSequence(0))

    repeated = cut(R[np.ix_(times, times)], np.ones(len(times)))
    actual = cut(R, weights.astype(float))
    assert adjusted_rand_score(actual[times], repeated) == 1.0
