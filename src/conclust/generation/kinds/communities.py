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
from conclust.neighbours.graph import cut_ties
from conclust.neighbours.leiden import CommunityGraph

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
    searches: Searches = field(default_factory=lambda: Searches(0), compare=False)

    def parameters(self) -> dict[str, Any]:  # noqa: D102  (the protocol's text)
        return {
            "method": self.name,
            "sample_seed": self.searches.sample_seed,
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
    given : GivenGraph or None
        The user's graph in place of one of neighbours.
    """

    name: str = "graph"
    given: GivenGraph | None = None

    def parameters(self) -> dict[str, Any]:  # noqa: D102
        digest = None if self.given is None else self.given.digest
        return super().parameters() | {"graph": digest}

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
            labels = graph.best_communities(resolution, rng)
        return searched.found(labels) if self.given is None else searched.found_on_all(labels)

    def _graph(self, searched: Searched, drawn: int) -> CommunityGraph:
        given = self.given
        if given is None:
            return searched.graph(drawn)
        alone = np.ones(len(searched.points))
        return CommunityGraph.of(given.starts, given.ends, given.weights, alone, "modularity")


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
