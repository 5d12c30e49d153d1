"""Whether an ensemble suits methods that expect partitions of about as many clusters as they find."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._warnings import warn_user
from conclust.ensemble import Ensemble
from conclust.exceptions import EnsembleWarning
from conclust.weighting.degeneracy import degenerate_partitions

__all__ = ["misfit", "warn_of_misfit"]

# Measured on k-means members of blobs and on published pools, see the tests: shares of the partitions
# (by weight) above which a method is known to do badly, and what is too few and too many clusters.
_DEGENERATE = 0.15
_ONE_CLUSTER = 0.9
_COARSE = 0.25
_TOO_FEW = 0.7
_TOO_MANY = 2.5


def warn_of_misfit(ensemble: Ensemble, n_clusters: int | None, owner: str) -> None:
    """Warn in one sentence if a method that explains pairs or votes is known to do badly here.

    `n_clusters` is what the method is asked for, exactly or as a bound; None: nothing is said of
    partitions that have more or fewer.
    """
    found = misfit(ensemble, n_clusters)
    if found:
        warn_user(found.format(owner=owner), EnsembleWarning)


def misfit(ensemble: Ensemble, n_clusters: int | None) -> str:
    """Say what is wrong with an ensemble, with a place for the method's name; "" if nothing is."""
    weights = ensemble._each_weight / ensemble._each_weight.sum()
    counts = ensemble.cluster_counts
    degenerate = degenerate_partitions(ensemble, _ONE_CLUSTER)
    if weights[degenerate].sum() > _DEGENERATE:
        return (
            f"{np.count_nonzero(degenerate)} of {len(counts)} partitions have more than "
            f"{100 * _ONE_CLUSTER:.0f}% of their objects in one cluster, which makes {{owner}} merge "
            "clusters: leave them out (conclust.weighting.degenerate_partitions finds them), weigh "
            "the partitions by conclust.weighting.certainty_weights, or use LWEA."
        )
    if n_clusters is None:
        return ""
    known = min(n_clusters, _quantile(counts, weights, 0.9))
    coarse = (counts <= known - 2) & (counts <= _TOO_FEW * known)
    if weights[coarse].sum() > _COARSE:
        return (
            f"{np.count_nonzero(coarse)} of {len(counts)} partitions have only "
            f"{_range(counts[coarse])} clusters where others have {known} and more, and {{owner}} "
            "may merge clusters that they merge: use LWEA or EAC, or leave these partitions out."
        )
    median = _quantile(counts, weights, 0.5)
    if n_clusters > 1 and median > _TOO_MANY * n_clusters:
        return (
            f"The partitions have {median} clusters (the median), far more than the {n_clusters} "
            f"asked for: give {{owner}} conclust.weighting.coarsen(ensemble, {n_clusters}), or use LWEA "
            "or CumulativeVoting."
        )
    return ""


def _quantile(counts: NDArray[Any], weights: NDArray[Any], q: float) -> int:
    """Return the number of clusters that a share q of the weight does not exceed."""
    order = np.argsort(counts, kind="stable")
    below = np.cumsum(weights[order])
    return int(counts[order[min(int(np.searchsorted(below, q - 1e-12)), len(order) - 1)]])


def _range(counts: NDArray[Any]) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low} to {high}"
