"""The number of clusters that an ensemble has, or its clusters, and the facts that decide."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from conclust._progress import stage
from conclust._types import Ints
from conclust.consensus.auto.constants import CLEAR
from conclust.consensus.auto.number import Support, largest_number
from conclust.consensus.auto.trees import Trees
from conclust.consensus.auto.witnesses import Candidate, Witnesses
from conclust.consensus.constraints import Bounds
from conclust.consensus.mixture.multinomial import Components

# Evidence of clusters that are not a cut of a tree.
WITNESSES = "witnesses"


@dataclass(frozen=True)
class Testimony:
    """The most probable partition, if the members are independent witnesses of it.

    Attributes
    ----------
    n_clusters : int
        Its number of clusters.
    gain : float
        Logarithm of its likelihood, less that of one cluster.
    typical : float
        Median number of clusters of the members.
    clear : int or None
        A number of clusters with clear support in the trees, if it is smaller, or if this one is 1.
    near : tuple of int
        Other numbers whose best partitions are nearly as probable, best first: within a unit of the logarithm per member.
    """

    n_clusters: int
    gain: float
    typical: float
    clear: int | None
    near: tuple[int, ...]

    @property
    def counts(self) -> bool:
        """Whether the members are witnesses: if not, they are cuts of something coarser."""
        return self.n_clusters <= self.typical and self.clear is None


class Division(NamedTuple):
    """Clusters of the objects of the trees, and the evidence for their borders, less the cost of each further cluster."""

    labels: Ints
    evidence: float


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
    of_points : str
        Why the points show this number, in a clause.
    near : tuple of int
        Other numbers that the points support as well; if the number is 1, the number of the best division.
    depths : tuple of float or None
        Depths of the valleys at the borders, if the points decided.
    specks : tuple of int
        Objects of groups that were too small to count as clusters.
    divisions : dict of int to Division
        The best division into each number that was found, if the points decided: the number itself and the alternatives.
    """

    n_clusters: int
    by: Literal["given", "partitions", "points"]
    shown: int
    testimony: Testimony | None = None
    supports: list[Support] = field(default_factory=list)
    alternatives: tuple[int, ...] = ()
    labels: Ints | None = None
    components: Components | None = None
    given: int | None = None
    at_least: int = 1
    at_most: int | None = None
    constrained: int | None = None
    of_points: str = ""
    near: tuple[int, ...] = ()
    depths: tuple[float, ...] | None = None
    specks: tuple[int, ...] = ()
    divisions: dict[int, Division] = field(default_factory=dict)


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
    largest = min(trees.max_clusters or largest_number(trees.ensemble), trees.n_objects)
    for best in witnesses.searched(trees, 1, largest):
        testimony = _testimony(trees, best, witnesses.typical)
        if like is None and not testimony.counts:
            return replace(decision_on(trees, n_clusters), testimony=testimony)
    decision = _decided(trees, n_clusters, testimony.n_clusters, testimony.near)
    K = decision.n_clusters
    if K not in best:
        *_, best = witnesses.searched(trees, K, K)
    labels = best[K].labels if K in best else None  # None: objects that no member separates
    components = None if labels is None else witnesses.distributions(labels)
    return replace(decision, testimony=testimony, labels=labels, components=components)


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


def _testimony(trees: Trees, best: dict[int, Candidate], typical: float) -> Testimony:
    first, *others = best.values()
    shown, least = trees.n_clusters_shown, first.likelihood - trees.ensemble.n_partitions
    is_clear = max((one.support for one in trees.supports), default=0.0) > CLEAR
    return Testimony(
        first.n_clusters,
        first.likelihood - best[1].likelihood,
        typical,
        shown if is_clear and (shown < first.n_clusters or first.n_clusters == 1) else None,
        tuple(one.n_clusters for one in others if one.likelihood >= least),
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


def kept_by_constraints(decision: Decision, found: int, trees: Trees, bounds: Bounds) -> Decision:
    """Return the decision with the number that keeps the constraints; `found`: the one that they make."""
    refuse_impossible(decision.given, trees, bounds)
    K = bounds.nearest(max(min(found, decision.at_most or found), decision.at_least))
    if decision.given is not None or decision.n_clusters == K:
        return decision
    return replace(decision, n_clusters=K, constrained=K)
