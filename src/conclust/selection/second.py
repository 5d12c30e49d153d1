"""The second test, if one Gaussian is rejected: either borders hold, or no other cloud is as stable.

A flat or skewed cloud is not Gaussian, and k-means cuts it into stable parts: the rejection of one Gaussian says
nothing about clusters. A border that holds does. If none holds, which also happens for overlapping clusters with
few points, the points are compared with flat and with skewed clouds: structure that these also show is not evidence
of clusters. The clouds have the shapes that the points may have: boxes and exponential clouds, unless the points are clearly less
flat or skewed, and clouds that are as flat or as skewed as the points are measured to be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from conclust._random import generator, spawn_sequences
from conclust._types import Floats, Ints
from conclust.confidence.borders.result import SUREST, BorderTests
from conclust.confidence.borders.testing import border_tests
from conclust.selection.resampled.null import Verdict
from conclust.selection.resampled.resampling import Settings
from conclust.selection.resampled.shape import Kind, is_more_than_gaussian, p_value_of_shape
from conclust.selection.resampled.testing import by_silhouette

GAUSSIAN = ("rotation", "gaussian")
"""The nulls that are one Gaussian."""

KINDS: tuple[Kind, ...] = ("flat", "skewed")
"""The kinds, in the order of their tests."""

# Share of the level at which all borders must hold if one Gaussian is not rejected.
_CLEARLY = 0.2

# Maximum number of clouds of each kind with which the points are compared.
_CLOUDS = 39
# Clouds of the measured shape are rejected at four times the level of the first test: points that were more stable than one Gaussian
# are measured as flatter than they are (experiments/selection).
_LEVELS_OF_MEASURED = 4


class Clouds(NamedTuple):
    """What single clouds of the covariance of the points are compared with, and how.

    Attributes
    ----------
    numbers : ndarray of shape (n_tested, r)
        The scores of the points, without categories.
    compare : callable
        Compares the stability of the points with references of some settings, drawn by a seed.
    seeds : tuple of two SeedSequence
        Seed the clouds, and those that flatness and skewness are compared with.
    """

    numbers: Floats
    compare: Callable[[Settings, np.random.SeedSequence], Verdict]
    seeds: tuple[np.random.SeedSequence, np.random.SeedSequence]


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
        Share of the clouds of one kind, the points among them, that are at least as stable: the largest of those that were
        compared, relative to their levels; NaN where none was.
    n_references : int
        Number of clouds that it rests on.
    cloud : str
        These clouds, as "flat"; empty where none were compared.
    compared : tuple of str
        All clouds that were compared.
    level_of_clouds : float
        Level of the comparison with `cloud`.
    """

    borders: BorderTests | None = None
    level: float = 0.05
    p_value: float = float("nan")
    n_references: int = 0
    cloud: str = ""
    compared: tuple[str, ...] = ()
    level_of_clouds: float = 0.05

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
        return not self.n_held and self.p_value > self.level_of_clouds


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
    clouds: Clouds,
    *,
    borders: bool = True,
) -> Second:
    """Test whether borders hold between clusters and, if none does, whether flat or skewed clouds are as stable.

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
    clouds : Clouds
        Compares the points with single clouds.
    borders : bool, default=True
        Whether borders are tested: not where there are categories, between which there are no borders.
    """
    second = Second(level=level, level_of_clouds=level)
    if borders:
        second = _with_borders(second, points, labels, settings, seed)
    if second.n_held or settings.null not in GAUSSIAN:
        return second
    settings = replace(settings, n_references=min(_CLOUDS, settings.n_references))
    n_leading = int(labels.max())
    few = by_silhouette(len(points))
    numbers, compare, roots = clouds
    for kind, *seeds in zip(KINDS, *(spawn_sequences(root, 2) for root in roots), strict=True):
        drawn = replace(settings, null=kind)
        # The points may be as flat as boxes, or half as skewed as exponential clouds.
        if few or p_value_of_shape(numbers, kind, n_leading, generator(seeds[1])) > level:
            second = _compared(second, compare(drawn, seeds[0]), kind, level)
        if not (second.one_cluster or few) and is_more_than_gaussian(numbers, kind, n_leading):
            verdict = compare(replace(drawn, n_leading=n_leading), seeds[0])
            second = _compared(second, verdict, f"equally {kind}", _LEVELS_OF_MEASURED * level)
        if second.one_cluster:
            break
    return second


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


def _compared(second: Second, verdict: Verdict, cloud: str, level: float) -> Second:
    """Return the results after a further comparison, at a level of its own."""
    p_value = verdict.p_value
    second = replace(second, compared=(*second.compared, cloud))
    if p_value / level <= second.p_value / second.level_of_clouds:
        return second
    return replace(
        second,
        p_value=p_value,
        n_references=verdict.n_references,
        cloud=cloud,
        level_of_clouds=level,
    )
