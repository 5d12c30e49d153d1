"""Selections of partitions: those that agree, differ, or both."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.rows import EqualRows
from conclust._random import RandomStateLike, seed_sequence, spawn_seeds
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust._validation import check_int, check_real
from conclust.ensemble import Ensemble
from conclust.measures.agreement import Measure
from conclust.weighting import weights


def joint_criterion(
    ensemble: Ensemble | ArrayLike,
    size: int | None = None,
    *,
    alpha: float = 0.5,
    measure: Measure = "nmi",
    max_share: float = weights.MAX_SHARE,
) -> Ints:
    """Select partitions that agree with all and differ among themselves (Fern and Lin's JC).

    Starts with the partition that agrees most with all others, and adds the one that gives the
    largest alpha (mean quality) - (1 - alpha) (mean similarity of the pairs selected).

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        Hard partitions. Their weights are ignored.
    size : int, default=None
        Number of partitions to select. None: half of them, rounded up.
    alpha : float, default=0.5
        The weight of quality against diversity, in [0, 1].
    measure : {"nmi", "ari"}, default="nmi"
        Similarity of two partitions; quality is the mean similarity with the others.
    max_share : float, default=0.7
        Partitions that have more than this share of their objects in one cluster are not selected
        (:func:`conclust.weighting.degenerate_partitions`). 1: no such limit.

    Returns
    -------
    ndarray of int64 of shape (size,)
        Indices of the partitions selected, in increasing order; fewer than `size` if fewer are not degenerate.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If a parameter is out of its range.
    UnsupportedEnsembleError
        If the members are soft.

    Notes
    -----
    The paper adds up quality and diversity; means make `alpha` independent of the size. Two
    partitions that share no object have similarity 0.

    References
    ----------
    X. Z. Fern and W. Lin, "Cluster ensemble selection", Statistical Analysis and Data Mining 1(3),
    2008.

    Examples
    --------
    >>> from conclust.weighting import joint_criterion
    >>> labels = [[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 1]]
    >>> joint_criterion(labels, 2)
    array([0, 3])
    """
    owner = "joint_criterion"
    members, candidates, size = _candidates(ensemble, max_share, size, owner)
    S = weights.similarities(members, measure, owner)
    check_real(alpha, "alpha", owner, high=1.0)
    return candidates[_jointly(weights.quality_of(S), S, size, alpha)]


def cluster_and_select(
    ensemble: Ensemble | ArrayLike,
    size: int | None = None,
    *,
    measure: Measure = "nmi",
    max_share: float = weights.MAX_SHARE,
    random_state: RandomStateLike = None,
) -> Ints:
    """Cluster the partitions by similarity and select the best of each cluster (CAS).

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        Hard partitions. Their weights are ignored.
    size : int, default=None
        Partitions to select, one for each cluster. None: half of them, rounded up.
    measure : {"nmi", "ari"}, default="nmi"
        Similarity of two partitions (negative adjusted Rand indices count as 0); quality is the mean
        similarity with the others.
    max_share : float, default=0.7
        Partitions that have more than this share of their objects in one cluster are not selected
        (:func:`conclust.weighting.degenerate_partitions`). 1: no such limit.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the starts of k-means in the spectral clustering.

    Returns
    -------
    ndarray of int64 of shape (size,)
        Indices of the partitions selected, in increasing order; fewer than `size` if there are fewer distinct partitions that
        are not degenerate.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If a parameter is out of its range.
    UnsupportedEnsembleError
        If the members are soft.

    Notes
    -----
    Spectral clustering of the similarities with rows of unit length (Ng, Jordan and Weiss). Equal
    partitions count as one, so that two of them are never both selected.

    References
    ----------
    X. Z. Fern and W. Lin, "Cluster ensemble selection", Statistical Analysis and Data Mining 1(3),
    2008.

    Examples
    --------
    >>> from conclust.weighting import cluster_and_select
    >>> labels = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> cluster_and_select(labels, 2, random_state=0)
    array([0, 2])
    """
    owner = "cluster_and_select"
    members, candidates, size = _candidates(ensemble, max_share, size, owner)
    S = weights.similarities(members, measure, owner)
    seed = spawn_seeds(seed_sequence(random_state, owner), 1, bits=32)[0]
    quality = weights.quality_of(S)
    distinct = EqualRows.of(members.codes.T).first
    if len(distinct) <= size:
        return candidates[distinct]
    groups = _spectral(S[np.ix_(distinct, distinct)], size, seed)
    best = [
        max(distinct[groups == g], key=lambda u: (round(float(quality[u]), 12), -u))
        for g in np.unique(groups)
    ]
    return candidates[np.sort(np.array(best, dtype=np.int64))]


def _jointly(quality: Floats, S: Floats, size: int, alpha: float) -> Ints:
    """Choose the best, then one after the other by quality and by difference from those chosen."""
    chosen = [int(np.argmax(np.round(quality, 12)))]
    to_chosen = S[chosen[0]].copy()
    inside = 0.0
    while len(chosen) < size:
        s = len(chosen)
        gain = alpha * (quality[chosen].sum() + quality) / (s + 1)
        gain -= (1.0 - alpha) * (inside + to_chosen) / (s * (s + 1) / 2)
        gain[chosen] = -np.inf
        best = int(np.argmax(np.round(gain, 12)))
        inside += float(to_chosen[best])
        to_chosen += S[best]
        chosen.append(best)
    return np.sort(np.array(chosen, dtype=np.int64))


def _candidates(
    ensemble: Ensemble | ArrayLike, max_share: float, size: int | None, owner: str
) -> tuple[Ensemble, Ints, int]:
    """Return the partitions that are not degenerate, their indices, and the number to select."""
    check_real(max_share, "max_share", owner, high=1.0)
    members = weights.as_members(ensemble)
    m = members.n_partitions
    wanted = check_int(size, "size", owner, high=m, none=True)
    degenerate = weights.degenerate_partitions(members.reweighted(None), max_share)
    candidates = np.flatnonzero(~degenerate)
    if len(candidates) < m:
        members = members.subset(partitions=candidates)
    return members, candidates, min((m + 1) // 2 if wanted is None else wanted, len(candidates))


def _spectral(S: Floats, k: int, seed: int) -> Ints:
    from sklearn.cluster import KMeans  # imported here, as a consensus does not need it

    degree = S.sum(axis=1)
    scaled = S / np.sqrt(degree[:, None] * degree)
    with one_library_thread():
        _, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
        rows = vectors[:, -k:]
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-10)
        labels = KMeans(k, n_init=10, random_state=seed).fit_predict(rows)
    return np.asarray(labels, dtype=np.int64)
