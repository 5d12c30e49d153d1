"""The largest eigenvalues of a symmetric matrix, and their vectors: by LAPACK for small ones, else by Lanczos."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, eigsh

from conclust._progress import rounds
from conclust._types import Floats
from conclust.exceptions import InputError

# Matrices up to this size are solved densely; Lanczos finds a few eigenvectors of larger ones.
_WHOLE = 1_500
# The same for sparse matrices.
_SMALL = 200
# Maximum size of matrices solved densely if Lanczos does not converge: 72 MB.
_WHOLE_AT_LAST = 3_000
# Relative error of eigenvalues that only weak ties separate, and the difference above which a missed one is reported.
_CLOSE = 1e-14
_APART = 1e-6


def is_small(n: int) -> bool:
    """Return whether a matrix of n rows is solved densely."""
    return n <= _WHOLE


def leading(E: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues in decreasing order, and their vectors."""
    n = len(E)
    k = min(k, n)
    if n <= _WHOLE or 4 * k > n:
        return solved_densely(E, k)
    return lanczos(E, n, k, np.random.default_rng(n).standard_normal(n))


def solved_densely(E: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the same by LAPACK."""
    n = len(E)
    values, vectors = some_eigenpairs(E, n - k, n)
    return values[::-1], vectors[:, ::-1]


def some_eigenpairs(E: Floats, begin: int, end: int) -> tuple[Floats, Floats]:
    """Return the eigenvalues from number `begin` to before `end`, rising, and their vectors."""
    # LAPACK's partial spectrum can be empty, or fail, if many eigenvalues are equal: a complete graph, or nearly
    # disconnected blocks.
    with contextlib.suppress(np.linalg.LinAlgError):
        values, vectors = scipy.linalg.eigh(E, subset_by_index=(begin, end - 1))
        if len(values) == end - begin:
            return values, vectors
    values, vectors = scipy.linalg.eigh(E)
    return values[begin:end], vectors[:, begin:end]


def leading_of_sparse(
    E: sp.csr_array | LinearOperator, k: int, *, repeated: bool = False
) -> tuple[Floats, Floats] | None:
    """Return the same for a sparse matrix or its products; None if a dense solver is as fast or more reliable.

    repeated: whether eigenvalues may be equal. Lanczos can miss one of them, so a second run searches for it.
    """
    n = E.shape[0]
    if n < _SMALL or 4 * k > n:
        return None
    rng = np.random.default_rng(n)
    start = rng.standard_normal(n)
    try:
        values, vectors = eigsh(
            E, k, which="LA", v0=start, ncv=2 * k + 30, maxiter=50, tol=_CLOSE if repeated else 1e-6
        )
        if repeated:

            def left(v: Floats) -> Floats:
                return np.asarray(E @ v - vectors @ (values * (vectors.T @ v)))

            operator: Any = LinearOperator((n, n), matvec=left, dtype=float)
            next_one = eigsh(
                operator, 1, which="LA", v0=rng.standard_normal(n), ncv=20, maxiter=20, tol=1e-3
            )[0]
            if next_one[0] > values.min() + _APART:
                return None
    except ArpackNoConvergence:
        return None
    return _decreasing(values, vectors)


def _decreasing(values: Floats, vectors: Floats) -> tuple[Floats, Floats]:
    """Return eigenpairs in decreasing order of the values."""
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def lanczos(operator: Any, n: int, k: int, start: Floats) -> tuple[Floats, Floats]:
    """Return the same by Lanczos iterations from a start, of anything that multiplies vectors (n,)."""
    inner, products = aslinearoperator(operator), 0

    def product(v: Floats) -> Floats:
        nonlocal products
        products += 1
        rounds("products with the graph", products)
        return np.asarray(inner.matvec(v))

    counting: Any = LinearOperator((n, n), matvec=product, dtype=float)
    try:
        values, vectors = eigsh(
            counting, k, which="LA", v0=start, ncv=min(n - 1, 2 * k + 30), maxiter=300, tol=1e-6
        )
    except ArpackNoConvergence as error:
        if n <= _WHOLE_AT_LAST:
            E = np.column_stack([product(unit) for unit in np.eye(n)])
            return solved_densely(0.5 * (E + E.T), k)
        # The converged eigenvectors are an embedding of fewer dimensions.
        values, vectors = error.eigenvalues, error.eigenvectors
        if len(values) == 0:
            raise InputError(
                f"No eigenvector of a graph with {n:,} vertices converged, as its leading eigenvalues are too "
                "close to each other. Use a method without a spectral embedding."
            ) from error
    return _decreasing(values, vectors)
