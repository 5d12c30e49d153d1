"""A partition changed as little as constraints require, checked against loops over all pairs of objects."""

from itertools import combinations

import numpy as np
import pytest
from tests.naive import repair as naive

import conclust as cc
from conclust.consensus.auto.estimator import VotingModel
from conclust.consensus.auto.repair import TYPICAL, repair
from conclust.consensus.auto.votes import certain_clusters
from conclust.consensus.constraints import read_constraints, unlinked
from conclust.consensus.linkage import cut


def planted(seed, n=48, m=14, K=4, wrong=0.45):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, K, n)
    labels = np.where(rng.random((n, m)) < wrong, rng.integers(0, K, (n, m)), z[:, None])
    return z, cc.Ensemble(labels, weights=rng.random(m) + 0.5)  # no ties


def links(seed, z, n_pairs):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, len(z), (2 * n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:n_pairs]
    same = z[pairs[:, 0]] == z[pairs[:, 1]]
    return {"must_link": pairs[same], "cannot_link": pairs[~same]}


def sets_of(labels):
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in set(labels.tolist())}


def grown(ensemble, K):
    """A model, its tree, labels and the weights of co-clustering."""
    model = cc.AutoConsensus(K).fit(ensemble)
    weighted, certainty = certain_clusters(ensemble)
    return model, weighted.column_weights * certainty


@pytest.mark.long
@pytest.mark.parametrize("kinds", ["both", "together"])
@pytest.mark.parametrize("seed", range(4))
def test_units_and_merges_match_loops(seed, kinds):
    z, ensemble = planted(seed, n=80 if seed % 2 else 48)
    model, counting = grown(ensemble, 3 + seed % 3)
    pairs = links(seed, z, 8 + 3 * seed)
    if kinds == "together":
        pairs["cannot_link"] = None
    given = read_constraints(**pairs, n_samples=len(z))
    found = repair(model.linkage_matrix_, model.labels_, ensemble, counting, given)
    B = ensemble.indicator.toarray()
    S = (B * counting) @ B.T
    _, pieces = np.unique(
        np.stack([model.labels_, cut(model.linkage_matrix_, 30)]), axis=1, return_inverse=True
    )
    pieces, groups, touched = pieces.ravel(), given.groups, given.touched
    apart = [set(pair) for pair in given.apart.tolist()]
    rank = naive.ranks(S, pieces)
    represents = rank >= TYPICAL
    silent = naive.outvoted(pieces, model.labels_, represents, groups, apart, touched)
    represents[list(silent)] = False
    units = naive.units(pieces, rank, groups, apart, touched, represents)
    clusters = naive.merged(S, units, model.labels_, groups, apart, touched)
    assert found.n_clusters == len(clusters)
    assert sets_of(cut(found.tree, found.n_clusters)) == clusters


