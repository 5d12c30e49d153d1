"""Spectral embeddings: of the bipartite graph of objects and clusters, and of any graph.

The bipartite graph B (n objects, T clusters) is never made square in n. With degrees
D_x = diag(B 1) and D_y = diag(B' 1), the singular vectors of S = D_x^-1/2 B D_y^-1/2 come from the
transfer cut: the eigenvectors V of S'S = D_y^-1/2 B' D_x^-1 B D_y^-1/2, which is T x T, give the
left ones as U = S V / sigma. A graph B W, where W mixes clusters, is read as the two matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

__all__ = [
    "BipartiteSpectrum",
    "bipartite_spectrum",
    "graph_embedding",
    "is_sparse",
    "transfer_cut",
    "unit_rows",
]

# Matrices up to this size are solved whole; Lanczos finds a few eigenvectors of larger ones.
_WHOLE = 1_500
# Clusters up to which S'S is made for it.
_HELD = 4_096
# Directions with a smaller singular value are rounding errors.
_RANK = 1e-6


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

    values: NDArray[np.float64]
    objects: NDArray[np.float64]
    clusters: NDArray[np.float64]


def bipartite_spectrum(
    B: sp.csr_array,
    k: int,
    *,
    gram: sp.csr_array | None = None,
    mixing: sp.csr_array | None = None,
) -> BipartiteSpectrum:
    """Find the k leading singular triplets of the degree-normalised B by the transfer cut.

    Parameters
    ----------
    B : csr_array of shape (n, T)
        Non-negative weights of objects and clusters.
    k : int
        How many triplets; fewer where the rank is lower.
    gram : csr_array of shape (T, T), default=None
        B'B, if it is known: it spares the product where all objects have the same degree.
    mixing : csr_array of shape (T, T), default=None
        W, symmetric and non-negative: the graph is B W in the place of B, and never made where it has
        more objects than clusters.

    Returns
    -------
    BipartiteSpectrum
        The triplets.

    Notes
    -----
    Z. Li, X.-M. Wu, S.-F. Chang, "Segmentation using superpixels", CVPR 2012 (the transfer cut).
    """
    values, V, loads = transfer_cut(B, k, gram=gram, mixing=mixing)
    x = _inverse_root(np.asarray(B @ _mixing(mixing)(np.ones(B.shape[1], dtype=np.float64))))
    return BipartiteSpectrum(values, (B @ loads) * x[:, None], V)


def transfer_cut(
    B: sp.csr_array,
    k: int,
    *,
    gram: sp.csr_array | None = None,
    mixing: sp.csr_array | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Find the clusters' side of `bipartite_spectrum`, so that objects can be embedded in blocks.

    Parameters
    ----------
    B : csr_array of shape (n, T)
        Non-negative weights of objects and clusters.
    k : int
        How many triplets; fewer where the rank is lower.
    gram : csr_array of shape (T, T), default=None
        B'B, if it is known.
    mixing : csr_array of shape (T, T), default=None
        W, if the graph is B W.

    Returns
    -------
    values : ndarray of shape (r,)
        Singular values, falling.
    clusters : ndarray of shape (T, r)
        Right singular vectors V.
    loads : ndarray of shape (T, r)
        ``W D_y^-1/2 V / values``: the left ones are ``D_x^-1/2 B loads``.
    """
    mixed = _mixing(mixing)
    object_degrees = np.asarray(B @ mixed(np.ones(B.shape[1], dtype=np.float64)))
    cluster_degrees = np.asarray(mixed(np.asarray(B.sum(axis=0), dtype=np.float64).ravel()))
    x, y = _inverse_root(object_degrees), _inverse_root(cluster_degrees)
    if B.shape[1] > _HELD:
        eigenvalues, V = _leading_of_products(_scale_rows(B, x), y, k, mixing)
    else:
        if gram is not None and np.ptp(object_degrees) <= 1e-12 * object_degrees.max():
            inner = gram / object_degrees.max()
        else:
            scaled = _scale_rows(B, x)
            inner = sp.csr_array(scaled.T @ scaled)
        E = mixed(mixed(inner.toarray()).T).T * y[:, None] * y
        eigenvalues, V = _leading(0.5 * (E + E.T), k)
    values = np.sqrt(np.maximum(eigenvalues, 0.0))
    kept = values > _RANK
    values, V = np.minimum(values[kept], 1.0), np.ascontiguousarray(V[:, kept])
    return values, V, mixed(V * (y[:, None] / values))


