"""Recovery of clusters when the points are perturbed."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from conclust._arrays.ratios import ratio
from conclust._progress import tracked
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._types import Floats
from conclust._validation import check_int, check_option, check_real, refuse
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import labels_of
from conclust.exceptions import InputError, UnsupportedEnsembleError
from conclust.weighting.weights import as_members, points_of

StabilityMeasure: TypeAlias = Literal["together", "jaccard"]

_OWNER = "perturbed_stability"


def perturbed_stability(
    ensemble: Ensemble | ArrayLike,
    X: ArrayLike,
    generator: Any,
    *,
    measure: StabilityMeasure = "together",
    n_resamples: int = 20,
    fraction: float = 0.8,
    random_state: RandomStateLike = None,
) -> Floats:
    """Measure how well each cluster is recovered by the same clusterer on parts of the points.

    The stability that Multi-EAC takes from perturbed data: `generator` clusters parts of the points that
    are drawn at random, and each cluster of partition u is compared with the clusters of the new partitions
    u. Give the result to :class:`conclust.MultiEAC` as ``cluster_weights``, or 1 where it is above a
    threshold and 0 elsewhere.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        Ensemble that the generator made from `X`: hard partitions. Their weights are not used.
    X : array-like of shape (n_samples, n_features)
        The points.
    generator : transformer
        With ``fit_transform``, from points to a label matrix, such as :class:`conclust.EnsembleGenerator`;
        clones of it are fitted. Member u must be the same clusterer each time: set ``n_clusters``, as its
        default depends on the number of points, and pass an int as ``random_state`` if the generator draws
        one of several.
    measure : {"together", "jaccard"}, default="together"
        "together": the share of the pairs of a cluster's objects that are together again, over all
        resamples: evidence accumulated within the cluster. "jaccard": the mean over the resamples of the largest
        Jaccard index with a cluster there.
    n_resamples : int, default=20
        Number of parts to cluster.
    fraction : float, default=0.8
        The size of a part, as a share of the points, in (0, 1]; rounded up, at least 2.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the parts, without repetition. The generator has its own random_state.

    Returns
    -------
    ndarray of shape (n_clusters_of_all_partitions,)
        In [0, 1], in the order of ``Ensemble.indicator``. 1 if no resample has objects of the cluster, or
        ("together") two of them.

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or `generator` is not a generator or leaves its ``n_clusters`` open.
    InputError
        If `X` is not finite, or has another number of rows than the ensemble, or the generator makes another
        number of partitions.
    UnsupportedEnsembleError
        If the members are soft.

    Notes
    -----
    Objects that either partition did not observe are left out of the comparison; noise is apart from all. By
    "together" small clusters are stable even if they are absorbed whole by larger ones; by "jaccard" they are not.

    References
    ----------
    A. L. N. Fred and A. K. Jain, "Learning pairwise similarity for data clustering", ICPR 2006: the idea; the
    measures are our choice. "jaccard": C. Hennig, "Cluster-wise assessment of cluster stability", Computational
    Statistics and Data Analysis 52, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import EnsembleGenerator, MultiEAC
    >>> from conclust.weighting import perturbed_stability
    >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 10, axis=0)
    >>> X += np.random.default_rng(0).normal(size=X.shape)
    >>> generator = EnsembleGenerator([("kmeans", [3, 3, 8]), ("single", [3])], random_state=0)
    >>> labels = generator.fit_transform(X)
    >>> stability = perturbed_stability(labels, X, generator, random_state=0)
    >>> model = MultiEAC(cluster_weights=(stability > 0.9).astype(float)).fit(labels)
    >>> model.n_clusters_
    3
    """
    check_option(measure, "measure", _OWNER, StabilityMeasure)
    check_int(n_resamples, "n_resamples", _OWNER)
    check_real(fraction, "fraction", _OWNER, high=1.0, closed="right")
    _check_generator(generator)
    members = as_members(ensemble)
    if members.is_soft:
        raise UnsupportedEnsembleError(
            f"{_OWNER} compares hard partitions. Got an ensemble of soft memberships."
        )
    points, n = points_of(members, X), members.n_samples
    count = min(n, max(2, math.ceil(fraction * n - 1e-9)))
    reached, possible = np.zeros(int(members.offsets[-1])), np.zeros(int(members.offsets[-1]))
    generators = spawn_generators(seed_sequence(random_state, _OWNER), n_resamples)
    for rng in tracked(generators, "resamples"):
        drawn = np.sort(rng.permutation(n)[:count])
        again = Ensemble(clone(generator).fit_transform(points[drawn]))
        if again.n_partitions != members.n_partitions:
            raise InputError(
                f"The generator of {_OWNER} must make the {members.n_partitions} partitions of the ensemble. "
                f"Got {again.n_partitions} of {count} points instead: give it its n_clusters."
            )
        _compare(members.part(drawn), again, measure, reached, possible)
    return ratio(reached, possible, 1.0)


def _check_generator(generator: Any) -> None:
    if not (hasattr(generator, "fit_transform") and hasattr(generator, "get_params")):
        refuse("generator", _OWNER, "a transformer with fit_transform", generator)
    params = generator.get_params(deep=False)
    method = params.get("method")
    named = isinstance(method, str) or (
        isinstance(method, list | tuple) and all(isinstance(one, str) for one in method)
    )
    if named and params.get("n_clusters", 1) is None:
        refuse(
            "generator",
            _OWNER,
            "a generator with n_clusters",
            generator,
            "Its default depends on the number of points, and members would not correspond.",
        )


def _compare(
    before: Ensemble, after: Ensemble, measure: StabilityMeasure, reached: Floats, possible: Floats
) -> None:
    """Add the recovery of the clusters of each partition by the same partition of `after`."""
    both = before.present & after.present
    for u, (first, end) in enumerate(zip(before.offsets[:-1], before.offsets[1:], strict=True)):
        codes, other = (labels_of(labels.codes[both[:, u], u]) for labels in (before, after))
        rows, columns = int(end - first) + 1, int(after.cluster_counts[u]) + 1
        # Noise is the last row and column.
        cells = np.where(codes < 0, rows - 1, codes) * columns + np.where(
            other < 0, columns - 1, other
        )
        table = np.bincount(cells, minlength=rows * columns).reshape(rows, columns)
        sizes, others = table.sum(axis=1)[:-1], table.sum(axis=0)[:-1]
        shared = table[:-1, :-1].astype(np.float64)
        if measure == "together":
            reached[first:end] += (shared * (shared - 1)).sum(axis=1) / 2
            possible[first:end] += sizes * (sizes - 1) / 2
            continue
        indices = ratio(shared, sizes[:, None] + others - shared)
        reached[first:end] += indices.max(axis=1, initial=0.0)
        possible[first:end] += sizes > 0
