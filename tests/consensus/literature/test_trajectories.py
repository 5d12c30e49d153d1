"""PTA and PTGP, against worked examples, twins with full matrices, and invariances."""

import warnings

import numpy as np
import pytest
import scipy.cluster.hierarchy as hierarchy
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted, random_labels
from tests.naive import trajectories as naive
from tests.naive.graph import singular_triplets

from conclust import EAC, HBGF, PTA, PTGP, Ensemble
from conclust.consensus.literature.walks import _bipartite, _parts, walks_of
from conclust.exceptions import EvidenceWarning

CASES = [(0.0, 0.0, False), (0.2, 0.0, True), (0.0, 0.1, True), (0.2, 0.1, False)]


def walks(labels, n_neighbors=None, n_steps=None, weights=None):
    return walks_of(
        Ensemble(labels, weights=weights),
        n_neighbors=n_neighbors,
        n_steps=n_steps or 0,
        max_dense=1000,
        owner="PTA",
        without="EAC",
    )


def by_first(found):
    """Return R with the rows by first appearance."""
    order = np.argsort(found.start.first)
    return found.similarity()[np.ix_(order, order)]


def sample(missing, noise, weighted, n=70, m=7):
    labels = random_labels(4, n, m, 5, missing, noise)
    labels[n // 2 :] = labels[np.arange(n - n // 2) % 11]  # rows that some objects have
    return labels, np.random.default_rng(5).random(m) + 0.1 if weighted else None


# -- similarities


@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
@pytest.mark.parametrize(("n_neighbors", "n_steps"), [(None, None), (3, 6), (1000, 1)])
def test_similarity_matches_the_naive_twin(missing, noise, weighted, n_neighbors, n_steps):
    labels, weights = sample(missing, noise, weighted)
    R, _ = naive.trajectories(labels, weights, n_neighbors, n_steps)
    actual = walks(labels, n_neighbors, n_steps, weights=weights)
    np.testing.assert_allclose(by_first(actual), R, atol=1e-12)


@pytest.mark.long
def test_walks_in_components_equal_walks_over_all_rows():
    large = [random_labels(k, 400, 6, 4) + 10 * k for k in range(2)]
    small = [random_labels(k, 3, 6, 2) + 10 * k for k in range(2, 60)]
    alone = np.arange(5)[:, None] + np.full(6, 1000)
    found = walks(np.vstack([*large, *small, alone]), 5, 7)
    parts = [len(rows) for rows in _parts(found.steps)]
    assert len(parts) == 3  # the small ones together
    assert sum(parts) == len(found) - found.isolated.sum() < len(found)
    M = found.gram()
    np.testing.assert_allclose(M, naive.gram(found.steps.toarray(), 7), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(M, found._gram_of(found.steps))


@pytest.mark.parametrize("n", [31, 32, 97])
def test_sums_over_steps_equal_their_naive_twin(n):
    few = walks(random_labels(3, n, 8, 4), 6, 5)
    assert len(few) == n
    np.testing.assert_allclose(
        few.gram(), naive.gram(few.steps.toarray(), 5), rtol=1e-12, atol=1e-14
    )


def test_walks_are_lazy_where_neighbours_never_meet():
    # A triangle of rows, and two rows that are together twice and with no other.
    labels = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [3, 3, 3], [3, 3, 4]])
    R = by_first(walks(labels, 5, 4))
    assert R[3, 4] > 0.9
    np.testing.assert_allclose(
        R[:3, :3], naive.trajectories(labels, None, 5, 4)[0][:3, :3], atol=1e-12
    )


# -- PTA


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
def test_the_tree_equals_that_of_scipy(linkage, missing, noise, weighted):
    labels, weights = sample(missing, noise, weighted)
    R, (_, counts, _) = naive.trajectories(labels, weights)
    D = squareform(np.clip(1 - R, 0, 1), checks=False)
    expected = hierarchy.linkage(D, linkage)[:, 2]
    model = PTA(linkage=linkage).fit(Ensemble(labels, weights=weights))
    heights = model.linkage_matrix_[:, 2]
    assert (heights[: len(labels) - len(counts)] == 0).all()
    np.testing.assert_allclose(heights[len(labels) - len(counts) :], expected, atol=1e-10)
    np.testing.assert_allclose(model.lifetimes_[::-1], np.diff(heights, prepend=0))


# -- PTGP


@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
def test_singular_values_match_the_graph(missing, noise, weighted):
    labels, weights = sample(missing, noise, weighted)
    R, (rows, _, _) = naive.trajectories(labels, weights)
    A = naive.graph(R, rows, weights)
    A = A[:, A.any(axis=0)][A.any(axis=1)]
    _, values, _ = singular_triplets(A)
    model = PTGP(6, random_state=0).fit(Ensemble(labels, weights=weights))
    np.testing.assert_allclose(model.singular_values_, values[:6], atol=1e-7)


# -- both


@pytest.mark.parametrize("model", [PTA(3), PTGP(3, random_state=0)])
def test_few_rows_fall_back_to_another_method_with_a_warning(model):
    labels, truth = planted(n=30, m=5, k=3, flip=0.0)
    labels[:4, 0] = 2
    with pytest.warns(EvidenceWarning, match=r"distinct rows of labels are too few .* n_neighbors"):
        fitted = model.fit(labels)
    other = EAC(3) if isinstance(model, PTA) else HBGF(3, joint=False, random_state=0)
    np.testing.assert_array_equal(fitted.labels_, other.fit(labels).labels_)
    np.testing.assert_array_equal(fitted.labels_, truth)
    for asked in ({"n_neighbors": 2}, {"n_steps": 2}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            type(model)(3, **asked).fit(labels)


def test_objects_without_partners_are_singletons():
    labels, truth = planted(n=90, m=12, k=3, flip=0.2)
    labels = np.vstack([labels, np.full((2, 12), -2)])
    model = PTA(3 + 2).fit(labels)
    np.testing.assert_array_equal(model.labels_[:90], truth)
    assert model.labels_[90:].tolist() == [3, 4]
    np.testing.assert_array_equal(model.linkage_matrix_[-2:, 2], 1.0)
    cut = PTGP(3, random_state=0).fit(labels)
    assert adjusted_rand_score(cut.labels_[:90], truth) == 1.0
    singletons = np.column_stack([np.arange(40)] * 3)
    assert PTA().fit(singletons).n_clusters_ >= 1
    assert (PTGP(3).fit(singletons).labels_ == 0).all()


def test_bipartite_components_have_separate_copies():
    """Uses the graph with two copies of each vertex, and edges between copies only."""
    rng = np.random.default_rng(0)
    for share in np.repeat([0.02, 0.05, 0.1, 0.3], 30):
        n = int(rng.integers(1, 25))
        upper = np.triu(rng.random((n, n)) < share, 1)
        P = sp.csr_array((upper | upper.T).astype(float))
        double = sp.block_array([[None, P], [P, None]], format="csr")
        number = connected_components(double, directed=False)[1]
        np.testing.assert_array_equal(_bipartite(P), number[:n] != number[n:])
