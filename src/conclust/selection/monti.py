"""consensus_clustering: resampling as Monti et al. have it, without a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from conclust._random import RandomStateLike, repeating, seed_sequence, spawn_sequences
from conclust._threads import thread_count
from conclust._validation import check_int, check_real

if TYPE_CHECKING:
    from conclust.selection.selection import Selection

_OWNER = "consensus_clustering"


def consensus_clustering(
    X: ArrayLike,
    k: int | Sequence[int] | None = None,
    *,
    clusterer: Any = None,
    n_resamples: int = 100,
    proportion: float = 0.8,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Selection:
    """Cluster resamples of points for each number of clusters, and cut the trees of their consensus matrices.

    This is the consensus clustering of Monti et al. [1]_, as in ConsensusClusterPlus [2]_ and many Python classes: unscaled
    points, any clusterer, no test. :func:`choose` compares the same quantities with data without clusters.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points: at least two, finite.
    k : int, range or list of int, default=None
        The numbers of clusters to try, from 2 on. None: 2 to 10, limited by the number of objects in a resample.
    clusterer : clusterer or "kmeans", default=None
        A scikit-learn clusterer with a parameter ``n_clusters``, or the native k-means of :func:`choose`. None:
        ``AgglomerativeClustering()``, Ward's method.
    n_resamples : int, default=100
        Number of resamples for each K, at least 2. All K use the same draws.
    proportion : float in (0, 1], default=0.8
        Share of the objects that each resample draws, without replacement: `sample_fraction` of :func:`choose`, `pItem` of
        ConsensusClusterPlus.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the draws and of the runs of the clusterer.
    n_jobs : int, default=None
        Number of threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.
    verbose : int, default=0
        1: print progress to standard error.

    Returns
    -------
    Selection
        ``consensus_matrix(K)``, ``labels[K]``, ``trees[K]``, ``cdf(K)``, ``table["area"]``, ``table["delta"]``,
        ``cluster_consensus(K)``, ``item_consensus(K)`` and ``tracking()``. ``n_clusters`` is the number with the largest sharp
        score, as in :func:`choose_from`; there is no p-value.

    Raises
    ------
    InputError, ValueError
        If X is malformed or has missing or infinite values. (A ValueError of scikit-learn if X is not two-dimensional.)
    ParameterError
        If a parameter is out of its range, or a K is above the number of objects in a resample.

    Warns
    -----
    SelectionWarning
        If there are doubts about ``n_clusters``.
    EvidenceWarning
        If no resample drew both objects of a pair: `n_resamples` is small.

    References
    ----------
    .. [1] S. Monti, P. Tamayo, J. Mesirov and T. Golub, "Consensus clustering", Machine Learning 52, 2003.
    .. [2] M. D. Wilkerson and D. N. Hayes, "ConsensusClusterPlus", Bioinformatics 26, 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from conclust.selection import consensus_clustering
    >>> X, _ = make_blobs(90, centers=3, cluster_std=0.5, random_state=1)
    >>> found = consensus_clustering(X, range(2, 5), n_resamples=20, random_state=0)
    >>> found.n_clusters
    3
    >>> found.cluster_consensus(3)
    array([1., 1., 1.])
    """
    # Not before it is called: other packages import this function, and scikit-learn takes most of a second.
    from conclust.selection.choosing import choose_from, read, tried
    from conclust.selection.resampled.resampling import Settings

    check_int(n_resamples, "n_resamples", _OWNER, low=2)
    fraction = check_real(proportion, "proportion", _OWNER, high=1.0, closed="right")
    threads = thread_count(n_jobs, _OWNER)
    points, _ = read(X, None, _OWNER)
    if clusterer is None:
        from sklearn.cluster import AgglomerativeClustering  # `choose` does not need it

        clusterer = AgglomerativeClustering()
    ks = tried(k, clusterer, len(points), fraction, _OWNER)
    root = seed_sequence(random_state, _OWNER)
    drawing, choosing = spawn_sequences(root, 2)
    settings = Settings(ks, clusterer, n_resamples, fraction, None, 0, threads)
    resamples = settings.resamples(len(points), drawing)
    labels = {number: resamples.labels(points, number, threads=threads) for number in ks}
    found = choose_from(labels, random_state=choosing, n_jobs=n_jobs, verbose=verbose)
    told = {
        "clusterer": clusterer if settings.fast else repr(clusterer),
        "n_resamples": n_resamples,
        "sample_fraction": fraction,
        "random_state": repeating(root),
    }
    return replace(found, settings=found.settings | told)
