"""Tests of borders as plain data, for the file of a Selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.storage import json_numbers
from conclust.confidence import BorderTests
from conclust.confidence.borders import Merge

__all__ = ["packed_borders", "unpacked_borders"]

_SQUARES = ("p_value", "adjusted", "valley_p_value")


def packed_borders(tests: BorderTests | None) -> dict[str, Any] | None:
    """Return tests of borders as JSON data without the labels; None if there are none."""
    if tests is None:
        return None
    return {
        "clusters": tests.n_clusters,
        "names": [int(name) for name in tests.names],
        "alpha": tests.alpha,
        **{name: json_numbers(getattr(tests, name)) for name in _SQUARES},
        "neighbours": tests.neighbours.tolist(),
        "counts": json_numbers(tests.counts),
        "agreement": json_numbers(tests.agreement),
        "merges": [[m.first, m.second, m.p_value, m.largest] for m in tests.merges],
    }


def unpacked_borders(content: Any, labels: dict[int, NDArray[np.int64]]) -> BorderTests | None:
    """Restore tests of borders between the clusters of one of the numbers tried.

    Parameters
    ----------
    content : object
        Result of `packed_borders`, as it was read.
    labels : dict of int to ndarray of shape (n_samples,)
        The clusters of each number.

    Raises
    ------
    ValueError, TypeError, KeyError
        If the content is invalid.
    """
    if content is None:
        return None
    K = content["clusters"]
    squares = {name: _array(content[name], (K, K)) for name in _SQUARES}
    neighbours = np.array(content["neighbours"])
    if neighbours.shape != (K, K) or neighbours.dtype != np.bool_:
        raise ValueError("neighbours")
    merges = tuple(Merge(int(a), int(b), float(p), float(q)) for a, b, p, q in content["merges"])
    if any(not (0 <= m.first < K and 0 <= m.second < K) for m in merges):
        raise ValueError("merges")
    # The tests number clusters by first appearance; their names are the numbers of the selection.
    names = tuple(content["names"])
    if sorted(names) != list(range(K)):
        raise ValueError("names")
    of = labels[K]
    codes = np.where(of >= 0, np.argsort(names)[of], of)
    alpha = float(content["alpha"])
    if not 0 < alpha <= 1:
        raise ValueError("alpha")
    return BorderTests(
        neighbours=neighbours,
        counts=_array(content["counts"], (K, K, 3)),
        agreement=_array(content["agreement"], (len(content["agreement"]),)),
        labels=codes,
        names=names,
        merges=merges,
        alpha=alpha,
        **squares,
    )


def _array(values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    numbers = np.array(values, dtype=np.float64)
    if numbers.shape != shape:
        raise ValueError(f"an array of shape {numbers.shape}")
    return numbers
