"""HGPA: hypergraph partitioning algorithm."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import scipy.sparse as sp

from conclust._random import RandomStateLike
from conclust._types import Bools, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.graph.partition import Hypergraph, partition_hypergraph
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble, Missing
from conclust.spectra.bipartite import edges_of
from conclust.trees.agglomeration import starting_clusters


@dataclass(eq=False, repr=False)
class HGPA(ConsensusClusterer):
    """Hypergraph partitioning: every cluster is a hyperedge, and few of them are cut.

    The objects are cut into `n_clusters` parts of about equal size so that the clusters of the
    partitions meet few parts: the connectivity minus one is minimised [1]_.

    .. warning::
       A hyperedge that one stray object leaves costs as much as one cut in half. With noisy labels
       every cluster meets every part, whatever the parts are, and the criterion is uninformative: use
       :class:`HBGF`, :class:`MCLA` or :class:`PCC` except for comparison.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of parts, K. Required: ``fit`` refuses None.
    n_init : int, default=10
        Number of starts, spectral and random, refined by Fiduccia-Mattheyses; the lowest connectivity is kept.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the starts.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters; fewer than K if there are fewer distinct rows of labels.
    objective_ : float
        Connectivity minus one: sum over the clusters of all partitions of (parts that its objects are
        in - 1), times the weight of its partition.
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    HBGF : the spectral relaxation of the same hypergraph.

    Notes
    -----
    An object missing in a partition, or noise there, is in none of its hyperedges. Objects with the
    same labels are one vertex, weighted by their number: they are never separated, so a part may have to
    be heavier than 1.05 times the mean, otherwise the maximum. That clusters are about equally large is an assumption of
    the model: if it is wrong, large clusters are split and small ones joined. O(n N K) time per pass.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", JMLR 3, 2002.

    Examples
    --------
    >>> from conclust import HGPA
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = HGPA(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_, model.objective_
    (array([0, 0, 1, 1]), 1.0)
    """

    method = Method(
        title="Hypergraph partitioning algorithm",
        n_clusters="exact",
        cost="n N K",
        citation="Strehl and Ghosh 2002, JMLR 3",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    n_init: int = 10
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        total = float(ensemble.partition_weights.sum())
        ensemble = ensemble.reweighted(ensemble.relative_weights)
        same = ensemble.distinct_rows()
        if ensemble.has_noise:
            same = starting_clusters(ensemble, mute=True)
        parts = partition_hypergraph(
            Hypergraph(
                sp.csr_array(ensemble.indicator[same.first]),
                ensemble.column_weights,
                same.masses,
                edges_of(ensemble).part(same.first).matrix(),
            ),
            min(self.n_clusters, len(same)),
            n_init=self.n_init,
            random_state=self.random_state,
        )
        self.objective_ = parts.cut * (total / float(ensemble.partition_weights.sum()))
        return parts.labels[same.inverse]
