"""Numbers that clusters keep: beside a search through all ways to give them, and on data that grow."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, make_blobs

import conclust as cc
from conclust.exceptions import InputError
from conclust.metrics import adjusted_rand_index, labels_like
from conclust.placing import shared_clusterings, warm_start


def most_kept(previous, labels):
    """Try every way to give previous numbers to clusters; return the most objects that keep theirs."""
    old = sorted({p for p in previous if p >= 0})
    now = list(dict.fromkeys(k for k in labels if k >= 0))

    def shared(p, k):
        return sum(a == p and b == k for a, b in zip(previous, labels, strict=True))

    def allowed(p, k):
        small = min(list(previous).count(p), list(labels).count(k))
        return shared(p, k) > 0 and 2 * shared(p, k) >= small

    best = 0
    padded = [*old, *[None] * len(now)]
    for given in set(permutations(padded, len(now))):
        pairs = [(p, k) for p, k in zip(given, now, strict=True) if p is not None]
        if all(allowed(p, k) for p, k in pairs):
            best = max(best, sum(shared(p, k) for p, k in pairs))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_numbers_follow_the_best_matching(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 25))
    previous = rng.integers(-1, 3, n) * 2
    previous[previous < 0] = -1
    labels = np.where(rng.random(n) < 0.6, previous // 2, rng.integers(-2, 4, n))
    renumbered = labels_like(previous, labels)
    kept = sum(
        int(((renumbered == p) & (previous == p)).sum())
        for p in set(previous[previous >= 0].tolist())
    )
    assert kept == most_kept(previous.tolist(), labels.tolist())
    negative = labels < 0
    np.testing.assert_array_equal(renumbered[negative], labels[negative])
    both = (
        cc.metrics.contingency(renumbered[~negative], labels[~negative])
        if (~negative).any()
        else None
    )
    assert both is None or both.identical
    new = set(renumbered[~negative].tolist()) - set(previous.tolist())
    largest = max(previous.max(), -1)
    assert sorted(new) == list(range(largest + 1, largest + 1 + len(new)))


def test_splits_merges_and_strays_are_reported():
    old = np.repeat([0, 1, 2], [10, 10, 10])
    split = np.repeat([5, 6, 7, 8], [7, 3, 10, 10])
    assert labels_like(old, split).tolist() == np.repeat([0, 3, 1, 2], [7, 3, 10, 10]).tolist()
    merged = np.repeat([4, 9], [20, 10])
    assert labels_like(old, merged).tolist() in (
        np.repeat([0, 2], [20, 10]).tolist(),
        np.repeat([1, 2], [20, 10]).tolist(),
    )
    # The number of a cluster that is gone is not given to new objects that one of its own joins.
    grown_old = np.array([0] * 10 + [1] * 10 + [-1] * 30)
    grown = np.array([0] * 19 + [1] * 31)
    assert labels_like(grown_old, grown).tolist() == [0] * 19 + [2] * 31
    assert labels_like(grown_old, grown, first_new=7).tolist() == [0] * 19 + [7] * 31


def test_identifiers_match_objects_across_changes():
    previous = pd.Series([3, 3, 8, 8], index=["a", "b", "c", "d"])
    now = {"d": "x", "e": "x", "b": "y", "f": "y", "a": "y"}
    renumbered = labels_like(
        previous, list(now.values()), ids=list(now), previous_ids=previous.index.to_numpy()
    )
    assert renumbered.tolist() == [8, 8, 3, 3, 3]


def test_invalid_arguments_are_refused():
    with pytest.raises(InputError, match="Got 2 and 3"):
        labels_like([0, 1], [0, 1, 1])
    with pytest.raises(InputError, match="'previous' must hold whole numbers"):
        labels_like(["a", "b"], [0, 1])
    with pytest.raises(InputError, match="go together"):
        labels_like([0, 1], [0, 1], ids=[1, 2])
    with pytest.raises(InputError, match="'ids' must be different"):
        labels_like([0, 1], [0, 1], ids=[1, 1], previous_ids=[1, 2])
    with pytest.raises(InputError, match="from 5 on"):
        labels_like([0, 4], [0, 1], first_new=4)
    with pytest.raises(InputError, match="numbers of 'previous' must be below 2"):
        labels_like([2**63 - 1, 1, 1], [0, 1, 2])
    with pytest.raises(InputError, match="is text and the other is not, 1 and '1' for instance"):
        labels_like([0, 1], [0, 1], ids=[1, 2], previous_ids=["1", "2"])


def grown(seed=0, n=606, share=0.01):
    """Digits, and the number of them that were there before: 1 % come later."""
    X, _ = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))[:n]
    return X[order], n - round(share * n)


def test_one_percent_of_new_objects_changes_few_numbers():
    """Everything is recomputed with another 0; the numbers of the clusters are random."""
    X, _ = make_blobs(1000, centers=8, n_features=6, cluster_std=2.0, random_state=0)
    rng = np.random.default_rng(0)
    before = cc.ConsensusClustering(n_clusters=8, random_state=0).fit(X[:990]).labels_
    before = rng.permutation(30)[before]
    after = cc.ConsensusClustering(n_clusters=8, random_state=0 + 100).fit(X).labels_
    renumbered = labels_like(np.concatenate([before, np.full(10, -1)]), after)
    assert np.mean(renumbered[:990] == before) >= 0.99
    assert adjusted_rand_index(renumbered, after) == 1.0


def test_a_frame_has_the_numbers_in_label_and_memberships():
    X, old = grown(1)
    model = cc.ConsensusClustering(n_clusters=10, random_state=0).fit(X[:old])
    rng = np.random.default_rng(0)
    names = rng.permutation(10) + 5  # numbers of long ago
    previous = np.concatenate([names[model.labels_], np.full(len(X) - old, -1)])
    again = cc.ConsensusClustering(n_clusters=10, random_state=1).fit(X)
    frame = cc.to_frame(again, labels_like=previous)
    np.testing.assert_array_equal(frame["label"], labels_like(previous, again.labels_))
    columns = [c for c in frame.columns if c.startswith("cluster_")]
    assert sorted(int(c[8:]) for c in columns) == sorted(set(frame["label"]))
    by_membership = np.array([int(c[8:]) for c in columns])[
        frame[columns].to_numpy().argmax(axis=1)
    ]
    np.testing.assert_array_equal(by_membership, frame["label"])
    plain = cc.to_frame(again)
    np.testing.assert_array_equal(plain["label"], again.labels_)


# ---- a warm start


@pytest.mark.parametrize("soft", [False, True])
def test_a_warm_start_keeps_old_clusters_and_places_new_objects(soft):
    rng = np.random.default_rng(3)
    z = rng.integers(0, 4, 80)
    labels = np.where(rng.random((80, 9)) < 0.2, rng.integers(0, 4, (80, 9)), z[:, None])
    ensemble = cc.Ensemble(labels)
    if soft:
        ensemble = cc.Ensemble.from_memberships([np.eye(4)[column] for column in labels.T])
    previous = np.where(np.arange(80) < 70, z * 3 + 1, -1)
    start = warm_start(ensemble, previous)
    assert adjusted_rand_index(start[:70], z[:70]) == 1.0
    together = (labels[:, None, :] == labels[None, :, :]).mean(axis=2)
    for i in range(70, 80):
        means = [together[i, np.flatnonzero(previous == 3 * k + 1)].mean() for k in range(4)]
        members = np.flatnonzero(z[:70] == np.argmax(means))
        assert start[i] == start[members[0]]
    np.testing.assert_array_equal(warm_start(ensemble, z), cc.ensemble.canonical_labels(z))


def test_after_a_warm_start_clusters_keep_their_objects():
    """On digits, whose clusters are less certain than blobs; the members of before label the new objects."""
    X, old = grown(0, n=1797)
    generator = cc.EnsembleGenerator("kmeans", 40, random_state=0).fit(X[:old])
    model = cc.PCC(10, divergence="l2", random_state=0).fit(generator.transform(X[:old]))
    ensemble = cc.Ensemble(generator.transform(X))
    rows = np.vstack([model.membership_, np.full((len(X) - old, 10), np.nan)])
    cold = cc.PCC(10, divergence="l2", random_state=0 + 1).fit(ensemble)
    warm = cc.PCC(10, divergence="l2", init=warm_start(ensemble, rows)).fit(ensemble)
    assert warm.objective_ <= cold.objective_ * 1.01
    previous = np.concatenate([model.labels_, np.full(len(X) - old, -1)])
    assert np.mean(labels_like(previous, warm.labels_)[:old] == model.labels_) >= 0.99


def test_a_warm_membership_places_new_objects_by_their_shares():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, (30, 7))
    labels[29] = -1
    ensemble = cc.Ensemble(labels, weights=rng.random(7) + 0.5)
    rows = rng.dirichlet(np.ones(4), 30)
    rows[25:] = np.nan
    found = warm_start(ensemble, rows)
    np.testing.assert_array_equal(found[:25], rows[:25])
    for i in range(25, 29):
        same = (labels[:25] == labels[i]) @ ensemble.weights
        shares = (same @ rows[:25]) / rows[:25].sum(axis=0)
        np.testing.assert_allclose(found[i], shares / shares.sum())
    np.testing.assert_allclose(found[29], 0.25)
    with pytest.raises(InputError, match="Not all objects may be new"):
        warm_start(ensemble, np.full((30, 2), np.nan))


def test_warm_start_and_shared_clusterings_refuse_the_same_input():
    ensemble = cc.Ensemble([[0, 0], [0, 1], [1, 1]])
    for call in (
        lambda labels: warm_start(ensemble, labels),
        lambda labels: shared_clusterings(ensemble, labels, [[0, 0]]),
    ):
        with pytest.raises(InputError, match="one whole number per object"):
            call([0, 1])
        with pytest.raises(InputError, match="no object in a cluster"):
            call([-1, -1, -1])


def test_numbers_of_departed_clusters_are_not_used_again():
    now = labels_like(
        [0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 5, 5], ids=list("abcdxy"), previous_ids=list("abcdef")
    )
    assert now.tolist() == [0, 0, 1, 1, 3, 3]
    assert labels_like([0, 1], [3, 4], ids=["a", "b"], previous_ids=["c", "d"]).tolist() == [2, 3]


@pytest.mark.parametrize("factor", [-1.0, 2.0])
def test_a_warm_start_refuses_rows_that_are_no_memberships(factor):
    ensemble = cc.Ensemble([[0, 0], [0, 1], [1, 1], [1, 1]])
    rows = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [np.nan, np.nan]])
    warm_start(ensemble, rows.astype(np.float32))
    with pytest.raises(InputError, match="at least 0 and add up to 1 in each row"):
        warm_start(ensemble, factor * rows)
    with pytest.raises(InputError, match="'previous' must be one whole number per object"):
        warm_start(ensemble, list("aabb"))
    with pytest.raises(
        InputError, match="Memberships in 'previous' must have a row for each of the 4"
    ):
        warm_start(ensemble, rows[:2])
