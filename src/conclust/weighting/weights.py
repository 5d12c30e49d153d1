"""Weights of partitions: by agreement with the others, certainty, or validity in the data.

Before them the partitions side by side: their similarities, and those that hold nearly all objects in one cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import moderate, number_array, refuse_gaps
from conclust._arrays.numbering import is_blocked
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_bool, check_int, check_option, check_real, refuse, shown
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.derived import labels_of
from conclust.exceptions import InputError, UnsupportedEnsembleError
from conclust.measures.agreement import Measure, partition_similarities
from conclust.measures.comparison import Average
from conclust.similarity import cluster_certainty
from conclust.similarity.certainty import mean_certainty

if TYPE_CHECKING:
    from conclust.blocks.store import LabelStore

MAX_SHARE = 0.7
# If more than this share of the partitions is degenerate, most objects really belong together.
_MOST = 0.75


def as_members(ensemble: Ensemble | ArrayLike) -> Ensemble:
    """Return the ensemble, made from label columns if necessary.

    Raises
    ------
    UnsupportedEnsembleError
        If the labels are read in blocks.
    """
    if hasattr(ensemble, "in_blocks"):
        raise UnsupportedEnsembleError(
            "This needs all labels at once: LabelStore(...).ensemble() reads them into memory. For labels in blocks "
            "there are weights by agreement or certainty, and degenerate partitions."
        )
    return as_ensemble(ensemble)


def as_sums(ensemble: Ensemble | LabelStore | ArrayLike) -> Ensemble:
    """Return the ensemble, or for labels in blocks an object with all sums over objects."""
    if is_blocked(ensemble):
        from conclust.blocks.store import stored

        return as_ensemble(stored(ensemble, "unobserved").opened())
    return as_ensemble(ensemble)


def similarities(
    ensemble: Ensemble | LabelStore | ArrayLike,
    measure: Measure,
    owner: str,
    *,
    average: Average = "geometric",
) -> Floats:
    """Compare all members; 0 for members without common objects, or less alike than by chance."""
    check_option(measure, "measure", owner, Measure)
    S = partition_similarities(as_sums(ensemble), measure=measure, average=average)
    return np.maximum(np.nan_to_num(S, nan=0.0), 0.0)


def quality_of(S: Floats) -> Floats:
    """Return the mean similarity of each partition with the others; 1 for a single partition."""
    if len(S) == 1:
        return np.ones(1)
    return np.asarray((S.sum(axis=1) - np.diag(S)) / (len(S) - 1))


def largest_shares(ensemble: Ensemble) -> Floats:
    """Return the share of each partition's observed objects in its largest cluster."""
    largest = np.zeros(ensemble.n_partitions)
    np.maximum.at(largest, ensemble.column_partitions, ensemble.cluster_sizes)
    return np.asarray(largest / ensemble.observed_counts)


def degenerate_partitions(
    ensemble: Ensemble | LabelStore | ArrayLike, max_share: float = MAX_SHARE
) -> Bools:
    """Return which partitions have nearly all objects in one cluster.

    Single and centroid linkage, for instance, cut off a few outliers and leave the rest together.
    Such a partition separates little, but a method that explains pairs (PCC, WeightedPCC) takes it as evidence that all objects
    belong together, and a selection by diversity takes it as the most diverse one.

    Parameters
    ----------
    ensemble : Ensemble, LabelStore or array-like of shape (n_samples, n_partitions)
        Partitions, hard or soft, or labels in blocks (:class:`conclust.blocks.LabelStore`).
    max_share : float, default=0.7
        Share of the observed objects in one cluster above which a partition is degenerate, from 0 to 1. 1: no partition is.

    Returns
    -------
    ndarray of bool of shape (n_partitions,)
        Mask of the degenerate partitions. No partition is marked if more than three quarters of them (by weight) would be,
        because then most objects do belong together.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `max_share` is not from 0 to 1.

    Examples
    --------
    >>> from conclust.weighting import degenerate_partitions
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 2, 1]]
    >>> degenerate_partitions(labels)
    array([False, False,  True])
    """
    check_real(max_share, "max_share", "degenerate_partitions", high=1.0)
    members = as_sums(ensemble)
    degenerate: Bools = largest_shares(members) > max_share
    weights = members.partition_weights / members.partition_weights.max()
    if weights[degenerate].sum() > _MOST * weights.sum():
        return np.zeros_like(degenerate)
    return degenerate


