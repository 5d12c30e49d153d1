"""The kernel of partitions, which measures to what extent two partitions keep the same subsets together.

Everything is in base-2 logarithms: the number of subsets overflows beyond a thousand objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import one_hot, over_partitions

Kernel: TypeAlias = Literal["pairs", "subsets"]


@dataclass(frozen=True)
class Tables:
    """Numbers of objects shared by clusters of the consensus and clusters of the partitions.

    ``common`` (T, K): shared with each cluster. ``noise`` and ``observed`` (N, K): objects of the
    consensus cluster that are noise in the partition, or observed by it. ``sizes`` (T,) and ``alone``
    (N,): sizes of the clusters of the partitions, and of their noise.
    """

    common: Floats
    noise: Floats
    observed: Floats
    sizes: Floats
    alone: Floats
    offsets: Ints

    @classmethod
    def of(cls, ensemble: Ensemble, labels: Ints) -> Tables:
        """Count the objects of a partition (labels 0 .. K - 1)."""
        clusters = one_hot(labels, int(labels.max()) + 1)
        common = (ensemble.indicator.T @ clusters).toarray()
        alone = sp.csr_array(ensemble.noise.astype(np.float64).T)
        noise = sp.csr_array(alone @ clusters).toarray()
        observed = over_partitions(common, ensemble.offsets) + noise
        return cls(common, noise, observed, common.sum(axis=1), noise.sum(axis=1), ensemble.offsets)


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log2(values)


def _subsets(size: Floats, kernel: Kernel) -> Floats:
    """Return log2 of the sum of squared sizes over the counted subsets of `size` objects."""
    if kernel == "pairs":
        return 1.0 + _log(size * (size - 1.0))
    return _log(size * (size + 1.0)) + size - 2.0


def _singles(count: Floats, kernel: Kernel) -> Floats:
    """Return the same for `count` singletons: one subset each, and no pair."""
    return _log(count * (kernel != "pairs"))


def log_norms(tables: Tables, kernel: Kernel) -> Floats:
    """Return the kernel of each partition with itself."""
    clusters = _subsets(tables.sizes, kernel) - 2.0 * np.log2(tables.sizes)
    sums = over_partitions(clusters, tables.offsets, np.logaddexp2)
    return np.asarray(np.logaddexp2(sums, _singles(tables.alone, kernel)))


def _log_shared(tables: Tables, kernel: Kernel) -> Floats:
    """Return log2 of the kernel of each cluster with each label, not yet divided by the cluster's size."""
    return _subsets(tables.common, kernel) - np.log2(tables.sizes)[:, np.newaxis]


def _own(observed: Floats, kernel: Kernel) -> Floats:
    """Return log2 of the term of the norm by a cluster, given its observed objects."""
    return _subsets(observed, kernel) - 2.0 * _log(np.maximum(observed, 1.0))


def _normalised(shared: Floats, norm: Floats, self_kernel: Floats) -> Floats:
    """Divide a kernel by its norms, in logarithms; 0 where it is 0."""
    some = np.isfinite(shared) & np.isfinite(self_kernel)
    safe = np.where(some, norm, 0.0) + np.where(some, self_kernel, 0.0)
    return np.where(some, np.where(some, shared, 0.0) - 0.5 * safe, -np.inf)


def log_resemblances(tables: Tables, kernel: Kernel) -> Floats:
    """Return the logarithm of the resemblance of the consensus to each partition, (N,)."""
    clusters = over_partitions(_log_shared(tables, kernel), tables.offsets, np.logaddexp2)
    clusters = np.logaddexp2(clusters, _singles(tables.noise, kernel))
    clusters -= _log(np.maximum(tables.observed, 1.0))
    shared = np.logaddexp2.reduce(clusters, axis=1)
    norm = np.logaddexp2.reduce(_own(tables.observed, kernel), axis=1)
    return _normalised(shared, norm, log_norms(tables, kernel))


def log_joined(tables: Tables, kernel: Kernel) -> tuple[Floats, Floats]:
    """Return the logarithms of the resemblances once a new object has joined each cluster.

    By its label (T, K), or as noise (N, K); clusters of the partitions keep their sizes.
    """
    by_label = _log_shared(tables, kernel)
    alone = _singles(tables.noise, kernel)
    sums = np.logaddexp2(over_partitions(by_label, tables.offsets, np.logaddexp2), alone)
    size = _log(np.maximum(tables.observed, 1.0))
    others = _all_but_each(sums - size, axis=1)
    larger = np.log2(tables.observed + 1.0)
    norm = np.logaddexp2(
        _all_but_each(_own(tables.observed, kernel), axis=1), _own(tables.observed + 1.0, kernel)
    )
    norms = log_norms(tables, kernel)[:, np.newaxis]
    more = _subsets(tables.common + 1.0, kernel) - np.log2(tables.sizes)[:, np.newaxis]
    labelled = np.empty_like(by_label)
    for u in range(len(alone)):
        block = slice(tables.offsets[u], tables.offsets[u + 1])
        rest = np.logaddexp2(_all_but_each(by_label[block], axis=0), alone[u])
        shared = np.logaddexp2(others[u], np.logaddexp2(rest, more[block]) - larger[u])
        labelled[block] = _normalised(
            shared, np.broadcast_to(norm[u], shared.shape), np.broadcast_to(norms[u], shared.shape)
        )
    as_noise = np.logaddexp2(sums, _singles(np.ones_like(sums), kernel)) - larger
    shared = np.logaddexp2(others, as_noise)
    return labelled, _normalised(shared, norm, np.broadcast_to(norms, shared.shape))


def _all_but_each(logs: Floats, axis: int) -> Floats:
    """Return the sums along an axis without each entry in turn."""
    logs = np.moveaxis(logs, axis, 0)
    nothing = np.full((1, *logs.shape[1:]), -np.inf)
    before = np.concatenate([nothing, np.logaddexp2.accumulate(logs, axis=0)[:-1]])
    after = np.concatenate([np.logaddexp2.accumulate(logs[::-1], axis=0)[-2::-1], nothing])
    return np.moveaxis(np.logaddexp2(before, after), 0, axis)
