"""Points in the scale used by the members of a fitted generator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.generation.labelling.labelling import scaled
from conclust.generation.labelling.rows import Rows, is_in_blocks
from conclust.generation.points import read_points

__all__ = ["scaled_blocks", "scaled_points"]


def scaled_blocks(generator: Any, X: Any) -> Iterator[NDArray[np.float64]]:
    """Read points in the scale of the members, block by block.

    Parameters
    ----------
    generator : EnsembleGenerator
        The fitted generator.
    X : array-like of shape (n_samples, n_features)
        The points of ``fit``, or new ones.

    Yields
    ------
    ndarray of shape (n_rows, n_features)
        The points of a block of rows.
    """
    for _, block in _rows_of(generator, X).blocks():
        yield scaled(block, generator.scaler_)


def scaled_points(generator: Any, X: Any, objects: NDArray[np.int64]) -> NDArray[np.float64]:
    """Read some points in the scale of the members.

    Parameters
    ----------
    generator : EnsembleGenerator
        The fitted generator.
    X : array-like of shape (n_samples, n_features)
        The points of ``fit``, or new ones.
    objects : ndarray of int64 of shape (n_objects,)
        The rows to read, in rising order.

    Returns
    -------
    ndarray of shape (n_objects, n_features)
        The points.
    """
    samples = _rows_of(generator, X).samples(lambda _: objects, 1, max(1, len(objects)), 1)
    return scaled(next(iter(samples))[0][1], generator.scaler_)


def _rows_of(generator: Any, X: Any) -> Rows:
    owner = type(generator).__name__
    return Rows(X if is_in_blocks(X) else read_points(generator, X, reset=False), owner)
