"""The number of clusters that the trees of an ensemble are cut into, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from conclust._types import Ints
from conclust.consensus.auto.agreement import agree_little
from conclust.consensus.auto.number import NO_BORDER, Support, alternatives_of, reason_of
from conclust.consensus.auto.trees import CERTAIN, Bounds, Trees
from conclust.exceptions import InputError

if TYPE_CHECKING:
    from conclust.consensus.mixture.multinomial import Components

CLASSES = "latent classes"


@dataclass(frozen=True, eq=False)
class Decision:
    """A number of clusters, and the clusters of the objects of the trees where they are no cut.

    Attributes
    ----------
    n_clusters : int
        The number.
    by : {"given", "partitions", "points"}
        Its source.
    reason : str
        Its reason, in a sentence.
    shown : int
        The number that the partitions show by themselves.
    supports : list of Support
        Supports of the numbers considered.
    alternatives : tuple of int
        Next best numbers, best first.
    labels : ndarray of int64 of shape (n_objects,) or None
        The clusters; None: a cut of the trees.
    at_least : int
        The smallest number that constraints may leave.
    given, at_most : int or None
        The number given, and the largest that constraints may make.
    classes : Components or None
        The latent classes, if they are the clusters.
    depths : tuple of float or None
        Depths of the valleys at the borders, if the points decided.
    specks : tuple of int
        Objects of the trees in groups that are too small to count as clusters of the number given.
    """

    n_clusters: int
    by: Literal["given", "partitions", "points"]
    reason: str
    shown: int
    supports: list[Support]
    alternatives: tuple[int, ...] = ()
    labels: Ints | None = None
    at_least: int = 1
    given: int | None = None
    at_most: int | None = None
    classes: Components | None = None
    depths: tuple[float, ...] | None = None
    specks: tuple[int, ...] = ()


def decide(
    trees: Trees,
    n_clusters: int | None = None,
    n_jobs: int | None = None,
    *,
    like: str | None = None,
) -> Decision:
    """Decide the number of clusters by the partitions, or by the number given.

    Parameters
    ----------
    trees : Trees
        The trees.
    n_clusters : int, default=None
        The number given.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    like : str, default=None
        The evidence of a model whose decision is taken over: latent classes or trees. None: the partitions decide.
    """
    decision = _by_trees(trees, n_clusters)
    if not trees.n_objects or trees.ensemble.is_soft:
        return decision
    K = decision.n_clusters
    if like is None:
        crossed = K == 1 or trees.cut_at(K).straddling > NO_BORDER
        with_classes = crossed and agree_little(trees.ensemble)
    else:
        with_classes = like == CLASSES
    if not with_classes:
        return decision
    from conclust.consensus.auto.classes import decided_by_classes  # not needed by a first fit

    return decided_by_classes(trees, decision, trees.matrices[CERTAIN], n_jobs)


def decision_on(trees: Trees, n_clusters: int, labels: Ints | None) -> Decision:
    """Return the decision for a number that is given; `labels` are the clusters if they are no cut."""
    refuse_impossible(n_clusters, trees, trees.bounds)
    shown, supports = trees.n_clusters_shown, trees.supports
    sentence = reason_of(n_clusters, shown, supports)
    return Decision(
        n_clusters,
        "given",
        sentence,
        shown,
        supports,
        labels=labels,
        given=n_clusters,
        at_most=trees.max_clusters,
    )


def _by_trees(trees: Trees, n_clusters: int | None) -> Decision:
    if not trees.n_objects:
        return Decision(1, "partitions", reason_of(None, 1, []), 1, [])
    if n_clusters is not None:
        return decision_on(trees, n_clusters, None)
    shown, supports = trees.n_clusters_shown, trees.supports
    reason, others = reason_of(None, shown, supports), alternatives_of(shown, supports)
    number = shown
    if shown == 1 < trees.bounds.smallest:
        number, others = possible_number(trees), ()
        reason += with_constraints(number)
    return Decision(
        number, "partitions", reason, shown, supports, others, at_most=trees.max_clusters
    )


def possible_number(trees: Trees) -> int:
    """Return the number with the largest support among those that keep the constraints."""
    bounds = trees.bounds
    allowed = [one for one in trees.supports if bounds.nearest(one.n_clusters) == one.n_clusters]
    best = max(allowed, key=lambda one: one.support, default=None)
    if best is not None and best.support > 0:
        return best.n_clusters
    return bounds.nearest(trees.n_clusters_shown)


def refuse_impossible(n_clusters: int | None, trees: Trees, bounds: Bounds) -> None:
    """Refuse a given number of clusters that does not keep the constraints."""
    if n_clusters is None or bounds.nearest(n_clusters) == min(n_clusters, trees.n_objects):
        return
    fewer = bounds.smallest > n_clusters
    why, bound = (
        ("'cannot_link' keeps at least", bounds.smallest)
        if fewer
        else ("'must_link' leaves at most", bounds.largest)
    )
    raise InputError(
        f"{why} {bound} clusters in the trees of AutoConsensus. Got n_clusters={n_clusters}: give "
        "another number, or leave out constraints."
    )


def kept_by_constraints(decision: Decision, found: int, trees: Trees, bounds: Bounds) -> Decision:
    """Return the decision with the number that keeps the constraints; `found`: the one that they make."""
    refuse_impossible(decision.given, trees, bounds)
    if decision.given is not None:
        return decision
    most = decision.at_most or found
    K = bounds.nearest(max(min(found, most), decision.at_least))
    more = "" if decision.n_clusters == K else with_constraints(K)
    return replace(decision, n_clusters=K, reason=decision.reason + more)


def with_constraints(number: int) -> str:
    """Return the sentence about a number that constraints made."""
    return f" The constraints make that {number}."
