"""Weights of partitions: by agreement with the others, certainty, or validity in the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import number_array
from conclust._arrays.points import refuse_gaps
from conclust._arrays.ratios import ratio
from conclust._arrays.scale import moderate
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust._validation import check_bool, check_int, check_option, check_real, refuse
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import Derived, labels_of
from conclust.exceptions import InputError
from conclust.measures.agreement import Measure
from conclust.measures.comparison import Average
from conclust.similarity import cluster_certainty
from conclust.weighting.similarity import as_members, as_sums, quality_of, similarities

if TYPE_CHECKING:
    from conclust.blocks.store import LabelStore

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
        Hard partitions, also labels in blocks (:class:`conclust.blocks.LabelStore`). Their weights play
        no part.
    measure : {"nmi", "ari"}, default="nmi"
        Agreement of two partitions, see :func:`conclust.metrics.partition_similarities`. Negative
        adjusted Rand indices count as 0.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        For "nmi": the mean of the entropies that it is normalized by. "max" is the crowd agreement of
        Huang, Lai and Wang (Neurocomputing 170, 2015), by which :class:`conclust.WEAC` weighs.
    scale : bool, default=False
        Whether the least agreeing partition gets 0 and the most agreeing one 1. False: the mean
        agreement divided by the largest one.

    Returns
    -------
    ndarray of shape (n_partitions,)
        Weights from 0 to 1; all 1 where no partition agrees more than another.

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
        Partitions, hard or soft, or labels in blocks. Their weights count in the certainty of clusters; multiply the result
        by them where they should count in the consensus too.
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
    Their square is what :class:`conclust.AutoConsensus` weighs partitions by: on ten published pools of
    k-means partitions the mean NMI of LWEA rises from .60 to .62 by it, of EAC from .56 to .61, of HBGF
    from .57 to .61.

    Partitions that merge groups separated by the others get small weights: near-constant ones, and
    random ones of few clusters. Random ones of very many clusters do not: small clusters are seldom
    split, and a cluster of a single object is certain.

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
        Objects, drawn once for all partitions, from which the silhouette is computed; the others
        take all.
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
