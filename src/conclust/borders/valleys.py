"""Counts of points in the valleys of borders, and at the adjacent peaks, over random splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import plain_array
from conclust._arrays.points import point_rows, refuse_gaps
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_int, check_real
from conclust.borders.geometry import border_geometry
from conclust.exceptions import InputError


@dataclass(frozen=True, eq=False)
class ValleyCounts:
    """Counts of points along borders, split by split.

    Attributes
    ----------
    pairs : ndarray of int64 of shape (n_pairs, 2)
        The two pieces of each border.
    counts : ndarray of int64 of shape (n_pairs, n_splits, 3)
        Points of the second part in the window of the first peak (n1), of the valley (n2), of the second
        peak (n3).
    """

    pairs: Ints
    counts: Ints

    @property
    def means(self) -> Floats:
        """Mean counts over splits, of shape (n_pairs, 3)."""
        return np.asarray(self.counts.mean(axis=1))

    def ratios(self, prior: float = 3.0) -> Floats:
        """Return rho of each border from its mean counts (`valley_ratios`), of shape (n_pairs,).

        Parameters
        ----------
        prior : float, default=3.0
            Points added to each count.
        """
        return valley_ratios(self.means, prior)


def valley_ratios(counts: ArrayLike, prior: float = 3.0) -> Floats:
    """Return the depth of valleys: rho = (n2 + prior) / (min(n1, n3) + prior).

    Parameters
    ----------
    counts : array-like of shape (..., 3)
        Points at the first peak, in the valley, at the second peak; means or sums too.
    prior : float, default=3.0
        Points added to each count: a border without points has rho 1.

    Returns
    -------
    ndarray of shape (...)
        Near 0 for a deep valley, 1 for none; above 1 where the valley has more points than a peak.

    Examples
    --------
    >>> from conclust.borders import valley_ratios
    >>> valley_ratios([[97, 7, 127], [0, 0, 0]])
    array([0.1, 1. ])
    """
    n = np.asarray(counts, dtype=np.float64)
    return np.asarray((n[..., 1] + prior) / (np.minimum(n[..., 0], n[..., 2]) + prior))


def stratified_part(pieces: Ints, share: float, rng: np.random.Generator) -> Bools:
    """Draw a sample of the points with the same share of each piece.

    Parameters
    ----------
    pieces : ndarray of int64 of shape (n_samples,)
        The piece of each point, negative for none: these are a stratum of their own.
    share : float
        The share of each piece, rounded to whole points (halves up), at least one point.
    rng : Generator
        Draws.

    Returns
    -------
    ndarray of bool of shape (n_samples,)
        Mask of the points drawn.
    """
    strata = np.maximum(pieces, -1) + 1
    order = np.lexsort((rng.random(len(strata)), strata))
    sizes = np.bincount(strata)
    rank = np.arange(len(strata)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    counts = np.maximum(1, np.floor(share * sizes + 0.5).astype(np.int64))
    part = np.empty(len(strata), dtype=np.bool_)
    part[order] = rank < np.repeat(counts, sizes)
    return part


def valley_counts(
    X: ArrayLike,
    pieces: ArrayLike,
    pairs: ArrayLike,
    *,
    n_splits: int = 8,
    share: float = 0.5,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> ValleyCounts:
    """Count the points in the valley of each border, and at the adjacent peaks.

    In each split a random part A, stratified by piece, gives the centres of the pieces, their pooled
    covariance C (used as .9 C + .1 tr(C)/d I, so that pieces are about round), the region of each border
    and its windows (`BorderGeometry`); the points of the other part B that lie there are counted. Points of
    all pieces, or of none, count.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points, finite. With more than some 50 features give `leading_components`.
    pieces : array-like of int of shape (n_samples,)
        The piece of each point, 0 to K - 1 without a gap; negative for points in none.
    pairs : array-like of int of shape (n_pairs, 2)
        Borders, as two different pieces each.
    n_splits : int, default=8
        Number of random splits.
    share : float, default=0.5
        The share of part A: 1/2 are halvings, 1/3 leaves two thirds to be counted.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the splits.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    ValleyCounts
        The counts of each border in each split.

    Raises
    ------
    InputError
        If X does not have a row of finite numbers for each piece label, piece numbers have a gap, or pairs are
        invalid.
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    The pieces come from all points, so that the counts are no test: a piece that follows the points of B
    makes shallow valleys (`confidence.border_tests` clusters A alone). O(n d K) and O(n) a border for each
    split.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.borders import valley_counts
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(900, 1))
    >>> pieces = (3 * x[:, 0]).astype(int)
    >>> apart = x + (pieces == 2)[:, None]
    >>> valley_counts(apart, pieces, [(0, 1), (1, 2)], random_state=0).ratios().round(2)
    array([0.84, 0.02])
    """
    owner = "valley_counts"
    check_int(n_splits, "n_splits", owner)
    check_real(share, "share", owner, high=1.0, closed="neither")
    threads = thread_count(n_jobs, owner)
    points, labels, borders = _read(X, pieces, pairs)
    K = int(labels.max()) + 1
    counts = np.zeros((len(borders), n_splits, 3), dtype=np.int64)
    for s, rng in enumerate(spawn_generators(seed_sequence(random_state, owner), n_splits)):
        first = stratified_part(labels, share, rng)
        geometry = border_geometry(points, first, labels, K, threads=threads)
        counts[:, s] = geometry.count(first, borders, threads=threads)
    return ValleyCounts(borders, counts)


def _read(X: ArrayLike, pieces: ArrayLike, pairs: ArrayLike) -> tuple[Floats, Ints, Ints]:
    labels = plain_array(pieces, "'pieces'")
    borders = plain_array(pairs, "'pairs'", of="numbers")
    if borders.size == 0:
        borders = np.zeros((0, 2), dtype=np.int64)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.size == 0 or labels.max() < 0:
        raise InputError(
            "'pieces' must be a vector of ints, one of them not negative. Got an array of shape "
            f"{labels.shape} and type {labels.dtype}."
        )
    points = np.ascontiguousarray(
        point_rows(X, len(labels), "points in 'pieces'"), dtype=np.float64
    )
    refuse_gaps(points, X)
    labels = labels.astype(np.int64)
    sizes = np.bincount(labels[labels >= 0])
    if not sizes.all():
        raise InputError(
            f"'pieces' must be numbered without a gap. Got no point of piece {int(np.argmin(sizes))}."
        )
    if borders.ndim != 2 or borders.shape[1] != 2 or borders.dtype.kind not in "iu":
        raise InputError(
            f"'pairs' must hold two pieces per row. Got an array of shape {borders.shape} and type "
            f"{borders.dtype}."
        )
    borders = np.ascontiguousarray(borders, dtype=np.int64)
    outside = (borders < 0) | (borders >= len(sizes)) | (borders[:, :1] == borders[:, 1:])
    if outside.any():
        bad = borders[outside.any(axis=1)][0]
        raise InputError(
            f"'pairs' must hold two different pieces of 0 to {len(sizes) - 1}. Got {bad.tolist()}."
        )
    return points, labels, borders