def graph_embedding(
    W: Any, k: int, rng: np.random.Generator, *, loops: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
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
    own = root * added * root
    if n <= _WHOLE:
        dense = W.toarray() if is_sparse(W) else W
        E = dense * root[:, None] * root + np.diag(own)
        return unit_rows(_leading(0.5 * (E + E.T), k)[1])

    def product(v: NDArray[np.float64]) -> NDArray[np.float64]:
        v = v.ravel()
        return np.asarray(root * (W @ (root * v)) + own * v)

    operator = LinearOperator((n, n), matvec=product, dtype=float)
    return unit_rows(_lanczos(operator, n, k, rng.standard_normal(n))[1])


def is_sparse(W: Any) -> bool:
    """Whether a graph is sparse: a plain bool, so that types are not narrowed to less than it is."""
    return bool(sp.issparse(W))


def unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale rows to unit length; rows of zeros stay."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    # Below this a row is the rounding error of one that is 0 on paper.
    norms[norms < 1e-12] = np.inf
    return np.asarray(rows / norms[:, None])


def _leading(E: NDArray[np.float64], k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the k largest eigenvalues, falling, and their vectors."""
    n = len(E)
    k = min(k, n)
    if n <= _WHOLE or 4 * k > n:
        values, vectors = scipy.linalg.eigh(E, subset_by_index=(n - k, n - 1))
        if len(values) < k:
            # LAPACK's search for a part of the spectrum can find nothing where many eigenvalues
            # are equal: a complete graph, blocks that are all but cut apart.
            values, vectors = (found[..., n - k :] for found in scipy.linalg.eigh(E))
        return values[::-1], vectors[:, ::-1]
    return _lanczos(E, n, k, np.random.default_rng(n).standard_normal(n))


def _leading_of_products(
    scaled: sp.csr_array, y: NDArray[np.float64], k: int, mixing: sp.csr_array | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the same of S'S, S = D_x^-1/2 B W D_y^-1/2, without making it.

    With no more objects than clusters, SS' is the smaller matrix.
    """
    n, T = scaled.shape
    if n <= _HELD and mixing is not None:
        scaled, mixing = sp.csr_array(scaled @ mixing), None
    mixed = _mixing(mixing)
    S = sp.csr_array(scaled.multiply(y[None, :])) if mixing is None else scaled
    if n <= _HELD:
        values, U = _leading((S @ S.T).toarray(), k)
        some = values > 0
        root = np.sqrt(values[some])
        return values[some], np.asarray(S.T @ (U[:, some] / root))
    across = sp.csr_array(S.T)

    def product(v: NDArray[np.float64]) -> NDArray[np.float64]:
        if mixing is None:
            return np.asarray(across @ (S @ v.ravel()))
        return np.asarray(y * mixed(across @ (S @ mixed(y * v.ravel()))))

    operator = LinearOperator((T, T), matvec=product, dtype=float)
    return _lanczos(operator, T, min(k, T - 1), np.random.default_rng(T).standard_normal(T))


def _mixing(
    mixing: sp.csr_array | None,
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the product with W, which is symmetric; without one it is I."""
    if mixing is None:
        return lambda values: values
    return lambda values: np.asarray(mixing @ values)


def _lanczos(
    operator: Any, n: int, k: int, start: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        values, vectors = eigsh(
            operator, k, which="LA", v0=start, ncv=min(n - 1, 2 * k + 30), maxiter=300, tol=1e-6
        )
    except ArpackNoConvergence as error:
        # The eigenvectors that converged are an embedding of fewer dimensions.
        values, vectors = error.eigenvalues, error.eigenvectors
        if len(values) == 0:
            raise
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _inverse_root(degrees: NDArray[Any]) -> NDArray[np.float64]:
    root = np.zeros(len(degrees))
    np.divide(1.0, np.sqrt(degrees), out=root, where=degrees > 0)
    return root


def _scale_rows(B: sp.csr_array, factors: NDArray[np.float64]) -> sp.csr_array:
    data = B.data * np.repeat(factors, np.diff(B.indptr))
    return sp.csr_array((data, B.indices, B.indptr), shape=B.shape)
