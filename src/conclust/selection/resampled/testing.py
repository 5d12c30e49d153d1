"""The test of one cluster: log PAC of the points, and the silhouette of few, compared with references without clusters."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from conclust._arrays.containers import column_names
from conclust._arrays.rows import ratio
from conclust._random import generator, spawn_sequences
from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import MISSING, NOISE
from conclust.exceptions import InputError, SelectionWarning, warn
from conclust.generation.crew import Crew
from conclust.measures.contingency import read_labels
from conclust.selection.judged.pairs import PairCounts, count_all
from conclust.selection.resampled import null
from conclust.selection.resampled.resampling import Resamples, Settings
from conclust.trees.agglomeration import cut

# So few objects along one axis are cut in the middle as stably where there is no gap: below the larger number of
# objects the largest silhouette is a statistic, too, and below the smaller number the only one that is ranked.
_FEW, _VERY_FEW = 100, 50
_LONG = 60.0  # expected seconds above which the time of the references is announced


def log_pac(counts: PairCounts) -> float:
    """Return log PAC, counting half a pair if none is ambiguous."""
    return float(np.log(max(counts.pac(), 0.5 / counts.n_pairs)))


def n_statistics(settings: Settings, n: int) -> int:
    """Return the number of statistics of n objects: log PAC for each K, and of few objects the negative silhouette."""
    return len(settings.ks) + (n < _FEW)


def by_silhouette(n: int) -> bool:
    """Return whether the silhouette alone is compared with the references of n objects."""
    return n < _VERY_FEW


class OneClusterTest:
    """Draws references for one set of points, and ranks the points among them.

    Parameters
    ----------
    settings : Settings
        Settings for resampling each data set.
    points : ndarray of shape (n_samples, r)
        Principal scores.
    resamples : Resamples
        The draws, the same for the points and all references.
    seed : SeedSequence
        Seed of the references: one descends from it for each.
    report : callable
        Function that receives progress.
    widths : list of int, default=None
        Columns of each block of the points: of numbers, and of each column of categories. None: there are
        numbers only.
    """

    def __init__(
        self,
        settings: Settings,
        points: Floats,
        resamples: Resamples,
        *,
        seed: np.random.SeedSequence,
        report: Callable[[str], None],
        widths: list[int] | None = None,
    ) -> None:
        self._settings = settings
        self._points = points
        self._resamples = resamples
        assert settings.null is not None
        numbers = points if widths is None else points[:, : widths[0]]
        self._draw = null.draw_of(settings.null, numbers)
        if widths is not None:
            self._draw = permuting(self._draw, widths)
        # One more than the maximum ever drawn, sequentially or not.
        self._seeds = spawn_sequences(seed, settings.n_references + null.FIXING)
        self._report = report
        self._start = time.perf_counter()

    def statistics(self, points: Floats, threads: int) -> Floats:
        """Return the statistics of one data set, which are small where there are clusters."""
        values = np.empty(n_statistics(self._settings, len(points)))
        for at, k in enumerate(self._settings.ks):
            labels = self._resamples.labels(points, k, threads=threads)
            values[at] = log_pac(count_all(Ensemble(labels), threads))
        if len(values) > len(self._settings.ks):
            values[-1] = -largest_silhouette(points)[0]
        return values

    def verdict(self, *, sequential: bool, fixing: Floats | None = None) -> null.Verdict:
        """Rank the points among the references; sequential: stop once the decision is certain; `fixing`: in the units of other references."""
        most = self._settings.n_references
        begin = time.process_time()
        real = self.statistics(self._points, self._settings.threads)
        # CPU time, so that the warning does not depend on the load of the machine.
        seconds = (time.process_time() - begin) / self._settings.threads
        drawn = most + null.FIXING if sequential else most
        expected = seconds * drawn
        if expected > _LONG:
            way = "" if sequential else "; sequential=True needs fewer where there is one cluster"
            warn(
                f"{'Up to ' * sequential}{drawn} references will take about {expected / 60:.1f} minutes: "
                f"each is clustered as often as the points{way}.",
                SelectionWarning,
            )
        n_k = len(self._settings.ks)
        ranked = slice(n_k if by_silhouette(len(self._points)) else 0, None)
        if sequential:
            batch = max(8, 2 * self._settings.threads)
            return null.sequential_test(real, self._references, most, batch, ranked, fixing)
        return null.fixed_test(real, self._references(0, most), ranked)

    def _references(self, begin: int, end: int) -> Floats:
        """Return the statistics of a range of references."""
        rows = np.empty((end - begin, n_statistics(self._settings, len(self._points))))
        reported = 0
        # References run in parallel, but a user's clusterer keeps the threads for its members.
        side = self._settings.threads if self._settings.fast else 1
        with Crew(side, "threads", "choose") as crew:
            for done, (r, row) in enumerate(crew.run(self._one, ((r,) for r in range(begin, end)))):
                rows[r - begin] = row
                if 10 * (done + 1 - reported) >= end - begin or done + 1 == end - begin:
                    reported = done + 1
                    seconds = time.perf_counter() - self._start
                    self._report(f"{begin + reported} references, {seconds:.1f} s")
        return rows

    def _one(self, stopped: Any, r: int) -> tuple[int, Floats]:
        points = self._draw(self._points, generator(self._seeds[r]))
        return r, self.statistics(points, 1 if self._settings.fast else self._settings.threads)


def read_categories(categories: Any, n: int, owner: str) -> Ints | None:
    """Return a number for each category (n, n_columns), -1 for an empty cell; None if there is no column.

    Raises
    ------
    InputError
        There is not a row for each object, or a column has one category only.
    """
    if categories is None:
        return None
    frame = hasattr(categories, "columns")
    shape = categories.shape if frame else np.shape(categories)
    if len(shape) != 2 or shape[0] != n or not shape[1]:
        raise InputError(
            f"The 'categories' of {owner} must have a row for each of the {n} objects and at least one column. "
            f"Got shape {tuple(shape)}."
        )
    array = np.asarray(categories, dtype=object)
    codes = np.empty(shape, dtype=np.int64)
    for j in range(shape[1]):
        numbers, names = read_labels(array[:, j], f"categories[:, {j}]")
        codes[:, j] = np.where(numbers == NOISE, len(names), numbers)
        if len(np.unique(codes[codes[:, j] != MISSING, j])) < 2:
            name = column_names(categories)[j] if frame else j
            raise InputError(
                f"The column {name!r} of 'categories' has one category only, or none: leave it out."
            )
    return codes


def beside(scores: Floats, codes: Ints, n_features: int, weight: float) -> tuple[Floats, list[int]]:
    """Append the indicators of categories to scores; also return the columns of each block.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, r)
        Principal scores of the numbers.
    codes : ndarray of shape (n_samples, n_columns)
        Result of `read_categories`.
    n_features : int
        Columns of numbers that the scores were made of.
    weight : float
        Number of columns of numbers that a column of categories counts for.
    """
    each = float(np.square(scores).sum()) / (len(scores) * n_features)
    blocks, widths = [scores], [scores.shape[1]]
    for column in codes.T:
        values, numbers = np.unique(column, return_inverse=True)
        block = (numbers[:, None] == np.arange(len(values))).astype(np.float64)
        observed = column != MISSING
        block = block[:, values != MISSING]
        block[observed] -= block[observed].mean(axis=0)
        block[~observed] = 0.0  # an empty cell is at the same distance from all categories
        variance = float(np.square(block).sum()) / len(block)
        if variance > 0:  # drawn objects may have only one category
            blocks.append(block * np.sqrt(weight * each / variance))
            widths.append(block.shape[1])
    return np.ascontiguousarray(np.concatenate(blocks, axis=1)), widths


def permuting(draw: null.Draw, widths: Sequence[int]) -> null.Draw:
    """Return a generator of references for points with categories.

    Parameters
    ----------
    draw : callable
        Draws the references of the numbers, which are the first block.
    widths : sequence of int
        Columns of each block.
    """
    ends = np.cumsum(widths)

    def drawn(points: Floats, rng: np.random.Generator) -> Floats:
        numbers, *blocks = np.split(points, ends[:-1], axis=1)
        parts = [draw(numbers, rng), *(rng.permutation(block) for block in blocks)]
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    return drawn


SMALLEST = 5
"""Minimum number of objects of a cluster: outliers of a heavy-tailed cloud have the largest silhouettes."""

FEWEST = 2 * SMALLEST
"""Minimum number of objects that can be two clusters."""

_MOST_CLUSTERS = 10
# Statistics that differ by less are equal.
_SAME = 1e-9


def largest_silhouette(
    points: Floats, fewest: int = 2, most: int = _MOST_CLUSTERS
) -> tuple[float, Ints | None]:
    """Return the largest mean silhouette of Ward's partitions, and that partition.

    Partitions with a cluster of fewer than five objects are left out. Sums are BLAS's: call it with one thread of BLAS.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
    fewest, most : int
        The numbers of clusters considered.

    Returns
    -------
    (float, ndarray of int64 of shape (n_samples,) or None)
        -1 and None if each partition has a smaller cluster.
    """
    n = len(points)
    best, partition = -1.0, None
    if n < FEWEST:
        return best, partition
    from scipy.cluster.hierarchy import ward  # with its siblings, it is slow to load

    condensed = pdist(points)
    distances, tree = squareform(condensed), ward(condensed)
    objects = np.arange(n)
    for K in range(fewest, min(most, n // SMALLEST) + 1):
        labels = cut(tree, K)
        sizes = np.bincount(labels, minlength=K)
        if sizes.min() < SMALLEST:
            continue
        sums = distances @ np.eye(K)[labels]
        within = sums[objects, labels] / (sizes[labels] - 1)
        means = sums / sizes
        means[objects, labels] = np.inf
        nearest = means.min(axis=1)
        value = float(ratio(nearest - within, np.maximum(within, nearest)).mean())
        if value > best + _SAME:
            best, partition = value, labels
    return best, partition
