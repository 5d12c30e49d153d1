"""Columns of categories of points: as distances, and shuffled independently in references.

A column becomes the indicators of its categories, so that two objects of different categories are one
distance apart, whichever these are. All its indicators together vary as much as a column of numbers does
on average. A reference permutes each column of categories by itself and draws the numbers as without
categories: where the numbers are one Gaussian cloud and no category depends on anything else, the points and
all references are exchangeable, and the p-value is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conclust._arrays.points import column_names
from conclust._types import Floats, Ints
from conclust.ensemble.labels import MISSING, NOISE
from conclust.exceptions import InputError
from conclust.measures.contingency import read_labels

Draw = Callable[[Floats, np.random.Generator], Floats]


def read_categories(categories: Any, n: int, owner: str) -> Ints | None:
    """Return a number for each category (n, n_columns), -1 for an empty cell; None if there is no column.

    Raises
    ------
    InputError
        There is not a row for each object, or a column has one category only.
    """
    if categories is None:
        return None
    frame = hasattr(categories, "columns")
    shape = categories.shape if frame else np.shape(categories)
    if len(shape) != 2 or shape[0] != n or not shape[1]:
        raise InputError(
            f"The 'categories' of {owner} must have a row for each of the {n} objects and at least one column. "
            f"Got shape {tuple(shape)}."
        )
    array = np.asarray(categories, dtype=object)
    codes = np.empty(shape, dtype=np.int64)
    for j in range(shape[1]):
        numbers, names = read_labels(array[:, j], f"categories[:, {j}]")
        codes[:, j] = np.where(numbers == NOISE, len(names), numbers)
        if len(np.unique(codes[codes[:, j] != MISSING, j])) < 2:
            name = column_names(categories)[j] if frame else j
            raise InputError(
                f"The column {name!r} of 'categories' has one category only, or none: leave it out."
            )
    return codes


def beside(scores: Floats, codes: Ints, n_features: int, weight: float) -> tuple[Floats, list[int]]:
    """Append the indicators of categories to scores; also return the columns of each block.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, r)
        Principal scores of the numbers.
    codes : ndarray of shape (n_samples, n_columns)
        Result of `read_categories`.
    n_features : int
        Columns of numbers that the scores were made of.
    weight : float
        Number of columns of numbers that a column of categories counts for.
    """
    each = float(np.square(scores).sum()) / (len(scores) * n_features)
    blocks, widths = [scores], [scores.shape[1]]
    for column in codes.T:
        values, numbers = np.unique(column, return_inverse=True)
        block = (numbers[:, None] == np.arange(len(values))).astype(np.float64)
        observed = column != MISSING
        block = block[:, values != MISSING]
        block[observed] -= block[observed].mean(axis=0)
        block[~observed] = 0.0  # an empty cell is at the same distance from all categories
        variance = float(np.square(block).sum()) / len(block)
        if variance > 0:  # drawn objects may have only one category
            blocks.append(block * np.sqrt(weight * each / variance))
            widths.append(block.shape[1])
    return np.ascontiguousarray(np.concatenate(blocks, axis=1)), widths


def permuting(draw: Draw, widths: Sequence[int]) -> Draw:
    """Return a generator of references for points with categories.

    Parameters
    ----------
    draw : callable
        Draws the references of the numbers, which are the first block.
    widths : sequence of int
        Columns of each block.
    """
    ends = np.cumsum(widths)

    def drawn(points: Floats, rng: np.random.Generator) -> Floats:
        numbers, *blocks = np.split(points, ends[:-1], axis=1)
        parts = [draw(numbers, rng), *(rng.permutation(block) for block in blocks)]
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    return drawn
