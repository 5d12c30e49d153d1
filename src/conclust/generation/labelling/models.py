"""Models with which members label points: by centres, or by a cut of landmarks.

The label of a point never depends, in any bit, on which other points it comes with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from conclust._arrays.containers import holds
from conclust._arrays.rows import EqualRows
from conclust._kernels import label_block, landmark_labels, neighbour_vote
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.exceptions import InputError
from conclust.neighbours.search import PointIndex

# Squares of distances between points with larger numbers may be infinite.
_HUGE = 1e152
# Points of a call of a kernel, and their coordinates: an interrupt takes effect between two calls.
_BLOCK = 1 << 17
_COORDINATES = 1 << 20


@dataclass(frozen=True)
class Centers:
    """Assigns points to the nearest centre.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        One centre per cluster.
    """

    centers: Floats

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.centers)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.centers.shape[1])

    def label(self, points: Floats) -> Ints:
        """Return the cluster of each point."""
        return nearest_center(points, self.centers)

    def reordered(self, clusters: Ints) -> Self:
        """Return the model of only these clusters, in this order."""
        return replace(self, centers=np.ascontiguousarray(self.centers[clusters]))

    def _restored(self) -> bool:
        """Return whether centres that were read from a file are numbers."""
        return self.centers.size > 0 and holds(self.centers, *self.centers.shape[:2])


@dataclass(frozen=True)
class Directions(Centers):
    """Assigns points to the unit centre with the largest cosine; refuses points without direction."""

    def label(self, points: Floats) -> Ints:
        """Return the cluster of each point."""
        odd = out_of_scale(points)
        if odd.size:
            points = np.array(points, dtype=np.float64)
            _, exponents = np.frexp(np.abs(points[odd]).max(axis=1, keepdims=True))
            points[odd] = np.ldexp(points[odd], -exponents)  # the same directions
        return super().label(points)

    def shares_search(self, other: Directions) -> bool:
        """Return True: points are checked once for all."""
        return True


def out_of_scale(points: Floats) -> Ints:
    """Return the points whose distances from unit centres do not show their directions: very large or small ones.

    Refuses points without a direction.
    """
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", points, points)
    odd = np.flatnonzero(~((squares > 2.0**-40) & (squares < 2.0**40)))
    if not points[odd].any(axis=1).all():
        refuse_without_direction(points)
    return odd


def refuse_without_direction(points: Floats) -> None:
    """Raise the error for points without a cosine."""
    without = int(np.count_nonzero(~points.any(axis=1)))
    if without:
        raise InputError(
            f"Members of method='spherical' compare directions, and {without} of {len(points)} points have "
            "none: all the features of a member are 0. Leave these points out, or use method='kmeans'."
        )


def refuse_huge(points: Floats) -> None:
    """Raise the error for points whose squared distances may be infinite."""
    largest = float(np.abs(points).max(initial=0.0))
    if largest > _HUGE:
        raise InputError(
            f"Spectral members square distances, and need numbers up to {_HUGE:g}. Got {largest:.3g}: divide "
            "the columns by a common unit, or use scale='minmax'."
        )


def _blocks(points: Floats) -> Iterator[slice]:
    n, d = points.shape
    step = max(1, min(_BLOCK, _COORDINATES // d))
    for start in range(0, n, step):
        yield slice(start, start + step)


# Numbers of landmarks that an object is tied to: the graphs of an ensemble take them in turn. As many as the largest are
# searched for, whatever graphs are asked for: what a search among many finds depends on their number.
NEAREST = (5, 7, 10, 14)


def tie_weights(squares: Floats, sigma: float) -> Floats:
    """Turn squared distances (n, k) into exp(-d^2 / (2 s^2)); the array is overwritten.

    s^2 is sigma^2, or the mean of the point's own d^2 where that is larger. So a point that is far from all landmarks
    has weights of at least exp(-k / 2), too: no outlier is all but cut off from the graph.
    """
    widths = np.maximum(squares.mean(axis=1, keepdims=True), sigma**2)
    np.divide(squares, np.where(widths > 0, -2.0 * widths, -1.0), out=squares)
    return np.exp(squares, out=squares)


@dataclass(frozen=True)
class LandmarkCut:
    """Places points by their landmarks: a cut of the graph of points and landmarks.

    A point stands at the mean of its landmarks' places in the embedding, weighted by its ties and brought
    to unit length, and goes to the nearest centre there. This does not depend on other points: new ones are
    labelled like those of the cut.

    Attributes
    ----------
    search : PointIndex
        The landmarks; all points of a small set.
    n_nearest : int
        Number of landmarks to which a point is tied.
    sigma : float
        The scale of the ties: exp(-d^2 / (2 sigma^2)).
    loads : ndarray of shape (p, r)
        Places of the landmarks.
    centers : ndarray of shape (n_clusters, r)
        Centres of the clusters.
    """

    search: PointIndex
    n_nearest: int
    sigma: float
    loads: Floats
    centers: Floats

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.centers)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.search.points.shape[1])

    def label(self, points: Floats) -> Ints:
        """Return the cluster of each point."""
        return self.label_all([self], points)[:, 0]

    @staticmethod
    def label_all(cuts: Sequence[LandmarkCut], points: Floats) -> Ints:
        """Return the clusters of points (n, n_cuts) by cuts of graphs of the same landmarks, searched for once."""
        labels = np.empty((len(points), len(cuts)), dtype=np.int64)
        graphs: dict[tuple[int, float], list[int]] = {}
        for column, cut in enumerate(cuts):
            graphs.setdefault((cut.n_nearest, cut.sigma), []).append(column)
        most = max(*NEAREST, max(graphs)[0])
        for block in _blocks(points):
            indices, squares = cuts[0].search.nearest(points[block], most)
            for (k, sigma), columns in graphs.items():
                found = np.ascontiguousarray(indices[:, :k])
                weights = tie_weights(squares[:, :k].copy(), sigma)
                for column in columns:
                    labels[block, column] = cuts[column].label_tied(found, weights)
        return labels

    def shares_search(self, other: LandmarkCut) -> bool:
        """Return whether the other model ties points to the same landmarks."""
        return self.search.same_as(other.search)

    def label_tied(self, landmarks: NDArray[np.int32], weights: Floats) -> Ints:
        """Return the cluster of each point from its landmarks and their weights.

        Parameters
        ----------
        landmarks : ndarray of shape (n, n_nearest)
            The landmarks.
        weights : ndarray of shape (n, n_nearest)
            The weights of the ties.
        """
        labels = np.empty(len(landmarks), dtype=np.int64)
        across = np.ascontiguousarray(self.centers.T)
        half = 0.5 * (self.centers**2).sum(axis=1)
        for start in range(0, len(landmarks), _BLOCK):
            block = slice(start, start + _BLOCK)
            landmark_labels(
                landmarks[block], weights[block], self.loads, across, half, labels[block]
            )
        return labels

    def reordered(self, clusters: Ints) -> LandmarkCut:
        """Return the model of only these clusters, in this order."""
        return replace(self, centers=np.ascontiguousarray(self.centers[clusters]))

    def _restored(self) -> bool:
        """Return whether parts that were read from a file fit each other."""
        return (
            1 <= self.n_nearest <= len(self.search.points)
            and 0 <= self.sigma < np.inf
            and self.centers.size > 0
            and holds(self.loads, len(self.search.points), self.loads.shape[-1])
            and holds(self.centers, len(self.centers), self.loads.shape[-1])
        )


class Searches:
    """Lets models of equal landmarks or points share one search, as they did when they were made."""

    def __init__(self) -> None:
        self._first: list[Any] = []

    def shared(self, model: Model | None) -> Model | None:
        """Return the model with the search of an earlier one, if that is equal."""
        if not isinstance(model, LandmarkCut | NeighbourVote):
            return model
        mine: Any = model.search
        for one in self._first:
            if type(one) is type(mine) and one.same_as(mine):
                return replace(model, search=one)
        self._first.append(mine)
        return model


# Multiplications of one call of the kernel: an interrupt takes effect between two calls.
_CALL = 2e10


class CenterSets:
    """The centres of several members, each with its columns of the points, as the kernel reads them.

    A label is the centre with the smallest sum of squared differences, added up feature by feature in double
    precision, the first one of a tie: it does not depend on the other points, the number of threads or the
    instruction set (`_kernels/kmeans/labelling.h`).

    Parameters
    ----------
    centers : sequence of ndarray of shape (K_u, f_u)
        The centres of each member.
    columns : sequence of ndarray of int of shape (f_u,)
        The features that each member reads.
    places : sequence of int
        The column of the labels that each member writes.
    """

    def __init__(
        self, centers: Sequence[Floats], columns: Sequence[Ints], places: Sequence[int]
    ) -> None:
        flat = [np.asarray(member_centers, dtype=np.float64).ravel() for member_centers in centers]
        self._centers = np.concatenate(flat)
        self._starts = _bounds([len(member_centers) for member_centers in centers])
        self._columns = np.concatenate(columns).astype(np.int32)
        self._n_columns = int(self._columns.max(initial=-1)) + 1
        self._column_starts = _bounds([len(member_centers) for member_centers in columns])
        self._places = np.asarray(places, dtype=np.int32)

    def label(self, points: NDArray[Any], labels: NDArray[Any], threads: int = 1) -> None:
        """Write the labels of a block of points into the columns of the members.

        Parameters
        ----------
        points : ndarray of shape (n, d)
            C-ordered and finite, float32 or float64.
        labels : ndarray of shape (n, n_columns)
            C-ordered integers that can distinguish all clusters, of at most four bytes.
        threads : int, default=1
            Number of threads.
        """
        assert points.shape[1] >= self._n_columns  # the kernel reads them unchecked
        written = labels.view(f"{'u' if labels.itemsize < 4 else 'i'}{labels.itemsize}")
        step = max(1024, int(_CALL / len(self._centers)) * threads)
        for start in range(0, len(points), step):
            block = slice(start, start + step)
            label_block(
                points[block],
                self._centers,
                self._starts,
                self._columns,
                self._column_starts,
                self._places,
                written[block],
                threads,
            )


def nearest_center(points: Floats, centers: Floats) -> Ints:
    """Return the nearest centre of each point, the first one if tied (`CenterSets`)."""
    labels = np.empty((len(points), 1), dtype=np.int32)
    every = np.arange(points.shape[1])
    CenterSets([centers], [every], [0]).label(np.ascontiguousarray(points), labels)
    return labels[:, 0].astype(np.int64)


def _bounds(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


VOTERS = 15
# Maximum number of fitted points that are all compared with each point. A sample, beside which many more are placed, has 5,000.
_FEW = 4_999


@dataclass(frozen=True)
class NeighbourVote:
    """Labels points by the majority of their 15 nearest fitted points.

    Ties go to the label of the nearest point, so that the numbering of clusters does not matter. A fitted point
    keeps its own label. The label of a point does not depend on the points that it comes with.

    Attributes
    ----------
    search : PointIndex
        The fitted points, all different, arranged for the search (`voters_of`).
    labels : ndarray of int32 of shape (n_points,)
        The cluster of each, from 0 on.
    """

    search: PointIndex
    labels: NDArray[np.int32]

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.search.points.shape[1])

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
        search = models[0].search
        voters, squares = search.nearest(np.ascontiguousarray(points) + 0.0, VOTERS, threads)
        return vote(voters, squares, np.stack([model.labels for model in models], axis=1))

    def shares_search(self, other: NeighbourVote) -> bool:
        """Return whether the other model has the same fitted points."""
        return self.search.same_as(other.search)

    def reordered(self, clusters: Ints) -> Self:
        """Return the model with its clusters in this order."""
        number = np.empty(self.n_clusters, dtype=np.int32)
        number[clusters] = np.arange(len(clusters), dtype=np.int32)
        return replace(self, labels=number[self.labels])

    def _restored(self) -> bool:
        """Return whether the labels, read from a file, are those of the points, without a gap."""
        whole = self.labels.shape == (len(self.search.points),) and self.labels.min() == 0
        return bool(whole) and bool(np.bincount(self.labels).all())


Model: TypeAlias = Centers | LandmarkCut | NeighbourVote
"""What labels points for a member."""


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


DIGEST = 16
"""Bytes of the digest of a point."""

# Number of rows of a product. Each has the same shape, so that the coordinates of a point do not depend on the points around it.
_ROWS = 64


@dataclass(frozen=True, eq=False)
class Rotation:
    """Orthonormal axes of the points that members are fitted on.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
        The point from which coordinates are measured.
    axes : ndarray of shape (n_features, r)
        The axes; r is the number of distinct points.
    coordinates : ndarray of shape (r, r)
        The distinct points along the axes.
    digests : ndarray of uint8 of shape (r, 16)
        Digests of the distinct points, by which they are recognised: their coordinates are then the same to the bit.
    """

    origin: Floats
    axes: Floats
    coordinates: Floats
    digests: NDArray[np.uint8]

    @classmethod
    def of(cls, points: Floats, *, moved: bool = True) -> tuple[Self, Floats]:
        """Return the rotation of points (n, n_features), and the rotated points.

        moved: whether the origin may be moved, to the first point. Numbers far from 0 then keep their digits, but inner
        products change.
        """
        rows = EqualRows.of(points)
        origin = points[0].copy() if moved else np.zeros(points.shape[1])
        distinct = points[rows.first] - origin
        with one_library_thread():
            axes, upper = qr(distinct.T, mode="economic", overwrite_a=True, check_finite=False)
        coordinates: Floats = np.ascontiguousarray(upper.T)
        digests = np.array([_digest(row) for row in points[rows.first]], dtype=np.uint8)
        rotation = cls(origin, np.ascontiguousarray(axes), coordinates, digests)
        return rotation, rotation._of_known(rows.inverse)

    def _restored(self) -> bool:
        """Return whether arrays that were read from a file fit each other."""
        d, r = self.axes.shape
        return (
            0 < r < d
            and holds(self.origin, d)
            and holds(self.axes, d, r)
            and holds(self.coordinates, r, r)
            and holds(self.digests, r, DIGEST)
        )

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of a rotated point."""
        return len(self.coordinates) + 1

    def __call__(self, points: Floats) -> Floats:
        """Rotate points, also such as the axes do not span.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, r + 1)
            Coordinates along the axes, and the distance from their span.
        """
        numbers = np.array(
            [self._numbers.get(_digest(row).tobytes(), -1) for row in points], dtype=np.int64
        )
        rotated = np.empty((len(points), self.n_coordinates))
        known = numbers >= 0
        rotated[known] = self._of_known(numbers[known])
        new = np.flatnonzero(~known)
        block = np.zeros((_ROWS, points.shape[1]))
        with one_library_thread():
            for start in range(0, len(new), _ROWS):
                some = new[start : start + _ROWS]
                block[: len(some)] = points[some] - self.origin
                along = block @ self.axes
                outside = block - along @ self.axes.T
                rotated[some, :-1] = along[: len(some)]
                rotated[some, -1] = np.linalg.norm(outside, axis=1)[: len(some)]
        return rotated

    def back(self, rotated: Floats) -> Floats:
        """Return points of the span in the features, of shape (n_samples, n_features)."""
        with one_library_thread():
            return np.asarray(rotated[:, :-1] @ self.axes.T + self.origin)

    def _of_known(self, numbers: Ints) -> Floats:
        """Return the coordinates of points of the fit, of shape (n_samples, r + 1)."""
        return np.column_stack([self.coordinates[numbers], np.zeros(len(numbers))])

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {digest.tobytes(): number for number, digest in enumerate(self.digests)}


def _digest(row: Floats) -> NDArray[np.uint8]:
    return np.frombuffer(blake2b(row.tobytes(), digest_size=DIGEST).digest(), dtype=np.uint8)
