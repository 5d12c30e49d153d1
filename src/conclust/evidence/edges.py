"""Evidence on the edges of a graph, for networks whose communities are combined."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._arrays.containers import refuse_corrupt
from conclust._threads import thread_count
from conclust.ensemble import as_ensemble
from conclust.evidence.pairs import SparseEvidence, evidence_of_pattern
from conclust.exceptions import InputError


def edge_evidence(labels: Any, graph: Any, *, n_jobs: int | None = None) -> SparseEvidence:
    """Count c_ij and N_ij on the edges of a graph.

    Starting point of a consensus of communities that stays on the graph: its edges are reweighted
    by the co-association of their ends, edges with a low one are dropped, and the graph is
    clustered again.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    graph : sparse array of shape (n_samples, n_samples)
        Non-zero entries are the edges, in one direction or both; their values and the diagonal are ignored.
        ``networkx.to_scipy_sparse_array(G, nodelist=nodes)`` is one.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    SparseEvidence
        The counts on the edges; ``to_scipy()`` has the shares c_ij / N_ij. An edge whose ends no partition
        observed together (N_ij = 0) carries no information and is left out. As the `pairs` of a method it restricts the
        evidence to the edges.

    Raises
    ------
    InputError
        If the labels are malformed, or the graph is not a sparse matrix with a row for each object.

    Notes
    -----
    The edges of weight 1 are those on which all partitions agree (strict consensus); ECG weights edges by
    ``w + (1 - w) c / N`` with w = .05 [1]_, FastEnsemble keeps those of .8 and more [2]_. O(m N) time for m
    edges and N partitions.

    References
    ----------
    .. [1] V. Poulin and F. Théberge, "Ensemble clustering for graphs", Complex Networks 2018.
    .. [2] Y. Tabatabaee, E. Wedell, M. Park and T. Warnow, "FastEnsemble: scalable ensemble clustering on large
       networks", PLOS Complex Systems 2, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from conclust.evidence import edge_evidence
    >>> path = sp.csr_array(([1, 1, 1], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    >>> edge_evidence([[0, 0], [0, 0], [1, 0], [1, 1]], path).to_scipy().toarray()
    array([[0. , 1. , 0. , 0. ],
           [1. , 0. , 0.5, 0. ],
           [0. , 0.5, 0. , 0.5],
           [0. , 0. , 0.5, 0. ]])
    """
    thread_count(n_jobs, "edge_evidence")
    ensemble = as_ensemble(labels)
    n = ensemble.n_samples
    matrix: Any = graph if sp.issparse(graph) else None
    if matrix is None or matrix.shape != (n, n):
        got = type(graph).__name__ if matrix is None else f"shape {matrix.shape}"
        raise InputError(
            f"The graph of edge_evidence must be a sparse matrix with a row for each of the {n} objects. Got "
            f"{got} instead: scipy.sparse.csr_array(matrix), networkx.to_scipy_sparse_array(G)."
        )
    refuse_corrupt(matrix, "The graph of edge_evidence")
    edges = matrix.tocoo()
    is_edge = (edges.data != 0) & (edges.row != edges.col)
    i, j = edges.row[is_edge].astype(np.int64), edges.col[is_edge].astype(np.int64)
    ones = np.ones(2 * len(i), dtype=np.int8)
    ends = (np.concatenate([i, j]), np.concatenate([j, i]))
    pattern = sp.csr_array((ones, ends), shape=(n, n))
    pattern.sum_duplicates()  # which sorts each row
    return evidence_of_pattern(
        ensemble,
        pattern.indptr.astype(np.int64),
        pattern.indices.astype(np.int32),
        n_jobs=n_jobs,
    )
