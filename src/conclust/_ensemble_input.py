"""What users give beside labels: weights of partitions, and which objects or partitions to keep."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust.exceptions import InputError

__all__ = ["read_index", "read_weights"]


def read_weights(weights: ArrayLike | None, m: int) -> NDArray[np.float64] | None:
    """Return the weights of m partitions, read-only."""
    if weights is None:
        return None
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The weights of an ensemble must be numbers. Got {weights!r} instead."
        ) from error
    if array.shape != (m,):
        raise InputError(
            f"The weights of an ensemble must be one number per partition, shape ({m},). Got shape "
            f"{array.shape} instead."
        )
    if not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise InputError(
            "The weights of an ensemble must be finite, at least 0 and not all 0. Got "
            f"{array.min()} to {array.max()} instead."
        )
    array.flags.writeable = False
    return array


def read_index(chosen: ArrayLike | None, n: int, what: str) -> NDArray[np.int64]:
    """Return places among n from indices or bools; None is all of them."""
    if chosen is None:
        return np.arange(n)
    index = np.asarray(chosen)
    if index.dtype == np.bool_ and index.shape == (n,):
        return np.flatnonzero(index)
    if (
        index.ndim != 1
        or index.dtype.kind not in "iu"
        or (index.size and not (-n <= index.min() and index.max() < n))
    ):
        raise InputError(
            f"The {what!r} to keep must be a vector of indices below {n}, or {n} bools. Got {chosen!r} instead."
        )
    return index.astype(np.int64) % n
