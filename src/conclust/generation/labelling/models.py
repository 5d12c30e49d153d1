"""Models with which members label points: by centres, or by a cut of landmarks.

The label of a point never depends, in any bit, on which other points it comes with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import landmark_labels, nearest_landmarks
from conclust._types import Floats, Ints
from conclust.exceptions import InputError
from conclust.generation.labelling.nearest import nearest_center
from conclust.generation.labelling.voting import NeighbourVote

# Squares of distances between points with larger numbers may be infinite.
_HUGE = 1e152
# Points of a call of a kernel, and their coordinates: an interrupt takes effect between two calls.
_BLOCK = 1 << 17
_COORDINATES = 1 << 20

Layout = dict[str, tuple[str, int]]  # for each array the kind of dtype and the number of dimensions


class Model(Protocol):
    """The interface of models of members, which label points."""

    kind: ClassVar[str]
    layout: ClassVar[Layout]

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    def label(self, points: Floats) -> Ints:
        """Return the cluster of each point."""

    def reordered(self, clusters: Ints) -> Model:
        """Return the model of only these clusters, in this order."""

    def packed(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the model, as described by `layout`."""

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> Self | None:
        """Return the model from its `packed` arrays; None if they are invalid."""


def of_layout(arrays: Mapping[str, NDArray[Any]], layout: Layout) -> bool:
    """Return whether the arrays of a model have the names, types and dimensions of its layout."""
    return {name: (array.dtype.kind, array.ndim) for name, array in arrays.items()} == layout


@dataclass(frozen=True)
class Centers:
    """Assigns points to the nearest centre.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        One centre per cluster.
    """

    centers: Floats

    kind: ClassVar[str] = "nearest"
    layout: ClassVar[Layout] = {"centers": ("f", 2)}

    @property
    def n_clusters(self) -> int:  # noqa: D102  (the protocol's text)
        return len(self.centers)

    @property
    def n_features(self) -> int:  # noqa: D102
        return int(self.centers.shape[1])

    def label(self, points: Floats) -> Ints:  # noqa: D102
        return nearest_center(points, self.centers)

    def reordered(self, clusters: Ints) -> Self:  # noqa: D102
        return replace(self, centers=np.ascontiguousarray(self.centers[clusters]))

    def packed(self) -> dict[str, NDArray[Any]]:  # noqa: D102
        return {"centers": self.centers}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> Self | None:  # noqa: D102
        if not of_layout(arrays, cls.layout):
            return None
        model = cls(arrays["centers"])
        return model if model.centers.size and np.isfinite(model.centers).all() else None


@dataclass(frozen=True)
class Directions(Centers):
    """Assigns points to the unit centre with the largest cosine; refuses points without direction."""

    kind: ClassVar[str] = "directions"

    def label(self, points: Floats) -> Ints:  # noqa: D102
        odd = out_of_scale(points)
        if odd.size:
            points = np.array(points, dtype=np.float64)
            _, exponents = np.frexp(np.abs(points[odd]).max(axis=1, keepdims=True))
            points[odd] = np.ldexp(points[odd], -exponents)  # the same directions
        return super().label(points)


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


