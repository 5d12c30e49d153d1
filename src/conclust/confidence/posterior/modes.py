"""Modes of an ensemble: whether the clusterings disagree in more than one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._progress import stage, tracked
from conclust._random import RandomStateLike, seed_sequence, spawn_generators, spawn_sequences
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_int, check_real, count
from conclust.confidence.borders.dips import dip_p_value, dips_of_rows
from conclust.consensus.median import BayesEstimate
from conclust.ensemble import Ensemble, as_ensemble
from conclust.measures.losses import Loss, PartitionRows, all_losses, loss_values
from conclust.words import confidence as words

# Maximum number of partitions compared pairwise; if there are more, evenly spaced ones are used.
_COMPARED = 400
# Minimum number of partitions of a group that is split: two thirds of them must show two modes.
_SMALLEST = 12
# In a report: maximum numbers of objects of the test and of the estimates, maximum number of modes, level of the test.
_TESTED, _ESTIMATED = 1_000, 5_000
_MAX_MODES, _ALPHA = 3, 0.01
# Minimum number of partitions in the smaller part of a split.
_LEAST = 3
# Number of random thirds of a group, and of starts of two groups in each.
_DIVISIONS, _STARTS = 20, 8
# Variation of information, in bits, below which partitions are equal: rounding.
_EQUAL = 1e-9
# Number of rounds in which partitions move to the nearest centre.
_ROUNDS = 20


@dataclass(frozen=True)
class Modes:
    """Several estimates of an ensemble, each with the partitions that are nearest to it.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_modes, n_samples)
        Estimates, by decreasing share; -1: missing in every partition of the mode.
    shares : ndarray of shape (n_modes,)
        Share of the partitions of each mode, by weight.
    assignments : ndarray of int64 of shape (n_partitions,)
        The mode of each partition.
    distances : ndarray of shape (n_partitions,)
        Variation of information between each partition and the estimate of its mode, in bits.
    p_values : ndarray of shape (n_tests,)
        P-values of one mode against two, first for all partitions, then for each group tested; empty if the number
        of modes was given, or if there are fewer than 12 partitions.
    mean_distances : ndarray of shape (max_modes,)
        W_VI: the mean distance of the partitions to the nearest of 1, 2, ... estimates, by weight; it falls, and
        an elbow is the number where it begins to fall slowly.
    """

    labels: Ints
    shares: Floats
    assignments: Ints
    distances: Floats
    p_values: Floats
    mean_distances: Floats

    def __repr__(self) -> str:
        shares = ", ".join(f"{100 * share:.0f} %" for share in self.shares)
        return f"Modes({self.n_modes} of {count(len(self.assignments), 'partition')}: {shares})"

    @property
    def n_modes(self) -> int:
        """Number of modes."""
        return len(self.shares)

    @property
    def sentence(self) -> str:
        """Summary in a sentence: "The clusterings disagree in two ways, 61 % and 39 %."; for a few, that they are too few."""
        return words.of_modes(self, _SMALLEST)


def modes(
    ensemble: Ensemble | ArrayLike,
    n_modes: int | None = None,
    *,
    max_modes: int = 5,
    alpha: float = 0.05,
    max_samples: int = 1000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> Modes:
    """Find the ways in which the partitions of an ensemble disagree: several estimates, each with its share of the partitions.

    A posterior, or an ensemble, may contain two answers that contradict each other; a single estimate is then an average that
    no draw resembles. Here each partition is assigned to the nearest of several estimates, each of which is the
    :class:`conclust.BayesEstimate` of its partitions, with the variation of information as the loss, or with Binder's loss if
    partitions are so noisy that these estimates coincide for different groups.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        Partitions, one object per row (for draws in rows see ``Ensemble.from_draws``). Each counts by its weight; a soft
        one is its most probable clusters.
    n_modes : int, default=None
        Number of modes. None: groups of partitions are split while the test below rejects one mode.
    max_modes : int, default=5
        Maximum number of modes, and the length of ``mean_distances``.
    alpha : float, default=0.05
        A group is split if the p-value of one mode is below it.
    max_samples : int, default=1000
        Maximum number of objects on which partitions are compared; if there are more, this number is drawn. The
        estimates cover all objects.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws thirds of the partitions, starts and objects.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    Modes
        The estimates, their shares and the p-values.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    The test finds two groups in a random third of the partitions, places each of the other partitions between them, by the
    difference of its mean distances to the two, and applies the dip test to these positions. The p-value is the mean over 20
    such divisions. Partitions that scatter around one estimate have one mode there, however far they scatter. Partitions are
    discrete, and those that differ in one object are neighbours: uniform noise with the width of this difference is added to
    the positions, so that single uncertain objects do not form modes. A group of fewer than three is not split off.

    Fewer than 12 partitions are too few for this test. If at most half of them, and at most `max_modes`, are distinct, each
    distinct partition is a mode; otherwise there is one mode, and the sentence says that there are too few.

    With unequal weights, the test compares partitions drawn in proportion to their weights, as many as the effective
    sample size (Kish). If equal draws are common, pass all of them and not each once with a weight.

    References
    ----------
    C. Balocchi, S. Wade: Understanding uncertainty in Bayesian cluster analysis. arXiv:2506.16295, 2025
    (WASABI). J. A. Hartigan, P. M. Hartigan: The dip test of unimodality. Annals of Statistics 13, 1985.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.confidence import modes
    >>> rng = np.random.default_rng(0)
    >>> one, other = np.repeat([0, 1], 30), np.tile([0, 1], 30)
    >>> draws = np.column_stack([one] * 30 + [other] * 20)
    >>> draws[rng.random(draws.shape) < 0.1] = 2
    >>> found = modes(draws, random_state=0)
    >>> found.shares, found.sentence
    (array([0.6, 0.4]), 'The clusterings disagree in two ways, 60 % and 40 %.')
    """
    owner = "modes"
    check_int(max_modes, "max_modes", owner)
    check_real(alpha, "alpha", owner, high=1.0, closed="neither")
    check_int(max_samples, "max_samples", owner, low=2)
    draws = as_ensemble(ensemble).most_probable()
    n, m = draws.shape
    check_int(n_modes, "n_modes", owner, high=m, none=True)
    threads = thread_count(n_jobs, owner)
    sampling, splitting, fitting, curve = spawn_sequences(seed_sequence(random_state, owner), 4)
    few = draws
    if n > max_samples:
        few = draws.part(np.sort(spawn_generators(sampling, 1)[0].permutation(n)[:max_samples]))
    compared = _compared(draws.partition_weights)
    stage("distances between partitions")
    groups = _Groups.of(few.subset(partitions=compared), splitting, threads)
    if n_modes is None and m < _SMALLEST:
        parts, p_values = groups.equal(max_modes), np.empty(0)
    elif n_modes is None:
        parts, p_values = groups.tested(max_modes, alpha)
    else:
        parts, p_values = groups.split(n_modes), np.empty(0)
    stage("estimates of the modes")
    parts_compared = [np.unique(compared[part]) for part in parts]
    solutions = _settled(draws, parts_compared, fitting, threads)
    if len(solutions[1]) < len(parts):
        solutions = _settled(draws, parts_compared, fitting, threads, loss="binder")
    wanted = range(1, min(max(max_modes, n_modes or 1), len(compared)) + 1)
    along = [
        _settled(
            few,
            [np.unique(compared[part]) for part in groups.split(k)],
            seed,
            threads,
            few_rounds=True,
        )
        for k, seed in zip(
            tracked(wanted, "numbers of modes"), spawn_sequences(curve, len(wanted)), strict=True
        )
    ]
    means = [np.average(distances, weights=draws.partition_weights) for *_, distances in along]
    return Modes(*solutions, p_values, np.minimum.accumulate(means))


def several_modes(ensemble: Ensemble) -> Modes | None:
    """Return the modes of an ensemble if it has more than one; cheap if it has one.

    The test is made on at most 1,000 objects, and estimates are found on at most 5,000: ``labels`` of the
    result are those of these objects. None for soft partitions as well.
    """
    if ensemble.is_soft or ensemble.n_partitions < _SMALLEST:
        return None
    draw = np.random.default_rng(0)
    some = ensemble
    if ensemble.n_samples > _ESTIMATED:
        some = ensemble.part(np.sort(draw.permutation(ensemble.n_samples)[:_ESTIMATED]))
    few = some
    if some.n_samples > _TESTED:
        few = some.part(np.sort(draw.permutation(some.n_samples)[:_TESTED]))
    sample = few.subset(partitions=_compared(few.partition_weights))
    groups = _Groups.of(sample, np.random.SeedSequence(0), 1)
    if groups.p_value(np.arange(len(groups.D))) >= _ALPHA:
        return None
    estimates = modes(some, max_modes=_MAX_MODES, alpha=_ALPHA, random_state=0)
    return estimates if estimates.n_modes > 1 else None


class _Groups:
    """Groups of partitions by their distances, and the test of whether a group consists of two."""

    def __init__(self, D: Floats, step: float, seed: np.random.SeedSequence, threads: int) -> None:
        self.D, self.step, self.seed, self.threads = D, step, seed, threads

    @classmethod
    def of(cls, partitions: Ensemble, seed: np.random.SeedSequence, threads: int) -> _Groups:
        """Return the groups of some partitions, of which all are compared."""
        D = all_losses(partitions, "vi", threads)
        D = np.where(np.isnan(D), np.nanmean(D), D)
        return cls(D, _step(float(partitions.present.sum(axis=0).mean())), seed, threads)

    def tested(self, most: int, alpha: float) -> tuple[list[Ints], Floats]:
        """Split groups while the test rejects one mode, those with the smallest p-value first."""
        everything = np.arange(len(self.D))
        p_values = [self.p_value(everything)]
        parts, ps = [everything], p_values[:1]
        while len(parts) < most and min(ps) < alpha:
            place = int(np.argmin(ps))
            two = self.halves(parts[place])
            if min(map(len, two)) < _LEAST:
                ps[place] = 1.0
                continue
            parts[place : place + 1] = two
            ps[place : place + 1] = [self.p_value(part) for part in two]
            p_values += ps[place : place + 2]
        return parts, np.array(p_values)

    def equal(self, most: int) -> list[Ints]:
        """Return the groups of equal partitions if there are at most `most`, with two each on average; or one group."""
        _, first = np.unique(self.D < _EQUAL, axis=0, return_inverse=True)
        parts = [np.flatnonzero(first == k) for k in range(first.max() + 1)]
        return parts if len(parts) <= min(most, len(self.D) // 2) else [np.arange(len(self.D))]

    def split(self, count: int) -> list[Ints]:
        """Split the group with the largest gain until the number is reached."""
        parts = [np.arange(len(self.D))]
        while len(parts) < count:
            tries = [self.halves(part) if len(part) > 1 else None for part in parts]
            gains = [
                -np.inf if two is None else self._spread(part) - sum(map(self._spread, two))
                for part, two in zip(parts, tries, strict=True)
            ]
            place = int(np.argmax(gains))
            two = tries[place]
            if two is None:
                break
            parts[place : place + 1] = two
        return parts

    def p_value(self, part: Ints) -> float:
        """Return the p-value of one mode, the mean over divisions."""
        if len(part) < _SMALLEST:
            return 1.0
        rngs = spawn_generators(self._seed(part), _DIVISIONS)
        third = len(part) // 3
        places = np.empty((_DIVISIONS, len(part) - third))
        for place, rng in zip(places, rngs, strict=True):
            shuffled = rng.permutation(part)
            first, second = self._two(shuffled[:third], rng)
            rest = shuffled[third:]
            place[:] = self.D[np.ix_(rest, first)].mean(axis=1)
            place -= self.D[np.ix_(rest, second)].mean(axis=1)
            # Partitions that differ in one object are neighbours: their places are not a gap apart.
            place += rng.uniform(-self.step, self.step, len(place))
        dips = dips_of_rows(places, self.threads)
        return float(np.mean([dip_p_value(float(dip), places.shape[1]) for dip in dips]))

    def halves(self, part: Ints) -> list[Ints]:
        """Split a group in two."""
        first, second = self._two(part, spawn_generators(self._seed(part), _DIVISIONS + 1)[-1])
        return [np.sort(first), np.sort(second)]

    def _seed(self, part: Ints) -> np.random.SeedSequence:
        # Seeded by the group, independent of what was tested before.
        key = (*self.seed.spawn_key, int(part[0]), len(part))
        return np.random.SeedSequence(self.seed.entropy, spawn_key=key)

    def _spread(self, part: Ints) -> float:
        """Sum over partitions half the mean distance to the others of the group."""
        return float(self.D[np.ix_(part, part)].sum() / (2 * len(part)))

    def _two(self, part: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Return two groups with the least spread, from several starts; none of them is empty."""
        D = self.D[np.ix_(part, part)]
        best, least = np.arange(len(part)) == 0, np.inf
        for _ in range(_STARTS):
            seeds = rng.permutation(len(part))[:2]
            side = D[:, seeds[0]] > D[:, seeds[1]]
            side[seeds] = [False, True]
            for _ in range(_ROUNDS):
                moved = (_to_mean(D, side) - _to_mean(D, ~side)) < 0
                if moved.all() or not moved.any() or (moved == side).all():
                    break
                side = moved
            spread = sum(D[np.ix_(each, each)].sum() / (2 * each.sum()) for each in (side, ~side))
            if spread < least:
                best, least = side.copy(), spread
        return part[~best], part[best]


