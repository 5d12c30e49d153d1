"""The number of clusters that an ensemble has, or its clusters, and the facts that decide.

The clusters are those under which the labels of the members are most probable, each member an independent witness. The labels are independent within a cluster of the consensus, with a distribution of their own in each. Summed over all
distributions (Dirichlet, Jeffreys' prior), this is the exact integrated classification likelihood: it has no parameter, and
pays for each cluster. It is maximised over cuts of the trees, and the partitions that EM finds from the best of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import gammaln

from conclust._arrays.rows import ratio
from conclust._progress import stage
from conclust._types import Floats, Ints
from conclust.consensus.auto.trees import CutOfTree, Support, Trees, largest_number
from conclust.consensus.auto.votes import CLEAR, ENOUGH, PRIOR, REPEATS, ROUNDS, SEEN, shared_with
from conclust.consensus.constraints import Bounds
from conclust.consensus.mixture.multinomial import Components
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import canonical_labels, over_partitions
from conclust.spectra.gram import IndicatorProducts
from conclust.trees.agglomeration import clusters_at


class Candidate(NamedTuple):
    """A partition of the objects, with labels 0 to K - 1, and its integrated classification likelihood (the logarithm)."""

    labels: Ints
    likelihood: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    def worth(self, repeats: float) -> float:
        """Return the likelihood if `repeats` members count as one."""
        of_sizes = _of_sizes(np.bincount(self.labels))
        return (self.likelihood - of_sizes) / repeats + of_sizes


class Witnesses:
    """The members as witnesses of a partition of their objects.

    Parameters
    ----------
    ensemble : Ensemble
        The members. Of soft ones, the most probable cluster of each object counts.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        # By number, and not by first appearance as `Ensemble.most_probable`: columns of the table are those of the ensemble.
        self.members = Ensemble.numbered(ensemble.codes, ensemble.names, ensemble.weights)
        sizes = shared_with(self.members, np.zeros(ensemble.n_samples, dtype=np.int64))
        clusters = np.maximum(self.members.cluster_counts, 1).astype(np.float64)[:, np.newaxis]
        # In all no more than an average cluster of the member: more would hide clusters as small as its own.
        prior = np.minimum(PRIOR, np.maximum(self._by_member(sizes), 1.0) / clusters**2)
        self._prior, self._in_all = prior[self.members.column_partitions], prior * clusters

    def _by_member(self, of_clusters: Floats) -> Floats:
        """Sum over the clusters of each member."""
        return np.asarray(over_partitions(of_clusters, self.members.offsets))

    def _of_clusters(self, shared: Floats) -> Floats:
        """Return the log-probability of the members' labels in each cluster (K,)."""
        observed = self._by_member(shared) + self._in_all
        known = self._by_member(gammaln(shared + self._prior) - gammaln(self._prior))
        of_members = known - gammaln(observed) + gammaln(self._in_all)
        return np.asarray(self.members.partition_weights @ of_members)

    def likelihood(self, labels: Ints) -> float:
        """Return the integrated classification likelihood (its logarithm) of a partition."""
        return float(
            self._of_clusters(shared_with(self.members, labels)).sum()
            + _of_sizes(np.bincount(labels))
        )

    def improved(self, start: Candidate) -> Candidate:
        """Return the most probable clusters after rounds of EM from a partition."""
        products, labels = IndicatorProducts.of(self.members), start.labels
        components = self.distributions(labels)
        for at in range(ROUNDS):
            rows, _ = components.posterior(products.times, np.ones(len(labels)))
            following = rows.argmax(axis=1)
            if at and np.array_equal(following, labels):
                break
            labels = following
            components = self._posterior_mean(products.sums(rows), rows.sum(axis=0))
        labels = canonical_labels(components.nearest(products.times))
        return Candidate(labels, self.likelihood(labels))

    def distributions(self, labels: Ints) -> Components:
        """Return the distributions of the members' labels in the clusters of a partition."""
        return self._posterior_mean(shared_with(self.members, labels), np.bincount(labels))

    def _posterior_mean(self, shared: Floats, sizes: Any) -> Components:
        """Return the posterior mean of the distributions of the labels in each cluster, and of the sizes."""
        members, sizes = self.members, sizes + 1.0
        observed = self._by_member(shared) + self._in_all
        theta = (shared + self._prior) / observed[members.column_partitions]
        return Components(members.offsets, members.column_weights, sizes / sizes.sum(), theta)

    def repeats(self, labels: Ints) -> float:
        """Return the number of members that count as one: 1 if they are independent within the clusters of a partition.

        It is the variance of the log-likelihoods of objects within their clusters, relative to the sum of the variances by member.
        """
        members, shared = self.members, shared_with(self.members, labels)
        logs = np.log(self._posterior_mean(shared, np.bincount(labels)).theta)
        means = ratio(self._by_member(shared * logs), self._by_member(shared))
        spread = (logs - means[members.column_partitions]) * members.column_weights[:, np.newaxis]
        times, own = IndicatorProducts.of(members).times, (np.arange(len(labels)), labels)
        together, alone, n = times(spread)[own], times(spread * spread)[own].sum(), len(labels)
        # A variance of 1 for each object beside theirs: where members hardly vary, they do not repeat each other either.
        return max(1.0, float((together @ together + n) / (alone + n)))

    def fails(self, cut: Ints, found: Candidate, least: float) -> bool:
        """Return whether a cut explains less than the least share of what a partition explains, beside one cluster."""
        one = self.likelihood(np.zeros_like(cut))
        return self.likelihood(cut) - one < least * (found.likelihood - one)

    def _cuts(self, tree: Floats, smallest: int, most: int) -> Iterator[Candidate]:
        """Yield the cuts of a tree into `most` to `smallest` clusters: each joins two clusters of the one before."""
        labels = clusters_at(tree, most)
        shared, sizes = shared_with(self.members, labels), np.bincount(labels)
        values, columns = self._of_clusters(shared), np.arange(most)
        while True:
            likelihood = float(values[columns].sum() + _of_sizes(sizes[columns]))
            yield Candidate(canonical_labels(labels), likelihood)
            if len(columns) == smallest:
                return
            coarser = clusters_at(tree, len(columns) - 1)
            into = np.empty(len(columns), dtype=np.int64)
            into[labels] = coarser
            one, other = columns[into == np.bincount(into).argmax()]
            shared[:, one] += shared[:, other]
            sizes[one] += sizes[other]
            values[one] = self._of_clusters(shared[:, [one]])[0]
            columns = columns[np.unique(into, return_index=True)[1]]
            labels = coarser

    @property
    def typical(self) -> float:
        """Median number of clusters of the members that count."""
        counting = self.members.partition_weights > 0
        return float(np.median(self.members.cluster_counts[counting]))

    @property
    def common(self) -> int | None:
        """Number of clusters of all members, if they are one partition."""
        rows, counting = len(self.members.distinct_rows()), self.members.partition_weights > 0
        return rows if (self.members.cluster_counts[counting] == rows).all() else None

    def searched(self, trees: Trees, smallest: int, largest: int) -> dict[int, Candidate]:
        """Return the most probable partition into each number of clusters, the most probable number first.

        They are cuts of the trees, and what EM finds from the most probable cut.
        """
        most = min(largest, trees.n_objects)
        cuts = (self._cuts(tree, min(smallest, most), most) for tree in trees.matrices.values())
        best = list(_best_of_each(chain.from_iterable(cuts)).values())
        found = self.improved(best[0])
        return _best_of_each([*best, found] if found.n_clusters >= smallest else best)


