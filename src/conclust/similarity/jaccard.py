"""The Jaccard similarity of clusters, the graph from which other similarities of clusters are computed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.derived import Derived
from conclust.ensemble.products import check_gram
from conclust.spectra.gram import gram_blocks

_INSTEAD = (
    "Use fewer partitions, or a method that makes none: HBGF, CSPA, EAC, PCC(divergence='l2')."
)


def cluster_jaccard(ensemble: Derived | ArrayLike) -> sp.csr_array:
    """Return the Jaccard similarities of the clusters of all partitions.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions, hard or soft.

    Returns
    -------
    csr_array of shape (T, T)
        In the order of ``Ensemble.indicator``: objects that two clusters share / objects in either,
        of those that both partitions observed; 0 on the diagonal. Of soft clusters the extended Jaccard
        x'y / (x'x + y'y - x'y), which on hard ones is the same.

    Raises
    ------
    InputError
        If the labels are malformed.
    DenseLimitError
        If there would be more than 2^27 similarities.

    Examples
    --------
    >>> from conclust.similarity import cluster_jaccard
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> cluster_jaccard(labels).toarray()[0].round(4)
    array([0.    , 0.    , 1.    , 0.    , 0.6667, 0.    ])
    """
    members = as_ensemble(ensemble)
    check_gram(members.gram_entries, "The Jaccard similarities of all clusters", _INSTEAD)
    parts = [
        sp.csr_array(
            (values, (i - rows.start, j)),
            shape=(rows.stop - rows.start, len(members.column_partitions)),
        )
        for rows, i, j, values in jaccard_blocks(members)
    ]
    return sp.csr_array(parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr"))


def jaccard_blocks(ensemble: Ensemble) -> Iterator[tuple[slice, Ints, Ints, Floats]]:
    """Yield blocks of clusters, and the pairs of these with other clusters that share objects, with their similarities."""
    partition_of = ensemble.column_partitions
    # The squared length of each cluster over the objects that each partition observed.
    norms = ensemble.observed_sizes
    for block in gram_blocks(ensemble):
        gram = sp.coo_array(block.gram)
        i, j = gram.coords
        i = i + block.rows.start
        union = norms[i, partition_of[j]] + norms[j, partition_of[i]] - gram.data
        off = (i != j) & (gram.data > 0)
        yield block.rows, i[off], j[off], gram.data[off] / union[off]


def jaccard_of_others(ensemble: Ensemble) -> sp.csr_array:
    """Return `cluster_jaccard` without the similarities within a partition, which soft ones have."""
    J = cluster_jaccard(ensemble)
    if not ensemble.is_soft:
        return J
    partition_of = ensemble.column_partitions
    row = np.repeat(np.arange(J.shape[0]), np.diff(J.indptr))
    J.data[partition_of[row] == partition_of[J.indices]] = 0.0
    J.eliminate_zeros()
    return J


def relative_weights(ensemble: Ensemble) -> Floats:
    """Return the weight of the partition of each cluster, relative to the largest (T,)."""
    weights = ensemble.column_weights
    largest = float(weights.max(initial=0.0))
    return weights / largest if largest > 0 else np.array(weights)


def check_square(ensemble: Ensemble, what: str) -> None:
    """Refuse a dense matrix (T, T) of `what` if it would be too large."""
    check_gram(int(ensemble.offsets[-1]) ** 2, what, _INSTEAD)
