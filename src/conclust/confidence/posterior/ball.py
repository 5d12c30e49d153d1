"""The credible ball around an estimate: the spread of the draws of a posterior, and its bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.rows import EqualRows
from conclust._progress import tracked
from conclust._random import RandomStateLike, generator
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_int, check_option, check_real, count, count_range
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import MISSING, NOISE, canonical_labels
from conclust.exceptions import InputError
from conclust.measures.contingency import read_labels_beside
from conclust.measures.losses import Loss, PartitionRows, hard_draws, loss_values

# Distances that differ by less are equal, as sums of logarithms have rounding errors.
_EQUAL = 1e-9


@dataclass(frozen=True)
class BallBound:
    """The draws at one end of a credible ball.

    Attributes
    ----------
    draws : ndarray of int64 of shape (n_found,)
        Indices of the draws; the first one of equal draws. More than one if distances are tied.
    labels : ndarray of int64 of shape (n_found, n_samples)
        Their labels, -1: missing, -2: noise.
    distance : float
        From the estimate.
    n_clusters : ndarray of int64 of shape (n_found,)
        Number of clusters, including noise objects.
    """

    draws: Ints
    labels: Ints
    distance: float
    n_clusters: Ints

    def __repr__(self) -> str:
        few, many = self.n_clusters.min(), self.n_clusters.max()
        return (
            f"BallBound({count(len(self.draws), 'draw')} of {count_range(few, many, 'cluster')} at "
            f"{self.distance:.3g})"
        )


@dataclass(frozen=True)
class CredibleBall:
    """The smallest ball around an estimate that holds a share of the draws.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        The estimate: the centre.
    radius : float
        The distance of the draw that is farthest from it within the ball.
    level : float
        Requested share of the draws.
    probability : float
        Share of the draws in the ball, by weight: at least `level`, more if distances are tied.
    distances : ndarray of shape (n_draws,)
        Distance of every draw from the estimate; NaN for a draw that shares no object with it, which is ignored.
    inside : ndarray of bool of shape (n_draws,)
        Mask of the draws in the ball.
    horizontal : BallBound
        Draws in the ball that are farthest from the estimate.
    upper_vertical : BallBound
        The farthest of those with the fewest clusters.
    lower_vertical : BallBound
        The farthest of those with the most clusters.
    """

    labels: Ints
    radius: float
    level: float
    probability: float
    distances: Floats
    inside: Bools
    horizontal: BallBound
    upper_vertical: BallBound
    lower_vertical: BallBound

    def __repr__(self) -> str:
        return (
            f"CredibleBall(radius {self.radius:.3g} holds {100 * self.probability:.1f} % of "
            f"{count(len(self.distances), 'draw')})"
        )


def credible_ball(
    ensemble: Ensemble | ArrayLike, labels: ArrayLike, *, distance: Loss = "vi", level: float = 0.95
) -> CredibleBall:
    """Find the smallest ball around an estimate that holds 95 % of the draws, and its bounds.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_draws)
        Draws, one object per row (for draws in rows see ``Ensemble.from_draws``). Each counts by its weight. A draw is
        compared on the objects that it observed; its noise objects are clusters of one object.
    labels : array-like of shape (n_samples,)
        The estimate, for instance ``BayesEstimate().fit(ensemble).labels_``.
    distance : {"vi", "binder", "omari", "nvi", "id", "nid"}, default="vi"
        As `loss` of :class:`conclust.BayesEstimate`, with equal costs. "vi" is in bits; "vi", "binder", "nvi", "id"
        and "nid" are metrics.
    level : float, default=0.95
        Share of the draws that the ball must contain, in (0, 1].

    Returns
    -------
    CredibleBall
        The radius, the distance of every draw, and the draws at the bounds.

    Raises
    ------
    ParameterError
        If `distance` is not one of these, or `level` is out of its range.
    InputError
        If the lengths differ, or no draw shares an object with the estimate.
    UnsupportedEnsembleError
        If the partitions are soft.

    Notes
    -----
    The radius is the smallest e for which the draws within e of the estimate have a probability of at least
    `level`. The horizontal bound is the farthest draw in the ball; the vertical bounds are the farthest draws among those with
    the fewest and the most clusters. All tied draws are returned.

    References
    ----------
    S. Wade, Z. Ghahramani: Bayesian cluster analysis: point estimation and credible balls. Bayesian
    Analysis 13, 2018, section 4.

    Examples
    --------
    >>> from conclust import Ensemble
    >>> from conclust.confidence import credible_ball
    >>> draws = Ensemble.from_draws([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 2, 2]])
    >>> ball = credible_ball(draws, [0, 0, 1, 1], level=0.75)
    >>> ball.radius, ball.inside
    (0.5, array([ True,  True, False,  True]))
    >>> ball.horizontal.labels
    array([[0, 1, 2, 2]])
    """
    check_option(distance, "distance", "credible_ball", Loss)
    check_real(level, "level", "credible_ball", low=0.0, high=1.0, closed="right")
    draws = hard_draws(ensemble, "credible_ball")
    codes, _ = read_labels_beside(labels, ensemble, draws.n_samples, what="estimate")
    rows = PartitionRows.of(draws)
    distances = loss_values(PartitionRows(codes[None]).terms(rows, distance), distance)[0]
    weights = np.where(np.isnan(distances), 0.0, draws.partition_weights)
    if weights.sum() == 0:
        raise InputError("No draw (of positive weight) shares an object with 'labels'.")
    order = np.argsort(distances, kind="stable")
    order = order[weights[order] > 0]
    shares = np.cumsum(weights[order]) / weights.sum()
    last = order[min(int(np.searchsorted(shares, level - 1e-12)), len(order) - 1)]
    inside = np.zeros(len(distances), dtype=np.bool_)
    inside[order] = distances[order] <= distances[last] + _EQUAL
    within = np.flatnonzero(inside)
    clusters = draws.cluster_counts + draws.noise_counts
    fewest, most = clusters[within].min(), clusters[within].max()
    return CredibleBall(
        labels=codes,
        radius=float(distances[within].max()),
        level=float(level),
        probability=float(weights[within].sum() / weights.sum()),
        distances=distances,
        inside=inside,
        horizontal=_bound(draws, within, distances, clusters),
        upper_vertical=_bound(draws, within[clusters[within] == fewest], distances, clusters),
        lower_vertical=_bound(draws, within[clusters[within] == most], distances, clusters),
    )


def _bound(draws: Ensemble, some: Ints, distances: Floats, clusters: Ints) -> BallBound:
    """Return the farthest of some draws, equal ones once."""
    farthest = float(distances[some].max())
    farthest_draws = some[distances[some] >= farthest - _EQUAL]
    farthest_draws = farthest_draws[EqualRows.of(draws.codes.T[farthest_draws]).first]
    labels = np.ascontiguousarray(draws.labels.T[farthest_draws])
    return BallBound(farthest_draws, labels, farthest, clusters[farthest_draws])


# Position of an object in a draw: a cluster of the core (0, 1, ...), a new one, or unknown.
_NEW, _NOTHING = -1, -2
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Run:
    """The objects in the order in which they joined, their clusters, the probability after each."""

    objects: Ints
    clusters: Ints
    probabilities: Floats

    def size(self, threshold: float) -> int:
        return int(np.count_nonzero(self.probabilities >= threshold - _ROUNDING))


@dataclass(frozen=True)
class CorePartition:
    """A partition of some objects that holds with a given probability.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        Clusters of the objects in the core, consecutive from 0; -1 for the others.
    n_objects : int
        Number of objects in the core.
    probability : float
        Share of the draws that cluster all of them in this way.
    threshold : float
        Requested probability.
    sizes : ndarray of int64 of shape (n_steps,)
        Numbers of objects of the curve, increasing.
    probabilities : ndarray of shape (n_steps,)
        Largest probability found for a core of each of these sizes, decreasing.
    runs : tuple
        Searches from single objects, from which `at` reads other cores.
    """

    labels: Ints
    n_objects: int
    probability: float
    threshold: float
    sizes: Ints
    probabilities: Floats
    runs: tuple[_Run, ...] = field(repr=False, compare=False)

    def __repr__(self) -> str:
        n_clusters = int(self.labels.max(initial=-1)) + 1
        return (
            f"CorePartition({self.n_objects:,} of {count(len(self.labels), 'object')} in {count(n_clusters, 'cluster')}, "
            f"probability {self.probability:.2f})"
        )

    def at(self, threshold: float) -> CorePartition:
        """Return the core at another threshold, from the same search.

        Parameters
        ----------
        threshold : float
            In (0, 1].

        Returns
        -------
        CorePartition
            With the same curve.
        """
        check_real(threshold, "threshold", "CorePartition.at", high=1.0, closed="right")
        return _core(self.runs, len(self.labels), float(threshold), self.sizes, self.probabilities)


def core_partition(
    ensemble: Ensemble | ArrayLike,
    threshold: float = 0.5,
    *,
    n_init: int = 16,
    random_state: RandomStateLike = None,
) -> CorePartition:
    """Find the largest set of objects whose joint clustering has a probability of at least `threshold`.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_draws)
        Draws, one object per row (for draws in rows see ``Ensemble.from_draws``). Each counts by its weight.
    threshold : float, default=0.5
        Share of the draws that must agree on the core, in (0, 1].
    n_init : int, default=16
        Number of objects from which the search starts in turn: all, or random ones.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws these objects if there are more.

    Returns
    -------
    CorePartition
        The core, and the curve over all thresholds.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `threshold` or `n_init` is out of its range.
    UnsupportedEnsembleError
        If the partitions are soft.

    Notes
    -----
    The search is greedy: the draws that agree with the core so far are kept, and the next object to join is the one on whose
    cluster, old or new, most of them agree. The largest set is not guaranteed, but the probability is exact: it is the
    share of the draws whose clustering of these objects is the core's. With missing objects it is the product of
    such shares, one for each object that joins, among the draws that place it: a draw that did not observe an
    object is not counted for it. A noise object is a cluster of its own.

    R's salso calls this method CHIPS.

    References
    ----------
    D. B. Dahl, D. J. Johnson, P. Müller: salso, R package, 2025, function ``chips``.

    Examples
    --------
    >>> from conclust import Ensemble
    >>> from conclust.confidence import core_partition
    >>> draws = Ensemble.from_draws([[0, 0, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 1, 1, 2], [0, 1, 1, 1, 1]])
    >>> core = core_partition(draws, threshold=0.75)
    >>> core.labels, core.probability
    (array([ 0,  0,  1,  1, -1]), 0.75)
    """
    owner = "core_partition"
    check_real(threshold, "threshold", owner, low=0.0, high=1.0, closed="right")
    check_int(n_init, "n_init", owner)
    draws = hard_draws(ensemble, owner)
    if (draws.partition_weights == 0).any():
        draws = draws.subset(partitions=draws.partition_weights > 0)
    rows = draws.distinct_rows(noise="apart")
    labels, weights = rows.ensemble.labels, draws.partition_weights / draws.partition_weights.sum()
    begun = np.arange(len(rows))
    if len(begun) > n_init:
        begun = generator(random_state, owner).permutation(len(begun))[:n_init]
    members = np.split(np.argsort(rows.inverse, kind="stable"), np.cumsum(rows.counts)[:-1])
    runs = tuple(
        _expanded(_Search(labels, weights).run(int(first)), members)
        for first in tracked(begun, "starts")
    )
    sizes, probabilities = _curve(runs)
    return _core(runs, draws.n_samples, float(threshold), sizes, probabilities)


class _Search:
    """Grow a core from one object, of distinct rows of labels (n_rows, n_draws)."""

    def __init__(self, labels: Ints, weights: Floats) -> None:
        self.labels, self.weights = labels, weights
        self.has_missing = bool((labels == MISSING).any())
        n, m = labels.shape
        self.active = np.ones(m, dtype=np.bool_)
        # For each draw, its cluster for each cluster of the core; _NOTHING if it is not known yet.
        self.known = np.full((m, 0), _NOTHING)
        self.choices = np.where(labels == MISSING, _NOTHING, _NEW)
        self.counts = np.zeros((n, 1))  # by new cluster, then by cluster of the core
        self._add(np.arange(m), 1.0)

    def run(self, first: int) -> _Run:
        """Return the order in which the objects join."""
        left = np.ones(len(self.labels), dtype=np.bool_)
        order: list[int] = []
        clusters: list[int] = []
        probabilities: list[float] = []
        probability, joining, cluster = 1.0, np.array([first]), 0
        while joining.size:
            for row in joining:
                order.append(int(row))
                clusters.append(cluster)
                probabilities.append(probability)
            left[joining] = False
            for row in joining:
                self._join(int(row), cluster)
            joined = self._next(left)
            if joined is None:
                break
            joining, cluster, share = joined
            probability *= share
        return _Run(np.array(order), np.array(clusters), np.array(probabilities))

    def _next(self, left: Bools) -> tuple[Ints, int, float] | None:
        """Return the object that joins, its cluster, and the share of the draws that agree."""
        rows = np.flatnonzero(left)
        if rows.size == 0:
            return None
        counts = self.counts[rows]
        totals = counts.sum(axis=1)
        # No draw places the object: it never joins.
        shares = counts / np.where(totals > _ROUNDING, totals, np.inf)[:, None]
        best = shares.max(axis=1)
        place = int(best.argmax())
        if best[place] <= 0:
            return None
        column = int(shares[place].argmax())
        n_clusters = self.known.shape[1]
        if column == 0:
            return rows[place : place + 1], n_clusters, float(best[place])
        alike = shares[:, column] >= 1.0 - _ROUNDING
        if best[place] >= 1.0 - _ROUNDING and not self.has_missing:
            return rows[alike], column - 1, 1.0  # they join at no cost, together
        return rows[place : place + 1], column - 1, float(best[place])

    def _join(self, row: int, cluster: int) -> None:
        fresh = cluster == self.known.shape[1]
        if fresh:
            self.known = np.column_stack([self.known, np.full(len(self.known), _NOTHING)])
            self.counts = np.column_stack([self.counts, np.zeros(len(self.counts))])
        choice, label = self.choices[row], self.labels[row]
        agree = choice == (_NEW if fresh else cluster)
        dropped = self.active & ~agree & (choice != _NOTHING)
        self._add(np.flatnonzero(dropped), -1.0)
        self.active &= ~dropped
        # Draws in which the object is the first of the cluster that they observed.
        first = self.active & (self.known[:, cluster] == _NOTHING) & (label != MISSING)
        # Noise is with no other object: its label is a number that no other object has.
        self.known[first, cluster] = np.where(label[first] >= 0, label[first], -3)
        if fresh and not self.has_missing:
            self._open(np.flatnonzero(first), label, cluster)
        elif self.has_missing:
            self._read_again(np.flatnonzero(first | (self.active & fresh)))

    def _open(self, draws: Ints, label: Ints, cluster: int) -> None:
        """Count the objects together with the one that opens a cluster, in the draws that agree so far."""
        joins = (self.labels[:, draws] == label[draws]) & (label[draws] >= 0)
        self.choices[:, draws] = np.where(joins, cluster, self.choices[:, draws])
        moved = joins @ self.weights[draws]
        self.counts[:, 0] -= moved
        self.counts[:, cluster + 1] += moved

    def _read_again(self, draws: Ints) -> None:
        """Read some draws again after more of their clusters have become known."""
        self._add(draws, -1.0)
        labels, clusters = self.labels[:, draws], self.known[draws]
        # An object may be new, or belong to a cluster without an object that the draw observed.
        other = np.where((clusters == _NOTHING).any(axis=1), _NOTHING, _NEW)
        chosen = np.where(labels == MISSING, _NOTHING, other)
        for k in range(clusters.shape[1]):
            chosen[(labels == clusters[:, k]) & (clusters[:, k] >= 0)] = k
        # Noise is always new: it is with no object of the core.
        chosen[labels == NOISE] = _NEW
        self.choices[:, draws] = chosen
        self._add(draws, 1.0)

    def _add(self, draws: Ints, sign: float) -> None:
        """Add the counts of some draws for all objects, or subtract them."""
        n, width = self.counts.shape
        for begin in range(0, len(draws), 64):
            some = draws[begin : begin + 64]
            choice = self.choices[:, some]
            rows, columns = np.nonzero(choice != _NOTHING)
            cells = rows * width + choice[rows, columns] + 1
            weights = sign * self.weights[some[columns]]
            self.counts += np.bincount(cells, weights, n * width).reshape(n, width)


def _expanded(run: _Run, members: list[Ints]) -> _Run:
    """Return the run over objects from the run over distinct rows."""
    counts = [len(members[row]) for row in run.objects]
    return _Run(
        np.concatenate([members[row] for row in run.objects]),
        np.repeat(run.clusters, counts),
        np.repeat(run.probabilities, counts),
    )


def _curve(runs: tuple[_Run, ...]) -> tuple[Ints, Floats]:
    best = np.zeros(max(len(run.objects) for run in runs))
    for run in runs:
        best[: len(run.objects)] = np.maximum(best[: len(run.objects)], run.probabilities)
    # A core of more objects contains all smaller ones.
    best = np.maximum.accumulate(best[::-1])[::-1]
    last = np.flatnonzero(np.append(best[1:] < best[:-1] - _ROUNDING, True))
    return last + 1, best[last]


def _core(
    runs: tuple[_Run, ...], n: int, threshold: float, sizes: Ints, probabilities: Floats
) -> CorePartition:
    counts = [run.size(threshold) for run in runs]
    most = max(counts)
    best = max(
        (run for run, count in zip(runs, counts, strict=True) if count == most),
        key=lambda run: run.probabilities[most - 1],
    )
    labels = np.full(n, -1)
    objects = np.sort(best.objects[:most])
    clusters = np.full(n, -1)
    clusters[best.objects] = best.clusters
    labels[objects] = canonical_labels(clusters[objects])
    probability = float(best.probabilities[most - 1])
    return CorePartition(labels, most, probability, threshold, sizes, probabilities, runs)
