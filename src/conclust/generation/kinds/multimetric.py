"""Members by spectral clustering under a metric drawn for each: for many features (genes, images)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from conclust._types import Floats, Ints
from conclust.exceptions import EnsembleWarning, InputError, warn
from conclust.generation.kinds.embedded import bridges, centers_of_rows, start_seed
from conclust.generation.labelling.nearest import nearest_center
from conclust.generation.members import Found, Kind
from conclust.spectra.transfer_cut import graph_embedding

_DRAWS = 3  # maximum number of draws of a member whose graph has no embedding
_CELLS = 1 << 22  # number of differences of coordinates computed at once
# The weight of the shortest tie between components, relative to the smallest weight in the graph,
# and that of the weakest tie relative to it.
_WEAK = 1e-2
_LEAST_SHARE = 1e-4


@dataclass(frozen=True)
class MultimetricRecipe:
    """Spectral clustering under a random metric (MDEC; Huang et al., IEEE TCYB 52(11), 2022).

    The metric is a scaled exponential similarity kernel (`neighbour_graph`) with two numbers drawn for each
    member: the number of neighbours of an object, and the width mu. The subspace that goes with it in the paper is
    drawn by the generator, as it draws features for all members.

    If the graph has several connected components, weak ties connect them (`bridges`).
    """

    name: str = "multimetric"
    least_neighbours: int = 5
    most_neighbours: int = 20
    least_width: float = 0.2
    most_width: float = 0.8

    def parameters(self) -> dict[str, Any]:  # noqa: D102  (the protocol's text)
        return {
            "method": self.name,
            "n_neighbours": [self.least_neighbours, self.most_neighbours],
            "width": [self.least_width.hex(), self.most_width.hex()],
            "components": "bridged",
        }

    def run(  # noqa: D102
        self, points: Floats, n_clusters: Sequence[int | None], rng: np.random.Generator
    ) -> list[Found]:
        for left in reversed(range(_DRAWS)):
            neighbours = int(rng.integers(self.least_neighbours, self.most_neighbours + 1))
            width = float(rng.uniform(self.least_width, self.most_width))
            graph = _connected(neighbour_graph(points, neighbours, width), points)
            try:
                return [Found(_cut(graph, k, rng)) for k in n_clusters if k is not None]
            except InputError as error:
                if not left:
                    raise InputError(
                        f"A member by method='multimetric' failed {_DRAWS} times. {error} method='graph' and "
                        "method='density' make no embedding."
                    ) from error
                warn(
                    f"The member by method='multimetric' with {neighbours} neighbours and the width {width:.2f} "
                    f"could not be made, and is drawn again. {error}",
                    EnsembleWarning,
                )
        raise AssertionError


def neighbour_graph(points: Floats, n_neighbours: int, width: float) -> sp.csr_array:
    """Return the graph of nearest neighbours, weighted by the scaled exponential similarity kernel.

    Objects i and j at the distance d_ij are tied if one is among the nearest neighbours of the other, by
    exp(-d_ij / (mu eps_ij)), where eps_ij = (rho_i + rho_j + d_ij) / 3 and rho_i is the mean distance of i from
    its neighbours. This is equation (1) of the paper. Its unit is that of no feature, and weights lie between
    exp(-3 / mu) and 1. (The authors' program takes squared distances and the density of a normal distribution
    at them, whose height depends on the unit.)

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points, n >= 2.
    n_neighbours : int
        Number of neighbours of each object, if there are that many others.
    width : float
        mu.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric; a weight is stored in both directions.
    """
    from sklearn.neighbors import NearestNeighbors

    n = len(points)
    k = min(n_neighbours, n - 1)
    largest = float(np.abs(points).max())
    # The kernel does not depend on the unit, but squares of large values would overflow.
    points = points / largest if largest > 0 else points
    nearest = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(return_distance=False)
    d = _distances(points, nearest)
    rho = d.mean(axis=1)
    scale = (rho[:, None] + rho[nearest] + d) * (width / 3.0)
    exponent = np.zeros_like(d)
    np.divide(-d, scale, out=exponent, where=scale > 0)
    starts = np.arange(0, n * k + 1, k, dtype=np.int32)
    graph = sp.csr_array(
        (np.exp(exponent).ravel(), nearest.ravel().astype(np.int32), starts), (n, n)
    )
    return sp.csr_array(graph.maximum(graph.T))


def _distances(points: Floats, neighbours: Ints) -> Floats:
    """Return the distances of points from their neighbours, exactly 0 for equal points.

    The search expands squares into dot products, which leaves rounding errors.
    """
    distances = np.empty(neighbours.shape)
    step = max(1, _CELLS // (neighbours.shape[1] * points.shape[1]))
    for start in range(0, len(points), step):
        block = slice(start, start + step)
        apart = points[block, None, :] - points[neighbours[block]]
        distances[block] = np.sqrt(np.einsum("ikj,ikj->ik", apart, apart))
    return distances


def _connected(graph: sp.csr_array, points: Floats) -> sp.csr_array:
    """Return the graph with weak ties between its components, the weaker the farther these are apart."""
    _, parts = connected_components(graph, directed=False)
    if not parts.any():
        return graph
    ends, squares = bridges(points / (np.abs(points).max() or 1.0), parts)
    shortest = squares[squares > 0].min(initial=np.inf)
    with np.errstate(divide="ignore"):
        shares = np.minimum(1.0, shortest / squares)
    weights = np.maximum(shares, _LEAST_SHARE) * (_WEAK * graph.data.min())
    added = sp.coo_array((weights, (ends[:, 0], ends[:, 1])), graph.shape).tocsr()
    return sp.csr_array(graph + added + added.T)


def _cut(graph: sp.csr_array, k: int, rng: np.random.Generator) -> Ints:
    """Cut the graph into k parts; return the part of each object."""
    rows = graph_embedding(graph, k, rng)
    return nearest_center(rows, centers_of_rows(rows, k, start_seed(rng)))


MULTIMETRIC = Kind(
    MultimetricRecipe(),
    30,
    labels_others=False,
    subspace=0.5,
    largest=100_000,
    help="spectral under metrics drawn at random, for many features, up to 100,000 objects",
    cited="spectral clustering under random metrics with many numbers of clusters",
)
