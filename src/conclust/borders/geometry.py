"""Positions of points along the borders between pieces: centres, a space in which pieces are round, regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from conclust._kernels import border_places, count_valleys, nearest_centres
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.spectra.eigenpairs import some_eigenpairs

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
    nearest : ndarray of int64 of shape (n_samples,)
        The centre that is nearest to each point.
    """

    scores: Floats
    gram: Floats
    nearest: Ints

    def places(self, pairs: Ints, *, threads: int = 1) -> Floats:
        """Return the positions of all points along borders; NaN outside the region of a border.

        Parameters
        ----------
        pairs : ndarray of int64 of shape (n_pairs, 2)
            Pairs of pieces.
        threads : int, default=1
            Number of threads.

        Returns
        -------
        ndarray of shape (n_pairs, n_samples)
            The places t; all NaN where two centres are one point.
        """
        places = np.empty((len(pairs), len(self.nearest)))
        border_places(self.scores, self.gram, self.nearest, pairs, places, threads)
        return places

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
        count_valleys(
            self.scores, self.gram, self.nearest, first.view(np.uint8), pairs, counts, threads
        )
        return counts


def border_geometry(
    X: Floats,
    first: Bools,
    pieces: Ints,
    n_pieces: int,
    *,
    estimated: bool = False,
    threads: int = 1,
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
    threads : int, default=1
        Number of threads.

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
        order = np.argsort(labels, kind="stable")
        sums = np.zeros((n_pieces, X.shape[1]))
        np.add.at(sums, labels[order], members[order])
        centres = sums / sizes[:, None]
        rest = members - centres[labels]
        covariance = rest.T @ rest / len(rest)
        share = _SHRINKAGE
        if estimated:
            from sklearn.covariance import ledoit_wolf_shrinkage

            share = max(share, float(ledoit_wolf_shrinkage(rest, assume_centered=True)))
        directions = _whitened(covariance, centres, share)
        scores = np.ascontiguousarray(X @ directions)
        gram = centres @ directions
    gram = np.ascontiguousarray(0.5 * (gram + gram.T))
    nearest = np.empty(len(X), dtype=np.int64)
    nearest_centres(scores, gram, nearest, threads)
    return BorderGeometry(scores, gram, nearest)


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
