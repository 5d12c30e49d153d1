"""The class of data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conclust._types import Floats, Ints
from conclust._validation import count


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Points (or ready label matrices) with their known classes.

    The classes are for scoring only: no estimator, generator or selection reads them.

    Attributes
    ----------
    name : str
        The name it is loaded by.
    X : (n_samples, n_features) float64 array
        Features, missing values NaN. For ready ensembles the integer label matrix
        (n_samples, n_partitions), for texts a scipy CSR array of word counts.
    y : (n_samples,) int64
        Classes, 0 .. n_classes - 1.
    feature_names : tuple of str
        A name per column of X.
    target_names : tuple of str
        A name per class.
    source : str
        Description and origin.
    membership : (n_samples, n_classes) float64 array or None
        The true probabilities of the classes, where the law that made the points is known.
    """

    name: str
    X: Any
    y: Ints
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    source: str
    membership: Floats | None = None

    def __repr__(self) -> str:
        n, d = self.X.shape
        soft = ", with the true membership" if self.membership is not None else ""
        return f"Dataset({self.name!r}, X of {n} x {d}, {count(len(self.target_names), 'class')}{soft})"