def _best_of_each(found: Iterable[Candidate]) -> dict[int, Candidate]:
    """Return the most probable partition into each number of clusters, the most probable number first."""
    best: dict[int, Candidate] = {}
    for one in sorted(found, key=lambda one: (-one.likelihood, one.n_clusters)):
        best.setdefault(one.n_clusters, one)
    return best


def _of_sizes(sizes: Ints) -> float:
    """Return the log-probability of the sizes of clusters.

    All sizes of K clusters are equally probable, and the K! numberings of the clusters are one partition.
    """
    K = len(sizes)
    return float(gammaln(sizes + 1).sum() + gammaln(K) - gammaln(sizes.sum() + K) + gammaln(K + 1))


# Evidence of clusters that are not a cut of a tree.
WITNESSES = "witnesses"


@dataclass(frozen=True)
class Testimony:
    """The most probable partition, and what says whether the members are witnesses of it.

    Attributes
    ----------
    n_clusters : int
        Its number of clusters.
    repeats : float
        Number of members that count as one in it (`Witnesses.repeats`).
    shown : int
        The most probable number if that many count as one.
    gain : float
        Logarithm of the likelihood of this number, less that of one cluster.
    typical : float
        Median number of clusters of the members.
    clear : int or None
        A number of clusters with clear support in the trees, if it is smaller than `n_clusters`, or if that is 1.
    near : tuple of int
        Other numbers whose best partitions are nearly as probable, best first: within a unit of the logarithm per member.
    seen : bool
        Whether a cut of the tree explains enough of what it explains (`SEEN`).
    """

    n_clusters: int
    repeats: float
    shown: int
    gain: float
    typical: float
    clear: int | None
    near: tuple[int, ...]
    seen: bool

    @property
    def independent(self) -> bool:
        """Whether the members are independent witnesses of its clusters, and the tree shows something of these."""
        return self.seen and self.repeats < REPEATS

    @property
    def counts(self) -> bool:
        """Whether it determines the number: if not, the members are cuts of something coarser."""
        return self.clear is None and (self.independent or self.n_clusters <= self.typical)


