"""MDEC: multi-diversified ensemble clustering, three consensus functions with clusters weighted by certainty.

The spectral one is a normalised cut without a matrix of objects: S = A A' has a row for each two objects, and
A = diag(z) B diag(sqrt w) one for each object, so that products with S are two products with A. Objects with the
same labels are one vertex, weighted by their number.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from conclust._arrays.rows import inverse_or_zero, ratio
from conclust._parameters import Parameters, Range
from conclust._progress import stage
from conclust._random import RandomStateLike, seed_sequence
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.graph.kmeans import Points, kmeans_labels
from conclust.consensus.graph.transfer import of_objects, part_components, transfer_cut
from conclust.consensus.linkage.constrained import TreeClusterer
from conclust.consensus.linkage.lwea import certain_tree
from conclust.consensus.method import Method, NumberNeeded, NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.similarity import cluster_certainty
from conclust.spectra.bipartite import Edges, edges_of, unit_rows
from conclust.spectra.transfer_cut import components_of, leading_eigenvectors
from conclust.trees.agglomeration import starting_clusters

Consensus: TypeAlias = Literal["hierarchical", "spectral", "bipartite"]


@dataclass(eq=False, repr=False)
class MDEC(TreeClusterer):
    r"""Multi-diversified ensemble clustering: linkage or cuts with clusters weighted by their certainty.

    Clusters count by their certainty [1]_ (:func:`conclust.similarity.cluster_certainty`), with a mild
    `theta`: the paper's ensembles, whose members have their own metrics in random subspaces, are less uneven than those of
    LWEA. "hierarchical" is :class:`conclust.LWEA`, "bipartite" :class:`conclust.LWGP`. "spectral"
    divides the objects by the leading eigenvectors of the weighted evidence S, normalised by its degrees:

    .. math::

        S_{ij} = \frac{1}{N} \sum_{\text{clusters } c \text{ of both}} \operatorname{certainty}(c)

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. None: for "hierarchical" the one with the longest lifetime in the
        dendrogram, chosen as by LWEA; the others require it, and return fewer if objects cannot be distinguished.
    consensus : {"hierarchical", "spectral", "bipartite"}, default="hierarchical"
        Average linkage on 1 - S, the spectral cut of S, or the transfer cut of the graph of objects and
        clusters: MDEC-HC, MDEC-SC, MDEC-BG.
    theta : float, default=1.0
        Positive. Small values reduce the influence of uncertain clusters.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the restarts.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    certainty_ : ndarray of shape (n_clusters_of_all_partitions,)
        Certainty of each cluster, in the order of ``Ensemble.indicator``.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        Dendrogram in SciPy's format. Only with "hierarchical".
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters. Only with "hierarchical".
    eigenvalues_ : ndarray of shape (at most n_clusters,)
        Leading eigenvalues of the normalised S, decreasing from 1. Only with "spectral".
    singular_values_ : ndarray of shape (at most n_clusters,)
        Leading singular values of the degree-normalised graph, decreasing from 1. Only with "bipartite"; empty
        if all objects are noise.
    n_features_in_ : int
        Number of partitions.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together count as dissimilarity 1 in linkage.
    EnsembleWarning
        If a graph to cut has more components than `n_clusters`; the smallest are then joined. See HBGF.
        All partitions have the same number of clusters, but a larger number has the longest lifetime.

    See Also
    --------
    LWEA : "hierarchical" with theta=0.4, other linkages and NWCA.
    LWGP : "bipartite" with theta=0.4.

    Notes
    -----
    S_ii is 1 for "spectral". It is never made: S = B W B' / N with the indicator B and the certainties W,
    and Lanczos multiplies by B and B'. Objects with the same labels are one vertex. Missing labels: S_ij of
    "spectral" is divided by the geometric mean of the numbers of partitions that observed i and that observed
    j, so that it remains such a product; the others are treated as in LWEA and LWGP. Weights of the partitions count in S,
    in edges and in the certainties; soft members count by their most probable clusters. "spectral" takes O(n N^2) time for
    the certainties and O(n N) per Lanczos step, and memory of the labels and 2 K + 30 vectors of n
    numbers.

    The paper's members, in random subspaces with kernels of their own, are not made here; any ensemble can be used.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang, J.-H. Lai and C.-K. Kwoh, "Toward multidiversified ensemble clustering of
       high-dimensional data: from subspaces to metrics and beyond", IEEE Transactions on Cybernetics
       52(11), 2022.

    Examples
    --------
    >>> from conclust import MDEC
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> MDEC(n_clusters=2).fit(labels).labels_
    array([0, 0, 1, 1])
    >>> model = MDEC(n_clusters=2, consensus="spectral", random_state=0).fit(labels)
    >>> model.labels_, model.eigenvalues_.round(4)
    (array([0, 0, 1, 1]), array([1.    , 0.8361]))
    """

    max_dense: ClassVar[int] = 20000
    eigenvalues_: Floats = field(init=False)

    method = Method(
        title="Multi-diversified ensemble clustering",
        n_clusters="optional",
        cost="n^2 N + n N^2 + T N; cuts + T^3",
        citation="Huang, Wang, Lai and Kwoh 2022, IEEE TCYB 52",
    )
    parameters: ClassVar[Parameters] = {"theta": Range(above=0)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    consensus: Consensus = "hierarchical"
    theta: float = 1.0
    random_state: RandomStateLike = None

    def _number_needed(self) -> NumberNeeded:
        return "optional" if self.consensus == "hierarchical" else "exact"

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        seed = seed_sequence(self.random_state, "MDEC")
        self.certainty_ = cluster_certainty(ensemble, self.theta)
        if self.consensus == "hierarchical":
            tree = certain_tree(
                ensemble, self.certainty_, normalized=False, max_dense=self.max_dense, owner="MDEC"
            )
            return self._cut_tree(tree, ensemble)
        k = self.n_clusters
        if self.consensus == "spectral":
            labels, self.eigenvalues_ = evidence_cut(ensemble, self.certainty_, k, seed)
            return labels
        edges = edges_of(ensemble, self.certainty_)
        labels, self.singular_values_ = transfer_cut(edges, k, seed, owner="MDEC")
        return labels


def evidence_cut(
    ensemble: Ensemble,
    cluster_weights: Floats,
    k: int,
    seed: np.random.SeedSequence,
) -> tuple[Ints, Floats]:
    """Divide the objects by the leading eigenvectors of D^-1/2 S D^-1/2, D the degrees of S.

    S_ij is the weight of the clusters of both objects / the geometric mean of the weights of the partitions
    that observed i and of those that observed j; S_ii = 1. The graph is cut component by component, as
    `transfer_cut` does.

    Parameters
    ----------
    ensemble : Ensemble
        The observed objects.
    cluster_weights : ndarray of shape (T,)
        Weight of each cluster, multiplied by the weight of its partition.
    k : int
        Number of parts.
    seed : SeedSequence
        Seed of the k-means starts.

    Returns
    -------
    tuple of ndarray
        Part of each object, and the leading eigenvalues in decreasing order.
    """
    start = starting_clusters(ensemble)
    distinct = start.ensemble
    weights = distinct.column_weights
    # edges_of multiplies by the weights of the partitions once, but their root is needed.
    root = np.sqrt(ratio(cluster_weights, weights))
    edges = edges_of(distinct, root)
    if not edges.sums().any():  # noise only: no two objects share a cluster
        return np.zeros(len(start.inverse), dtype=np.int64), np.ones(1)
    observed = np.sqrt(distinct.observed_weights)
    scale = inverse_or_zero(observed)
    with one_library_thread():
        component = of_objects(edges, components_of(edges))
        count = int(component.max()) + 1
        graph = _Evidence(edges, scale, start.masses)
        stage("embedding of the graph")
        spectra = [
            graph.part(np.flatnonzero(component == c)).leading(max(1, k - count + 1))
            for c in range(count)
        ]
        values = np.concatenate([values_of_component for values_of_component, _ in spectra])
        place = np.concatenate(
            [np.arange(len(values_of_component)) for values_of_component, _ in spectra]
        )
        of = np.repeat(
            np.arange(count), [len(values_of_component) for values_of_component, _ in spectra]
        )
        # Eigenvalues of components precede others that are 1 up to rounding.
        chosen = np.lexsort((of, place > 0, -values.round(9)))[:k]
        stage("k-means on the embedding")

        def parted(c: int, objects: Ints, own_seed: np.random.SeedSequence) -> Ints:
            vectors = spectra[c][1][:, : np.count_nonzero(of[chosen] == c)]
            points = Points(unit_rows(np.ascontiguousarray(vectors)), start.masses[objects])
            return kmeans_labels(points, vectors.shape[1], own_seed)

        labels = part_components(component, start.masses, k, seed, parted, "MDEC")
    return labels[start.inverse], values[chosen]


@dataclass(frozen=True)
class _Evidence:
    """S of some distinct rows: A is diag(scale) times the edges, and each counts by its mass."""

    edges: Edges
    scale: Floats
    mass: Floats

    def part(self, some: Ints) -> _Evidence:
        """Return the graph of some rows."""
        return _Evidence(self.edges.part(some), self.scale[some], self.mass[some])

    def leading(self, k: int) -> tuple[Floats, Floats]:
        """Return the leading eigenvalues of a connected graph, from 1 on, and their vectors."""
        diagonal = 1.0 - self.edges.squares() * self.scale**2  # the difference of S_ii from 1
        sums = self.edges.sums(self.scale * self.mass)
        degrees = self.scale * self.edges.times(sums) + diagonal
        factor = self.scale * np.sqrt(self.mass / degrees)
        loops = diagonal / degrees

        def product(v: Floats) -> Floats:
            across = self.edges.sums(factor * v)
            return np.asarray(factor * self.edges.times(across) + loops * v)

        values, vectors = leading_eigenvectors(product, len(factor), min(k, len(factor)))
        values = np.minimum(values, 1.0)
        values[0] = 1.0
        return values, vectors
