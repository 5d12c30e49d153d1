"""The inconsistency coefficient: how much repeated clusterings differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import UnsupportedEnsembleError
from conclust.measures.comparison import element_centric_similarity


@dataclass(frozen=True)
class Inconsistency:
    """Differences between the partitions of an ensemble.

    Attributes
    ----------
    coefficient : float
        Inconsistency coefficient: 1 divided by the weighted mean of all entries of `similarity`. It is 1 if all
        partitions are equal, and grows as they differ more.
    similarity : ndarray of shape (n_partitions, n_partitions)
        Element-centric similarity of every two partitions.
    n_different : int
        Number of different partitions.
    typical : int
        Partition most similar to all others; the first one if several are equal.
    """

    coefficient: float
    similarity: Floats
    n_different: int
    typical: int

    def __repr__(self) -> str:
        return (
            f"Inconsistency({self.coefficient:.4f}; {self.n_different} different partitions of "
            f"{len(self.similarity)}, the most typical is {self.typical})"
        )


def inconsistency(ensemble: Ensemble | ArrayLike) -> Inconsistency:
    """Measure how much repeated clusterings differ: the inconsistency coefficient of scICE.

    With S the element-centric similarities of the different partitions
    (:func:`conclust.metrics.element_centric_similarity`) and p the shares of the runs that found them, it is
    1 / (p' S p) [1]_. It is meant for runs that differ only in their seeds; compute it for each resolution
    separately.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions. Two of them are compared on the objects that both observed; noise is a cluster of one.

    Returns
    -------
    Inconsistency
        The coefficient, and the similarities from which it was computed.

    Raises
    ------
    InputError
        If the labels are malformed, or two partitions share no object.
    UnsupportedEnsembleError
        If the members are soft.

    Notes
    -----
    O(n d^2) time for d different partitions.

    References
    ----------
    .. [1] H. Kim et al., "scICE: enhancing clustering reliability and efficiency of scRNA-seq data with
       multi-cluster label consistency evaluation", Nature Communications 16, 2025.

    Examples
    --------
    >>> from conclust.confidence import inconsistency
    >>> inconsistency([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    Inconsistency(1.2558; 2 different partitions of 3, the most typical is 0)
    """
    members = as_ensemble(ensemble)
    if members.is_soft:
        raise UnsupportedEnsembleError(
            "inconsistency compares hard partitions, and the ensemble has soft members: "
            "take the most probable cluster of each object."
        )
    labels = members.labels
    different, place = _different(labels)
    d = len(different)
    table = np.ones((d, d))
    for a in range(d):
        for b in range(a):
            table[a, b] = table[b, a] = element_centric_similarity(
                labels[:, different[a]], labels[:, different[b]]
            )
    similarity = table[np.ix_(place, place)]
    weights = np.ones(len(place)) if members.weights is None else np.asarray(members.weights)
    shares = weights / weights.sum()
    mean = similarity @ shares
    # Means of equal partitions differ by rounding: the product adds rows in different ways.
    typical = int((mean >= mean.max() - 1e-12).argmax())
    return Inconsistency(float(1.0 / (shares @ mean)), similarity, d, typical)


def _different(labels: NDArray[np.generic]) -> tuple[list[int], Ints]:
    """Return the columns that differ from all earlier ones, and for each column its index among them."""
    different: list[int] = []
    numbers: dict[bytes, int] = {}
    place = np.empty(labels.shape[1], dtype=np.int64)
    for u, column in enumerate(labels.T):
        key = np.ascontiguousarray(column).tobytes()
        if key not in numbers:
            numbers[key] = len(different)
            different.append(u)
        place[u] = numbers[key]
    return different, place