@pytest.mark.long
def test_the_given_number_of_clusters_is_reached_if_possible():
    """Answers that are true, most of them about few objects, and the true number."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, K = int(rng.integers(30, 90)), int(rng.integers(3, 7))
        z, ensemble = planted(seed, n=n, m=8, K=K, wrong=rng.uniform(0.3, 0.9))
        some = rng.permutation(n)[: int(rng.integers(5, 25))].tolist()
        pairs = np.array(list(combinations(some, 2)))
        pairs = pairs[rng.random(len(pairs)) < rng.uniform(0.3, 1.0)]
        same = z[pairs[:, 0]] == z[pairs[:, 1]]
        given = {"must_link": pairs[same][: seed % 2 * 5], "cannot_link": pairs[~same]}
        found = cc.AutoConsensus(K).fit(ensemble, **given)
        assert found.n_clusters_ <= K
        assert read_constraints(**given, n_samples=n).broken(found.labels_) == 0


@pytest.mark.parametrize("seed", range(3))
def test_every_cut_of_the_tree_keeps_the_constraints(seed):
    z, ensemble = planted(seed, n=70)
    model, counting = grown(ensemble, 4)
    given = read_constraints(**links(seed + 20, z, 25), n_samples=len(z))
    found = repair(model.linkage_matrix_, model.labels_, ensemble, counting, given)
    assert (np.diff(found.tree[:, 2]) >= 0).all()
    assert found.bounds.smallest <= found.n_clusters <= found.bounds.largest
    for number in range(found.bounds.smallest, found.bounds.largest + 1):
        assert given.broken(cut(found.tree, number)) == 0
    assert given.broken(cut(found.tree, found.bounds.largest + 1)) > 0


@pytest.mark.parametrize("seed", range(2))
def test_without_constraints_the_tree_has_the_clusters_and_the_finer_cuts(seed):
    _, ensemble = planted(seed, n=60)
    model, counting = grown(ensemble, 4)
    tree = model.linkage_matrix_
    labels = cut(tree, 4)
    found = repair(tree, labels, ensemble, counting, unlinked(60))
    assert found.n_clusters == 4
    assert found.bounds == (1, 60)
    for number in [4, *range(30, 61)]:
        assert sets_of(cut(found.tree, number)) == sets_of(cut(tree, number))


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_constraints_that_hold_change_no_label(missing):
    _, ensemble = planted(5, n=200)
    labels = ensemble.labels.copy()
    labels[np.random.default_rng(0).random(labels.shape) < missing] = -1
    plain = cc.AutoConsensus(4).fit_predict(labels)
    pairs = np.random.default_rng(1).integers(0, 200, (60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = plain[pairs[:, 0]] == plain[pairs[:, 1]]
    model = cc.AutoConsensus(4).fit(labels, must_link=pairs[same], cannot_link=pairs[~same])
    np.testing.assert_array_equal(model.labels_, plain)


def test_objects_outside_the_trees_follow_the_most_similar_part():
    z, ensemble = planted(6, n=600, wrong=0.3)
    labels = ensemble.labels
    model = cc.AutoConsensus(4, max_samples=120, random_state=0).fit(labels, **links(2, z, 30))
    assert len(model.tree_objects_) == 120
    assert cc.metrics.adjusted_rand_index(z, model.labels_) > 0.9
    outside = np.setdiff1d(np.arange(600), model.tree_objects_)
    np.testing.assert_array_equal(model.predict(labels[outside]), model.labels_[outside])


def test_constraints_that_hold_keep_the_clusters_around_centres():
    """Overlapping Gaussians, which the model places by their centres."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 1.0, (150, 2)) for c in ((0, 0), (4, 0), (0, 4))])
    plain = cc.ConsensusClustering(n_clusters=3, random_state=0).fit(X)
    assert plain.centers_ is not None
    pairs = rng.integers(0, 450, (40, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = plain.labels_[pairs[:, 0]] == plain.labels_[pairs[:, 1]]
    model = cc.ConsensusClustering(n_clusters=3, random_state=0)
    model.fit(X, must_link=pairs[same], cannot_link=pairs[~same])
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert (model.membership_.argmax(axis=1) == model.labels_).all()
    new = rng.normal((2, 2), 2.0, (100, 2))
    np.testing.assert_array_equal(model.predict(new), plain.predict(new))
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)


def test_an_answer_about_typical_objects_moves_their_piece():
    """Two groups that the members hardly separate: one pair that is apart separates them."""
    rng = np.random.default_rng(2)
    z = np.repeat([0, 1, 2], 40)
    labels = np.repeat(np.minimum(z, 1)[:, None], 12, axis=1)
    labels[:, :4] = z[:, None]
    labels = np.where(rng.random(labels.shape) < 0.1, rng.integers(0, 3, labels.shape), labels)
    assert cc.AutoConsensus(2).fit(labels).n_clusters_ == 2
    pairs = cc.confidence.questions(labels, 1, n_clusters=2)
    assert set(z[pairs[0]].tolist()) == {1, 2}
    found = cc.AutoConsensus(3).fit(labels, cannot_link=pairs)
    assert cc.metrics.adjusted_rand_index(found.labels_, z) > 0.9
    placed = found.predict(labels)
    assert (placed == found.labels_).mean() > 0.97


def test_objects_go_with_the_most_similar_part_of_their_cluster_before():
    rng = np.random.default_rng(1)
    _, ensemble = planted(1)
    parts_before, after = np.array([0, 2, 3, 1, 0]), np.array([0, 0, 1, 1, 2])
    votes = rng.random((int(ensemble.offsets[-1]), 5))
    before = rng.integers(0, 5, 48)  # the last one without parts
    unchanged = VotingModel(ensemble.offsets, votes[:, :5], np.arange(5))
    model = VotingModel(ensemble.offsets, votes, after, before=unchanged, parts_before=parts_before)
    sums = ensemble.indicator.toarray() @ votes
    rows = model.of_ensemble(ensemble, before)
    for i in range(48):
        own = [sums[i, after == cluster].max() for cluster in range(3)]
        allowed = np.flatnonzero(parts_before == before[i])
        allowed = allowed if len(allowed) else np.arange(5)
        assert rows[i].argmax() == after[allowed[sums[i, allowed].argmax()]]
        np.testing.assert_allclose(sorted(rows[i]), np.sort(own) / np.sum(own), rtol=1e-9)
    order = np.array([2, 0, 1])
    again = model.keep(order).of_ensemble(ensemble, before)
    np.testing.assert_allclose(again, rows[:, order], rtol=1e-12)
    without = unchanged.of_ensemble(ensemble).argmax(axis=1)
    assert np.array_equal(model.rows(ensemble.codes), model.rows(ensemble.codes, without))


@pytest.mark.parametrize("seed", range(4))
def test_groups_that_are_pairwise_apart_bound_the_number(seed):
    rng = np.random.default_rng(seed)
    pairs = np.array([pair for pair in combinations(range(7), 2) if rng.random() < 0.5])
    given = read_constraints(None, pairs, 7)
    edges = {tuple(pair) for pair in given.apart.tolist()}
    cliques = [
        len(chosen)
        for size in range(1, 8)
        for chosen in combinations(range(7), size)
        if all(pair in edges for pair in combinations(chosen, 2))
    ]
    assert given.least_clusters() == max(cliques)


def test_many_true_pairs_that_are_together_do_not_merge_clusters():
    """Without pairs that are apart nothing contradicted the joins of pieces: clusters that overlap ended as one."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 150)
    X = rng.normal(size=(4, 10))[classes] + 1.3 * rng.normal(size=(600, 10))
    together = np.vstack([rng.permutation(150).reshape(-1, 2) + 150 * k for k in range(4)])
    before = cc.ConsensusClustering(n_clusters=4, random_state=0).fit(X)
    after = cc.ConsensusClustering(n_clusters=4, random_state=0).fit(X, must_link=together)
    assert np.array_equal(after.labels_[together[:, 0]], after.labels_[together[:, 1]])
    without, with_pairs = (
        cc.metrics.adjusted_rand_index(classes, model.labels_) for model in (before, after)
    )
    assert with_pairs > without
