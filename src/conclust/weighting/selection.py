"""Selections of partitions: those that agree, differ, or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from conclust._random import RandomStateLike, seed_sequence, spawn_generators, spawn_seeds
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_bool, check_int, check_option, check_real, refuse
from conclust.ensemble import Ensemble
from conclust.ensemble.equal_rows import EqualRows
from conclust.measures.agreement import Measure, partition_similarities
from conclust.weighting.weights import (
    MAX_SHARE,
    as_members,
    degenerate_partitions,
    quality_of,
    similarities,
)


def joint_criterion(
    ensemble: Ensemble | ArrayLike,
    size: int | None = None,
    *,
    alpha: float = 0.5,
    measure: Measure = "nmi",
    max_share: float = MAX_SHARE,
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
        (:func:`conclust.weighting.degenerate_partitions`). 1: they are.

    Returns
    -------
    ndarray of int64 of shape (size,)
        Indices of the partitions selected, in increasing order; fewer than `size` where fewer are
        not degenerate.

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
    S = similarities(members, measure, owner)
    check_real(alpha, "alpha", owner, high=1.0)
    return candidates[_jointly(quality_of(S), S, size, alpha)]


def cluster_and_select(
    ensemble: Ensemble | ArrayLike,
    size: int | None = None,
    *,
    measure: Measure = "nmi",
    max_share: float = MAX_SHARE,
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
        (:func:`conclust.weighting.degenerate_partitions`). 1: they are.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the starts of k-means in the spectral clustering.

    Returns
    -------
    ndarray of int64 of shape (size,)
        Indices of the partitions selected, in increasing order; fewer than `size` where there are
        fewer different partitions that are not degenerate.

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
    S = similarities(members, measure, owner)
    seed = spawn_seeds(seed_sequence(random_state, owner), 1, bits=32)[0]
    quality = quality_of(S)
    distinct = EqualRows.of(members.codes.T).first
    if len(distinct) <= size:
        return candidates[distinct]
    groups = _spectral(S[np.ix_(distinct, distinct)], size, seed)
    best = [
        max(distinct[groups == g], key=lambda u: (round(float(quality[u]), 12), -u))
        for g in np.unique(groups)
    ]
    return candidates[np.sort(np.array(best, dtype=np.int64))]


def moderate_diversity(
    ensemble: Ensemble | ArrayLike | Sequence[Ensemble],
    size: int | None = None,
    *,
    n_candidates: int = 101,
    max_share: float = MAX_SHARE,
    random_state: RandomStateLike = None,
) -> Ints | int:
    """Select the part with the median diversity among many random parts of an ensemble, or the ensemble among several.

    Parameters
    ----------
    ensemble : Ensemble, array-like of shape (n_samples, n_partitions) or list of Ensemble
        Hard partitions. Their weights are ignored. A list: the candidates are its ensembles, as in the paper, which
        generates them with several seeds.
    size : int, default=None
        Number of partitions in a part. None: half of them, rounded up. Not for a list.
    n_candidates : int, default=101
        Number of parts drawn. Not used for a list.
    max_share : float, default=0.7
        Partitions that have more than this share of their objects in one cluster are not selected
        (:func:`conclust.weighting.degenerate_partitions`). 1: they are.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the parts.

    Returns
    -------
    ndarray of int64 of shape (size,)
        Indices of the partitions selected, in increasing order; fewer than `size` where fewer are
        not degenerate. For a list: the index of the ensemble.

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
    The diversity of a part is the mean of 1 - adjusted Rand index over its pairs. The paper finds ensembles of medium
    diversity better than very diverse ones.

    References
    ----------
    S. T. Hadjitodorov, L. I. Kuncheva and L. P. Todorova, "Moderate diversity for better cluster
    ensembles", Information Fusion 7(3), 2006.

    Examples
    --------
    >>> from conclust.weighting import moderate_diversity
    >>> labels = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> moderate_diversity(labels, 2, random_state=0).shape
    (2,)
    """
    owner = "moderate_diversity"
    if isinstance(ensemble, list) and ensemble and all(isinstance(e, Ensemble) for e in ensemble):
        if size is not None:
            refuse(
                "size", owner, "None with a list of ensembles, each a candidate as a whole", size
            )
        some = [_candidates(one, max_share, None, owner)[0] for one in ensemble]
        pairs = [similarities(members, "ari", owner, floor=None) for members in some]
        return _median([_diversity_of(S) for S in pairs])
    members, candidates, size = _candidates(ensemble, max_share, size, owner)
    S = similarities(members, "ari", owner, floor=None)
    m = len(S)
    check_int(n_candidates, "n_candidates", owner)
    generators = spawn_generators(seed_sequence(random_state, owner), n_candidates)
    parts = [np.sort(rng.permutation(m)[:size]) for rng in generators]
    return candidates[parts[_median([_diversity_of(S[np.ix_(part, part)]) for part in parts])]]


def _diversity_of(S: Floats) -> float:
    """Return the mean of 1 - similarity over pairs."""
    m = len(S)
    return float(1.0 - (S.sum() - m) / max(m * (m - 1), 1))


def _median(values: list[float]) -> int:
    """Return the index of the median of values, the lower one of two; the first one if tied up to rounding."""
    order = np.argsort(np.round(values, 12), kind="stable")
    return int(order[(len(values) - 1) // 2])


def resampled_selection(
    ensemble: Ensemble | ArrayLike,
    estimator: Any,
    size: int | None = None,
    *,
    n_resamples: int = 20,
    bootstrap: bool = False,
    measure: Measure = "nmi",
    max_share: float = MAX_SHARE,
    random_state: RandomStateLike = None,
) -> Ints:
    """Select the partitions that agree with consensus partitions of resampled ensembles.

    After Hong et al. [1]_ with ``bootstrap=True``, and Jia et al. [2]_; but no partition judges itself: it is compared with
    the consensus of the resamples without it, where there are any.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        Hard partitions.
    estimator : estimator
        Estimator of the consensus of each resample; clones of it are fitted.
    size : int, default=None
        Number of partitions to select. None: half of them, rounded up.
    n_resamples : int, default=20
        Number of resamples, each with a consensus.
    bootstrap : bool, default=False
        True: as many partitions are drawn for a resample as there are, with replacement. False: half of them, without.
    measure : {"nmi", "ari"}, default="nmi"
        Agreement of two partitions.
    max_share : float, default=0.7
        Partitions that have more than this share of their objects in one cluster are not selected
        (:func:`conclust.weighting.degenerate_partitions`). 1: they are.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the resamples. The estimator has its own random_state.

    Returns
    -------
    ndarray of int64 of shape (size,)
        Indices of the partitions selected, in increasing order; fewer than `size` where fewer are
        not degenerate.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If a parameter is out of its range, or `estimator` has no ``fit_predict``.
    UnsupportedEnsembleError
        If the members are soft.

    Notes
    -----
    A partition's score is its mean agreement. Both papers rank partitions by such scores and
    combine the first ones; they are followed as far as their abstracts describe them. The numbers of resamples and of
    selected partitions are our choice.

    References
    ----------
    .. [1] Y. Hong, S. Kwong, H. Wang and Q. Ren, "Resampling-based selective clustering ensembles",
       Pattern Recognition Letters 30(3), 2009.
    .. [2] J. Jia, X. Xiao, B. Liu and L. Jiao, "Bagging-based spectral clustering ensemble
       selection", Pattern Recognition Letters 32(10), 2011.

    Examples
    --------
    >>> from conclust import EAC
    >>> from conclust.weighting import resampled_selection
    >>> labels = [[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1]]
    >>> resampled_selection(labels, EAC(2), 3, random_state=0)
    array([0, 1, 2])
    """
    owner = "resampled_selection"
    members, candidates, size = _candidates(ensemble, max_share, size, owner)
    m = members.n_partitions
    check_int(n_resamples, "n_resamples", owner)
    check_bool(bootstrap, "bootstrap", owner)
    check_option(measure, "measure", owner, Measure)
    generators = spawn_generators(seed_sequence(random_state, owner), n_resamples)
    count = m if bootstrap else (m + 1) // 2
    agreement = np.empty((n_resamples, m))
    apart = np.empty((n_resamples, m), dtype=np.bool_)
    for row, rng in enumerate(generators):
        drawn = rng.integers(m, size=count) if bootstrap else rng.permutation(m)[:count]
        part = members.subset(partitions=np.sort(drawn))
        agreement[row] = _with_consensus(members, part, estimator, measure, owner)
        apart[row] = ~np.isin(np.arange(m), drawn)
    counted: Bools = apart | ~apart.any(axis=0)
    score = (agreement * counted).sum(axis=0) / counted.sum(axis=0)
    best = np.argsort(-np.round(score, 12), kind="stable")[:size]
    return candidates[np.sort(best)]


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
    members = as_members(ensemble)
    m = members.n_partitions
    wanted = check_int(size, "size", owner, high=m, none=True)
    degenerate = degenerate_partitions(members.reweighted(None), max_share)
    candidates = np.flatnonzero(~degenerate)
    if len(candidates) < m:
        members = members.subset(partitions=candidates)
    return members, candidates, min((m + 1) // 2 if wanted is None else wanted, len(candidates))


def _with_consensus(
    members: Ensemble, part: Ensemble, estimator: Any, measure: Measure, owner: str
) -> Floats:
    """Return the agreement of all members with the consensus of a part of them."""
    if not (hasattr(estimator, "fit_predict") and hasattr(estimator, "get_params")):
        refuse("estimator", owner, "an estimator with fit_predict", estimator)
    consensus = Ensemble(clone(estimator).fit_predict(part)[:, None])
    plain = members.reweighted(None)
    S = partition_similarities(Ensemble.concat([plain, consensus]), measure=measure)
    return np.nan_to_num(S[:-1, -1], nan=0.0)


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
