"""Evidence of the pairs that have the most of it: each object with those most similar to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._kernels import NearestPairs
from conclust._threads import thread_count
from conclust._validation import check_int
from conclust.ensemble import as_ensemble
from conclust.evidence.pairs import SparseEvidence, evidence_of_pattern
from conclust.exceptions import UnsupportedEnsembleError

__all__ = ["nearest_pairs"]


def nearest_pairs(
    labels: Any, per_object: int = 20, *, n_jobs: int | None = None
) -> SparseEvidence:
    """Find the most similar partners of every object and count their evidence.

    A pair is kept if either of the two is among the `per_object` objects that the other shares clusters
    with the most often, c_ij / N_ij; ties with the last of these are kept, so there may be many more.
    Objects that share no cluster are no pair.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition a column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    per_object : int, default=20
        Partners of each object, before ties.
    n_jobs : int, default=None
        Threads. None: OMP_NUM_THREADS or all processors; the result does not depend on it.

    Returns
    -------
    SparseEvidence
        The counts in compressed sparse rows.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `per_object` is not a positive int.
    UnsupportedEnsembleError
        If the ensemble has soft members.

    Notes
    -----
    The pairs favour agreement: they are no sample, as :func:`sample_pairs` draws one. No matrix of all
    pairs is made: an object is compared with those in its smallest clusters until the clusters that are
    left cannot make anybody else as similar. Where that would be most of them, complete labels without weights
    are counted with all objects, eight partitions at once.

    Examples
    --------
    >>> from conclust.evidence import nearest_pairs
    >>> nearest = nearest_pairs([[0, 0], [0, 1], [1, 1], [1, 1]], per_object=1)
    >>> nearest.to_scipy().toarray()
    array([[0. , 0.5, 0. , 0. ],
           [0.5, 0. , 0.5, 0.5],
           [0. , 0.5, 0. , 1. ],
           [0. , 0.5, 1. , 0. ]])
    """
    count = check_int(per_object, "per_object", "nearest_pairs") or 1
    threads = thread_count(n_jobs, "nearest_pairs")
    ensemble = as_ensemble(labels)
    if ensemble.is_soft:
        raise UnsupportedEnsembleError(
            "nearest_pairs takes no soft members, and the ensemble has them. sample_pairs and evidence do."
        )
    n = ensemble.n_samples
    found = NearestPairs(ensemble.label_view, min(count, n), threads)
    indptr, indices = np.empty(n + 1, dtype=np.int64), np.empty(found.n_entries, dtype=np.int32)
    found.read(indptr, indices)
    del found
    # float32 adds up faster than bool here, and no entry of the sum is 0.
    chosen = sp.csr_array((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=(n, n))
    either = sp.csr_array(chosen + chosen.T)
    either.sort_indices()
    return evidence_of_pattern(
        ensemble, either.indptr.astype(np.int64), either.indices.astype(np.int32), n_jobs=n_jobs
    )
