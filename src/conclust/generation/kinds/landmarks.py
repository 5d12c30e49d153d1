"""Members by spectral clustering on landmarks: for millions of points, without an n x n matrix.

Some points stand for all: the landmarks. Each object is tied to its few nearest landmarks, and the bipartite
graph of objects and landmarks is cut (`conclust.spectra.transfer_cut`), as HBGF cuts the graph of objects and clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from conclust._random import generator
from conclust._threads import in_threads
from conclust._types import Floats, Ints
from conclust.generation.kinds.communities import Searches
from conclust.generation.labelling.models import (
    NEAREST,
    LandmarkCut,
    refuse_huge,
    tie_weights,
)
from conclust.generation.members import Found, Kind, KMeansRecipe, first_distinct
from conclust.generation.runs import run_kmeans, some_objects
from conclust.neighbours.search import PointIndex
from conclust.spectra.bipartite import unit_rows
from conclust.spectra.transfer_cut import ClusterSide, transfer_cut_of_products

# Number of objects on which centres of an embedding are computed.
_ENOUGH = 2_000
# Objects per landmark among which landmarks are found. So many are a sample, as a rule, among whose landmarks all others
# are placed: an object is then compared with the landmarks nearby, if there are more than the second number.
_POOL, _FEW = 10, 100
# The weight of a tie between distant components: cuts of such ties can still be distinguished.
_LEAST_TIE = 1e-9


@dataclass(frozen=True)
class LandmarkSpectralRecipe:
    """Ultra-scalable spectral clustering (U-SPEC; Huang et al., IEEE TKDE 32(6), 2020).

    Up to `n_landmarks` distinct points are all landmarks themselves, so that nothing about the graph is random. Of more
    points, landmarks are the centres of five iterations of k-means on ten objects per landmark; the graphs of an
    ensemble have the same ones, and differ by `n_nearest`. Objects are tied to their `n_nearest` landmarks, by exp(-d^2 / (2 s^2)) with s the
    mean distance of all ties, or the root mean square of the object's own where that is larger: in a graph
    where outliers hang by ties of nearly 0 the cheapest cuts peel off one after the other. The bipartite graph is cut by
    the transfer cut, and k-means groups the objects in the embedding, the better of two runs.

    If the graph has several connected components, weak ties connect them (`bridges`), by 1 / (1 + (d / sigma)^2).

    The members of a run are k-means on the leading columns of one embedding. ``threads``: number of members of a run made in
    parallel, which does not affect the results. ``searches``: where runs on the same points share landmarks, and the
    search for them; None: each has its own.
    """

    name: str = "spectral"
    n_landmarks: int = 1000
    n_nearest: int = 5
    threads: int = field(default=1, compare=False)  # no part of what determines the members
    searches: Searches | None = field(default=None, compare=False)

    def run(  # noqa: D102
        self, points: Floats, n_clusters: Sequence[int | None], rng: np.random.Generator
    ) -> list[Found]:
        refuse_huge(points)
        graph = self._graph(points, rng)
        # All random numbers are drawn first, in the order of the members.
        draws = [(k, graph.drawn(rng), start_seed(rng)) for k in n_clusters if k is not None]
        side = graph.side(max(k for k, *_ in draws))

        def member(draw: tuple[int, Ints, NDArray[np.uint64]]) -> Found:
            model = graph.cut(side, *draw)
            return Found(model.label_tied(graph.found, graph.weights), model)

        return in_threads(member, draws, self.threads)

    def designed(self, turn: int) -> LandmarkSpectralRecipe:
        """Return the recipe of the graph of this turn."""
        return replace(self, n_nearest=NEAREST[turn % len(NEAREST)])

    def _landmarks(self, points: Floats, rng: np.random.Generator) -> Floats:
        n, p = len(points), self.n_landmarks
        if n <= p:
            return np.ascontiguousarray(points[np.sort(first_distinct(points, np.arange(n), n))])
        pool = points[some_objects(n, min(n, _POOL * p), rng)]
        starts = first_distinct(pool, rng.permutation(len(pool)), p)
        return KMeansRecipe(max_iter=5).centers(pool, starts)

    def _graph(self, points: Floats, rng: np.random.Generator) -> _Graph:
        shared = self.searches

        def tied() -> tuple[PointIndex, NDArray[np.int32], Floats]:
            own = rng if shared is None else generator(shared.sample_seed)
            p = self.n_landmarks
            index = PointIndex(self._landmarks(points, own), p if len(points) < _POOL * p else _FEW)
            enough = self.n_nearest if shared is None else max(self.n_nearest, *NEAREST)
            return index, *index.nearest(points, enough)

        search, indices, squares = (
            tied() if shared is None else shared.of(points).once("landmarks", tied)
        )
        indices, squares = (
            np.ascontiguousarray(indices[:, : self.n_nearest]),
            squares[:, : self.n_nearest].copy(),
        )
        sigma = float(np.sqrt(squares).mean())
        return _Graph(search, indices, tie_weights(squares, sigma), sigma)


@dataclass(frozen=True)
class _Graph:
    """The bipartite graph of objects and landmarks: each object's ties, and their scale sigma."""

    search: PointIndex
    found: NDArray[np.int32]
    weights: Floats
    sigma: float

    @property
    def ties(self) -> sp.csr_array:
        """The graph as a matrix (n_objects, n_landmarks)."""
        n, k = self.found.shape
        # SciPy's products take half the time by 32-bit indices.
        starts = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 1 << 31 else np.int64)
        shape = (n, len(self.search.points))
        return sp.csr_array((self.weights.ravel(), self.found.ravel(), starts), shape)

    def drawn(self, rng: np.random.Generator) -> Ints:
        """Draw the objects on which the centres of a member are computed."""
        n = len(self.found)
        return some_objects(n, min(n, _ENOUGH), rng)

    def cut(
        self, side: ClusterSide, k: int, sample: Ints, start: NDArray[np.uint64]
    ) -> LandmarkCut:
        """Cut the graph into k parts, by the k leading columns of an embedding."""
        loads = np.ascontiguousarray(side.loads[:, :k] * side.values[:k])
        weights = self.weights[sample]
        shares = weights / weights.sum(axis=1, keepdims=True)
        rows = replace(self, found=self.found[sample], weights=shares).ties
        centers = centers_of_rows(unit_rows(rows @ loads), k, start)
        return LandmarkCut(self.search, self.found.shape[1], self.sigma, loads, centers)

    def side(self, k: int) -> ClusterSide:
        """Return the landmarks' side of the transfer cut: at most k triplets of the graph, its components tied."""
        p = len(self.search.points)
        shares = replace(self, weights=self.weights / self.weights.sum(axis=1, keepdims=True))
        inner: Any = self.ties.T.tocsr() @ shares.ties
        degrees: Any = np.bincount(self.found.ravel(), self.weights.ravel(), minlength=p)
        parts = connected_components(inner, directed=False)[1].astype(np.int64)
        # A landmark without ties is in no graph.
        used = np.flatnonzero(degrees > 0)
        ends, squares = bridges(self.search.points[used], parts[used])
        if len(ends):
            # Each as an object that is tied to both.
            near = self.sigma**2
            weights = np.maximum(near / (near + squares), _LEAST_TIE)
            rows = np.repeat(np.arange(len(ends)), 2)
            halves = np.repeat(np.sqrt(0.5 * weights), 2)
            bound = sp.csr_array((halves, (rows, used[ends].ravel())), shape=(len(ends), p))
            inner = sp.csr_array(inner + bound.T @ bound)
            degrees += bound.T @ np.sqrt(2.0 * weights)
        one = np.where(degrees > 0, 0, -1).astype(np.int64)
        tied = parts if len(ends) else None
        return transfer_cut_of_products(inner, degrees, k, lambda: one, parts=tied)


