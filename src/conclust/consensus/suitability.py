"""Whether an ensemble suits methods that expect partitions with about the consensus's number of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from conclust._types import Ints
from conclust._validation import count
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import indicator_of, missing_code
from conclust.exceptions import EnsembleWarning, warn
from conclust.trees.agglomeration import clusters_at, single_tree
from conclust.weighting.weights import degenerate_partitions

# Chosen on k-means members of blobs, of the digits and of published pools; see the tests.
_DEGENERATE = 0.15  # share of the partitions, by weight, that may be degenerate
_ONE_CLUSTER = 0.9  # share of its objects in one cluster that makes a partition degenerate
_TOO_MANY = 2.5  # median number of clusters of the partitions per requested one
_VERY_MANY = 20  # clusters of the partitions altogether, for PCC, which is less sensitive
_SAMPLE = 2_000  # maximum number of objects examined for groups
_SMALL = 0.25  # share of the mean size of the requested clusters: smaller groups do not count
_FEW = 10  # objects in the trees per cluster of a partition, below which the trees may not connect clusters
_LEAST = 0.02  # share of the objects: smaller groups do not count either


def warn_of_misfit(ensemble: Ensemble, n_clusters: int | None, owner: str) -> None:
    """Warn about an ensemble on which a method of pairs or votes is known to perform badly.

    `n_clusters` is the number requested, exactly or as a maximum; None: no warning about partitions with more
    clusters.
    """
    reason = misfit(ensemble, n_clusters, least=1 if owner == "Voting" else _VERY_MANY)
    if reason:
        warn(reason.format(owner=owner), EnsembleWarning)


def warn_of_few_objects(ensemble: Ensemble, objects: Ints, n_clusters: int | None) -> None:
    """Warn if partitions are so fine that the objects drawn for trees fall into more groups than clusters.

    Groups share no cluster in any partition.
    """
    median = int(np.median(ensemble.cluster_counts))
    if ensemble.is_soft or len(objects) >= _FEW * median:
        return
    B: Any = indicator_of(ensemble.codes[objects], ensemble.offsets)
    parts = connected_components(sp.block_array([[None, B], [B.T, None]]), directed=False)[1]
    groups = len(np.unique(parts[: len(objects)]))
    if groups > (n_clusters or 1):
        warn(
            f"The partitions have {median} clusters (the median), too many for trees of {len(objects)} of the "
            f"{ensemble.n_samples} objects: these fall into {groups} groups that share no cluster. Use HBGF, which "
            "reads all objects, or a larger max_samples.",
            EnsembleWarning,
        )


def misfit(ensemble: Ensemble, n_clusters: int | None, *, least: int = 1) -> str:
    """Return why an ensemble is unsuitable, with a placeholder for the method's name; "" if it is suitable."""
    weights = ensemble.partition_weights / ensemble.partition_weights.max()
    weights = weights / weights.sum()
    counts = ensemble.cluster_counts
    degenerate = degenerate_partitions(ensemble, _ONE_CLUSTER)
    if weights[degenerate].sum() > _DEGENERATE:
        number = int(np.count_nonzero(degenerate))
        have, their, them = ("has", "its", "it") if number == 1 else ("have", "their", "them")
        return (
            f"{number} of {count(len(counts), 'partition')} {have} more than "
            f"{100 * _ONE_CLUSTER:.0f}% of {their} objects in one cluster, which makes {{owner}} merge "
            f"clusters: leave {them} out (conclust.weighting.degenerate_partitions finds {them}), weight "
            "the partitions by conclust.weighting.certainty_weights, or use LWEA."
        )
    order = np.argsort(counts, kind="stable")
    half = min(int(np.searchsorted(np.cumsum(weights[order]), 0.5 - 1e-12)), len(order) - 1)
    median = int(counts[order[half]])
    if n_clusters is not None and median > _TOO_MANY * n_clusters and median >= least:
        return (
            f"The partitions have {median} clusters (the median), far more than the {n_clusters} "
            f"requested: give {{owner}} conclust.weighting.coarsen(ensemble, {n_clusters}), which PCC does "
            "by itself with granularity='matched', or use LWEA or CumulativeVoting."
        )
    return ""


def warn_of_merged(ensemble: Ensemble, labels: NDArray[Any], n_clusters: int, owner: str) -> None:
    """Warn about a consensus that merged groups which all finer partitions separate."""
    groups, merged = merged_groups(ensemble, labels, n_clusters)
    if merged and groups <= n_clusters:
        warn(
            f"{owner} returned {count(len(np.unique(labels)), 'cluster')}, but the finer partitions separate {groups} groups, "
            "which the coarse ones merge: use LWEA or EAC, or leave the coarse partitions out.",
            EnsembleWarning,
        )


def merged_groups(ensemble: Ensemble, labels: NDArray[Any], n_clusters: int) -> tuple[int, int]:
    """Count the groups that fine partitions separate, and the clusters that contain several.

    Among the partitions with more clusters than the consensus, the finer half is examined. Two objects are
    connected if more than half of these partitions put them together; a group is a connected component.
    Groups with less than a quarter of the mean size of `n_clusters` clusters, or with less than 2 % of
    the objects, do not count. At most 2,000 objects are used.
    """
    counts = ensemble.cluster_counts
    n_groups = len(np.unique(labels))
    finer = np.flatnonzero((counts > n_groups) & (ensemble.partition_weights > 0))
    if ensemble.is_soft or ensemble.n_samples < 2 * n_groups or len(finer) < 2:
        return 0, 0
    finer = finer[counts[finer] >= np.median(counts[finer])]
    n = ensemble.n_samples
    chosen = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64)
    present = ensemble.codes[np.ix_(chosen, finer)] != missing_code(ensemble.codes.dtype)
    chosen, finer = chosen[present.any(axis=1)], finer[present.any(axis=0)]
    if len(finer) < 2 or len(chosen) < 2 * n_groups:
        return 0, 0
    tree = single_tree(ensemble.part(chosen).subset(partitions=finer))
    groups = clusters_at(tree, 1 + int(np.count_nonzero(tree[:, 2] >= 0.5)))
    table = np.zeros((int(groups.max()) + 1, int(labels.max()) + 1))
    np.add.at(table, (groups, labels[chosen]), 1.0)
    least = max(_SMALL / n_clusters, _LEAST) * len(chosen)
    table = table[table.sum(axis=1) >= least]
    inside = table.max(axis=1) >= 0.9 * table.sum(axis=1)
    held = np.bincount(table.argmax(axis=1)[inside], minlength=table.shape[1])
    return len(table), int(np.count_nonzero(held > 1))
