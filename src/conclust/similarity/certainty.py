"""Certainty of clusters: whether the other partitions keep their objects together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conclust._arrays.rows import ratio
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_bool, check_real
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.derived import Derived
from conclust.ensemble.labels import over_clusters
from conclust.spectra.gram import gram_blocks

# Default of theta.
_THETA = 0.4
_THETA_NORMALIZED = 0.06
# Maximum number of entropies that are kept, 128 MiB.
_MOST_KEPT = 1 << 24


class _Block(NamedTuple):
    """Some clusters: their indices, their entropies over each partition, and which partitions observed some of them."""

    rows: slice
    entropy: Floats
    observed: Bools


class ClusterSpread:
    """The entropies of the clusters of an ensemble over its partitions, whose mean is taken with several weights.

    Parameters
    ----------
    members : Ensemble
        The partitions. Their weights do not count.
    keep : bool, default=True
        Whether the entropies are kept for the next mean, if there are not too many.
    """

    def __init__(self, members: Ensemble, *, keep: bool = True) -> None:
        entries = len(members.column_partitions) * members.n_partitions
        self.members = members
        self._kept: list[_Block] | None = None
        if keep and entries <= _MOST_KEPT:
            self._kept = list(self._blocks())

    def uncertainty(self, weights: Floats) -> Floats:
        """Return the mean entropy of each cluster, partitions weighted by `weights`."""
        weights = weights / weights.max()
        entropies = np.empty(len(self.members.column_partitions))
        for rows, entropy, observed in self._blocks() if self._kept is None else self._kept:
            entropies[rows] = ratio(entropy @ weights, observed @ weights)
        return entropies

    def certainty(self, weights: Floats, theta: float = _THETA) -> Floats:
        """Return the certainty of each cluster (:func:`cluster_certainty`)."""
        # A tiny theta makes every uncertainty infinite, and the certainty 0.
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(-self.uncertainty(weights) / theta))

    def _blocks(self) -> Iterator[_Block]:
        members = self.members
        partition_of = members.column_partitions
        for rows, observed, gram in _row_blocks(members):
            entropy = _entropies(observed, gram, partition_of, members.is_soft)
            entropy[np.arange(len(entropy)), partition_of[rows]] = 0.0
            yield _Block(rows, entropy, observed > 0)


def cluster_certainty(
    ensemble: Derived | ArrayLike, theta: float | None = None, *, normalized: bool = False
) -> Floats:
    r"""Measure the certainty of each cluster: the ensemble-driven cluster index (ECI).

    A cluster is certain if the other partitions keep its objects together:

    .. math::

        \text{ECI} = \exp(-H / \theta)

    where H is the entropy, in bits, of the clusters that a partition puts its objects in, averaged over the partitions by their
    weights; the cluster's own partition counts among them, with 0. Times the number of partitions this is the H of the paper.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions, hard or soft; their weights count.
    theta : float, default=None
        Positive. Smaller values reduce the certainty of uncertain clusters; for large values all clusters are
        certain. None: 0.4, the paper's [1]_; with `normalized` 0.06.
    normalized : bool, default=False
        Whether H is divided by log2 of the number of clusters of the cluster's own partition
        first (NECI [2]_), which trusts coarse partitions less. Partitions of one cluster count as
        of two.

    Returns
    -------
    ndarray of shape (n_clusters_of_all_partitions,)
        In the order of ``Ensemble.indicator``: certainties above 0, up to 1 for a cluster that lies
        within one cluster of every partition that observed it. A cluster of one object is certain.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    An object that a partition did not observe is left out of that entropy, and a partition that
    observed none of the cluster's objects is left out of the mean. Noise is a cluster of one object.
    The members of a soft cluster count by their memberships.

    O(n N^2) time for n objects and N partitions. No matrix of all clusters is made if there are many.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang and J.-H. Lai, "Locally weighted ensemble clustering", IEEE
       Transactions on Cybernetics 48(5), 2018.
    .. [2] X. Zhang, Y. Jia, M. Song and R. Wang, "Similarity and dissimilarity guided co-association
       matrix construction for ensemble clustering", IEEE TKDE, 2025.

    Examples
    --------
    >>> from conclust.similarity import cluster_certainty
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> cluster_certainty(labels).round(4)
    array([1.    , 0.4346, 1.    , 0.4346, 0.2164, 1.    ])
    """
    owner = "cluster_certainty"
    check_bool(normalized, "normalized", owner)
    if theta is None:
        theta = _THETA_NORMALIZED if normalized else _THETA
    check_real(theta, "theta", owner, closed="neither")
    members = as_ensemble(ensemble)
    uncertainty = ClusterSpread(members, keep=False).uncertainty(members.partition_weights)
    if normalized:
        uncertainty /= over_clusters(
            np.log2(np.maximum(members.cluster_counts, 2)), members.offsets
        )
    # A tiny theta makes every uncertainty infinite, and the certainty 0.
    with np.errstate(over="ignore"):
        return np.exp(-uncertainty / theta)


def _row_blocks(ensemble: Ensemble) -> Iterator[tuple[slice, Floats, sp.csr_array]]:
    """Yield the clusters of some partitions: their indices, how much of each was observed by every partition, their B'B."""
    m, T = ensemble.n_partitions, int(ensemble.offsets[-1])
    sizes = ensemble.cluster_sizes
    columns = sp.csr_array((np.ones(T), ensemble.column_partitions, np.arange(T + 1)), shape=(T, m))
    counted = ensemble.has_missing and not (ensemble.has_noise or ensemble.is_soft)
    for block in gram_blocks(ensemble):
        if counted:  # observed objects are in a cluster
            observed = np.asarray((block.gram @ columns).toarray())
        elif ensemble.has_missing and not ensemble.is_soft:
            observed = ensemble.observed_sizes[block.rows]
        elif ensemble.has_missing:
            transposed = sp.csr_array(ensemble.indicator.T)
            observed = np.asarray(transposed[block.rows] @ ensemble.present.astype(np.float64))
        else:
            observed = np.repeat(sizes[block.rows, None], m, axis=1)
        yield block.rows, observed, block.gram


