"""The credible ball around an estimate: the spread of the draws of a posterior, and its bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Bools, Floats, Ints
from conclust._validation import check_option, check_real, count, count_range
from conclust.ensemble import Ensemble
from conclust.ensemble.equal_rows import EqualRows
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
    `level`. The horizontal bound is the draw at the border; the vertical bounds are at the border of the draws with
    the fewest and the most clusters. All draws that are tied are given.

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
