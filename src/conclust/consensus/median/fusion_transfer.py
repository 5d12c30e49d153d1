"""MedianPartition: the partition that disagrees with the ensemble on the fewest pairs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from conclust._parameters import Parameters, Range
from conclust._random import RandomStateLike, generator
from conclust._types import Bools
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.median.search import best_partition, evidence_of, interchangeable, sample
from conclust.consensus.method import Method
from conclust.ensemble import Ensemble, Missing


@dataclass(eq=False, repr=False)
class MedianPartition(ConsensusClusterer):
    r"""Median partition under the Mirkin distance, by fusions and transfers.

    Finds the partition P with the fewest disagreements with the partitions of the ensemble: pairs of
    objects that one puts together and the other apart. This maximises

    .. math::

        \sum_{(i, j) \text{ together in } P} \left(2\, c_{ij} - N_{ij}\right)

    with c_ij the number of partitions that put i and j together, and N_ij the number that observed
    both: clusters contain pairs that a majority puts together. The number of clusters is a result [1]_.

    The disagreements are Binder's loss with equal costs: for draws of a posterior see :class:`conclust.BayesEstimate`,
    whose default, the variation of information, makes fewer clusters of one object.

    Parameters
    ----------
    n_init : int, default=10
        Starts of each of two kinds, besides the fusion of single objects: the partitions of the
        ensemble that are the best themselves, and random ones. They are compared on at most 1,000
        distinct rows of labels, and the best is finished on all. At least 0.
    max_iter : int, default=100
        Maximum number of passes of transfers over the objects from one start.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the random starts and of the order in which objects are tried.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    objective_ : float
        Pairs of objects on which the consensus and a partition disagree, summed over the
        partitions (by their weights): the median distance, which is minimised. A pair counts for a
        partition that observed both objects.
    n_iter_ : int
        Number of passes over the objects, for the start that was kept.
    converged_ : bool
        Whether no remaining transfer or fusion would lower the objective.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the search.

    Notes
    -----
    A transfer moves an object to the cluster with the largest sum of 2 c_ij - N_ij, or to one of its
    own if all sums are negative; a fusion merges the two clusters with the largest positive sum
    between them. Sums are read from counts of labels per cluster: a visit costs O(N K), and no pair
    is formed. Objects with the same labels move together, which costs nothing: some best partition
    has them together.

    A missing label counts for no pair of its object. Noise counts as apart from all other objects.
    Soft partitions count by their expected agreement, the sum of products of probabilities.

    The problem is NP-hard: the search ends at a partition that no single transfer or fusion improves.

    Constant partitions do not change the order of partitions by the objective, but they do change the random draws
    of the search: another equally good partition, or a local optimum, may be found.

    References
    ----------
    .. [1] A. Guénoche: Consensus of partitions: a constructive approach. Advances in Data Analysis
       and Classification 5, 2011. Some implementations fuse by the number of unanimous partitions; here sums are used, in
       accordance with the objective.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import MedianPartition
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = MedianPartition(random_state=0).fit(ensemble)
    >>> model.labels_, model.objective_
    (array([0, 0, 1, 1]), 3.0)
    """

    method = Method(
        title="Median partition (Fusion-Transfer)",
        n_clusters="emerges",
        cost="n N K per pass",
        citation="Guénoche 2011, Advances in Data Analysis and Classification 5",
        use="labels alone should determine the number of clusters",
    )
    parameters: ClassVar[Parameters] = {"n_init": Range(at_least=0)}

    _: KW_ONLY
    n_init: int = 10
    max_iter: int = 100
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit(self, ensemble: Ensemble, observed: Bools) -> NDArray[Any]:
        draw = generator(self.random_state, "MedianPartition")
        units = interchangeable(ensemble)
        twice = np.full(int(ensemble.offsets[-1]), 2.0)
        best = best_partition(
            ensemble,
            units,
            evidence_of(ensemble, units, twice, 1.0),
            draw,
            sample(units, draw),
            criterion="additive",
            n_init=self.n_init,
            max_iter=self.max_iter,
        )
        objective = _together(ensemble) - best.objective
        self._keep_end(objective, best.n_iter, best.converged)
        return best.labels[units.inverse]


def _together(ensemble: Ensemble) -> float:
    """Sum c_ij over all pairs of objects: the disagreements of singletons with the ensemble."""
    squares = ensemble.cluster_sizes**2 - ensemble.cluster_sizes
    if ensemble.weights is not None:
        squares = squares * ensemble.column_weights
    return float(squares.sum() / 2)
