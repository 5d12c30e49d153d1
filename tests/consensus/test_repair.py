"""Clusters changed as little as constraints require; their pieces are checked against loops over all pairs of objects."""

from itertools import combinations

import numpy as np
import pytest
from tests.naive import repair as naive

import conclust as cc
from conclust.consensus.auto.repair import merges_of, pieces_of, typical_objects
from conclust.consensus.auto.votes import certain_clusters
from conclust.consensus.constraints import read_constraints
from conclust.consensus.linkage import cut
from conclust.trees.agglomeration import from_merges


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


@pytest.mark.parametrize("kinds", ["both", "together"])
@pytest.mark.parametrize("seed", range(3))
def test_pieces_and_their_merges_match_loops(seed, kinds):
    z, ensemble = planted(seed)
    model = cc.AutoConsensus(3 + seed).fit(ensemble)
    weighted, certainty = certain_clusters(ensemble)
    counting, labels = weighted.column_weights * certainty, model.labels_
    pairs = links(seed, z, 60)
    if kinds == "together":
        pairs["cannot_link"] = None
    given = read_constraints(**pairs, n_samples=len(z))
    pieces = pieces_of(model.linkage_matrix_, labels, 12)
    cells = set(zip(labels.tolist(), cut(model.linkage_matrix_, 12).tolist(), strict=True))
    assert len(set(pieces.tolist())) == len(cells)
    B = ensemble.indicator.toarray()
    S = (B * counting) @ B.T
    typical = typical_objects(pieces, ensemble, counting)
    np.testing.assert_array_equal(typical, naive.typical(S, pieces))
    large = {g for g, size in enumerate(np.bincount(given.groups)) if size > 1}
    apart = [set(pair) for pair in given.apart.tolist()]
    votes = naive.votes(pieces, typical & given.touched, large, apart, given.groups)
    assert (votes != 0).any()
    steps = naive.merged(naive.similarity(S, labels), pieces, votes)
    *merges, smallest = merges_of(pieces, labels, typical, ensemble, counting, given)
    assert smallest == len(steps[-1])
    tree = from_merges(*merges[:2], np.arange(len(merges[0]), dtype=float))
    for clusters in steps:
        assert sets_of(cut(tree, len(clusters))) == clusters


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
    assert model.evidence_ == "witnesses"


def test_objects_outside_the_trees_join_the_most_similar_cluster():
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
    X = np.vstack([rng.normal(c, 1.0, (150, 2)) for c in ((0, 0), (3.5, 0), (0, 3.5))])
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


def test_pieces_move_only_if_fewer_constraints_are_broken_then():
    """Votes of random true pairs in noisy labels divide clusters, and answers about typical objects do not."""
    z, ensemble = planted(0, n=120, m=10, K=3, wrong=0.5)
    plain = cc.AutoConsensus(3).fit_predict(ensemble)
    model = cc.AutoConsensus(3).fit(ensemble, **links(1, z, 120))
    assert cc.metrics.adjusted_rand_index(z, model.labels_) > cc.metrics.adjusted_rand_index(
        z, plain
    )
    assert model.n_clusters_ == 3


def test_objects_that_must_be_together_have_one_membership():
    z, ensemble = planted(2)
    given = links(3, z, 12)
    model = cc.AutoConsensus(4).fit(ensemble, **given)
    rows = model.membership_
    np.testing.assert_array_equal(rows.argmax(axis=1), model.labels_)
    one, other = given["must_link"].T
    np.testing.assert_allclose(rows[one], rows[other])
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)


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
