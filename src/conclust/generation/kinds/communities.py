"""Members by the neighbours of points: communities of their graph, and single linkage of their density."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp, isqrt, log
from typing import Any

import numpy as np

from conclust._types import Floats
from conclust.generation.kinds.searched import (
    GivenGraph,
    Searched,
    Searches,
    sizes_of_neighbourhoods,
)
from conclust.generation.members import Found, Kind, place
from conclust.neighbours.graph import Weights, cut_ties
from conclust.neighbours.leiden import CommunityGraph, Quality

_RESOLUTIONS = (0.3, 5.0)
_CORES = (2, 4, 8, 16)
_LEAST = 2.0


@dataclass(frozen=True)
class NeighbourRecipe(ABC):
    """Base of members by the neighbours of points.

    ``turn``: number of the member among those of its kind, from which all but its seed follows. ``searches``: where
    members find the neighbours; all of one fit share it.
    """

    name: str = ""
    turn: int = 0
    searches: Searches = field(
        default_factory=lambda: Searches("euclidean", 0, None), compare=False
    )

    def parameters(self) -> dict[str, Any]:  # noqa: D102  (the protocol's text)
        return {
            "method": self.name,
            "metric": self.searches.metric,
            "sample_seed": self.searches.sample_seed,
            "n_searched": self.searches.n_neighbors,
            "turn": self.turn,
        }

    def designed(self, turn: int) -> NeighbourRecipe:
        """Return the recipe of the member of this turn."""
        return replace(self, turn=turn)

    def run(  # noqa: D102
        self, points: Floats, n_clusters: Sequence[int | None], rng: np.random.Generator
    ) -> list[Found]:
        searched = self.searches.of(points)
        return [self._run(searched, k, rng) for k in n_clusters]

    @abstractmethod
    def _run(self, searched: Searched, k: int | None, rng: np.random.Generator) -> Found:
        """Make a member with about this number of clusters; None: the number follows from its turn."""


@dataclass(frozen=True)
class GraphRecipe(NeighbourRecipe):
    """Communities of the graph of nearest neighbours, by the Leiden algorithm.

    Attributes
    ----------
    n_neighbors : int or None
        Number of neighbours; None: one of a geometric grid of 8 numbers, by the turn.
    resolution : float or None
        Resolution of the communities; None: by the turn, log-uniform from .3 to 5. It is ignored if a number of clusters
        is given.
    weights : {"jaccard", "uniform"}
        Weights of the graph.
    quality : {"modularity", "cpm"}
        Quality that the communities maximise.
    given : GivenGraph or None
        The user's graph in place of one of neighbours.
    """

    name: str = "graph"
    n_neighbors: int | None = None
    resolution: float | None = None
    weights: Weights = "jaccard"
    quality: Quality = "modularity"
    given: GivenGraph | None = None

    def parameters(self) -> dict[str, Any]:  # noqa: D102
        resolution = self.resolution
        return super().parameters() | {
            "n_neighbors": self.n_neighbors,
            "resolution": None if resolution is None else float(resolution).hex(),
            "weights": self.weights,
            "quality": self.quality,
            "graph": None if self.given is None else self.given.digest,
        }

    def _run(self, searched: Searched, k: int | None, rng: np.random.Generator) -> Found:
        n = searched.neighbours.n_points if self.given is None else len(searched.points)
        grid = sizes_of_neighbourhoods(n)
        height, at, _ = place(self.turn)
        drawn = int(grid[int(at * len(grid))])
        lowest, highest = map(log, _RESOLUTIONS)
        resolution = exp(lowest + height * (highest - lowest))
        graph = self._graph(searched, drawn)
        if k is not None:
            labels, _ = graph.communities_of_number(k, int(rng.integers(2**63)))
        else:
            chosen = resolution if self.resolution is None else self.resolution
            labels = graph.best_communities(chosen, rng)
        return searched.found(labels) if self.given is None else searched.found_on_all(labels)

    def _graph(self, searched: Searched, drawn: int) -> CommunityGraph:
        user_graph = self.given
        if user_graph is None:
            neighbours = drawn if self.n_neighbors is None else self.n_neighbors
            return searched.graph(neighbours, self.weights, self.quality)
        alone = np.ones(len(searched.points))
        return CommunityGraph.of(
            user_graph.starts, user_graph.ends, user_graph.weights, alone, self.quality
        )


@dataclass(frozen=True)
class DensityRecipe(NeighbourRecipe):
    """Single linkage by mutual reachability on the ties of nearest neighbours, without noise.

    The core distance is that of the 2nd, 4th, 8th or 16th neighbour. The longest ties are cut that leave a least
    number of objects on both sides, which are spread log-uniformly from 2 to half of the mean cluster.
    """

    name: str = "density"

    def _run(self, searched: Searched, k: int | None, rng: np.random.Generator) -> Found:
        neighbours = searched.neighbours
        n = int(neighbours.rows.counts.sum())
        number, at, share = place(self.turn)
        core = _CORES[int(at * len(_CORES))]
        drawn = 2 + int(number * (max(2, isqrt(n)) - 1))
        wanted = drawn if k is None else k
        highest = max(_LEAST, n / (2.0 * wanted))
        least = exp(log(_LEAST) + share * (log(highest) - log(_LEAST)))
        labels, _ = cut_ties(searched.forest(core), neighbours, wanted, least)
        return searched.found(labels)


GRAPH = Kind(
    GraphRecipe(),
    100,
    labels_others=True,
    own_number=True,
    help="communities of neighbour graphs",
    cited="communities of neighbour graphs (Leiden) at many resolutions",
    by_distances=True,
)
DENSITY = Kind(
    DensityRecipe(),
    100,
    labels_others=True,
    own_number=True,
    help="clusters of nearby points",
    cited="clusters of nearby points, by density, with many numbers of clusters",
    by_distances=True,
)
