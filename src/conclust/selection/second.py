"""The second test, if one Gaussian is rejected: either borders hold, or no cloud of the shape of the points is as stable.

A single cloud need not be Gaussian, and k-means cuts flat, skewed and star-shaped ones into stable parts: the rejection of one
Gaussian says nothing about clusters. A border that holds does. If none holds, which also happens for overlapping clusters with few
points, the clusters must be more stable, by the statistic of the first test, than those of single clouds that keep the shape of
the points: their covariance, and the distribution of each independent component, smoothed to a single mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from conclust._types import Floats, Ints
from conclust.confidence.borders.result import SUREST, BorderTests
from conclust.confidence.borders.testing import border_tests
from conclust.selection.resampled.null import Verdict
from conclust.selection.resampled.resampling import Settings

GAUSSIAN = ("rotation", "gaussian")
"""The nulls that are one Gaussian."""

# Share of the level at which all borders must hold if one Gaussian is not rejected.
_CLEARLY = 0.2

Compare: TypeAlias = Callable[[], Verdict]
"""Compares the stability of the points with that of single clouds."""


@dataclass(frozen=True)
class Second:
    """Results of the second test for a number of clusters.

    Attributes
    ----------
    borders : BorderTests or None
        The tests of the borders; None where there are too few objects.
    level : float
        Level of the adjusted p-values.
    p_value : float
        Share of the single clouds, the points among them, with clusters at least as stable; NaN if none was drawn.
    n_references : int
        Number of these clouds.
    """

    borders: BorderTests | None = None
    level: float = 0.05
    p_value: float = float("nan")
    n_references: int = 0

    @property
    def n_borders(self) -> int:
        """Number of borders that were tested."""
        return 0 if self.borders is None else self.borders.n_borders

    @property
    def n_held(self) -> int:
        """Number of borders that hold."""
        return 0 if self.borders is None else int((self.borders.adjusted <= self.level).sum()) // 2

    @property
    def all_hold(self) -> bool:
        """Whether borders were tested, and all of them hold."""
        return 0 < self.n_borders == self.n_held

    @property
    def one_cluster(self) -> bool:
        """Whether the rejection of one Gaussian is the only evidence for more than one cluster."""
        return not self.n_held and self.p_value > self.level


def clear_borders(
    points: Floats, labels: Ints, settings: Settings, level: float, seed: np.random.SeedSequence
) -> Second:
    """Test the borders at a fifth of the level, for clusters that are no more stable than those of one Gaussian.

    k-means also cuts a long Gaussian stably, so that two clusters along it need not be more stable. If all borders hold
    nevertheless, there are clusters.

    Parameters
    ----------
    points : ndarray of shape (n_samples, r)
        Principal scores.
    labels : ndarray of int64 of shape (n_samples,)
        The clusters of the best number.
    settings : Settings
        Settings for resampling data sets.
    level : float
        Level of the first test.
    seed : SeedSequence
        Seed of the splits of the points.
    """
    return _with_borders(Second(level=_CLEARLY * level), points, labels, settings, seed)


def second_test(
    points: Floats,
    labels: Ints,
    settings: Settings,
    level: float,
    seed: np.random.SeedSequence,
    compare: Compare,
    *,
    borders: bool = True,
) -> Second:
    """Test whether borders hold between clusters and, if none does, whether single clouds of the shape of the points are as stable.

    Parameters
    ----------
    points : ndarray of shape (n_samples, r)
        Principal scores.
    labels : ndarray of int64 of shape (n_samples,)
        The clusters of the number that would be chosen.
    settings : Settings
        Settings for resampling data sets.
    level : float
        Level of the first test.
    seed : SeedSequence
        Seed of the splits of the points.
    compare : callable
        Compares the points with single clouds.
    borders : bool, default=True
        Whether borders are tested: not where there are categories, between which there are no borders.
    """
    second = Second(level=level)
    if borders:
        second = _with_borders(second, points, labels, settings, seed)
    if second.n_held or settings.null not in GAUSSIAN:
        return second
    single = compare()
    return replace(second, p_value=single.p_value, n_references=single.n_references)


def _with_borders(
    second: Second, points: Floats, labels: Ints, settings: Settings, seed: np.random.SeedSequence
) -> Second:
    """Test the borders, unless there are too few objects."""
    if round(len(points) / 3) <= labels.max():
        return second
    clusterer: Any = None if settings.fast else settings.clusterer
    tests = border_tests(
        points,
        labels,
        clusterer=clusterer,
        alpha=max(second.level, SUREST),
        random_state=seed,
        n_jobs=settings.threads,
    )
    return replace(second, borders=tests)
