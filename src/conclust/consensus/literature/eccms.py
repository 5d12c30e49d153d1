"""ECCMS: evidence of certain clusters, smoothed along the pairs that nearly all partitions join.

Pairs of high confidence are the distinct rows that most partitions put together. Along their graph similarities are
smoothed: the convex problem of EC-CMS, solved exactly. For a similarity A and the graph's Laplacian L, the smoothed C minimises::

    tr(C L C) + penalty / 2 * ||C - A||^2,   C = C',  C_ij = A_ij where i and j are joined,

so that joined objects resemble the same others. For a free entry::

    L C + C L + penalty * (C - A) = 0.

Between two components p and q all entries are free, and with ``L_p = U_p diag(l_p) U_p'``::

    C_pq = U_p [(U_p' A_pq U_q) o penalty / (l_p + l_q + penalty)] U_q'

is the solution. Inside a component conjugate gradients find the solution. The matrix of these equations has
non-positive entries off its diagonal and row sums `penalty`: so C is a weighted mean of entries of A, in
[0, 1] without constraints, and no entry errs by more than the largest residual / penalty.

On distinct rows with masses m everything holds with L on the rows (`ConfidentGraph.laplacian`) and sqrt(m) A
sqrt(m) for A.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from conclust._arrays.symmetric import symmetrise, transpose
from conclust._parameters import Parameters, Range
from conclust._progress import rounds, stage, tracked
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_dense, count
from conclust.consensus.base import spread
from conclust.consensus.linkage.constrained import TreeClusterer
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import DistinctRows, Ensemble
from conclust.evidence import coassociation_blocks, frequencies
from conclust.exceptions import EvidenceWarning, warn
from conclust.similarity import cluster_certainty
from conclust.trees.agglomeration import cluster_dissimilarities, linkage_of
from conclust.trees.clusterwise import ClusterTree, pairs_of

# Tolerance for shares that are equal on paper but differ in their last bits, such as 8 of 10 and 0.8.
_EQUAL = 1e-12
# Number of pairs counted at once, in several arrays of eight bytes each.
_BLOCK_ENTRIES = 1 << 20


@dataclass(frozen=True)
class ConfidentGraph:
    """Distinct rows of labels, joined if enough partitions put them together.

    Attributes
    ----------
    edges : csr_array of shape (n_rows, n_rows)
        The co-association c_ij / N_ij of joined rows; symmetric, nothing on the diagonal.
    masses : ndarray of shape (n_rows,)
        Number of objects with each row.
    components : ndarray of int64 of shape (n_rows,)
        Connected component of each row, numbered by first appearance.
    unobserved : csr_array of shape (n_rows, n_rows), bool
        Pairs that no partition observed together; symmetric, nothing on the diagonal.
    """

    edges: sp.csr_array
    masses: Floats
    components: Ints
    unobserved: sp.csr_array

    def laplacian(self) -> sp.csr_array:
        """Return the Laplacian diag(H 1) - H of the graph of all objects, on the distinct rows.

        Its eigenvectors with equal entries for equal objects are those of diag(H m) - sqrt(m) H sqrt(m),
        times 1 / sqrt(m), with the masses m.
        """
        root = sp.diags_array(np.sqrt(self.masses))
        return sp.csr_array(sp.diags_array(self.edges @ self.masses) - root @ self.edges @ root)

    def groups(self) -> list[Ints]:
        """Return the rows of each component that has more than one."""
        order = np.argsort(self.components, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.components[order])) + 1)
        return [part for part in parts if len(part) > 1]


def confident_graph(start: DistinctRows, alpha: float) -> ConfidentGraph:
    """Join the rows whose co-association is at least `alpha`.

    Parameters
    ----------
    start : DistinctRows
        Rows, and the number of objects with each.
    alpha : float
        Above 0. No co-association is above 1.
    """
    n = len(start)
    edges, unobserved = [], []
    for block in coassociation_blocks(start.ensemble, block_rows=max(1, _BLOCK_ENTRIES // n)):
        shares = frequencies(block.counts, block.copresence)
        local = np.arange(len(block.rows))
        shares[local, local + block.rows.start] = 0.0
        unobserved.append(sp.csr_array(np.isnan(shares)))
        shares[~(shares >= alpha - _EQUAL)] = 0.0
        edges.append(sp.csr_array(shares))
    H = sp.csr_array(sp.vstack(edges, format="csr"))
    components = connected_components(H, directed=False)[1] if n > 1 else np.zeros(n)
    return ConfidentGraph(
        H,
        start.masses,
        components.astype(np.int64),
        sp.csr_array(sp.vstack(unobserved, format="csr")),
    )


# A residual of this share of the penalty is an error of at most the same size in C; residuals below
# the rounding error of the largest diagonal entry cannot be reached.
_TOLERANCE = 1e-8
_ROUNDING = 1e-14
_MOST_STEPS = 5_000
_STEPS_BETWEEN_LOOKS = 8


def smoothed(A: Floats, graph: ConfidentGraph, penalty: float) -> Floats:
    """Return C of the distinct rows; A, symmetric, is overwritten.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_rows)
        Similarities in [0, 1]; 0 for pairs that no partition observed.
    graph : ConfidentGraph
        Graph of joined rows. A pair that was not observed is not drawn to A.
    penalty : float
        Positive.

    Returns
    -------
    ndarray of shape (n_rows, n_rows)
        C, symmetric to the bit, with the diagonal of A.
    """
    if graph.edges.nnz == 0:
        return A
    root = np.sqrt(graph.masses)
    whole = _Equations(graph.laplacian(), graph.edges, root, penalty)
    X = A
    del A  # so that a caller who gave it away has its memory back
    X *= root[:, None]
    X *= root
    if graph.unobserved.nnz:
        X = whole.solve(X, X.copy(), graph.unobserved)
    else:
        groups = graph.groups()
        blocks = [X[np.ix_(group, group)] for group in groups]
        X = _between(X, whole.L, groups, penalty)
        each = zip(groups, blocks, strict=True)
        for group, component in tracked(each, "components", len(groups)):
            inside = np.ix_(group, group)
            X[inside] = whole.part(group).solve(component, X[inside])
    X /= root[:, None]
    X /= root
    symmetrise(X)
    return X


def _between(X: Floats, L: sp.csr_array, groups: list[Ints], penalty: float) -> Floats:
    """Return the solution with all entries free, by the eigenvectors of each component."""
    values = np.zeros(len(X))
    vectors = []
    for group in tracked(groups, "decompositions"):
        values[group], U = scipy.linalg.eigh(L[group][:, group].toarray())
        vectors.append(U)
    np.maximum(values, 0.0, out=values)
    X = _rotated(X, groups, [U.T for U in vectors])
    for i in range(len(X)):
        X[i] *= penalty / (values[i] + values + penalty)
    return _rotated(X, groups, vectors)


def _rotated(X: Floats, groups: list[Ints], U: list[Floats]) -> Floats:
    """Return R X R' of a symmetric X, R having the blocks U on its diagonal."""
    for _ in range(2):
        for group, block in zip(groups, U, strict=True):
            X[group] = block @ X[group]
        transpose(X)
    return X


