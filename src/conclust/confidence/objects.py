"""Confidence in the cluster of each object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conclust._arrays.rows import ratio, shares_of_rows
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_int, count
from conclust.confidence.reading import Judged, read_consensus
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import indicator_of, noise_code, over_clusters, over_partitions
from conclust.evidence import coassociation_blocks, frequencies
from conclust.measures.matching import assign
from conclust.membership import entropy
from conclust.spectra.gram import IndicatorProducts


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
    """Return the confidence of each object: its membership in its own cluster.

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


Matching: TypeAlias = Literal["majority", "one_to_one"]


def item_consensus(
    consensus: Any,
    ensemble: Ensemble | ArrayLike | None = None,
    *,
    max_dense: int = 20_000,
    n_jobs: int | None = None,
) -> Floats:
    """Average how often an object is together with the objects of each cluster.

    Parameters
    ----------
    consensus : array-like of shape (n_samples,) or fitted model
        The clusters. An object with a negative label or NaN is in no cluster.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The partitions. None: the partitions of a `conclust.ConsensusClustering`.
    max_dense : int, default=20000
        If labels are missing and there are more objects than this, pairs are weighted by the number of partitions
        that observed them (see Notes).
    n_jobs : int, default=None
        Number of threads. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        m_i(k) = mean of c_ij / N_ij over the objects j of cluster k other than i. It is NaN if no partition observed
        i together with any of them, for instance if i is alone in its own cluster.

    Raises
    ------
    InputError
        If the consensus and the ensemble are not of the same objects.

    Notes
    -----
    The item consensus of S. Monti et al., Consensus clustering, Machine Learning 52, 2003. If every partition
    observed every object, N_ij is the same for all pairs, and sums over clusters give the means without forming
    pairs, in O(n N K) time. If labels are missing, up to `max_dense` objects are compared pair by pair, block by
    block. For more objects the sum of c_ij is divided by the sum of N_ij.

    Examples
    --------
    >>> from conclust.confidence import item_consensus
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> item_consensus([0, 0, 1, 1], labels).round(3)
    array([[1.   , 0.167],
           [1.   , 0.167],
           [0.333, 0.667],
           [0.   , 0.667]])
    """
    check_int(max_dense, "max_dense", "item_consensus")
    return consensus_of_items(
        read_consensus(consensus, ensemble, "item_consensus"), max_dense, n_jobs
    )


def consensus_of_items(judged: Judged, max_dense: int, n_jobs: int | None) -> Floats:
    """Return the means (n, K) of the shares of pairs."""
    sums, weights = cluster_sums(judged, max_dense, n_jobs)
    means = ratio(sums, weights, np.nan)
    return np.clip(means, 0.0, 1.0, out=means)


