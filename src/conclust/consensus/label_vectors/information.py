"""Information-theoretic k-means: clusters that keep most of the information in the labels."""

from __future__ import annotations

import numpy as np

from conclust._types import Floats
from conclust.consensus.label_rows import SMALL, Centroids, RowLoss
from conclust.consensus.label_vectors.estimator import LabelVectorKMeans
from conclust.consensus.method import Method
from conclust.ensemble.derived import Derived


class InformationTheoreticKMeans(LabelVectorKMeans):
    r"""Information-theoretic k-means on label distributions.

    Each partition gives an object a distribution over its clusters: probabilities if it is soft, all
    on one label if it is hard. The consensus groups objects so that replacing the distributions of a
    cluster's objects by their mean loses little information [1]_:

    .. math::

        f = \frac{1}{n} \sum_{i, u} \operatorname{KL}\left(b_{iu} \,\|\, m_u(\text{cluster of } i)\right)

    For hard labels f is the sum over partitions of the entropy of their labels given the
    consensus, so that minimising it maximises the sum of mutual informations.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters of the consensus. Fewer are found only if fewer distinct rows exist.
        Required: ``fit`` refuses None.
    n_init : int, default=10
        Number of starts (k-means++ on squared distances). With more than 5,000 distinct rows of labels they run on
        5,000 objects drawn at random, and the best is continued with all.
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
        f, the information lost per object in nats, with weighted partitions; smaller is better.
    n_iter_ : int
        Number of passes over all objects, for the start that was kept.
    converged_ : bool
        Whether the passes ended by `tol` rather than by `max_iter`.
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
    The paper concatenates the distributions into one over all labels; if every partition observed every object, this gives f
    divided by the number of partitions. Here a partition that did not observe
    an object is dropped from its divergence, and means are over the observed objects. Noise is a
    label that no other object has; the weight of a partition multiplies its part of f.

    Single objects move (Hartigan) with the means moving along. Moving all objects together would stop
    at once on hard labels: the divergence from a mean without the object's label is infinite. Time is
    O(n_samples n_partitions n_clusters) per pass; nothing of n x n is formed.

    References
    ----------
    .. [1] K. Punera, J. Ghosh: Consensus-based ensembles of soft clusterings. Applied Artificial
       Intelligence 22, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import Ensemble, InformationTheoreticKMeans
    >>> soft = Ensemble.from_memberships(
    ...     [[[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], [[1.0, 0.0], [0.7, 0.3], [0.2, 0.8]]]
    ... )
    >>> InformationTheoreticKMeans(2, random_state=0).fit(soft).labels_
    array([0, 0, 1])
    >>> hard = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = InformationTheoreticKMeans(2, random_state=0).fit(hard)
    >>> model.labels_, round(model.objective_, 6)  # log(2) / 2: half the information of one label
    (array([0, 0, 1, 1]), 0.346574)
    """

    method = Method(
        title="Information-theoretic k-means",
        n_clusters="exact",
        soft_members=True,
        cost="n N K per pass",
        citation="Punera and Ghosh 2008, Applied Artificial Intelligence 22",
        blocks="conclust.blocks.methods.label_vectors",
    )

    def _loss(self) -> RowLoss:
        return RowLoss("entropic")

    def _value(self, ensemble: Derived, centroids: Centroids, loss: float) -> float:
        return loss / ensemble.n_samples

    def _costs(self, ensemble: Derived, centroids: Centroids) -> tuple[Floats, Floats]:
        cost = -np.log(centroids.means + SMALL) * ensemble.column_weights[:, None]
        return cost, np.zeros_like(centroids.shares)
