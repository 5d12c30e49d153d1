"""Evidence at the borders between pieces, against loops over pieces and borders."""

from math import log

import numpy as np
import pytest

from conclust._arrays.points import spread_rounded_columns
from conclust.neighbours import neighbour_graph
from conclust.points.evidence import Borders, find_borders


def borders(seed, n_pieces=9, n_borders=14):
    rng = np.random.default_rng(seed)
    pieces = np.concatenate([np.arange(n_pieces), rng.integers(n_pieces, size=80)])
    every = [(p, q) for p in range(n_pieces) for q in range(p + 1, n_pieces)]
    pairs = np.array([every[i] for i in np.sort(rng.permutation(len(every))[:n_borders])])
    peak = rng.integers(0, 30, n_borders).astype(float)
    return Borders(pieces, pairs, np.round(peak * rng.uniform(0, 1.2, n_borders), 3), peak)


def islands_of(found):
    island = {p: {p} for p in range(found.n_pieces)}
    for (p, q), n2, m in zip(found.pairs, found.valley, found.peak, strict=True):
        if (n2 + 3) / (m + 3) < 0.4:
            continue
        joined = island[p] | island[q]
        for piece in joined:
            island[piece] = joined
    return island


def naive_evidence(found, labels):
    home = [np.bincount(labels[found.pieces == p]).argmax() for p in range(found.n_pieces)]
    total = 0.0
    for (p, q), n2, m in zip(found.pairs, found.valley, found.peak, strict=True):
        if home[p] != home[q]:
            total += n2 * log(0.4 / 1.4 / 0.5) + m * log(1 / 1.4 / 0.5)
    island = islands_of(found)
    for cluster in set(home):
        inside = [p for p in range(found.n_pieces) if home[p] == cluster]
        masses = {}
        for p in inside:
            key = min(island[p])
            masses[key] = masses.get(key, 0) + np.count_nonzero(found.pieces == p)
        total -= sum(sorted(masses.values())[:-1]) / 2 * log(2 / 1.4)
    return total


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_borders", [1, 5, 20])
def test_the_evidence_sums_borders_and_joined_islands(seed, n_borders):
    actual = borders(seed, n_borders=n_borders)
    rng = np.random.default_rng(seed + 100)
    home = rng.integers(4, size=actual.n_pieces)
    labels = home[actual.pieces]
    moved = rng.permutation(len(labels))[:5]
    labels[moved] = rng.integers(4, size=5)
    assert actual.evidence(labels) == pytest.approx(naive_evidence(actual, labels), abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_merging_stops_where_every_pooled_valley_is_deep(seed):
    actual = borders(seed)
    groups = actual.merged(0.5)
    for a in set(groups):
        for b in set(groups) - {a}:
            between = [
                i for i, (p, q) in enumerate(actual.pairs) if {groups[p], groups[q]} == {a, b}
            ]
            if between:
                ratio = (actual.valley[between].sum() + 3) / (actual.peak[between].sum() + 3)
                assert ratio < 0.5
    # Pieces are merged only along borders.
    island = islands_of(actual)
    assert all(q in island[p] for p in range(9) for q in range(9) if groups[p] == groups[q])


def test_borders_are_pairs_of_connected_pieces():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.uniform(size=(300, 2)), rng.uniform(50, 51, size=(100, 2))])
    pieces = np.concatenate([np.minimum((3 * X[:300, 0]).astype(int), 2), np.full(100, 3)])
    actual = find_borders(X, pieces, neighbour_graph(X, 10), 0)
    assert actual.pairs.tolist() == [[0, 1], [1, 2]]
    assert (actual.ratios > 0.5).all()
    repeated = find_borders(X, pieces, neighbour_graph(X, 10), 0, n_jobs=3)
    assert np.array_equal(actual.valley, repeated.valley)
    assert np.array_equal(actual.peak, repeated.peak)


def test_rounded_columns_are_spread_over_their_grid():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(1, 11, 400) / 2, rng.normal(size=400), np.ones(400)])
    spread = spread_rounded_columns(X, np.random.default_rng(1))
    assert np.array_equal(np.round(spread[:, 0] * 2) / 2, X[:, 0])
    assert len(np.unique(spread[:, 0])) == 400
    assert np.array_equal(spread[:, 1:], X[:, 1:])
    assert spread_rounded_columns(X[:, 1:], rng) is not None
    plain = X[:, 1:]
    assert spread_rounded_columns(plain, rng) is plain


@pytest.mark.parametrize("seed", range(6))
def test_evidence_of_one_depth_is_the_mean_likelihood_ratio(seed):
    actual = borders(seed)
    ratios = []
    for depth in (0.4, 0.55, 0.7, 0.85):
        ratio = 1.0
        for valley, peak in zip(actual.valley, actual.peak, strict=True):
            # A point is in the valley with the probability 1/2 without a valley.
            ratio *= (2 * depth / (1 + depth)) ** valley * (2 / (1 + depth)) ** peak
        ratios.append(ratio)
    assert actual.evidence_of_one_depth() == pytest.approx(log(np.mean(ratios)), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_borders_within_clusters_are_those_between_their_pieces(seed):
    actual = borders(seed)
    rng = np.random.default_rng(seed)
    cluster_of_piece = rng.integers(0, 3, actual.n_pieces)
    within = actual.within(cluster_of_piece[actual.pieces])
    expected = [
        (*pair, valley, peak)
        for pair, valley, peak in zip(
            actual.pairs.tolist(), actual.valley, actual.peak, strict=True
        )
        if cluster_of_piece[pair[0]] == cluster_of_piece[pair[1]]
    ]
    found = zip(*within.pairs.T.tolist(), within.valley, within.peak, strict=True)
    assert list(found) == expected
    assert within.n_pieces == actual.n_pieces
