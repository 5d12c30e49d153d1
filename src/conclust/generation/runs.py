"""Runs k-means many times on the same points at once, each on its own sample of the objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import KMeansDraws, KMeansResults, KMeansSearch, kmeans_runs
from conclust._types import Floats, Ints

MOST_CLUSTERS = 32_766  # labels have at most two bytes, with room for the code of missing
_NARROW = 126
# Multiplications of one call of the kernel: an interrupt takes effect between two calls.
_CALL = 2e10
_PASSES = 30.0  # number of passes over the points that usually suffices


@dataclass(frozen=True)
class KMeansRuns:
    """The results of the runs.

    Attributes
    ----------
    labels : ndarray of int8 or int16 of shape (n_samples, n_runs)
        One column per run: clusters numbered by first appearance; -1 where an object was not drawn. No rows
        where labels were not requested.
    found : ndarray of shape (n_runs,)
        Number of non-empty clusters.
    inertia : ndarray of shape (n_runs,)
        Sum of the squared distances of the objects drawn to the centres of their clusters.
    centers : ndarray of shape (n_runs, n_clusters, n_features) or None
        The centres, the first `found` of each run.
    """

    labels: NDArray[Any]
    found: NDArray[np.int32]
    inertia: Floats
    centers: Floats | None

    @property
    def best_labels(self) -> Ints:
        """Labels of the run with the smallest inertia."""
        return np.asarray(self.labels[:, int(np.argmin(self.inertia))], dtype=np.int64)


def draw_objects(n: int, size: int, generators: list[np.random.Generator]) -> NDArray[np.int32]:
    """Draw `size` of `n` objects without replacement, in increasing order, once per generator."""
    drawn = np.empty((len(generators), size), dtype=np.int32)
    for row, rng in zip(drawn, generators, strict=True):
        row[:] = np.arange(n) if size == n else some_objects(n, size, rng)
    return drawn


def some_objects(n: int, size: int, rng: np.random.Generator) -> Ints:
    """Draw `size` of `n` objects without replacement, in increasing order."""
    return np.sort(rng.choice(n, size=size, replace=False, shuffle=False))


def run_kmeans(
    points: Floats,
    n_clusters: int,
    drawn: NDArray[np.int32],
    seeds: NDArray[np.uint64],
    *,
    starts: NDArray[np.int32] | None = None,
    candidates: int | None = None,
    max_iter: int = 100,
    tol: float = 0.0,
    refills: bool = False,
    labels: bool = True,
    centers: bool = False,
    threads: int = 1,
    form: str = "auto",
) -> KMeansRuns:
    """Run Lloyd's k-means once on each draw of the points.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        C-ordered and finite.
    n_clusters : int
        Requested clusters, at most the objects of a draw. Where equal points, or a centre that lost
        its last object, leave fewer, `found` is their number.
    drawn : ndarray of shape (n_runs, n_drawn)
        The objects of each run, in rising order.
    seeds : ndarray of shape (n_runs,)
        A run depends on its seed and its draw only.
    starts : ndarray of shape (n_runs, n_clusters), default=None
        Objects of the draw to start from. None: greedy k-means++ (Arthur and Vassilvitskii 2007).
    candidates : int, default=None
        Candidates for each centre of greedy k-means++. None: 8 + log(n_clusters), rounded down: on
        separated clusters one run in 250 ends in a poor optimum, with scikit-learn's 2 + log one in
        fifteen, for a fifth to a half more time.
    max_iter : int, default=100
        Maximum number of passes; a run ends earlier if no object changes its cluster.
    tol : float, default=0.0
        A run ends, too, when the centres of a pass moved by no more than this, squared, in all: a share of
        the mean variance of a feature, as scikit-learn's.
    refills : bool, default=False
        Whether a cluster that lost its last object takes the one farthest from its centre, as
        scikit-learn's does. Else its centre stays where it is.
    labels : bool, default=True
        Whether to return the labels. Without them there may be any number of clusters.
    centers : bool, default=False
        Whether to return the centres.
    threads : int, default=1
        Number of parallel runs. The result has the same bits for any number.
    form : str, default="auto"
        Instruction set: a name in `bitslice_forms`. The result has the same bits for any of them.

    Returns
    -------
    KMeansRuns
        Labels, clusters found, inertia, centres.
    """
    runs, size = drawn.shape
    n, d = points.shape
    if candidates is None:
        candidates = 8 + int(np.log(n_clusters))
    narrow = n_clusters <= _NARROW or not labels
    codes = np.empty((n if labels else 0, runs), dtype=np.uint8 if narrow else np.uint16)
    n_found = np.empty(runs, dtype=np.int32)
    inertia = np.empty(runs)
    all_centers = np.full((runs * n_clusters, d), np.nan) if centers else None
    step = max(threads, int(_CALL / (_PASSES * size * d * n_clusters)))
    draws = KMeansDraws(points, drawn, seeds, starts)
    search = KMeansSearch(n_clusters, candidates, max_iter, tol, refills, form)
    out = KMeansResults(codes, n_found, inertia, all_centers)
    for begin in range(0, runs, step):
        kmeans_runs(draws, search, out, begin, min(runs, begin + step), threads)
    # The code of missing is the largest of its unsigned type, and reads -1 as signed.
    signed = codes.view(f"i{codes.itemsize}")
    return KMeansRuns(
        signed, n_found, inertia, None if all_centers is None else all_centers.reshape(runs, -1, d)
    )
