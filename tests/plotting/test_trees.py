"""The colours of a dendrogram are those of the clusters in all other pictures."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib.colors import to_rgb

from conclust import EAC, plotting
from conclust.exceptions import InputError
from conclust.plotting.canvas.style import cluster_colours
from conclust.plotting.trees import tree_of


def strips_of(ax):
    """Return the colours of the strips below a dendrogram and the numbers of objects, from left to right."""
    strips = [line for line in ax.lines if line.get_linewidth() == 4.0]
    return [to_rgb(line.get_color()) for line in strips], [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("seed", range(20))
def test_clusters_have_the_colours_of_their_labels(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 30)), int(rng.integers(2, 5))
    truth = rng.integers(0, k, n)
    members = np.where(rng.random((n, 7)) < 0.2, rng.integers(0, k, (n, 7)), truth[:, None])
    model = EAC(k).fit(members)
    picture = tree_of(model)
    for label, a, b in zip(picture.labels, picture.ends[:-1], picture.ends[1:], strict=True):
        assert set(model.labels_[picture.order[a:b]]) == {label}
    colours, _ = strips_of(plotting.dendrogram(model))
    np.testing.assert_allclose(colours, cluster_colours(k)[picture.labels])
    alone = tree_of(model.linkage_matrix_, model.n_clusters_)
    np.testing.assert_array_equal(alone.labels, picture.labels)


def test_labels_that_the_tree_does_not_give_are_matched_with_its_clusters():
    tree = [[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.3, 2], [6, 7, 0.8, 4], [8, 9, 0.9, 6]]
    labels = [2, 2, 0, 0, -1, 1]
    picture = tree_of(tree, 3, labels=labels)
    leaves = [set(picture.order[a:b]) for a, b in zip(picture.ends, picture.ends[1:], strict=False)]
    assert dict(zip(map(min, leaves), picture.labels.tolist(), strict=True)) == {0: 2, 2: 0, 4: 1}
    # More clusters than labels: those left over have numbers of their own.
    more = tree_of(tree, 5, labels=[0, 0, 0, 0, 0, 1])
    assert sorted(more.labels) == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="each of the 6 leaves"):
        tree_of(tree, 3, labels=[0, 1])
    with pytest.raises(InputError, match="each of the 6 leaves"):
        plotting.dendrogram(tree, 3, labels=list("aabbcc"))


@pytest.mark.filterwarnings("ignore::conclust.exceptions.EvidenceWarning")
def test_objects_that_no_partition_observed_are_not_in_the_tree():
    members = np.array([[0, 0], [-1, -1], [1, 1], [2, 1], [2, 1]])
    model = EAC(2).fit(members)
    picture = tree_of(model)
    seen = model.labels_[model.labels_ >= 0]
    for label, a, b in zip(picture.labels, picture.ends[:-1], picture.ends[1:], strict=True):
        assert set(seen[picture.order[a:b]]) == {label}
