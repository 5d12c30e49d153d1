"""QMI: the partition with the most quadratic mutual information with the members."""

from __future__ import annotations

import numpy as np

from conclust._types import Floats
from conclust.consensus.label_rows import Centroids, RowLoss
from conclust.consensus.label_vectors.estimator import LabelVectorKMeans
from conclust.consensus.method import Method
from conclust.ensemble.derived import Derived
from conclust.ensemble.labels import over_partitions


class QMI(LabelVectorKMeans):
    r"""Consensus with maximum quadratic mutual information: k-means on label vectors.

    The quadratic mutual information of the consensus C and a partition L is twice the category
    utility: how much better the labels of L can be guessed if the cluster in C is known:

    .. math::

        I_2(C, L) = 2 \left( \sum_r p(r) \sum_l p(l \mid r)^2 - \sum_l p(l)^2 \right)

    QMI maximises its sum over the partitions. That is the same as k-means on the rows of the
    indicator matrix, in which each object has a 1 in the column of each of its labels [1]_.

    Parameters
    ----------
    n_clusters : int, default=None
        Clusters of the consensus. Fewer are found only if fewer objects differ.
        Required: ``fit`` refuses None.
    n_init : int, default=10
        Number of starts (k-means++). With more than 5,000 distinct rows of labels they run on 5,000 objects drawn
        at random, and the best is continued with all.
    max_iter : int, default=100
        Maximum number of passes over all objects.
    tol : float, default=1e-6
        Stop when a pass lowers ``inertia_`` by at most this share of it.
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
        Sum over partitions of weight x share of the objects observed x I2; larger is better.
    inertia_ : float
        The sum that k-means minimises: squared distances of the objects to the means of their clusters,
        over the partitions that observed them. ``objective_`` is 2 / n_samples times a constant minus this.
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

    Notes
    -----
    Single objects move (Hartigan) with the means moving along, rather than all at once: the local
    optima are better, and no cluster is left empty. Objects with the same labels move together.
    Time is O(n_samples n_partitions n_clusters) per pass; nothing of n x n is formed.

    A partition that did not observe an object is dropped from its distances, and means are over the
    observed objects. Noise is a label that no other object has. The weight of a partition multiplies
    its part of the sum. Soft partitions are rows of probabilities in place of 0 and 1.

    References
    ----------
    .. [1] A. Topchy, A. K. Jain, W. Punch: Combining multiple weak clusterings. ICDM 2003; and
       Clustering ensembles: models of consensus and weak partitions. IEEE PAMI 27, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import QMI
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = QMI(2, random_state=0).fit(ensemble)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.objective_, model.inertia_
    (2.25, 1.0)
    >>> model.predict([[1, 1, 0], [0, 0, -1]])
    array([1, 0])
    """

    method = Method(
        title="Quadratic mutual information (k-means on label vectors)",
        n_clusters="exact",
        cost="n N K per pass",
        citation="Topchy, Jain and Punch 2003, ICDM",
        blocks="conclust.blocks.methods.label_vectors",
    )
    inertia_: float

    def _loss(self) -> RowLoss:
        return RowLoss("quadratic")

    def _value(self, ensemble: Derived, centroids: Centroids, loss: float) -> float:
        self.inertia_ = loss
        weights, columns = ensemble.partition_weights, ensemble.column_weights
        noise = ensemble.noise_counts.astype(np.float64)
        lengths = ensemble.cluster_sizes  # squared weights of the columns
        if ensemble.is_soft:
            B = ensemble.indicator
            lengths = np.bincount(B.indices, B.data**2, len(columns))
        squares = float(columns @ lengths + weights @ noise)
        one_cluster = over_partitions(ensemble.cluster_sizes**2, ensemble.offsets) + noise
        more = squares - loss - weights @ (one_cluster / ensemble.observed_counts)
        return float(2.0 / ensemble.n_samples * more)

    def _costs(self, ensemble: Derived, centroids: Centroids) -> tuple[Floats, Floats]:
        cost = -2.0 * centroids.means * ensemble.column_weights[:, None]
        return cost, centroids.lengths * ensemble.partition_weights[:, None]