def _entropies(observed: Floats, gram: sp.csr_array, partition_of: Ints, soft: bool) -> Floats:
    """Return the entropy in bits of each row's objects over the clusters of each partition."""
    k, m = observed.shape
    row = np.repeat(np.arange(k), np.diff(gram.indptr))
    cell = row * m + partition_of[gram.indices]
    counts = np.asarray(gram.data, dtype=np.float64)
    share = np.minimum(counts / observed.ravel()[cell], 1.0)
    share[share == 0.0] = 1.0  # an explicit zero of the product carries no information
    bits = np.bincount(cell, weights=-share * np.log2(share), minlength=k * m)
    entropies: Floats = bits.astype(np.float64, copy=False).reshape(k, m)
    if not soft:
        # Each noise object is a cluster of one: -(1 / observed) log2(1 / observed).
        inside = np.bincount(cell, weights=counts, minlength=k * m).reshape(k, m)
        mass = np.maximum(observed, 1.0)
        entropies = entropies + (observed - inside) / mass * np.log2(mass)
    return np.maximum(entropies, 0.0)


def mean_certainty(members: Derived, certainty: Floats) -> Floats:
    """Return the mean certainty of the clusters of each partition over the objects that it observed."""
    mass = members.cluster_sizes
    partition_of = members.column_partitions
    noise = members.noise_counts.astype(np.float64)
    size = noise + np.bincount(partition_of, weights=mass, minlength=members.n_partitions)
    sums = noise + np.bincount(
        partition_of, weights=mass * certainty, minlength=members.n_partitions
    )
    # A part of an ensemble may have partitions that observed none of its objects.
    return ratio(sums, size)