@dataclass(frozen=True)
class Search:
    """Landmarks, and the search for the nearest of them.

    Attributes
    ----------
    points : ndarray of shape (p, d)
        The landmarks.
    heads : ndarray of shape (g, d)
        Centres of groups of them.
    starts : ndarray of int64 of shape (g + 1,)
        Start of each group in `grouped`.
    grouped : ndarray of int32 of shape (p,)
        The landmarks, group by group.
    around : ndarray of int32 of shape (p, c)
        The landmarks nearest to each, itself among them: those that are compared with a point next to it.
    """

    points: Floats
    heads: Floats
    starts: Ints
    grouped: NDArray[np.int32]
    around: NDArray[np.int32]

    def nearest(self, points: Floats, k: int) -> tuple[NDArray[np.int32], Floats]:
        """Return the k nearest landmarks of each point that the search finds, and squared distances."""
        indices = np.empty((len(points), k), dtype=np.int32)
        squares = np.empty((len(points), k))
        for block in _blocks(points):
            nearest_landmarks(
                points[block],
                self.points,
                self.heads,
                self.starts,
                self.grouped,
                self.around,
                indices[block],
                squares[block],
            )
        return indices, squares

    def same_as(self, other: Search) -> bool:
        """Return whether the other search has the same landmarks, by identity or content."""
        return self is other or all(
            np.array_equal(one, another)
            for one, another in zip(vars(self).values(), vars(other).values(), strict=True)
        )

    def sound(self) -> bool:
        """Return whether every number is in its range; the search does not check this."""
        p, d = self.points.shape
        return (
            p > 0
            and d > 0
            and self.heads.shape == (len(self.starts) - 1, d)
            and bool((self.starts[:1] == 0).all() and (self.starts[-1:] == p).all())
            and bool((np.diff(self.starts) > 0).all())
            and self.grouped.shape == (p,)
            and len(self.around) == p
            and all(
                bool((which >= 0).all() and (which < p).all())
                for which in (self.grouped, self.around)
            )
            and bool(np.isfinite(self.points).all() and np.isfinite(self.heads).all())
        )


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
    search : Search
        The landmarks.
    n_nearest : int
        Number of landmarks to which a point is tied.
    sigma : float
        The scale of the ties: exp(-d^2 / (2 sigma^2)).
    loads : ndarray of shape (p, r)
        Places of the landmarks.
    centers : ndarray of shape (n_clusters, r)
        Centres of the clusters.
    """

    search: Search
    n_nearest: int
    sigma: float
    loads: Floats
    centers: Floats

    kind: ClassVar[str] = "landmarks"
    layout: ClassVar[Layout] = {
        "points": ("f", 2),
        "heads": ("f", 2),
        "starts": ("i", 1),
        "grouped": ("i", 1),
        "around": ("i", 2),
        "n_nearest": ("i", 1),
        "sigma": ("f", 1),
        "loads": ("f", 2),
        "centers": ("f", 2),
    }

    @property
    def n_clusters(self) -> int:  # noqa: D102
        return len(self.centers)

    @property
    def n_features(self) -> int:  # noqa: D102
        return int(self.search.points.shape[1])

    def label(self, points: Floats) -> Ints:  # noqa: D102
        return self.label_all([self], points)[:, 0]

    @staticmethod
    def label_all(cuts: Sequence[LandmarkCut], points: Floats) -> Ints:
        """Return the clusters of points (n, n_cuts) by cuts of one graph: its ties are found once."""
        labels = np.empty((len(points), len(cuts)), dtype=np.int64)
        one = cuts[0]
        for block in _blocks(points):
            indices, squares = one.search.nearest(points[block], one.n_nearest)
            weights = tie_weights(squares, one.sigma)
            for column, cut in enumerate(cuts):
                labels[block, column] = cut.label_tied(indices, weights)
        return labels

    def shares_search(self, other: LandmarkCut) -> bool:
        """Return whether the other model ties points to the same landmarks with the same weights."""
        ties = (self.n_nearest, self.sigma) == (other.n_nearest, other.sigma)
        return ties and self.search.same_as(other.search)

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

    def reordered(self, clusters: Ints) -> LandmarkCut:  # noqa: D102
        return replace(self, centers=np.ascontiguousarray(self.centers[clusters]))

    def packed(self) -> dict[str, NDArray[Any]]:  # noqa: D102
        search = self.search
        return {
            "points": search.points,
            "heads": search.heads,
            "starts": search.starts,
            "grouped": search.grouped,
            "around": search.around,
            "n_nearest": np.array([self.n_nearest], dtype=np.int64),
            "sigma": np.array([self.sigma]),
            "loads": self.loads,
            "centers": self.centers,
        }

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> Self | None:  # noqa: D102
        if not of_layout(arrays, cls.layout):
            return None
        search = Search(
            np.ascontiguousarray(arrays["points"], dtype=np.float64),
            np.ascontiguousarray(arrays["heads"], dtype=np.float64),
            np.ascontiguousarray(arrays["starts"], dtype=np.int64),
            np.ascontiguousarray(arrays["grouped"], dtype=np.int32),
            np.ascontiguousarray(arrays["around"], dtype=np.int32),
        )
        ties, sigma = arrays["n_nearest"], arrays["sigma"]
        loads, centers = arrays["loads"], arrays["centers"]
        fits = (
            search.sound()
            and ties.shape == (1,)
            and 1 <= ties[0] <= search.around.shape[1]
            and sigma.shape == (1,)
            and bool(np.isfinite(sigma[0]) and sigma[0] >= 0)
            and len(loads) == len(search.points)
            and centers.shape[1] == loads.shape[1]
            and centers.size > 0
            and bool(np.isfinite(loads).all() and np.isfinite(centers).all())
        )
        if not fits:
            return None
        return cls(search, int(ties[0]), float(sigma[0]), loads, centers)


MODELS: dict[str, type[Centers] | type[LandmarkCut] | type[NeighbourVote]] = {
    "nearest": Centers,
    "directions": Directions,
    "landmarks": LandmarkCut,
    "neighbours": NeighbourVote,
}


class Searches:
    """Lets models of equal landmarks or points share one search, as they did when they were made."""

    def __init__(self) -> None:
        self._first: list[LandmarkCut | NeighbourVote] = []

    def shared(self, model: Model | None) -> Model | None:
        """Return the model with the search of an earlier one, if that is equal."""
        if not isinstance(model, LandmarkCut | NeighbourVote):
            return model
        for one in self._first:
            if isinstance(one, LandmarkCut) and isinstance(model, LandmarkCut):
                if one.search.same_as(model.search):
                    return replace(model, search=one.search)
            elif (
                isinstance(one, NeighbourVote)
                and isinstance(model, NeighbourVote)
                and one.shares_search(model)
            ):
                return replace(model, points=one.points, index=one.index)
        self._first.append(model)
        return model
