"""EAC on all pairs, dense and by spanning tree, against SciPy and naive twins."""

import warnings

import numpy as np
import pytest
import scipy.cluster.hierarchy as hierarchy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from tests.cases import E1, planted
from tests.naive.linkage import (
    between,
    dissimilarity,
    evidence,
    random_labels,
    replay,
)

from conclust import WEAC
from conclust.consensus.linkage import EAC, cut
from conclust.ensemble import Ensemble
from conclust.exceptions import (
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
    with pytest.raises(ParameterError, match=r"'lifetime' or None. Got 'longest' instead"):
        EAC("longest").fit(labels)


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
@pytest.mark.parametrize(("missing", "noise"), [(0.0, 0.0), (0.2, 0.1)])
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
    with pytest.warns(EvidenceWarning, match="if there are any"):
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


# -- laws


# -- parameters and input


# -- average linkage of more rows than fit a matrix


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


@pytest.mark.parametrize("kind", [EAC, WEAC])
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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pairs": 2, "linkage": "ward"}, "must be 'single' or 'average'. Got 'ward'"),
        ({"pairs": 2, "linkage": "complete"}, "must be 'single' or 'average'. Got 'complete'"),
    ],
)
def test_invalid_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        EAC(**parameters).fit(E1)