def cluster_sums(judged: Judged, max_dense: int, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Return the co-association of objects with the objects of each cluster (n, K), and the divisors.

    The quotient is the mean over the other objects of the cluster.
    """
    members, Z = judged.members, judged.indicator
    if members.has_missing and members.n_samples <= max_dense:
        return _by_pairs(members, Z, n_jobs)
    partition_weights = members.partition_weights
    # Of each object with all of a cluster, and with itself.
    if members.is_soft:
        weighted = sp.csr_array(members.indicator * members.column_weights[np.newaxis, :])
        sums = np.asarray(weighted @ judged.shared)
        self_pairs = np.asarray(weighted.multiply(members.indicator).sum(axis=1)).ravel()
    else:
        table = members.column_weights[:, np.newaxis] * judged.shared
        sums = IndicatorProducts.of(members).times(table)
        self_pairs = _weights_of_labels(members)
    if members.has_missing:
        present = members.present.astype(np.float64)
        divisors = (present * partition_weights) @ np.asarray((Z.T @ present).T)
        self_divisors = present @ partition_weights
    else:
        total = float(partition_weights.sum())
        divisors = np.broadcast_to(total * judged.sizes.astype(np.float64), sums.shape).copy()
        self_divisors = np.full(len(sums), total)
    clustered = np.flatnonzero(judged.labels >= 0)
    at = judged.labels[clustered]
    sums[clustered, at] = np.maximum(sums[clustered, at] - self_pairs[clustered], 0.0)
    divisors[clustered, at] -= self_divisors[clustered]
    # A difference of equal numbers is rounding.
    divisors[divisors < 1e-9 * partition_weights.max()] = 0.0
    return sums, divisors


def _weights_of_labels(members: Ensemble) -> Floats:
    """Return for each object the sum of the weights of the partitions that put it in a cluster."""
    weights = members.partition_weights
    alike = not members.has_missing and not members.has_noise  # one row stands for all
    codes = members.codes[:1] if alike else members.codes
    in_cluster = codes < noise_code(codes.dtype)
    ends = np.concatenate([[0], np.cumsum(np.count_nonzero(in_cluster, axis=1))])
    entries = np.broadcast_to(weights, in_cluster.shape)[in_cluster]
    sums: Floats = over_partitions(entries, ends)  # the segments are objects here
    return np.repeat(sums, members.n_samples) if alike else sums


def _by_pairs(members: Ensemble, Z: sp.csr_array, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Return sums of c / N over the pairs observed by some partition, and the number of such pairs."""
    sums = np.empty(Z.shape)
    n_known = np.empty(Z.shape)
    for block in coassociation_blocks(members, n_jobs=n_jobs):
        shares = frequencies(block.counts, block.copresence)
        within = np.arange(len(block.rows))
        shares[within, np.asarray(block.rows)] = np.nan  # an object with itself
        has_evidence = ~np.isnan(shares)
        rows = slice(block.rows.start, block.rows.stop)
        sums[rows] = np.asarray((Z.T @ np.where(has_evidence, shares, 0.0).T).T)
        n_known[rows] = np.asarray((Z.T @ has_evidence.T.astype(np.float64)).T)
    return sums, n_known


def company(
    consensus: Any, ensemble: Ensemble | ArrayLike | None = None, *, new: Any = None
) -> Floats:
    """Return, for each object, how its company is distributed over the clusters.

    Parameters
    ----------
    consensus : array-like of shape (n_samples,) or fitted model
        The clusters. An object with a negative label or NaN is in no cluster.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The partitions. None: the partitions of a `conclust.ConsensusClustering`.
    new : array-like of shape (n_new, n_partitions), default=None
        Labels of new objects in the same partitions, for which the result is then computed. A label that no object of
        the ensemble has is noise. None: compute the result for the objects of the ensemble.

    Returns
    -------
    ndarray of shape (n_samples, n_clusters) or (n_new, n_clusters)
        For each partition that puts object i into a cluster with other objects of the ensemble, the share of consensus
        cluster k in that cluster (including i itself if it belongs to the ensemble); then the weighted mean over these
        partitions. Rows sum to 1 if all objects in these clusters are in a cluster of the consensus. NaN for objects
        that no partition put into a cluster with others. If i is alone in its consensus cluster, partitions that put
        it apart from all others (alone, or as noise) agree with this, and count with the share 1 for that cluster.

    Raises
    ------
    InputError
        If the consensus and the ensemble are not of the same objects, or new labels are malformed.

    Notes
    -----
    Item consensus is the share of cluster k that is together with object i, and is low for all objects if the
    partitions are fine. Company is the share of the objects together with i that belong to cluster k.

    Examples
    --------
    >>> from conclust.confidence import company
    >>> company([0, 0, 1, 1], [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]).round(3)
    array([[0.889, 0.111],
           [0.889, 0.111],
           [0.222, 0.778],
           [0.   , 1.   ]])
    """
    judged = read_consensus(consensus, ensemble, "company")
    if new is None:
        return company_of(judged)
    codes, _ = judged.members.encode(new)
    return company_of(judged, indicator_of(codes, judged.members.offsets))


def company_of(judged: Judged, who: sp.csr_array | None = None) -> Floats:
    """Return the shares (n, K) of the members' objects, or of those with other rows of the indicator."""
    members = judged.members
    table = judged.shared / np.maximum(members.cluster_sizes, 1e-300)[:, None]
    counting = members.column_weights
    if who is None:  # an object that is alone has no company
        counting = np.where(_held_by_one(members), 0.0, counting)
    columns = counting[:, None]
    if who is None:
        times = IndicatorProducts.of(members).times
        sums, observed_weight = times(columns * table), times(columns).ravel()
        alone = np.flatnonzero((judged.labels >= 0) & (judged.sizes[judged.labels] == 1))
        apart = _weights_apart(members, alone)
        sums[alone, judged.labels[alone]] += apart
        observed_weight[alone] += apart
    else:
        sums, observed_weight = np.asarray(who @ (columns * table)), np.asarray(who @ counting)
    return ratio(sums, observed_weight[:, None], np.nan)


def _held_by_one(members: Ensemble) -> Bools:
    """Return which clusters have a single object."""
    sizes = np.asarray(members.cluster_sizes)
    if members.is_soft:
        held = members.indicator.indices[members.indicator.data > 0]
        sizes = np.bincount(held, minlength=len(sizes))
    return np.asarray(sizes == 1)


def _weights_apart(members: Ensemble, rows: Ints) -> Floats:
    """Return for each of the objects `rows` the sum of the weights of the partitions that put it apart from all others."""
    if not len(rows):
        return np.zeros(0)
    # The only object that a partition observed is not apart from any other.
    weights = np.where(members.observed_counts > 1, members.partition_weights, 0.0)
    codes = members.codes[rows]
    who = members.indicator[rows] if members.is_soft else indicator_of(codes, members.offsets)
    single = np.where(_held_by_one(members), over_clusters(weights, members.offsets), 0.0)
    noise = codes == noise_code(codes.dtype)
    return np.asarray(who @ single + noise @ weights)


def company_of_new(labels: Ints, ensemble: Ensemble, new: Any, placed: Ints) -> Floats:
    """Return the confidence of new objects in the clusters given to them, as `confidences` does; NaN for those in none (-1)."""
    shares = shares_of_rows(np.nan_to_num(company(labels, ensemble, new=new)))
    own = np.take_along_axis(shares, np.maximum(placed, 0)[:, None], axis=1)[:, 0]
    return np.where(placed < 0, np.nan, own)


def agreement_of(judged: Judged, matching: Matching) -> Floats:
    """Return the share of the partitions that put each object into the cluster of the consensus (n,); NaN for objects in none.

    A cluster of a partition stands for the consensus cluster that has most of its objects, or one to one for another each.
    """
    members, labels = judged.members, judged.labels
    shared = judged.shared
    votes = np.zeros(len(labels))
    observed_weight = np.zeros(len(labels))
    for u, weight in enumerate(members.partition_weights):
        table = shared[members.offsets[u] : members.offsets[u + 1]]
        if matching == "majority":
            stands_for = np.where(table.any(axis=1), table.argmax(axis=1), -2)
        else:
            stands_for = assign(table)
            stands_for[stands_for < 0] = -2
        # The last two entries are for the labels -2, noise, and -1, missing.
        lookup = np.concatenate([stands_for, [-2, -2]])
        column = members.labels[:, u]
        votes += weight * ((lookup[column] == labels) & (labels >= 0))
        observed_weight += weight * (column != -1)
    return np.where(labels >= 0, ratio(votes, observed_weight, np.nan), np.nan)
