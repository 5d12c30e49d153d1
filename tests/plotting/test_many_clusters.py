"""Pictures of many clusters, and of clusters without objects."""

import itertools

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from conclust import plotting
from conclust.exceptions import InputError
from conclust.plotting.canvas.style import cluster_colours
from conclust.plotting.objects import bars_of


def drawn(n_clusters, n=600):
    rng = np.random.default_rng(0)
    labels = np.r_[np.arange(n_clusters), rng.integers(0, n_clusters, n - n_clusters)]
    members = np.where(
        rng.random((n, 6)) < 0.1, rng.integers(0, n_clusters, (n, 6)), labels[:, None]
    )
    points = 8 * rng.normal(size=(n_clusters, 2))[labels] + rng.normal(size=(n, 2))
    return labels, members, points


def boxes_of(ax):
    ax.figure.canvas.draw()
    return [text.get_window_extent() for text in ax.texts if text.get_text()]


@pytest.mark.parametrize("n_clusters", [5, 25, 60, 200])
def test_means_of_silhouettes_do_not_overlap(n_clusters):
    labels, members, _ = drawn(n_clusters)
    ax = plotting.silhouette_bars(labels, members)
    boxes = sorted(boxes_of(ax), key=lambda box: box.y0)
    assert len(boxes) == n_clusters or n_clusters > 20
    assert len(boxes) >= min(n_clusters, 12)
    assert all(low.y1 <= high.y0 + 0.5 for low, high in itertools.pairwise(boxes))
    largest = int(np.bincount(labels).argmax())
    assert any(text.get_text().startswith(f"{largest}: ") for text in ax.texts)


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_clusters_are_not_replaced_by_other_numbers(first):
    labels, _, points = drawn(150)
    names = [str(k + first) for k in range(150)]
    ax = plotting.embedding(points, labels, names=names)
    texts = {text.get_text(): text for text in ax.texts if text.get_text()}
    assert len(texts) > 20
    for name in texts.keys() & set(names):  # each in the colour of its own cluster
        edge = texts[name].get_bbox_patch().get_edgecolor()[:3]
        np.testing.assert_allclose(edge, cluster_colours(150)[int(name) - first])
    assert texts.keys() <= set(names)
    assert ax.get_legend() is None
    assert not ax.figure.legends


def test_crowded_numbers_are_moved_apart():
    labels, _, points = drawn(60)
    ax = plotting.embedding(points, labels, names=[str(k + 1) for k in range(60)])
    boxes = boxes_of(ax)
    assert len(boxes) == 60
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def test_objects_are_under_the_name_of_their_label():
    membership = [[0.5, 0.5], [0.6, 0.4], [0.2, 0.8], [0.5, 0.5]]
    bars = bars_of(membership, labels=[0, 1, 1, 1])
    assert bars.order.tolist() == [0, 2, 3, 1]
    assert bars.clusters.tolist() == [0, 1, 1, 1]
    ax = plotting.membership_bars(membership, labels=[0, 1, 1, 1], names=["one", "two"])
    assert ax.get_xlim() == (0, 4)
    with pytest.raises(InputError, match="'labels' of membership_bars"):
        bars_of(membership, labels=[0, 1])


def test_an_embedding_of_very_many_clusters_has_the_numbers_of_the_largest():
    rng = np.random.default_rng(0)
    sizes = rng.permutation(np.arange(5, 205))
    labels = np.repeat(np.arange(200), sizes)
    points = (rng.normal(size=(200, 2)) * 6)[labels] + 0.3 * rng.normal(size=(len(labels), 2))
    ax = plotting.embedding(points, labels, max_samples=30_000)
    texts = [text for text in ax.texts if text.get_text()]
    written = [int(text.get_text()) for text in texts]
    assert 20 <= len(written) <= 60
    assert sorted(sizes[written]) == list(range(205 - len(written), 205))
    boxes = boxes_of(ax)
    assert len(boxes) == len(written)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize("n_clusters", [1, 40])
def test_axes_smaller_than_a_number_have_the_number_of_the_largest_cluster(n_clusters):
    from matplotlib.figure import Figure

    labels = np.r_[np.arange(n_clusters), np.zeros(20, dtype=int)]
    ax = Figure(figsize=(0.2, 0.2)).add_subplot()
    plotting.embedding(np.random.default_rng(0).normal(size=(len(labels), 2)), labels, ax=ax)
    assert [text.get_text() for text in ax.texts if text.get_text()] == ["0"]
