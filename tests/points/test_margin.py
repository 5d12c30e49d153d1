"""Margins of borders beside a naive twin, and the number of clusters by them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.datasets import make_circles, make_moons

from conclust import ConsensusClustering
from conclust.neighbours import neighbour_graph
from conclust.points import number
from conclust.points.bent import BentBorders
from conclust.points.evidence import touching_pairs
from conclust.points.margin import margin_ratio
from conclust.points.paths import PathsOfPoints

PAIR = np.array([0, 1])


def paths_of(points):
    return PathsOfPoints(points, neighbour_graph(points, 10))


def naive_margin(points, labels):
    """The ratio by all distances, point by point; no two points are equal."""
    distances = cdist(points, points)
    own = np.sort(distances, axis=1)[:, 1]
    spacing = np.median([own[i] for i in range(len(points)) if labels[i] < 2])
    depths = {0: [], 1: []}
    for i, label in enumerate(labels):
        if label < 2:
            depths[label].append(max(0.0, distances[i, labels == 1 - label].min() - spacing))
    medians = [np.median(depths[0]), np.median(depths[1])]
    width = min(medians) / 2
    near = sum(depth < width for label in (0, 1) for depth in depths[label])
    bands = [
        sum(medians[label] - width <= depth < medians[label] + width for depth in depths[label])
        for label in (0, 1)
    ]
    return (near + 3) / (min(bands) + 3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [1, 2, 6])
def test_the_margin_matches_a_naive_twin(seed, d):
    rng = np.random.default_rng([seed, d])
    points = rng.normal(size=(90, d))
    labels = np.digitize(points[:, 0] + 0.3 * rng.normal(size=90), [-0.2, 1.0])
    assert margin_ratio(paths_of(points), labels, PAIR) == pytest.approx(
        naive_margin(points, labels)
    )


def test_equal_points_count_as_many():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [7.0, 0.0]], 30, axis=0)
    labels = np.repeat([0, 1], 30)
    once = margin_ratio(paths_of(points), labels, PAIR)
    twice = margin_ratio(paths_of(np.tile(points, (2, 1))), np.tile(labels, 2), PAIR)
    near, band = 0, 3 / once - 3
    assert once == pytest.approx((near + 3) / (band + 3))
    assert twice == pytest.approx((2 * near + 3) / (2 * band + 3))


def test_a_cluster_without_points_has_no_margin():
    points = np.random.default_rng(0).normal(size=(60, 2))
    assert margin_ratio(paths_of(points), np.zeros(60, dtype=np.int64), PAIR) == 1.0


@pytest.mark.parametrize("make", [make_moons, make_circles])
@pytest.mark.parametrize("seed", range(3))
def test_a_gap_in_the_single_linkage_is_an_empty_margin(make, seed):
    ways = {} if make is make_moons else {"factor": 0.5}
    points, y = make(300, noise=0.03, random_state=seed, **ways)
    labels = fcluster(linkage(points, "single"), 2, "maxclust").astype(np.int64) - 1
    assert len(np.unique(np.column_stack([labels, y]), axis=0)) == 2
    assert margin_ratio(paths_of(points), labels, PAIR) < 0.05


@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential", "laplace"])
@pytest.mark.parametrize("d", [2, 5, 10])
def test_halves_of_a_cloud_have_no_empty_margin(kind, d):
    points = getattr(np.random.default_rng(d), kind)(size=(200, d))
    labels = (points[:, 0] > np.median(points[:, 0])).astype(np.int64)
    assert margin_ratio(paths_of(points), labels, PAIR) > 0.5


def test_pairs_that_touch_match_a_loop():
    rng = np.random.default_rng(8)
    points = rng.normal(size=(120, 2))
    points = np.concatenate([points, points[:10]])
    labels = np.digitize(np.concatenate([points[:120, 0], points[:10, 0]]), [-1.0, 0.0, 1.0])
    graph = neighbour_graph(points, 4)
    first = graph.rows.first
    expected = {
        tuple(sorted((labels[first[i]], labels[first[j]])))
        for i, j in zip(graph.sources, graph.ends, strict=True)
        if labels[first[i]] != labels[first[j]]
    }
    assert [tuple(pair) for pair in touching_pairs(labels, graph)] == sorted(expected)
    assert touching_pairs(np.zeros(130, dtype=np.int64), graph).shape == (0, 2)


def rings(*sizes_and_radii):
    turns = [2 * np.pi * np.arange(n) / n for n, _ in sizes_and_radii]
    circles = [np.column_stack([np.cos(turn), np.sin(turn)]) for turn in turns]
    points = [radius * c for c, (_, radius) in zip(circles, sizes_and_radii, strict=True)]
    points = np.concatenate(points)
    return points + np.random.default_rng(2).normal(0.0, 0.02, points.shape)


def decided(cuts, points, least=1, most=100):
    trees = SimpleNamespace(n_objects=len(points), cut=cuts.__getitem__)
    bent = BentBorders(paths_of(points), np.arange(len(points)) // 12)
    return number._by_margins(bent, trees, least, most)


def test_the_largest_number_with_empty_margins_is_accepted(monkeypatch):
    monkeypatch.setattr(number, "_MOST_BY_MARGINS", 4)
    points = rings((30, 1.0), (60, 1.6), (60, 2.2))
    which = np.repeat([0, 1, 2], [30, 60, 60])
    halved = np.where((which == 2) & (points[:, 0] > 0), 3, which)
    cuts = {4: halved, 3: which, 2: np.maximum(which, 1) - 1}
    decision = decided(cuts, points)
    assert (decision.n_clusters, decision.alternatives) == (3, (2,))
    assert decision.reason == "3 clusters: few points are near every border."
    pairs = touching_pairs(which, neighbour_graph(points, 10))
    assert decision.depths == pytest.approx(
        [1 - margin_ratio(paths_of(points), which, pair) for pair in pairs]
    )
    assert decided(cuts, points, most=2).n_clusters == 2
    assert decided(cuts, points, least=4) is None


def test_small_clusters_are_not_accepted_by_their_margins(monkeypatch):
    monkeypatch.setattr(number, "_MOST_BY_MARGINS", 2)
    points = rings((60, 1.0))
    points = np.concatenate([points, points[:24] * 0.01])
    labels = np.repeat([0, 1], [60, 24])
    assert decided({2: labels}, points) is None


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_a_hundred_points_in_two_bent_clusters_have_an_empty_margin(make):
    ways = {} if make is make_moons else {"factor": 0.5}
    points, y = make(100, noise=0.05, random_state=1, **ways)
    model = ConsensusClustering(random_state=0).fit(points)
    assert model.n_clusters_ == 2
    assert len(np.unique(np.column_stack([model.labels_, y]), axis=0)) == 2
    assert model.reason_ == "2 clusters: few points are near the border."


@pytest.mark.parametrize("n", [60, 100, 150])
@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential"])
def test_few_points_of_one_cloud_are_one_cluster(n, kind):
    points = getattr(np.random.default_rng([3, n]), kind)(size=(n, 2))
    assert ConsensusClustering(random_state=0).fit(points).n_clusters_ == 1