@dataclass(frozen=True)
class AtBorders:
    """Borders of clusters among the points.

    Attributes
    ----------
    kind : {"too few", "none", "asked", "touching", "clear", "overlapping"}
        The points are too few for borders; no division has borders; more clusters were asked for than there are borders; few points
        between clusters that touch; few points near each border; few points near borders that the other half of the points showed.
    depths : tuple of float
        Depths of the borders.
    needed : int
        Number of points that borders need, if there are too few.
    divided : int
        Number of clusters, if some of them were then divided further; else 0.
    """

    kind: Literal["too few", "none", "asked", "touching", "clear", "overlapping"]
    depths: tuple[float, ...] = ()
    needed: int = 0
    divided: int = 0


@dataclass(frozen=True, eq=False)
class Decision:
    """A number of clusters, and the clusters of the objects of the trees where they are no cut.

    Attributes
    ----------
    n_clusters : int
        The number.
    by : {"given", "partitions", "points"}
        Its source.
    shown : int
        The number that the partitions show by themselves.
    seen : int or None
        The number that the points show, beside a number given or a larger one asked for; None without points.
    testimony : Testimony or None
        The most probable partition; None if it was not computed.
    supports : list of Support
        Supports of the numbers of clusters in the trees; empty if the members are witnesses.
    alternatives : tuple of int
        Next best numbers, best first.
    labels : ndarray of int64 of shape (n_objects,) or None
        The clusters; None: a cut of the trees.
    components : Components or None
        The distributions of the labels in the clusters, if the members are witnesses.
    given : int or None
        The number given.
    at_least, at_most : int, int or None
        Smallest and largest number that constraints may leave.
    constrained : int or None
        The number that the constraints made, if it is another.
    borders : AtBorders or None
        Borders of the clusters among the points, if these decided.
    near : tuple of int
        Other numbers that the points support as well; if the number is 1, the number of the best division.
    depths : tuple of float or None
        Depths of the valleys at the borders, if the points decided.
    specks : tuple of int
        Objects of groups that were too small to count as clusters.
    """

    n_clusters: int
    by: Literal["given", "partitions", "points"]
    shown: int
    testimony: Testimony | None = None
    seen: int | None = None
    supports: list[Support] = field(default_factory=list)
    alternatives: tuple[int, ...] = ()
    labels: Ints | None = None
    components: Components | None = None
    given: int | None = None
    at_least: int = 1
    at_most: int | None = None
    constrained: int | None = None
    borders: AtBorders | None = None
    near: tuple[int, ...] = ()
    depths: tuple[float, ...] | None = None
    specks: tuple[int, ...] = ()

    def cut(self, trees: Trees) -> CutOfTree:
        """Return its clusters of the objects of the trees."""
        return trees.cut_along(trees.at(self.n_clusters) if self.labels is None else self.labels)


