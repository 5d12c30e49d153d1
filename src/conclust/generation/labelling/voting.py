"""Labels points by the majority of their nearest fitted neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import neighbour_vote
from conclust._types import Floats, Ints
from conclust.neighbours.search import PointIndex

VOTERS = 15
# Maximum number of fitted points that are all compared with each point.
_FEW = 5000


@dataclass(frozen=True)
class NeighbourVote:
    """Labels points by the majority of their 15 nearest fitted points.

    Ties go to the label of the nearest point, so that the numbering of clusters does not matter. A fitted point
    keeps its own label. The label of a point does not depend on the points that it comes with.

    Attributes
    ----------
    points : ndarray of shape (n_points, n_features)
        The fitted points, all different.
    labels : ndarray of int32 of shape (n_points,)
        The cluster of each, from 0 on.
    index : PointIndex
        The points, arranged for the search.
    """

    points: Floats
    labels: NDArray[np.int32]
    index: PointIndex = field(repr=False, compare=False)

    kind: ClassVar[str] = "neighbours"
    layout: ClassVar[dict[str, tuple[str, int]]] = {
        "points": ("f", 2),
        "labels": ("i", 1),
    }

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.points.shape[1])

    def label(self, points: Floats) -> Ints:
        """Return the cluster of each point."""
        return self.label_all([self], points)[:, 0].astype(np.int64)

    @staticmethod
    def label_all(
        models: Sequence[NeighbourVote], points: Floats, threads: int = 1
    ) -> NDArray[np.int32]:
        """Return the clusters of points (n, n_models) by models of the same fitted points.

        Parameters
        ----------
        models : sequence of NeighbourVote
            The neighbours are searched for once.
        points : ndarray of shape (n, n_features)
            The points.
        threads : int, default=1
            Number of threads of the search.
        """
        one = models[0]
        voters, squares = one.index.nearest(np.ascontiguousarray(points) + 0.0, VOTERS, threads)
        return vote(voters, squares, np.stack([model.labels for model in models], axis=1))

    def shares_search(self, other: NeighbourVote) -> bool:
        """Return whether the other model has the same fitted points."""
        return self.points is other.points or np.array_equal(self.points, other.points)

    def reordered(self, clusters: Ints) -> Self:
        """Return the model with its clusters in this order."""
        number = np.empty(self.n_clusters, dtype=np.int32)
        number[clusters] = np.arange(len(clusters), dtype=np.int32)
        return replace(self, labels=number[self.labels])

    def packed(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the model, as described by `layout`."""
        return {"points": self.points, "labels": self.labels}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> Self | None:
        """Return the model from its `packed` arrays; None if they are invalid."""
        if {name: (array.dtype.kind, array.ndim) for name, array in arrays.items()} != cls.layout:
            return None
        points = np.ascontiguousarray(arrays["points"], dtype=np.float64)
        labels = arrays["labels"]
        fits = (
            points.size > 0
            and labels.shape == (len(points),)
            and bool(np.isfinite(points).all())
            and int(labels.min()) == 0
            and int(labels.max()) < len(points)
            and bool(np.bincount(labels).all())
        )
        if not fits:
            return None
        return cls(points, labels.astype(np.int32), voters_of(points))


def voters_of(points: Floats) -> PointIndex:
    """Arrange fitted points for the search of voters, which finds about 98 % of them among many points."""
    return PointIndex(points, _FEW)


def vote(
    voters: NDArray[np.int32], squares: Floats, labels: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the labels (n, n_members) that most neighbours have.

    Parameters
    ----------
    voters : ndarray of int32 of shape (n, k)
        The neighbours of each point, nearest first.
    squares : ndarray of shape (n, k)
        Their squared distances. At a distance of 0, the nearest neighbour alone counts.
    labels : ndarray of int32 of shape (n_points, n_members)
        The labels of the neighbours.
    """
    decided = np.empty((len(voters), labels.shape[1]), dtype=np.int32)
    neighbour_vote(voters, squares, np.ascontiguousarray(labels), decided)
    return decided
