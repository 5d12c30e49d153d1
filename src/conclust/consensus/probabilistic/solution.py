"""What every solver of the pair objective returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairSolution"]


@dataclass(frozen=True)
class PairSolution:
    """A stationary membership of f(Y) = sum over pairs N_ij d(c_ij / N_ij, y_i'y_j).

    Attributes
    ----------
    membership : ndarray of shape (n_samples, n_clusters)
        Rows on the simplex.
    objective : float
        f of the membership.
    residual : float
        Largest over the objects of ``(max_{k: y_ik > 0} g_ik - min_k g_ik) / sum_j N_ij``, with g the
        gradient of f: 0 at a stationary point.
    n_iter : int
        Iterations (sweeps over the objects, or steps: the solver says which).
    converged : bool
        Whether a tolerance ended the iteration, not the largest number of iterations.
    trace : ndarray of shape (n_rows, 2)
        Objective and residual now and then; the first row is the start.
    spent : int
        Multiplications and additions of the visits, about: what the pairwise solver's searches count
        their effort by. The same on any number of threads.
    """

    membership: NDArray[np.float64]
    objective: float
    residual: float
    n_iter: int
    converged: bool
    trace: NDArray[np.float64]
    spent: int = field(default=0, kw_only=True)
