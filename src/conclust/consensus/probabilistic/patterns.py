"""Which pairs a solver sees: all of them, a sample, or those that the user gives."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from conclust._validation import refuse
from conclust._warning import warn_caller
from conclust.ensemble import Ensemble
from conclust.evidence import SparseEvidence, sample_pairs
from conclust.exceptions import EvidenceWarning, InputError

__all__ = ["check_pairs", "draw_pairs", "restricted"]

# Rounding up to whole partners is told where it makes the sample so many times as large.
_TOO_MANY = 2.0


def check_pairs(pairs: Any, owner: str) -> None:
    """Refuse a `pairs` parameter that is none of what it may be."""
    if pairs is None or isinstance(pairs, SparseEvidence):
        return
    if isinstance(pairs, (float, np.floating)) and 0 < pairs <= 1:
        return
    if not isinstance(pairs, (int, np.integer)) or isinstance(pairs, bool) or pairs < 1:
        refuse(
            "pairs",
            owner,
            "an int in the range [1, inf), a float in the range (0, 1], a SparseEvidence or None",
            pairs,
        )


def draw_pairs(
    ensemble: Ensemble, pairs: Any, seed: np.random.SeedSequence, threads: int
) -> SparseEvidence:
    """Sample pairs: an int of partners drawn by each object, or a share of all pairs."""
    n = ensemble.n_samples
    if isinstance(pairs, Integral):
        return sample_pairs(ensemble, int(pairs), random_state=seed, n_jobs=threads)
    per_object = max(1, int(np.ceil(pairs * (n - 1) / 2)))
    if per_object > _TOO_MANY * pairs * (n - 1) / 2:
        warn_caller(
            f"pairs={pairs:g} asks for {pairs * n * (n - 1) / 2:,.0f} pairs of {n:,} objects, and each "
            f"object needs one: {per_object * n:,} are drawn, pairs={per_object}, a share of about "
            f"{2 * per_object / (n - 1):.2g}.",
            EvidenceWarning,
        )
    return sample_pairs(ensemble, per_object, random_state=seed, n_jobs=threads)


def restricted(pairs: SparseEvidence, observed: NDArray[np.bool_], owner: str) -> SparseEvidence:
    """Check evidence that the user gives on all objects; return it on the observed ones."""
    n = len(observed)
    _check_form(pairs, n, owner)
    degrees = np.diff(pairs.indptr)
    if degrees[~observed].any():
        raise InputError(
            f"The 'pairs' of {owner} hold evidence on objects that are missing in every partition. "
            "Draw the pairs from the same ensemble."
        )
    alone = observed & (degrees == 0)
    if alone.any():
        raise InputError(
            f"The 'pairs' of {owner} leave {np.count_nonzero(alone)} objects without evidence (the "
            f"first is object {np.argmax(alone)}): every object must be in a pair."
        )
    number = np.cumsum(observed) - 1
    return SparseEvidence(
        np.concatenate([[0], pairs.indptr[1:][observed]]).astype(np.int64),
        number[pairs.indices].astype(np.int32),
        pairs.counts,
        pairs.copresence,
    )


def _check_form(pairs: SparseEvidence, n: int, owner: str) -> None:
    def wrong(what: str) -> None:
        raise InputError(
            f"The 'pairs' of {owner} {what}. Use conclust.evidence.sample_pairs, or see what "
            "SparseEvidence asks for."
        )

    if pairs.n_samples != n:
        wrong(f"are evidence on {pairs.n_samples} objects, but the labels are of {n}")
    entries = len(pairs.indices)
    rising = (np.diff(pairs.indptr) >= 0).all() and pairs.indptr[0] == 0
    if not (rising and pairs.indptr[-1] == entries == len(pairs.counts) == len(pairs.copresence)):
        wrong("are no compressed sparse rows: indptr must rise from 0 to the number of entries")
    if entries and not 0 <= pairs.indices.min() <= pairs.indices.max() < n:
        wrong(f"must join objects from 0 to {n - 1}")
    rows = np.repeat(np.arange(n), np.diff(pairs.indptr))
    if (rows == pairs.indices).any():
        wrong("pair an object with itself")
    within = rows[1:] == rows[:-1]
    if (np.diff(pairs.indices)[within] <= 0).any():
        wrong("must be sorted within each object, each partner once")
    c, N = (np.asarray(part, dtype=np.float64) for part in (pairs.counts, pairs.copresence))
    if not ((c >= 0) & (N > 0) & (c <= N * (1 + 1e-9)) & np.isfinite(N)).all():
        wrong("must have 0 <= c_ij <= N_ij and N_ij > 0")
    for part in (c, N):
        matrix = csr_array((part + 1.0, pairs.indices, pairs.indptr), shape=(n, n))
        other = matrix.T.tocsr()
        other.sort_indices()
        same = np.array_equal(other.indptr, matrix.indptr) and np.array_equal(
            other.indices, matrix.indices
        )
        if not (same and np.allclose(other.data, matrix.data, rtol=1e-9, atol=0)):
            wrong(
                "must be symmetric: each pair once in the row of either object, with the same counts"
            )
