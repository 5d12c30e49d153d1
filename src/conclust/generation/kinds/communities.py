"""Members by the neighbours of points: communities of their graph, and single linkage of their density."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import exp, isqrt, log, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.containers import refuse_corrupt
from conclust._arrays.rows import EqualRows
from conclust._kernels import Forest
from conclust._random import generator
from conclust._types import Floats, Ints
from conclust._validation import refuse
from conclust.exceptions import InputError
from conclust.generation.labelling.models import VOTERS, NeighbourVote, vote, voters_of
from conclust.generation.members import OWNER, Found, Kind, draw, place
from conclust.neighbours.graph import CommunityGraph, cut_ties, density_forest, graph_of
from conclust.neighbours.search import Neighbours, comparable, neighbours_of

_RESOLUTIONS = (0.3, 5.0)
_CORES = (2, 4, 8, 16)
_LEAST = 2.0
# Up to this number of objects n members are fitted on all, beyond on the geometric mean of both: the share falls smoothly. The
# others are labelled by the vote of their neighbours.
_ALL_FITTED = 2_500
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

    starts: Ints = field(compare=False)
    ends: NDArray[np.int32] = field(compare=False)
    weights: Floats = field(compare=False)
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
        return self.once("search", self._search)[0]  # type: ignore[no-any-return]

    def _search(self) -> tuple[Neighbours, Floats]:
        n = len(self.points)
        sample = draw(n, min(n, isqrt(_ALL_FITTED * n)), generator(self._sample_seed))
        fitted = self._compared if sample is None else self._compared[sample]
        return neighbours_of(fitted, max(1, int(sizes_of_neighbourhoods(len(fitted))[-1])))

    def graph(self, k: int) -> CommunityGraph:
        """Return the graph of the k nearest neighbours."""

        def make() -> CommunityGraph:
            graph = graph_of(self.neighbours, k, "jaccard")
            masses = self.neighbours.rows.masses
            return CommunityGraph.of(graph.starts, graph.ends, graph.weights, masses, "modularity")

        return self.once(("graph", k), make)  # type: ignore[no-any-return]

    def forest(self, m: int) -> Forest:
        """Return the spanning forest by core distances of the m-th neighbour."""
        return self.once(("forest", m), lambda: density_forest(self.neighbours, m))  # type: ignore[no-any-return]

    def found(self, labels: NDArray[np.int32]) -> Found:
        """Return the labels of all points from those of the distinct fitted points, and the model."""
        neighbours, points = self.once("search", self._search)
        index = self.once("index", lambda: voters_of(points))
        model = NeighbourVote(index, labels)
        if len(self.points) <= _ALL_FITTED:
            return Found(labels[neighbours.rows.inverse], model)
        voters, squares = self.once("votes", lambda: index.nearest(self._compared, VOTERS))
        return Found(vote(voters, squares, labels[:, np.newaxis])[:, 0], model)

    def found_on_all(self, labels: NDArray[np.int32]) -> Found:
        """Return the labels unchanged, and the model if no two points are equal."""
        rows = self.once("rows", lambda: EqualRows.of(self._compared))
        if len(rows) < len(labels):
            return Found(labels, None)
        index = self.once("all", lambda: voters_of(self._compared))
        return Found(labels, NeighbourVote(index, labels))

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was made under this key, or make it."""
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


@dataclass(frozen=True)
class NeighbourRecipe(ABC):
    """Base of members by the neighbours of points.

    ``turn``: number of the member among those of its kind, from which all but its seed follows. ``searches``: where
    members find the neighbours; all of one fit share it.
    """

    name: str = ""
    turn: int = 0
    searches: Searches = field(default_factory=lambda: Searches(0), compare=False)

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

    def _run(self, searched: Searched, k: int | None, rng: np.random.Generator) -> Found:
        n = searched.neighbours.n_points if self.given is None else len(searched.points)
        grid = sizes_of_neighbourhoods(n)
        height, at, _ = place(self.turn)
        lowest, highest = map(log, _RESOLUTIONS)
        resolution = exp(lowest + height * (highest - lowest))
        graph = self._graph(searched, int(grid[int(at * len(grid))]))
        seed = int(rng.integers(2**63))
        if k is None:
            labels, _ = graph.communities(resolution, seed)
        else:
            labels, _ = graph.communities_of_number(k, seed)
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
        wanted = 2 + int(number * (max(2, isqrt(n)) - 1)) if k is None else k
        highest = max(_LEAST, n / (2.0 * wanted))
        least = exp(log(_LEAST) + share * (log(highest) - log(_LEAST)))
        labels, _ = cut_ties(searched.forest(core), neighbours, wanted, least)
        return searched.found(labels)


