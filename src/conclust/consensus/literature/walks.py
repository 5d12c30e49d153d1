"""Random walks over the distinct rows of labels, and the similarity of their trajectories.

A walk goes from a row to its elite neighbours, the rows that it shares clusters with the most often, and
to one of them as often as they share clusters and as many objects have its row: P. With P^s for s steps

    M = sum over s from 1 to n_steps of P^s (P^s)',   R_ij = M_ij / sqrt(M_ii M_jj)

is the cosine of trajectories. A step more makes M into P (I + M) P', two products of the sparse P with a matrix:
the published program multiplies matrices of all pairs twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components

from conclust._arrays.rows import inverse_or_zero
from conclust._arrays.symmetric import symmetrise
from conclust._progress import rounds, stage
from conclust._types import Bools, Floats
from conclust._validation import check_dense
from conclust.ensemble import DistinctRows, Ensemble
from conclust.evidence import nearest_pairs
from conclust.exceptions import EvidenceWarning, warn
from conclust.trees.agglomeration import starting_clusters

# With fewer distinct rows the neighbours are all others or just one, and trajectories carry no information.
_FEWEST_ROWS = 16
# Default maximum number of neighbours and steps.
_MOST = 20
# A cosine below this is the rounding error of trajectories that never meet.
_NEVER = 1e-12

# Components with fewer rows than this are walked together.
_FEW_ROWS = 256


@dataclass(frozen=True)
class Walks:
    """Walks over distinct rows of labels.

    Attributes
    ----------
    start : DistinctRows
        Rows, and the row of each object.
    steps : csr_array of shape (n_rows, n_rows)
        P, the transition probabilities of the walks. Rows of isolated vertices are empty.
    degrees : ndarray of shape (n_rows,)
        The diagonal of D; 0 of isolated rows. D P is symmetric.
    n_steps : int
        Length of the walks.
    """

    start: DistinctRows
    steps: sp.csr_array
    degrees: Floats
    n_steps: int

    def __len__(self) -> int:
        return len(self.degrees)

    @cached_property
    def isolated(self) -> Bools:
        """Mask of the rows that share no cluster with another."""
        return np.asarray(self.degrees == 0)

    def gram(self) -> Floats:
        """Return M of all pairs of rows."""
        stage("walks from all rows")
        M = np.zeros((len(self), len(self)))
        for rows in _parts(self.steps):
            if len(rows) == len(self):
                return self._gram_of(self.steps)
            M[np.ix_(rows, rows)] = self._gram_of(self.steps[rows][:, rows])
        return M

    def _gram_of(self, P: sp.csr_array) -> Floats:
        M: Floats = (P @ P.T).toarray()
        for step in range(1, self.n_steps):
            rounds("steps", step, self.n_steps)
            M[np.diag_indices_from(M)] += 1.0
            M = P @ np.ascontiguousarray((P @ M).T)
        symmetrise(M)
        return M

    def similarity(self) -> Floats:
        """Return R of all pairs of rows: in [0, 1], 1 on the diagonal; isolated rows are like none."""
        R = self.gram()
        scale = inverse_or_zero(np.sqrt(np.maximum(np.diag(R), 0.0)))
        for row, row_scale in zip(R, scale, strict=True):
            row *= row_scale * scale
            np.minimum(row, 1.0, out=row)
            row[row < _NEVER] = 0.0
        np.fill_diagonal(R, 1.0)
        return R


def walks_of(
    ensemble: Ensemble,
    *,
    n_neighbors: int | None,
    n_steps: int | None,
    max_dense: int,
    owner: str,
    without: str,
) -> Walks | None:
    """Find the elite neighbours of the distinct rows, and the probability of a step to each of them.

    Parameters
    ----------
    ensemble : Ensemble
        The labels.
    n_neighbors : int or None
        Number of elite neighbours. None: the papers' half of the root of the number of rows, at most 20.
    n_steps : int or None
        Number of steps. None: likewise.
    max_dense : int
        Maximum number of distinct rows.
    owner : str
        Name of the estimator in messages.
    without : str
        The method that gives the same result if there are too few rows.

    Returns
    -------
    Walks or None
        None, with a warning, if there are too few rows and no parameters are given.
    """
    start = starting_clusters(ensemble)
    if n_neighbors is None and n_steps is None and len(start) < _FEWEST_ROWS:
        if len(start) > 2:
            warn(
                f"{len(start)} distinct rows of labels are too few for trajectories, which need {_FEWEST_ROWS}: {owner} "
                f"gives the result of {without}. Set n_neighbors or n_steps to use walks anyway.",
                EvidenceWarning,
            )
        return None
    instead = "LWGP or LWEA, which need no such matrix"
    check_dense(len(start), max_dense, f"{owner} needs a matrix of", instead, fixed=True)
    start = _ordered(start)
    n = len(start)
    usual = max(1, min(_MOST, int(np.sqrt(n) / 2)))
    stage("the most similar rows of each")
    wanted = min(n_neighbors or usual, n)
    near = nearest_pairs(start.ensemble, wanted).to_scipy()
    masses = start.masses
    A = sp.csr_array(sp.diags_array(masses) @ near @ sp.diags_array(masses))
    degrees = np.asarray(A.sum(axis=1), dtype=np.float64).ravel()
    inverse = inverse_or_zero(degrees)
    P = sp.csr_array(sp.diags_array(inverse) @ A)
    # Where the graph is bipartite, neighbours would never meet: such a walk stays where it is with probability 1/2.
    staying = _bipartite(P) & (degrees > 0)
    if staying.any():
        share = np.where(staying, 0.5, 0.0)
        P = sp.csr_array(sp.diags_array(1.0 - share) @ P + sp.diags_array(share))
        P.eliminate_zeros()
    P.sort_indices()
    return Walks(start, P, degrees, n_steps or usual)


def informative(ensemble: Ensemble) -> Ensemble:
    """Return the ensemble of the partitions that have weight and separate objects.

    A partition with one cluster, of all objects, would make all pairs a little more alike.
    """
    unlabelled = ensemble.missing_counts + ensemble.noise_counts
    telling = (ensemble.cluster_counts > 1) | (unlabelled > 0)
    if ensemble.weights is not None:
        telling &= ensemble.weights > 0
    if telling.all() or not telling.any():
        return ensemble
    return ensemble.subset(partitions=np.flatnonzero(telling))


def _ordered(start: DistinctRows) -> DistinctRows:
    """Sort rows with the same clusters next to each other, so that walks hit the cache more often."""
    codes = start.ensemble.codes
    finest = np.argsort(start.ensemble.cluster_counts, kind="stable")
    return start.reordered(np.lexsort(codes[:, finest].T))


def _parts(P: sp.csr_array) -> list[NDArray[np.intp]]:
    """Divide the rows into those between which walks go: a component each, or several small ones.

    Each part is rising. Isolated rows are in none.
    """
    number = connected_components(P, directed=False)[1]
    sizes = np.bincount(number)
    rows = np.lexsort((number, sizes[number]))
    rows = rows[np.diff(P.indptr)[rows] > 0]
    ends = (np.flatnonzero(np.diff(number[rows], append=-1)) + 1).tolist()  # of the components
    parts, begin = [], 0
    for k, end in enumerate(ends):
        if k + 1 == len(ends) or ends[k + 1] - begin > _FEW_ROWS:
            parts.append(np.sort(rows[begin:end]))
            begin = end
    return parts


def _bipartite(P: sp.csr_array) -> Bools:
    """Return which vertices are in a component without a cycle of odd length; the pattern of P is symmetric.

    Such a cycle has an edge whose ends are equally far, or both evenly or both oddly far, from a vertex.
    """
    n = P.shape[0]
    number = connected_components(P, directed=False)[1]
    _, first = np.unique(number, return_index=True)
    # An extra vertex, from which one vertex of each component is reached first.
    starts = np.append(P.indptr, P.nnz + len(first))
    ends = np.concatenate([P.indices, first.astype(P.indices.dtype)])
    rooted = sp.csr_array((np.ones(len(ends)), ends, starts), shape=(n + 1, n + 1))
    order, before = breadth_first_order(rooted, n)
    odd = np.zeros(n + 1, dtype=np.bool_)
    for vertex, last in zip(order[1:].tolist(), before[order[1:]].tolist(), strict=True):
        odd[vertex] = not odd[last]
    rows = np.repeat(np.arange(n), np.diff(P.indptr))
    alike = odd[rows] == odd[P.indices]
    odd_cycle_free = np.ones(len(first), dtype=np.bool_)
    odd_cycle_free[number[rows[alike]]] = False
    return odd_cycle_free[number]