_INDICES = ("silhouette", "calinski_harabasz", "davies_bouldin")


def agreement_weights(
    ensemble: Ensemble | LabelStore | ArrayLike,
    *,
    measure: Measure = "nmi",
    average: Average = "geometric",
    scale: bool = False,
) -> Floats:
    """Weight each partition by its agreement with the others; no data needed.

    Parameters
    ----------
    ensemble : Ensemble, LabelStore or array-like of shape (n_samples, n_partitions)
        Hard partitions, also labels in blocks (:class:`conclust.blocks.LabelStore`). Their weights are not used.
    measure : {"nmi", "ari"}, default="nmi"
        Agreement of two partitions, see :func:`conclust.metrics.partition_similarities`. Negative
        adjusted Rand indices count as 0.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        For "nmi": the mean of the entropies used for normalization. "max" is the crowd agreement of Huang, Lai and Wang
        (Neurocomputing 170, 2015), which :class:`conclust.WEAC` uses as weights.
    scale : bool, default=False
        Whether the least agreeing partition gets 0 and the most agreeing one 1. False: the mean
        agreement divided by the largest one.

    Returns
    -------
    ndarray of shape (n_partitions,)
        Weights from 0 to 1; all 1 if no partition agrees more than another.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If a parameter is not one of these.
    UnsupportedEnsembleError
        If the members are soft.

    Examples
    --------
    >>> from conclust.weighting import agreement_weights
    >>> labels = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> agreement_weights(labels)
    array([1., 1., 0.])
    """
    check_option(average, "average", "agreement_weights", Average)
    check_bool(scale, "scale", "agreement_weights")
    quality = quality_of(similarities(ensemble, measure, "agreement_weights", average=average))
    if scale:
        return _unit(quality)
    top = float(quality.max())
    return quality / top if top > 0 else np.ones_like(quality)


def crowd_weights(ensemble: Ensemble, beta: float) -> Floats:
    """Return the crowd agreement of each partition to the power beta, times its weight (n_partitions,)."""
    if ensemble.weights is None:
        return np.asarray(agreement_weights(ensemble, average="max") ** beta)
    # Partitions without weight are not part of the crowd.
    weights = np.zeros(ensemble.n_partitions)
    crowd = np.flatnonzero(ensemble.weights > 0)
    some = agreement_weights(ensemble.subset(partitions=crowd), average="max") ** beta
    weights[crowd] = some * ensemble.weights[crowd]
    return weights


def certainty_weights(ensemble: Ensemble | LabelStore | ArrayLike, theta: float = 0.4) -> Floats:
    """Weight each partition by the certainty of its clusters; no data needed.

    Parameters
    ----------
    ensemble : Ensemble, LabelStore or array-like of shape (n_samples, n_partitions)
        Partitions, hard or soft, or labels in blocks. Their weights count in the certainty of clusters; multiply the result by
        them if they should also count in the consensus.
    theta : float, default=0.4
        Above 0; see :func:`conclust.similarity.cluster_certainty`.

    Returns
    -------
    ndarray of shape (n_partitions,)
        The mean certainty of the clusters (ECI) over the objects that the partition observed, above
        0 and up to 1. Noise is a cluster of one object, which is certain.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `theta` is not above 0.

    Notes
    -----
    :class:`conclust.AutoConsensus` weights partitions by the square: on ten published pools of k-means partitions, this raises
    the mean NMI of LWEA from .60 to .62, of EAC from .56 to .61, and of HBGF from .57 to .61.

    Partitions that merge groups separated by the others get small weights: nearly constant ones, and random ones with few
    clusters. Random ones with very many clusters do not: small clusters are seldom split, and a cluster of a single object is
    certain.

    References
    ----------
    D. Huang, C.-D. Wang and J.-H. Lai, "Locally weighted ensemble clustering", IEEE Transactions on
    Cybernetics 48(5), 2018, for the certainty of clusters.

    Examples
    --------
    >>> from conclust.weighting import certainty_weights
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> certainty_weights(labels).round(4)
    array([0.7173, 0.7173, 0.4123])
    """
    check_real(theta, "theta", "certainty_weights", closed="neither")
    members = as_sums(ensemble)
    return mean_certainty(members, cluster_certainty(members, theta))


