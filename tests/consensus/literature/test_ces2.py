"""CEs2: against the paper's steps on all pairs of objects, and worked by hand."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, inconsistent, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1, planted
from tests.naive import stability as naive
from tests.naive.confidence import shares
from tests.naive.linkage import random_labels

from conclust import CEs2, Ensemble
from conclust.consensus.literature.ces2 import _Pairs, inconsistency
from conclust.exceptions import DenseLimitError, EvidenceWarning, ParameterError


def as_sets(labels):
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)}


def same(a, b):
    return adjusted_rand_score(a, b) == 1.0


def test_four_objects_match_hand_calculation():
    # Object 2 is with 0, 1 in one of three partitions, with 3 in two: the threshold is 1/2, it alone is halo.
    model = CEs2(2).fit(E1)
    assert model.core_.tolist() == [True, True, False, True]
    np.testing.assert_allclose(model.stability_, [1, 1, 0, 1], atol=1e-12)
    assert model.n_pieces_ == 2
    assert model.labels_.tolist() == [0, 0, 1, 1]


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


@pytest.mark.parametrize("seed", range(8))
def test_clusters_of_random_labels_match_the_naive_twin(seed):
    labels = random_labels(np.random.default_rng(seed), 36, 11, k=6, noise=0.05)
    model = CEs2(4).fit(labels)
    assert as_sets(model.labels_) == set(naive.ces2(Ensemble(labels), 4))


@pytest.mark.parametrize("seed", range(6))
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
    assert _Pairs.of(e.distinct_rows(), None).levels.itemsize == (1 if n_partitions == 126 else 2)
    assert as_sets(CEs2(4).fit(e).labels_) == set(naive.ces2(e, 4))


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_the_tree_of_some_rows_equals_that_of_scipy(missing):
    labels = random_labels(np.random.default_rng(2), 80, 7, k=4, missing=missing)
    pairs = _Pairs.of(Ensemble(labels).distinct_rows(), None)
    rows = np.flatnonzero(np.random.default_rng(3).random(len(pairs.masses)) < 0.7)
    D = 1.0 - np.maximum(pairs.levels[np.ix_(rows, rows)], 0) / pairs.steps
    np.fill_diagonal(D, 0.0)
    expected = linkage(squareform(D, checks=False), "single")
    np.testing.assert_allclose(cophenet(pairs.tree(rows)), cophenet(expected), atol=1e-12)


def test_blocks_of_pairs_change_nothing(monkeypatch):
    labels, _ = planted(n=90, m=8, k=3, flip=0.3, missing=0.1)
    expected = CEs2(3).fit(labels)
    for module in ("consensus.literature.ces2", "evidence.stability"):
        monkeypatch.setattr(f"conclust.{module}._BLOCK_ENTRIES", 200)
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


KINDS = [
    (0.0, 0.0, False),
    (0.0, 0.2, False),
    (0.0, 0.0, True),
    (0.3, 0.1, False),
    (0.3, 0.0, True),
]


def ensemble_of(missing, noise, weighted, n=40, m=6):
    labels = random_labels(np.random.default_rng(8), n, m, k=5, missing=missing, noise=noise)
    labels[5] = labels[9]
    return Ensemble(labels, weights=np.arange(1.0, m + 1) if weighted else None)


@pytest.mark.filterwarnings("ignore:No partition observed both")
@pytest.mark.parametrize("determinacy", ["linear", "quadratic"])
@pytest.mark.parametrize(("missing", "noise", "weighted"), KINDS)
def test_stability_averages_over_all_pairs(determinacy, missing, noise, weighted):
    e = ensemble_of(missing, noise, weighted)
    p = shares(e)
    np.fill_diagonal(p, np.nan)
    if missing or weighted:
        p = np.rint(p * 1000) / 1000
    th = naive.otsu(p[~np.isnan(p)])
    f = np.where(p < th, (th - p) / th, (p - th) / (1 - th))
    raw = np.nanmean(f**2 if determinacy == "quadratic" else f, axis=1)
    scaled = (raw - raw.min()) / (raw.max() - raw.min())
    model = CEs2(2, determinacy=determinacy).fit(e)
    np.testing.assert_allclose(model.stability_, scaled, atol=1e-10)
    np.testing.assert_array_equal(model.core_, scaled >= naive.otsu(scaled))


def test_a_chain_is_one_cluster():
    # Two rows of objects, each co-assigned with its neighbours only.
    place = np.arange(30)
    labels = np.column_stack([(place + u) // 5 for u in range(5)])
    labels = np.vstack([labels, labels + 100])
    np.testing.assert_array_equal(CEs2(2).fit(labels).labels_, np.repeat([0, 1], 30))


def test_identical_objects_form_one_cluster():
    assert CEs2(1).fit(np.zeros((5, 3), dtype=int)).n_clusters_ == 1
    model = CEs2(3).fit(np.zeros((5, 3), dtype=int))
    assert model.labels_.tolist() == [0] * 5
    assert model.core_.all()


def test_there_are_at_most_as_many_clusters_as_distinct_rows():
    truth = np.repeat(np.arange(3), 10)
    model = CEs2(7).fit(np.column_stack([truth] * 4))
    np.testing.assert_array_equal(model.labels_, truth)
    assert model.n_pieces_ == 3


@pytest.mark.parametrize("k", range(1, 13))
def test_the_number_of_clusters_is_the_requested_one(k):
    labels = random_labels(np.random.default_rng(2), 30, 9, k=4)
    assert len(np.unique(labels, axis=0)) == 30
    assert CEs2(k).fit(labels).n_clusters_ == k


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


def test_pairs_without_evidence_are_reported():
    labels = np.column_stack([np.repeat([0, 1], 6)] * 4)
    labels[:, 3] = np.arange(12) % 2
    labels[0, 1:], labels[6, 0] = -1, -1
    with pytest.warns(EvidenceWarning, match="No partition observed both objects of 1 pair:"):
        model = CEs2(2).fit(labels)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 6))


def test_soft_members_with_certain_rows_equal_labels():
    labels, _ = planted(n=60, m=7, k=3, flip=0.2)
    e = Ensemble(labels)
    soft = Ensemble.from_memberships([np.eye(int(c.max()) + 1)[c] for c in e.labels.T])
    np.testing.assert_array_equal(CEs2(3).fit(soft).labels_, CEs2(3).fit(e).labels_)


def test_objects_observed_by_weightless_partitions_join_the_largest_cluster():
    truth = np.repeat([0, 1], [4, 8])
    labels = np.column_stack([truth] * 3 + [np.zeros(12, dtype=int)])
    labels[0, :3] = -1
    model = CEs2(2).fit(Ensemble(labels, weights=[1.0, 1.0, 1.0, 0.0]))
    assert same(model.labels_[1:], truth[1:])
    assert model.labels_[0] == model.labels_[-1]
    assert np.isnan(model.stability_[0])
    assert not model.core_[0]


def test_objects_missing_everywhere_have_no_stability():
    labels = np.vstack([E1, [-1, -1, -1]])
    with pytest.warns(EvidenceWarning, match="missing in every partition"):
        model = CEs2(2).fit(labels)
    assert model.labels_.tolist() == [0, 0, 1, 1, -1]
    np.testing.assert_allclose(model.stability_, [1, 1, 0, 1, np.nan], atol=1e-12)
    assert model.core_.tolist() == [True, True, False, True, False]


def test_unknown_determinacy_is_refused():
    with pytest.raises(ParameterError, match="'determinacy' parameter of CEs2"):
        CEs2(2, determinacy="cubic").fit(E1)


def test_too_many_rows_are_refused_with_an_alternative():
    with pytest.raises(DenseLimitError, match=r"the 3 distinct rows .* Use LWEA, LWGP or EAC"):
        CEs2(2, max_dense=2).fit(E1)
