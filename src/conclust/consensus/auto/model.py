"""Objects placed in the clusters of a decision, those of the ensemble and new ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._arrays.ratios import shares_of_rows
from conclust._types import Floats, Ints
from conclust.consensus.auto.decision import WITNESSES, Decision, kept_by_constraints
from conclust.consensus.auto.parts import Parts, exchange, share_rows
from conclust.consensus.auto.repair import repair
from conclust.consensus.auto.trees import CERTAIN, Bounds, CutOfTree, Trees
from conclust.consensus.auto.votes import clusters_with_most_votes
from conclust.consensus.auto.witnesses import nearest
from conclust.consensus.constraints import Constraints
from conclust.consensus.mixture.multinomial import Components
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import canonical_labels, indicator_of
from conclust.trees.dendrogram import cut

_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class VotingModel:
    """The clusters of a decision, in which objects are placed by their labels.

    Attributes
    ----------
    offsets : ndarray of int64 of shape (n_partitions + 1,)
        First column of each partition.
    votes : ndarray of shape (n_columns, n_clusters)
        Contribution of each cluster of a partition to the similarity with each cluster of the consensus.
    classes : Components or None
        Distributions of the labels in the clusters, if the partitions are witnesses.
    parts : Parts or None
        Parts that the constraints moved, if there are any.
    before : tuple of ndarray or None
        Tree of the objects of the trees, and their clusters, before they were changed to keep the constraints.
    """

    offsets: Ints
    votes: Floats
    classes: Components | None = None
    parts: Parts | None = None
    before: tuple[Floats, Ints] | None = None

    def fits(self, counts: Ints, n_clusters: int) -> bool:
        """Return whether the model is one of partitions with these numbers of clusters."""
        parts, classes = self.parts, self.classes
        before = n_clusters if parts is None else parts.votes_before.shape[1]
        return (
            np.array_equal(self.offsets, starts_of(counts))
            and holds(self.votes, counts.sum(), n_clusters)
            and (classes is None or classes.fits(counts, before))
            and (parts is None or parts.fits(int(counts.sum()), n_clusters))
        )

    def rows(self, codes: NDArray[Any]) -> Floats:
        """Return the memberships of objects (n, n_clusters), by the numbers of their clusters (n, n_partitions)."""
        result = np.empty((len(codes), self.votes.shape[1]))
        for begin in range(0, len(codes), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            indicator = indicator_of(codes[rows], self.offsets)
            own = None
            if self.classes is not None:
                own = self.classes.nearest(indicator.__matmul__)
                own[np.diff(indicator.indptr) == 0] = 0
            if self.parts is not None:
                result[rows] = self.parts.rows(indicator, own)
                continue
            shares = shares_of_rows(indicator @ self.votes)
            if own is not None:
                exchange(shares, own)
            result[rows] = shares
        return result

    def of_ensemble(self, ensemble: Ensemble) -> Floats:
        """Return the memberships of the objects of an ensemble, hard or soft."""
        if not ensemble.is_soft:
            return self.rows(ensemble.codes)
        shares = shares_of_rows(ensemble.indicator @ self.votes)
        if self.classes is not None:
            exchange(shares, nearest(self.classes, ensemble))
        return shares

    def keep(self, clusters: Ints) -> VotingModel:
        """Return the model of these clusters, numbered in this order."""
        parts, classes = self.parts, self.classes
        if parts is not None:
            parts = parts.keep(clusters)
        elif classes is not None:
            classes = classes.keep(clusters)
        votes = np.ascontiguousarray(self.votes[:, clusters])
        return replace(self, votes=votes, parts=parts, classes=classes)


@dataclass(frozen=True, eq=False)
class Placed:
    """All objects of an ensemble in the clusters of a decision.

    Attributes
    ----------
    membership : ndarray of shape (n_samples, n_clusters)
        Memberships of the objects.
    model : VotingModel
        Places new objects in the same clusters.
    tree : ndarray of shape (n_objects - 1, 4)
        The tree that was cut.
    evidence : str
        Its evidence, or that the partitions are witnesses of the clusters.
    straddling : float
        Extent to which fine partitions straddle the borders.
    decision : Decision
        The decision, with the number that keeps the constraints.
    """

    membership: Floats
    model: VotingModel
    tree: Floats
    evidence: str
    straddling: float
    decision: Decision


def place(trees: Trees, decision: Decision, before: Ints | None = None) -> Placed:
    """Place all objects in the clusters of a decision.

    Parameters
    ----------
    trees : Trees
        The trees.
    decision : Decision
        The number of clusters.
    before : ndarray of int64 of shape (n_samples,), default=None
        With constraints, the clusters of all objects that the constraints change. None: those of `clusters_of`.
    """
    ensemble = trees.whole
    offsets = ensemble.offsets
    if not trees.n_objects:
        model = VotingModel(offsets, np.ones((int(offsets[-1]), 1)))
        membership = np.ones((ensemble.n_samples, 1))
        return Placed(membership, model, np.empty((0, 4)), CERTAIN, 0.0, decision)
    chosen = _cut_of(trees, decision)
    tree, classes = trees.matrices[chosen.evidence], decision.components
    evidence = chosen.evidence if classes is None else WITNESSES
    if trees.constraints is None:
        model = VotingModel(offsets, chosen.votes, classes)
        membership = model.of_ensemble(ensemble)
        return Placed(membership, model, tree, evidence, chosen.straddling, decision)
    if before is None:
        before = clusters_of(trees, decision)
    if classes is not None:
        of_classes = nearest(classes, ensemble)
        classes = classes.keep(
            of_classes[np.unique(canonical_labels(of_classes), return_index=True)[1]]
        )
    within = trees.constraints.of(trees.objects)
    labels = before[trees.objects]
    unrepaired = tree, canonical_labels(labels)
    if within.broken(labels):
        found = repair(
            tree,
            labels,
            trees.ensemble,
            trees.counting,
            within,
            decision.given,
            decision.at_most,
        )
        tree = found.tree
        bounds = Bounds(found.smallest, found.largest or trees.n_objects)
        decision = kept_by_constraints(decision, found.n_clusters, trees, bounds)
        labels = cut(tree, decision.n_clusters)
    else:
        labels = canonical_labels(labels)
    chosen = trees.cut_along(labels)
    touched = trees.constraints.touched
    parts = Parts.of(
        trees.ensemble,
        trees.counting,
        before[trees.objects],
        chosen.labels,
        touched[trees.objects],
    )
    model = VotingModel(offsets, chosen.votes, classes, parts, unrepaired)
    membership = _constrained_rows(parts, trees, before, chosen.labels, trees.constraints)
    return Placed(membership, model, tree, evidence, chosen.straddling, decision)


def clusters_of(trees: Trees, decision: Decision) -> Ints:
    """Return the clusters of all objects without constraints, numbered by first appearance."""
    if decision.components is not None:
        return canonical_labels(nearest(decision.components, trees.whole))
    votes = _cut_of(trees, decision).votes
    return canonical_labels(clusters_with_most_votes(trees.whole, votes))


def _cut_of(trees: Trees, decision: Decision) -> CutOfTree:
    if decision.labels is None:
        return trees.cut_at(decision.n_clusters)
    return trees.cut_along(decision.labels)


def _constrained_rows(
    parts: Parts, trees: Trees, before: Ints, labels: Ints, constraints: Constraints
) -> Floats:
    """Return the membership of all objects; those of the trees keep their clusters, `labels`."""
    ensemble = trees.whole
    rows = np.empty((ensemble.n_samples, int(labels.max()) + 1))
    for begin in range(0, len(rows), _ROWS_AT_ONCE):
        block = slice(begin, begin + _ROWS_AT_ONCE)
        if ensemble.is_soft:
            indicator = ensemble.indicator[block]
        else:
            indicator = indicator_of(ensemble.codes[block], ensemble.offsets)
        rows[block] = parts.rows(indicator, before[block])
    of_trees = rows[trees.objects]
    exchange(of_trees, labels)
    rows[trees.objects] = of_trees
    share_rows(rows, constraints)
    return rows
