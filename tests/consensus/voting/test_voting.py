"""Voting, cumulative voting and positional voting."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive import voting as naive

from conclust import CumulativeVoting, Ensemble, PositionalVoting, Voting
from conclust.consensus.voting.ballots import Count
from conclust.similarity import cluster_certainty, information_bottleneck


def random_labels(seed, n=60, m=8, k=4, missing=0.0, noise=0.0, flip=0.35):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    labels = np.column_stack(
        [np.where(rng.random(n) < flip, rng.integers(k, size=n), truth) for _ in range(m)]
    )
    labels[rng.random((n, m)) < noise] = -2
    labels[rng.random((n, m)) < missing] = -1
    labels[:k] = np.arange(k)[:, None]
    return labels


def soft_members(seed, n=40, m=6, k=3):
    rng = np.random.default_rng(seed)
    sharp = rng.dirichlet(np.full(k, 0.3), size=n)
    return [
        (0.7 * sharp + 0.3 * rng.dirichlet(np.ones(k), size=n))[:, rng.permutation(k)]
        for _ in range(m)
    ]


def parts(ensemble):
    """Return members as dense blocks, the observed objects, and the weights."""
    B = ensemble.indicator.toarray()
    blocks = [B[:, a:b] for a, b in zip(ensemble.offsets, ensemble.offsets[1:], strict=False)]
    weights = np.ones(len(blocks)) if ensemble.weights is None else ensemble.weights
    return blocks, ensemble.present, weights


def votes_of(ensemble, votes):
    return [votes[a:b] for a, b in zip(ensemble.offsets, ensemble.offsets[1:], strict=False)]


KINDS = {
    "complete": lambda: Ensemble(random_labels(0)),
    "weights": lambda: Ensemble(random_labels(1), weights=[1, 2, 0, 0.5, 1, 3, 1, 1]),
    "missing": lambda: Ensemble(random_labels(2, missing=0.3)),
    "noise": lambda: Ensemble(random_labels(3, noise=0.2)),
    "both, weights": lambda: Ensemble(
        random_labels(4, missing=0.2, noise=0.2), weights=[1, 2, 0, 0.5, 1, 3, 1, 1]
    ),
    "more clusters": lambda: Ensemble(random_labels(5, k=6)),
    "soft": lambda: Ensemble.from_memberships(soft_members(6)),
}


def every_column(model):
    """Return the membership with its empty columns, which the last columns of the votes have."""
    M, votes = model.membership_, model.votes_
    return np.pad(M, ((0, 0), (0, votes.shape[1] - M.shape[1])))


# -- Voting


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("algorithm", ["least_squares", "one_pass"])
def test_voting_objective_is_the_squared_distance(kind, hard, algorithm):
    ensemble = KINDS[kind]()
    model = Voting(4, hard=hard, algorithm=algorithm, random_state=0).fit(ensemble)
    votes = votes_of(ensemble, model.votes_)
    M = every_column(model)
    recomputed = naive.squared_distance(*parts(ensemble), votes, M)
    assert model.objective_ == pytest.approx(recomputed, rel=1e-10)
    assert model.trace_[-1] == pytest.approx(recomputed, rel=1e-10)
    best = (naive.best_hard if hard else naive.best_soft)(*parts(ensemble), votes)
    if hard:  # either may win with equal votes
        least = naive.squared_distance(*parts(ensemble), votes, best)
        assert recomputed == pytest.approx(least, rel=1e-12)
        assert set(np.unique(M)) == {0.0, 1.0}
    else:
        np.testing.assert_allclose(M, best, atol=1e-12)
    for block in votes:
        assert block.sum() == min(block.shape)
        assert block.sum(axis=0).max() <= 1
        assert block.sum(axis=1).max() <= 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hard", [False, True])
def test_voting_descends_to_a_fixed_point(kind, hard):
    ensemble = KINDS[kind]()
    model = Voting(4, hard=hard, n_init=3, tol=0.0, random_state=1).fit(ensemble)
    assert (np.diff(model.trace_) <= 1e-9 * model.trace_[0]).all()
    assert model.converged_
    assert model.n_iter_ == len(model.trace_) - 1
    # No matching of one partition is closer to M.
    blocks, seen, weights = parts(ensemble)
    for u, (member, votes) in enumerate(zip(blocks, votes_of(ensemble, model.votes_), strict=True)):
        if weights[u] == 0 or min(votes.shape) > 4:
            continue

        def distance(V, u=u, member=member):
            return ((every_column(model) - member @ V) ** 2)[seen[:, u]].sum()

        least = min(distance(V) for V in naive.matchings(*votes.shape))
        assert distance(votes) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("hard", [False, True])
def test_voting_finds_the_best_of_all_matchings(hard):
    found = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 4))
        m = 5 if k == 3 else int(rng.integers(5, 9))
        labels = rng.integers(k, size=(7, m))
        labels[:k] = np.arange(k)[:, None]
        model = Voting(k, hard=hard, random_state=0).fit(labels)
        least = naive.best_of_all(labels, k, hard)
        assert model.objective_ >= least - 1e-9
        found += model.objective_ <= least + 1e-9
    assert found >= 24


def test_voting_by_one_pass_matches_the_textbook():
    labels = random_labels(7, n=30, m=5, k=3)
    rng = np.random.default_rng(0)
    for seed in range(4):
        model = Voting(3, algorithm="one_pass", random_state=seed).fit(labels)
        found = {
            tuple(np.sort(naive.one_pass(labels[:, rng.permutation(5)], 3).ravel()).round(9))
            for _ in range(30)
        }
        assert tuple(np.sort(model.membership_.ravel()).round(9)) in found


@pytest.mark.parametrize("hard", [False, True])
def test_voting_predicts_fitted_objects(hard):
    labels = random_labels(3, missing=0.1, noise=0.1)
    model = Voting(4, hard=hard, random_state=0).fit(labels)
    if hard:  # either may win with equal votes
        votes = Ensemble(labels).indicator @ model.votes_
        rows = np.sort(votes, axis=1)
        clear = rows[:, -1] > rows[:, -2]
        np.testing.assert_array_equal(model.predict(labels)[clear], model.labels_[clear])
    else:
        np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-12)
        np.testing.assert_array_equal(model.predict(labels), model.labels_)
    nowhere = np.full((1, labels.shape[1]), -1)
    np.testing.assert_array_equal(model.predict(nowhere), [-1])


# -- cumulative voting

SCHEMES = ("urcv", "rcv", "acv", "bvote", "lwcv")


def entropies(ensemble):
    """Return the entropy of each partition, noise being clusters of one."""
    blocks, seen, _ = parts(ensemble)
    found = []
    for u, block in enumerate(blocks):
        sizes = [s for s in block.sum(axis=0) if s > 0]
        sizes += [1.0] * int((block[seen[:, u]].sum(axis=1) == 0).sum())
        p = np.array(sizes) / seen[:, u].sum()
        found.append(-(p * np.log(p)).sum())
    return np.round(found, 12)


@pytest.mark.parametrize("scheme", ["urcv", "rcv", "acv"])
@pytest.mark.parametrize("kind", KINDS)
def test_cumulative_voting_matches_the_textbook(kind, scheme):
    ensemble = KINDS[kind]().most_probable()
    model = CumulativeVoting(2, scheme=scheme).fit(ensemble)
    blocks, seen, weights = parts(ensemble)
    order = sorted(range(len(blocks)), key=lambda u: (weights[u] == 0, -entropies(ensemble)[u]))
    assert model.reference_ == order[0]
    U = naive.cumulative(
        [blocks[u] for u in order],
        seen[:, order],
        weights[order],
        blocks[order[0]].shape[1],
        scheme,
    )
    np.testing.assert_allclose(model.reference_membership_, U, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_voting_twice_by_certainty_matches_its_definition(kind):
    ensemble = KINDS[kind]().most_probable()
    model = CumulativeVoting(2, scheme="lwcv", theta=0.7).fit(ensemble)
    blocks, _, weights = parts(ensemble)
    order = sorted(range(len(blocks)), key=lambda u: (weights[u] == 0, -entropies(ensemble)[u]))
    certainty = votes_of(ensemble, cluster_certainty(ensemble, 0.7))
    U = naive.locally_weighted(
        [blocks[u] for u in order],
        weights[order],
        blocks[order[0]].shape[1],
        [certainty[u] for u in order],
    )
    voted = U.sum(axis=1) > 0
    assert voted.mean() > 0.9
    np.testing.assert_allclose(model.reference_membership_[voted], U[voted], atol=1e-10)


def test_the_reference_of_certain_votes_is_not_too_fine():
    rng = np.random.default_rng(0)
    fine, coarse = rng.integers(40, size=200), rng.integers(5, size=200)
    labels = np.column_stack([coarse, fine])
    assert CumulativeVoting(2).fit(labels).reference_ == 1
    assert CumulativeVoting(2, scheme="lwcv").fit(labels).reference_ == 0
    assert CumulativeVoting(2, scheme="lwcv").fit(labels[:, 1:]).reference_ == 0


def test_bvote_averages_matched_partitions():
    # Partitions with one number of clusters and different entropies: the one-pass vote in that order.
    labels = random_labels(9, n=50, m=5, k=3)
    model = CumulativeVoting(3, scheme="bvote").fit(labels)
    order = np.argsort(-entropies(Ensemble(labels)), kind="stable")
    expected = naive.one_pass(labels[:, order], 3)
    np.testing.assert_allclose(
        np.sort(model.reference_membership_, axis=1), np.sort(expected, axis=1), atol=1e-12
    )


def test_the_reference_has_enough_clusters_if_any_partition_does():
    even = np.tile([0, 1], 20)
    uneven = np.where(np.arange(40) < 36, 0, np.arange(40) - 35)  # five clusters, lower entropy
    assert CumulativeVoting(3).fit(np.column_stack([even, uneven])).reference_ == 1
    assert CumulativeVoting(2).fit(np.column_stack([even, uneven])).reference_ == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_bottleneck_loses_least_information(seed):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(6, 0.5), size=12)
    counts = rng.integers(1, 4, size=12).astype(float)
    for k in (1, 2, 4, 6, 7):
        merged = information_bottleneck(rows, counts, k)
        groups = naive.information_merges(rows * (counts / counts.sum())[:, None], k)
        found = sorted(sorted(np.flatnonzero(merged == g).tolist()) for g in np.unique(merged))
        assert found == sorted(sorted(group) for group in groups)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_cumulative_voting_predicts_fitted_objects(scheme):
    labels = random_labels(3, missing=0.1)
    model = CumulativeVoting(3, scheme=scheme).fit(labels)
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-12)
    assert model.predict(np.full((1, labels.shape[1]), -1)) == [-1]


# -- positional voting


def plurality(ensemble, votes):
    weights = np.ones(ensemble.n_partitions) if ensemble.weights is None else ensemble.weights
    per_cluster = np.repeat(weights, ensemble.cluster_counts)
    return ensemble.indicator @ (per_cluster[:, None] * votes)


@pytest.mark.parametrize("count", ["borda", "condorcet"])
@pytest.mark.parametrize("kind", KINDS)
def test_positional_counts_match_the_ballots(count, kind):
    ensemble = KINDS[kind]()
    model = PositionalVoting(4, count=count, random_state=0).fit(ensemble)
    blocks, seen, weights = parts(ensemble)
    aligned = [
        block @ votes for block, votes in zip(blocks, votes_of(ensemble, model.votes_), strict=True)
    ]
    expected = naive.positional(aligned, seen, weights, count)
    np.testing.assert_allclose(every_column(model), expected, atol=1e-12)


def test_positional_voting_predicts_fitted_objects():
    labels = random_labels(3, missing=0.1, noise=0.1)
    for count in ("borda", "condorcet"):
        model = PositionalVoting(4, count=count, random_state=0).fit(labels)
        np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-12)


# -- weights, ties and starts


def test_objects_missing_in_the_reference_have_no_cluster_in_it():
    labels = np.array([[0, 0], [1, 1], [-1, 1], [-1, 2]])
    count = Count(Ensemble(labels), 2)
    count.add(0, np.eye(2))
    shared, observed, sizes = count.shared(1)
    np.testing.assert_array_equal(shared, [[1, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(observed, [1, 1, 0])
    np.testing.assert_array_equal(sizes, [1, 1])


@pytest.mark.parametrize("scheme", ["acv", "urcv", "bvote"])
def test_clusters_of_objects_missing_in_the_reference_do_not_vote(scheme):
    reference = [0, 0, 1, 1, 2, 2, 3, 3, -1, -1]  # of the largest entropy
    second = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
    third = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0]
    labels = np.column_stack([reference, second, third])
    model = CumulativeVoting(4, scheme=scheme).fit(labels)
    assert model.reference_ == 0
    found = model.reference_membership_
    # Only the third partition puts the last two together with others.
    np.testing.assert_allclose(found[8:].sum(axis=1), 1.0)
    np.testing.assert_allclose(found[8:, 2:], 0.0, atol=1e-12)


def test_a_hard_vote_of_many_objects_starts_at_the_best_soft_one():
    labels = random_labels(7, n=5200, m=5, flip=0.5)
    hard = Voting(4, hard=True, n_init=1, random_state=0).fit(labels)
    assert hard.n_clusters_ == 4
    many = Voting(4, hard=True, n_init=8, random_state=0).fit(labels)
    soft = Voting(4, n_init=8, random_state=0).fit(labels)
    # The first value of the descent is that of the winners of the best soft solution.
    blocks, seen, weights = parts(Ensemble(labels))
    winners = np.eye(4)[plurality(Ensemble(labels), soft.votes_).argmax(axis=1)]
    value = naive.squared_distance(
        blocks, seen, weights, votes_of(Ensemble(labels), soft.votes_), winners
    )
    assert many.trace_[0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("count", ["borda", "condorcet"])
def test_tied_clusters_on_a_ballot_share_their_ranks(count):
    rng = np.random.default_rng(3)
    # Memberships in quarters give many ties.
    members = []
    for _ in range(5):
        quarters = rng.multinomial(4, [0.4, 0.3, 0.3], size=30) / 4.0
        quarters[:3] = np.eye(3)
        members.append(quarters)
    ensemble = Ensemble.from_memberships(members, weights=[1, 2, 1, 0.5, 1])
    model = PositionalVoting(3, count=count, random_state=0).fit(ensemble)
    blocks, seen, weights = parts(ensemble)
    aligned = [
        block @ votes for block, votes in zip(blocks, votes_of(ensemble, model.votes_), strict=True)
    ]
    assert any((np.diff(np.sort(one, axis=1), axis=1) == 0).any() for one in aligned)
    expected = naive.positional(aligned, seen, weights, count)
    np.testing.assert_allclose(every_column(model), expected, atol=1e-12)
