"""EAC on the evidence of some pairs, against naive twins."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from tests.cases import E1, E2
from tests.naive.linkage import (
    between,
    dissimilarity,
    evidence,
    greedy,
    random_labels,
    replay,
    sparse_between,
)

from conclust import CSPA, PCC, PEACE, WeightedPCC, _kernels
from conclust.consensus.linkage import EAC
from conclust.ensemble import Ensemble
from conclust.evidence import SparseEvidence, sample_pairs
from conclust.exceptions import EvidenceWarning, InputError, ParameterError
from conclust.trees.agglomeration import from_merges


def sparse_pattern(c, N, keep):
    """Make SparseEvidence of the kept off-diagonal pairs."""
    keep = keep & (N > 0) & ~np.eye(len(N), dtype=bool)
    rows, columns = np.nonzero(keep)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(N)))])
    return SparseEvidence(
        indptr.astype(np.int64),
        columns.astype(np.int32),
        c[rows, columns].astype(np.uint32),
        N[rows, columns].astype(np.uint32),
    )


# -- sampled pairs


@pytest.mark.parametrize("linkage", ["single", "average"])
def test_full_pattern_equals_dense(linkage):
    labels = random_labels(np.random.default_rng(8), 40, 13)
    c, N = evidence(labels)
    pairs = sparse_pattern(c, N, np.ones_like(c, dtype=bool))
    sparse = EAC(linkage=linkage, pairs=pairs).fit(labels).linkage_matrix_
    D = dissimilarity(labels)
    replay(sparse, lambda A, B: between(D, A, B, linkage))
    if linkage == "single":
        dense = EAC(linkage=linkage).fit(labels).linkage_matrix_
        np.testing.assert_array_equal(sparse[:, 2], dense[:, 2])


@given(data=st.data())
@settings(max_examples=100, derandomize=True, deadline=None)
def test_sparse_average_makes_greedy_merges(data):
    n = data.draw(st.integers(2, 9))
    half = n * (n - 1) // 2
    draw = lambda low, high: squareform(  # noqa: E731
        np.array(data.draw(st.lists(st.integers(low, high), min_size=half, max_size=half)))
    )
    N = draw(0, 3)
    c = np.minimum(draw(0, 3), N)
    merges = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
    pairs = sparse_pattern(c, N, np.ones((n, n), dtype=bool))
    _kernels.sparse_average(pairs.indptr, pairs.indices, pairs.counts, pairs.copresence, *merges)
    replay(from_merges(*merges), lambda A, B: sparse_between(c, N, A, B))


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_average_is_weighted_by_the_copresence(weighted):
    rng = np.random.default_rng(9)
    labels = random_labels(rng, 50, 17, missing=0.3)
    ensemble = Ensemble(labels, weights=rng.random(17) if weighted else None)
    c, N = evidence(labels, ensemble.weights)
    full = sample_pairs(ensemble, 49, random_state=0)
    tree = EAC(linkage="average", pairs=full).fit(ensemble).linkage_matrix_
    replay(tree, lambda A, B: sparse_between(c, N, A, B))
    if weighted:
        expected = greedy(50, lambda A, B: sparse_between(c, N, A, B))
        np.testing.assert_allclose(tree[:, 2], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("linkage", ["single", "average"])
def test_sampled_pairs_equal_the_twin_on_the_same_pattern(linkage):
    labels = random_labels(np.random.default_rng(10), 60, 15)
    pairs = sample_pairs(Ensemble(labels), 4, random_state=3)
    c, N = evidence(labels)
    seen = _pattern(pairs)
    if linkage == "average":
        c, N = c * seen, N * seen
        distance = lambda A, B: sparse_between(c, N, A, B)  # noqa: E731
    else:
        D = np.where(seen, 1.0 - c / N, 1.0)
        distance = lambda A, B: between(D, A, B, "single")  # noqa: E731
    tree = EAC(linkage=linkage, pairs=pairs).fit(labels).linkage_matrix_
    replay(tree, distance)
    drawn = EAC(linkage=linkage, pairs=4, random_state=3).fit(labels)
    np.testing.assert_array_equal(drawn.linkage_matrix_, tree)


def _pattern(pairs):
    n = pairs.n_samples
    seen = np.zeros((n, n), dtype=bool)
    seen[np.repeat(np.arange(n), np.diff(pairs.indptr)), pairs.indices] = True
    return seen


@pytest.mark.parametrize("linkage", ["single", "average"])
def test_pieces_join_at_height_one(linkage):
    labels = np.array([[0], [0], [1], [1], [2]])
    c, N = evidence(labels)
    keep = np.zeros((5, 5), dtype=bool)
    keep[0, 1] = keep[1, 0] = keep[2, 3] = keep[3, 2] = True
    with pytest.warns(EvidenceWarning, match="in 3 pieces that no chain of pairs connects"):
        model = EAC(linkage=linkage, pairs=sparse_pattern(c, N, keep)).fit(labels)
    assert model.linkage_matrix_[:, 2].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert model.labels_.tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("linkage", ["single", "average"])
def test_pairs_include_objects_missing_everywhere_in_their_numbering(linkage):
    labels = random_labels(np.random.default_rng(12), 30, 9)
    labels[[3, 17]] = -1
    pairs = sample_pairs(Ensemble(labels), 29, random_state=0)
    with pytest.warns(EvidenceWarning, match="2 objects are missing in every partition"):
        model = EAC(4, linkage=linkage, pairs=pairs).fit(labels)
    kept = np.delete(labels, [3, 17], axis=0)
    expected = EAC(4, linkage=linkage, pairs=29).fit(kept)
    np.testing.assert_array_equal(np.delete(model.labels_, [3, 17]), expected.labels_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indptr": np.array([0, 3, 6, 9, 11])}, "needs compressed sparse rows"),
        ({"indptr": np.array([0, 6, 3, 9, 12])}, "needs compressed sparse rows"),
        ({"counts": np.zeros(3, dtype=np.uint32)}, "12 indices, 3 counts and 12 copresences"),
        ({"indices": np.full(12, 4, dtype=np.int32)}, "objects from 0 to 3"),
        ({"indices": np.zeros(12)}, "whole numbers"),
        ({"copresence": np.zeros(12, dtype=np.uint32)}, "N_ij > 0"),
    ],
)
def test_invalid_evidence_is_refused_when_it_is_created(change, message):
    good = sample_pairs(Ensemble(E1), 3, random_state=0)
    with pytest.raises(InputError, match=f"A SparseEvidence .*{message}"):
        replace(good, **change)


def test_an_asymmetric_pattern_is_refused():
    c, N = evidence(E2)
    full = sparse_pattern(c, N, np.ones_like(c, dtype=bool))
    row = np.repeat(np.arange(6), np.diff(full.indptr))
    upper = row < full.indices
    with pytest.raises(InputError, match="must be symmetric"):
        SparseEvidence(
            np.concatenate([[0], np.cumsum(np.bincount(row[upper], minlength=6))]),
            full.indices[upper],
            full.counts[upper],
            full.copresence[upper],
        )


METHODS = {
    "EAC": lambda pairs: EAC(2, linkage="single", pairs=pairs),
    "CSPA": lambda pairs: CSPA(2, pairs=pairs, random_state=0),
    "PCC": lambda pairs: PCC(2, pairs=pairs, random_state=0),
    "PEACE": lambda pairs: PEACE(2, pairs=pairs, random_state=0),
    "WeightedPCC": lambda pairs: WeightedPCC(2, pairs=pairs, random_state=0),
}


@pytest.mark.parametrize("name", METHODS)
def test_all_methods_read_pairs_the_same_way(name):
    labels = random_labels(np.random.default_rng(3), 40, 8)
    others = sample_pairs(labels[:30], 5, random_state=0)
    for pairs in (6, 0.4, sample_pairs(labels, 6, random_state=0)):
        assert METHODS[name](pairs).fit(labels).labels_.shape == (40,)
    for wrong in (0, 1.5, True, "all"):
        with pytest.raises(ParameterError, match=f"'pairs' parameter of {name} must be an int in"):
            METHODS[name](wrong).fit(labels)
    with pytest.raises(InputError, match=f"'pairs' of {name} cover 30 objects"):
        METHODS[name](others).fit(labels)
    labels[3] = -1
    with pytest.raises(InputError, match=f"'pairs' of {name} hold evidence on objects that"):
        METHODS[name](sample_pairs(labels % 5, 6, random_state=0)).fit(labels)
