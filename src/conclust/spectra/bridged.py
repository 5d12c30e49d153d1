"""Leading eigenvectors of a graph whose components are connected by a few weak ties.

The matrix is E + Z'Z: E has a block for each component, and Z a row for each tie between two of them. Blocks are small, and
their leading eigenvectors nearly those of the whole. What the ties change is found by a block Davidson iteration:
Rayleigh-Ritz in the space of these vectors, which grows by the residuals times (s - E)^-1, s near their eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["leading_of_bridged"]

# Norm of a residual that counts as 0: relative to 1 - eigenvalue, which tells cuts apart; at least a rounding error.
_RESIDUAL = 1e-6
_ROUNDING = 1e-13
# Maximum number of times that the space grows.
_ROUNDS = 10
# Matrices up to this size are solved whole: a part of the spectrum takes as long.
_SMALL = 150
# The same for the matrix itself, where its blocks take more than this share of its cubic cost.
_SHARE = 1 / 16
# Number of eigenvalues held beyond those that are asked for and one for each block.
_BEYOND = 10
# Distance of a shift from the largest eigenvalue that it must exceed.
_APART = 1e-3


def leading_of_bridged(
    E: sp.csr_array, Z: NDArray[np.float64], parts: NDArray[np.int64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the k largest eigenvalues of E + Z'Z, falling, and their vectors.

    Parameters
    ----------
    E : csr_array of shape (n, n)
        Symmetric, with eigenvalues of at most 1 and entries inside of parts only.
    Z : ndarray of shape (n_ties, n)
        The ties between parts.
    parts : ndarray of shape (n,)
        The part of each row: 0, 1, ....
    k : int
        Number of eigenvalues.

    Returns
    -------
    tuple of ndarray or None
        The eigenvalues (k,) and their vectors (n, k). None where solving the whole is as quick, or where the
        residuals do not vanish.
    """
    n = E.shape[0]
    sizes = np.bincount(parts).astype(np.float64)
    n_held = len(sizes) + k + _BEYOND
    if 3 * (n_held + len(Z)) > n or (sizes**3).sum() > _SHARE * float(n) ** 3:
        return None
    blocks = _blocks(E, parts)
    basis, least = _leading_of_blocks(blocks, n, n_held)
    if least > 1.0 - 2 * _APART:
        return None  # a block that all but falls apart
    held, images = basis, _product(blocks, Z, basis)
    solve_near_one = _solver(blocks, held, 1.0)
    solve_near_last: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    grown = solve_near_one(Z.T)
    for _ in range(_ROUNDS):
        grown = _orthonormal(grown, basis)
        basis = np.hstack([basis, grown])
        images = np.hstack([images, _product(blocks, Z, grown)])
        inner = basis.T @ images
        values, rotation = _largest(0.5 * (inner + inner.T), k)
        vectors = basis @ rotation
        residuals = images @ rotation - vectors * values
        norms = np.sqrt(np.einsum("ij,ij->j", residuals, residuals))
        left = norms > np.maximum(_RESIDUAL * (1.0 - values), _ROUNDING)
        if not left.any():
            return values, vectors
        high = values > 0.5 * (1.0 + values[-1])
        if solve_near_last is None:
            solve_near_last = _solver(blocks, held, max(values[-1], least + _APART))
        grown = np.hstack(
            [solve_near_one(residuals[:, left & high]), solve_near_last(residuals[:, left & ~high])]
        )
    return None


@dataclass(frozen=True)
class _Block:
    """The rows of a part, and its matrix."""

    rows: NDArray[np.int64]
    matrix: NDArray[np.float64]


def _blocks(E: sp.csr_array, parts: NDArray[np.int64]) -> list[_Block]:
    order = np.argsort(parts, kind="stable")
    ordered = sp.csr_array(E[order][:, order])
    bounds = np.concatenate([[0], np.cumsum(np.bincount(parts))])
    blocks = []
    for start, stop in pairwise(bounds.tolist()):
        size = stop - start
        entries = slice(ordered.indptr[start], ordered.indptr[stop])
        rows = np.repeat(np.arange(size), np.diff(ordered.indptr[start : stop + 1]))
        matrix = np.zeros((size, size))
        matrix[rows, ordered.indices[entries] - start] = ordered.data[entries]
        blocks.append(_Block(order[start:stop], 0.5 * (matrix + matrix.T)))
    return blocks


def _largest(
    matrix: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues, falling, and their vectors."""
    size = len(matrix)
    if size <= _SMALL:
        values, vectors = np.linalg.eigh(matrix)
    else:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(size - count, size - 1))
    return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1]


def _leading_of_blocks(
    blocks: list[_Block], n: int, count: int
) -> tuple[NDArray[np.float64], float]:
    """Return the vectors of the first eigenvalue of each block and of the largest others, and a bound of all that are left."""
    solved = [
        _largest(block.matrix, min(len(block.rows), count - len(blocks) + 1)) for block in blocks
    ]
    values = np.concatenate([part for part, _ in solved])
    block_of = np.repeat(np.arange(len(blocks)), [len(part) for part, _ in solved])
    place = np.concatenate([np.arange(len(part)) for part, _ in solved])
    order = np.lexsort((-values, place > 0))[:count]
    basis = np.zeros((n, len(order)))
    for column, i in enumerate(order):
        basis[blocks[block_of[i]].rows, column] = solved[block_of[i]][1][:, place[i]]
    return basis, float(values[order[-1]])


def _solver(
    blocks: list[_Block], held: NDArray[np.float64], shift: float
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return a function that multiplies by (shift - E)^-1 what is orthogonal to the eigenvectors held."""
    factors = []
    for block in blocks:
        rows = held[block.rows]
        rows = rows[:, rows.any(axis=0)]
        # With 1 added to their eigenvalues the matrix is positive definite.
        matrix = rows @ rows.T - block.matrix
        matrix[np.diag_indices_from(matrix)] += shift
        factors.append(scipy.linalg.cho_factor(matrix, check_finite=False))

    def solve(right: NDArray[np.float64]) -> NDArray[np.float64]:
        right = right - held @ (held.T @ right)
        solution = np.empty_like(right)
        for block, factor in zip(blocks, factors, strict=True):
            solution[block.rows] = scipy.linalg.cho_solve(
                factor, right[block.rows], check_finite=False
            )
        return solution

    return solve


def _product(
    blocks: list[_Block], Z: NDArray[np.float64], V: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (E + Z'Z) V."""
    products = np.empty_like(V)
    for block in blocks:
        products[block.rows] = block.matrix @ V[block.rows]
    return products + Z.T @ (Z @ V)


def _orthonormal(added: NDArray[np.float64], basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an orthonormal basis of what is added, orthogonal to the basis that stands."""
    for _ in range(
        2
    ):  # once more: the first time leaves rounding errors of the length that is lost
        rest = added - basis @ (basis.T @ added)
        added = np.asarray(scipy.linalg.qr(rest, mode="economic", check_finite=False)[0])
    return added