SPECTRAL = Kind(
    LandmarkSpectralRecipe(),
    20,
    help="on landmarks, for groups that are not round",
    cited="spectral clustering on landmarks with many numbers of clusters",
)


_STARTS = 2  # number of runs of k-means, of which the best counts


def start_seed(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Draw the seeds of the starts of `centers_of_rows`."""
    return rng.integers(2**63, size=_STARTS, dtype=np.uint64)


def centers_of_rows(rows: Floats, k: int, seeds: NDArray[np.uint64]) -> Floats:
    """Return the centres of the best of some runs of k-means, from starts by greedy k-means++ (see `start_seed`)."""
    n = len(rows)
    runs = run_kmeans(
        np.ascontiguousarray(rows),
        min(k, n),
        np.tile(np.arange(n, dtype=np.int32), (len(seeds), 1)),
        seeds,
        candidates=2 + int(np.log(k)),
        labels=False,
        centers=True,
    )
    assert runs.centers is not None
    best = int(np.argmin(runs.inertia))
    return runs.centers[best, : runs.found[best]]


def bridges(points: Floats, parts: NDArray[Any]) -> tuple[Ints, Floats]:
    """Return the shortest ties that connect all components of a graph: a minimum spanning tree of them.

    Every cut between components is 0: these ties, which are weak, make a cut cost the more the nearer the
    components are, so that the few points of a small component stay with the nearest large one.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points.
    parts : ndarray of shape (n,)
        The component of each point: 0, 1, ....

    Returns
    -------
    ends : ndarray of shape (n_components - 1, 2)
        The two points of each tie.
    squares : ndarray of shape (n_components - 1,)
        Their squared distances, up to rounding errors.
    """
    points = points - points.mean(axis=0)
    lengths = np.einsum("ij,ij->i", points, points)
    nearest = np.full(len(points), np.inf)
    inner_end = np.zeros(len(points), dtype=np.int64)
    outside = np.ones(len(points), dtype=np.bool_)
    ends: list[tuple[int, int]] = []
    part = parts[0]
    while True:  # components join the tree one after the other
        inside = np.flatnonzero(parts == part)
        outside[inside] = False
        left = np.flatnonzero(outside)
        if len(left) == 0:
            break
        squares = -2.0 * points[left] @ points[inside].T + lengths[inside]
        closest = squares.argmin(axis=1)
        least = squares[np.arange(len(left)), closest] + lengths[left]
        closer = least < nearest[left]
        nearest[left[closer]] = least[closer]
        inner_end[left[closer]] = inside[closest[closer]]
        end = left[nearest[left].argmin()]
        ends.append((int(inner_end[end]), int(end)))
        part = parts[end]
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return pairs, np.maximum(nearest[pairs[:, 1]], 0.0)