def _compared(weights: Floats) -> Ints:
    """Return the partitions that are compared pairwise: all or evenly spaced ones, in proportion to their weights.

    With unequal weights they are as many as the effective sample size (Kish), and a heavy one may occur more than once.
    """
    m = len(weights)
    if (weights == weights[0]).all():
        if m <= _COMPARED:
            return np.arange(m)
        return np.unique(np.linspace(0, m - 1, _COMPARED).astype(np.int64))
    shares = weights / weights.sum()
    size = min(_COMPARED, max(1, int(1 / (shares**2).sum() + 1e-9)))
    places = np.searchsorted(np.cumsum(shares), (np.arange(size) + 0.5) / size)
    return np.asarray(np.minimum(places, np.flatnonzero(shares)[-1]), dtype=np.int64)


def _step(n: float) -> float:
    """Return the largest variation of information, in bits, between two partitions of n objects that differ in one object.

    Moving it from a cluster of a objects to one of b changes n VI by f(a) - f(a - 1) + f(b + 1) - f(b), with
    f(x) = x log2 x: largest for a = b + 1 = (n + 1) / 2.
    """
    half = (n + 1) / 2
    return float(2 * (half * np.log2(half) - (half - 1) * np.log2(max(half - 1, 1.0))) / n)


def _to_mean(D: Floats, group: Bools) -> Floats:
    """Return the distance of each to the centre of a group, treating distances as squared Euclidean ones."""
    return np.asarray(D[:, group].mean(axis=1) - D[np.ix_(group, group)].mean() / 2)


