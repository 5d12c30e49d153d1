"""Dendrograms: the dense linkage kernel against SciPy, cuts and lifetimes."""

import numpy as np
import pytest
import scipy.cluster.hierarchy as hierarchy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1
from tests.naive.linkage import between, replay

from conclust import _kernels
from conclust.consensus.linkage import EAC, cut, lifetimes, longest_lifetime
from conclust.exceptions import InputError, ParameterError
from conclust.trees.agglomeration import from_merges

LINKAGES = ("single", "average", "complete", "ward")


def kernel_tree(D, linkage, sizes=None):
    """Run the dense kernel on the dissimilarities of starting clusters."""
    n = len(D)
    sizes = np.ones(n) if sizes is None else np.asarray(sizes, dtype=float)
    matrix = np.array(D, dtype=float)
    if linkage == "ward":
        matrix **= 2
    if linkage in ("average", "ward"):
        matrix *= np.outer(sizes, sizes)
    merges = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
    getattr(_kernels, f"agglomerate_{linkage}")(matrix, sizes, *merges)
    return from_merges(*merges)


def symmetric(rng, n):
    D = np.triu(rng.random((n, n)), 1)
    return D + D.T


# -- the dense kernel


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("n", [2, 3, 5, 17, 120, 700])
def test_kernel_equals_scipy_without_ties(linkage, n):
    rng = np.random.default_rng(n)
    for D in (symmetric(rng, n), squareform(pdist(rng.normal(size=(n, 3))))):
        ours, theirs = kernel_tree(D, linkage), hierarchy.linkage(squareform(D), linkage)
        np.testing.assert_array_equal(ours[:, [0, 1, 3]], theirs[:, [0, 1, 3]])
        np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=0, atol=1e-12)


@pytest.mark.parametrize("linkage", LINKAGES)
@given(data=st.data())
@settings(max_examples=60, derandomize=True, deadline=None)
def test_kernel_makes_greedy_merges_under_ties(linkage, data):
    n = data.draw(st.integers(2, 9))
    values = data.draw(
        st.lists(st.integers(0, 3), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)
    )
    D = squareform(np.array(values, dtype=float))
    replay(kernel_tree(D, linkage), lambda A, B: between(D, A, B, linkage))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_sizes_stand_for_objects_at_distance_zero(linkage):
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 5, size=12)
    D = symmetric(rng, 12)
    owner = np.repeat(np.arange(12), sizes)
    full = hierarchy.linkage(squareform(D[np.ix_(owner, owner)], checks=False), linkage)
    compressed = kernel_tree(D, linkage, sizes)
    np.testing.assert_allclose(compressed[:, 2], full[-11:, 2], rtol=0, atol=1e-12)
    for k in range(1, 13):
        expected = hierarchy.fcluster(full, k, "maxclust")
        assert adjusted_rand_score(expected, cut(compressed, k)[owner]) == 1.0


def test_averages_of_integers_keep_ties():
    # 0.1 + 0.2 != 0.3 in floating point, but 1 + 2 == 3: both averages are 3 / 20.
    disagreements = squareform(
        np.array([0, 1, 2, 9, 9, 9, 9, 9, 9, 3, 3, 9, 9, 9, 9]).astype(float)
    )
    merges = np.empty(5, dtype=np.int64), np.empty(5, dtype=np.int64), np.empty(5)
    _kernels.agglomerate_average(disagreements.copy(), np.ones(6), *merges)
    tree = from_merges(*merges)
    replay(tree, lambda A, B: between(disagreements, A, B, "average"), tolerance=0.0)


# -- dendrograms


@given(
    values=st.lists(st.integers(0, 2), min_size=28, max_size=28), linkage=st.sampled_from(LINKAGES)
)
@settings(max_examples=60, derandomize=True, deadline=None)
def test_cut_gives_exactly_k_nested_clusters(values, linkage):
    tree = kernel_tree(squareform(np.array(values, dtype=float)), linkage)
    finer = cut(tree, 8)
    assert finer.tolist() == list(range(8))
    for k in range(7, 0, -1):
        coarser = cut(tree, k)
        assert list(dict.fromkeys(coarser.tolist())) == list(range(k))
        assert len({(a, b) for a, b in zip(finer, coarser, strict=True)}) == k + 1
        finer = coarser


def test_cut_reads_scipys_matrices_with_inversions():
    X = np.random.default_rng(0).normal(size=(40, 2))
    tree = hierarchy.linkage(X, "centroid")
    assert (np.diff(tree[:, 2]) < 0).any()
    # hierarchy.cut_tree gives too few clusters here, so the merges are made one by one.
    clusters = {i: {i} for i in range(40)}
    for t, (a, b) in enumerate(tree[:, :2].astype(int)):
        labels = cut(tree, 40 - t)
        assert sorted(map(sorted, clusters.values())) == sorted(
            np.flatnonzero(labels == k).tolist() for k in range(40 - t)
        )
        clusters[40 + t] = clusters.pop(a) | clusters.pop(b)


@pytest.mark.parametrize("k", [0, 5, 2.0, True, None])
def test_cut_refuses_invalid_numbers(k):
    tree = EAC().fit(E1).linkage_matrix_
    with pytest.raises(ParameterError, match=r"'n_clusters' parameter of cut must be an int in"):
        cut(tree, k)


@pytest.mark.parametrize(
    "wrong",
    [
        [[0, 1, 0, 2], [3, 9, 1, 3]],  # no such cluster
        [[0, 1, 0, 2], [-3, 2, 1, 3]],
        [[0, 4, 0, 2], [1, 2, 1, 3]],  # a cluster that is formed later
        [[0, 1, 0, 2], [0, 2, 1, 3]],  # one that is already part of another
        [[0, 1, 0, 2], [2.5, 3, 1, 3]],
        [[0, 1, 0, 2], [np.nan, 3, 1, 3]],
        [[0, 1, 0], [2, 3, 1]],
        [0, 1, 0, 2],
        "tree",
    ],
)
def test_other_matrices_are_not_cut(wrong):
    with pytest.raises(InputError, match="linkage matrix must"):
        cut(wrong, 2)


def test_lifetimes_match_their_definition():
    rng = np.random.default_rng(3)
    tree = kernel_tree(symmetric(rng, 30), "average")
    heights = [0.0, *tree[:, 2]]
    for k in range(2, 31):
        assert lifetimes(tree)[k - 2] == heights[30 - k + 1] - heights[30 - k]
    assert longest_lifetime(tree) == 2 + int(np.argmax(lifetimes(tree)))
