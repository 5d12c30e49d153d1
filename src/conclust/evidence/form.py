"""Checks arrays that are evidence of some pairs, in compressed sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust.exceptions import InputError

__all__ = ["check_form"]


def check_form(
    indptr: NDArray[Any], indices: NDArray[Any], counts: NDArray[Any], copresence: NDArray[Any]
) -> None:
    """Refuse arrays that are not symmetric evidence of pairs of different objects.

    Raises
    ------
    InputError
        With the first violation.
    """

    def wrong(what: str) -> None:
        raise InputError(
            f"A SparseEvidence {what}. Use conclust.evidence.sample_pairs, or see what SparseEvidence "
            "asks for."
        )

    n, entries = len(indptr) - 1, len(indices)
    if n < 0 or indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        wrong("needs whole numbers for indptr and indices")
    rising = (np.diff(indptr) >= 0).all() and indptr[0] == 0
    if not (rising and indptr[-1] == entries == len(counts) == len(copresence)):
        wrong(
            "needs compressed sparse rows: indptr must rise from 0 to the number of entries, of which "
            f"there are {entries} indices, {len(counts)} counts and {len(copresence)} copresences"
        )
    if entries and not 0 <= indices.min() <= indices.max() < n:
        wrong(f"must join objects from 0 to {n - 1}")
    rows = np.repeat(np.arange(n), np.diff(indptr))
    if (rows == indices).any():
        wrong("must not pair an object with itself")
    within = rows[1:] == rows[:-1]
    if (np.diff(indices)[within] <= 0).any():
        wrong("must be sorted within each object, each partner once")
    c, N = np.asarray(counts, dtype=np.float64), np.asarray(copresence, dtype=np.float64)
    if not ((c >= 0) & (N > 0) & (c <= N * (1 + 1e-9)) & np.isfinite(N)).all():
        wrong("must have 0 <= c_ij <= N_ij and N_ij > 0")
    for part in (c, N):
        matrix = sp.csr_array((part + 1.0, indices, indptr), shape=(n, n))
        other = matrix.T.tocsr()
        other.sort_indices()
        same = np.array_equal(other.indptr, matrix.indptr) and np.array_equal(
            other.indices, matrix.indices
        )
        if not (same and np.allclose(other.data, matrix.data, rtol=1e-9, atol=0)):
            wrong(
                "must be symmetric: each pair once in the row of either object, with the same counts"
            )
