"""Reads weights of partitions, and the objects or partitions to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Floats, Ints
from conclust._validation import shown
from conclust.exceptions import InputError

T = TypeVar("T")

# Weights other than 0 are in this range: squares, products of two and shares of the sum neither overflow
# nor vanish.
SMALLEST, LARGEST = 1e-30, 1e30


def weights_by_name(weights: Any, names: Callable[[], Iterable[Any] | None]) -> Any:
    """Return weights in the order of the names of the partitions, if they are a Series of pandas with these names."""
    index: Any = getattr(weights, "index", None)
    given = names() if hasattr(index, "get_indexer") else None
    if given is None:
        return weights
    wanted, place = list(given), {name: u for u, name in enumerate(index)}
    if len(place) == len(index) and place.keys() == set(wanted):
        return np.asarray(weights)[[place[name] for name in wanted]]
    strangers = [name for name in index if name not in wanted]
    if strangers and any(isinstance(name, str) for name in place.keys() & set(wanted)):
        raise InputError(
            f"The weights have the names of other partitions: there is no {strangers[0]!r}. Choose those of "
            f"{shown(wanted)}, or pass weights.to_numpy() if they are in this order."
        )
    return weights


def read_weights(weights: ArrayLike | None, m: int) -> Floats | None:
    """Return the weights of m partitions, read-only."""
    if weights is None:
        return None
    try:
        raw = np.ma.filled(weights, np.nan) if np.ma.isMaskedArray(weights) else weights
        if np.iscomplexobj(raw):
            raise TypeError("complex numbers are in no order")
        array = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"The weights of an ensemble must be numbers. Got {shown(weights)} instead."
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
    outside = (array > 0) & ((array < SMALLEST) | (array > LARGEST))
    if outside.any():
        raise InputError(
            f"The weights of an ensemble must be 0 or between {SMALLEST:g} and {LARGEST:g}: methods "
            f"square and divide them. Got {array[outside][0]:g} for partition {np.argmax(outside)} "
            "instead. Divide all weights by the largest, and set negligible ones to 0."
        )
    array.flags.writeable = False
    return array


def within_range(weights: Floats) -> Floats:
    """Return learned weights in the range that `read_weights` accepts.

    Those that are negligible become 0; all are scaled only where the largest is out of range.
    """
    largest = float(weights.max())
    if not SMALLEST <= largest <= LARGEST:
        weights = weights / largest
    return np.where(weights < SMALLEST, 0.0, weights)


def read_list(values: Iterable[T], kind: type[T]) -> list[T]:
    """Return the ensembles to concatenate, all of one kind."""
    if not isinstance(values, Iterable):
        raise InputError(f"Ensemble.concat needs a list of ensembles. Got {shown(values)} instead.")
    ensembles = list(values)
    if not all(isinstance(one, kind) for one in ensembles):
        raise InputError("Ensemble.concat needs a list of ensembles: Ensemble(labels) makes one.")
    if not ensembles:
        raise InputError("Ensemble.concat needs at least one ensemble. Got none.")
    return ensembles


def read_index(chosen: ArrayLike | None, n: int, what: str) -> Ints:
    """Return indices below n from indices or bools; None stands for all."""
    if chosen is None:
        return np.arange(n)
    try:
        index = np.asarray(chosen)
    except ValueError:  # ragged
        index = np.empty(0)
    if index.dtype == np.bool_ and index.shape == (n,):
        return np.flatnonzero(index)
    if (
        index.ndim != 1
        or index.dtype.kind not in "iu"
        or (index.size and not (-n <= index.min() and index.max() < n))
    ):
        raise InputError(
            f"The {what!r} to keep must be a vector of indices below {n}, or {n} bools. Got {shown(chosen)} instead."
        )
    return index.astype(np.int64) % n
