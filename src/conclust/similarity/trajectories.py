"""Similarities of clusters by the trajectories of random walks between clusters."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from conclust._threads import one_library_thread
from conclust._types import Floats
from conclust._validation import check_int
from conclust.ensemble import as_ensemble
from conclust.ensemble.derived import Derived
from conclust.similarity.jaccard import check_square, jaccard_of_others, relative_weights

# A cosine below this is the rounding error of trajectories that never meet.
_NEVER = 1e-12
# Distance from -1 below which an eigenvalue indicates a bipartite graph.
_BIPARTITE = 1e-9


def trajectory_similarity(ensemble: Derived | ArrayLike, *, n_steps: int = 20) -> Floats:
    r"""Compare clusters by random walks that start at them.

    A walk goes from a cluster to the clusters of other partitions by their Jaccard similarity to it
    (:func:`cluster_jaccard`): P. Its trajectory is where it is after 1, 2, ... `n_steps` steps, and
    the similarity of two clusters the cosine of their trajectories [1]_:

    .. math::

        M = \sum_{s=1}^{\text{n\_steps}} P^s (P^s)^\top, \qquad R_{kl} = \frac{M_{kl}}{\sqrt{M_{kk} M_{ll}}}

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions, hard or soft. A walk goes to a partition's clusters in proportion to its weight.
    n_steps : int, default=20
        Length of the walks. Long walks make all clusters similar.

    Returns
    -------
    ndarray of shape (T, T)
        In the order of ``Ensemble.indicator``, in [0, 1], 1 on the diagonal. A cluster that shares
        no object with a cluster of another partition, or of a partition of weight 0, is similar to
        none.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If a parameter is out of its range.
    DenseLimitError
        If there would be more than 2^27 similarities.

    Notes
    -----
    On a bipartite graph, such as that of two partitions, the walks of neighbours never meet; unlike in the paper, a walk then
    stays where it is with probability 1/2 in each step.

    P = D^-1 A with a symmetric A. With the eigenvectors U and eigenvalues l of D^-1/2 A D^-1/2 all
    steps are summed at once, U [(U' D U) o g] U' with g_ij the geometric sum of (l_i l_j)^s, up to a scaling of the rows that
    cancels in the cosine. O(T^3) time for any number of steps.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang, H. Peng, J. Lai and C.-K. Kwoh, "Enhanced ensemble clustering via fast
       propagation of cluster-wise similarities", IEEE TSMC: Systems 51(1), 2021.

    Examples
    --------
    >>> from conclust.similarity import trajectory_similarity
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> trajectory_similarity(labels)[0].round(4)
    array([1.    , 0.7431, 0.8674, 0.7431, 0.9307, 0.7049])
    """
    owner = "trajectory_similarity"
    check_int(n_steps, "n_steps", owner)
    members = as_ensemble(ensemble)
    check_square(members, "The similarities of trajectories")
    J, weights = jaccard_of_others(members), relative_weights(members)
    total = np.asarray(J @ weights)
    R = np.eye(len(total))
    walking = np.flatnonzero((total > 0) & (weights > 0))
    if len(walking) == 0:
        return R
    degrees = total[walking]
    root = np.sqrt(weights[walking] / degrees)
    E = J[walking][:, walking].toarray() * root[:, None] * root
    with one_library_thread():
        values, U = scipy.linalg.eigh(0.5 * (E + E.T), overwrite_a=True)
        values = np.clip(values, -1.0, 1.0)
        if (
            values[0] <= _BIPARTITE - 1.0
        ):  # walks of neighbours would never meet: half of each step stays
            values = 0.5 * (1.0 + values)
        inner = (U.T * degrees) @ U
        inner *= _geometric_sums(values[:, None] * values, n_steps)
        M = U @ inner @ U.T
    norms = np.sqrt(np.maximum(np.diag(M), 0.0))
    norms[norms == 0.0] = np.inf
    M /= norms[:, None]
    M /= norms
    M = np.clip(0.5 * (M + M.T), 0.0, 1.0)
    M[M < _NEVER] = 0.0
    np.fill_diagonal(M, 1.0)
    R[np.ix_(walking, walking)] = M
    return R


def _geometric_sums(x: Floats, count: int) -> Floats:
    """Return x + x^2 + ... + x^count, from halves of the count: nothing is divided by 1 - x."""
    sums, power = x.copy(), x.copy()  # of the leading binary digits of the count
    for digit in bin(count)[3:]:
        sums += power * sums
        power *= power
        if digit == "1":
            sums = x * (1.0 + sums)
            power *= x
    return sums