def _settled(
    draws: Ensemble,
    parts: list[Ints],
    seed: np.random.SeedSequence,
    threads: int,
    *,
    loss: Loss = "vi",
    few_rounds: bool = False,
) -> tuple[Ints, Floats, Ints, Floats]:
    """Alternate between groups and estimates until no partition changes its group.

    Returns the first four attributes of `Modes`.

    Parameters
    ----------
    draws : Ensemble
        The partitions.
    parts : list of ndarray of int64
        Initial groups.
    seed : SeedSequence
        Seed of the estimates.
    threads : int
        Number of threads.
    loss : {"vi", "binder"}, default="vi"
        Loss of the estimates, and distance to them.
    few_rounds : bool, default=False
        Whether to stop after two rounds.
    """
    rows = PartitionRows.of(draws)
    weights = draws.partition_weights
    seeds = spawn_sequences(seed, _ROUNDS * len(parts))

    def estimates(groups: list[Ints], turn: int) -> Ints:
        some = seeds[turn * len(parts) :]
        return np.array(
            [
                _estimate(draws, part, loss, child, threads)
                for part, child in zip(groups, some, strict=False)
            ]
        )

    def nearest_of(centres: Ints, by: Loss) -> tuple[NDArray[Any], NDArray[Any]]:
        distances = loss_values(PartitionRows(centres).terms(rows, by, threads), by)
        distances = np.where(np.isnan(distances), np.inf, distances)
        return distances.argmin(axis=0), distances

    centres = estimates(parts, 0)
    nearest = nearest_of(centres, loss)[0]
    for turn in range(1, 3 if few_rounds else _ROUNDS):
        before = nearest
        groups = [np.flatnonzero(before == g) for g in range(len(centres))]
        groups = [group for group in groups if weights[group].sum() > 0]
        centres = estimates(groups, turn)
        nearest = nearest_of(centres, loss)[0]
        if (before == nearest).all():
            break
    shares = np.bincount(nearest, weights, len(centres)) / weights.sum()
    order = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)]
    place = np.full(len(shares), -1)
    place[order] = np.arange(len(order))
    mine = nearest_of(centres, "vi")[1][nearest, np.arange(len(nearest))]
    mine = np.where(np.isinf(mine), np.nan, mine)
    return centres[order], shares[order], place[nearest], mine


def _estimate(
    draws: Ensemble, part: Ints, loss: Loss, seed: np.random.SeedSequence, threads: int
) -> Ints:
    """Return the estimate of some partitions; -1 where they all lack the object."""
    some = draws.subset(partitions=part)
    observed = some.observed
    labels = np.full(draws.n_samples, -1)
    model = BayesEstimate(loss=loss, n_init=4, n_rebuilds=2, random_state=seed, n_jobs=threads).fit(
        some.observed_only()
    )
    labels[observed] = model.labels_
    return labels
