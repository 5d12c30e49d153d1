"""Credible balls, core partitions and modes against their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.naive import losses as naive
from tests.naive.optima import ALL, CLUSTERS

from conclust import BayesEstimate, Ensemble, metrics
from conclust.confidence import core_partition, credible_ball, modes
from conclust.confidence.posterior.modes import _step
from conclust.exceptions import InputError, ParameterError, UnsupportedEnsembleError
from conclust.measures.losses import LOSSES

EVERYTHING = Ensemble(ALL.T)


def rows_of(labels):
    return {tuple(row) for row in np.asarray(labels).tolist()}


@pytest.mark.parametrize("distance", LOSSES)
def test_a_ball_of_seven_objects_matches_enumeration(distance):
    rng = np.random.default_rng(LOSSES.index(distance))
    for level in (0.1, 0.5, 0.95, 1.0):
        weights = rng.integers(0, 5, len(ALL)).astype(float)
        centre = ALL[rng.integers(len(ALL))]
        ball = credible_ball(
            Ensemble(EVERYTHING, weights=weights), centre, distance=distance, level=level
        )
        d = np.array([naive.loss(centre, partition, distance) for partition in ALL])
        # The smallest distance whose ball has the required probability.
        there = weights > 0
        radius = min(
            e for e in d[there] if weights[d <= e + 1e-9].sum() >= level * weights.sum() - 1e-9
        )
        inside = there & (d <= radius + 1e-9)
        assert ball.radius == pytest.approx(radius, abs=1e-9)
        assert ball.distances == pytest.approx(d, abs=1e-9)
        assert np.array_equal(ball.inside, inside)
        assert ball.probability == pytest.approx(weights[inside].sum() / weights.sum())
        for bound, some in (
            (ball.horizontal, inside),
            (ball.upper_vertical, inside & (CLUSTERS[inside].min() == CLUSTERS)),
            (ball.lower_vertical, inside & (CLUSTERS[inside].max() == CLUSTERS)),
        ):
            farthest = d[some].max()
            assert bound.distance == pytest.approx(farthest, abs=1e-9)
            assert rows_of(bound.labels) == rows_of(ALL[some & (d >= farthest - 1e-9)])
            assert np.array_equal(bound.n_clusters, CLUSTERS[bound.draws])


def test_draws_with_missing_objects_and_noise_have_a_ball():
    draws = np.array([[0, 0, 1, -1], [0, 0, -2, -2], [-1, -1, -1, 0], [0, 0, 1, -1]])
    estimate = [0, 0, 1, -1]
    ball = credible_ball(Ensemble.from_draws(draws), estimate, level=1.0)
    assert ball.distances[:2].tolist() == [0.0, 0.0]
    assert np.isnan(ball.distances[2])
    assert ball.inside.tolist() == [True, True, False, True]
    assert ball.probability == 1.0
    assert ball.upper_vertical.n_clusters.tolist() == [2]
    assert ball.lower_vertical.n_clusters.tolist() == [3]


def test_a_ball_refuses_invalid_arguments():
    with pytest.raises(ParameterError, match="'level' parameter of credible_ball"):
        credible_ball(EVERYTHING, ALL[0], level=0.0)
    with pytest.raises(ParameterError, match="'distance' parameter"):
        credible_ball(EVERYTHING, ALL[0], distance="rand")
    with pytest.raises(InputError, match="the same objects"):
        credible_ball(EVERYTHING, [0, 1])
    with pytest.raises(InputError, match="No draw"):
        credible_ball(Ensemble([[0], [0], [-1]]), [-1, -1, 0])
    with pytest.raises(UnsupportedEnsembleError):
        credible_ball(Ensemble.from_memberships([[[0.5, 0.5], [1, 0]]]), [0, 0])


def agreement(draws, objects):
    """The modal clustering of some objects in the draws, and its share."""
    patterns: dict[tuple[int, ...], int] = {}
    for draw in draws.T:
        names: dict[int, int] = {}
        pattern = tuple(names.setdefault(draw[i], len(names)) for i in objects)
        patterns[pattern] = patterns.get(pattern, 0) + 1
    return max(patterns.values()) / draws.shape[1]


def largest_core(draws, threshold):
    n = len(draws)
    for size in range(n, 0, -1):
        best = max(agreement(draws, objects) for objects in combinations(range(n), size))
        if best >= threshold - 1e-9:
            return size, best
    raise AssertionError


def test_cores_of_seven_objects_match_enumeration():
    rng, actual, asked = np.random.default_rng(0), 0, 0
    for _ in range(40):
        truth = rng.integers(0, 3, 7)
        draws = np.where(rng.random((7, 25)) < 0.15, rng.integers(0, 3, (7, 25)), truth[:, None])
        core = core_partition(Ensemble(draws))
        for threshold in (0.3, 0.5, 0.8, 1.0):
            here = core.at(threshold)
            size, _ = largest_core(draws, threshold)
            objects = np.flatnonzero(here.labels >= 0)
            assert here.n_objects == len(objects) <= size
            assert here.probability >= threshold - 1e-9
            share = np.mean(
                [
                    all(
                        (draw[i] == draw[j]) == (here.labels[i] == here.labels[j])
                        for i, j in combinations(objects, 2)
                    )
                    for draw in draws.T
                ]
            )
            assert here.probability == pytest.approx(share)
            actual, asked = actual + (here.n_objects == size), asked + 1
    assert actual >= 0.95 * asked


def test_the_curve_falls_and_ends_where_all_objects_agree():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 40)
    draws = np.where(rng.random((120, 50)) < 0.02, 3, truth[:, None])
    weights = rng.integers(0, 3, 50).astype(float)
    core = core_partition(Ensemble(draws, weights=weights), 0.5, random_state=0)
    repeated = core_partition(np.repeat(draws, weights.astype(int), axis=1), 0.5, random_state=0)
    assert core.n_objects == repeated.n_objects
    assert core.probability == pytest.approx(repeated.probability)
    assert (np.diff(core.sizes) > 0).all()
    assert (np.diff(core.probabilities) < 0).all()
    assert core.sizes[-1] == 120
    assert core.at(1.0).probability == 1.0
    kept = core.labels >= 0
    assert len(np.unique(truth[kept])) == len(np.unique(core.labels[kept])) == 3


def test_draws_with_missing_objects_and_noise_have_a_core():
    # Partitions that did not observe an object carry no information about it: the two halves agree otherwise.
    draws = np.array([[0, 0, 1, -1], [0, 0, -1, 1], [0, 0, 1, 1]]).T
    core = core_partition(draws, 1.0)
    assert core.labels.tolist() == [0, 0, 1, 1]
    assert core.probability == 1.0
    noise = core_partition(np.array([[0, 0, -2, -2], [0, 0, 1, 2]]).T, 1.0)
    assert noise.labels.tolist() == [0, 0, 1, 2]
    apart = core_partition(np.array([[0, 0, -2, -2], [0, 0, 1, 1]]).T, 0.6)
    assert apart.n_objects == 3
    with pytest.raises(ParameterError, match="'threshold' parameter of core_partition"):
        core_partition(draws, 0.0)


def two_modes(seed, shares, n=200, m=60, flip=0.2):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, n)
    second = np.where(rng.random(n) < 0.35, rng.integers(0, 4, n), first)
    which = rng.random(m) < shares
    draws = np.where(which, first[:, None], second[:, None])
    flipped = rng.random(draws.shape) < flip
    draws[flipped] = rng.integers(0, 4, flipped.sum())
    return draws, which


def test_two_modes_are_found_and_one_is_not_split():
    for seed in range(3):
        draws, which = two_modes(seed, 0.6)
        actual = modes(draws, max_modes=3, random_state=seed, n_jobs=1)
        assert actual.n_modes == 2
        agree = (actual.assignments == 1) == which
        assert max(agree.mean(), 1 - agree.mean()) > 0.97
        assert actual.shares.tolist() == sorted(actual.shares, reverse=True)
        assert "in two ways" in actual.sentence
        assert (np.diff(actual.mean_distances) <= 0).all()
        one, _ = two_modes(seed, 1.1)
        same = modes(one, max_modes=3, random_state=seed, n_jobs=1)
        assert same.n_modes == 1
        assert same.sentence == "The clusterings vary around one answer."


def test_modes_are_estimates_of_their_partitions():
    draws, _ = two_modes(0, 0.5, flip=0.05)
    actual = modes(draws, 2, random_state=0)
    assert len(actual.p_values) == 0
    for mode, labels in enumerate(actual.labels):
        some = draws[:, actual.assignments == mode]
        best = BayesEstimate(random_state=0).fit(some)
        mean = np.mean([naive.loss(labels, draw, "vi") for draw in some.T])
        assert mean == pytest.approx(best.expected_loss_, abs=1e-3)
        assert actual.distances[actual.assignments == mode].mean() == pytest.approx(mean)
    repeated = modes(draws, 2, random_state=0, n_jobs=2)
    assert np.array_equal(actual.labels, repeated.labels)
    assert np.array_equal(actual.mean_distances, repeated.mean_distances)


def test_modes_of_memberships_equal_modes_of_their_most_probable_clusters():
    draws, _ = two_modes(1, 0.5, n=60, m=24, flip=0.1)
    soft = Ensemble.from_memberships(
        [0.7 * np.eye(draws.max() + 1)[d] + 0.3 / (draws.max() + 1) for d in draws.T]
    )
    actual, expected = modes(soft, random_state=0, n_jobs=1), modes(draws, random_state=0, n_jobs=1)
    np.testing.assert_array_equal(actual.assignments, expected.assignments)
    np.testing.assert_array_equal(actual.labels, expected.labels)


def test_few_partitions_with_missing_objects_have_modes():
    draws, _ = two_modes(3, 0.5, m=10)
    draws[np.random.default_rng(0).random(draws.shape) < 0.2] = -1
    assert modes(draws, random_state=0).n_modes == 1
    three = modes(draws, 3, random_state=0)
    assert three.shares.sum() == pytest.approx(1.0)
    with pytest.raises(ParameterError, match="'n_modes' parameter of modes"):
        modes(draws, 11)
    with pytest.raises(ParameterError, match="'alpha' parameter of modes"):
        modes(draws, alpha=1.0)


def few_uncertain_objects(seed, n_uncertain, n_joint=0, n=60, m=200):
    """Return draws of three sure clusters: some objects change theirs independently, some all together."""
    rng = np.random.default_rng(seed)
    draws = np.tile(np.repeat([0, 1, 2], n // 3), (m, 1))
    for i in range(n_uncertain):
        draws[rng.random(m) < 0.5, i] = 1
    draws[rng.random(m) < 0.4, n - n_joint :] = 1
    return Ensemble.from_draws(draws)


@pytest.mark.parametrize("n_uncertain", [1, 2, 5])
def test_single_uncertain_objects_are_not_modes(n_uncertain):
    for seed in range(3):
        actual = modes(few_uncertain_objects(seed, n_uncertain), random_state=seed, n_jobs=1)
        assert actual.n_modes == 1, (seed, actual.p_values)


def test_objects_that_change_their_cluster_together_are_a_mode():
    for n_joint in (3, 20):
        actual = modes(few_uncertain_objects(0, 2, n_joint), random_state=0, n_jobs=1)
        assert actual.n_modes == 2
        assert actual.shares == pytest.approx([0.6, 0.4], abs=0.1)


def test_a_step_between_partitions_is_the_move_of_one_object():
    for n in (5, 8, 9):
        two = np.arange(n) < (n + 1) // 2
        moves = [
            metrics.variation_of_information(two, np.where(np.arange(n) == i, ~two, two))
            for i in range(n)
        ]
        largest = max(moves)
        assert largest <= _step(n) + 1e-12
        assert n % 2 == 0 or largest == pytest.approx(_step(n))


def test_partitions_of_little_weight_are_no_mode():
    draws, which = two_modes(0, 0.5, flip=0.05)
    for light in (0.0, 1e-4):
        weighted = Ensemble(draws, weights=np.where(which == 0, 1.0, light))
        actual = modes(weighted, random_state=0)
        assert actual.n_modes == 1
        assert actual.shares == pytest.approx([1.0])
        alone = BayesEstimate(random_state=0).fit(draws[:, which == 0])
        assert metrics.adjusted_rand_index(actual.labels[0], alone.labels_) == 1.0


def test_weights_are_shares_of_the_modes():
    draws, which = two_modes(0, 0.5, m=150, flip=0.05)
    actual = modes(Ensemble(draws, weights=np.where(which == 0, 2.0, 1.0)), random_state=0)
    heavy = 2 * np.mean(which == 0) / (np.mean(which == 0) + 1)
    assert actual.shares == pytest.approx([heavy, 1 - heavy])


def test_few_equal_partitions_are_modes_and_different_ones_are_too_few_for_a_test():
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 4, (3, 200))
    renamed = np.array([2, 3, 0, 1])[a]
    two = modes(np.column_stack([a] * 5 + [renamed] * 2 + [b]), random_state=0)
    assert two.assignments.tolist() == [0] * 7 + [1]
    assert "two ways" in two.sentence
    assert "8 are too few for a test" in two.sentence
    assert not two.p_values.size
    three = modes(np.column_stack([a, b, b, c, c, b, a, b]), random_state=0)
    assert three.shares.tolist() == [0.5, 0.25, 0.25]
    noisy = np.column_stack([np.where(rng.random(200) < 0.1, 0, a) for _ in range(8)])
    assert modes(noisy, random_state=0).n_modes == 1
    assert "8 are too few for a test" in modes(noisy, random_state=0).sentence
    assert (
        modes(np.column_stack([a] * 4), random_state=0).sentence == "The 4 clusterings are equal."
    )
