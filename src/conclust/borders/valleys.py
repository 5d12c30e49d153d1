"""Borders between pieces of points: the number of points in the valley and at the peaks on both sides.

The axis and the region of a border come from one part of the points, the counts from another, so that a
valley is not an artefact of the clustering that made the pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from conclust._kernels import border_places, count_valleys
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import one_library_thread, thread_count
from conclust._types import Bools, Floats, Ints
from conclust.spectra.bipartite import some_eigenpairs

# Minimum share of the mean variance in the pooled covariance: keeps directions without spread harmless.
_SHRINKAGE = 0.1
# Maximum smaller side of a matrix whose full Gram matrix is decomposed.
_WHOLE = 1_500


@dataclass(frozen=True, eq=False, repr=False)
class BorderGeometry:
    """The axes and regions of all borders between pieces, and the positions of points along them.

    For the border (p, q) a point x is at the place t = (x - m_p)'a / a'a, a = m_q - m_p, after whitening:
    0 at the centre m_p, 1 at m_q. Its region is where, for each other centre c with u the
    point of the segment that is nearest to it, x is on u's side of the plane through the middle of c and
    u that is perpendicular to c - u.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_pieces)
        Inner products of points and centres.
    gram : ndarray of shape (n_pieces, n_pieces)
        Inner products of centres.
    """

    scores: Floats
    gram: Floats

    def places(self, first: Bools, pairs: Ints) -> list[Floats]:
        """Return the positions along borders of the points of the second part that lie in their regions.

        Parameters
        ----------
        first : ndarray of bool of shape (n_samples,)
            Mask of the points in the first part.
        pairs : ndarray of int64 of shape (n_pairs, 2)
            Pairs of pieces.

        Returns
        -------
        list of ndarray
            The places t along each border, in any order; none where two centres are one point.
        """
        places = np.empty((len(pairs), len(first)))
        sizes = np.empty(len(pairs), dtype=np.int64)
        border_places(self.scores, self.gram, first.view(np.uint8), pairs, places, sizes)
        return [row[:size] for row, size in zip(places, sizes, strict=True)]

    def count(self, first: Bools, pairs: Ints, *, threads: int = 1) -> Ints:
        """Count points of the second part at the peaks and in the valley located by the first part.

        Windows are .3 wide, their centres on a grid of .1 from -.3 to 1.3. The valley is the window with
        the fewest points of the first part among those centred at .3 to .7; a peak is the window with the
        most of them at least .3 to its left, or to its right.

        Parameters
        ----------
        first : ndarray of bool of shape (n_samples,)
            Mask of the points in the first part.
        pairs : ndarray of int64 of shape (n_pairs, 2)
            Pairs of pieces.
        threads : int, default=1
            Number of threads.

        Returns
        -------
        ndarray of int64 of shape (n_pairs, 3)
            Points of the second part at the peak of the first piece, in the valley, at the other peak.
        """
        counts = np.zeros((len(pairs), 3), dtype=np.int64)
        count_valleys(self.scores, self.gram, first.view(np.uint8), pairs, counts, threads)
        return counts


def border_geometry(
    X: Floats, first: Bools, pieces: Ints, n_pieces: int, *, estimated: bool = False
) -> BorderGeometry:
    """Fix the borders between pieces by the first part of the points.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points, best with a mean near 0.
    first : ndarray of bool of shape (n_samples,)
        Mask of the points in the first part. Nothing else enters centres and covariance.
    pieces : ndarray of int64 of shape (n_first,) or (n_samples,)
        The pieces of the first part, or of all points: 0 to n_pieces - 1; negative for points in none.
        Each piece has a point in the first part.
    n_pieces : int
        Number of pieces.
    estimated : bool, default=False
        Whether the share of the mean variance in the covariance is estimated (Ledoit and Wolf 2004), if it is
        more than a tenth: axes of round pieces with few points are then straighter.

    Returns
    -------
    BorderGeometry
        Places and counts along the borders of all points.
    """
    members = X[first]
    labels = pieces[first] if len(pieces) == len(X) else pieces
    inside = labels >= 0
    members, labels = members[inside], labels[inside]
    sizes = np.bincount(labels, minlength=n_pieces)
    with one_library_thread():
        sums = [np.bincount(labels, column, n_pieces) for column in members.T]
        centres = np.column_stack(sums) / sizes[:, None]
        rest = members - centres[labels]
        covariance = rest.T @ rest / len(rest)
        share = _SHRINKAGE
        if estimated:
            share = max(share, _estimated_share(rest))
        directions = _whitened(covariance, centres, share)
        scores = np.ascontiguousarray(X @ directions)
        gram = centres @ directions
    gram = np.ascontiguousarray(0.5 * (gram + gram.T))
    return BorderGeometry(scores, gram)


def _estimated_share(rest: Floats) -> float:
    """Return the share of Ledoit and Wolf (2004) as scikit-learn does, without its checks, which take longer."""
    n, d = rest.shape
    squares = rest**2
    variances = squares.sum(axis=0) / n
    mean = variances.sum() / d
    of_products = np.sum((rest.T @ rest) ** 2) / n**2
    noise = 1.0 / (d * n) * (np.sum(squares.T @ squares) / n - of_products)
    apart = (of_products - 2.0 * mean * variances.sum() + d * mean**2) / d
    noise = min(noise, apart)
    return 0.0 if d == 1 or noise == 0 else float(noise / apart)


def _whitened(covariance: Floats, centres: Floats, share: float) -> Floats:
    """Return C^-1 M' (d, K) for the shrunken covariance C: x' C^-1 m is an inner product after whitening."""
    d = len(covariance)
    spread = float(np.trace(covariance)) / d
    if not spread > 0.0:
        return np.asarray(centres.T.copy())
    shrunken = (1.0 - share) * covariance
    shrunken[np.diag_indices(d)] += share * spread
    return np.asarray(scipy.linalg.solve(shrunken, centres.T, assume_a="pos"))


def leading_components(X: Floats, n_components: int = 50, *, first: Bools | None = None) -> Floats:
    """Centre points, and above `n_components` features project them on the leading principal axes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points.
    n_components : int, default=50
        Number of components; points with no more features are only centred.
    first : ndarray of bool of shape (n_samples,), default=None
        Points from which the mean and axes are computed; None: all. Tests compute them from one part of the points
        and look at another.

    Returns
    -------
    ndarray of shape (n_samples, min(n_features, n_components))
        The points, centred; along the axes of most variance where there were more features. Fewer columns
        where fewer points span them.

    Notes
    -----
    Exact by the smaller of the two Gram matrices where points or features are at most 1,500; by randomised
    subspace iterations with a fixed seed beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.borders import leading_components
    >>> X = np.random.default_rng(0).normal(size=(200, 80)) * np.arange(80)
    >>> leading_components(X).shape, leading_components(X[:, :4]).shape
    ((200, 50), (200, 4))
    """
    sample = X if first is None else X[first]
    mean = sample.mean(axis=0)
    centred = X - mean
    if X.shape[1] <= n_components:
        return np.asarray(centred)
    sample = sample - mean
    n, d = sample.shape
    wanted = min(n_components, n)
    with one_library_thread():
        if d <= _WHOLE:
            axes = _leading(sample.T @ sample, wanted)
        elif n <= _WHOLE:
            vectors = _leading(sample @ sample.T, wanted)
            axes = sample.T @ vectors
            lengths = np.linalg.norm(axes, axis=0)
            axes = axes[:, lengths > 0] / lengths[lengths > 0]
        else:
            from sklearn.utils.extmath import randomized_svd

            axes = randomized_svd(sample, wanted, random_state=0)[2].T
        return np.ascontiguousarray(centred @ axes)


def _leading(matrix: Floats, k: int) -> Floats:
    """Return the k leading eigenvectors of a symmetric matrix, the first one first."""
    n = len(matrix)
    return np.asarray(some_eigenpairs(matrix, n - k, n)[1][:, ::-1])


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
    X: Floats,
    pieces: Ints,
    pairs: Ints,
    *,
    n_splits: int = 8,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> ValleyCounts:
    """Count the points in the valley of each border, and at the adjacent peaks.

    In each split a random half A, stratified by piece, gives the centres of the pieces, their pooled
    covariance C (used as .9 C + .1 tr(C)/d I, so that pieces are about round), the region of each border
    and its windows (`BorderGeometry`); the points of the other half B that lie there are counted. Points of
    all pieces, or of none, count.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points, finite and C-ordered. With more than some 50 features give `leading_components`.
    pieces : ndarray of int64 of shape (n_samples,)
        The piece of each point, 0 to K - 1 without a gap; negative for points in none.
    pairs : ndarray of int64 of shape (n_pairs, 2)
        Borders, as two different pieces each.
    n_splits : int, default=8
        Number of random splits.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the splits.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    ValleyCounts
        The counts of each border in each split.

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
    >>> pairs = np.array([(0, 1), (1, 2)])
    >>> valley_counts(apart, pieces, pairs, random_state=0).means.astype(int)
    array([[ 44,  36,  44],
           [149,   0, 161]])
    """
    threads = thread_count(n_jobs, "valley_counts")
    K = int(pieces.max()) + 1
    counts = np.zeros((len(pairs), n_splits, 3), dtype=np.int64)
    rngs = spawn_generators(seed_sequence(random_state, "valley_counts"), n_splits)
    for s, rng in enumerate(rngs):
        first = stratified_part(pieces, 0.5, rng)
        geometry = border_geometry(X, first, pieces, K)
        counts[:, s] = geometry.count(first, pairs, threads=threads)
    return ValleyCounts(pairs, counts)
