"""CEs2: against the paper's steps on all pairs of objects, and worked by hand."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import inconsistent, linkage
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted
from tests.naive import stability as naive

from conclust import CEs2, Ensemble
from conclust.consensus.literature.ces2 import _Pairs, inconsistency


def as_sets(labels):
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)}


def same(a, b):
    return adjusted_rand_score(a, b) == 1.0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.filterwarnings("ignore:No partition observed both")
@pytest.mark.parametrize("determinacy", ["linear", "quadratic"])
def test_clusters_match_the_naive_twin(seed, determinacy):
    # Seven partitions give many ties of evidence. Some objects occur twice.
    labels, _ = planted(n=40, m=7, k=3, flip=0.1 + 0.03 * seed, seed=seed)
    labels = np.repeat(labels, 1 + np.arange(40) % 2, axis=0)
    e = Ensemble(labels)
    model = CEs2(3, determinacy=determinacy).fit(e)
    assert as_sets(model.labels_) == set(naive.ces2(e, 3, determinacy))


@pytest.mark.parametrize("seed", range(3))
def test_incomplete_and_weighted_ensembles_match_the_naive_twin(seed):
    labels, _ = planted(n=45, m=8, k=3, flip=0.1, missing=0.2, seed=seed)
    e = Ensemble(labels, weights=np.arange(8.0) + 1.3)
    model = CEs2(3).fit(e)
    assert same(model.labels_, CEs2(3).fit(e.reweighted(e.weights * 7)).labels_)
    assert as_sets(model.labels_) == set(naive.ces2(e, 3))


@pytest.mark.parametrize("n_partitions", [126, 127])
def test_levels_of_one_byte_and_of_two_match_the_naive_twin(n_partitions):
    labels, _ = planted(n=40, m=n_partitions, k=3, flip=0.3, seed=1)
    labels[:2] = labels[0]  # always together, the highest level
    labels[1, 0] += 1
    e = Ensemble(labels)
    assert _Pairs.of(e.distinct_rows()).levels.itemsize == (1 if n_partitions == 126 else 2)
    assert as_sets(CEs2(4).fit(e).labels_) == set(naive.ces2(e, 4))


def test_blocks_of_pairs_change_nothing(monkeypatch):
    labels, _ = planted(n=90, m=8, k=3, flip=0.3, missing=0.1)
    expected = CEs2(3).fit(labels)
    monkeypatch.setattr("conclust.consensus.literature.ces2._BLOCK_ENTRIES", 200)
    found = CEs2(3).fit(labels)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.stability_, expected.stability_)


def test_coefficients_equal_those_of_scipy_if_heights_differ():
    X = np.random.default_rng(0).normal(size=(60, 2))
    tree = linkage(X, "single")
    for depth in (2, 4):
        np.testing.assert_allclose(
            inconsistency(tree, depth), inconsistent(tree, depth)[:, 3], atol=1e-9
        )


def test_links_of_equal_height_count_as_one():
    # Two pairs at height 1; at height 3 they and a single object become one: heights 3, 1, 1.
    tree = np.array([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [5, 6, 3.0, 4], [4, 7, 3.0, 5]])
    mean, sd = 5 / 3, np.std([3, 1, 1], ddof=1)
    np.testing.assert_allclose(inconsistency(tree), [0, 0, (3 - mean) / sd, (3 - mean) / sd])


def test_unassigned_objects_form_their_own_groups():
    # All objects are clear except the last two: half of the time together, otherwise alone.
    truth = np.repeat([0, 1, 2], 5)
    labels = np.vstack([np.tile(truth[:, None], 6), [[3] * 3 + [4] * 3, [3] * 3 + [5] * 3]])
    model = CEs2(3).fit(labels)
    np.testing.assert_array_equal(model.core_, [*[True] * 15, False, False])
    assert model.n_pieces_ == 4
    assert model.n_clusters_ == 3
    assert model.labels_[-1] == model.labels_[-2]
    assert len({*model.labels_[[0, 5, 10]]}) == 2  # no evidence determines which groups to merge


def test_objects_observed_by_weightless_partitions_join_the_largest_cluster():
    truth = np.repeat([0, 1], [4, 8])
    labels = np.column_stack([truth] * 3 + [np.zeros(12, dtype=int)])
    labels[0, :3] = -1
    model = CEs2(2).fit(Ensemble(labels, weights=[1.0, 1.0, 1.0, 0.0]))
    assert same(model.labels_[1:], truth[1:])
    assert model.labels_[0] == model.labels_[-1]
    assert np.isnan(model.stability_[0])
    assert not model.core_[0]
