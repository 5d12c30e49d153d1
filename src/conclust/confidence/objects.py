"""Confidence in the cluster of each object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.ratios import ratio, shares_of_rows
from conclust._types import Floats, Ints
from conclust._validation import check_int, count
from conclust.confidence.items import agreement_of, company_of, consensus_of_items
from conclust.confidence.reading import Judged, read_consensus
from conclust.ensemble import Ensemble
from conclust.membership import entropy


@dataclass(frozen=True)
class ObjectConfidence:
    """Confidence in the cluster of each object; NaN for an object in no cluster.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        The clusters, from 0; negative: in none.
    second : ndarray of int64 of shape (n_samples,)
        Next most probable cluster; -1 if there is only one cluster.
    membership : ndarray of shape (n_samples, n_clusters)
        The membership of the model, or the company of each object (:func:`company`) with rows scaled to sum to 1,
        and 1 / n_clusters everywhere for an object without company. `second`, `confidence`, `margin` and `entropy` are
        computed from it.
    confidence : ndarray of shape (n_samples,)
        Membership in the object's own cluster. conclust uses the word confidence for this everywhere.
    margin : ndarray of shape (n_samples,)
        Confidence minus the largest membership of another cluster; 1 if there is only one cluster.
    entropy : ndarray of shape (n_samples,)
        Entropy of the membership: 0 if it is certain, 1 if it is uniform over all clusters.
    company : ndarray of shape (n_samples,)
        Share of its own cluster in its company (:func:`company`); NaN for an object without company.
    item_consensus : ndarray of shape (n_samples,)
        Mean co-association with the other objects of its cluster.
    silhouette : ndarray of shape (n_samples,)
        Silhouette from -1 to 1 with distances 1 - c / N, which compares the object's own cluster with the nearest
        other one; 0 for a cluster of one, and if there is only one cluster.
    agreement : ndarray of shape (n_samples,)
        Share of the partitions that agree with its cluster: most objects of its cluster there are in its cluster here.
    seen : ndarray of int64 of shape (n_samples,)
        Partitions that observed the object.
    """

    labels: Ints
    second: Ints
    membership: Floats
    confidence: Floats
    margin: Floats
    entropy: Floats
    company: Floats
    item_consensus: Floats
    silhouette: Floats
    agreement: Floats
    seen: Ints

    def __repr__(self) -> str:
        sure = self.confidence[~np.isnan(self.confidence)]
        range_text = f"; confidence {sure.min():.2f} to {sure.max():.2f}" if len(sure) else ""
        return (
            f"ObjectConfidence({count(len(self.labels), 'object')} in "
            f"{count(self.membership.shape[1], 'cluster')}{range_text})"
        )


def object_confidence(
    consensus: Any,
    ensemble: Ensemble | ArrayLike | None = None,
    *,
    max_dense: int = 20_000,
    n_jobs: int | None = None,
) -> ObjectConfidence:
    """Measure the confidence in the cluster of each object.

    Parameters
    ----------
    consensus : array-like of shape (n_samples,) or fitted model
        The clusters. An object with a negative label or NaN is in no cluster.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The partitions from which the consensus was computed. None: the partitions of a `conclust.ConsensusClustering`.
    max_dense : int, default=20000
        See :func:`item_consensus`.
    n_jobs : int, default=None
        Number of threads. The result does not depend on it.

    Returns
    -------
    ObjectConfidence
        Every measure, with one entry per object.

    Raises
    ------
    InputError
        If the consensus and the ensemble are not of the same objects.

    Notes
    -----
    The definition was chosen on data with known classes, by how well each measure ranks the objects that a consensus
    misassigns (``experiments/confidence``). No measure was better than the largest membership on both kinds of
    ensembles that were tried. The silhouette is better if partitions have many different numbers of clusters, and
    agreement, matched one to one, if all have the same number as the consensus.

    Examples
    --------
    >>> from conclust.confidence import object_confidence
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> sure = object_confidence([0, 0, 1, 1], labels)
    >>> sure.company.round(3)
    array([0.889, 0.889, 0.778, 1.   ])
    >>> sure.agreement.round(3)
    array([1.   , 1.   , 0.667, 1.   ])
    """
    check_int(max_dense, "max_dense", "object_confidence")
    judged = read_consensus(consensus, ensemble, "object_confidence")
    shares = company_of(judged)
    items = consensus_of_items(judged, max_dense, n_jobs)
    membership = membership_of(judged, shares)
    own_membership = judged.own(membership[:, : judged.n_clusters])
    others = membership.copy()
    in_cluster = judged.labels >= 0
    others[np.flatnonzero(in_cluster), judged.labels[in_cluster]] = -1.0
    alone = membership.shape[1] == 1
    spread = entropy(np.where(in_cluster[:, None], membership, 1.0 / membership.shape[1]))
    return ObjectConfidence(
        labels=judged.labels,
        second=np.where(in_cluster & (not alone), others.argmax(axis=1), -1),
        membership=membership,
        confidence=own_membership,
        margin=np.where(in_cluster, own_membership - np.maximum(others.max(axis=1), 0.0), np.nan),
        entropy=np.where(in_cluster, spread, np.nan),
        company=judged.own(shares),
        item_consensus=judged.own(items),
        silhouette=silhouettes(items, judged.labels),
        agreement=agreement_of(judged, "majority"),
        seen=np.count_nonzero(judged.members.present, axis=1).astype(np.int64),
    )


def confidences(consensus: Any, ensemble: Ensemble | ArrayLike | None = None) -> Floats:
    """Return the confidence of each object: its membership of its own cluster.

    Parameters
    ----------
    consensus : array-like of shape (n_samples,) or fitted model
        The clusters. An object with a negative label or NaN is in no cluster.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The partitions from which the consensus was computed. None: the partitions of a `conclust.ConsensusClustering`.

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0 to 1: the object's membership in its own cluster, or, for a model without memberships, the share of that
        cluster in its company (:func:`company`), or 1 / n_clusters for an object without company. NaN for objects in no cluster.

    Raises
    ------
    InputError
        If the consensus and the ensemble are not of the same objects.

    Examples
    --------
    >>> from conclust.confidence import confidences
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> confidences([0, 0, 1, 1], labels).round(3)
    array([0.889, 0.889, 0.778, 1.   ])
    """
    judged = read_consensus(consensus, ensemble, "confidences")
    return judged.own(membership_of(judged)[:, : judged.n_clusters])


def membership_of(judged: Judged, shares: Floats | None = None) -> Floats:
    """Return the membership of the model, or the shares of company if it has none; rows sum to 1."""
    if judged.membership is not None:
        return judged.membership
    return shares_of_rows(np.nan_to_num(company_of(judged) if shares is None else shares))


def silhouettes(means: Floats, labels: Ints) -> Floats:
    """Return silhouettes with distances 1 - c / N, from the means of c / N over clusters (n, K).

    Confidences of labels from 0; NaN for negative labels.
    """
    K = means.shape[1]
    in_cluster = labels >= 0
    if K == 1:
        return np.where(in_cluster, 0.0, np.nan)
    own_means = np.take_along_axis(means, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
    others = np.where(np.arange(K) == labels[:, None], np.nan, means)
    # A pair that no partition observed has the maximum distance.
    best = np.nan_to_num(others).max(axis=1)
    inside, outside = 1.0 - own_means, 1.0 - best
    values = ratio(outside - inside, np.maximum(inside, outside))
    # In a cluster of one there is no other object to be close to.
    values[np.isnan(own_means)] = 0.0
    return np.where(in_cluster, values, np.nan)
