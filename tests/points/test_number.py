"""The number of clusters by borders: planted clusters, clouds, and the reason given."""

from math import log
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from conclust import AutoConsensus, ConsensusClustering, EnsembleGenerator
from conclust.points import number
from conclust.points.evidence import Borders
from conclust.selection.resampled.separation import largest_silhouette, neighbours_are_separated


def fitted(X, **parameters):
    return ConsensusClustering(random_state=0, **parameters).fit(X)


@pytest.mark.parametrize("seed", range(3))
def test_separated_blobs_are_found(seed):
    X, y = make_blobs(300, centers=5, n_features=4, center_box=(-12, 12), random_state=seed)
    model = fitted(X)
    assert model.n_clusters_ == 5
    assert model.reason_.startswith("5 clusters")
    assert len(np.unique(np.column_stack([model.labels_, y]), axis=0)) == 5


@pytest.mark.parametrize("kind", ["uniform", "normal", "exponential", "laplace"])
def test_one_cloud_gives_one_cluster(kind):
    X = getattr(np.random.default_rng(5), kind)(size=(400, 3))
    model = fitted(X)
    assert model.n_clusters_ == 1
    assert model.reason_.startswith("One cluster: ")


def test_moons_give_two_clusters():
    X, y = make_moons(600, noise=0.05, random_state=4)
    model = fitted(X)
    assert model.n_clusters_ == 2
    assert len(np.unique(np.column_stack([model.labels_, y]), axis=0)) == 2


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_few_points_in_two_bent_clusters_have_little_contact(make):
    ways = {} if make is make_moons else {"factor": 0.5}
    X, y = make(200, noise=0.06, random_state=1, **ways)
    model = fitted(X)
    assert model.n_clusters_ == 2
    assert len(np.unique(np.column_stack([model.labels_, y]), axis=0)) == 2
    assert model.reason_ == "2 clusters: few ties of the neighbour graph cross the border."


def test_the_only_border_of_more_than_two_clusters_is_called_that():
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [4.2, 0], [40, 0], [0, 40]])
    X = rng.normal(size=(800, 2)) + np.repeat(centers, 200, axis=0)
    model = fitted(X)
    assert model.n_clusters_ == 4
    assert model.reason_.startswith("4 clusters: the only border has a valley (")


def test_min_clusters_excludes_one_cluster():
    X = np.random.default_rng(0).normal(size=(300, 2))
    assert fitted(X).n_clusters_ == 1
    model = fitted(X, min_clusters=3)
    assert model.n_clusters_ >= 3
    assert "have a valley" in model.reason_ or "has a valley" in model.reason_


def test_reasons_do_not_deny_existing_valleys():
    X, _ = make_blobs(300, centers=3, random_state=2)
    noise = np.random.default_rng(2).uniform(-12, 12, size=(60, 2))
    model = fitted(np.concatenate([X, noise]))
    assert model.n_clusters_ > 1 or "at no number of clusters does every border" in model.reason_


@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("size", [8, 12, 20, 25])
def test_few_points_in_separated_blobs_are_found(n_clusters, size):
    y = np.repeat(np.arange(n_clusters), size)
    centers = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    X = centers[y] + np.random.default_rng([7, size]).normal(size=(len(y), 2))
    model = fitted(X)
    assert model.n_clusters_ == n_clusters
    assert len(np.unique(np.column_stack([model.labels_, y]), axis=0)) == n_clusters


def test_the_reason_for_few_points_names_the_test():
    X, _ = make_blobs(24, centers=[[0, 0], [9, 0]], random_state=3)
    assert fitted(X).reason_.startswith(
        "2 clusters: they are farther apart than the parts of one cloud (silhouette 0."
    )
    cloud = fitted(np.random.default_rng(3).normal(size=(24, 2)))
    assert cloud.n_clusters_ == 1
    assert cloud.reason_.startswith(
        "One cluster: its parts are no farther apart than those of one cloud (silhouette 0."
    )