def decide(trees: Trees, n_clusters: int | None = None, *, like: str | None = None) -> Decision:
    """Decide the clusters by the members: as witnesses of them, or else by the borders that the trees show.

    Parameters
    ----------
    trees : Trees
        The trees.
    n_clusters : int, default=None
        The number given.
    like : str, default=None
        The evidence of a model whose decision about witnesses is taken over. None: the members decide.
    """
    if not trees.n_objects:
        return Decision(1, "partitions", 1)
    refuse_impossible(n_clusters, trees, trees.bounds)
    stage("number of clusters")
    if like not in (None, WITNESSES):
        return decision_on(trees, n_clusters)
    witnesses = Witnesses(trees.ensemble)
    largest = trees.max_clusters or largest_number(trees.ensemble)
    common = witnesses.common
    best = witnesses.searched(trees, min(common or 1, largest), min(common or largest, largest))
    testimony = _testimony(trees, witnesses, best)
    if testimony.counts:
        decision = _decided(trees, n_clusters, testimony.shown, testimony.near)
    else:
        decision = decision_on(trees, n_clusters)
    decision, K = replace(decision, testimony=testimony), decision.n_clusters
    if not (testimony.counts and testimony.shown == K and testimony.independent):
        best = witnesses.searched(trees, K, K)
    # Objects that no member separates are in no candidate.
    if K not in best:
        return decision
    labels, cut = best[K].labels, trees.at(K)
    if like or witnesses.repeats(labels) < REPEATS or witnesses.fails(cut, best[K], ENOUGH):
        return replace(decision, labels=labels, components=witnesses.distributions(labels))
    return decision


def _decided(
    trees: Trees, n_clusters: int | None, shown: int, alternatives: tuple[int, ...]
) -> Decision:
    """Decide for the number given, or for the nearest to the one shown that keeps the constraints."""
    K = trees.bounds.nearest(shown) if n_clusters is None else n_clusters
    return Decision(
        K,
        "partitions" if n_clusters is None else "given",
        shown,
        alternatives=alternatives if n_clusters is None else (),
        given=n_clusters,
        at_most=trees.max_clusters,
        constrained=None if K in (n_clusters, shown) else K,
    )


def _testimony(trees: Trees, witnesses: Witnesses, best: dict[int, Candidate]) -> Testimony:
    first = next(iter(best.values()))
    repeats = witnesses.repeats(first.labels)
    # Members that are not independent count as few as they do within two clusters.
    as_one = witnesses.repeats(best[2].labels) if repeats >= REPEATS and 2 in best else 1.0
    worth = {K: one.worth(as_one) for K, one in best.items()}
    K, *others = sorted(worth, key=lambda K: -worth[K])
    least, of_trees = worth[K] - trees.ensemble.n_partitions / as_one, trees.n_clusters_shown
    is_clear = max((one.support for one in trees.supports), default=0.0) > CLEAR
    return Testimony(
        first.n_clusters,
        repeats,
        K,
        best[K].likelihood - witnesses.likelihood(np.zeros(trees.n_objects, dtype=np.int64)),
        witnesses.typical,
        of_trees if is_clear and (of_trees < first.n_clusters or first.n_clusters == 1) else None,
        tuple(other for other in others if worth[other] >= least),
        not witnesses.fails(trees.at(first.n_clusters), first, SEEN),
    )


def decision_on(trees: Trees, n_clusters: int | None, labels: Ints | None = None) -> Decision:
    """Decide by the borders that the trees show, unless a number is given; `labels` are the clusters if they are no cut."""
    refuse_impossible(n_clusters, trees, trees.bounds)
    shown, supports = trees.n_clusters_shown, trees.supports
    ordered = sorted(supports, key=lambda one: -one.support)
    others = [one.n_clusters for one in ordered if one.support > 0 and one.n_clusters != shown]
    decision = _decided(trees, n_clusters, shown, tuple(others))
    return replace(decision, supports=supports, labels=labels)


def refuse_impossible(n_clusters: int | None, trees: Trees, bounds: Bounds) -> None:
    """Refuse a given number of clusters that does not keep the constraints."""
    if n_clusters is not None:
        bounds.check(min(n_clusters, trees.n_objects), "AutoConsensus")
