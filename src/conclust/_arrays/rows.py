"""Equal rows of a matrix, and ratios with degrees, sizes and weights, of which some are 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import group_rows
from conclust._types import Bools, Floats, Ints


def cross_counts(first: NDArray[Any], second: NDArray[Any], shape: tuple[int, int]) -> Ints:
    """Count the objects by their numbers in both, as a table; a negative number: not counted."""
    both = (first >= 0) & (second >= 0)
    cells = first[both].astype(np.int64) * shape[1] + second[both]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


@dataclass(frozen=True, eq=False)
class EqualRows:
    """Groups of equal rows, numbered by first appearance.

    Attributes
    ----------
    first : ndarray of int64 of shape (n_groups,)
        The first row of each group.
    inverse : ndarray of int64 of shape (n_rows,)
        The group of each row.
    counts : ndarray of int64 of shape (n_groups,)
        Number of rows in each group.
    """

    first: Ints
    inverse: Ints
    counts: Ints

    @classmethod
    def of(cls, rows: NDArray[Any]) -> EqualRows:
        """Group the rows of a matrix that are equal to the byte: 0.0 and -0.0 are not."""
        rows = np.ascontiguousarray(rows)
        inverse = np.empty(len(rows), dtype=np.int64)
        first = group_rows(rows.view(np.uint8).reshape(len(rows), rows[:1].nbytes), inverse)
        return EqualRows(first, inverse, np.bincount(inverse, minlength=len(first)))

    @classmethod
    def each_alone(cls, n_rows: int) -> EqualRows:
        """Return groups of one row each."""
        alone = np.arange(n_rows)
        return EqualRows(alone, alone, np.ones(n_rows, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def masses(self) -> Floats:
        """The counts in floating point, as kernels take them."""
        return self.counts.astype(np.float64)

    def one_of_each(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value of the last row of each group."""
        chosen = np.empty(len(self), dtype=values.dtype)
        chosen[self.inverse] = values
        return chosen

    def drawn(self, size: int, rng: np.random.Generator) -> Ints:
        """Return the groups of random rows, at most `size`, in increasing order."""
        if len(self) <= size:
            return np.arange(len(self))
        groups, first = np.unique(
            self.inverse[rng.permutation(len(self.inverse))], return_index=True
        )
        return np.sort(groups[np.argsort(first)[:size]])

    def apart(self, alone: Bools) -> Self:
        """Return the groups with some of them split into single rows.

        alone (n_groups,): mask of these groups.
        """
        objects = np.arange(len(self.inverse))
        first = np.where(alone[self.inverse], objects, self.first[self.inverse])
        leads = first == objects
        inverse = (np.cumsum(leads) - 1)[first]
        return replace(
            self, first=np.flatnonzero(leads), inverse=inverse, counts=np.bincount(inverse)
        )

    def counted(self, times: Ints) -> Self:
        """Return the groups with each row counted `times` times."""
        counts = np.bincount(self.inverse, times, len(self)).astype(np.int64)
        return replace(self, counts=counts)

    def reordered(self, order: Ints) -> Self:
        """Return the groups in another order."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return replace(
            self, first=self.first[order], inverse=place[self.inverse], counts=self.counts[order]
        )


def inverse_or_zero(values: NDArray[Any]) -> Floats:
    """Return 1 / x for positive x, and 0 for others."""
    inverse: Floats = np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)
    return inverse


def ratio(numerator: NDArray[Any], denominator: NDArray[Any], otherwise: float = 0.0) -> Floats:
    """Return the ratio where the denominator is positive, and `otherwise` elsewhere, in the shape of the numerator."""
    ratios = np.full_like(numerator, otherwise, dtype=np.float64)
    np.divide(numerator, denominator, out=ratios, where=denominator > 0)
    return ratios


def shares_of_rows(table: Floats) -> Floats:
    """Return rows scaled to sum to 1; uniform for rows of zeros."""
    return ratio(table, table.sum(axis=1, keepdims=True), 1.0 / table.shape[1])
