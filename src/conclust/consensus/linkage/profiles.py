"""Linkage of objects by their profiles, the rows of the co-association.

The profile of an object is its row of the co-association S, with 1 for itself. Without a row for each object:
with complete hard labels S = B D B' / W, D being the weights of the clusters' partitions and W their sum, and
inner products of rows are::

    s_i' s_j = b_i' M b_j,   M = D B'B D / W^2
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from conclust._threads import one_library_thread
from conclust._types import Floats
from conclust.ensemble import DistinctRows, Ensemble
from conclust.evidence import coassociation_blocks, frequencies
from conclust.exceptions import DenseLimitError
from conclust.trees.agglomeration import Linkage, linkage_of, starting_clusters

_BLOCK_ENTRIES = 1 << 22


def profile_tree(
    ensemble: Ensemble, linkage: Linkage, *, max_dense: int, n_jobs: int | None
) -> tuple[Floats, int]:
    """Agglomerate on the Euclidean distances of the rows of the co-association.

    Returns the linkage matrix and the number of pairs of objects that no partition observed together.
    """
    start = starting_clusters(ensemble)
    n = len(start)
    if n > max_dense:
        raise DenseLimitError(
            f"metric='profile' needs a matrix of all pairs of the {n} distinct rows of labels "
            f"({8 * n * n / 1e9:.1f} GB), more than max_dense={max_dense} allows. Use metric='evidence', with "
            "linkage='single' or 'average', or pairs=, which need no such matrix, or a larger max_dense."
        )
    with one_library_thread():
        if ensemble.has_missing or ensemble.has_noise or ensemble.is_soft:
            D, unobserved = _inner_products(start, n_jobs)
        else:
            D, unobserved = _inner_products_of_rows(ensemble, start), 0
    # Squared distances, as a share of the largest possible one.
    squares = D.diagonal().copy()
    D *= -2.0
    D += squares[:, None]
    D += squares
    objects = ensemble.n_samples
    D /= objects
    np.clip(D, 0.0, 1.0, out=D)
    np.fill_diagonal(D, 0.0)
    if linkage != "ward":
        np.sqrt(D, out=D)
    tree = linkage_of(D, start, linkage)
    tree[:, 2] *= np.sqrt(objects)
    return tree, unobserved


def _inner_products_of_rows(ensemble: Ensemble, start: DistinctRows) -> Floats:
    """Return s_i' s_j of complete hard labels, from sums over clusters."""
    scale = sp.diags_array(ensemble.column_weights / ensemble.partition_weights.sum())
    M = sp.csr_array(scale @ ensemble.gram @ scale)
    rows = start.ensemble.indicator
    n, T = rows.shape
    products = np.empty((n, n))
    step = max(1, _BLOCK_ENTRIES // max(n, T))
    for begin in range(0, n, step):
        some = slice(begin, begin + step)
        products[some] = (rows @ np.ascontiguousarray((rows[some] @ M).toarray().T)).T
    return products


def _inner_products(start: DistinctRows, n_jobs: int | None) -> tuple[Floats, int]:
    """Return s_i' s_j from the co-association, where pairs that no partition observed have 0."""
    n, masses = len(start), start.masses
    S = np.empty((n, n))
    unobserved = 0.0
    for block in coassociation_blocks(start.ensemble, n_jobs=n_jobs):
        some, local = slice(block.rows.start, block.rows.stop), np.arange(len(block.rows))
        shares = frequencies(block.counts, block.copresence)
        shares[local, local + block.rows.start] = 1.0
        unobserved += float(masses[some] @ (np.isnan(shares) @ masses))
        S[some] = np.nan_to_num(shares)
    return (S * masses) @ S.T, int(unobserved) // 2