@dataclass(frozen=True)
class _Equations:
    """L X + X L + penalty * (X - A) = 0 for the pairs that are not joined.

    Attributes
    ----------
    L : csr_array of shape (n, n)
        Laplacian of the joined pairs.
    edges : csr_array of shape (n, n)
        Joined pairs.
    root : ndarray of shape (n,)
        Roots of the masses: X is sqrt(m) C sqrt(m).
    penalty : float
        Strength with which C is pulled towards A.
    """

    L: sp.csr_array
    edges: sp.csr_array
    root: Floats
    penalty: float

    def part(self, rows: Ints) -> _Equations:
        """Return the equations of a component."""
        return _Equations(
            self.L[rows][:, rows], self.edges[rows][:, rows], self.root[rows], self.penalty
        )

    def solve(self, A: Floats, X: Floats, unobserved: sp.csr_array | None = None) -> Floats:
        """Solve by conjugate gradients from X, which is overwritten.

        Entries that are joined, and the diagonal, are those of A. `unobserved`: pairs that are not drawn
        to it.
        """
        n, diagonal = len(A), np.arange(len(A))
        joined, others = self.edges.nonzero()
        fixed = np.concatenate([joined, diagonal]), np.concatenate([others, diagonal])
        X[fixed] = A[fixed]
        half_drawn = self.L + sp.diags_array(np.full(n, 0.5 * self.penalty))
        free_of_A = None if unobserved is None else unobserved.nonzero()

        def product(Y: Floats, out: Floats) -> Floats:
            half = half_drawn @ Y
            np.add(half, half.T, out=out)
            if free_of_A is not None:
                out[free_of_A] -= self.penalty * Y[free_of_A]
            out[fixed] = 0.0
            return out

        degrees = self.L.diagonal()
        inverse = degrees[:, None] + degrees
        inverse += self.penalty
        enough = max(_TOLERANCE * self.penalty, _ROUNDING * float(inverse.max()))
        residual = self.penalty * A
        if free_of_A is not None:
            inverse[free_of_A] -= self.penalty
            residual[free_of_A] = 0.0
            # Objects that are joined to no other and never observed together do not change.
            inverse[inverse <= 0.0] = 1.0
        np.divide(1.0, inverse, out=inverse)
        moved, work = np.empty((n, n)), np.empty((n, n))
        residual[fixed] = 0.0
        residual -= product(X, moved)
        direction = residual * inverse
        rho = float(np.vdot(residual, direction))
        for step in range(_MOST_STEPS):
            rounds("conjugate gradients", step, _MOST_STEPS)
            if step % _STEPS_BETWEEN_LOOKS == 0 and self._largest(residual, work) <= enough:
                return X
            product(direction, moved)
            length = rho / (float(np.vdot(direction, moved)) or 1.0)
            X += np.multiply(direction, length, out=work)
            residual -= np.multiply(moved, length, out=work)
            np.multiply(residual, inverse, out=work)
            rho, before = float(np.vdot(residual, work)), rho
            direction *= rho / (before or 1.0)
            direction += work
        self._warn()
        return X

    def _warn(self) -> None:
        warn(
            f"The similarities of ECCMS are not exact after {_MOST_STEPS} conjugate gradients: a larger "
            "penalty needs fewer.",
            ConvergenceWarning,
        )

    def _largest(self, residual: Floats, work: Floats) -> float:
        """Return the largest residual of an entry of C."""
        np.abs(residual, out=work)
        work /= self.root[:, None]
        work /= self.root
        return float(work.max())


