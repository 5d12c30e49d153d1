"""CSPA: cluster-based similarity partitioning algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._parameters import Parameters
from conclust._progress import stage
from conclust._random import RandomStateLike, seed_sequence
from conclust._types import Bools, Floats, Ints
from conclust._validation import count
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.graph.partition import Graph, Partitioner, cut_graph, read_graph
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.pairs import check_pairs, read_pairs
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.evidence import SparseEvidence, coassociation, evidence, frequencies, nearest_pairs
from conclust.exceptions import EvidenceWarning, warn
from conclust.spectra.gram import IndicatorProducts
from conclust.spectra.transfer_cut import embedding_by_products, graph_embedding
from conclust.trees.agglomeration import starting_clusters

# A graph with fewer edges than this share of all pairs is cut in sparse form, with the same result.
_SPARSE = 0.5
# Number of partners per row in the graph of nearest pairs, and its maximum with ties.
_NEAREST, _WITH_TIES = 20, 40
# Sums of the weights of a vertex stay below this where they are whole numbers (``_kernels/graph/partition.h``).
_LARGEST_SUM = 1 << 28


@dataclass(eq=False, repr=False)
class CSPA(ConsensusClusterer):
    """Cluster-based similarity partitioning: the graph of co-association, cut into balanced parts.

    Objects are vertices. The weight of an edge is the share of partitions that put two objects in one cluster, c_ij / r
    for r partitions: a partition that did not observe both counts as one that separates them. The graph is cut into
    `n_clusters` parts of about equal size [1]_; among equal cuts, the one with the most even parts is chosen.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of parts, K. Required: ``fit`` refuses None.
    partitioner : {"internal", "spectral"}, default="internal"
        "internal": spectral start, capacities, Fiduccia-Mattheyses refinement. "spectral": the
        spectral start alone, without balance.
    balance : float, default=0.05
        Tolerated excess of objects in a part over the mean, as a share of the mean. The model assumes clusters of
        about equal size: if that is wrong, large clusters are split and small ones joined; then raise `balance` or
        use "spectral".
    normalized : bool, default=False
        Whether the share refers to the partitions that observed both objects, c_ij / N_ij, instead of all. For complete labels,
        both are the same.
    pairs : int, float or SparseEvidence, default=None
        Pairs of the graph, for more objects than a matrix of all pairs allows. An int: at least that number of
        random partners per object; a float in (0, 1]: this fraction of all pairs, rounded to whole partners per object; or a
        SparseEvidence from ``conclust.evidence.sample_pairs``. None: all pairs, or above `max_dense` distinct rows
        of labels the nearest.
    max_dense : int, default=5000
        Number of distinct rows of labels up to which a matrix of all pairs is made (8 bytes per entry). Above it the
        graph contains the nearest pairs: each row is paired with the 20 rows with which it shares clusters most often (at most
        40 if tied).
    n_init : int, default=10
        Number of starts of the partitioner; the lowest cut is kept. "internal" refines equal starts once, gives the five lowest
        cuts more room, and refines the best repeatedly as long as that lowers it.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the pairs and of the starts.
    n_jobs : int, default=None
        Threads for counting evidence. The result does not depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters; fewer than K if there are fewer distinct rows of labels.
    objective_ : float
        The cut: sum of the weights over the pairs of the graph that are in different clusters.
    n_features_in_ : int
        Number of partitions.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together have no edge.

    See Also
    --------
    HBGF : cuts objects and clusters together, without a matrix of all pairs.

    Notes
    -----
    With all pairs, objects with the same labels are one vertex, weighted by their number: they are never
    separated, so a part may have to be heavier than `balance` allows.
    Weights of the partitions enter c and N; soft members count by their most probable clusters; an object that is noise
    everywhere is an isolated vertex, assigned to a part with room. O(n^2 N) time and O(n^2) memory for n distinct rows, up to
    `max_dense`. Above, the time is that of
    finding the nearest rows, and memory grows with n. On 10,000 rows of ten planted clusters with half of 20 labels
    at random, the nearest pairs give an adjusted Rand index of .996.

    Counts of complete labels without weights are whole numbers: up to `max_dense` they are cut in this form, in one or two
    bytes per entry, and the embedding multiplies by the indicator of the partitions instead of the matrix.

    A partition that contains only noise separates no rows.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", JMLR 3, 2002.

    Examples
    --------
    >>> from conclust import CSPA
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = CSPA(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_, round(model.objective_, 4)
    (array([0, 0, 1, 1]), 0.6667)
    """

    method = Method(
        title="Cluster-based similarity partitioning algorithm",
        n_clusters="exact",
        cost="n^2 N; above max_dense the search for the nearest rows; p N for p sampled pairs",
        citation="Strehl and Ghosh 2002, JMLR 3",
        use="there are few objects, in clusters of about equal size",
    )
    parameters: ClassVar[Parameters] = {"pairs": check_pairs}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    partitioner: Partitioner = "internal"
    balance: float = 0.05
    normalized: bool = False
    pairs: int | float | SparseEvidence | None = None
    max_dense: int = 5000
    n_init: int = 10
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        W: Any
        given = read_pairs(
            self.pairs,
            ensemble,
            observed,
            "CSPA",
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            apart=True,
        )
        unit, embed = 1.0, None
        total = float(ensemble.partition_weights.sum())
        if given is None:
            same = starting_clusters(ensemble, mute=True)
            sizes, vertex = same.masses, same.inverse
            dtype = self._count_type(same)
            if len(same) > self.max_dense:
                W = read_graph(self._nearest(same, total))
            elif dtype is not None:
                unit = float(ensemble.n_partitions)
                W, embed = self._counts(same, dtype)
            else:
                W = read_graph(self._all_pairs(same, total))
        else:
            W = read_graph(self._shares(given, total))
            sizes, vertex = np.ones(ensemble.n_samples), np.arange(ensemble.n_samples)
        parts = cut_graph(
            Graph(W, sizes, embed),
            min(self.n_clusters, len(sizes)),
            balance=self.balance,
            method=self.partitioner,
            n_init=self.n_init,
            root=seed_sequence(self.random_state, "CSPA"),
            merged=True,
        )
        self.objective_ = parts.cut / unit
        return parts.labels[vertex]

    def _count_type(self, same: DistinctRows) -> type[np.unsignedinteger[Any]] | None:
        """Return the type of the weights if they are whole numbers of at most two bytes, else None."""
        ensemble, most = same.ensemble, int(same.counts.max())
        whole = not ensemble.has_missing and ensemble.weights is None
        largest = ensemble.n_partitions * most**2
        fits = largest <= np.iinfo(np.uint16).max
        fits &= ensemble.n_partitions * most * same.n_objects < _LARGEST_SUM
        if not (self.partitioner == "internal" and whole and fits):
            return None
        return np.uint8 if largest <= np.iinfo(np.uint8).max else np.uint16

    def _counts(
        self, same: DistinctRows, dtype: type[np.unsignedinteger[Any]]
    ) -> tuple[NDArray[Any], Callable[[np.random.Generator], Floats]]:
        """Return N times the weights of the graph of the distinct rows, and the function that embeds it."""
        n, sizes = len(same), same.masses
        counts = coassociation(same.ensemble, dtype=dtype, max_dense=None, n_jobs=self.n_jobs)
        together = counts.diagonal() * sizes**2
        np.fill_diagonal(counts, 0)
        if same.counts.max() > 1:
            whole = same.counts.astype(dtype)
            counts *= whole[:, np.newaxis]
            counts *= whole
        k = min(self.n_clusters, n)
        indicator = IndicatorProducts.of(same.ensemble)

        def product(v: Floats) -> Floats:
            sums = indicator.sums((sizes * v)[:, np.newaxis])
            return np.asarray(sizes * indicator.times(sums)[:, 0] - together * v)

        def embed(rng: np.random.Generator) -> Floats:
            rows = embedding_by_products(product, n, k, rng)
            return graph_embedding(counts.astype(np.float64), k, rng) if rows is None else rows

        return counts, embed

    def _shares(self, pairs: SparseEvidence, total: float) -> sp.csr_array:
        """Return the weights of some edges; `total` is the weight of all partitions."""
        shares = pairs.to_scipy()
        if not self.normalized:
            shares.data = pairs.counts / total
        return shares

    def _all_pairs(self, same: DistinctRows, total: float) -> Any:
        """Return the graph of the distinct rows of labels, weighted by their objects."""
        c, N = evidence(same.ensemble, max_dense=None, n_jobs=self.n_jobs)
        unobserved = N == 0
        p = frequencies(c, N) if self.normalized else c / total
        np.fill_diagonal(p, 0.0)
        np.fill_diagonal(unobserved, False)
        if unobserved.any():
            warn(
                f"No partition observed both rows of {count(int(np.count_nonzero(unobserved)) // 2, 'pair')} of distinct rows of "
                "labels: without evidence they have no edge.",
                EvidenceWarning,
            )
            p[unobserved] = 0.0
        p *= same.masses[:, None]
        p *= same.masses
        return sp.csr_array(p) if np.count_nonzero(p) < _SPARSE * p.size else p

    def _nearest(self, same: DistinctRows, total: float) -> sp.csr_array:
        """Return the graph of each row and its nearest ones, weighted by their objects."""
        stage("nearest pairs")
        nearest = nearest_pairs(
            same.ensemble, _NEAREST, max_partners=_WITH_TIES, n_jobs=self.n_jobs
        )
        W = self._shares(nearest, total)
        weigh = sp.diags_array(same.masses)
        return sp.csr_array(weigh @ W @ weigh)
