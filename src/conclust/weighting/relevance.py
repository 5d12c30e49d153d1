"""Weights of partitions by their typicality under several validity indices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import number_array
from conclust._types import Floats
from conclust._validation import shown
from conclust.exceptions import InputError

# Number of bins in which the values of an index are counted for its entropy.
_BINS = 10


def relevance_weights(values: ArrayLike, *, weights: ArrayLike | None = None) -> Floats:
    """Weight each partition by the typicality of its validity indices.

    With the values of each index brought to the range from 0 to 1 over the partitions, the weight
    of partition u is the sum over indices j of H_j (1 - abs(I_j(u) - mean of I_j)), where the
    entropy H_j of the values measures how well the index distinguishes partitions [1]_.

    Parameters
    ----------
    values : array-like of shape (n_indices, n_partitions) or (n_partitions,)
        Values of the validity indices, of any kind: internal ones of the data, or agreements.
    weights : array-like of shape (n_partitions,), default=None
        Weight of each partition in means and entropies. Partitions of weight 0 do not count,
        and get 0. None: all equal.

    Returns
    -------
    ndarray of shape (n_partitions,)
        Weights from 0 to 1, the largest 1; all 1 if no index distinguishes any partitions.

    Raises
    ------
    InputError
        If the values are not finite numbers in such a shape, or the weights not non-negative ones.

    Notes
    -----
    The entropy is taken over ten bins of equal width, by the shares of the partitions in them.

    References
    ----------
    .. [1] S. Vega-Pons, J. Correa-Morris and J. Ruiz-Shulcloper, "Weighted partition consensus via
       kernels", Pattern Recognition 43(8), 2010.

    Examples
    --------
    >>> from conclust.weighting import relevance_weights
    >>> relevance_weights([0.6, 0.7, 0.8, 0.1]).round(2)
    array([1.  , 0.85, 0.69, 0.38])
    """
    table = index_table(values, "values")
    m = table.shape[1]
    share = np.ones(m) if weights is None else number_array(weights, "'weights'")
    if share.shape != (m,) or not (share >= 0).all() or not 0 < share.sum() < np.inf:
        raise InputError(
            f"'weights' must be {m} non-negative numbers, not all of them 0. Got {shown(weights)}."
        )
    share = share / share.sum()
    counting = share > 0
    relevance = np.zeros(m)
    for row in table:
        low, high = row[counting].min(), row[counting].max()
        if high - low <= 1e-12 * max(abs(low), abs(high)):
            continue
        index = (row[counting] - low) / (high - low)
        bins = np.minimum((index * _BINS).astype(np.int64), _BINS - 1)
        shares = np.bincount(bins, share[counting])
        shares = shares[shares > 0]
        entropy = -float(shares @ np.log(shares))
        relevance[counting] += entropy * (1.0 - np.abs(index - share[counting] @ index))
    if relevance.max() <= 0.0:
        return np.asarray(counting, dtype=np.float64)
    return np.asarray(relevance / relevance.max())


def index_table(values: ArrayLike, name: str) -> Floats:
    """Return values of validity indices as a table with a row for each index and a column for each partition."""
    table = np.atleast_2d(number_array(values, repr(name)))
    if table.ndim != 2 or table.shape[1] == 0 or not np.isfinite(table).all():
        raise InputError(
            f"{name!r} must hold finite numbers, with one row per index and one column per "
            f"partition. Got an array of shape {table.shape}."
        )
    return table
