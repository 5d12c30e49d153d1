"""Spectral embeddings: of the bipartite graph of objects and clusters, and of any graph.

The bipartite graph B (n objects, T clusters) is never made square in n. With degrees
D_x = diag(B 1) and D_y = diag(B' 1), the singular vectors of S = D_x^-1/2 B D_y^-1/2 come from the
transfer cut: the eigenvectors V of S'S = D_y^-1/2 B' D_x^-1 B D_y^-1/2, which is T x T, give the
left ones as U = S V / sigma. A graph B W, where W mixes clusters, is read as the two matrices, and the
B of an ensemble from its labels (`bipartite.py`).

Where the graph falls into components, 1 is a singular value as often as there are components, and any
rotation of its vectors will do. Each component is then solved by itself: vectors are 0 outside of one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from conclust._arrays.rows import inverse_or_zero
from conclust._types import Floats, Ints
from conclust.ensemble.labels import one_hot_rows
from conclust.spectra.bipartite import (
    Edges,
    MatrixEdges,
    is_small,
    lanczos,
    leading,
    leading_of_sparse,
    unit_rows,
)

# Maximum number of clusters for which S'S is made for it.
_HELD = 4_096
# Directions with a smaller singular value are rounding errors.
_RANK = 1e-6
# A second eigenvalue above this may be 1: the graph may fall into components.
_ONE = 1.0 - 1e-5
# Relative difference below which numbers are equal up to rounding.
_DIGITS = 9


@dataclass(frozen=True)
class BipartiteSpectrum:
    """Leading singular triplets of S = D_x^-1/2 B D_y^-1/2.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Singular values, falling; the first is 1. Zero ones are left out.
    objects : ndarray of shape (n, r)
        Left singular vectors U; 0 for objects in no cluster.
    clusters : ndarray of shape (T, r)
        Right singular vectors V; 0 for clusters without weight.
    """

    values: Floats
    objects: Floats
    clusters: Floats


@dataclass(frozen=True)
class ClusterSide:
    """Result of the transfer cut before objects are embedded, which can be done in blocks.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Singular values, falling.
    clusters : ndarray of shape (T, r)
        Right singular vectors V.
    loads : ndarray of shape (T, r)
        ``W D_y^-1/2 V / values``: the left ones are ``D_x^-1/2 B loads``.
    components : ndarray of int64 of shape (T,)
        The component of the graph that each cluster is in, -1 for clusters without weight; 0 for all where
        there is one.
    component_of : ndarray of int64 of shape (r,)
        The component that each triplet belongs to.
    """

    values: Floats
    clusters: Floats
    loads: Floats
    components: Ints
    component_of: Ints

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.components.max()) + 1


def bipartite_spectrum(
    B: sp.csr_array | Edges, k: int, *, mixing: sp.csr_array | None = None
) -> BipartiteSpectrum:
    """Find the k leading singular triplets of the degree-normalised B by the transfer cut.

    Parameters
    ----------
    B : csr_array of shape (n, T) or Edges
        Non-negative weights of objects and clusters.
    k : int
        Number of triplets; fewer if the rank is lower.
    mixing : csr_array of shape (T, T), default=None
        W, symmetric and non-negative: the graph is B W in place of B, and never made where it has
        more objects than clusters.

    Returns
    -------
    BipartiteSpectrum
        The triplets.

    Notes
    -----
    Z. Li, X.-M. Wu, S.-F. Chang, "Segmentation using superpixels", CVPR 2012 (the transfer cut).
    """
    edges = _edges(B)
    cut = transfer_cut(edges, k, mixing=mixing)
    x = _inverse_root(edges.times(_mixing(mixing)(np.ones(edges.shape[1]))))
    objects = edges.rows(cut.loads, slice(0, edges.shape[0])) * x[:, None]
    return BipartiteSpectrum(cut.values, objects, cut.clusters)


def transfer_cut(
    B: sp.csr_array | Edges, k: int, *, mixing: sp.csr_array | None = None
) -> ClusterSide:
    """Find the clusters' side of `bipartite_spectrum`, so that objects can be embedded in blocks.

    Parameters
    ----------
    B : csr_array of shape (n, T) or Edges
        Non-negative weights of objects and clusters.
    k : int
        Number of triplets; fewer if the rank is lower.
    mixing : csr_array of shape (T, T), default=None
        W, if the graph is B W.

    Returns
    -------
    ClusterSide
        The triplets of each component of the graph.
    """
    edges = _edges(B)
    mixed = _mixing(mixing)
    object_degrees = edges.times(mixed(np.ones(edges.shape[1])))
    y = _inverse_root(mixed(edges.sums()))
    graph = _Normalized(edges, mixing, _inverse_root(object_degrees), y)
    E = graph.inner() if edges.shape[1] <= _HELD else None
    pairs = _leading_of_products(graph, k) if E is None else leading(E, k)
    return _side(pairs, graph, E, k, lambda: components_of(edges, mixing))


def transfer_cut_of_products(
    inner: Floats | sp.csr_array,
    degrees: Floats,
    k: int,
    components: Callable[[], Ints],
    *,
    parts: Ints | None = None,
) -> ClusterSide:
    """Find the same from sums over objects that are read in blocks.

    Parameters
    ----------
    inner : ndarray or csr_array of shape (T, T)
        B' D_x^-1 B. A sparse one says that few triplets of many are wanted of a connected graph: Lanczos finds them
        in a fraction of the time.
    degrees : ndarray of shape (T,)
        Degrees of the clusters: B' 1.
    k : int
        Number of triplets; fewer if the rank is lower.
    components : callable
        Finds the component that each cluster is in, as `components_of` numbers them; called only where
        the graph may fall into several.
    parts : ndarray of int of shape (T,), default=None
        The part of each cluster, where weak ties alone connect parts of the graph.

    Returns
    -------
    ClusterSide
        The triplets of each component of the graph.
    """
    y = _inverse_root(degrees)
    graph = _Normalized(MatrixEdges(sp.csr_array((0, len(y)))), None, np.empty(0), y)
    if isinstance(inner, sp.csr_array):
        scaled = inner.copy()
        scaled.data *= np.repeat(y, np.diff(inner.indptr)) * y[inner.indices]
        known = None
        if parts is not None:  # without ties the roots of degrees are eigenvectors of each part
            known = one_hot_rows(parts, int(parts.max()) + 1) * np.sqrt(degrees)[:, None]
            known = unit_rows(known[:, known.any(axis=0)].T).T
        pairs = leading_of_sparse(scaled, k, known=known)
        if pairs is not None:
            return _side(pairs, graph, None, k, lambda: np.where(y > 0, 0, -1))
        dense: Floats = inner.toarray()
    else:
        dense = inner
    E = dense * y[:, None] * y
    E = 0.5 * (E + E.T)
    return _side(leading(E, k), graph, E, k, components)


def _side(
    pairs: tuple[Floats, Floats],
    graph: _Normalized,
    E: Floats | None,
    k: int,
    find_components: Callable[[], Ints],
) -> ClusterSide:
    """Return the clusters' side from the leading eigenvectors, or from those of each component."""
    eigenvalues, V = pairs
    y = graph.y
    components = np.where(y > 0, 0, -1)
    component_of = np.zeros(len(eigenvalues), dtype=np.int64)
    if len(eigenvalues) > 1 and (eigenvalues[1] > _ONE or _may_be_divided(E, y)):
        components = find_components()
        if components.max() > 0:
            eigenvalues, V, component_of = _leading_of_components(graph, E, components, k)
    values = np.sqrt(np.maximum(eigenvalues, 0.0))
    above_rank = values > _RANK
    values, V = np.minimum(values[above_rank], 1.0), np.ascontiguousarray(V[:, above_rank])
    loads = _mixing(graph.mixing)(V * (y[:, None] / values))
    return ClusterSide(values, V, loads, components, component_of[above_rank])


