"""The second test, if one Gaussian is rejected: either borders hold, or no other cloud is as stable.

A flat or skewed cloud is not Gaussian, and k-means cuts it into stable parts: the rejection of one Gaussian says
nothing about clusters. A border that holds does. If none holds, which also happens for overlapping clusters with
few points, the points are compared with flat and with skewed clouds: structure that these also show is no evidence
of clusters. Points that are clearly less flat, or less than half as skewed, are not compared with the clouds of that kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from conclust._types import Floats, Ints
from conclust.confidence.borders import BorderTests, border_tests
from conclust.confidence.borders.headline import at_level, held_of
from conclust.confidence.borders.merging import SUREST
from conclust.selection.resampled.null import Verdict
from conclust.selection.settings import Settings

GAUSSIAN = ("rotation", "gaussian")
"""The nulls that are one Gaussian."""

Kind = Literal["flat", "skewed"]
"""Kind of a single cloud that is not Gaussian."""

KINDS: tuple[Kind, ...] = ("flat", "skewed")
"""The kinds, in the order of their tests."""

_UNLIKE: dict[Kind, str] = {
    "flat": "less flat than a box",
    "skewed": "less skewed than an exponential cloud",
}

NO_BORDER = "No border between the clusters holds"
"""How the doubt begins."""

# Maximum number of clouds of each kind with which the points are compared.
_CLOUDS = 39


class Clouds(Protocol):
    """Compares the points with single clouds of their covariance."""

    def compare(self, asked: Settings) -> Verdict | None:
        """Return the comparison of the points with references, given the settings of these."""

    def p_value_of_shape(self, kind: Kind, n_clusters: int) -> float:
        """Return how plausible it is that the points are as flat, or half as skewed, as the clouds."""


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
        Share of the clouds of one kind, the points among them, that are at least as stable: the largest of the kinds
        that were compared; NaN where none was.
    n_references : int
        Number of clouds that it rests on.
    cloud : str
        The kind with that share: "flat" or "skewed"; empty where none was compared.
    compared, unlike : tuple of str
        Kinds that were compared, and kinds that were not because the points are clearly less flat or skewed.
    """

    borders: BorderTests | None = None
    level: float = 0.05
    p_value: float = float("nan")
    n_references: int = 0
    cloud: str = ""
    compared: tuple[Kind, ...] = ()
    unlike: tuple[Kind, ...] = ()

    @property
    def n_borders(self) -> int:
        """Number of borders that were tested."""
        return 0 if self.borders is None else self.borders.n_borders

    @property
    def n_held(self) -> int:
        """Number of borders that hold."""
        return 0 if self.borders is None else int((self.borders.adjusted <= self.level).sum()) // 2

    @property
    def one_cluster(self) -> bool:
        """Whether the rejection of one Gaussian is the only evidence for more than one cluster."""
        return not self.n_held and self.p_value > self.level

    @property
    def against(self) -> str:
        """The reason for one cluster, appended to "more structure than one Gaussian cloud (p = ...)"."""
        borders = f"no border holds {at_level(self.level)} and " if self.n_borders else ""
        return f"but {borders}{self.cloud} clouds are as stable ({self._clouds}): treat it as one cluster"

    @property
    def words(self) -> str:
        """Addition to the reason for several clusters; empty if no border was tested."""
        if not self.n_borders:
            return ""
        if self.n_held:
            return held_of(self.n_held, self.n_borders, self.level)
        reasons = []
        if self.compared:
            reasons.append(f"{' and '.join(self.compared)} clouds are less stable ({self._clouds})")
        if self.unlike:
            reasons.append(f"the points are {' and '.join(_UNLIKE[kind] for kind in self.unlike)}")
        sentence = f"no border holds {at_level(self.level)}"
        return f"{sentence}; {', and '.join(reasons)}" if reasons else sentence

    @property
    def doubts(self) -> tuple[str, ...]:
        """A doubt if no border holds."""
        if self.n_held or not self.n_borders:
            return ()
        return (
            f"{NO_BORDER} {at_level(self.level)}: this happens with overlapping clusters and with few objects.",
        )

    @property
    def _clouds(self) -> str:
        return f"p = {self.p_value:.3g}, {self.n_references} {self.cloud} clouds"


def ask(
    points: Floats,
    labels: Ints,
    asked: Settings,
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
    asked : Settings
        Settings for resampling data sets.
    level : float
        Level of each test.
    seed : SeedSequence
        Seed of the splits of the points.
    clouds : Clouds
        Compares the points with single clouds.
    borders : bool, default=True
        Whether borders are tested: not where there are categories, between which there are no borders.
    """
    second = Second(level=level)
    if borders and round(len(points) / 3) > labels.max():
        clusterer: Any = None if asked.fast else asked.clusterer
        tests = border_tests(
            points,
            labels,
            clusterer=clusterer,
            alpha=max(level, SUREST),
            random_state=seed,
            n_jobs=asked.threads,
        )
        second = replace(second, borders=tests)
    if second.n_held or asked.null not in GAUSSIAN:
        return second
    n_clusters = int(labels.max()) + 1
    for kind in KINDS:
        if clouds.p_value_of_shape(kind, n_clusters) <= level:
            second = replace(second, unlike=(*second.unlike, kind))
            continue
        settings = replace(asked, null=kind, n_references=min(_CLOUDS, asked.n_references))
        verdict = clouds.compare(settings)
        assert verdict is not None
        second = replace(second, compared=(*second.compared, kind))
        if not verdict.p_value <= second.p_value:
            second = replace(
                second, p_value=verdict.p_value, n_references=verdict.n_references, cloud=kind
            )
        if second.one_cluster:
            break
    return second
