"""CSPA above max_dense: the graph of the nearest pairs."""

import numpy as np
import pytest

from conclust import CSPA, Ensemble
from conclust.evidence import nearest_pairs
from conclust.metrics import adjusted_rand_index


def planted(n, n_partitions, k, noise, seed=0):
    """Return labels of which a share is random, and the true clusters."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    wrong = rng.random((n, n_partitions)) < noise
    return np.where(wrong, rng.integers(0, k, (n, n_partitions)), truth[:, np.newaxis]), truth


@pytest.mark.parametrize("weighted", [False, True])
def test_the_graph_holds_the_nearest_pairs(weighted):
    labels, _ = planted(300, 12, 4, 0.5)
    assert len(np.unique(labels, axis=0)) == len(labels)
    weights = np.linspace(0.5, 2.0, 12) if weighted else None
    ensemble = Ensemble(labels, weights=weights)
    model = CSPA(4, max_dense=100, random_state=0).fit(ensemble)
    pairs = nearest_pairs(ensemble, 20, max_partners=40)
    given = CSPA(4, pairs=pairs, random_state=0).fit(ensemble)
    np.testing.assert_array_equal(model.labels_, given.labels_)
    assert model.objective_ == given.objective_
    assert pairs.to_scipy().nnz < 0.5 * 300**2


def test_the_cut_counts_pairs_of_objects():
    """Objects with the same labels form one vertex with all of their edges."""
    labels, _ = planted(120, 8, 3, 0.5)
    labels = np.vstack([labels, labels[:40]])
    model = CSPA(3, max_dense=50, random_state=0).fit(labels)
    np.testing.assert_array_equal(model.labels_[:40], model.labels_[120:])
    rows, inverse = np.unique(labels, axis=0, return_inverse=True)
    W = nearest_pairs(rows, 20, max_partners=40).to_scipy().toarray()
    apart = model.labels_[:, np.newaxis] != model.labels_
    cut = sum(W[inverse[i], inverse[j]] for i, j in zip(*np.nonzero(np.triu(apart)), strict=True))
    assert model.objective_ == pytest.approx(cut)


def test_clusters_are_found_as_well_as_with_all_pairs():
    labels, truth = planted(1500, 20, 5, 0.5)
    every = CSPA(5, random_state=0).fit(labels)
    near = CSPA(5, max_dense=1000, random_state=0).fit(labels)
    ari = [adjusted_rand_index(truth, model.labels_) for model in (every, near)]
    assert ari[1] > 0.95
    assert ari[1] > ari[0] - 0.02
