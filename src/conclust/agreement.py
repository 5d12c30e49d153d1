"""How a partition agrees with the members of an ensemble, and these with each other."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from conclust._validation import check_option
from conclust.comparison import AVERAGES, mean_entropy, nmi_of
from conclust.contingency import read_labels, signed_codes, tabulate
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import InputError, UnsupportedEnsembleError

__all__ = ["anmi", "partition_similarities"]


def anmi(labels: ArrayLike, ensemble: Ensemble | ArrayLike, *, average: str = "geometric") -> float:
    """Mean normalized mutual information of a partition with the members of an ensemble.

    Parameters
    ----------
    labels : (n_samples,) array-like of int or str
        The partition; objects missing from it are left out.
    ensemble : Ensemble or (n_samples, n_partitions) array-like
        The members. Each counts by its weight times the number of objects that it and `labels`
        both observed.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        As for `normalized_mutual_information`.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        If the lengths differ, a label is none, or no member shares an object with `labels`.
    ParameterError
        If `average` is none of these.
    UnsupportedEnsembleError
        If the members are soft.

    References
    ----------
    A. Strehl, J. Ghosh: Cluster ensembles. JMLR 3, 2002.

    Examples
    --------
    >>> from conclust.metrics import anmi
    >>> anmi([0, 0, 1, 1], [[0, 0], [0, 1], [1, 0], [1, 1]])
    0.5
    """
    check_option(average, "average", "anmi", AVERAGES)
    members = _hard(ensemble, "anmi")
    codes, names = read_labels(labels, "labels")
    if codes.size != members.n_samples:
        raise InputError(
            f"The partition and the ensemble must be of the same objects. Got {codes.size} labels and "
            f"an ensemble of {members.n_samples} objects."
        )
    weights = np.ones(members.n_partitions) if members.weights is None else members.weights
    terms: list[float] = []
    shares: list[float] = []
    for u in range(members.n_partitions):
        if weights[u] == 0:
            continue
        table = tabulate(codes, names, signed_codes(members.codes[:, u]), members.names[u])
        if table is not None:
            shares.append(float(weights[u]) * table.n_samples)
            terms.append(shares[-1] * nmi_of(table, average))
    if not shares:
        raise InputError(
            "No member of the ensemble (of positive weight) observed an object of 'labels'."
        )
    return min(1.0, math.fsum(terms) / math.fsum(shares))


def partition_similarities(
    ensemble: Ensemble | ArrayLike, *, measure: str = "nmi", average: str = "geometric"
) -> NDArray[np.float64]:
    """Compare all members of an ensemble with each other.

    Parameters
    ----------
    ensemble : Ensemble or (n_samples, n_partitions) array-like
        The members. Each two are compared on the objects that both observed; noise is a cluster
        of one object. Weights play no part.
    measure : {"nmi", "ari"}, default="nmi"
        Normalized mutual information or adjusted Rand index.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        For "nmi": as for `normalized_mutual_information`.

    Returns
    -------
    (n_partitions, n_partitions) float64
        Symmetric, with ones on the diagonal; NaN for two members that share no object.

    Raises
    ------
    ParameterError
        If `measure` or `average` is none of these.
    UnsupportedEnsembleError
        If the members are soft.

    Notes
    -----
    From the Gram matrix B'B, which holds the contingency tables of all pairs.

    Examples
    --------
    >>> from conclust.metrics import partition_similarities
    >>> partition_similarities([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([[1., 0.],
           [0., 1.]])
    """
    check_option(measure, "measure", "partition_similarities", ("nmi", "ari"))
    check_option(average, "average", "partition_similarities", AVERAGES)
    members = _hard(ensemble, "partition_similarities")
    shared, sizes = _shared(members)
    found = (
        _all_nmi(members, shared, sizes, average)
        if measure == "nmi"
        else _all_ari(members, shared, sizes)
    )
    found = np.where(shared > 0, found, np.nan)
    np.fill_diagonal(found, 1.0)
    return found


def _hard(ensemble: Ensemble | ArrayLike, owner: str) -> Ensemble:
    members = as_ensemble(ensemble)
    if members.is_soft:
        raise UnsupportedEnsembleError(
            f"{owner} compares hard partitions. Got an ensemble of soft memberships: compare two "
            "memberships with js_divergence, or pass Ensemble(ensemble.labels), their most probable "
            "clusters."
        )
    return members


def _shared(members: Ensemble) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the objects that two members share (m, m), and of each cluster with a member (T, m)."""
    if not members.has_missing:
        m = members.n_partitions
        sizes = np.asarray(members.indicator.sum(axis=0), dtype=np.float64)
        shared = np.full((m, m), float(members.n_samples))
        return shared, np.repeat(sizes[:, np.newaxis], m, axis=1)
    present = members.present.astype(np.float64)
    return present.T @ present, np.asarray(members.indicator.T @ present)


def _per_pair(members: Ensemble, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum a value per cell of the Gram matrix over each block (u, v)."""
    gram, m = members.gram, members.n_partitions
    owner = np.repeat(np.arange(m), members.cluster_counts)
    rows = np.repeat(owner, np.diff(gram.indptr))
    flat = np.bincount(rows * m + owner[gram.indices], weights=cells, minlength=m * m)
    return flat.reshape(m, m).astype(np.float64, copy=False)


def _per_member(members: Ensemble, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum a value per cluster and member (T, m) over the clusters of each member."""
    total = members.cluster_counts.sum()
    blocks = sp.csr_array(
        (np.ones(total), np.arange(total), members.offsets), shape=(members.n_partitions, total)
    )
    return np.asarray(blocks @ cells)


def _all_nmi(
    members: Ensemble, shared: NDArray[np.float64], sizes: NDArray[np.float64], average: str
) -> NDArray[np.float64]:
    # Noise objects, being clusters of one, enter by log n alone: 1 log 1 = 0.
    n: NDArray[np.float64] = np.maximum(shared, 1.0)
    own = np.log(n) - _per_member(members, np.asarray(xlogy(sizes, sizes))) / n
    other = own.T
    joint = _per_pair(members, xlogy(members.gram.data, members.gram.data)) / n
    mutual = own + other - (np.log(n) - joint)
    owner = np.repeat(np.arange(members.n_partitions), members.cluster_counts)
    single = _per_member(members, (sizes == shared[owner]).astype(np.float64)) > 0
    single |= shared <= 1
    trivial = single | single.T
    mean = np.where(
        trivial, 1.0, mean_entropy(np.maximum(own, 0.0), np.maximum(other, 0.0), average)
    )
    found = np.clip(mutual / mean, 0.0, 1.0)
    found[trivial] = 0.0
    found[single & single.T] = 1.0
    return (found + found.T) / 2


def _all_ari(
    members: Ensemble, shared: NDArray[np.float64], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    gram = members.gram.data
    both = _per_pair(members, gram * (gram - 1) / 2)
    own = _per_member(members, sizes * (sizes - 1) / 2)
    n_pairs = shared * (shared - 1) / 2
    # 0 / 0: both members are one cluster, or both all single objects.
    none, all_pairs = own == 0, own == n_pairs
    same = (none & none.T) | (all_pairs & all_pairs.T)
    expected = own * own.T / np.maximum(n_pairs, 1.0)
    most = (own + own.T) / 2
    return np.where(same, 1.0, (both - expected) / np.where(same, 1.0, most - expected))
