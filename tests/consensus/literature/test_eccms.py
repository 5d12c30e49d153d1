"""EC-CMS: similarities smoothed along high-confidence pairs, against plain ADMM and worked examples."""

import warnings

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from tests.cases import planted
from tests.naive import similarity as naive
from tests.naive.linkage import between, evidence, random_labels, replay
from tests.naive.refinement import residual, self_enhanced

from conclust import ECCMS, LWEA, Ensemble
from conclust.consensus.literature.eccms import confident_graph, smoothed
from conclust.exceptions import EvidenceWarning
from conclust.similarity import cluster_certainty
from conclust.trees.agglomeration import cluster_dissimilarities, starting_clusters


def quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        return model.fit(X)


def heights(model):
    return np.sort(model.linkage_matrix_[:, 2])


def of_objects(labels, alpha, penalty, weights=None):
    """C of all pairs of objects, by the distinct rows; its diagonal is that of A."""
    ensemble = labels if isinstance(labels, Ensemble) else Ensemble(labels, weights=weights)
    start = starting_clusters(ensemble)
    D, _ = cluster_dissimilarities(ensemble, cluster_certainty(ensemble, 0.4), None, start)
    C = smoothed(1.0 - D, confident_graph(start, alpha), penalty)
    return C[np.ix_(start.inverse, start.inverse)]


def on_paper(labels, alpha, weights=None):
    """A and H of all pairs of objects by counting, H without a diagonal."""
    A = naive.locally_weighted(labels, naive.certainty(labels, 0.4, weights)[1], weights)
    c, N = evidence(labels, weights)
    shares = np.divide(c, N, out=np.zeros_like(c), where=N > 0)
    H = np.where(shares >= alpha - 1e-12, shares, 0.0)
    np.fill_diagonal(H, 0.0)
    return A, H


def apart(labels):
    """Pairs of objects with different rows of labels."""
    return (labels[:, None, :] != labels[None, :, :]).any(axis=2)


@pytest.mark.parametrize("alpha", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("penalty", [0.05, 0.4, 5.0])
def test_admm_converges_to_the_closed_form(alpha, penalty):
    labels = random_labels(np.random.default_rng(3), 16, 6)
    labels[5] = labels[6] = labels[7]
    A, H = on_paper(labels, alpha)
    C, twin = of_objects(labels, alpha, penalty), self_enhanced(A, H, penalty)
    assert H.any() or alpha == 0.9
    np.testing.assert_allclose(C[apart(labels)], twin[apart(labels)], atol=1e-6)


@pytest.mark.parametrize(("missing", "noise"), [(0.2, 0.0), (0.45, 0.0), (0.0, 0.2), (0.2, 0.2)])
def test_missing_noise_and_weights_match_the_naive_twin(missing, noise):
    rng = np.random.default_rng(8)
    labels = random_labels(rng, 15, 5, missing=missing, noise=noise)
    labels[(labels == -1).all(axis=1), 0] = 0
    weights = rng.random(5) + 0.2
    A, H = on_paper(labels, 0.6, weights)
    if missing > 0.4:  # including pairs that were never observed
        assert np.isnan(A).any()
    C = of_objects(labels, 0.6, 0.4, weights)
    twin = self_enhanced(A, H, 0.4)
    np.testing.assert_allclose(C[apart(labels)], twin[apart(labels)], atol=1e-6)


def test_unobserved_pairs_get_the_similarity_of_their_neighbours():
    # 0 and 1 are trusted, as are 2 and 3; 0 was never observed with 3, but 0 with 2, 1 with 2 and 1 with 3.
    labels = np.array([[0, 0, 0, -1], [0, 0, 0, 0], [0, 1, 1, 1], [-1, -1, -1, 1]])
    with pytest.warns(EvidenceWarning, match="No partition observed both objects of 1 pair:"):
        ECCMS(2, alpha=0.9).fit(labels)
    C = of_objects(labels, 0.9, 0.4)
    others = C[[0, 1, 1], [2, 2, 3]]
    assert others.min() < C[0, 3] < others.max()
    plain = of_objects(labels, 2.0, 0.4)
    assert plain[0, 3] == 0.0


def test_many_components_solve_the_equations():
    labels, _ = planted(n=150, m=10, k=6, flip=0.15)
    A, H = on_paper(labels, 0.7)
    C = of_objects(labels, 0.7, 0.4)
    components, part = connected_components(H > 0)
    assert 3 < components < 100
    assert np.abs(residual(C, A, H, 0.4)[apart(labels)]).max() < 1e-7
    # Bounds, symmetry, and the sums between components.
    off = apart(labels)
    assert C[off].min() >= A.min() - 1e-8
    assert C[off].max() <= A.max() + 1e-8
    np.testing.assert_array_equal(C, C.T)
    pieces = np.eye(components)[part]
    sums = [pieces.T @ np.where(off, M, 0.0) @ pieces for M in (A, C)]
    unlike = ~np.eye(components, dtype=bool)
    np.testing.assert_allclose(sums[0][unlike], sums[1][unlike], atol=1e-8)
    assert np.abs(C - A)[off].max() > 0.02


@pytest.mark.parametrize("given", [{"alpha": 1.01}, {"alpha": 0.6, "penalty": 1e9}])
def test_without_trust_or_freedom_eccms_equals_lwea(given):
    labels = random_labels(np.random.default_rng(5), 40, 8, missing=0.1, noise=0.05)
    ours = quiet(ECCMS(4, **given), labels)
    plain = quiet(LWEA(4), labels)
    np.testing.assert_allclose(heights(ours), heights(plain), atol=3e-6)
    np.testing.assert_array_equal(ours.labels_, plain.labels_)


def test_the_tree_matches_greedy_merging_of_smoothed_pairs():
    labels = random_labels(np.random.default_rng(11), 18, 6)
    A, H = on_paper(labels, 0.6)
    D = 1.0 - self_enhanced(A, H, 0.4)
    D[~apart(labels)] = 0.0
    model = ECCMS(3, alpha=0.6).fit(labels)
    replay(model.linkage_matrix_, lambda X, Y: between(D, X, Y, "average"), 3e-6)
