"""AutoConsensus, the default method, and the objects that it places in the clusters of a decision, new ones too."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import holds, starts_of
from conclust._arrays.rows import shares_of_rows
from conclust._parameters import Parameters, Range, check_parameters
from conclust._random import RandomStateLike
from conclust._sklearn import forget_results
from conclust._types import Bools, Floats, Ints
from conclust._validation import refuse
from conclust.consensus.auto.decision import (
    WITNESSES,
    Decision,
    Witnesses,
    decide,
    refuse_impossible,
)
from conclust.consensus.auto.repair import repaired
from conclust.consensus.auto.trees import CERTAIN, CutOfTree, Support, Trees, grow
from conclust.consensus.auto.votes import with_relative_weights
from conclust.consensus.base import PlacingClusterer
from conclust.consensus.constraints import Bounds
from conclust.consensus.method import Method, NumberOfClusters, Task
from conclust.consensus.mixture.multinomial import Components
from conclust.ensemble import Ensemble, Missing
from conclust.ensemble.labels import canonical_labels, indicator_of, one_hot

if TYPE_CHECKING:
    from conclust.words.reason import Reason

_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class VotingModel:
    """The clusters of a decision, in which objects are placed by their labels.

    An object's share of a cluster is its mean similarity with it. If the partitions are witnesses and its most probable cluster is
    another than that with the largest share, the two shares are exchanged.

    Attributes
    ----------
    offsets : ndarray of int64 of shape (n_partitions + 1,)
        First column of each partition.
    votes : ndarray of shape (n_columns, n_clusters)
        Contribution of each cluster of a partition to the similarity with each cluster of the consensus.
    classes : Components or None
        Distributions of the labels in the clusters, if the partitions are witnesses.
    """

    offsets: Ints
    votes: Floats
    classes: Components | None = None

    def fits(self, counts: Ints, n_clusters: int) -> bool:
        """Return whether the model is one of partitions with these numbers of clusters."""
        return (
            np.array_equal(self.offsets, starts_of(counts))
            and holds(self.votes, counts.sum(), n_clusters)
            and (self.classes is None or self.classes.fits(counts, n_clusters))
        )

    def rows(self, codes: NDArray[Any], soft: sp.csr_array | None = None) -> Floats:
        """Return the memberships (n, n_clusters) of objects by the numbers of their clusters (n, n_partitions).

        `soft` : their memberships in these (n, n_columns), if the partitions are soft.
        """
        memberships = np.empty((len(codes), self.votes.shape[1]))
        for at in range(0, len(codes), _ROWS_AT_ONCE):
            rows = slice(at, at + _ROWS_AT_ONCE)
            indicator = indicator_of(codes[rows], self.offsets)
            shares = shares_of_rows((indicator if soft is None else soft[rows]) @ self.votes)
            if self.classes is not None:
                own = self.classes.nearest(indicator.__matmul__)
                own[np.diff(indicator.indptr) == 0] = 0
                _exchange(shares, own)
            memberships[rows] = shares
        return memberships

    def keep(self, clusters: Ints) -> VotingModel:
        """Return the model of these clusters, numbered in this order."""
        votes = np.ascontiguousarray(self.votes[:, clusters])
        return replace(self, votes=votes, classes=self.classes and self.classes.keep(clusters))


@dataclass(frozen=True, eq=False)
class Placed:
    """All objects of an ensemble in the clusters of a decision.

    Attributes
    ----------
    membership : ndarray of shape (n_samples, n_clusters)
        Memberships of the objects.
    model : VotingModel
        Places new objects in the same clusters.
    cut : CutOfTree
        The clusters of the objects of the trees.
    decision : Decision
        The decision, with the number that keeps the constraints.
    """

    membership: Floats
    model: VotingModel
    cut: CutOfTree
    decision: Decision


def place(trees: Trees, decision: Decision, before: Ints | None = None) -> Placed:
    """Place all objects in the clusters of a decision, changed where constraints require it.

    Parameters
    ----------
    trees : Trees
        The trees.
    decision : Decision
        The number of clusters.
    before : ndarray of int64 of shape (n_objects,), default=None
        With constraints, the clusters of the objects of the trees that they change. None: those of the decision.
    """
    ensemble, constraints = trees.whole, trees.constraints
    offsets = ensemble.offsets
    if not trees.n_objects:
        votes, labels = np.ones((int(offsets[-1]), 1)), np.zeros(0, dtype=np.int64)
        model, alone = VotingModel(offsets, votes), np.ones((ensemble.n_samples, 1))
        return Placed(alone, model, CutOfTree(0.0, votes, labels), decision)
    chosen = decision.cut(trees)
    model = VotingModel(offsets, chosen.votes, decision.components)
    soft = ensemble.indicator if ensemble.is_soft else None
    membership = model.rows(ensemble.codes, soft)
    if constraints is None:
        return Placed(membership, model, chosen, decision)
    within = constraints.of(trees.objects)
    labels = membership.argmax(axis=1)[trees.objects] if before is None else before
    if within.broken(labels):
        least, most = decision.at_least, decision.at_most
        if decision.given is not None:
            least = most = decision.given
        labels = repaired(trees, canonical_labels(labels), within, least, most)
        found = int(labels.max()) + 1
        refuse_impossible(decision.given, trees, Bounds(found, trees.bounds.largest))
        if decision.n_clusters != found:
            decision = replace(decision, n_clusters=found, constrained=found)
        chosen = trees.cut_along(labels)
        classes = decision.components and Witnesses(trees.ensemble).distributions(labels)
        model = VotingModel(offsets, chosen.votes, classes)
        membership = model.rows(ensemble.codes, soft)
    # Objects that must be together have the mean of their shares.
    linked = np.flatnonzero(constraints.touched)
    group = canonical_labels(constraints.groups[linked])
    held = one_hot(group, int(group.max()) + 1)
    sums = held.T @ membership[linked]
    membership[linked] = (sums / np.bincount(group)[:, np.newaxis])[group]
    of_trees = membership[trees.objects]
    _exchange(of_trees, labels)
    at = np.arange(len(labels)), labels
    of_trees[at] = np.nextafter(of_trees[at], 2.0)  # equal objects may be apart: no ties
    membership[trees.objects] = of_trees
    return Placed(membership, model, chosen, decision)


def _exchange(rows: Floats, labels: Ints) -> None:
    """Exchange shares, so that each object has its largest share in its own cluster."""
    largest = rows.argmax(axis=1)
    at = np.flatnonzero(largest != labels)
    there, here = largest[at], labels[at]
    rows[at, there], rows[at, here] = rows[at, here], rows[at, there]
    tied = at[rows[at].argmax(axis=1) != here]
    rows[tied, labels[tied]] = np.nextafter(rows[tied, labels[tied]], 2.0)


@dataclass(eq=False, repr=False)
class AutoConsensus(PlacingClusterer):
    """Consensus that chooses the number of clusters and the evidence by itself.

    The consensus is the partition under which the labels of the members are most probable, assuming that each member is an
    independent witness of it; if no clusters make them more probable, it is one cluster. Members that depend on each other
    within the clusters are not witnesses: the clusters are then a cut of a tree, unless this explains much less; and if there
    are more of them than the median member has, or if the co-association trees clearly show a smaller number, the borders in
    the trees determine the number.

    The probability is the integrated classification likelihood: labels are independent within a cluster, with any
    distribution (Jeffreys' prior, in all worth no more objects than an average cluster of the member), and all sizes of clusters
    are equally probable. It is maximised over cuts of two trees, and the partition that EM finds from the best of these. If all
    members are the same partition, it is the consensus. The number of members that count as one is the variance of an object's
    log-likelihood in its cluster, divided by the sum of the variances by member. Members are independent if this number is
    below 1.8 and a cut explains at least .6 of what the most probable clusters do; otherwise the number of clusters is the most
    probable one if as many members count as one as within two clusters. A cut explains much less than the most probable
    partition into as many clusters
    if its logarithm, relative to one cluster, is less than three quarters as large. The trees are grown by average linkage on the
    similarity of pairs: the first counts all clusters equally (:class:`conclust.EAC`) and, if labels are missing, adds to each pair a partition with the mean of
    all pairs, as a pair that few partitions observed is nearly unknown; the second weights clusters by their
    certainty (:class:`conclust.LWEA`), and partitions by the square of their certainty
    (:func:`conclust.weighting.certainty_weights`), and is the one that is cut. The support of a number is its lifetime in the
    first tree, minus the extent to which clusters of the members straddle its borders in the tree where that is least; it is
    clear above .1. `n_clusters` replaces only the number. Objects outside the trees, and new ones, are placed by the same
    distributions, or in the
    cluster of the highest mean similarity.

    Constraints change these clusters as little as possible. The second tree, cut into 30, divides the clusters into pieces. A
    constraint between objects that are typical of their pieces is a vote for these to be together or apart. The pieces are merged
    again by average linkage, first those of one cluster or with votes for it, and never those with more votes against it; if
    this breaks fewer constraints, these are the clusters. Objects whose constraints are still broken move alone, to the most
    similar cluster that the constraints allow, and a new one if there is none. An answer about two typical objects therefore moves their pieces. If
    `n_clusters` is None, constraints that split or join clusters change the number. `linkage_matrix_` is the tree without constraints.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most the number of objects; fewer are found if objects cannot be distinguished. None: the number
        that the ensemble supports, which may be 1.
    max_clusters : int, default=None
        Maximum number considered if `n_clusters` is None; it may be larger than that of any partition. None: the largest
        number of clusters of a partition (with fewer clusters than objects), but at most 2**23 divided by the number of clusters of
        all partitions.
    max_samples : int, default=3000
        Maximum number of objects in the trees (two square matrices of this size, 8 bytes per entry); drawn at random if there
        are more. Objects with the same labels count once, up to ten times as many objects. At least 2.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the objects for the trees if there are more than `max_samples`; nothing else is random.
    n_jobs : int, default=None
        Threads for counting evidence. The result does not depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Mean similarity with the objects of each cluster (as in the second tree), rows scaled to sum to
        1: a share of the evidence, not a probability of being correct. If the share in another cluster is larger than in the
        object's own, the two are exchanged. Rows of objects that are noise in all partitions are uniform.
    n_clusters_ : int
        Number of clusters.
    evidence_ : {"certain", "witnesses"}
        Evidence: the second tree was cut, or the partitions are witnesses of the clusters.
    linkage_matrix_ : ndarray of shape (s - 1, 4)
        Second tree, of s objects, in SciPy's format.
    tree_objects_ : ndarray of int64 of shape (s,)
        Objects of the tree, in increasing order: all that are in a cluster of some partition, up to `max_samples`.
    straddling_ : float
        Extent to which clusters of the finer half of the partitions lie across the borders found, relative
        to chance: 0 for clusters that all of them cut apart, about 1 for arbitrary ones.
    n_clusters_shown_ : int
        Number of clusters that the ensemble shows, even if another one was given.
    n_clusters_cut_ : int
        Number of clusters into which the tree was cut; ``n_clusters_`` is smaller if objects cannot be distinguished.
    number_by_ : {"given", "partitions", "points"}
        Source of the number of clusters; "points" in a :class:`conclust.ConsensusClustering`.
    alternatives_ : tuple of int
        Next best numbers of clusters, best first: those whose partitions are nearly as probable (the logarithm differs by at most
        one per partition); if the trees determine the number, those with support or, if the points chose the number, those
        with more evidence than one cluster. Empty if there are none, or if the number was given.
    supports_ : list of Support
        The support of the numbers of clusters that were considered (``n_clusters``, ``lifetime``, ``straddling``,
        ``support``), by decreasing lifetime. The list ends where no further number could win. It is empty if
        the trees do not determine the number.
    reason_ : str
        Reason for the number of clusters: the number, why, and what to do next.
    n_features_in_ : int
        Number of partitions.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together count as dissimilarity 1 in the second tree.

    Notes
    -----
    `experiments/labels` measures how often the number is correct, and for which pools. `experiments/default` does so for
    clusterings of points, where the points decide better than their clusterings (:class:`conclust.ConsensusClustering`).

    O(s^2 N) time for s = min(n, max_samples) objects and N partitions, and O(n N K) to place all.

    References
    ----------
    .. [1] A. L. N. Fred and A. K. Jain, "Combining multiple clusterings using evidence
       accumulation", IEEE TPAMI 27(6), 2005. (The lifetime.)
    .. [2] D. Huang, C.-D. Wang and J.-H. Lai, "Locally weighted ensemble clustering", IEEE
       Transactions on Cybernetics 48(5), 2018. (The certainty.)
    .. [3] C. Biernacki, G. Celeux and G. Govaert, "Assessing a mixture model for clustering with the integrated
       completed likelihood", IEEE TPAMI 22(7), 2000. (The likelihood.)

    Examples
    --------
    >>> from conclust import AutoConsensus
    >>> labels = [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 1, 3], [1, 1, 4], [1, 2, 4]]
    >>> model = AutoConsensus().fit(labels)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.alternatives_
    (3, 4, 5)
    >>> print(model.reason_)
    2 clusters: this number best explains where the clusterings agree (log-likelihood 4 above one cluster). The next best number is 3: pass n_clusters=3 to see it.
    """

    evidence_: str = field(init=False)
    linkage_matrix_: Floats = field(init=False)
    tree_objects_: Ints = field(init=False)
    straddling_: float = field(init=False)
    n_clusters_shown_: int = field(init=False)
    supports_: list[Support] = field(init=False)
    n_clusters_cut_: int = field(init=False)
    number_by_: str = field(init=False)
    alternatives_: tuple[int, ...] = field(init=False)
    _decision: Decision = field(init=False)
    _model: VotingModel = field(init=False)

    method = Method(
        title="Evidence trees, with the number of clusters and the evidence chosen",
        n_clusters="optional",
        membership=True,
        soft_members=True,
        cost="s^2 N + n N K + n N^2 + T N, s = min(n, 3000)",
        citation="Fred and Jain 2005, IEEE TPAMI 27; Huang, Wang and Lai 2018, IEEE TCYB 48",
        use="you have no reason to choose another: it chooses the number of clusters and the evidence",
    )
    parameters: ClassVar[Parameters] = {"max_samples": Range(at_least=2)}
    _for_draws: ClassVar[bool] = True

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    max_clusters: int | None = None
    max_samples: int = 3000
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        trees = self._grow(ensemble)
        return self._take(place(trees, decide(trees, self.n_clusters)), trees, observed)

    def grow(
        self, X: Any, links: tuple[Any, Any] | None = None, among: Ints | None = None
    ) -> Growth:
        """Read an ensemble, and grow its trees, of some of its objects: the first part of ``fit``; `place` is the last."""
        check_parameters(self)
        forget_results(self)
        task = self._begin(X, links)
        if among is not None:
            among = np.flatnonzero(np.isin(np.flatnonzero(task.observed), among))
        return Growth(task, self._grow(task.part, among))

    def place(self, growth: Growth, decision: Decision, before: Ints | None = None) -> Self:
        """Place all objects in the clusters of a decision, as ``fit`` does; `before` as in :func:`place`."""
        task, trees = growth
        membership = self._take(place(trees, decision, before), trees, task.observed)
        self._end(task, self._settle(task.part, membership))
        return self

    def _fit_like(self, X: Any, model: Any) -> Self:
        """Fit, with the members as witnesses if a fitted model has them so, and else with a tree."""
        growth = self.grow(X)
        return self.place(growth, decide(growth.trees, self.n_clusters, like=model.evidence_))

    def _grow(self, ensemble: Ensemble, among: Ints | None = None) -> Trees:
        return grow(
            with_relative_weights(ensemble),
            n_clusters=self.n_clusters,
            max_clusters=self.max_clusters,
            max_samples=self.max_samples,
            constraints=self._constraints,
            among=among,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _take(self, placed: Placed, trees: Trees, observed: Bools) -> Floats:
        """Set the attributes, and return the memberships of the observed objects."""
        decision, cut = placed.decision, placed.cut
        self.tree_objects_ = np.flatnonzero(observed)[trees.objects]
        self.linkage_matrix_ = trees.matrices[CERTAIN] if trees.n_objects else np.empty((0, 4))
        self.evidence_ = CERTAIN if decision.components is None else WITNESSES
        self.straddling_, self._model = cut.straddling, placed.model
        self.n_clusters_cut_, self.number_by_ = decision.n_clusters, decision.by
        self.n_clusters_shown_, self.supports_ = decision.shown, decision.supports
        self.alternatives_ = decision.alternatives
        self._decision = replace(decision, labels=None)
        return placed.membership

    def _check_parameters(self, ensemble: Ensemble) -> None:
        needed = 0 if self.n_clusters is None else self.n_clusters
        if self.max_samples < needed:
            owner = f"AutoConsensus with n_clusters={needed}"
            refuse("max_samples", owner, f"an int in the range [{needed}, inf)", self.max_samples)

    def _takes_constraints(self) -> bool:
        return True

    @property
    def reason_parts(self) -> Reason:
        """The reason for the number of clusters, in its parts."""
        from conclust.words.number import reason_of

        check_is_fitted(self)
        return reason_of(self._decision, self.n_clusters_)

    def _keep_clusters(self, clusters: Ints) -> None:
        self._model = self._model.keep(clusters)

    def _fits(self, counts: Ints) -> bool:
        return self._model.fits(counts, self.membership_.shape[1])

    def _place(self, codes: NDArray[Any]) -> Floats:
        return self._model.rows(codes)


class Growth(NamedTuple):
    """An ensemble that was read, and its trees.

    Attributes
    ----------
    task : Task
        The ensemble, and its objects that a partition observed.
    trees : Trees
        The trees of these.
    """

    task: Task
    trees: Trees

    @property
    def objects(self) -> Ints:
        """Objects of the trees among those of the ensemble, in rising order."""
        return np.asarray(np.flatnonzero(self.task.observed)[self.trees.objects])
