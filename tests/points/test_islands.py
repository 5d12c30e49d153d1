"""Cuts of a tree that keep islands separate: against brute force, and on uneven blobs."""

from itertools import combinations

import numpy as np
import pytest
from experiments.default.answer_sets import uneven as uneven_sets

from conclust import AutoConsensus, ConsensusClustering
from conclust.metrics import adjusted_rand_index
from conclust.points.evidence import ISLAND_EVIDENCE, Borders, cuts_with_islands


def random_borders(rng):
    """Pieces of random sizes, on three to five islands."""
    islands = np.sort(np.concatenate([np.arange(4), rng.integers(0, 4, 6)]))
    sizes = rng.integers(5, 80, len(islands))
    pairs = [(p, q) for p, q in combinations(range(len(islands)), 2) if islands[p] == islands[q]]
    pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    peak = rng.uniform(3, 30, len(pairs))
    pieces = np.repeat(np.arange(len(islands)), sizes)
    return Borders(pieces, pairs, peak * rng.uniform(0.4, 1.2, len(pairs)), peak), islands


def random_cuts(rng, borders):
    """A hierarchy of clusters of the pieces by random merges."""
    groups = np.arange(borders.n_pieces)
    cuts = {}
    while True:
        _, numbers = np.unique(groups, return_inverse=True)
        cuts[int(numbers.max()) + 1] = numbers.reshape(-1)[borders.pieces].astype(np.int64)
        left = np.unique(groups)
        if len(left) == 1:
            return dict(sorted(cuts.items()))
        a, b = rng.choice(left, 2, replace=False)
        groups[groups == b] = a


def naive_choice(borders, islands, cuts, K):
    """Take out every set of joined islands of every coarser cut; return the largest evidence."""
    best = borders.evidence(cuts[K])
    plain = best
    for fewer, labels in cuts.items():
        parts = {
            (c, i): (labels == c) & (islands[borders.pieces] == i)
            for c in np.unique(labels)
            for i in np.unique(islands[borders.pieces[labels == c]])
        }
        for taken in combinations(parts, max(K - fewer, 0)):
            new = labels.copy()
            for number, key in enumerate(taken):
                new[parts[key]] = labels.max() + 1 + number
            if fewer < K and len(np.unique(new)) == K:
                evidence = borders.evidence(new)
                if evidence > plain + ISLAND_EVIDENCE:
                    best = max(best, evidence)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_the_choice_matches_brute_force(seed):
    rng = np.random.default_rng([seed, 5])
    borders, islands = random_borders(rng)
    cuts = random_cuts(rng, borders)
    chosen = cuts_with_islands(borders, cuts)
    for K, (labels, evidence) in chosen.items():
        assert len(np.unique(labels)) == K
        assert evidence == pytest.approx(borders.evidence(labels), abs=1e-9)
        if K <= 6:
            assert evidence == pytest.approx(naive_choice(borders, islands, cuts, K), abs=1e-9)


def test_islands_change_some_of_the_choices():
    changed = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 5])
        borders, _ = random_borders(rng)
        cuts = random_cuts(rng, borders)
        chosen = cuts_with_islands(borders, cuts)
        changed += any(chosen[K][0] is not cuts[K] for K in cuts)
    assert changed > 0


def test_a_single_island_keeps_the_cuts():
    borders = Borders(
        np.repeat(np.arange(3), 20),
        np.array([[0, 1], [1, 2]]),
        np.array([2.0, 9.0]),
        np.array([10.0, 10.0]),
    )
    cuts = {1: np.zeros(60, np.int64), 2: (borders.pieces > 0).astype(np.int64)}
    chosen = cuts_with_islands(borders, cuts)
    assert all(chosen[K][0] is cuts[K] for K in cuts)


def test_pieces_across_an_empty_valley_are_islands():
    pieces = np.repeat(np.arange(3), [200, 25, 25])
    pairs = np.array([[0, 1], [1, 2]])
    peak = np.array([9.0, 9.0])
    assert Borders(pieces, pairs, np.array([6.0, 0.0]), peak).n_islands == 2
    assert Borders(pieces, pairs, np.array([6.0, 5.0]), peak).n_islands == 1
    # Too few points to call a valley empty.
    assert Borders(pieces, pairs, np.array([6.0, 0.0]), np.array([9.0, 2.0])).n_islands == 1


@pytest.mark.parametrize("number", [6, None])
def test_small_clusters_that_touch_are_kept_apart(number):
    # Ties join two small clusters that are 8.5 standard deviations apart; the large one was cut in three (ARI .17).
    sets = {points.name: points for points in uneven_sets(0)}
    points = sets["1 : 40, d = 2, 0.3"]
    model = ConsensusClustering(n_clusters=number, random_state=0).fit(points.X)
    assert adjusted_rand_index(points.y, model.labels_) > 0.99
    assert model.n_clusters_ == 6


@pytest.fixture(scope="module")
def uneven():
    """One cluster of 1,000 points and five of 25, well apart in the plane."""
    rng = np.random.default_rng(17)
    centers = np.array([[0, 0], [12, 3], [10, -9], [-11, 8], [-9, -11], [2, 14.0]])
    y = np.repeat(np.arange(6), [1_000, 25, 25, 25, 25, 25])
    return centers[y] + rng.normal(size=(len(y), 2)), y


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("number", [6, None])
def test_small_islands_are_kept_while_a_large_one_is_split(uneven, number, seed):
    X, y = uneven
    model = ConsensusClustering(n_clusters=number, random_state=seed).fit(X)
    assert model.n_clusters_ == 6
    assert adjusted_rand_index(y, model.labels_) > 0.99
    assert np.array_equal(model.predict(X), model.labels_)


def test_votes_of_a_fit_place_its_objects(uneven):
    X, _ = uneven
    model = ConsensusClustering(n_clusters=6, random_state=0).fit(X)
    consensus = model.consensus_
    again = AutoConsensus()
    again.fit_votes(model.ensemble_, consensus.votes)
    assert np.array_equal(again.labels_, consensus.labels_)
    np.testing.assert_allclose(again.membership_, consensus.membership_, atol=1e-12)
