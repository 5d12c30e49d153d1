"""The test of all borders of a clustering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import check_row_names, spread_rounded_columns
from conclust._progress import stage, tracked
from conclust._random import RandomStateLike, seed_sequence, spawn_generators, spawn_sequences
from conclust._threads import one_library_thread, side_by_side, thread_count
from conclust._types import Floats, Ints
from conclust._validation import check_int, check_real, refuse
from conclust.borders import border_geometry, leading_components
from conclust.confidence.borders.parts import (
    PART,
    Clustering,
    Part,
    PartTests,
    by_estimator,
    by_kmeans,
    in_own_scale,
    matched,
    split_of,
)
from conclust.confidence.borders.result import (
    SUREST,
    BorderTests,
    Merge,
    combined,
    gabriel_neighbours,
    holm,
)
from conclust.consensus.base import ConsensusClusterer
from conclust.exceptions import InputError
from conclust.measures.contingency import read_labels

_OWNER = "border_tests"


def border_tests(
    X: ArrayLike,
    labels: Any,
    *,
    clusterer: Any = None,
    n_splits: int = 15,
    alpha: float = 0.05,
    max_samples: int = 5000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> BorderTests:
    """Test whether there is a border between each two neighbouring clusters.

    Clusters can be cut from anything: k-means halves a single Gaussian, and any test that uses the same points again finds that
    the halves differ. Here a random third A of the points is clustered separately. For any two of its clusters, A determines a
    line through their centres and a convex region around it that excludes the other clusters; the points of the other two
    thirds that lie in the region are projected onto the line, and the dip test gives the p-value of the hypothesis that they
    have one mode. Because these points were not used before, the p-value is valid for clusters from any method.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points. If there are more than 50 features, the first 50 principal components of A are used. With bare labels the
        columns are used as they are: scale columns of different units as for the clustering, or pass the fitted model.
    labels : array-like of shape (n_samples,) or fitted estimator
        The clusters; negative labels and NaN belong to none. A fitted clusterer of points, such as
        :class:`conclust.ConsensusClustering`, has them as ``labels_`` and also clusters A. The points are then scaled as for
        its members. Further partitions that it was fitted with are not used in the test.
    clusterer : estimator, default=None
        Clusterer of A: an estimator with ``fit_predict``, or ``fit`` and ``predict``; it gets the number of clusters if it has
        a parameter for it. None: the estimator given as `labels`; for bare labels, or a consensus of labels, k-means. Pass the
        estimator that made the labels: if the clusters of A differ from them, fewer borders are found.
    n_splits : int, default=15
        Number of random splits into A and the others.
    alpha : float, default=0.05
        Default level of the result, at least 0.001.
    max_samples : int, default=5000
        Maximum number of points in A. Up to ten times as many of the other points, drawn at random, are projected.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the splits, and seeds the clusterings of A.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    BorderTests
        P-values, the borders that hold at a level, and the clusters that remain after merging.

    Raises
    ------
    InputError
        If X is not a row of finite numbers for each label, or A has fewer points than there are clusters.
    ParameterError
        If a parameter is out of its range, or `clusterer` does not cluster points.

    Notes
    -----
    The clusters of A are matched with those of the whole by the points that they share (Hungarian method);
    a cluster without a match has p-value 1 in this split. Points are whitened by the pooled covariance of A's clusters (shrunk
    as in Ledoit and Wolf 2004). For each other cluster c of A, a half-space bounds the region: its plane passes midway between
    the centre of c and the nearest point of the segment between the two centres. All points of the region count, whatever their
    label. If their density is log-concave (one
    cluster: Gaussian, uniform on a convex body, exponential), so is the density of their projections
    (Prekopa 1973), and these have one mode. The p-value is twice the median over the splits, at most 1, which is valid under
    any dependence [2]_; p-values of neighbouring clusters are adjusted by Holm's method.

    The *valley test* needs no simulation: A's points choose three windows of equal width at a peak,
    a valley and a peak; with one mode, the valley has at least the probability of the smaller peak, so the larger of two
    binomial tails is a p-value.

    Limits: it misses borders in small sets (of three unit Gaussians 4 standard deviations apart, 70 % at 300
    points, all at 600; 3.5 apart, half at 600), and clusters around each other: a ring around a ball has the
    same centre. False borders: a cluster that is not convex, such as a crescent or a ring that was cut into arcs, does not have
    a log-concave density. Nor do rounded values: columns with few distinct values (at most the square root of the number of
    points), such as answers from 1 to 5, are spread over the intervals that they were rounded from; add noise to other rounded
    columns yourself.

    Costs n_splits clusterings of A, and O(n d K) for each split: seconds for any number of points.

    References
    ----------
    .. [1] J. A. Hartigan, P. M. Hartigan: The dip test of unimodality. Annals of Statistics 13, 1985.
    .. [2] N. Meinshausen, L. Meier, P. Buehlmann: p-Values for high-dimensional regression. JASA 104, 2009.
    .. [3] S. Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of
       Statistics 6, 1979.

    Examples
    --------
    Two clusters 6 standard deviations apart, of which the second one was cut in two:

    >>> import numpy as np
    >>> from conclust.confidence import border_tests
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2))
    >>> X[:200, 0] -= 6
    >>> labels = np.where(X[:, 0] < -3, 0, np.where(X[:, 1] < 0, 1, 2))
    >>> tests = border_tests(X, labels, random_state=0)
    >>> tests.summary()
    '2 of 3 borders hold (p < .05, Holm)'
    >>> np.bincount(tests.merged())
    array([201, 399])
    """
    check_int(n_splits, "n_splits", _OWNER)
    check_real(alpha, "alpha", _OWNER, low=SUREST, high=1.0)
    check_int(max_samples, "max_samples", _OWNER, low=4)
    threads = thread_count(n_jobs, _OWNER)
    estimator = clusterer
    if hasattr(labels, "fit"):
        check_is_fitted(labels)
        if estimator is None and not isinstance(labels, ConsensusClusterer):
            estimator = labels
        labels = labels.labels_
    if estimator is not None and not (
        hasattr(estimator, "get_params")
        and (hasattr(estimator, "fit_predict") or hasattr(estimator, "predict"))
    ):
        refuse("clusterer", _OWNER, "None or an estimator with fit_predict", clusterer)
    if isinstance(estimator, ConsensusClusterer):
        refuse(
            "clusterer",
            _OWNER,
            "a clusterer of points",
            estimator,
            "A consensus of labels clusters points as ConsensusClustering(consensus=...).",
        )
    check_row_names({"X": X, "labels": labels}, named_only=True)
    codes, names = read_labels(labels, "labels")
    points, estimator = in_own_scale(estimator, X, len(codes))
    K = int(codes.max(initial=-1)) + 1
    if K == 0:
        raise InputError("border_tests needs labels with a cluster. Got none.")
    size = min(max_samples, round(PART * len(codes)))
    if K > 1 and size < K:
        raise InputError(
            f"border_tests clusters a third of the points into {K} clusters. Got {len(codes)} points."
        )
    everything = np.ones(len(points), dtype=np.bool_)
    geometry = border_geometry(leading_components(points), everything, codes, K)
    neighbours = gabriel_neighbours(geometry.gram)
    pairs = np.argwhere(np.triu(neighbours)).astype(np.int64)
    agreement, p_values, valleys = np.zeros(0), np.zeros(0), np.zeros(0)
    counts = np.zeros((0, 3))
    joined: tuple[Merge, ...] = ()
    if len(pairs):
        clustering = by_kmeans(K, threads) if estimator is None else by_estimator(estimator, K)
        splitting, *seeds = spawn_sequences(seed_sequence(random_state, _OWNER), 3)
        parts, agreement = parts_of(points, codes, K, size, clustering, n_splits, splitting, seeds)
        stage("borders")

        def test(pairs: Ints, merged: Ints) -> list[PartTests]:
            """Test borders in all splits in parallel."""
            with one_library_thread(), side_by_side(threads) as run:
                return list(run(lambda part: part.tested(pairs, merged), parts))

        tests = test(pairs, np.arange(K))
        p_values = combined(np.array([part.dip for part in tests]))
        valleys = combined(np.array([part.valley for part in tests]))
        counts = np.mean([part.counts for part in tests], axis=0)
        joined = merges(test, pairs, p_values, K, alpha)

    def square(values: Floats, backward: Floats) -> Floats:
        """Return a value of each border as a matrix of clusters by clusters; NaN where two clusters have no border."""
        table = np.full((K, K, *values.shape[1:]), np.nan)
        a, b = pairs.T
        table[a, b], table[b, a] = values, backward
        return table

    adjusted = holm(p_values)
    return BorderTests(
        square(p_values, p_values),
        square(adjusted, adjusted),
        square(valleys, valleys),
        neighbours,
        square(counts, counts[:, ::-1]),
        agreement,
        codes,
        names[:K],
        joined,
        alpha,
    )


def parts_of(
    points: Floats,
    labels: Ints,
    n_clusters: int,
    size: int,
    clustering: Clustering,
    n_splits: int,
    splitting: np.random.SeedSequence,
    seeds: list[np.random.SeedSequence],
) -> tuple[list[Part], Floats]:
    """Draw the splits, and cluster the first part of each, of `size` points.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        All points.
    labels : ndarray of int of shape (n_samples,)
        Their clusters, 0 to n_clusters - 1 or negative.
    n_clusters, size : int
        Clusters of the whole, and points of the first part.
    clustering : callable
        Clusters the first part.
    n_splits : int
        Number of splits.
    splitting : SeedSequence
        Draws the splits.
    seeds : list of two SeedSequence
        Seed the clusterings, and the spread of rounded columns.
    """
    spread = spread_rounded_columns(points, np.random.default_rng(seeds[1]))
    draws = zip(
        spawn_generators(splitting, n_splits), spawn_sequences(seeds[0], n_splits), strict=True
    )
    parts, agreement = [], np.empty(n_splits)
    for s, (rng, seed) in enumerate(tracked(draws, "parts", n_splits)):
        drawn, first = split_of(rng, len(points), size)
        part, agreement[s] = matched(
            spread[drawn], labels[drawn], n_clusters, first[drawn], clustering(points[first], seed)
        )
        parts.append(part)
    return parts, agreement


def merges(
    test: Callable[[Ints, Ints], list[PartTests]],
    pairs: Ints,
    p_values: Floats,
    n_clusters: int,
    alpha: float,
) -> tuple[Merge, ...]:
    """Merge the clusters with the largest p-value repeatedly until all borders hold.

    Parameters
    ----------
    test : callable
        Tests borders of clusters, some of them merged, in all splits.
    pairs : ndarray of int of shape (m, 2)
        The borders.
    p_values : ndarray of shape (m,)
        Their p-values.
    n_clusters : int
        Number of clusters.
    alpha : float
        The adjusted p-value up to which a border holds.
    """
    merged = np.arange(n_clusters)
    left = {(int(p), int(q)): float(v) for (p, q), v in zip(pairs, p_values, strict=True)}
    steps: list[Merge] = []
    while left:
        largest = float(holm(np.array(list(left.values()))).max())
        if largest <= alpha:
            break
        (a, b), p = max(left.items(), key=lambda item: (item[1], (-item[0][0], -item[0][1])))
        steps.append(Merge(a, b, p, largest))
        merged[merged == b] = a
        others = {x for pair in left if b in pair or a in pair for x in pair} - {a, b}
        left = {pair: v for pair, v in left.items() if a not in pair and b not in pair}
        if others:
            again = np.array([(min(a, c), max(a, c)) for c in sorted(others)], dtype=np.int64)
            tests = combined(np.array([part.dip for part in test(again, merged)]))
            left |= {(int(p), int(q)): float(v) for (p, q), v in zip(again, tests, strict=True)}
    return tuple(steps)