def _may_be_divided(E: Floats | None, y: Floats) -> bool:
    """Return whether components must be searched although a second eigenvalue of 1 was not found.

    Lanczos iterations can miss equal eigenvalues; a dense solver does not.
    """
    if is_small(len(y)):
        return False
    if E is None:
        return True
    held = np.flatnonzero(y > 0)
    links: Any = sp.csr_array(E[np.ix_(held, held)] > 0)
    return int(connected_components(links, directed=False)[0]) > 1


def components_of(B: sp.csr_array | Edges, mixing: sp.csr_array | None = None) -> Ints:
    """Return the connected component of the graph that each cluster is in.

    Parameters
    ----------
    B : csr_array of shape (n, T) or Edges
        Non-negative weights of objects and clusters.
    mixing : csr_array of shape (T, T), default=None
        W, if the graph is B W.

    Returns
    -------
    ndarray of int64 of shape (T,)
        Those with the largest weight first; ties go to larger clusters, then to the first to
        appear; -1 for clusters without weight.
    """
    edges = _edges(B)
    T = edges.shape[1]
    links = sp.csr_array((T, T))
    for block in edges.blocks():
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))[block.data > 0]
        ends = block.indices[block.data > 0]
        # The clusters of an object as a chain.
        chained = rows[1:] == rows[:-1]
        joined = (np.ones(np.count_nonzero(chained)), (ends[:-1][chained], ends[1:][chained]))
        links = links + sp.coo_array(joined, shape=(T, T)).tocsr()
    if mixing is not None:
        links = links + mixing
    return numbered_components(links, _mixing(mixing)(edges.sums()))