# C is exact to 1e-8: similarities that are equal on paper are ties after rounding to this grid.
_GRID = 2.0**20


@dataclass(eq=False, repr=False)
class ECCMS(TreeClusterer):
    r"""Ensemble clustering by self-enhancement of the co-association matrix (EC-CMS).

    The pairs that at least `alpha` of the partitions put together are trusted. Objects that are
    trusted to belong together should resemble the same others, so the locally weighted similarity of
    :class:`conclust.LWEA` is smoothed along the graph of trusted pairs [1]_:

    .. math::

        \min_C \operatorname{tr}(C^\top L\, C) + \frac{\text{penalty}}{2} \lVert C - A \rVert^2, \qquad C \text{ symmetric}, \; C_{ij} = A_{ij} \text{ where trusted}

    with A the similarity and L the Laplacian of the trusted pairs' co-association. Average linkage works on 1 - C.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most the number of objects. None: the one with the longest lifetime
        in the dendrogram, from 2 on; the smallest number if tied. If all partitions (three or
        more) have K clusters, at most K.
    alpha : float, default=0.8
        Minimum share of partitions for a pair to be trusted; positive. If larger than 1, no pair is trusted, and the method is
        LWEA.
    penalty : float, default=0.4
        The paper's lambda, which keeps C close to A; positive. For large values the method becomes
        LWEA.
    theta : float, default=0.4
        Parameter of the certainty of clusters in A, as in LWEA; positive.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    certainty_ : ndarray of shape (n_clusters_of_all_partitions,)
        Certainty of each cluster, in the order of ``Ensemble.indicator``.
    components_ : ndarray of int64 of shape (n_samples,)
        Connected component of trusted pairs, consecutive from 0; -1: missing in every
        partition.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters; as in LWEA, that of the distinct rows of labels
        begins where all rows are formed.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than 10,000 distinct rows of labels.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together have the similarity of the pairs that
        trust connects them with; without any it is 0.
    EnsembleWarning
        All partitions have the same number of clusters, but a larger number has the longest lifetime.

    See Also
    --------
    LWEA : the same without smoothing, for any number of objects.

    Notes
    -----
    The authors iterate (ADMM) and stop early, which leaves errors of .06 in C. Here C is exact. Between two connected
    components of the trusted pairs, it has a closed form in the eigenvectors of their Laplacians, or for the largest component
    in sparse factors; inside a component, conjugate gradients solve a sparse system, preconditioned by sparse factors in a
    large one. C is a weighted mean of entries of A, so the box constraint of the paper is never active, and sums of C over the
    pairs
    between two components are those of A: average linkage of whole components is LWEA's.

    Objects with the same labels are one row that counts as often as it occurs, with the same C. Missing
    labels: A and co-association are over the partitions that observed both objects; pairs that none did
    are not drawn to A. Weights of the partitions count in A and in the co-association; soft members count by their most probable clusters. O(n^2 N) time for n distinct rows, and O(n^2 c) for components of at most c rows.

    References
    ----------
    .. [1] Y. Jia, S. Tao, R. Wang and Y. Wang, "Ensemble clustering via co-association matrix
       self-enhancement", IEEE Transactions on Neural Networks and Learning Systems, 2023.

    Examples
    --------
    >>> from conclust import ECCMS
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = ECCMS(n_clusters=2, alpha=0.6).fit(labels)
    >>> model.labels_, model.components_
    (array([0, 0, 1, 1]), array([0, 0, 1, 1]))
    >>> model.linkage_matrix_[:, 2].round(4)
    array([0.    , 0.7103, 0.9639])
    """

    components_: Ints = field(init=False)

    max_dense: ClassVar[int] = 10000
    method = Method(
        title="Ensemble clustering via co-association matrix self-enhancement",
        n_clusters="optional",
        cost="n^2 N + n N^2 + T N + n^2 c, c objects that trusted pairs connect: n^3 where labels are noisy",
        citation="Jia, Tao, Wang and Wang 2023, IEEE TNNLS",
    )
    parameters: ClassVar[Parameters] = {
        "alpha": Range(above=0),
        "penalty": Range(above=0),
        "theta": Range(above=0),
    }

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    alpha: float = 0.8
    penalty: float = 0.4
    theta: float = 0.4

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        self.certainty_ = cluster_certainty(ensemble, self.theta)
        pairs = pairs_of(ensemble, sp.csr_array(sp.diags_array(self.certainty_)))
        start = pairs.start
        n = len(start)
        instead = "LWEA, which is ECCMS without smoothing and needs no such matrix"
        check_dense(n, self.max_dense, "ECCMS smooths a matrix of", instead, fixed=True)
        stage("the pairs that are trusted")
        graph = confident_graph(start, self.alpha)
        with one_library_thread():
            D, unobserved = cluster_dissimilarities(ensemble, self.certainty_, None, start)
            if graph.edges.nnz:
                stage("smoothing along trusted pairs")
                np.subtract(1.0, D, out=D)
                given = [D]
                del D  # the matrix is freed while it is smoothed
                D = smoothed(given.pop(), graph, self.penalty)
                np.clip(D, 0.0, 1.0, out=D)
                D *= _GRID
                np.rint(D, out=D)
                D /= _GRID
                np.subtract(1.0, D, out=D)
                np.fill_diagonal(D, 0.0)
        if unobserved:
            warn(
                f"No partition observed both objects of {count(unobserved, 'pair')}: their similarity comes "
                "from the pairs that trusted pairs connect with them, or is 0.",
                EvidenceWarning,
            )
        tree = ClusterTree(linkage_of(D, start, "average"), pairs.born("average"), n)
        self.components_ = graph.components[start.inverse]
        return self._cut_tree(tree, ensemble)

    def _finish(self, observed: Bools) -> None:
        self.components_ = spread(self.components_, observed, -1)
