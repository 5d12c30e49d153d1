"""The objects of an ensemble that have equal rows of labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from conclust._equal_rows import EqualRows

if TYPE_CHECKING:
    from conclust.ensemble import Ensemble

__all__ = ["DistinctRows"]


@dataclass(frozen=True, eq=False)
class DistinctRows(EqualRows):
    """The distinct rows of labels of an ensemble (`Ensemble.distinct_rows`).

    Attributes
    ----------
    first : ndarray of int64 of shape (n_rows,)
        The first object with each row.
    inverse : ndarray of int64 of shape (n_objects,)
        The row of each object.
    counts : ndarray of int64 of shape (n_rows,)
        Number of objects with each row.
    whole : Ensemble
        The ensemble that the objects are of.
    """

    whole: Ensemble = field(repr=False)

    @classmethod
    def each_object(cls, whole: Ensemble) -> DistinctRows:
        """Return one row per object, without combining equal rows."""
        alone = EqualRows.each_alone(whole.n_samples)
        return cls(alone.first, alone.inverse, alone.counts, whole)

    @property
    def n_objects(self) -> int:
        """How many objects the rows stand for."""
        return len(self.inverse)

    @property
    def cells(self) -> int:
        """Number of labels in the rows."""
        return int(self.ensemble.codes.size)

    @cached_property
    def ensemble(self) -> Ensemble:
        """One object with each row, with the clusters numbered as in the whole ensemble."""
        everything = np.array_equal(self.first, np.arange(self.whole.n_samples))
        return self.whole if everything else self.whole.part(self.first)

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Co-association of each row with all objects, itself included, summed."""
        ensemble = self.ensemble
        sizes = ensemble.indicator.T @ self.masses
        degrees = ensemble.indicator @ (ensemble.column_weights * sizes)
        if ensemble.has_noise:
            degrees += ensemble.noise @ ensemble.partition_weights
        return np.asarray(degrees)

    def some(self, objects: NDArray[np.int64]) -> tuple[DistinctRows, NDArray[np.int64]]:
        """Return the rows of some objects, in their order here, and their indices."""
        kept, inverse, counts = np.unique(
            self.inverse[objects], return_inverse=True, return_counts=True
        )
        return DistinctRows(self.first[kept], inverse, counts, self.whole), kept
