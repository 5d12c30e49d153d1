"""SEC: the normalised cut of the co-association, as k-means on rows of labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from conclust._types import Floats
from conclust.consensus.label_rows import Centroids, RowLoss
from conclust.consensus.label_vectors.estimator import LabelVectorKMeans
from conclust.consensus.method import Method
from conclust.ensemble.derived import Derived


@dataclass(eq=False, repr=False)
class SEC(LabelVectorKMeans):
    """Spectral ensemble clustering: the normalised cut of the co-association, without its matrix.

    The co-association S of the objects is a graph; the degree d of an object is the sum of its row.
    The partition with the minimum normalised cut also minimises weighted k-means of the points b / d
    [1]_, where b is the object's row of the indicator matrix and d the weight of the point. SEC
    minimises that. Unlike in spectral clustering nothing is relaxed, so no eigenvectors are needed.

    Parameters
    ----------
    n_clusters : int, default=None
        Clusters of the consensus. Fewer are found only if fewer objects differ.
        Required: ``fit`` refuses None.
    n_init : int, default=20
        Maximum number of starts (k-means++ on the squared distances of rows b; distances of b / d would draw objects of
        small clusters). All are run up to 600 distinct rows of labels, or 60 per cluster if that is more. With more
        rows they are compared on half of that number of objects (more if labels are missing, at most 5,000), drawn at
        random, until three of them have reached the lowest loss, and the best is continued with all rows. If the starts
        do not agree, all of them are continued first, with up to 5,000 objects, until two have reached the lowest loss.
    max_iter : int, default=100
        Maximum number of passes over all objects.
    tol : float, default=1e-6
        Stop when a pass lowers ``objective_`` by at most this share of it.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    n_jobs : int, default=None
        Threads; starts run in parallel. None: ``OMP_NUM_THREADS`` or all processors. The result
        does not depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    objective_ : float
        The sum that k-means minimises: of d times the squared distance of b / d to the mean of its
        cluster. It equals the normalised cut up to a constant: the sum of S_ii / d_i, minus the sum over clusters of the share
        of their degrees that stays inside.
    n_iter_ : int
        Passes over all objects, of the start that was kept.
    converged_ : bool
        Whether `tol` ended the passes, not `max_iter`.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.

    See Also
    --------
    KCC : the same search for the utilities of partitions.
    HBGF : the spectral relaxation of a cut of objects and clusters together.

    Notes
    -----
    Single objects move (Hartigan) with the means moving along: the objective never rises, and no cluster
    is left empty (published implementations drop empty clusters). Time is
    O(n_samples n_partitions n_clusters) per pass; nothing of n x n is formed.

    A partition that did not observe an object has no label in its row: the object has fewer
    neighbours, a smaller degree, and counts less [1]_, section 5. Noise is a label that no other
    object has. Weights of the partitions multiply their co-associations; soft members count by their most probable clusters.
    New objects go to the nearest mean; the sizes of the clusters in ``fit`` give their
    degrees.

    References
    ----------
    .. [1] H. Liu, J. Wu, T. Liu, D. Tao and Y. Fu, "Spectral ensemble clustering via weighted
       k-means: theoretical and practical evidence", IEEE Transactions on Knowledge and Data
       Engineering 29(5), 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import SEC
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = SEC(2, random_state=0).fit(ensemble)
    >>> model.labels_, round(model.objective_, 6)  # 41 / 210
    (array([0, 0, 1, 1]), 0.195238)
    >>> model.predict([[1, 1, 0], [0, 0, -1]])
    array([1, 0])
    """

    _races = True
    method = Method(
        title="Spectral ensemble clustering",
        n_clusters="exact",
        cost="n N K per pass",
        citation="Liu, Wu, Liu, Tao and Fu 2017, IEEE TKDE 29",
    )

    _: KW_ONLY
    n_init: int = 20

    def _loss(self) -> RowLoss:
        return RowLoss("cut")

    def _value(self, ensemble: Derived, centroids: Centroids, loss: float) -> float:
        return loss

    def _costs(self, ensemble: Derived, centroids: Centroids) -> tuple[Floats, Floats]:
        weights, columns = ensemble.partition_weights, ensemble.column_weights
        noise = np.where(centroids.shares > 0, centroids.noise, 0.0)
        degrees = (columns * ensemble.cluster_sizes) @ centroids.sums + weights @ noise
        degrees[degrees == 0] = np.inf  # their mean is 0
        means = centroids.sums / degrees
        lengths = columns @ means**2 + weights @ (noise / degrees**2)
        # The terms of d |b / d - m|^2 with m: -2 b m + d |m|^2. Noise has a degree of 1 by itself.
        more = ensemble.cluster_sizes[:, None] - 1.0
        cost = (more * lengths - 2.0 * means) * columns[:, None]
        return cost, weights[:, None] * lengths
