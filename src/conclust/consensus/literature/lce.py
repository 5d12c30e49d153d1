"""LCE: the link-based cluster ensemble."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._parameters import Parameters, Range
from conclust._random import RandomStateLike, seed_sequence
from conclust._types import Bools, Ints
from conclust._validation import refuse
from conclust.consensus.graph.transfer import transfer_cut
from conclust.consensus.linkage.constrained import TreeClusterer
from conclust.consensus.method import Method, NumberNeeded, NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.exceptions import EnsembleWarning, warn
from conclust.similarity import approximate_simrank, connected_triples, simrank, triple_quality
from conclust.spectra.bipartite import Edges, MatrixEdges, edges_of
from conclust.trees.clusterwise import (
    ObjectPairs,
    RowLinkage,
    cluster_tree,
    pairs_of,
    warn_of_unobserved,
)

Similarity: TypeAlias = Literal["cts", "wtq", "srs", "asrs"]
Consensus: TypeAlias = Literal["spectral", "hierarchical"]

# Similarities defined only between clusters of one partition.
_WITHIN = {"cts": connected_triples, "wtq": triple_quality}
# Shares of noise and of missing labels from which trees of these similarities, and the cut by
# "wtq", follow them instead of the clusters. On planted partitions (n = 150 to 200, K = 4) the
# adjusted Rand index fell below .8 there.
_NOISE = {"cts": 0.1, "wtq": 0.05}
_MISSING = 0.2


@dataclass(eq=False, repr=False)
class LCE(TreeClusterer):
    """Link-based cluster ensemble: clusters are compared by common neighbours, objects by their clusters.

    A partition puts an object into one of its clusters and in none of the others. Here the object also belongs to the others,
    to the extent that they resemble its own cluster by their overlaps with the clusters of other partitions, W
    (:func:`conclust.similarity.connected_triples`)::

        RM = B W

    with B the indicator. "spectral" cuts the graph of objects and clusters with these weights by its
    leading eigenvectors [1]_ [2]_, without making RM. "hierarchical" is linkage on 1 - S, where S_ij is the
    mean of W over clusters of both objects [3]_.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. The spectral cut gives fewer where objects have the same row of RM. None:
        the one with the longest lifetime in the dendrogram, chosen as by LWEA; "spectral" requires a number.
    similarity : {"cts", "wtq", "srs", "asrs"}, default="cts"
        Similarity of clusters. "cts": those of a partition by weighted connected triples. "wtq": by
        weighted triple quality (:func:`conclust.similarity.triple_quality`). "srs" and "asrs": those of
        all partitions by SimRank on objects and clusters, and by one step of it
        (:func:`conclust.similarity.simrank`, :func:`conclust.similarity.approximate_simrank`), for
        "hierarchical" only.
    consensus : {"spectral", "hierarchical"}, default="spectral"
        Consensus step: spectral cut, or linkage.
    linkage : {"average", "single", "complete"}, default="average"
        Linkage with ``consensus="hierarchical"``.
    decay : float, default=0.8
        Decay factor in [0, 1]: the similarity of the most similar clusters, and the factor of each SimRank step. With 0
        "cts" and "wtq" are HBGF with ``joint=False``, and EAC. The papers on LCE have 0.9, their program 0.8.
    n_iter : int, default=5
        Iterations of SimRank, at least 2.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    singular_values_ : ndarray of shape (at most n_clusters,)
        Leading singular values of the degree-normalised RM, falling from 1. Only with
        ``consensus="spectral"``; empty if all objects are noise.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form. Only with ``consensus="hierarchical"``.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters. Only with ``consensus="hierarchical"``.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than 20,000 distinct rows of labels, for complete linkage.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together count as dissimilarity 1 in linkage.
    EnsembleWarning
        If the graph to cut has more components than `n_clusters`; the smallest are then joined (see HBGF).
    EnsembleWarning
        If all partitions have the same number of clusters, but a larger number has the longest lifetime.
    EnsembleWarning
        If clusters may not be found, because a fifth of the labels is missing ("wtq" with "spectral"), or a tenth is
        noise ("cts" with "hierarchical"; a twentieth for "wtq").

    See Also
    --------
    HBGF : the same cut with W = I.
    LWGP : with a diagonal W, the certainty of clusters.

    Notes
    -----
    An object that a partition did not observe, or took for noise, has no edge into it; its row in RM is replaced by the average
    over the clusters of the partition, because otherwise the pattern of absences would be cut. Clusters are compared over the
    objects that both partitions observed. Weights of the partitions
    weigh edges and triples; a weight of 2 is not the same as two copies, whose clusters resemble each other. Soft
    members spread an object over clusters by its memberships.

    Linkage: "cts" and "wtq" compare objects over the partitions that observed both, and average linkage weighs pairs by
    the number of these; "srs" and "asrs" compare all clusters of one object with all of the other. Noise is similar to
    no object in its partition, where clusters are all much alike: with a fifth of the labels noise, and less ("wtq": a
    twentieth), trees by "cts" and "wtq" separate objects by their noise and find no clusters. Pass it as missing, or use
    "asrs", "srs" or "spectral". The cut by "wtq" also finds no clusters if partitions disagree and a fifth or more of their
    labels are missing (at 40 %: adjusted Rand index .20, "cts" .59, "asrs" .85 on planted partitions): use "cts" or "asrs"
    then.

    O(n N^2 + T^3) time for T clusters of all partitions, memory of the labels, T^2 and n;
    linkage takes O(n^2 N) time more, for n distinct rows, and no matrix of them but for "complete".

    References
    ----------
    .. [1] N. Iam-On, T. Boongoen and S. Garrett, "LCE: a link-based cluster ensemble method for improved
       gene expression data analysis", Bioinformatics 26(12), 2010.
    .. [2] N. Iam-On, T. Boongoen, S. Garrett and C. Price, "A link-based approach to the cluster ensemble
       problem", IEEE TPAMI 33(12), 2011.
    .. [3] N. Iam-On and S. Garrett, "LinkCluE: a MATLAB package for link-based cluster ensembles",
       Journal of Statistical Software 36(9), 2010.

    Examples
    --------
    >>> from conclust import LCE
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = LCE(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> (model.singular_values_**2).round(6)
    array([1.      , 0.113039])
    >>> LCE(similarity="asrs", consensus="hierarchical").fit(labels).linkage_matrix_[:, 2].round(4)
    array([0.    , 0.5306, 0.7431])
    """

    max_dense: ClassVar[int] = 20000
    method = Method(
        title="Link-based cluster ensemble",
        n_clusters="exact",
        cost="n N^2 + T^3",
        citation="Iam-On, Boongoen and Garrett 2010, Bioinformatics 26",
    )
    parameters: ClassVar[Parameters] = {"decay": Range(at_most=1), "n_iter": Range(at_least=2)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    similarity: Similarity = "cts"
    consensus: Consensus = "spectral"
    linkage: RowLinkage = "average"
    decay: float = 0.8
    n_iter: int = 5
    random_state: RandomStateLike = None

    def _check_parameters(self, ensemble: Ensemble) -> None:
        if self.consensus == "spectral" and self.similarity not in _WITHIN:
            refuse(
                "similarity",
                "LCE with consensus='spectral'",
                "'cts' or 'wtq'",
                self.similarity,
                "'srs' and 'asrs' are for consensus='hierarchical'.",
            )

    def _number_needed(self) -> NumberNeeded:
        return "exact" if self.consensus == "spectral" else "optional"

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        seed = seed_sequence(self.random_state, "LCE")
        self._warn_of_absence(ensemble)
        if self.consensus == "spectral":
            return self._cut(ensemble, seed)
        warn_of_unobserved(ensemble, self.max_dense)
        pairs = self._pairs(ensemble)
        tree = cluster_tree(pairs, self.linkage, max_dense=self.max_dense, owner="LCE", fixed=True)
        return self._cut_tree(tree, ensemble)

    def _warn_of_absence(self, ensemble: Ensemble) -> None:
        """Warn if missing labels or noise hide the clusters from the chosen similarity."""
        n, m = ensemble.shape
        if self.consensus == "spectral":
            share, least = float(ensemble.missing_counts.sum()) / (n * m), _MISSING
            bad, what, instead = self.similarity == "wtq", "missing", "similarity='cts'"
        else:
            share, least = (
                float(ensemble.noise_counts.sum()) / (n * m),
                _NOISE.get(self.similarity, 1),
            )
            bad, what = self.similarity in _NOISE, "noise"
            instead = "similarity='asrs', consensus='spectral', or give noise as missing"
        if bad and share >= least:
            warn(
                f"{100 * share:.0f} % of the labels are {what}: LCE with similarity={self.similarity!r} and "
                f"consensus={self.consensus!r} may separate objects by that instead of finding the clusters. Use {instead}.",
                EnsembleWarning,
            )

    def _cut(self, ensemble: Ensemble, seed: np.random.SeedSequence) -> Ints:
        W = _WITHIN[self.similarity](ensemble, decay=self.decay)
        edges = edges_of(ensemble)
        if ensemble.has_missing or ensemble.has_noise:
            edges, W = _with_absence(ensemble, edges, W)
        labels, self.singular_values_ = transfer_cut(
            edges, self.n_clusters, seed, owner="LCE", mixing=W
        )
        return labels

    def _pairs(self, ensemble: Ensemble) -> ObjectPairs:
        """Return the similarity of objects."""
        if self.similarity in _WITHIN:
            return pairs_of(ensemble, _WITHIN[self.similarity](ensemble, decay=self.decay))
        if self.similarity == "srs":
            C = simrank(ensemble, decay=self.decay, n_iter=self.n_iter)
            return pairs_of(ensemble, self.decay * C, mean="pairs")
        return pairs_of(ensemble, approximate_simrank(ensemble, decay=self.decay), mean="pairs")


def _with_absence(ensemble: Ensemble, edges: Edges, W: sp.csr_array) -> tuple[Edges, sp.csr_array]:
    """Add to each partition a cluster of its unclustered objects.

    It is as similar to the other clusters of the partition as these are to each other, on average over their
    objects. Without it, objects would be separated by which partitions observed them: entries of W are far
    larger than their differences.
    """
    of = ensemble.column_partitions
    n_partitions, sizes = ensemble.n_partitions, ensemble.cluster_sizes
    shares = sizes / np.bincount(of, weights=sizes, minlength=n_partitions)[of]
    mean = sp.csr_array((shares, (of, np.arange(len(of)))), shape=(n_partitions, len(of)))
    to_others = sp.csr_array(mean @ (W - sp.eye_array(len(of))))
    self_similarity = (to_others @ mean.T).diagonal()
    absent = (~ensemble.present | ensemble.noise) * ensemble.partition_weights
    some = np.flatnonzero(self_similarity > 0)
    B = sp.hstack([edges.matrix(), sp.csr_array(absent[:, some])])
    blocks: list[list[Any]] = [
        [W, to_others[some].T],
        [to_others[some], sp.diags_array(self_similarity[some])],
    ]
    return MatrixEdges(sp.csr_array(B)), sp.csr_array(sp.block_array(blocks))
