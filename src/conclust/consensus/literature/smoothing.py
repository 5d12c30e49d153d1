"""Similarities smoothed along the high-confidence graph: the convex problem of EC-CMS, solved exactly.

For a similarity A and the graph's Laplacian L, the smoothed C minimises::

    tr(C L C) + penalty / 2 * ||C - A||^2,   C = C',  C_ij = A_ij where i and j are joined,

so that joined objects resemble the same others. For a free entry::

    L C + C L + penalty * (C - A) = 0.

Between two components p and q all entries are free, and with ``L_p = U_p diag(l_p) U_p'``::

    C_pq = U_p [(U_p' A_pq U_q) o penalty / (l_p + l_q + penalty)] U_q'

is the solution. Inside a component conjugate gradients find the solution. The matrix of these equations has
non-positive entries off its diagonal and row sums `penalty`: so C is a weighted mean of entries of A, in
[0, 1] without constraints, and no entry errs by more than the largest residual / penalty.

On distinct rows with masses m everything holds with L on the rows (`ConfidentGraph.laplacian`) and sqrt(m) A
sqrt(m) for A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from conclust._arrays.symmetric import symmetrise, transpose
from conclust._progress import rounds, tracked
from conclust._types import Floats, Ints
from conclust.consensus.literature.confident import ConfidentGraph
from conclust.exceptions import warn

# A residual of this share of the penalty is an error of at most the same size in C; residuals below
# the rounding error of the largest diagonal entry cannot be reached.
_TOLERANCE = 1e-8
_ROUNDING = 1e-14
_MOST_STEPS = 5_000
_STEPS_BETWEEN_LOOKS = 8


def smoothed(A: Floats, graph: ConfidentGraph, penalty: float) -> Floats:
    """Return C of the distinct rows; A, symmetric, is overwritten.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_rows)
        Similarities in [0, 1]; 0 for pairs that no partition observed.
    graph : ConfidentGraph
        Graph of joined rows. A pair that was not observed is not drawn to A.
    penalty : float
        Positive.

    Returns
    -------
    ndarray of shape (n_rows, n_rows)
        C, symmetric to the bit, with the diagonal of A.
    """
    if graph.edges.nnz == 0:
        return A
    root = np.sqrt(graph.masses)
    whole = _Equations(graph.laplacian(), graph.edges, root, penalty)
    X = A
    del A  # so that a caller who gave it away has its memory back
    X *= root[:, None]
    X *= root
    if graph.unobserved.nnz:
        X = whole.solve(X, X.copy(), graph.unobserved)
    else:
        groups = graph.groups()
        blocks = [X[np.ix_(group, group)] for group in groups]
        X = _between(X, whole.L, groups, penalty)
        each = zip(groups, blocks, strict=True)
        for group, component in tracked(each, "components", len(groups)):
            inside = np.ix_(group, group)
            X[inside] = whole.part(group).solve(component, X[inside])
    X /= root[:, None]
    X /= root
    symmetrise(X)
    return X


def _between(X: Floats, L: sp.csr_array, groups: list[Ints], penalty: float) -> Floats:
    """Return the solution with all entries free, by the eigenvectors of each component."""
    values = np.zeros(len(X))
    vectors = []
    for group in tracked(groups, "decompositions"):
        values[group], U = scipy.linalg.eigh(L[group][:, group].toarray())
        vectors.append(U)
    np.maximum(values, 0.0, out=values)
    X = _rotated(X, groups, [U.T for U in vectors])
    for i in range(len(X)):
        X[i] *= penalty / (values[i] + values + penalty)
    return _rotated(X, groups, vectors)


def _rotated(X: Floats, groups: list[Ints], U: list[Floats]) -> Floats:
    """Return R X R' of a symmetric X, R having the blocks U on its diagonal."""
    for _ in range(2):
        for group, block in zip(groups, U, strict=True):
            X[group] = block @ X[group]
        transpose(X)
    return X


@dataclass(frozen=True)
class _Equations:
    """L X + X L + penalty * (X - A) = 0 for the pairs that are not joined.

    Attributes
    ----------
    L : csr_array of shape (n, n)
        Laplacian of the joined pairs.
    edges : csr_array of shape (n, n)
        Joined pairs.
    root : ndarray of shape (n,)
        Roots of the masses: X is sqrt(m) C sqrt(m).
    penalty : float
        Strength with which C is pulled towards A.
    """

    L: sp.csr_array
    edges: sp.csr_array
    root: Floats
    penalty: float

    def part(self, rows: Ints) -> _Equations:
        """Return the equations of a component."""
        return _Equations(
            self.L[rows][:, rows], self.edges[rows][:, rows], self.root[rows], self.penalty
        )

    def solve(self, A: Floats, X: Floats, unobserved: sp.csr_array | None = None) -> Floats:
        """Solve by conjugate gradients from X, which is overwritten.

        Entries that are joined, and the diagonal, are those of A. `unobserved`: pairs that are not drawn
        to it.
        """
        n, diagonal = len(A), np.arange(len(A))
        joined, others = self.edges.nonzero()
        fixed = np.concatenate([joined, diagonal]), np.concatenate([others, diagonal])
        X[fixed] = A[fixed]
        half_drawn = self.L + sp.diags_array(np.full(n, 0.5 * self.penalty))
        free_of_A = None if unobserved is None else unobserved.nonzero()

        def product(Y: Floats, out: Floats) -> Floats:
            half = half_drawn @ Y
            np.add(half, half.T, out=out)
            if free_of_A is not None:
                out[free_of_A] -= self.penalty * Y[free_of_A]
            out[fixed] = 0.0
            return out

        degrees = self.L.diagonal()
        inverse = degrees[:, None] + degrees
        inverse += self.penalty
        enough = max(_TOLERANCE * self.penalty, _ROUNDING * float(inverse.max()))
        residual = self.penalty * A
        if free_of_A is not None:
            inverse[free_of_A] -= self.penalty
            residual[free_of_A] = 0.0
            # Objects that are joined to no other and never observed together do not change.
            inverse[inverse <= 0.0] = 1.0
        np.divide(1.0, inverse, out=inverse)
        moved, work = np.empty((n, n)), np.empty((n, n))
        residual[fixed] = 0.0
        residual -= product(X, moved)
        direction = residual * inverse
        rho = float(np.vdot(residual, direction))
        for step in range(_MOST_STEPS):
            rounds("conjugate gradients", step, _MOST_STEPS)
            if step % _STEPS_BETWEEN_LOOKS == 0 and self._largest(residual, work) <= enough:
                return X
            product(direction, moved)
            length = rho / (float(np.vdot(direction, moved)) or 1.0)
            X += np.multiply(direction, length, out=work)
            residual -= np.multiply(moved, length, out=work)
            np.multiply(residual, inverse, out=work)
            rho, before = float(np.vdot(residual, work)), rho
            direction *= rho / (before or 1.0)
            direction += work
        self._warn()
        return X

    def _warn(self) -> None:
        warn(
            f"The similarities of ECCMS are not exact after {_MOST_STEPS} conjugate gradients: a larger "
            "penalty needs fewer.",
            ConvergenceWarning,
        )

    def _largest(self, residual: Floats, work: Floats) -> float:
        """Return the largest residual of an entry of C."""
        np.abs(residual, out=work)
        work /= self.root[:, None]
        work /= self.root
        return float(work.max())
