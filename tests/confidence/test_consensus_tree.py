"""The consensus tree with its support: cuts, heights against all pairs, p-values of splits, its plot."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from tests.naive import confidence as naive

from conclust import AutoConsensus, ConsensusClustering, Ensemble, EnsembleGenerator
from conclust.confidence import consensus_tree
from conclust.confidence.borders.tree import ConsensusTree, with_support
from conclust.consensus.linkage import cut
from conclust.exceptions import InputError, ParameterError
from conclust.plotting import consensus_tree as draw
from conclust.plotting.support import consensus_tree_of


def same_partition(a, b):
    return adjusted_rand_score(a, b) == 1


MEMBERS = EnsembleGenerator("kmeans", n_partitions=20, random_state=0)


def nested(n=450, seed=0):
    """Two clusters near each other, and one far away."""
    return make_blobs(n, centers=[[0, 0], [6, 0], [40, 0]], random_state=seed)


@pytest.fixture(scope="module")
def grown():
    X, y = nested()
    members = MEMBERS.fit_transform(X)
    return X, y, members, consensus_tree(members, X, generator=MEMBERS, random_state=0)


def test_cuts_equal_those_of_the_default_tree(grown):
    _, _, members, tree = grown
    model = AutoConsensus(3).fit(Ensemble(members))
    np.testing.assert_array_equal(model.tree_objects_, np.arange(450))
    for k in range(1, 11):
        assert same_partition(tree.cut(k), cut(model.linkage_matrix_, k))


def test_only_true_levels_are_significant(grown):
    _, y, _, tree = grown
    assert tree.holds().tolist() == [True, True] + [False] * 7
    assert same_partition(tree.cut(), y)
    assert same_partition(tree.cut(alpha=0.2), y)
    assert tree.splits[0].n_right == 150
    p = np.array([split.p_value for split in tree.splits])
    adjusted = np.array([split.adjusted for split in tree.splits])
    assert ((adjusted >= p) & (p > 0) & (adjusted <= 1)).all()


def test_heights_are_means_over_pairs(grown):
    _, _, members, _ = grown
    some = np.array(members, dtype=np.int64)[::9]
    some[:4, :5] = -2
    tree = consensus_tree(some, max_clusters=5)
    apart = 1 - naive.shares(Ensemble(some))
    for k, split in enumerate(tree.splits, 2):
        labels, before = tree.cut(k), tree.cut(k - 1)
        (parent,) = [c for c in np.unique(before) if len(set(labels[before == c])) == 2]
        a, b = np.unique(labels[before == parent])
        pairs = apart[np.ix_(labels == a, labels == b)]
        below = [s.height for s in tree.splits if s.node in (split.left, split.right)]
        inner = [np.nanmean(apart[np.ix_(labels == c, labels == c)][~np.eye(sum(labels == c), dtype=bool)])
                 for c, node in ((a, split.left), (b, split.right)) if sum(labels == c) > 1
                 and node not in [s.node for s in tree.splits]]  # fmt: skip
        assert split.height == pytest.approx(max([np.nanmean(pairs), *below, *inner]))
        assert split.lifetime >= 0
    top = tree.splits[0].height
    assert tree.cut(height=top).max() == 0
    lowest = min(split.height for split in tree.splits)
    labels = tree.cut(height=lowest)
    assert labels.max() == sum(split.height > lowest for split in tree.splits)


def test_labels_without_points_have_lifetimes_only(grown):
    _, _, members, _ = grown
    tree = consensus_tree(members)
    assert not tree.has_p_values
    assert not tree.holds().any()
    assert "without p-values" in repr(tree)
    with pytest.raises(InputError, match="cut by k or height"):
        tree.cut()
    assert tree.to_frame()["p_value"].isna().all()


def tree_of(p_values, sizes):
    """Splits: 0 into 1, 2; 1 into 3, 4; 3 into 5, 6. Leaves 2, 4, 5, 6 with sizes."""
    splits = [(0, 1, 2), (1, 3, 4), (3, 5, 6)]
    leaves = np.repeat([2, 4, 5, 6], sizes)
    counts = np.bincount(leaves, minlength=7)
    counts[3] = counts[5] + counts[6]
    counts[1] = counts[3] + counts[4]
    return ConsensusTree(
        with_support(splits, counts, np.array([0.9, 0.8, 0, 0.7, 0, 0, 0]), np.array(p_values)),
        leaves,
        0.05,
    )


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        ([0.001, 0.001, 0.001], [0, 1, 2, 3]),
        ([0.001, 0.5, 0.5], [0, 1, 1, 1]),
        ([0.5, 0.5, 0.5], [0, 0, 0, 0]),
        # Slivers join the largest cluster beside them.
        ([0.5, 0.001, 0.5], [0, 1, 0, 0]),
        ([0.5, 0.5, 0.001], [0, 0, 0, 1]),
        ([0.001, 0.5, 0.001], [0, 1, 1, 2]),
    ],
)
def test_insignificant_splits_are_not_cut(p_values, expected):
    sizes = [5, 6, 20, 8]
    tree = tree_of(p_values, sizes)
    np.testing.assert_array_equal(tree.cut(), np.repeat(expected, sizes))


def test_any_seed_type_gives_the_same_bits_and_models_supply_their_generator():
    X, y = nested(240)
    model = ConsensusClustering(generator=MEMBERS, n_clusters=3, random_state=0).fit(X)
    first = consensus_tree(model, X, n_splits=3, random_state=1)
    repeated = consensus_tree(model, X, n_splits=3, random_state=np.random.SeedSequence(1))
    assert [s.p_value for s in first.splits] == [s.p_value for s in repeated.splits]
    assert same_partition(first.cut(3), y)


def test_objects_outside_the_tree_are_placed(monkeypatch):
    X, y = nested(400)
    members = np.array(MEMBERS.fit_transform(X), dtype=np.int64)
    members[:5] = -1
    members[5:9] = -2
    tree = consensus_tree(members)
    assert (tree.leaves[:5] == -1).all()
    many = np.tile(np.arange(20), 20)[:, None]
    monkeypatch.setattr(
        "conclust.confidence.borders.tree.AutoConsensus",
        lambda k, random_state: AutoConsensus(k, max_samples=100, random_state=random_state),
    )
    part = consensus_tree(
        np.hstack([members[9:], (many[9:] + 7 * np.arange(391)[:, None]) % 61]), max_clusters=3
    )
    assert (part.leaves >= 0).all()
    assert np.mean(part.cut(3) == tree.cut(3)[9:]) > 0.9 or same_partition(part.cut(3), y[9:])


def test_the_plot_has_a_line_for_each_split(grown):
    tree = grown[3]
    shown = consensus_tree_of(tree)
    assert shown.sizes.sum() == 450
    assert len(shown.leaves) == 10
    assert shown.holds.sum() == 2
    assert set(shown.clusters) == {0, 1, 2}
    ax = draw(tree)
    styles = [line.get_linestyle() for line in ax.lines[:9]]
    assert styles.count("-") == 2
    assert styles.count("--") == 7
    assert ax.get_title() == "Consensus tree of 450 objects, 2 of 9 splits hold (p < .05)"
    with pytest.raises(InputError, match="a ConsensusTree with a split"):
        draw("tree")


def test_invalid_trees_are_refused(grown):
    X, _, members, tree = grown
    for bad in ({"max_clusters": 1}, {"n_splits": 0}, {"alpha": 0}, {"generator": "kmeans"}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            consensus_tree(members, X, **bad)
    with pytest.raises(InputError, match="a row for each of the 450 objects"):
        consensus_tree(members, X[:-1])
    with pytest.raises(ParameterError, match="one of 'k', 'height' and 'alpha'"):
        tree.cut(2, height=0.5)
    with pytest.raises(ParameterError, match="'k'"):
        tree.cut(11)
    with pytest.raises(ParameterError, match="'height'"):
        tree.cut(height=0.0)


def test_a_consensus_without_its_members_is_refused():
    model = AutoConsensus().fit([[0, 0], [0, 0], [1, 1], [1, 1]])
    with pytest.raises(InputError, match="needs the members, which AutoConsensus does not keep"):
        consensus_tree(model)


def test_a_lifetime_is_the_height_above_the_higher_child(grown):
    tree = grown[3]
    heights = {split.node: split.height for split in tree.splits}
    inner = [split for split in tree.splits if {split.left, split.right} <= heights.keys()]
    assert inner
    for split in inner:
        higher = max(heights[split.left], heights[split.right])
        assert split.lifetime == pytest.approx(split.height - higher, abs=1e-12)
    assert all(0 <= split.lifetime <= split.height for split in tree.splits)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_too_few_points_for_a_part_are_refused(n):
    points = np.arange(float(n))[:, np.newaxis] ** 2
    labels = np.arange(n)[:, np.newaxis] % 2
    with pytest.raises(InputError, match=rf"needs 5 points or more\. Got {n}"):
        consensus_tree(labels, points, random_state=0)