@pytest.mark.long
@pytest.mark.parametrize(("k", "size"), [(4, 15), (5, 14), (8, 8), (8, 18), (12, 12)])
def test_clusters_with_fewer_points_than_a_piece_are_found(k, size):
    angles = 2 * np.pi * np.arange(k) / k
    radius = 4.5 / np.sin(np.pi / k)
    y = np.repeat(np.arange(k), size)
    rng = np.random.default_rng(k)
    X = radius * np.column_stack([np.cos(angles), np.sin(angles)])[y] + rng.normal(size=(len(y), 2))
    model = ConsensusClustering(random_state=0).fit(X)
    assert model.n_clusters_ == k
    assert adjusted_rand_score(y, model.labels_) > 0.97
    limited = ConsensusClustering(consensus=AutoConsensus(max_clusters=k - 1), random_state=0)
    assert limited.fit(X).n_clusters_ < k


def test_parts_of_a_bent_or_long_cluster_are_not_separated():
    """The largest silhouette cuts crescents and long clusters, but the cuts are no wider than those of a cloud."""
    rng = np.random.default_rng(0)
    long = rng.normal(size=(90, 2)) * (1, 12) + np.repeat([[0, 0], [12, 0]], 45, axis=0)
    for X in (make_moons(90, noise=0.05, random_state=0)[0], long):
        _, labels = largest_silhouette(X, 2, 18)
        assert labels.max() + 1 > 3
        assert not neighbours_are_separated(X, labels, 0)
        assert ConsensusClustering(random_state=0).fit(X).n_clusters_ == 2


def test_neighbours_in_the_spanning_tree_are_tested():
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(3), 20)
    X = rng.normal(size=(60, 2)) + np.array([[0, 0], [9, 0], [18, 0]])[y]
    assert neighbours_are_separated(X, y, 0)
    cut = np.where(y == 2, 2 + (X[:, 1] > 0), y)
    assert not neighbours_are_separated(X, cut, 0)
    assert not neighbours_are_separated(np.repeat(X[:1], 12, axis=0), np.arange(12) % 2, 0)


