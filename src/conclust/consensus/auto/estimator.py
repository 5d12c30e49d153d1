"""AutoConsensus, the default method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.ratios import shares_of_rows
from conclust._parameters import Parameters, Range
from conclust._progress import stage
from conclust._random import RandomStateLike, generator
from conclust._types import Bools, Floats, Ints
from conclust._validation import refuse
from conclust.consensus.auto.agreement import agree_little
from conclust.consensus.auto.number import (
    NO_BORDER,
    Straddling,
    Support,
    alternatives_of,
    best_number,
    fine_partitions,
    reason_of,
)
from conclust.consensus.auto.parts import Parts, exchange, share_rows
from conclust.consensus.auto.repair import repair
from conclust.consensus.auto.trees import ChosenNumber, CutOfTree, GrownTrees, NumberChooser
from conclust.consensus.auto.votes import (
    certain_clusters,
    clusters_with_most_votes,
    part_of,
    votes_for,
    with_relative_weights,
)
from conclust.consensus.base import Method, PlacingClusterer
from conclust.consensus.constraints import Constraints
from conclust.consensus.linkage.lwea import certain_tree
from conclust.consensus.method import NumberOfClusters
from conclust.consensus.suitability import warn_of_few_objects
from conclust.ensemble import Ensemble, Missing
from conclust.ensemble.labels import canonical_labels, indicator_of
from conclust.exceptions import InputError
from conclust.trees.agglomeration import dense_tree, starting_clusters
from conclust.trees.clusterwise import warn_of_pairs
from conclust.trees.dendrogram import cut

if TYPE_CHECKING:
    from conclust.consensus.mixture.multinomial import Components

_ROWS_AT_ONCE = 1 << 14
_ALIKE, _CERTAIN, _CLASSES = "all alike", "certain", "latent classes"
# Difference in straddling, relative to chance, that counts as clear.
_CLEARLY = 0.02
Refiner: TypeAlias = Callable[[Ints], Ints | None]
# All objects enter the trees if they have few distinct rows of labels, up to this multiple of max_samples.
_EQUAL_ROWS = 10


class _Within(NamedTuple):
    """Clusters of the objects of the trees before the constraints, and the constraints on these objects."""

    labels: Ints
    constraints: Constraints


@dataclass(eq=False, repr=False)
class AutoConsensus(PlacingClusterer):
    """Consensus that chooses the number of clusters and the evidence by itself.

    Two trees of the objects are grown by average linkage on the similarity of pairs. The first counts all clusters
    equally (:class:`conclust.EAC`). The second weights clusters by their certainty (:class:`conclust.LWEA`), and
    partitions by the square of their certainty (:func:`conclust.weighting.certainty_weights`). The chosen number of
    clusters has the longest lifetime in the first tree, after two deductions. The lifetime is reduced by the extent
    to which clusters of the partitions straddle the borders: all fine partitions separate clusters with a gap between
    them, but without a gap, each partition draws the border elsewhere. It is also reduced if the clusters are uneven,
    because a border that cuts off a few objects says little about the number of clusters among the others. If no
    number has support, the answer is one cluster (if partitions have different numbers of clusters). Both trees are
    cut at this number, or at the given one, and the second is used unless the borders of the first are clearly less
    straddled. Finally every object goes to the cluster with the highest mean similarity, where clusters count by
    their certainty. The same rule assigns new objects, and objects that were not in the trees.

    Attributes of the objects, such as answers of a survey or labels by a crowd, agree little, and so do clusterings
    that each see little of the data. If three or more hard partitions agree little (one explains less than half of
    the entropy of another, averaged by certainty) and cross the borders of the tree (straddling above .15), the
    clusters are latent classes: partitions are independent within a class. Their mixture is fitted by EM
    (:class:`conclust.MixtureModel`), from the clusters of the tree and from those of :class:`conclust.KCC`.
    :class:`conclust.ConsensusClustering` does not use latent classes, because its last step uses the points. The
    trees still determine the number, because clusterings of a single cloud in many dimensions agree just as little,
    and latent classes would divide the cloud; if the trees show another number without support, ``reason_`` names the number of classes.
    The exception is a number without support that all partitions have in common: a smaller number of classes (even
    one) replaces it, if it has the lowest integrated completed likelihood (ICL) and each class can have as many
    objects as parameters. If no number has support, three or more classes are found if their number has the lowest ICL and the
    longest lifetime, at least .08, as labels with independent errors have.

    Constraints change these clusters as little as possible. The chosen tree, cut into 30, divides the clusters into pieces. An
    object with a constraint represents its piece if it is typical of the piece, unless a more typical object or at least as many
    other constraints contradict this; otherwise it stands alone. Pieces with objects that must be together are joined. Average
    linkage then merges the pieces, those of the same cluster first, but never pieces that must be apart; objects that stand alone
    join the most similar cluster that the constraints allow. An answer about two typical objects therefore moves their pieces. If
    `n_clusters` is None, constraints that split or join clusters change the number.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most the number of objects; fewer are found if objects cannot be distinguished. None:
        the number that the ensemble shows, which may be 1.
    max_clusters : int, default=None
        Maximum number considered if `n_clusters` is None. None: twice the largest number
        of clusters of a partition, at least 10 and at most 60.
    max_samples : int, default=3000
        Maximum number of objects in the trees (two matrices of this size squared, 8 bytes per entry); drawn at random
        if there are more. Objects with the same labels count once, up to ten times as many objects. At least 2.
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
        1: a share of the evidence, not a probability of being correct. With latent classes or constraints, the share
        in another cluster may be larger than in the object's own; then the two are exchanged. Rows of objects that are
        noise in all partitions are uniform.
    n_clusters_ : int
        Number of clusters.
    evidence_ : {"all alike", "certain", "latent classes"}
        Evidence of the chosen tree, or that latent classes are the clusters.
    linkage_matrix_ : ndarray of shape (s - 1, 4)
        Chosen tree of s objects, in SciPy's format; the second one if latent classes are the clusters.
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
        Next best numbers of clusters, best first: those with support or, if the points chose the number, those
        with more evidence than one cluster; of latent classes, those with a lower ICL than one. Empty if there are none, or if
        the number was given.
    supports_ : list of Support
        The support of the numbers of clusters that were considered (``n_clusters``, ``lifetime``, ``straddling``,
        ``evenness``, ``support``), by decreasing lifetime. The list ends where no further number could win. It is empty if
        latent classes determined the number.
    reason_ : str
        Reason for the number of clusters, in a sentence.
    n_features_in_ : int
        Number of partitions.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together count as dissimilarity 1 in the trees.

    Notes
    -----
    The number is correct for clusters with a gap or a dip between them, if the partitions can separate
    their shapes. If all partitions have the same number of clusters (three or more), they cannot show a larger one:
    the result is at most this number, and equals it if no number has support. `experiments/default` measures how
    often the number is correct, and on which data.

    O(s^2 N) time for s = min(n, max_samples) objects and N partitions, and O(n N K) to place all. Latent classes take
    O(s N K^2) more per iteration, with K = their number.

    References
    ----------
    .. [1] A. L. N. Fred and A. K. Jain, "Combining multiple clusterings using evidence
       accumulation", IEEE TPAMI 27(6), 2005. (The lifetime.)
    .. [2] D. Huang, C.-D. Wang and J.-H. Lai, "Locally weighted ensemble clustering", IEEE
       Transactions on Cybernetics 48(5), 2018. (The certainty.)
    .. [3] C. Biernacki, G. Celeux and G. Govaert, "Assessing a mixture model for clustering with the integrated
       completed likelihood", IEEE TPAMI 22(7), 2000. (The number of latent classes.)

    Examples
    --------
    >>> from conclust import AutoConsensus
    >>> labels = [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 1, 3], [1, 1, 4], [1, 2, 4]]
    >>> model = AutoConsensus().fit(labels)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.alternatives_
    ()
    >>> model.reason_
    '2 clusters have the largest support, 0.50 (lifetime 0.50, borders straddled 0.00 of chance, evenness 1.00).'
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
    _reason: str = field(init=False)
    _votes: Floats = field(init=False)
    _given_votes: Floats | None = field(init=False, default=None)
    _parts: Parts | None = field(init=False, default=None)
    _before: tuple[Floats, Ints] | None = field(init=False, default=None)
    _classes: Components | None = field(init=False, default=None)
    _with_classes: bool | None = field(init=False, default=None)
    _offsets: Ints = field(init=False)

    method = Method(
        title="Trees of evidence, number and evidence chosen",
        n_clusters="optional",
        membership=True,
        soft_members=True,
        cost="s^2 N + n N K + n N^2 + T N, s = min(n, 3000)",
        citation="Fred and Jain 2005, IEEE TPAMI 27; Huang, Wang and Lai 2018, IEEE TCYB 48",
    )
    parameters: ClassVar[Parameters] = {"max_samples": Range(at_least=2)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    max_clusters: int | None = None
    max_samples: int = 3000
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        ensemble = with_relative_weights(ensemble)
        self._offsets, self._classes = ensemble.offsets, None
        self._parts, self._before = None, None
        if self._given_votes is not None:
            self._votes = self._given_votes
            return self._place(ensemble.codes)
        objects = self._objects(ensemble)
        self.tree_objects_ = np.flatnonzero(observed)[objects]
        if not len(objects):  # all objects are noise: no two share a cluster
            self.n_clusters_cut_, self._reason = 1, reason_of(None, 1, [])
            self.number_by_, self.alternatives_ = "partitions", ()
            self.linkage_matrix_ = np.empty((0, 4))
            self._settle(_ALIKE, 0.0, 1, [], np.ones((int(self._offsets[-1]), 1)))
            return np.ones((ensemble.n_samples, 1))
        if len(objects) == self.max_samples < ensemble.n_samples:
            warn_of_few_objects(ensemble, objects, self.n_clusters)
        trees = self._grow(ensemble, objects)
        trees, number = self._by_classes(trees, self._number_of(trees))
        if number.labels is None:
            chosen = trees.cut_at(number.n_clusters)
        else:
            chosen = trees.cut_along(number.labels)
        self.linkage_matrix_ = trees.matrices[chosen.evidence]
        before, touched = None, np.empty(0, dtype=np.bool_)
        if self._constraints is not None:
            touched = self._constraints.touched
            before = self._before_constraints(ensemble, chosen, observed)
            within = _Within(before[objects], self._constraints.of(objects))
            self._before = self.linkage_matrix_, canonical_labels(within.labels)
            if within.constraints.broken(within.labels):
                chosen, number = self._repaired(trees, chosen, number, within)
            else:
                chosen = trees.cut_along(canonical_labels(within.labels))
        self.n_clusters_cut_, self.number_by_ = number.n_clusters, number.by
        self._reason, self.alternatives_ = number.reason, number.alternatives
        indicated = trees.n_clusters_shown
        evidence = chosen.evidence if self._classes is None else _CLASSES
        self._settle(evidence, chosen.straddling, indicated, trees.supports, chosen.votes)
        if before is not None:
            self._parts = Parts.of(
                trees.ensemble, trees.counting, before[objects], chosen.labels, touched[objects]
            )
            return self._constrained_rows(ensemble, before, objects, chosen.labels)
        if ensemble.is_soft:
            return shares_of_rows(ensemble.indicator @ self._votes)
        return self._place(ensemble.codes)

    def _before_constraints(self, ensemble: Ensemble, chosen: CutOfTree, observed: Bools) -> Ints:
        """Return the clusters of all objects without constraints, refined if all objects are observed."""
        if self._classes is None:
            labels = canonical_labels(clusters_with_most_votes(ensemble, chosen.votes))
        else:
            classes = self._classes.place(ensemble.codes).argmax(axis=1)
            labels = canonical_labels(classes)
            self._classes = self._classes.keep(classes[np.unique(labels, return_index=True)[1]])
        refine: Refiner | None = getattr(self, "_refiner", None)
        refined = refine(labels) if refine is not None and observed.all() else None
        return labels if refined is None else refined

    def _constrained_rows(
        self, ensemble: Ensemble, before: Ints, objects: Ints, labels: Ints
    ) -> Floats:
        """Return the membership of all objects; those of the trees keep their clusters, `labels`."""
        assert self._constraints is not None
        assert self._parts is not None
        rows = np.empty((ensemble.n_samples, int(labels.max()) + 1))
        for begin in range(0, len(rows), _ROWS_AT_ONCE):
            block = slice(begin, begin + _ROWS_AT_ONCE)
            if ensemble.is_soft:
                indicator = ensemble.indicator[block]
            else:
                indicator = indicator_of(ensemble.codes[block], self._offsets)
            rows[block] = self._parts.rows(indicator, before[block])
        of_trees = rows[objects]
        exchange(of_trees, labels)
        rows[objects] = of_trees
        share_rows(rows, self._constraints)
        return rows

    def _check_parameters(self, ensemble: Ensemble) -> None:
        needed = 0 if self.n_clusters is None else self.n_clusters
        if self.max_samples < needed:
            owner = f"AutoConsensus with n_clusters={needed}"
            refuse("max_samples", owner, f"an int in the range [{needed}, inf)", self.max_samples)

    def _takes_constraints(self) -> bool:
        return True

    def _number_of(self, trees: GrownTrees) -> ChosenNumber:
        """Return the number of clusters: the given one, or the choice of the points or the partitions."""
        indicated, supports = trees.n_clusters_shown, trees.supports
        self._check_possible(trees)
        chooser: NumberChooser | None = getattr(self, "_number_chooser", None)
        decided = None
        if chooser is not None:
            decided = chooser(replace(trees, smallest=1))
            if decided.n_clusters == 1 < trees.smallest:
                decided = chooser(trees)
        if self.n_clusters is not None:
            sentence = reason_of(self.n_clusters, indicated, supports)
            labels = None if decided is None else decided.labels
            return ChosenNumber(self.n_clusters, sentence, "given", labels=labels)
        if decided is not None:
            return decided
        if indicated == 1 < trees.smallest:
            number = trees.possible_number()
            sentence = reason_of(None, indicated, supports) + _with_constraints(number)
            return ChosenNumber(number, sentence, "partitions")
        reason, others = reason_of(None, indicated, supports), alternatives_of(indicated, supports)
        return ChosenNumber(indicated, reason, "partitions", others)

    def _by_classes(
        self, trees: GrownTrees, number: ChosenNumber
    ) -> tuple[GrownTrees, ChosenNumber]:
        """Decide by latent classes, if the partitions agree little and cross the borders of the tree.

        Points decide by themselves: their neighbours and centres do more for weak members.
        """
        if getattr(self, "_number_chooser", None) is not None:
            return trees, number
        K, with_classes = number.n_clusters, self._with_classes
        if with_classes is None:
            crossed = K == 1 or trees.cut_at(K).straddling > NO_BORDER
            with_classes = crossed and agree_little(trees.ensemble)
        if not with_classes or trees.ensemble.is_soft:
            return trees, number
        from conclust.consensus.auto.classes import decided_by_classes  # not needed by a first fit

        trees, number, self._classes = decided_by_classes(
            trees, number, trees.matrices[_CERTAIN], self.max_clusters, self.n_jobs
        )
        return trees, number

    def _grow(self, ensemble: Ensemble, objects: Ints) -> GrownTrees:
        """Grow the trees of some objects, and determine the number of clusters from them."""
        part = part_of(ensemble, objects)
        weighted, certainty = certain_clusters(ensemble, objects)
        counting = weighted.column_weights * certainty
        alike, pairs = dense_tree(part, "average", max_dense=part.n_samples, n_jobs=self.n_jobs)
        warn_of_pairs(pairs)
        matrices = {
            _ALIKE: alike,
            _CERTAIN: certain_tree(
                weighted, certainty, normalized=False, n_jobs=self.n_jobs
            ).matrix,
        }
        return self._grown(part, matrices, counting)

    def _repaired(
        self, trees: GrownTrees, chosen: CutOfTree, number: ChosenNumber, within: _Within
    ) -> tuple[CutOfTree, ChosenNumber]:
        """Return the cut and the number that keep the constraints, and are otherwise those before."""
        found = repair(
            self.linkage_matrix_,
            within.labels,
            trees.ensemble,
            trees.counting,
            within.constraints,
            self.n_clusters,
            self.max_clusters,
        )
        kept = replace(trees, smallest=found.smallest, largest=found.largest)
        self._check_possible(kept)
        K = self.n_clusters
        if K is None:
            most = self.max_clusters or found.n_clusters
            K = kept.possible(max(min(found.n_clusters, most), number.at_least))
            more = "" if number.n_clusters == K else _with_constraints(K)
            number = number._replace(n_clusters=K, reason=number.reason + more)
        self.linkage_matrix_ = found.tree
        return trees.cut_along(cut(found.tree, K)), number

    def _check_possible(self, trees: GrownTrees) -> None:
        """Refuse a given number of clusters that does not keep the constraints."""
        K = self.n_clusters
        if K is None or trees.possible(K) == min(K, trees.n_objects):
            return
        fewer = trees.smallest > K
        why, bound = (
            ("'cannot_link' keeps at least", trees.smallest)
            if fewer
            else ("'must_link' leaves at most", trees.largest)
        )
        raise InputError(
            f"{why} {bound} clusters in the trees of AutoConsensus. Got n_clusters={K}: give "
            "another number, or leave out constraints."
        )

    def _grown(self, part: Ensemble, matrices: dict[str, Floats], counting: Floats) -> GrownTrees:
        """Return the trees with the number of clusters that they indicate."""
        stage("number of clusters")
        straddling = Straddling(part, fine_partitions(part))
        trees = list(matrices.values())
        indicated, supports = best_number(part, trees, straddling, self.max_clusters)

        def choose(cuts: dict[str, Ints]) -> CutOfTree:
            votes = {name: votes_for(part, labels, counting) for name, labels in cuts.items()}
            placed = {
                name: clusters_with_most_votes(part, votes_of_name)
                for name, votes_of_name in votes.items()
            }
            across = {name: straddling.of(labels) for name, labels in placed.items()}
            name = _taken(across)
            return CutOfTree(name, across[name], votes[name], cuts[name])

        trees_of = GrownTrees(
            self.tree_objects_, matrices, indicated, supports, choose, part, counting
        )
        if self._constraints is None:
            return trees_of
        within = self._constraints
        return replace(trees_of, smallest=within.least_clusters(), largest=within.n_groups)

    @contextmanager
    def refined_by(self, refine: Refiner | None) -> Iterator[None]:
        """Let a function refine the clusters in ``fit`` before they are changed to keep constraints.

        Parameters
        ----------
        refine : callable or None
            Takes the clusters of all objects, 0 to K - 1, and returns others, or None to keep them. It is not called if
            there are no constraints.

        Yields
        ------
        None
        """
        self._refiner: Refiner | None = refine
        try:
            yield
        finally:
            self._refiner = None

    @contextmanager
    def number_chosen_by(self, chooser: NumberChooser) -> Iterator[None]:
        """Let a function choose the number of clusters in ``fit``, or the cut into a given `n_clusters`.

        Parameters
        ----------
        chooser : callable
            Takes the `GrownTrees`, and returns a `ChosenNumber`.

        Yields
        ------
        None
        """
        self._number_chooser: NumberChooser | None = chooser
        try:
            yield
        finally:
            self._number_chooser = None

    @property
    def is_constrained(self) -> bool:
        """Whether ``fit`` was given constraints."""
        return self._parts is not None

    @property
    def before_constraints(self) -> tuple[Floats, Ints]:
        """Tree of the objects of the trees, and their clusters, before they were changed to keep the constraints."""
        if self._before is None:
            return self.linkage_matrix_, canonical_labels(self.labels_[self.tree_objects_])
        return self._before

    def shares_within(self, codes: NDArray[Any], before: Ints) -> Floats:
        """Return memberships of objects whose clusters are known, but for the changes that keep the constraints.

        Parameters
        ----------
        codes : ndarray of shape (n_samples, n_partitions)
            Their clusters in the partitions, by number.
        before : ndarray of int64 of shape (n_samples,)
            Their clusters before these changes, by the number that `refined_by` gave them.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to 1.
        """
        assert self._parts is not None
        return self._parts.rows(indicator_of(codes, self._offsets), before)

    @property
    def votes(self) -> Floats:
        """Contribution of each cluster of a partition to the similarity with each cluster of the consensus.

        The shape is (n_columns, n_clusters). With it `by_votes` places the same objects in the same clusters, and
        no tree is grown, unless they are latent classes.
        """
        check_is_fitted(self)
        return self._votes

    @contextmanager
    def by_votes(self, votes: Floats) -> Iterator[None]:
        """Let ``fit`` place the objects by the `votes` of an earlier fit to the same partitions.

        Parameters
        ----------
        votes : ndarray of shape (n_columns, n_clusters)
            The `votes` of that fit.

        Yields
        ------
        None
        """
        self._given_votes = votes
        try:
            yield
        finally:
            self._given_votes = None

    @contextmanager
    def _deciding_like(self, model: Any) -> Iterator[None]:
        """Let ``fit`` use latent classes if a fitted model used them, and else a tree."""
        self._with_classes = model.evidence_ == _CLASSES
        try:
            yield
        finally:
            self._with_classes = None

    @property
    def reason_(self) -> str:
        """Reason for the number of clusters, in a sentence."""
        check_is_fitted(self)
        given, found = self.n_clusters, self.n_clusters_
        if given is None or found >= given:
            return self._reason
        return f"{self._reason} Only {found} cluster{'s have objects' if found > 1 else ' has objects'}."

    def _objects(self, ensemble: Ensemble) -> Ints:
        """Return the objects of the trees: some of those that are in a cluster of any partition."""
        per_object = ensemble.indicator if ensemble.is_soft else None
        if per_object is not None:
            clustered = np.flatnonzero(np.diff(per_object.indptr) > 0)
        elif ensemble.has_noise or ensemble.has_missing:
            clustered = np.flatnonzero((ensemble.labels >= 0).any(axis=1))
        else:
            clustered = np.arange(ensemble.n_samples)
        touched = np.empty(0, dtype=np.int64)
        if self._constraints is not None:
            touched = np.flatnonzero(self._constraints.touched)
            if len(touched) > self.max_samples:
                raise InputError(
                    f"Constraints are about {len(touched)} objects, and the trees have max_samples={self.max_samples}. "
                    "Raise max_samples."
                )
            clustered = np.union1d(clustered, touched)
        if len(clustered) > self.max_samples and not self._few_rows(ensemble):
            rng = generator(self.random_state, "AutoConsensus")
            others = np.setdiff1d(clustered, touched) if len(touched) else clustered
            drawn = rng.permutation(others)[: self.max_samples - len(touched)]
            clustered = np.sort(np.concatenate([touched, drawn]))
        return clustered

    def _few_rows(self, ensemble: Ensemble) -> bool:
        """Return whether there are so few distinct rows of labels that trees of all objects cost no more."""
        few_objects = ensemble.n_samples <= _EQUAL_ROWS * self.max_samples
        return few_objects and len(starting_clusters(ensemble)) <= self.max_samples

    def _settle(
        self, evidence: str, across: float, indicated: int, supports: list[Support], votes: Floats
    ) -> None:
        self.evidence_, self.straddling_ = evidence, across
        self.n_clusters_shown_, self.supports_ = indicated, supports
        self._votes = votes

    def _keep_clusters(self, clusters: Ints) -> None:
        self._votes = np.ascontiguousarray(self._votes[:, clusters])
        if self._parts is not None:
            self._parts = self._parts.keep(clusters)
        elif self._classes is not None:
            self._classes = self._classes.keep(clusters)

    def _place(self, codes: NDArray[Any]) -> Floats:
        result = np.empty((len(codes), self._votes.shape[1]))
        for begin in range(0, len(codes), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            indicator = indicator_of(codes[rows], self._offsets)
            of_classes = None if self._classes is None else self._classes.place(codes[rows])
            if self._parts is not None:
                before = None if of_classes is None else of_classes.argmax(axis=1)
                result[rows] = self._parts.rows(indicator, before)
                continue
            shares = shares_of_rows(indicator @ self._votes)
            if of_classes is not None:
                exchange(shares, of_classes.argmax(axis=1))
            result[rows] = shares
        return result


def _with_constraints(number: int) -> str:
    return f" The constraints make that {number}."


def _taken(across: dict[str, float]) -> str:
    """Choose the tree whose borders are straddled less."""
    return _ALIKE if across[_ALIKE] < across[_CERTAIN] - _CLEARLY else _CERTAIN
