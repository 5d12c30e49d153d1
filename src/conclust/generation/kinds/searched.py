"""One search of neighbours for all members of a fit that see the same points."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import Forest
from conclust._random import generator
from conclust._types import Floats, Ints
from conclust.ensemble.equal_rows import EqualRows
from conclust.generation.labelling.voting import VOTERS, NeighbourVote, vote, voters_of
from conclust.generation.members import Found, draw
from conclust.neighbours.graph import density_forest, graph_of
from conclust.neighbours.leiden import CommunityGraph
from conclust.neighbours.search import Neighbours, PointIndex, comparable, neighbours_of

# Maximum number of objects on which members are fitted: all others are labelled by the vote of their neighbours.
_MOST_FITTED = 10_000
_MOST_NEIGHBOURS = 40
_FEW_NEIGHBOURS = 5
_GRID = 8
_OWNER = "EnsembleGenerator"


def sizes_of_neighbourhoods(n: int) -> Ints:
    """Return the numbers of neighbours that members of n points choose from: a geometric grid."""
    largest = max(1, int(min(_MOST_NEIGHBOURS, max(_FEW_NEIGHBOURS, 1.5 * sqrt(n)), n - 1)))
    lowest = min(_FEW_NEIGHBOURS, largest)
    return np.unique(np.rint(np.geomspace(lowest, largest, _GRID)).astype(np.int64))


@dataclass(frozen=True, eq=False)
class GivenGraph:
    """A user's graph of the objects: see `conclust.neighbours.NeighbourGraph`."""

    starts: Ints
    ends: NDArray[np.int32]
    weights: Floats
    digest: str


class Searched:
    """Points and their neighbours, with a cache of graphs and forests.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        The points of the members.
    sample_seed : int
        Seed for drawing the objects to fit, if there are too many.
    """

    def __init__(self, points: Floats, sample_seed: int) -> None:
        self.points = points
        self._sample_seed = sample_seed
        self._compared = comparable(points, "euclidean", _OWNER)
        self._lock = threading.RLock()
        self._made: dict[Any, Any] = {}

    @property
    def neighbours(self) -> Neighbours:
        """The neighbours of the distinct points that members are fitted on."""
        return self._once("search", self._search)[0]  # type: ignore[no-any-return]

    def _search(self) -> tuple[Neighbours, Floats]:
        n = len(self.points)
        sample = draw(n, min(n, _MOST_FITTED), generator(self._sample_seed))
        fitted = self._compared if sample is None else self._compared[sample]
        wanted = int(sizes_of_neighbourhoods(len(fitted))[-1])
        return neighbours_of(fitted, max(1, wanted))

    def graph(self, k: int) -> CommunityGraph:
        """Return the graph of the k nearest neighbours."""

        def make() -> CommunityGraph:
            graph = graph_of(self.neighbours, k, "jaccard")
            masses = self.neighbours.rows.masses
            return CommunityGraph.of(graph.starts, graph.ends, graph.weights, masses, "modularity")

        return self._once(("graph", k), make)  # type: ignore[no-any-return]

    def forest(self, m: int) -> Forest:
        """Return the spanning forest by core distances of the m-th neighbour."""
        return self._once(("forest", m), lambda: density_forest(self.neighbours, m))  # type: ignore[no-any-return]

    def found(self, labels: NDArray[np.int32]) -> Found:
        """Return the labels of all points from those of the distinct fitted points, and the model."""
        neighbours, points = self._once("search", self._search)
        index = self._once("index", lambda: voters_of(points))
        model = self._model(labels, index)
        if len(self.points) <= _MOST_FITTED:
            return Found(labels[neighbours.rows.inverse], model)
        voters, squares = self._once("votes", lambda: index.nearest(self._compared, VOTERS))
        return Found(vote(voters, squares, labels[:, np.newaxis])[:, 0], model)

    def found_on_all(self, labels: NDArray[np.int32]) -> Found:
        """Return the labels unchanged, and the model if no two points are equal."""
        rows = self._once("rows", lambda: EqualRows.of(self._compared))
        if len(rows) < len(labels):
            return Found(labels, None)
        index = self._once("all", lambda: voters_of(self._compared))
        return Found(labels, self._model(labels, index))

    def _model(self, labels: NDArray[np.int32], index: PointIndex) -> NeighbourVote:
        return NeighbourVote(index.points, labels, index)

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]


class Searches:
    """The searches of a fit: members of the same points share one.

    Parameters
    ----------
    sample_seed : int
        Seed for drawing the objects to fit, if there are too many.
    """

    def __init__(self, sample_seed: int) -> None:
        self.sample_seed = sample_seed
        self._lock = threading.Lock()
        self._last: Searched | None = None

    def of(self, points: Floats) -> Searched:
        """Return the search of these points; the last search is cached."""
        with self._lock:
            last = self._last
            if last is None or not (last.points is points or np.array_equal(last.points, points)):
                last = Searched(points, self.sample_seed)
                self._last = last
            return last

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the points, because each process makes its own search."""
        return Searches, (self.sample_seed,)
