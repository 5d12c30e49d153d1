"""The transfer cut for graphs of objects and clusters with several components."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted, superpixels

from conclust import HBGF, LCE, LWGP, Ensemble
from conclust.blocks import LabelStore
from conclust.exceptions import EnsembleWarning
from conclust.spectra.bipartite import edges_of
from conclust.spectra.transfer_cut import _HELD, components_of, transfer_cut

CUTS = {
    "HBGF": lambda k: HBGF(k, random_state=0),
    "HBGF of objects": lambda k: HBGF(k, joint=False, random_state=0),
    "LWGP": lambda k: LWGP(k, random_state=0),
    # Triples link clusters of one partition: with a decay of 0 they do not.
    "LCE": lambda k: LCE(k, decay=0.0, random_state=0),
}


def halves(seed=0, sizes=(30, 20), m=6, k=3):
    """Labels of two halves that no partition puts together, and the halves."""
    rng = np.random.default_rng(seed)
    parts, of = [], np.repeat(np.arange(len(sizes)), sizes)
    for half, size in enumerate(sizes):
        labels, _ = planted(seed=seed + half, n=size, m=m, k=k if size > 10 else 1, flip=0.1)
        parts.append(labels + 100 * half)
    order = rng.permutation(len(of))
    return np.vstack(parts)[order], of[order]


def together(labels):
    return labels[:, None] == labels


@pytest.mark.parametrize("name", CUTS)
def test_two_halves_are_cut_apart_first(name):
    labels, half = halves()
    assert (CUTS[name](1).fit(labels).labels_ == 0).all()
    two = CUTS[name](2).fit(labels)
    assert adjusted_rand_score(half, two.labels_) == 1
    np.testing.assert_array_equal(two.singular_values_, [1, 1])
    for k in (3, 4, 6):
        model = CUTS[name](k).fit(labels)
        assert model.n_clusters_ == k
        assert model.singular_values_[1] == 1 > model.singular_values_[2]
        # No cluster has objects of both halves.
        assert not (together(model.labels_) & ~together(half)).any()


@pytest.mark.parametrize("name", CUTS)
def test_surplus_components_are_joined_smallest_first(name):
    labels, of = halves(sizes=(30, 24, 7, 4, 3))
    with pytest.warns(EnsembleWarning, match=r"falls into 5 components.*n_clusters=5 to keep"):
        three = CUTS[name](3).fit(labels).labels_
    assert adjusted_rand_score(np.minimum(of, 2), three) == 1
    with pytest.warns(EnsembleWarning, match=f"{name.split()[0]} joined the smallest"):
        two = CUTS[name](2).fit(labels).labels_
    # 3 and 4, with 7; 14 and 24.
    assert adjusted_rand_score(of > 0, two) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert adjusted_rand_score(of, CUTS[name](5).fit(labels).labels_) == 1
        assert (CUTS[name](1).fit(labels).labels_ == 0).all()


@pytest.mark.parametrize("name", CUTS)
def test_noise_objects_join_the_smallest_component(name):
    labels, half = halves()
    labels[:2] = -2
    found_labels = CUTS[name](2).fit(labels).labels_
    assert adjusted_rand_score(half[2:], found_labels[2:]) == 1
    smaller = np.bincount(found_labels[2:]).argmin()
    assert (found_labels[:2] == smaller).all()


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_components_match_those_of_the_whole_graph(soft, missing):
    labels, _ = halves(sizes=(30, 20, 10))
    labels[np.random.default_rng(5).random(labels.shape) < missing] = -1
    labels[0] = -1
    ensemble = Ensemble(labels[1:])
    if soft:
        blocks = [
            np.eye(k)[np.maximum(c, 0)] * (c >= 0)[:, None]
            for k, c in zip(ensemble.cluster_counts, ensemble.labels.T, strict=True)
        ]
        ensemble = Ensemble.from_memberships(blocks)
    B = ensemble.indicator
    n = B.shape[0]
    whole = sp.block_array([[None, B], [B.T, None]], format="csr")
    expected = sp.csgraph.connected_components(whole, directed=False)[1][n:]
    components = components_of(edges_of(ensemble))
    assert adjusted_rand_score(expected, components) == 1
    masses = np.bincount(components, B.sum(axis=0))
    assert (np.diff(masses) <= 0).all()


def test_clusters_without_weight_connect_nothing():
    labels, half = halves()
    both = np.column_stack([labels, np.zeros(len(labels), dtype=int)])
    ensemble = Ensemble(both, weights=[1.0] * 6 + [0.0])
    components = components_of(edges_of(ensemble))
    assert components.max() == 1
    assert components[-1] == -1
    assert adjusted_rand_score(half, HBGF(2, random_state=0).fit(ensemble).labels_) == 1
    assert components_of(edges_of(Ensemble(both))).max() == 0


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("held", [10, 80, 4096])
def test_singular_triplets_of_components_are_triplets_of_the_graph(held, mixed, monkeypatch):
    # By products with few stored clusters, and by Lanczos with more objects than are stored.
    monkeypatch.setattr("conclust.spectra.transfer_cut._HELD", held)
    labels, _ = halves(sizes=(60, 50), m=8, k=4)
    ensemble = Ensemble(labels)
    edges, B = edges_of(ensemble), ensemble.indicator.toarray()
    T = B.shape[1]
    rng = np.random.default_rng(0)
    W = np.eye(T)
    if mixed:
        for u in range(8):
            columns = np.flatnonzero(ensemble.column_partitions == u)
            for c in (0, 1):
                inside = columns[components_of(edges)[columns] == c]
                some = rng.random((len(inside), len(inside)))
                W[np.ix_(inside, inside)] += some + some.T
    side = transfer_cut(edges, 6, mixing=sp.csr_array(W) if mixed else None)
    A = B @ W
    S = A / np.sqrt(A.sum(axis=1))[:, None] / np.sqrt(A.sum(axis=0))
    np.testing.assert_allclose(side.values, np.linalg.svd(S)[1][:6], atol=1e-6)
    assert side.n_components == 2
    V = side.clusters
    np.testing.assert_allclose(V.T @ V, np.eye(6), atol=1e-5)
    np.testing.assert_allclose(S.T @ (S @ V), V * side.values**2, atol=1e-4)
    for column, c in enumerate(side.component_of):
        assert not V[side.components != c, column].any()


@pytest.mark.long
@pytest.mark.parametrize(("size", "width"), [(90, 5), (120, 3)])
def test_components_of_many_clusters_are_found(size, width):
    """Iterations for few of many eigenvalues find one of several that are 1."""
    fields, labels = superpixels(size, width)
    assert (Ensemble(labels).offsets[-1] <= _HELD) == (width == 5)
    assert adjusted_rand_score(fields, HBGF(6, random_state=0).fit(labels).labels_) == 1.0
    if width == 3:
        return  # too many clusters for blocks
    assert adjusted_rand_score(fields, LWGP(6, random_state=0).fit(labels).labels_) == 1.0
    in_blocks = HBGF(6, random_state=0).fit(LabelStore(labels, block_rows=2000))
    assert adjusted_rand_score(fields, np.asarray(in_blocks.labels_)) == 1.0
    np.testing.assert_allclose(in_blocks.singular_values_, 1.0)
