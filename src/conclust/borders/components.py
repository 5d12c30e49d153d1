"""Leading principal components of points with many features."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from conclust._threads import one_library_thread

__all__ = ["leading_components"]

# Maximum smaller side of a matrix whose full Gram matrix is decomposed.
_WHOLE = 1_500


def leading_components(
    X: NDArray[np.float64],
    n_components: int = 50,
    *,
    first: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
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


def _leading(matrix: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the k leading eigenvectors of a symmetric matrix, the first one first."""
    n = len(matrix)
    vectors = scipy.linalg.eigh(matrix, subset_by_index=(n - k, n - 1))[1]
    return np.asarray(vectors[:, ::-1])
