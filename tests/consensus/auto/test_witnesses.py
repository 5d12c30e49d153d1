"""Members as witnesses: the most probable partition, when it decides, and the faults that it mends."""

from math import lgamma, log

import numpy as np
import pytest
from experiments.labels.pools import raters, sorts
from scipy.cluster.hierarchy import fcluster
from sklearn.datasets import make_blobs

import conclust as cc
from conclust import AutoConsensus, Ensemble, EnsembleGenerator
from conclust.confidence import chance_confidence
from conclust.consensus.auto.decision import Witnesses
from conclust.consensus.auto.trees import grow
from conclust.metrics import adjusted_rand_index


def of_seed(seed):
    return np.random.default_rng(seed)


def partitions_of(n):
    """Yield all partitions of n objects, as labels by first appearance."""

    def extended(labels):
        if len(labels) == n:
            yield np.array(labels)
            return
        for label in range(max(labels, default=-1) + 2):
            yield from extended([*labels, label])

    yield from extended([])


def log_probability(column, labels):
    """Return that of a member given a partition, object by object: Polya's urns, one for each cluster."""
    names, total = sorted(set(column[column >= 0])), 0.0
    prior = min(0.5, np.sum(column >= 0) / len(names) ** 2)
    urns = {}
    for label, cluster in zip(column, labels, strict=True):
        if label >= 0:
            urn = urns.setdefault(cluster, dict.fromkeys(names, prior))
            total += log(urn[label] / sum(urn.values()))
            urn[label] += 1
    return total


def likelihood(members, labels, weights):
    sizes, n = np.bincount(labels), len(labels)
    K = len(sizes)
    total = lgamma(K + 1) + sum(lgamma(size + 1) for size in sizes) + lgamma(K) - lgamma(n + K)
    for column, weight in zip(members.T, weights, strict=True):
        total += weight * log_probability(column, labels)
    return total


def likelihoods(members, largest):
    """Return the largest likelihood that the search finds for each number of clusters."""
    found = Witnesses(Ensemble(members)).searched(grow(Ensemble(members)), 1, largest)
    return {K: one.likelihood for K, one in found.items()}


@pytest.mark.parametrize("seed", range(5))
def test_likelihoods_equal_those_of_urns(seed):
    rng = of_seed(seed)
    members = rng.integers(-2, 4, size=(15, 4))
    members[:4] = np.arange(4)[:, np.newaxis]
    labels = np.unique(rng.integers(0, 3, 15), return_inverse=True)[1]
    weights = rng.uniform(0.5, 2.0, 4)
    witnesses = Witnesses(Ensemble(members, weights=weights))
    assert witnesses.likelihood(labels) == pytest.approx(likelihood(members, labels, weights))


@pytest.mark.filterwarnings("ignore:No partition observed both objects")
def test_cuts_have_the_likelihoods_of_their_labels():
    members, _ = raters(of_seed(0), 0.3, 4, 60)
    members[of_seed(1).random(members.shape) < 0.2] = -1
    ensemble = Ensemble(members, weights=[1.0, 2.0, 0.5, 1.0])
    witnesses = Witnesses(ensemble)
    found = list(witnesses._cuts(grow(ensemble).matrices["certain"], 1, 6))
    assert {one.n_clusters for one in found} == set(range(1, 7))
    for one in found:
        assert one.likelihood == pytest.approx(witnesses.likelihood(one.labels))


@pytest.mark.parametrize("seed", range(4))
def test_the_most_probable_of_all_partitions_is_found(seed):
    members, _ = sorts(of_seed(seed), 3, 2, 6, 0.1)
    witnesses = Witnesses(Ensemble(members))
    best = max(witnesses.likelihood(labels) for labels in partitions_of(6))
    assert max(likelihoods(members, 6).values()) == pytest.approx(best)


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 1.0]])
def test_copies_of_members_count_as_one(weights):
    rng = of_seed(2)
    members, labels = rng.integers(0, 3, (60, 4)), np.arange(60) % 2
    ensemble = Ensemble(members, weights=weights)
    spread = np.empty(members.shape)
    for u, (column, weight) in enumerate(zip(members.T, weights or [1.0] * 4, strict=True)):
        for k in range(2):
            within = column[labels == k]
            shares = (np.bincount(within, minlength=3) + 0.5) / (len(within) + 1.5)
            logs = weight * np.log(shares[within])
            spread[labels == k, u] = logs - logs.mean()
    expected = (np.sum(spread.sum(axis=1) ** 2) + 60) / (np.sum(spread**2) + 60)
    assert Witnesses(ensemble).repeats(labels) == pytest.approx(max(1.0, expected))
    twice = Ensemble(np.repeat(members, 8, axis=1))
    assert Witnesses(twice).repeats(labels) > 2 > Witnesses(ensemble).repeats(labels)