def validity_weights(
    ensemble: Ensemble | ArrayLike,
    X: ArrayLike,
    *,
    indices: str | Sequence[str] = _INDICES,
    max_samples: int = 2000,
    random_state: RandomStateLike = None,
) -> Floats:
    """Weight each partition by internal validity indices of its clusters in the data (WEACS).

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        Partitions; for soft ones the most probable clusters. Their weights are ignored.
    X : array-like of shape (n_samples, n_features)
        Data of the objects.
    indices : str or sequence of {"silhouette", "calinski_harabasz", "davies_bouldin"}, default=all three
        Several are combined: each is scaled from 0 for the worst partition to 1 for the best (Davies-Bouldin
        reversed, as low is good), and their mean is the weight [1]_.
    max_samples : int, default=2000
        Number of objects, drawn once for all partitions, for which the silhouette is computed; the other indices use all
        objects.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws these objects.

    Returns
    -------
    ndarray of shape (n_partitions,)
        Weights from 0 to 1; all 1 if no partition is better than another. Objects that are missing or noise
        in a partition are not used for its indices; a partition of one cluster or of single objects, for
        which no index is defined, counts as the worst.

    Raises
    ------
    InputError
        If X does not have one row per object, or is not finite.
    ParameterError
        If an index is unknown.

    References
    ----------
    .. [1] F. J. F. Duarte, A. L. N. Fred, A. Lourenço and M. F. C. Rodrigues, "Weighting cluster
       ensembles in evidence accumulation clustering", EPIA 2005.

    Examples
    --------
    >>> from conclust.weighting import validity_weights
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> validity_weights([[0, 0], [0, 1], [1, 0], [1, 1]], X)
    array([1., 0.])
    """
    owner = "validity_weights"
    members = as_members(ensemble)
    several = list(indices) if isinstance(indices, Sequence | set) else []
    names = [indices] if isinstance(indices, str) else several
    if not names:
        refuse("indices", owner, f"one or more of {set(_INDICES)}", indices)
    for name in names:
        check_option(name, "indices", owner, _INDICES)
    check_int(max_samples, "max_samples", owner, low=2)
    points, _ = moderate(points_of(members, X))
    rng = spawn_generators(seed_sequence(random_state, owner), 1)[0]
    drawn = np.sort(rng.permutation(len(points))[:max_samples])
    values = np.full((len(names), members.n_partitions), np.nan)
    with one_library_thread():
        for u in range(members.n_partitions):
            codes = labels_of(members.codes[:, u])
            for row, name in enumerate(names):
                rows = drawn if name == "silhouette" else np.arange(len(points))
                rows = rows[codes[rows] >= 0]
                values[row, u] = _index_of(name, points[rows], codes[rows])
    return np.asarray(np.mean([_unit(row) for row in values], axis=0))


def _unit(values: Floats) -> Floats:
    """Scale values from 0 (worst) to 1 (best); NaN is worst, and equal values are 1."""
    finite = np.isfinite(values)
    if not finite.any():
        return np.ones_like(values)
    low, high = values[finite].min(), values[finite].max()
    spread = high - low
    if spread <= 1e-12 * max(abs(low), abs(high)):
        return finite.astype(np.float64)
    return np.where(finite, (np.where(finite, values, low) - low) / spread, 0.0)


