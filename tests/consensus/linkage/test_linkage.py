"""EAC on all pairs, dense and by spanning tree, against SciPy and naive twins."""

import warnings

import numpy as np
import pytest
import scipy.cluster.hierarchy as hierarchy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1, E2, planted
from tests.naive.linkage import (
    between,
    dissimilarity,
    evidence,
    random_labels,
    replay,
)

from conclust import LWEA, MDEC, WEAC, WeightedEAC
from conclust.consensus.linkage import EAC, cut
from conclust.ensemble import Ensemble
from conclust.exceptions import (
    DenseLimitError,
    EvidenceWarning,
    ParameterError,
    UnsupportedEnsembleError,
)
from conclust.trees.agglomeration import starting_clusters, unobserved_pairs

LINKAGES = ("single", "average", "complete", "ward")


def fit_quietly(model, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        return model.fit(labels)


# -- the worked examples


@pytest.mark.parametrize(
    ("linkage", "heights"), [("single", [0, 1 / 3, 2 / 3]), ("average", [0, 1 / 3, 5 / 6])]
)
def test_four_objects_match_hand_calculation(linkage, heights):
    model = EAC(linkage=linkage).fit(E1)
    np.testing.assert_allclose(model.linkage_matrix_[:, 2], heights, atol=1e-15)
    # Single: K = 2 and K = 3 live 1/3 each, and the smaller is taken.
    assert model.n_clusters_ == 2
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.labels_.dtype == np.int64


def test_the_longest_lifetime_is_taken_to_the_letter():
    # Of random labels, which agree in little, more clusters than any partition has.
    above = 0
    for seed in range(20):
        labels = np.random.default_rng([11, seed]).integers(0, 3, (14, 5))
        model = EAC("lifetime").fit(labels)
        lives = np.diff(np.append(0.0, model.linkage_matrix_[:, 2]))[::-1]
        assert model.n_clusters_ == 2 + np.argmax(lives >= lives.max() - 1e-12)
        above += model.n_clusters_ > 3
    assert above
    with pytest.raises(UnsupportedEnsembleError, match="with these parameters"):
        EAC("lifetime").fit(labels, must_link=[[0, 1]])


def test_lifetimes_of_four_objects_match_hand_calculation():
    np.testing.assert_allclose(EAC().fit(E1).lifetimes_, [1 / 2, 1 / 3, 0], atol=1e-15)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_six_objects_match_hand_calculation(linkage):
    model = EAC(4, linkage=linkage).fit(E2)
    assert model.labels_.tolist() == [0, 1, 1, 2, 2, 3]
    D = dissimilarity(E2)
    D = np.sqrt(D) if linkage == "ward" else D
    replay(model.linkage_matrix_, lambda A, B: between(D, A, B, linkage))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("n_clusters", [3, None])
def test_unanimous_partitions_are_returned(linkage, n_clusters):
    truth = np.array([0, 1, 1, 2, 0, 2, 2, 1, 0])
    names = np.array([[0, 1, 2], [2, 0, 1], [7, 5, 6], [1, 0, 2]])
    model = EAC(n_clusters, linkage=linkage).fit(names[:, truth].T)
    assert model.labels_.tolist() == truth.tolist()
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("linkage", LINKAGES)
def test_one_cluster_is_found_only_without_a_choice(linkage):
    assert EAC(linkage=linkage).fit(np.zeros((5, 3), dtype=int)).n_clusters_ == 1
    assert EAC(1, linkage=linkage).fit(E1).labels_.tolist() == [0, 0, 0, 0]


# -- all pairs, against the twins


@pytest.mark.parametrize("linkage", LINKAGES)
@given(data=st.data())
@settings(max_examples=50, derandomize=True, deadline=None)
def test_merges_of_random_labels_are_greedy(linkage, data):
    n, m = data.draw(st.integers(2, 8)), data.draw(st.integers(1, 4))
    cells = data.draw(st.lists(st.integers(-2, 2), min_size=n * m, max_size=n * m))
    labels = np.array(cells).reshape(n, m)
    labels[0] = 0
    weights = data.draw(st.one_of(st.none(), st.lists(st.integers(1, 3), min_size=m, max_size=m)))
    model = fit_quietly(EAC(linkage=linkage), Ensemble(labels, weights=weights))
    observed = (labels != -1).any(axis=1)
    D = dissimilarity(labels[observed], weights)
    D = np.sqrt(D) if linkage == "ward" else D
    replay(model.linkage_matrix_, lambda A, B: between(D, A, B, linkage))
    assert ((model.labels_ == -1) == ~observed).all()


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(("missing", "noise"), [(0.0, 0.0), (0.3, 0.0), (0.2, 0.1)])
@pytest.mark.parametrize("weighted", [False, "alike", True])
def test_heights_equal_those_of_scipy_without_ties(linkage, missing, noise, weighted):
    rng = np.random.default_rng(11)
    labels = random_labels(rng, 60, 25, missing=missing, noise=noise)
    weights = {False: None, "alike": np.ones(25), True: rng.random(25)}[weighted]
    D = dissimilarity(labels, weights)
    D = np.sqrt(D) if linkage == "ward" else D
    expected = hierarchy.linkage(squareform(D, checks=False), linkage)
    tree = EAC(linkage=linkage).fit(Ensemble(labels, weights=weights)).linkage_matrix_
    if linkage == "single" or weighted is True:
        # Single linkage's heights are the same under ties; with weights there are none.
        np.testing.assert_allclose(tree[:, 2], expected[:, 2], rtol=0, atol=1e-11)
    else:
        replay(tree, lambda A, B: between(D, A, B, linkage))


def test_ward_equals_ward_on_indicator_rows():
    rng = np.random.default_rng(5)
    labels = random_labels(rng, 80, 31)
    weights = rng.random(31)
    ensemble = Ensemble(labels, weights=weights)
    rows = ensemble.indicator.toarray() * np.sqrt(np.repeat(weights, ensemble.cluster_counts))
    # |row_i - row_j|^2 = 2 (W - c_ij), W the sum of the weights.
    expected = hierarchy.linkage(rows / np.sqrt(2 * weights.sum()), "ward")
    model = EAC(5, linkage="ward").fit(ensemble)
    np.testing.assert_allclose(model.linkage_matrix_[:, 2], expected[:, 2], rtol=0, atol=1e-11)
    assert adjusted_rand_score(hierarchy.fcluster(expected, 5, "maxclust"), model.labels_) == 1.0


@pytest.mark.parametrize("linkage", LINKAGES)
def test_noise_shares_a_cluster_with_no_object(linkage):
    labels = [[0, -2], [0, -2], [1, 0], [1, 0]]
    tree = EAC(linkage=linkage).fit(labels).linkage_matrix_
    # Objects 0 and 1 have the same row, are together once, and were both seen twice.
    height = np.sqrt(0.5) if linkage == "ward" else 0.5
    np.testing.assert_allclose(tree[:2, 2], [0.0, height])
    as_noise = EAC(linkage=linkage, missing="noise").fit([[0, -1], [0, -1], [1, 0], [1, 0]])
    np.testing.assert_array_equal(as_noise.linkage_matrix_, tree)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_missing_labels_shrink_the_copresence(linkage):
    tree = EAC(linkage=linkage).fit([[0, -1], [0, -1], [0, 0], [1, 1]]).linkage_matrix_
    np.testing.assert_allclose(tree[:2, 2], [0.0, 0.0])
    assert tree[2, 2] >= 1.0


@pytest.mark.parametrize("linkage", LINKAGES)
def test_pairs_without_evidence_are_counted_and_give_a_warning(linkage):
    labels = [[0, -1], [0, -1], [1, -1], [-1, 0], [-1, 0], [0, 0]]
    with pytest.warns(
        EvidenceWarning, match="No partition observed both objects of 6 pairs"
    ) as caught:
        model = EAC(2, linkage=linkage).fit(labels)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.n_clusters_ == 2


@pytest.mark.parametrize("linkage", LINKAGES)
def test_objects_missing_everywhere_are_not_in_the_tree(linkage):
    labels = np.array([*E1, [-1, -1, -1], E1[0]])
    with pytest.warns(EvidenceWarning, match="1 object is missing in every partition"):
        model = EAC(2, linkage=linkage).fit(labels)
    assert model.labels_.tolist() == [0, 0, 1, 1, -1, 0]
    assert model.linkage_matrix_.shape == (4, 4)
    assert model.linkage_matrix_[-1, 3] == 5


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_single_observed_object_is_one_cluster(linkage):
    with pytest.warns(EvidenceWarning, match="missing in every partition"):
        model = EAC(linkage=linkage).fit([[0, 1], [-1, -1]])
    assert model.labels_.tolist() == [0, -1]
    assert model.linkage_matrix_.shape == (0, 4)


def test_unobserved_pairs_are_counted():
    rng = np.random.default_rng(0)
    for share in (0.3, 0.6, 0.8):
        labels = np.where(rng.random((50, 6)) < share, -1, 0)
        labels[0] = 0
        labels = labels[(labels == 0).any(axis=1)]
        _, N = evidence(labels)
        expected = int((N == 0).sum()) // 2
        assert unobserved_pairs(Ensemble(labels), max_rows=100) == expected
    assert expected > 0
    assert unobserved_pairs(Ensemble(labels), max_rows=2) is None


def test_too_many_patterns_to_count_are_refused():
    labels = np.where(np.eye(7, 6, dtype=int) == 1, 0, -1)
    labels[6] = 1
    with pytest.warns(EvidenceWarning, match="too many"):
        EAC(2, linkage="single", max_dense=3).fit(labels)


def test_starting_clusters_are_equal_rows():
    labels = [[0, 0], [0, -2], [0, 0], [0, -2], [1, -1], [1, -1]]
    start = starting_clusters(Ensemble(labels))
    assert start.first.tolist() == [0, 1, 3, 4]
    assert start.inverse.tolist() == [0, 1, 0, 2, 3, 3]
    assert start.counts.tolist() == [2, 1, 1, 2]
    # The only partition that observed the last two has no weight.
    weighted = starting_clusters(Ensemble(labels, weights=[0.0, 1.0]))
    assert len(weighted) == 6


@pytest.mark.parametrize("linkage", LINKAGES)
def test_trees_of_duplicated_objects_are_greedy(linkage):
    rng = np.random.default_rng(4)
    labels = random_labels(rng, 20, 9)
    repeated = np.repeat(labels, 3, axis=0)
    D = dissimilarity(repeated)
    D = np.sqrt(D) if linkage == "ward" else D
    model = EAC(linkage=linkage).fit(repeated)
    replay(model.linkage_matrix_, lambda A, B: between(D, A, B, linkage))
    assert model.linkage_matrix_[-1, 3] == 60


@pytest.mark.parametrize("linkage", LINKAGES)
def test_every_k_is_given_exactly(linkage):
    labels = random_labels(np.random.default_rng(6), 25, 3)
    for k in range(1, 26):
        model = EAC(k, linkage=linkage).fit(labels)
        assert model.n_clusters_ == len(np.unique(model.labels_)) == k


@pytest.mark.parametrize("linkage", LINKAGES)
def test_one_partition_is_its_own_consensus(linkage):
    column = np.array([[3], [1], [3], [2], [1]])
    model = EAC(linkage=linkage).fit(column)
    assert model.labels_.tolist() == [0, 1, 0, 2, 1]


# -- laws


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_and_names_of_partitions_do_not_matter(linkage, missing, weighted):
    rng = np.random.default_rng(14)
    labels = random_labels(rng, 50, 12, missing=missing)
    weights = rng.random(12) if weighted else np.ones(12)
    tree = fit_quietly(EAC(linkage=linkage), Ensemble(labels, weights=weights)).linkage_matrix_
    order = rng.permutation(12)
    renamed = np.where(labels >= 0, 9 - labels, labels)[:, order]
    same = fit_quietly(EAC(linkage=linkage), Ensemble(renamed, weights=weights[order]))
    twice = Ensemble(np.hstack([labels, labels]), weights=np.concatenate([weights, weights]))
    doubled = fit_quietly(EAC(linkage=linkage), twice)
    for other in (same.linkage_matrix_, doubled.linkage_matrix_):
        if linkage == "single":
            # A minimum spanning tree does not determine the order of equal heights.
            actual, expected = hierarchy.cophenet(other), hierarchy.cophenet(tree)
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11)
        else:
            np.testing.assert_allclose(other, tree, rtol=0, atol=1e-11)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("pairs", [None, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_bits_for_any_number_of_threads(linkage, pairs, weighted):
    if pairs is not None and linkage not in ("single", "average"):
        linkage = "single"
    rng = np.random.default_rng(15)
    labels = random_labels(rng, 400, 20, missing=0.1)
    ensemble = Ensemble(labels, weights=rng.random(20) if weighted else None)
    trees = [
        EAC(linkage=linkage, pairs=pairs, random_state=0, n_jobs=jobs).fit(ensemble).linkage_matrix_
        for jobs in (1, 2, 4)
    ]
    assert trees[0].tobytes() == trees[1].tobytes() == trees[2].tobytes()


def test_single_equals_scipy_on_many_objects():
    labels = random_labels(np.random.default_rng(16), 1500, 40, k=6)
    D = 1.0 - squareform(pdist(labels, "hamming"))
    expected = hierarchy.linkage(squareform(1.0 - D, checks=False), "single")
    tree = EAC(linkage="single").fit(labels).linkage_matrix_
    np.testing.assert_allclose(tree[:, 2], expected[:, 2], rtol=0, atol=1e-12)


def test_more_than_255_clusters_and_partitions():
    rng = np.random.default_rng(17)
    labels = np.hstack([rng.integers(20, size=(90, 300)), np.arange(90)[:, None] * 7])
    labels[:, :300] = np.where(
        rng.random((90, 300)) < 0.5, (np.arange(90) % 3)[:, None], labels[:, :300]
    )
    for linkage in LINKAGES:
        assert EAC(3, linkage=linkage).fit(labels).labels_.tolist() == [i % 3 for i in range(90)]


# -- parameters and input


@pytest.mark.parametrize("linkage", ["average", "complete", "ward"])
def test_the_dense_limit_error_names_alternatives(linkage):
    labels = np.arange(12)[:, None] % [2, 3, 5]
    if linkage == "average":
        labels[0, 0] = -1
    distinct = len(np.unique(labels, axis=0))
    with pytest.raises(DenseLimitError, match=f"the {distinct} distinct rows") as caught:
        EAC(linkage=linkage, max_dense=distinct - 1).fit(labels)
    ways = (
        "'single', which needs, for incomplete" if linkage == "average" else "'single' or 'average'"
    )
    assert f"linkage={ways}" in str(caught.value)
    assert "pairs=" in str(caught.value)
    # Objects with equal rows count once, and single linkage needs no matrix.
    EAC(linkage=linkage, max_dense=distinct).fit(np.repeat(labels, 5, axis=0))
    EAC(linkage="single", max_dense=1).fit(labels)


# -- average linkage of more rows than fit a matrix


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_rows_and_matrix_give_the_same_tree_without_ties(noise):
    rng = np.random.default_rng(31)
    labels = random_labels(rng, 300, 9, k=8, noise=noise)
    e = Ensemble(labels, weights=np.sqrt([2.0, 3, 5, 7, 11, 13, 17, 19, 23]))
    by_matrix, by_rows = EAC(5).fit(e), EAC(5, max_dense=20).fit(e)
    a, b = by_matrix.linkage_matrix_, by_rows.linkage_matrix_
    np.testing.assert_allclose(b[:, 2], a[:, 2], rtol=0, atol=1e-10)
    assert np.count_nonzero(np.diff(a[:, 2]) > 1e-9) > 200  # next to no ties
    for k in range(2, 60):
        np.testing.assert_array_equal(cut(b, k), cut(a, k))
    np.testing.assert_array_equal(by_rows.labels_, by_matrix.labels_)


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_rows_merge_ties_greedily(noise):
    labels = random_labels(np.random.default_rng(32), 60, 6, k=5, noise=noise)
    labels[20:30] = labels[10:20]
    tree = EAC(max_dense=9).fit(labels).linkage_matrix_
    D = dissimilarity(labels)
    replay(tree, lambda A, B: between(D, A, B, "average"), 1e-9)


@pytest.mark.parametrize("k", [2, 4, 12])
def test_rows_break_ties_like_the_matrix(k):
    labels = np.random.default_rng(34).integers(0, k, (700, 6))
    a, b = (EAC(max_dense=most).fit(labels).linkage_matrix_ for most in (700, 10))
    np.testing.assert_array_equal(b[:, [0, 1, 3]], a[:, [0, 1, 3]])
    np.testing.assert_allclose(b[:, 2], a[:, 2], rtol=0, atol=1e-12)


def test_many_small_clusters_are_linked_by_rows(monkeypatch):
    labels = np.random.default_rng(35).integers(0, 60, (2300, 5))
    with monkeypatch.context() as patched:
        patched.setattr("conclust.consensus.linkage.eac.by_rows", lambda *given: False)
        expected = EAC(9).fit(labels)
    monkeypatch.setattr("conclust.consensus.linkage.eac.dense_tree", None)
    np.testing.assert_array_equal(EAC(9).fit(labels).labels_, expected.labels_)


@pytest.mark.parametrize("kind", [EAC, LWEA, WEAC, MDEC])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_and_matrix_give_the_same_labels_where_both_are_used(monkeypatch, kind, weighted):
    labels = planted(n=4400, m=20, k=10, flip=0.2)[0]
    weights = np.random.default_rng(0).uniform(0.2, 2, 20) if weighted else None
    e = Ensemble(labels, weights=weights)
    assert len(e.distinct_rows()) > 4096
    by_rows = kind(10).fit(e)
    monkeypatch.setattr("conclust.trees.clusterwise._COST_SUMMED", 1.0)
    by_matrix = kind(10).fit(e)
    a, b = by_matrix.linkage_matrix_, by_rows.linkage_matrix_
    assert not np.array_equal(a, b)  # heights differ in the last bits, so both forms were used
    np.testing.assert_allclose(b[:, 2], a[:, 2], rtol=0, atol=1e-12)
    for k in (2, 5, 10, 20, 100):
        np.testing.assert_array_equal(cut(b, k), cut(a, k))


def test_weighted_eac_works_without_the_matrix():
    labels = random_labels(np.random.default_rng(33), 200, 8, k=7)
    by_matrix, by_rows = WeightedEAC(4).fit(labels), WeightedEAC(4, max_dense=20).fit(labels)
    np.testing.assert_array_equal(by_rows.labels_, by_matrix.labels_)
    np.testing.assert_allclose(by_rows.lifetimes_, by_matrix.lifetimes_, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 5}, r"'n_clusters' parameter of EAC must be an int in the range \[1, 4\]"),
        ({"n_clusters": 0}, "Got 0 instead"),
        ({"n_clusters": 2.5}, "Got 2.5 instead"),
        ({"linkage": "centroid"}, "'linkage' parameter of EAC must be one of"),
        ({"pairs": 0}, "'pairs' parameter of EAC must be an int in the range"),
        ({"pairs": 2, "linkage": "ward"}, "must be 'single' or 'average'. Got 'ward'"),
        ({"pairs": 2, "linkage": "complete"}, "must be 'single' or 'average'. Got 'complete'"),
        ({"max_dense": 0}, "'max_dense' parameter of EAC"),
        ({"n_jobs": 0}, "'n_jobs' parameter of EAC"),
        ({"missing": "zero"}, "'missing' parameter of EAC"),
    ],
)
def test_invalid_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        EAC(**parameters).fit(E1)


def test_cloning_works_and_the_input_is_not_modified():
    labels = np.array(E1)
    before = labels.copy()
    model = clone(EAC(2, linkage="ward", max_dense=9)).fit(labels)
    np.testing.assert_array_equal(labels, before)
    assert model.get_params()["max_dense"] == 9
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("linkage", ["average", "single", "complete", "ward"])
@pytest.mark.parametrize("weight", [1.0, 0.1, 3.0])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_equal_weights_give_the_tree_without_weights(linkage, weight, missing):
    rng = np.random.default_rng(2)
    for _ in range(10):
        labels = rng.integers(0, 3, (30, 5))
        labels[rng.random(labels.shape) < missing] = -1
        labels = labels[(labels >= 0).any(axis=1)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvidenceWarning)
            plain = EAC(3, linkage=linkage).fit(labels)
            weighted = Ensemble(labels, weights=np.full(5, weight))
            other = EAC(3, linkage=linkage).fit(weighted)
        np.testing.assert_array_equal(other.linkage_matrix_, plain.linkage_matrix_)
        np.testing.assert_array_equal(other.labels_, plain.labels_)