def test_labels_are_the_most_probable_clusters_of_new_objects_too():
    members, _ = raters(of_seed(1), 0.3, 5, 200)
    model = AutoConsensus().fit(members)
    assert model.evidence_ == "witnesses"
    n, K = len(members), model.n_clusters_
    sizes = np.bincount(model.labels_) + 1.0
    expected = []
    for row in members:
        scores = np.log(sizes / sizes.sum())
        for k in range(K):
            within = members[model.labels_ == k]
            for u, label in enumerate(row):
                n_labels = len(set(members[:, u]))
                share = (np.sum(within[:, u] == label) + 0.5) / (len(within) + 0.5 * n_labels)
                scores[k] += log(share)
        expected.append(scores.argmax())
    assert np.mean(np.array(expected) == model.labels_) > 0.99
    assert np.array_equal(model.predict(members), model.labels_)
    assert np.array_equal(model.membership_.argmax(axis=1), model.labels_)
    assert len(model.predict_proba(members[: n // 2])) == n // 2


# ------------------------------------------------------------------------------------- people and systems


@pytest.mark.parametrize("n_people", [10, 20, 40])
@pytest.mark.parametrize(("n_per_group", "n_groups"), [(3, 4), (4, 5), (6, 5), (10, 4)])
def test_card_sorts_have_the_groups_of_people_who_lump_split_and_err(
    n_people, n_per_group, n_groups
):
    scores = []
    for seed in range(3):
        members, groups = sorts(of_seed(seed), n_groups, n_per_group, n_people, 0.1)
        model = AutoConsensus().fit(members)
        assert model.n_clusters_ <= members.max() + 1
        scores.append(adjusted_rand_index(groups, model.labels_))
    assert np.mean(scores) > 0.9


@pytest.mark.parametrize("error", [0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2])
def test_independent_errors_do_not_hide_the_classes(error):
    scores = []
    for seed in range(4):
        members, classes = raters(of_seed(seed), error, 3)
        model = AutoConsensus().fit(members)
        assert model.n_clusters_ == 5
        scores.append(adjusted_rand_index(classes, model.labels_))
    assert np.mean(scores) > 0.85


@pytest.mark.filterwarnings("ignore:No partition observed both objects")
@pytest.mark.filterwarnings("ignore:.*missing in every partition")
@pytest.mark.parametrize("seed", range(3))
def test_half_of_the_labels_suffice(seed):
    members, classes = raters(of_seed(seed), 0.1, 10, 300)
    members[of_seed(seed).random(members.shape) < 0.5] = -1
    model = AutoConsensus().fit(members)
    seen = model.labels_ >= 0
    assert adjusted_rand_index(classes[seen], model.labels_[seen]) > 0.95


@pytest.mark.filterwarnings("ignore:No partition observed both objects")
def test_volunteers_who_see_a_fifth_find_classes_next_to_each_other():
    rng = of_seed(1)
    classes = rng.integers(0, 5, 500)
    wrong = rng.choice([-1, 0, 1], (500, 30), p=[0.15, 0.7, 0.15])
    members = np.clip(classes[:, np.newaxis] + wrong, 0, 4)
    members[rng.random(members.shape) > 0.2] = -1
    seen = (members >= 0).any(axis=1)
    found = AutoConsensus().fit(members[seen]).labels_
    assert adjusted_rand_index(classes[seen], found) > 0.8


def test_members_that_merge_classes_do_not_hide_them():
    """No member has as many clusters as there are classes, and most have fewer."""
    rng = of_seed(0)
    classes = rng.integers(0, 8, 400)
    members = np.repeat(classes[:, np.newaxis], 6, axis=1)
    for u, column in enumerate(members.T):
        merged = rng.permutation(8)[: 3 if u % 3 else 2]
        column[np.isin(column, merged)] = merged[0]
        wrong = rng.random(400) < 0.06
        column[wrong] = rng.choice(column, wrong.sum())
    model = AutoConsensus().fit(members)
    assert model.n_clusters_ == members.max(axis=0).max() == 7
    assert adjusted_rand_index(classes, model.labels_) > 0.75


@pytest.mark.parametrize(("n", "N", "n_labels"), [(100, 10, 3), (300, 8, 5), (60, 5, 2)])
def test_independent_partitions_are_one_cluster(n, N, n_labels):
    for seed in range(3):
        members = of_seed(seed).integers(0, n_labels, (n, N))
        model = AutoConsensus().fit(members)
        assert model.n_clusters_ == 1
        assert model.reason_.startswith("One cluster: the clusterings hardly agree more")


@pytest.mark.parametrize(("n", "K"), [(40, 1), (40, 2), (40, 6), (40, 19), (400, 20), (400, 110)])
@pytest.mark.parametrize("N", [2, 3, 8])
def test_copies_of_a_partition_give_it_back(n, K, N):
    partition = of_seed(K).permutation(np.arange(n) % K)
    names = [of_seed(u).permutation(K)[partition] for u in range(N)]
    model = AutoConsensus().fit(np.column_stack(names))
    assert adjusted_rand_index(partition, model.labels_) == 1.0
    assert AutoConsensus(K).fit(np.column_stack(names)).n_clusters_ == K


@pytest.mark.parametrize("K", [2, 5, 8])
def test_copies_of_a_soft_partition_give_its_largest_memberships_back(K):
    """Two equal mixed objects have a soft similarity below 1."""
    rng = of_seed(K)
    q = rng.dirichlet(np.full(K, 0.4), 300)
    members = [q[:, rng.permutation(K)] for _ in range(8)]
    for model in (AutoConsensus(), AutoConsensus(K)):
        model.fit(Ensemble.from_memberships(members))
        assert adjusted_rand_index(q.argmax(axis=1), model.labels_) == 1.0
        assert np.array_equal(model.membership_.argmax(axis=1), model.labels_)


# ------------------------------------------------------------------------------------- the number


def test_a_consensus_has_no_more_clusters_than_the_largest_partition():
    objects = np.arange(120)
    halves = np.column_stack([objects % 2, objects // 2 % 2, objects // 4 % 2])
    assert AutoConsensus().fit(halves).n_clusters_ <= 2
    rng = of_seed(3)
    for _ in range(5):
        members = rng.integers(0, rng.integers(2, 5, 6), (12, 6))
        assert AutoConsensus().fit(members).n_clusters_ <= members.max() + 1


def test_single_objects_are_clusters_only_if_they_are_in_all_partitions():
    alone = np.arange(8)
    pairs = np.repeat(np.arange(4), 2)
    members = np.column_stack([alone, pairs, alone, pairs])
    assert AutoConsensus().fit(members).n_clusters_ < 8
    assert AutoConsensus().fit(np.column_stack([alone, alone, alone])).n_clusters_ == 8


def test_max_clusters_allows_more_than_the_largest_partition():
    rng = of_seed(0)
    objects = np.repeat(np.arange(8), 40)
    members = np.column_stack([objects // 4, objects // 2 % 2, objects % 2] * 5)
    members = np.where(rng.random(members.shape) < 0.02, 1 - members, members)
    free = likelihoods(members, 8)
    assert max(free, key=free.__getitem__) == 8
    assert AutoConsensus().fit(members).n_clusters_ <= 2
    assert AutoConsensus(8).fit(members).n_clusters_ == 8
    assert AutoConsensus(max_clusters=8).fit(members).n_clusters_ > 2


def test_ten_cuts_of_a_cloud_that_hardly_agree_are_one_cluster():
    X = of_seed(0).normal(size=(300, 40))
    members = EnsembleGenerator("kmeans", 10, random_state=0).fit_transform(X)
    assert AutoConsensus().fit(members).n_clusters_ == 1


def test_cuts_of_something_coarser_do_not_count_as_witnesses():
    X, y = make_blobs(300, centers=3, n_features=2, cluster_std=0.5, random_state=4)
    members = EnsembleGenerator("kmeans", random_state=0).fit_transform(X)
    model = AutoConsensus().fit(members)
    assert "the clusterings agree most" in model.reason_
    assert adjusted_rand_index(y, model.labels_) == 1.0


def test_cuts_of_one_number_do_not_hide_a_coarser_one():
    """Their most probable clusters are as many as the typical partition has."""
    X, y = make_blobs(300, centers=4, n_features=4, random_state=0)
    members = EnsembleGenerator("kmeans", 20, n_clusters=[5], random_state=0).fit_transform(X)
    model = AutoConsensus().fit(members)
    assert "the clusterings agree most" in model.reason_
    assert adjusted_rand_index(y, model.labels_) == 1.0


def test_another_number_of_nearly_the_same_likelihood_is_named():
    members, _ = sorts(of_seed(1), 4, 3, 5, 0.1)
    model = AutoConsensus().fit(members)
    assert model.evidence_ == "witnesses"
    values = likelihoods(members, int(members.max()) + 1)
    best = values.pop(model.n_clusters_)
    near = [K for K, value in values.items() if value >= best - members.shape[1]]
    assert near
    assert set(model.alternatives_) == set(near)
    assert f"The next best number is {model.alternatives_[0]}" in model.reason_


def test_the_most_probable_clusters_have_a_given_number():
    members, classes = raters(of_seed(5), 0.2, 5, 300)
    for K in (2, 5, 6):
        model = AutoConsensus(K).fit(members)
        assert model.n_clusters_ == K
        assert model.reason_.startswith(f"{K} clusters: this number was given")
    assert adjusted_rand_index(classes, AutoConsensus(5).fit(members).labels_) > 0.9


# ------------------------------------------------------------------------------------- the rest of an ensemble


@pytest.mark.parametrize("seed", range(3))
def test_the_number_that_the_members_show_changes_nothing(seed):
    X, _ = make_blobs(150, centers=4, cluster_std=2.5, random_state=seed)
    cuts = EnsembleGenerator("kmeans", 20, n_clusters=range(2, 12), random_state=seed)
    answers, _ = raters(np.random.default_rng(seed), 0.1, 4)
    for labels in (cuts.fit_transform(X), answers):
        model = AutoConsensus().fit(labels)
        again = AutoConsensus(model.n_clusters_).fit(labels)
        np.testing.assert_array_equal(again.labels_, model.labels_)


def test_members_that_repeat_each_other_are_cut_into_another_number():
    X, _ = make_blobs(300, centers=6, random_state=0)
    labels = EnsembleGenerator("kmeans", 30, n_clusters=range(8, 20), random_state=0)
    model = AutoConsensus(4).fit(labels.fit_transform(X))
    assert adjusted_rand_index(fcluster(model.linkage_matrix_, 4, "maxclust"), model.labels_) > 0.95
    answers, _ = raters(np.random.default_rng(0), 0.1, 6)
    assert AutoConsensus(4).fit(answers).evidence_ == "witnesses"


def test_neither_seed_nor_order_of_the_partitions_matters():
    members, _ = raters(of_seed(0), 0.15, 7, 200)
    first = AutoConsensus(random_state=0).fit(members)
    second = AutoConsensus(random_state=1).fit(members[:, ::-1])
    assert np.array_equal(first.labels_, second.labels_)


def test_weights_count_and_partitions_without_weight_do_not():
    members, classes = raters(of_seed(0), 0.1, 5, 200)
    noise = of_seed(1).integers(0, 9, (200, 5))
    model = AutoConsensus().fit(Ensemble(np.hstack([members, noise]), weights=[1.0] * 5 + [0] * 5))
    alone = AutoConsensus().fit(members)
    assert np.array_equal(model.labels_, alone.labels_)
    assert model.alternatives_ == alone.alternatives_
    assert adjusted_rand_index(classes, model.labels_) > 0.9


def test_objects_outside_the_trees_are_placed_by_the_same_law():
    members, classes = raters(of_seed(0), 0.15, 6, 4000)
    model = AutoConsensus(max_samples=400, random_state=0).fit(members)
    assert model.evidence_ == "witnesses"
    assert len(model.tree_objects_) == 400
    assert adjusted_rand_index(classes, model.labels_) > 0.9
    assert np.array_equal(model.predict(members), model.labels_)


def test_chance_confidence_takes_the_decision_of_the_model():
    members, _ = raters(of_seed(0), 0.2, 5, 200)
    model = AutoConsensus().fit(members)
    again = AutoConsensus(model.n_clusters_)._fit_like(members, model)
    assert again.evidence_ == model.evidence_ == "witnesses"
    sure = chance_confidence(model, members, random_state=0)
    assert sure.mean > sure.by_chance.mean()


def test_points_decide_where_they_are_at_hand():
    X, y = make_blobs(300, centers=4, n_features=4, random_state=0)
    model = cc.ConsensusClustering(random_state=0).fit(X)
    assert model.consensus_.number_by_ == "points"
    assert model.consensus_.evidence_ != "witnesses"
    assert adjusted_rand_index(y, model.labels_) == 1.0
