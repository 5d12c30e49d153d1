"""Resampled clusterings of one data set, for each number of clusters: the ensembles judged here.

The draws and the seeds are made once and serve every data set of the same number of objects: so a
statistic of the resamples is a function of the points alone, and references are compared with the real
points on the same draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conclust._random import spawn_generators, spawn_seeds, spawn_sequences
from conclust._types import Floats
from conclust._validation import is_whole, refuse
from conclust.generation.generator import EnsembleGenerator
from conclust.generation.members import sole_parameter
from conclust.generation.runs import MOST_CLUSTERS, draw_objects, run_kmeans
from conclust.selection.resampled.null import Null


class Resamples(Protocol):
    """Draws and seeds for data sets of one number of objects."""

    def labels(self, points: Floats, n_clusters: int, *, threads: int) -> NDArray[Any]:
        """Cluster every draw of the points; one column per draw, -1 for objects that were not drawn."""


def drawn_size(n: int, fraction: float) -> int:
    """Return the number of objects in a resample."""
    return max(2, round(fraction * n))


@dataclass(frozen=True)
class KMeansResamples:
    """k-means from greedy k-means++, one start per draw."""

    drawn: NDArray[np.int32]
    seeds: dict[int, NDArray[np.uint64]]

    @classmethod
    def draw(
        cls,
        n: int,
        ks: Sequence[int],
        n_resamples: int,
        fraction: float,
        root: np.random.SeedSequence,
    ) -> KMeansResamples:
        """Draw the objects of each resample, the same for all K, and the seeds of the runs."""
        first, *others = spawn_sequences(root, 1 + max(ks))
        drawn = draw_objects(n, drawn_size(n, fraction), spawn_generators(first, n_resamples))
        seeds = {k: np.array(spawn_seeds(others[k - 1], n_resamples), dtype=np.uint64) for k in ks}
        return cls(drawn, seeds)

    def labels(  # noqa: D102  (the protocol's text)
        self, points: Floats, n_clusters: int, *, threads: int
    ) -> NDArray[Any]:
        seeds = self.seeds[n_clusters]
        return run_kmeans(points, n_clusters, self.drawn, seeds, threads=threads).labels


@dataclass(frozen=True)
class ClustererResamples:
    """A user's clusterer, run by the generator of ensembles.

    The objects that a member draws depend on its seed only, not on K.
    """

    clusterer: Any
    n_resamples: int
    fraction: float
    seed: int

    def labels(  # noqa: D102
        self, points: Floats, n_clusters: int, *, threads: int
    ) -> NDArray[Any]:
        generator = EnsembleGenerator(
            self.clusterer,
            n_partitions=self.n_resamples,
            n_clusters=n_clusters,
            sample_fraction=self.fraction,
            scale=None,
            random_state=self.seed,
            n_jobs=threads,
        )
        return generator.fit_transform(points)


def check_clusterer(clusterer: Any, ks: Sequence[int], owner: str) -> None:
    """Refuse a clusterer that cannot be given a number of clusters."""
    if isinstance(clusterer, str) and clusterer == "kmeans":
        if max(ks) > MOST_CLUSTERS:
            refuse("k", owner, f"of numbers up to {MOST_CLUSTERS}", max(ks))
        return
    usable = (
        hasattr(clusterer, "fit_predict")
        and hasattr(clusterer, "get_params")
        and not isinstance(clusterer, type)
        and sole_parameter(clusterer, "n_clusters") != ""
    )
    if not usable:
        refuse(
            "clusterer",
            owner,
            "'kmeans' or a scikit-learn clusterer (an instance) with a parameter 'n_clusters'",
            clusterer,
        )


@dataclass(frozen=True)
class Settings:
    """Settings for resampling and criteria; see `choose` for their meaning."""

    ks: tuple[int, ...]
    clusterer: Any
    n_resamples: int
    sample_fraction: float
    null: Null | None
    n_references: int
    threads: int

    @property
    def fast(self) -> bool:
        """Whether all resamples of one K are clustered at once."""
        return isinstance(self.clusterer, str)

    def resamples(self, n: int, seed: np.random.SeedSequence) -> Resamples:
        """Return the draws for data sets of n objects."""
        if self.fast:
            return KMeansResamples.draw(n, self.ks, self.n_resamples, self.sample_fraction, seed)
        (number,) = spawn_seeds(seed, 1, bits=32)
        return ClustererResamples(self.clusterer, self.n_resamples, self.sample_fraction, number)


# The largest number tried by default.
_MOST = 10


def read_numbers(k: Any, owner: str, most: int | None = None) -> tuple[int, ...]:
    """Return the distinct numbers of clusters to try in increasing order; for None 2 to 10, at most `most`."""
    if k is None and most is not None:
        k = range(2, max(min(_MOST, most), 2) + 1)
    if isinstance(k, range) and most is not None and k and (k[-1] - k[0]) // k.step >= most:
        k = [k[0], k[-1]]  # one of them is larger than `most`, which the caller refuses
    values = [k]
    if not is_whole(k):
        values = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else []
    least = min(values) if values and all(is_whole(value) for value in values) else 0
    if least < 2:
        advice = "Leave 1 out: the p-value already tests for one cluster." if least == 1 else ""
        refuse("k", owner, "an int from 2 on, or a non-empty range or list of such ints", k, advice)
    return tuple(sorted({int(value) for value in values}))