def points_of(members: Ensemble, X: ArrayLike) -> Floats:
    """Return the points of an ensemble; refuse data that do not fit it."""
    n = members.n_samples
    points = number_array(X, "'X'")
    if points.ndim != 2 or len(points) != n or points.shape[1] == 0:
        raise InputError(
            f"X must be of shape ({n}, n_features), with one row per object of the ensemble. Got shape "
            f"{points.shape} instead."
        )
    refuse_gaps(points, X)
    return points


def _index_of(name: str, points: Floats, codes: Ints) -> float:
    """Return a validity index, with higher values for better partitions; NaN if it is undefined."""
    _, codes = np.unique(codes, return_inverse=True)
    if not 1 < (int(codes.max(initial=-1)) + 1) < len(codes):
        return float("nan")
    # imported here, as a consensus does not need it
    from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score

    if name == "silhouette":
        return float(silhouette_score(points, codes))
    if name == "calinski_harabasz":
        return float(calinski_harabasz_score(points, codes))
    return -float(davies_bouldin_score(points, codes))


# Number of bins in which the values of an index are counted for its entropy.
_BINS = 10


def relevance_weights(values: ArrayLike, *, weights: ArrayLike | None = None) -> Floats:
    """Weight each partition by the typicality of its validity indices.

    With the values of each index brought to the range from 0 to 1 over the partitions, the weight
    of partition u is the sum over indices j of H_j (1 - abs(I_j(u) - mean of I_j)), where the
    entropy H_j of the values measures how well the index distinguishes partitions [1]_.

    Parameters
    ----------
    values : array-like of shape (n_indices, n_partitions) or (n_partitions,)
        Values of the validity indices, of any kind: internal ones of the data, or agreements.
    weights : array-like of shape (n_partitions,), default=None
        Weight of each partition in means and entropies. Partitions of weight 0 do not count,
        and get 0. None: all equal.

    Returns
    -------
    ndarray of shape (n_partitions,)
        Weights from 0 to 1, the largest 1; all 1 if no index distinguishes any partitions.

    Raises
    ------
    InputError
        If the values are not finite numbers in such a shape, or the weights not non-negative ones.

    Notes
    -----
    The entropy is taken over ten bins of equal width, by the shares of the partitions in them.

    References
    ----------
    .. [1] S. Vega-Pons, J. Correa-Morris and J. Ruiz-Shulcloper, "Weighted partition consensus via
       kernels", Pattern Recognition 43(8), 2010.

    Examples
    --------
    >>> from conclust.weighting import relevance_weights
    >>> relevance_weights([0.6, 0.7, 0.8, 0.1]).round(2)
    array([1.  , 0.85, 0.69, 0.38])
    """
    table = index_table(values, "values")
    m = table.shape[1]
    share = np.ones(m) if weights is None else number_array(weights, "'weights'")
    if share.shape != (m,) or not (share >= 0).all() or not 0 < share.sum() < np.inf:
        raise InputError(
            f"'weights' must be {m} non-negative numbers, not all of them 0. Got {shown(weights)}."
        )
    share = share / share.sum()
    counting = share > 0
    relevance = np.zeros(m)
    for row in table:
        low, high = row[counting].min(), row[counting].max()
        if high - low <= 1e-12 * max(abs(low), abs(high)):
            continue
        index = (row[counting] - low) / (high - low)
        bins = np.minimum((index * _BINS).astype(np.int64), _BINS - 1)
        shares = np.bincount(bins, share[counting])
        shares = shares[shares > 0]
        entropy = -float(shares @ np.log(shares))
        relevance[counting] += entropy * (1.0 - np.abs(index - share[counting] @ index))
    if relevance.max() <= 0.0:
        return np.asarray(counting, dtype=np.float64)
    return np.asarray(relevance / relevance.max())


def index_table(values: ArrayLike, name: str) -> Floats:
    """Return values of validity indices as a table with a row for each index and a column for each partition."""
    table = np.atleast_2d(number_array(values, repr(name)))
    if table.ndim != 2 or table.shape[1] == 0 or not np.isfinite(table).all():
        raise InputError(
            f"{name!r} must hold finite numbers, with one row per index and one column per "
            f"partition. Got an array of shape {table.shape}."
        )
    return table