def test_few_points_keep_a_minimum_and_a_maximum_number():
    cloud = np.random.default_rng(0).uniform(size=(45, 2))
    model = fitted(cloud, min_clusters=3)
    assert model.n_clusters_ >= 3
    assert "the largest silhouette" in model.reason_
    X, _ = make_blobs(30, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = fitted(X, consensus=AutoConsensus(max_clusters=2))
    assert model.n_clusters_ == 2
    assert "the largest silhouette" in model.reason_


def test_rounded_columns_of_few_points_create_no_clusters():
    X = np.random.default_rng(1).integers(0, 2, size=(20, 1)).astype(float)
    assert fitted(X).n_clusters_ == 1


def test_fewer_than_eight_points_leave_the_number_to_the_partitions():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    generator = EnsembleGenerator("kmeans", n_partitions=30)
    model = fitted(X, generator=generator)
    alone = AutoConsensus(random_state=0).fit(model.ensemble_)
    assert model.n_clusters_ == alone.n_clusters_
    assert "6 points are too few" in model.reason_


def test_the_number_of_the_partitions_is_reported():
    X = np.random.default_rng(2).uniform(size=(300, 2))
    model = fitted(X)
    alone = AutoConsensus(random_state=0).fit(model.ensemble_)
    assert model.consensus_.n_clusters_shown_ == alone.n_clusters_
    assert AutoConsensus().fit(model.ensemble_).reason_ != model.reason_


def test_a_given_number_is_kept():
    X = np.random.default_rng(2).uniform(size=(200, 2))
    model = fitted(X, n_clusters=4)
    assert model.n_clusters_ == 4
    assert "was given" in model.reason_


def test_threads_change_no_bit():
    X, _ = make_blobs(400, centers=4, cluster_std=2.0, random_state=3)
    one = fitted(X, generator=EnsembleGenerator(n_jobs=1))
    three = fitted(X, generator=EnsembleGenerator(n_jobs=3))
    assert np.array_equal(one.labels_, three.labels_)
    assert np.array_equal(one.membership_, three.membership_)
    assert one.reason_ == three.reason_


def test_rounded_columns_create_no_borders():
    rng = np.random.default_rng(8)
    X = np.clip(np.round(rng.normal(5, 1.5, size=(500, 3))), 1, 10)
    assert fitted(X).n_clusters_ == 1


def random_tree(seed, n_pieces=12):
    """Pieces in a chain, a tree that merges neighbours at random, and lifetimes."""
    rng = np.random.default_rng([seed, 3])
    pieces = np.repeat(np.arange(n_pieces), 20)
    pairs = np.column_stack([np.arange(n_pieces - 1), np.arange(1, n_pieces)])
    peak = rng.uniform(3, 20, n_pieces - 1)
    borders = Borders(pieces, pairs, peak * rng.choice([0.1, 0.45, 1.1], n_pieces - 1), peak)
    split = rng.permutation(n_pieces - 1)
    starts = [np.sort(split[: K - 1]) for K in range(1, n_pieces + 1)]
    cuts = [np.searchsorted(at, pieces).astype(np.int64) for at in starts]
    lifetimes = np.concatenate([[0.0], rng.uniform(0, 0.2, n_pieces - 1)])
    tree = SimpleNamespace(cut=lambda K: cuts[K - 1], lifetime=lambda K: lifetimes[K - 1])
    return borders, tree, starts


@pytest.mark.parametrize("seed", range(20))
def test_the_number_has_the_largest_score(seed, monkeypatch):
    # Islands are tested separately.
    monkeypatch.setattr(
        number,
        "cuts_with_islands",
        lambda b, cuts: {K: (c, b.evidence(c)) for K, c in cuts.items()},
    )
    borders, tree, starts = random_tree(seed)
    no_bent_borders = SimpleNamespace(
        without_valley=lambda labels, pairs, most: np.zeros(len(pairs), dtype=bool)
    )
    monkeypatch.setattr(Borders, "n_islands", 1)
    monkeypatch.setattr(Borders, "_islands", np.zeros(12, dtype=np.int64))
    scores = {}
    for K, split in enumerate(starts, 1):
        evidence = sum(
            borders.valley[b] * log(0.8 / 1.4) + borders.peak[b] * log(2 / 1.4) for b in split
        )
        if K > 1 and evidence > 2.0:
            scores[K] = evidence + log(tree.lifetime(K)) - 1.5 * K
    decision = number._by_pieces(borders, no_bent_borders, tree, 1, 12)
    if not scores:
        assert decision is None
        return
    best = max(scores, key=scores.get)
    assert decision.n_clusters == best
    others = sorted(set(scores) - {best}, key=lambda K: -scores[K])
    assert list(decision.alternatives) == others
    near = [str(K) for K in others if scores[K] >= scores[best] - 2.0]
    assert ("as well supported" in decision.reason) == bool(near)
    assert all(K in decision.reason for K in near[:3])


@pytest.mark.parametrize("n", [9, 50, 300])
def test_equal_points_are_one_cluster_as_the_reason_states(n):
    model = fitted(np.ones((n, 3)))
    assert model.n_clusters_ == 1
    assert model.reason_.lower().startswith(("one cluster", "1 cluster"))


def test_a_minimum_above_the_distinct_objects_is_not_claimed():
    X, _ = make_blobs(120, centers=3, random_state=1)
    model = fitted(X, min_clusters=119)
    n_distinct = len(np.unique(model.ensemble_.labels, axis=0))
    assert model.n_clusters_ == n_distinct < 119
    assert model.reason_.startswith(f"{n_distinct} clusters")
    assert f"at most {n_distinct} can be distinguished" in model.reason_


def binary_answers(kind):
    """400 answers to 12 questions with two values, of four latent classes or independent."""
    rng = np.random.default_rng(3)
    if kind == "independent":
        return (rng.random((400, 12)) < rng.uniform(0.1, 0.9, 12)).astype(float)
    rates = np.where(rng.random((4, 12)) < 0.5, 0.15, 0.85)
    return (rng.random((400, 12)) < rates[rng.integers(0, 4, 400)]).astype(float)


@pytest.mark.parametrize(("low", "high"), [(3.0, 5.0), (-1.0, 1.0), (0.5, 1.5)])
def test_latent_classes_of_columns_with_two_values_are_named(low, high):
    X = np.where(binary_answers("classes") > 0, high, low)
    model = fitted(X)
    assert model.n_clusters_ == 1
    advice = "AutoConsensus(4).fit(X > X.min(axis=0))"
    assert advice in model.reason_
    found = eval(advice, {"AutoConsensus": AutoConsensus, "X": X})
    assert (found.evidence_, found.n_clusters_) == ("witnesses", 4)


def test_columns_with_a_third_value_are_no_answers():
    X = 3 + 2 * binary_answers("classes")
    X[0, 0] = 4
    assert "AutoConsensus" not in fitted(X).reason_


def test_independent_columns_with_two_values_have_no_latent_classes():
    model = fitted(binary_answers("independent"))
    assert model.n_clusters_ == 1
    assert "AutoConsensus" not in model.reason_
