"""AutoConsensus: the number of clusters, the evidence chosen, placing; straddling against sets."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted, superpixels
from tests.naive import straddling as naive

from conclust import EAC, HBGF, LWEA, AutoConsensus, Ensemble, EnsembleGenerator
from conclust.consensus.auto.trees import ALIKE, Straddling, fine_partitions, grow
from conclust.exceptions import EnsembleWarning, EvidenceWarning
from conclust.similarity import cluster_certainty
from conclust.weighting import certainty_weights


def members(X, **parameters):
    parameters = {"method": "kmeans", "random_state": 0} | parameters
    return EnsembleGenerator(**parameters).fit_transform(X)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    arrays(np.int64, (9, 4), elements=st.integers(-2, 3)),
    arrays(np.int64, 9, elements=st.integers(0, 2)),
    arrays(np.float64, 4, elements=st.floats(0.5, 4.0)),
)
def test_straddling_matches_its_definition_on_sets(labels, partition, weights):
    labels[0] = np.maximum(labels[0], 0)  # no partition is missing everywhere
    partition = np.unique(partition, return_inverse=True)[1]
    ensemble = Ensemble(labels, weights=weights)
    actual = Straddling(ensemble, np.arange(4)).of(partition)
    if partition.max() == 0:
        assert actual == 0.0
    else:
        expected = naive.straddling(list(labels.T), list(partition), weights)
        assert actual == pytest.approx(expected, abs=1e-12)


def test_whole_clusters_straddle_nothing():
    partition = np.repeat([0, 1, 2], 4)
    finer = np.repeat(np.arange(6), 2)
    coarser = np.repeat([0, 1], [8, 4])
    assert (
        Straddling(Ensemble(np.column_stack([finer, coarser])), np.arange(2)).of(partition) == 0.0
    )


def test_fine_partitions_are_the_upper_half_of_the_informative_ones():
    columns = [np.arange(12) % k for k in (2, 3, 4, 6, 12)]
    labels = np.column_stack(columns)
    assert fine_partitions(Ensemble(labels)).tolist() == [2, 3, 4]
    assert fine_partitions(Ensemble(labels, weights=[1, 1, 1, 0, 0])).tolist() == [1, 2]


@pytest.mark.parametrize("seed", range(4))
def test_clusters_of_textbook_blobs_are_found(seed):
    X, y = make_blobs(600, centers=6, n_features=10, center_box=(-10, 10), random_state=seed)
    model = AutoConsensus().fit(members(X))
    assert model.n_clusters_ == 6
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.straddling_ < 0.01


@pytest.mark.parametrize("kind", ["square", "cloud", "wide", "skew"])
def test_a_cloud_without_clusters_is_one(kind):
    rng = np.random.default_rng(5)
    X = {
        "square": rng.uniform(size=(500, 2)),
        "cloud": rng.normal(size=(500, 5)),
        "wide": rng.normal(size=(300, 40)),
        "skew": rng.exponential(size=(500, 5)),
    }[kind]
    model = AutoConsensus().fit(members(X))
    assert model.n_clusters_ == 1
    assert (model.labels_ == 0).all()
    assert (model.membership_ == 1.0).all()


def test_moons_are_separated_with_a_given_number():
    X, y = make_moons(500, noise=0.05, random_state=0)
    labels = members(X)
    model = AutoConsensus(2).fit(labels)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.evidence_ == "certain"
    assert adjusted_rand_score(y, EAC(2).fit(labels).labels_) < 0.9


def test_a_cut_that_explains_little_gives_way():
    """Members by six pixels are weak and depend on each other: the tree chains their objects."""
    X, y = load_digits(return_X_y=True)
    parts = members(X[:400], n_partitions=40, n_clusters=range(10, 41), feature_fraction=0.1)
    alone = adjusted_rand_score(y[:400], LWEA(10, normalized=True).fit(parts).labels_)
    assert adjusted_rand_score(y[:400], AutoConsensus(10).fit(parts).labels_) > alone + 0.2


@pytest.mark.filterwarnings("ignore:No partition observed both objects")
def test_of_incomplete_members_each_pair_has_the_mean_once_more():
    rng = np.random.default_rng(0)
    labels, weights = rng.integers(-1, 3, (40, 9)), rng.uniform(0.5, 2, 9)
    both = ((labels[:, np.newaxis] >= 0) & (labels >= 0)) * weights
    alike = both * (labels[:, np.newaxis] == labels)
    share = (alike.sum(axis=2) + alike.sum() / both.sum()) / (both.sum(axis=2) + 1)
    expected = linkage(1 - share[np.triu_indices(40, 1)], "average")
    actual = grow(Ensemble(labels, weights=weights)).matrices[ALIKE]
    np.testing.assert_allclose(actual[:, 2], expected[:, 2])


def test_objects_with_the_same_labels_count_once():
    X, _ = make_blobs(400, centers=3, n_features=3, random_state=4)
    labels = np.repeat(members(X, n_partitions=4), 3, axis=0)
    assert 50 < len(Ensemble(labels).distinct_rows()) <= 400
    whole = AutoConsensus(3).fit(labels)
    few = AutoConsensus(3, max_samples=400, random_state=0).fit(labels)
    np.testing.assert_array_equal(few.membership_, whole.membership_)


def test_membership_is_the_scaled_mean_similarity():
    labels, _ = planted(n=60, m=8, flip=0.1)
    ensemble = Ensemble(labels)
    model = AutoConsensus(3)._fit_like(ensemble, SimpleNamespace(evidence_="certain"))
    assert model.evidence_ == "certain"
    certain = ensemble.reweighted(certainty_weights(ensemble) ** 2)
    tree = LWEA(3).fit(certain).labels_
    B = ensemble.indicator.toarray()
    S = B @ np.diag(cluster_certainty(certain) * certain.column_weights) @ B.T
    mean = np.column_stack([S[:, tree == k].mean(axis=1) for k in range(3)])
    expected = mean / mean.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.membership_, expected, atol=1e-12)
    np.testing.assert_array_equal(model.labels_, expected.argmax(axis=1))


def test_new_objects_are_placed_like_those_of_fit():
    X, _ = make_blobs(500, centers=4, n_features=3, random_state=1)
    labels = members(X)
    model = AutoConsensus(random_state=0, max_samples=200).fit(labels)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-12)


def test_a_sample_places_the_other_objects():
    X, y = make_blobs(20_000, centers=5, n_features=8, random_state=2)
    model = AutoConsensus(random_state=0).fit(members(X, n_partitions=20))
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.parametrize("weights", [None, [1, 1, 2, 1]])
def test_a_partition_may_observe_no_object_of_the_sample(weights):
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 3
    labels = np.where(rng.random((300, 4)) < 0.15, rng.integers(0, 3, (300, 4)), truth[:, None])
    labels[3:, 3], labels[:3, 3] = -1, [0, 1, 2]
    model = AutoConsensus(max_samples=20, random_state=1).fit(Ensemble(labels, weights=weights))
    assert model.tree_objects_.min() > 2
    assert adjusted_rand_score(truth, model.labels_) > 0.75
    # Objects that are noise in every partition that observed them are excluded: a part remains.
    labels = [[-2, -1, -1], [-1, -1, 0], [-1, -1, 0], [-1, 0, 0]]
    with pytest.warns(EvidenceWarning, match="2 sets that no partition connects"):
        assert AutoConsensus(1).fit(labels).labels_.tolist() == [0, 0, 0, 0]


def test_supports_determine_the_number():
    X, _ = make_blobs(300, centers=3, n_features=5, random_state=0)
    model = AutoConsensus().fit(members(X))
    best = max(model.supports_, key=lambda support: support.support)
    assert best.n_clusters == model.n_clusters_ == 3
    assert best.support == best.lifetime - best.straddling > 0
    with_number = AutoConsensus(4).fit(members(X))
    assert with_number.n_clusters_ == 4
    assert with_number.n_clusters_shown_ == 3
    assert with_number.supports_ == model.supports_


def test_noise_everywhere_is_one_cluster():
    model = AutoConsensus().fit(np.full((5, 3), -2))
    assert model.n_clusters_ == 1


def test_noise_objects_do_not_form_clusters():
    labels = np.array([[0, 0, 0]] * 5 + [[1, 1, 1]] * 5 + [[-2, -2, -2]])
    model = AutoConsensus(2).fit(labels)
    assert adjusted_rand_score(np.repeat([0, 1], 5), model.labels_[:10]) == 1.0
    np.testing.assert_array_equal(model.membership_[10], [0.5, 0.5])


def test_more_clusters_than_objects_without_noise_are_not_refused():
    assert AutoConsensus(3).fit([[0], [0], [-2]]).labels_.tolist() == [0, 0, 0]


@pytest.mark.long
def test_too_few_objects_for_fine_partitions_are_named_in_a_warning():
    fields, labels = superpixels(90, 5)
    model = AutoConsensus(6, max_samples=200, random_state=0)
    with pytest.warns(EnsembleWarning, match=r"trees of 200 of the 8100 objects") as caught:
        model.fit(labels)
    assert adjusted_rand_score(fields, model.labels_) < 0.9
    # The number of groups, by breadth-first search.
    rows, groups, left = labels[model.tree_objects_], 0, set(range(200))
    while left:
        groups, new = groups + 1, [left.pop()]
        while new:
            i = new.pop()
            near = {j for j in left if (rows[i] == rows[j]).any()}
            left -= near
            new += near
    assert f"fall into {groups} groups" in str(caught[0].message)
    assert adjusted_rand_score(fields, HBGF(6, random_state=0).fit_predict(labels)) == 1.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("width", "max_samples"), [(5, 3000), (30, 200)])
def test_enough_objects_for_fine_partitions_give_no_warning(width, max_samples):
    fields, labels = superpixels(90, width)
    model = AutoConsensus(6, max_samples=max_samples, random_state=0).fit(labels)
    assert adjusted_rand_score(fields, model.labels_) == 1.0


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_partition_of_noise_only_adds_nothing_to_single_objects(n):
    labels = np.arange(n)[:, np.newaxis]
    model = AutoConsensus().fit(np.hstack([labels, np.full_like(labels, -2)]))
    assert model.labels_.tolist() == AutoConsensus().fit(labels).labels_.tolist() == list(range(n))
