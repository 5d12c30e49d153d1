"""The spanning tree from labels: against the naive twin, scipy's tree and scipy's single linkage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import squareform
from tests.naive import evidence as naive

from conclust import Ensemble
from conclust._kernels import SpanningTree, bitslice_forms
from conclust.evidence import evidence, frequencies, spanning_tree
from conclust.exceptions import UnsupportedEnsembleError

FORMS = bitslice_forms()


def random_labels(rng, n, m, k, missing=0.0, noise=0.0):
    labels = rng.integers(0, k, (n, m))
    labels[rng.random((n, m)) < noise] = -2
    labels[rng.random((n, m)) < missing] = -1
    labels[0] = np.maximum(labels[0], 0)  # no partition without an observed object
    return labels


def grow(ensemble, form, step=10**9):
    n = ensemble.n_samples
    tree = SpanningTree(ensemble.label_view, form)
    while tree.grow(step):
        pass
    order, heights = np.empty(n, dtype=np.int64), np.empty(n - 1)
    tree.read(order, heights)
    return order, heights


@pytest.mark.parametrize(("missing", "noise"), [(0.0, 0.0), (0.4, 0.2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_forms_equal_the_naive_twin(missing, noise, weighted):
    rng = np.random.default_rng(0)
    for n, m, k in [(2, 1, 1), (3, 4, 2), (40, 3, 2), (70, 20, 6), (66, 9, 40)]:
        labels = random_labels(rng, n, m, k, missing, noise)
        # Dyadic weights: sums and comparisons are exact, so ties are ties in both.
        weights = rng.integers(1, 9, m) / 8 if weighted else None
        expected_order, expected_heights = naive.spanning_tree(labels, weights)
        for form in FORMS:
            order, heights = grow(Ensemble(labels, weights=weights), form)
            np.testing.assert_array_equal(order, expected_order)
            np.testing.assert_allclose(
                heights, np.array(expected_heights, float), rtol=0, atol=1e-15
            )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.tuples(st.integers(2, 25), st.integers(1, 6)).flatmap(
        lambda shape: arrays(np.int64, shape, elements=st.integers(-2, 3))
    )
)
def test_any_small_label_matrix_has_a_minimum_tree(labels):
    labels[0] = 0
    expected_order, expected_heights = naive.spanning_tree(labels)
    for form in FORMS:
        order, heights = grow(Ensemble(labels), form)
        np.testing.assert_array_equal(order, expected_order)
        np.testing.assert_allclose(heights, np.array(expected_heights, float), rtol=0, atol=1e-15)


@pytest.mark.parametrize("m", [90, 300, 600])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weight_and_clusters_equal_scipy(m, missing):
    rng = np.random.default_rng(m)
    n = 300
    labels = rng.integers(0, 6, n)[:, None] * np.ones((1, m), dtype=np.int64)
    wrong = rng.random((n, m)) < 0.5
    labels[wrong] = rng.integers(0, 6, wrong.sum())
    labels[rng.random((n, m)) < missing] = -1
    tree = spanning_tree(labels)
    assert sorted(tree.order) == list(range(n))
    distances = 1 - frequencies(*evidence(labels))
    np.fill_diagonal(distances, 0)
    # scipy treats 0 as a missing edge, so all distances are raised by 1.
    expected = minimum_spanning_tree(distances + 1 - np.eye(n)).data
    np.testing.assert_allclose(np.sort(tree.heights), np.sort(expected) - 1, rtol=0, atol=1e-12)
    merges = linkage(squareform(distances), method="single")
    np.testing.assert_allclose(np.sort(tree.heights), merges[:, 2], rtol=0, atol=1e-12)
    # Runs of the order between heights above the cut are the clusters at that cut.
    for cut in np.quantile(tree.heights, [0.3, 0.9, 0.99]):
        runs = np.empty(n, dtype=np.int64)
        runs[tree.order] = np.concatenate([[0], np.cumsum(tree.heights > cut)])
        clusters = fcluster(merges, cut + 1e-9, criterion="distance")
        assert len(set(zip(runs, clusters, strict=True))) == len(set(runs)) == len(set(clusters))


def test_weighted_forms_agree_to_the_bit():
    rng = np.random.default_rng(4)
    labels = random_labels(rng, 200, 30, 5, 0.2, 0.1)
    ensemble = Ensemble(labels, weights=rng.random(30))
    results = {tuple(part.tobytes() for part in grow(ensemble, form)) for form in FORMS}
    assert len(results) == 1


def test_growing_in_steps_changes_nothing():
    ensemble = Ensemble(random_labels(np.random.default_rng(5), 150, 12, 4, 0.2))
    whole = grow(ensemble, "auto")
    for step in (1, 7, 149):
        for a, b in zip(whole, grow(ensemble, "auto", step), strict=True):
            np.testing.assert_array_equal(a, b)


def test_heights_are_the_dense_dissimilarities_to_the_bit():
    labels = random_labels(np.random.default_rng(6), 120, 7, 3, 0.3)
    c, present = evidence(labels)
    dissimilarities = 1 - c[present > 0] / present[present > 0]
    assert set(spanning_tree(labels).heights) <= {*dissimilarities, 1.0}


def test_progress_reaches_the_end():
    calls = []
    spanning_tree(
        random_labels(np.random.default_rng(7), 90, 5, 3), progress=lambda *now: calls.append(now)
    )
    assert calls[-1] == (90, 90)


def test_soft_ensembles_are_refused():
    soft = Ensemble.from_memberships([[[0.5, 0.5], [1, 0]]])
    with pytest.raises(UnsupportedEnsembleError, match="this ensemble is soft"):
        spanning_tree(soft)