GRAPH = Kind(
    GraphRecipe(),
    100,
    help="communities of neighbour graphs",
    cited="communities of neighbour graphs (Leiden) at many resolutions",
)
DENSITY = Kind(
    DensityRecipe(),
    100,
    help="clusters of nearby points",
    cited="clusters of nearby points, by density, with many numbers of clusters",
)


# Weights of the two directions of a tie may differ by rounding.
_ROUNDING = 1e-5


def check_graph_alone(generator: Any, names: Sequence[str], graph: GivenGraph | None) -> None:
    """Refuse parameters that do not suit a graph given to fit.

    Parameters
    ----------
    generator : EnsembleGenerator
        Its parameters.
    names : sequence of str
        The names of the kinds of members.
    graph : GivenGraph or None
        The user's graph.
    """
    if graph is None:
        return
    if "graph" not in names:
        raise InputError(
            f"{OWNER}.fit takes a graph only for members by 'graph'; other members are made from the points. "
            f"Use method='graph'. Got method={generator.method!r} instead."
        )
    if generator.sample_fraction != 1.0:
        expected = "1.0 with a graph given to fit, which is clustered as a whole"
        refuse("sample_fraction", OWNER, expected, generator.sample_fraction)
    if generator.fit_on is not None:
        expected = "None with a graph given to fit, which is clustered as a whole"
        refuse("fit_on", OWNER, expected, generator.fit_on)


def neighbour_recipes(sample_seed: int, given: GivenGraph | None) -> dict[str, NeighbourRecipe]:
    """Return the recipes of a fit, which share one search.

    Parameters
    ----------
    sample_seed : int
        Seed of the objects on which members are fitted, if there are too many.
    given : GivenGraph or None
        The user's graph.
    """
    searches = Searches(sample_seed)
    return {
        "graph": GraphRecipe(searches=searches, given=given),
        "density": DensityRecipe(searches=searches),
    }


def read_graph(graph: Any, n: int) -> GivenGraph:
    """Return the user's graph after checks, without self-loops."""
    shape = getattr(graph, "shape", None)
    if not sp.issparse(graph) or shape != (n, n):
        got = f"a {type(graph).__name__}"
        if shape is not None:
            got += f" of the shape {tuple(shape)}"
        raise InputError(
            f"The graph given to {OWNER}.fit must be a sparse matrix of weights with a row and a column for each of "
            f"{n} objects, such as adata.obsp['connectivities']. Got {got} instead."
        )
    sparse: Any = graph
    refuse_corrupt(sparse, f"The graph given to {OWNER}.fit")
    matrix = sp.csr_array(sparse, dtype=np.float64)
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise InputError(
            f"The graph given to {OWNER}.fit must have finite weights that are not negative."
        )
    apart = abs(matrix - matrix.T)
    if apart.nnz and apart.max() > _ROUNDING * matrix.max():
        raise InputError(
            f"The graph given to {OWNER}.fit must be symmetric. Got a weight that differs by "
            f"{apart.max():.3g} from that of the other direction: graph.maximum(graph.T) is symmetric."
        )
    both = sp.coo_array(0.5 * (matrix + matrix.T))
    off = (both.row != both.col) & (both.data > 0)
    whole = sp.csr_array((both.data[off], (both.row[off], both.col[off])), shape=(n, n))
    whole.sort_indices()
    starts, ends = whole.indptr.astype(np.int64), whole.indices.astype(np.int32)
    digest = hashlib.sha256()
    for part in (starts, ends, whole.data):
        digest.update(part.tobytes())
    return GivenGraph(starts, ends, whole.data, digest.hexdigest())
