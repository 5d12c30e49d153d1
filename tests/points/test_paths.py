"""Shortest paths, bent borders and contact, beside naive twins."""

import numpy as np
import pytest
from scipy.sparse.csgraph import floyd_warshall

from conclust import ConsensusClustering
from conclust.neighbours import neighbour_graph
from conclust.points.bent import BentBorders, joined
from conclust.points.margin import margin_ratio
from conclust.points.paths import PathsOfPoints, contact_ratio, evenly_spread


def paths_of(points, k=10):
    return PathsOfPoints(points, neighbour_graph(points, k))


def ring(n, seed, width=0.05, start=0.0, end=2 * np.pi):
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(start, end, n))
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return circle * rng.normal(1.0, width, (n, 1)), angle


@pytest.fixture(params=range(3))
def points(request):
    rng = np.random.default_rng(request.param)
    points = rng.normal(size=(70, 3))
    return np.concatenate([points, points[:5]])  # some of them twice


def test_shortest_paths_match_floyd_warshall(points):
    paths = paths_of(points, k=4)
    inside = np.arange(paths.graph.n_points) % 3 > 0
    part = paths.part(inside)
    dense = np.full((paths.graph.n_points,) * 2, np.inf)
    for i, j in zip(paths.graph.sources, paths.graph.ends, strict=True):
        dense[i, j] = np.linalg.norm(paths.distinct[i] - paths.distinct[j])
    expected = floyd_warshall(dense[np.ix_(inside, inside)])
    sources = np.array([0, 3, 7])
    np.testing.assert_allclose(part.from_each(sources), expected[sources])
    np.testing.assert_allclose(part.from_any(sources), expected[sources].min(axis=0))
    lines = np.linalg.norm(
        paths.distinct[inside][sources][:, None] - paths.distinct[inside], axis=2
    )
    seen = np.isfinite(expected[sources]) & (lines > 0)
    everywhere = np.ones(inside.sum(), dtype=bool)
    stretch = np.median(expected[sources][seen] / lines[seen])
    assert part.stretch(sources, everywhere) == pytest.approx(stretch)
    assert part.masses.sum() == sum(paths.graph.rows.counts[inside])


def test_fewest_ties_across_match_a_loop(points):
    part = paths_of(points).part(np.ones(70, dtype=bool))
    to_end = part.from_each(np.array([np.argmax(part.from_each(np.array([0]))[0])]))[0]
    order = np.argsort(to_end, kind="stable")
    ties = part.lengths.toarray() > 0
    across = [ties[np.ix_(order[: at + 1], order[at + 1 :])].sum() for at in range(17, 52)]
    assert part.fewest_ties_across == min(across)


def test_unconnected_and_tiny_parts_have_no_ties_across():
    points = np.concatenate([np.zeros((20, 2)), np.full((20, 2), 9.0)])
    points += np.random.default_rng(0).normal(size=points.shape)
    paths = paths_of(points, k=3)
    assert paths.part(np.ones(40, dtype=bool)).fewest_ties_across == 0
    assert paths.part(np.arange(40) < 3).fewest_ties_across == 0


def test_contact_counts_ties_on_both_sides_of_a_border():
    points, angle = ring(300, seed=0)
    paths = paths_of(points)
    labels = (angle > np.pi).astype(np.int64)
    across = sum(
        labels[i] == 0 and labels[j] == 1
        for i, j in zip(paths.graph.sources, paths.graph.ends, strict=True)
    )
    least = min(paths.part(labels == cluster).fewest_ties_across for cluster in (0, 1))
    assert contact_ratio(paths, labels, np.array([0, 1])) == (across + 3) / (least + 3)
    assert contact_ratio(paths, labels, np.array([0, 1])) > 1  # two borders, each as wide as a half


def test_crescents_around_each_other_have_little_contact():
    upper, _ = ring(150, seed=1, end=np.pi)
    lower, _ = ring(150, seed=2, start=np.pi)
    points = np.concatenate([upper, lower + np.array([1.0, 0.5])])
    labels = np.repeat([0, 1], 150)
    assert contact_ratio(paths_of(points, k=25), labels, np.array([0, 1])) < 0.5


def test_halves_of_a_ring_are_without_valley_and_separate_arcs_are_not():
    points, angle = ring(600, seed=3)
    pairs = np.array([[0, 1]])
    labels = (angle > np.pi).astype(np.int64)
    pieces = (angle / 0.4).astype(np.int64)
    assert BentBorders(paths_of(points), pieces).without_valley(labels, pairs, 0.5).all()
    # Near both ends of the halves four of five points are missing.
    thinned = (np.minimum(angle % np.pi, np.pi - angle % np.pi) > 0.4) | (np.arange(600) % 5 == 0)
    bent = BentBorders(paths_of(points[thinned]), pieces[thinned])
    assert not bent.without_valley(labels[thinned], pairs, 0.5).any()


def test_straight_borders_with_a_valley_and_many_dimensions_are_left_alone():
    rng = np.random.default_rng(4)
    pairs = np.array([[0, 1]])
    for d in (2, 12):
        points = rng.normal(size=(500, d))
        points = points[(np.abs(points[:, 0]) > 0.5) | (np.arange(500) % 5 == 0) | (d == 12)]
        labels = (points[:, 0] > 0).astype(np.int64)
        pieces = labels + 2 * (points[:, 1] > 0)
        assert not BentBorders(paths_of(points), pieces).without_valley(labels, pairs, 0.5).any()


def test_halves_of_a_cloud_with_full_contact_are_without_valley():
    points = np.random.default_rng(4).normal(size=(500, 2))
    labels = (points[:, 0] > 0).astype(np.int64)
    paths = paths_of(points)
    assert contact_ratio(paths, labels, np.array([0, 1])) >= 1
    assert margin_ratio(paths, labels, np.array([0, 1])) > 0.3
    pieces = labels + 2 * (points[:, 1] > 0)
    assert BentBorders(paths, pieces).without_valley(labels, np.array([[0, 1]]), 0.5).all()


def test_joined_clusters_are_numbered_from_zero():
    labels = np.array([0, 1, 2, 3, 4, 4])
    joined_labels = joined(labels, np.array([[0, 2], [2, 4]]))
    assert joined_labels.tolist() == [0, 1, 0, 2, 0, 0]


def test_places_are_spread_evenly():
    assert evenly_spread(np.arange(10), 4).tolist() == [0, 3, 6, 9]
    assert evenly_spread(np.arange(3), 8).tolist() == [0, 1, 2]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_ring_is_one_cluster_with_and_without_a_blob(seed):
    points, _ = ring(400, seed=seed, width=0.1)
    model = ConsensusClustering(random_state=0).fit(points)
    assert model.n_clusters_ == 1
    blob = np.random.default_rng(seed).normal(0.0, 0.1, (200, 2))
    model = ConsensusClustering(random_state=0).fit(np.concatenate([points, blob]))
    assert model.n_clusters_ == 2
    assert len(set(model.labels_[:400])) == 1
