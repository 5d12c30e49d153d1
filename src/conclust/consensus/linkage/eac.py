"""EAC: evidence accumulation clustering."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from conclust._parameters import Parameters
from conclust._random import RandomStateLike
from conclust._types import Bools, Floats, Ints
from conclust._validation import refuse
from conclust.consensus.linkage.constrained import TreeClusterer, constrained_tree
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.pairs import check_pairs, read_pairs
from conclust.ensemble import Ensemble, Missing
from conclust.evidence import SparseEvidence
from conclust.exceptions import EvidenceWarning, warn
from conclust.trees import agglomeration, clusterwise


@dataclass(eq=False, repr=False)
class EAC(TreeClusterer):
    """Evidence accumulation clustering: agglomerative linkage on the co-association.

    The similarity of two objects is c_ij / N_ij: the share of partitions that put them together, among those that
    observed both [1]_ [2]_. Single, average and complete linkage work on 1 - c / N; Ward on
    sqrt(1 - c / N). For complete labels this is, up to the factor sqrt 2, the Euclidean distance of the
    objects' rows of cluster indicators: Ward's method on the label vectors.

    Parameters
    ----------
    n_clusters : int or "lifetime", default=None
        Number of clusters, at most the number of objects. "lifetime": the number with the longest lifetime in the
        dendrogram [1]_ [2]_, at least 2 (one cluster has an infinite lifetime and is not considered); the smallest number
        if tied. None: the same, but at most K if all partitions (three or more) have K clusters.
    linkage : {"single", "average", "complete", "ward"}, default="average"
        Dissimilarity of two clusters. "single" is computed from the labels without a matrix of all pairs, for any number of
        objects, and so is "average" if no label is missing; the others need a matrix of all pairs of distinct rows of labels.
    pairs : int, float or SparseEvidence, default=None
        Evidence for only some pairs, for single and average linkage on more objects than a matrix of all pairs allows: an int
        draws at least that many random partners for each object; a float in (0, 1] draws about this fraction of all pairs,
        rounded to whole partners per object; or a SparseEvidence, as
        :func:`conclust.evidence.sample_pairs` returns it. Single linkage takes the maximum spanning
        forest of the pairs; average linkage merges the two clusters with the highest (sum of c) /
        (sum of N) over the pairs between them. Pieces that no chain of pairs connects join at
        height 1. None: all pairs.
    max_dense : int, default=20000
        Maximum number of distinct rows of labels for which a matrix of all pairs is made (8 bytes per entry,
        3.2 GB at the default). With more rows, or if it takes less time, average linkage of complete labels computes the
        evidence row by row, in memory of the size of the labels. The merges are the same, and the heights agree to 1e-12.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the partners if `pairs` is a number; nothing else is random.
    n_jobs : int, default=None
        Threads for counting evidence. The result does not depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form, for ``scipy.cluster.hierarchy.dendrogram`` and
        :func:`conclust.consensus.linkage.cut`: the two clusters joined, height, number of objects.
        Its leaves are the objects that any partition observed, in their order; objects missing
        everywhere have no leaf. For labels in blocks, the leaves are the distinct rows.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than `max_dense` distinct rows of labels, for complete and Ward linkage, and
        for average linkage of incomplete labels.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together count as dissimilarity 1; pieces that no
        chain of drawn pairs connects join at height 1.
    EnsembleWarning
        All partitions have the same number of clusters, but a larger number has the longest lifetime.

    Notes
    -----
    Objects with the same labels start merged at height 0: work and memory grow with the number of
    distinct rows of labels. With complete labels, average and Ward linkage add whole numbers, so equal averages are exactly
    equal; ties go to the cluster with the lowest object. O(n^2) time for n
    distinct rows, and O(n) memory besides the labels for single linkage; sampled pairs take
    O(p log^2 p) for p pairs.

    With missing labels, average linkage is the mean of c_ij / N_ij over all pairs; with `pairs` it is
    weighted by N_ij. The two agree if all N_ij are equal.

    Labels in blocks (:class:`conclust.blocks.LabelStore`) are accepted with ``linkage="single"``: their distinct rows,
    and objects with noise, must fit into memory, and `n_clusters` is at most their number.

    References
    ----------
    .. [1] A. L. N. Fred and A. K. Jain, "Data clustering using evidence accumulation", ICPR 2002.
    .. [2] A. L. N. Fred and A. K. Jain, "Combining multiple clusterings using evidence
       accumulation", IEEE TPAMI 27(6), 2005.

    Examples
    --------
    >>> from conclust import EAC
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = EAC(n_clusters=2).fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.linkage_matrix_[:, 2].round(4)
    array([0.    , 0.3333, 0.8333])
    """

    method = Method(
        title="Evidence accumulation clustering",
        n_clusters="optional",
        cost="n^2 N; single linkage in n memory",
        citation="Fred and Jain 2005, IEEE TPAMI 27",
        blocks="conclust.blocks.methods.single",
        use="you want a tree to cut, or groups that are not round (single linkage)",
    )
    parameters: ClassVar[Parameters] = {"pairs": check_pairs}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    linkage: agglomeration.Linkage = "average"
    pairs: int | float | SparseEvidence | None = None
    max_dense: int = 20000
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self, ensemble: Ensemble) -> None:
        if self.pairs is not None and self.linkage not in ("single", "average"):
            refuse("linkage", "EAC with pairs=", "'single' or 'average'", self.linkage)

    def _check_number(self, n: int) -> None:
        if not isinstance(self.n_clusters, str):
            super()._check_number(n)
        elif self.n_clusters != "lifetime":
            expected = f"an int in the range [1, {n}], 'lifetime' or None"
            refuse("n_clusters", "EAC", expected, self.n_clusters)

    def _takes_constraints(self) -> bool:
        possible = self.pairs is None and self.linkage != "ward"
        return possible and self.n_clusters != "lifetime"

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        ensemble = ensemble.reweighted(ensemble.relative_weights)
        if self._constraints is not None:
            constrained = constrained_tree(
                ensemble,
                np.ones(int(ensemble.offsets[-1])),
                self._constraints,
                linkage=self.linkage,
                n_clusters=self.n_clusters,
                max_dense=self.max_dense,
                owner="EAC",
                n_jobs=self.n_jobs,
            )
            return self._cut_tree(constrained, ensemble)
        tree = clusterwise.ClusterTree(self._tree(ensemble, observed))
        if self.n_clusters == "lifetime":
            self.linkage_matrix_, self.lifetimes_ = tree.matrix, tree.lifetimes()
            return agglomeration.cut(tree.matrix, agglomeration.longest_lifetime(tree.matrix))
        return self._cut_tree(tree, ensemble)

    def _tree(self, ensemble: Ensemble, observed: Bools) -> Floats:
        """Return the linkage matrix; warn of pairs without evidence."""
        if ensemble.n_samples == 1:
            return np.empty((0, 4))
        pair_evidence = read_pairs(
            self.pairs,
            ensemble,
            observed,
            "EAC",
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            apart=True,
        )
        if pair_evidence is not None:
            tree, pieces = agglomeration.sparse_tree(pair_evidence, self.linkage)
            if pieces > 1:
                warn(
                    f"The pairs leave the objects in {pieces} pieces that no chain of pairs connects; they join at "
                    "height 1. Draw more pairs per object if this is not intended.",
                    EvidenceWarning,
                )
            return tree
        if self.linkage == "single" and not ensemble.is_soft:
            tree = agglomeration.single_tree(ensemble)
            # Below height 1 every merge rests on a pair that some partition observed.
            if ensemble.has_missing and tree[-1, 2] == 1.0:
                clusterwise.warn_of_unobserved(ensemble, self.max_dense)
            return tree
        pairs = self._rows(ensemble)
        if pairs is not None:
            return clusterwise.cluster_tree(
                pairs, "average", max_dense=self.max_dense, owner="EAC", ties_as_matrix=True
            ).matrix
        tree, unobserved = agglomeration.dense_tree(
            ensemble, self.linkage, max_dense=self.max_dense, n_jobs=self.n_jobs
        )
        clusterwise.warn_of_pairs(unobserved)
        return tree

    def _rows(self, ensemble: Ensemble) -> clusterwise.ObjectPairs | None:
        """Return the rows from which the tree is grown, if not from a matrix of all pairs.

        For complete labels c / N = B B' / N, and its sums follow from sums of rows of B; for incomplete
        ones the mean of c_ij / N_ij is not such a sum. 20,000 objects x 20 partitions of 2 to 141 clusters: 6.6
        CPU s and 25 MB by rows, 8.6 s and 3.0 GB by the matrix, before the nearest clusters of rows were stored.
        Coarse partitions take half of the time by the matrix.
        """
        few = min(clusterwise.FEW_ROWS, self.max_dense)
        if (
            self.linkage != "average"
            or ensemble.has_missing
            or len(agglomeration.starting_clusters(ensemble)) <= few
        ):
            return None
        pairs = clusterwise.pairs_of(
            ensemble, sp.csr_array(sp.eye_array(int(ensemble.offsets[-1])))
        )
        return pairs if clusterwise.by_rows(pairs, "average", self.max_dense) else None