def numbered_components(links: sp.csr_array, weight: Floats) -> Ints:
    """Number the components of the clusters' graph.

    Parameters
    ----------
    links : csr_array of shape (T, T)
        Entries join clusters.
    weight : ndarray of shape (T,)
        Degrees of the clusters.

    Returns
    -------
    ndarray of int64 of shape (T,)
        As `components_of`.
    """
    component_of = connected_components(links, directed=False)[1].astype(np.int64)
    some = weight > 0
    _, first, inverse = np.unique(component_of[some], return_index=True, return_inverse=True)
    shares = weight[some] / weight.sum()
    sizes, squares = np.bincount(inverse, shares), np.bincount(inverse, shares**2)
    order = np.lexsort((first, -squares.round(_DIGITS), -sizes.round(_DIGITS)))
    component_of[~some] = -1
    component_of[some] = np.argsort(order)[inverse]
    return component_of


def leading_eigenvectors(
    product: Callable[[Floats], Floats], n: int, k: int
) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of a symmetric matrix, in decreasing order, and their vectors.

    Parameters
    ----------
    product : callable
        Multiplies the matrix by a vector.
    n : int
        Its size; up to 1,500 the matrix is made.
    k : int
        Number of vectors, at most n.
    """
    if is_small(n):
        E = np.column_stack([product(unit) for unit in np.eye(n)])
        return leading(0.5 * (E + E.T), k)
    operator = LinearOperator((n, n), matvec=lambda v: product(v.ravel()), dtype=float)
    return lanczos(operator, n, k, np.random.default_rng(n).standard_normal(n))


def graph_embedding(
    W: Any, k: int, rng: np.random.Generator, *, loops: Floats | None = None
) -> Floats:
    """Return the k leading eigenvectors of D^-1/2 W D^-1/2, as rows of unit length.

    Parameters
    ----------
    W : ndarray or csr_array of shape (n, n)
        Symmetric, non-negative, with at least one edge. Isolated vertices are rows of zeros.
    k : int
        Dimensions, at most n.
    rng : Generator
        Draws the start vector of Lanczos.
    loops : ndarray of shape (n,), default=None
        Added to the diagonal of W, and twice to the degrees: regularises the cut of vertices of
        low degree (T. Cour, S. Yu and J. Shi's program for normalised cuts, which adds 1/2).

    Returns
    -------
    ndarray of shape (n, k)
        The embedding of Ng, Jordan and Weiss (NIPS 2001).
    """
    degrees = np.asarray(W.sum(axis=1)).ravel()
    n = len(degrees)
    added = np.zeros(n) if loops is None else loops
    root = _inverse_root(degrees + 2.0 * added)
    diagonal = root * added * root
    if is_small(n):
        dense = W.toarray() if is_sparse(W) else W
        E = dense * root[:, None] * root + np.diag(diagonal)
        return unit_rows(leading(0.5 * (E + E.T), k)[1])

    def product(v: Floats) -> Floats:
        v = v.ravel()
        return np.asarray(root * (W @ (root * v)) + diagonal * v)

    operator = LinearOperator((n, n), matvec=product, dtype=float)
    return unit_rows(lanczos(operator, n, k, rng.standard_normal(n))[1])


def embedding_by_products(
    product: Callable[[Floats], Floats], n: int, k: int, rng: np.random.Generator
) -> Floats | None:
    """Return `graph_embedding` of a graph that multiplies vectors (n,); None if a dense solver is more reliable."""
    root = _inverse_root(product(np.ones(n)))
    operator = LinearOperator(
        (n, n), matvec=lambda v: root * product(root * v.ravel()), dtype=float
    )
    if not is_small(n):
        return unit_rows(lanczos(operator, n, k, rng.standard_normal(n))[1])
    few = leading_of_sparse(operator, k, exactly=True)
    return None if few is None else unit_rows(few[1])


def is_sparse(W: Any) -> bool:
    """Return whether a graph is sparse, as a plain bool, so that type checkers do not narrow its type."""
    return bool(sp.issparse(W))


@dataclass(frozen=True)
class _Normalized:
    """S = D_x^-1/2 B W D_y^-1/2: x and y are the roots."""

    edges: Edges
    mixing: sp.csr_array | None
    x: Floats
    y: Floats

    def inner(self) -> Floats:
        """Return S'S (T, T)."""
        mixed = _mixing(self.mixing)
        E = mixed(mixed(self.edges.inner(self.x * self.x)).T).T * self.y[:, None] * self.y
        return np.asarray(0.5 * (E + E.T))

    def matrix(self) -> sp.csr_array:
        """Return S."""
        B = self.edges.matrix()
        B = B if self.mixing is None else B @ self.mixing
        return sp.csr_array(sp.diags_array(self.x) @ B @ sp.diags_array(self.y))

    def part(self, clusters: Ints) -> _Normalized:
        """Return the component formed by these clusters."""
        indicator = np.zeros(len(self.y))
        indicator[clusters] = 1.0
        objects = np.flatnonzero(self.edges.times(indicator) > 0)
        B = self.edges.part(objects).matrix()[:, clusters]
        W = None if self.mixing is None else sp.csr_array(self.mixing[clusters][:, clusters])
        return _Normalized(MatrixEdges(sp.csr_array(B)), W, self.x[objects], self.y[clusters])


def _leading_of_products(graph: _Normalized, k: int) -> tuple[Floats, Floats]:
    """Return the same of S'S without making it.

    With no more objects than clusters, SS' is the smaller matrix.
    """
    n, T = graph.edges.shape
    if n <= _HELD:
        S = graph.matrix()
        values, U = leading((S @ S.T).toarray(), k)
        some = values > 0
        root = np.sqrt(values[some])
        return values[some], np.asarray(S.T @ (U[:, some] / root))
    mixed = _mixing(graph.mixing)
    edges, squares, y = graph.edges, graph.x * graph.x, graph.y

    def product(v: Floats) -> Floats:
        return np.asarray(y * mixed(edges.sums(squares * edges.times(mixed(y * v.ravel())))))

    operator = LinearOperator((T, T), matvec=product, dtype=float)
    return lanczos(operator, T, min(k, T - 1), np.random.default_rng(T).standard_normal(T))


def _leading_of_components(
    graph: _Normalized, E: Floats | None, components: Ints, k: int
) -> tuple[Floats, Floats, Ints]:
    """Return the k largest eigenvalues of all components, their vectors and their components.

    E is S'S, if it is held. The first value of each component is 1. Of equal values those of components
    that come first are taken.
    """
    count = int(components.max()) + 1
    most = max(1, k - count + 1)  # the other components keep their first eigenvalues
    part_values, vectors = [], []
    for c in range(count):
        inside = np.flatnonzero(components == c)
        if E is not None:
            values, V = leading(E[np.ix_(inside, inside)], most)
        else:
            part = graph.part(inside)
            large = len(inside) > _HELD
            values, V = _leading_of_products(part, most) if large else leading(part.inner(), most)
        values = np.minimum(values, 1.0)
        values[0] = 1.0
        part_values.append(values)
        vectors.append((inside, V))
    component_of = np.repeat(np.arange(count), [len(values) for values in part_values])
    place = np.concatenate([np.arange(len(values)) for values in part_values])
    eigenvalues = np.concatenate(part_values)
    # The first eigenvalues of components precede others that are 1 up to rounding.
    chosen = np.lexsort((component_of, place > 0, -eigenvalues.round(_DIGITS)))[:k]
    V = np.zeros((len(components), len(chosen)))
    for column, i in enumerate(chosen):
        inside, own_vectors = vectors[component_of[i]]
        V[inside, column] = own_vectors[:, place[i]]
    return eigenvalues[chosen], V, component_of[chosen]


def _edges(B: sp.csr_array | Edges) -> Edges:
    return MatrixEdges(B) if isinstance(B, sp.csr_array) else B


def _mixing(mixing: sp.csr_array | None) -> Callable[[Floats], Floats]:
    """Return the product with W, which is symmetric; without one it is I."""
    if mixing is None:
        return lambda values: values
    return lambda values: np.asarray(mixing @ values)


def _inverse_root(degrees: NDArray[Any]) -> Floats:
    return inverse_or_zero(np.sqrt(degrees))
