"""Objects placed in the clusters of a decision, those of the ensemble and new ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._arrays.ratios import shares_of_rows
from conclust._types import Floats, Ints
from conclust.consensus.auto.decision import WITNESSES, Decision, kept_by_constraints
from conclust.consensus.auto.repair import repair
from conclust.consensus.auto.trees import CERTAIN, CutOfTree, Trees
from conclust.consensus.auto.votes import part_of, votes_for
from conclust.consensus.auto.witnesses import nearest
from conclust.consensus.mixture.multinomial import Components
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import canonical_labels, indicator_of, one_hot
from conclust.trees.dendrogram import cut

_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class VotingModel:
    """The clusters of a decision, in which objects are placed by their labels.

    A cluster has parts if constraints moved some: the intersections of the clusters before and after. An object goes with the
    most similar part, of those of its cluster before. Its share of a cluster is its mean similarity with the most similar part
    of it; if that is largest elsewhere, the two shares are exchanged.

    Attributes
    ----------
    offsets : ndarray of int64 of shape (n_partitions + 1,)
        First column of each partition.
    votes : ndarray of shape (n_columns, n_parts)
        Contribution of each cluster of a partition to the similarity with each part of the consensus.
    after : ndarray of int64 of shape (n_parts,)
        The cluster of each part, in increasing order.
    classes : Components or None
        Distributions of the labels in the clusters, if the partitions are witnesses.
    before : VotingModel or None
        The clusters that the constraints changed, if there are any.
    parts_before : ndarray of int64 of shape (n_parts,) or None
        The cluster of each part among these.
    tree_before : tuple of ndarray or None
        Tree of the objects of the trees, and their clusters, before they were changed.
    """

    offsets: Ints
    votes: Floats
    after: Ints
    classes: Components | None = None
    before: VotingModel | None = None
    parts_before: Ints | None = None
    tree_before: tuple[Floats, Ints] | None = None

    def fits(self, counts: Ints, n_clusters: int) -> bool:
        """Return whether the model is one of partitions with these numbers of clusters."""
        fits = (
            np.array_equal(self.offsets, starts_of(counts))
            and holds(self.votes, counts.sum(), len(self.after))
            and bool((np.diff(self.after) >= 0).all())
            and np.array_equal(np.unique(self.after), np.arange(n_clusters))
            and (self.classes is None or self.classes.fits(counts, n_clusters))
        )
        if self.before is None or self.parts_before is None:
            return fits
        n_before = len(self.before.after)
        return (
            fits
            and self.before.fits(counts, n_before)
            and holds(self.parts_before, len(self.after))
            and bool(np.isin(self.parts_before, np.arange(n_before)).all())
        )

    def shares(self, indicator: sp.csr_array, own: Ints | None = None) -> Floats:
        """Return memberships (n, n_clusters) of objects by their clusters in the partitions (n, n_columns).

        `own` : their clusters before the constraints, or their most probable ones if the partitions are witnesses, where known.
        """
        sums = indicator @ self.votes
        if self.before is None or self.parts_before is None:
            shares = shares_of_rows(sums)
            if own is None and self.classes is not None:
                own = self.classes.nearest(indicator.__matmul__)
                own[np.diff(indicator.indptr) == 0] = 0
        else:
            if own is None:
                own = self.before.shares(indicator).argmax(axis=1)
            clusters = range(int(self.after[-1]) + 1)
            nearest = [sums[:, self.after == cluster].max(axis=1) for cluster in clusters]
            shares = shares_of_rows(np.column_stack(nearest))
            elsewhere = np.not_equal.outer(own, self.parts_before)
            elsewhere[elsewhere.all(axis=1)] = False  # a cluster without objects in the trees
            sums[elsewhere] = -1.0
            own = self.after[sums.argmax(axis=1)]
        if own is not None:
            _exchange(shares, own)
        return shares

    def rows(self, codes: NDArray[Any], own: Ints | None = None) -> Floats:
        """Return the memberships of objects by the numbers of their clusters (n, n_partitions); `own` as in `shares`."""
        return self._in_blocks(
            lambda rows: indicator_of(codes[rows], self.offsets), len(codes), own
        )

    def of_ensemble(self, ensemble: Ensemble, own: Ints | None = None) -> Floats:
        """Return the memberships of the objects of an ensemble, hard or soft; `own` as in `shares`."""
        if not ensemble.is_soft:
            return self.rows(ensemble.codes, own)
        if own is None and self.classes is not None:
            own = nearest(self.classes, ensemble)
        return self._in_blocks(ensemble.indicator.__getitem__, ensemble.n_samples, own)

    def _in_blocks(
        self, indicator: Callable[[slice], sp.csr_array], n: int, own: Ints | None
    ) -> Floats:
        blocks = [slice(at, at + _ROWS_AT_ONCE) for at in range(0, n, _ROWS_AT_ONCE)]
        return np.concatenate(
            [self.shares(indicator(rows), None if own is None else own[rows]) for rows in blocks]
        )

    def keep(self, clusters: Ints) -> VotingModel:
        """Return the model of these clusters, numbered in this order."""
        number = np.full(int(self.after[-1]) + 1, -1, dtype=np.int64)
        number[clusters] = np.arange(len(clusters))
        after = number[self.after]
        order = np.argsort(after, kind="stable")[np.count_nonzero(after < 0) :]
        return replace(
            self,
            votes=np.ascontiguousarray(self.votes[:, order]),
            after=after[order],
            classes=self.classes and self.classes.keep(clusters),
            parts_before=None if self.parts_before is None else self.parts_before[order],
        )


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
    """Place all objects in the clusters of a decision.

    Parameters
    ----------
    trees : Trees
        The trees.
    decision : Decision
        The number of clusters.
    before : ndarray of int64 of shape (n_samples,), default=None
        With constraints, the clusters of all objects that the constraints change. None: those of the decision.
    """
    ensemble, constraints = trees.whole, trees.constraints
    offsets = ensemble.offsets
    if not trees.n_objects:
        votes, labels = np.ones((int(offsets[-1]), 1)), np.zeros(1, dtype=np.int64)
        none = CutOfTree(np.empty((0, 4)), CERTAIN, 0.0, votes, labels[:0])
        model = VotingModel(offsets, votes, labels)
        return Placed(np.ones((ensemble.n_samples, 1)), model, none, decision)
    if decision.labels is None:
        chosen = trees.cut_at(decision.n_clusters)
    else:
        chosen = trees.cut_along(decision.labels)
    if decision.components is not None:
        chosen = replace(chosen, evidence=WITNESSES)
    votes = chosen.votes
    model = VotingModel(offsets, votes, np.arange(votes.shape[1]), decision.components)
    if constraints is None:
        return Placed(model.of_ensemble(ensemble), model, chosen, decision)
    if before is None:
        before = model.of_ensemble(ensemble).argmax(axis=1)
    else:
        votes = votes_for(trees.ensemble, before[trees.objects], trees.counting)
        model = VotingModel(offsets, votes, np.arange(votes.shape[1]))
    tree = chosen.tree
    labels = canonical_labels(before[trees.objects])
    unrepaired = tree, labels
    within = constraints.of(trees.objects)
    if within.broken(labels):
        given, most = decision.given, decision.at_most
        found = repair(tree, labels, trees.ensemble, trees.counting, within, given, most)
        tree = found.tree
        decision = kept_by_constraints(decision, found.n_clusters, trees, found.bounds)
        labels = cut(tree, decision.n_clusters)
    chosen = replace(trees.cut_along(labels), tree=tree, evidence=chosen.evidence)
    # Objects with constraints, which may have moved alone, count only in clusters without others.
    touched = within.touched
    counted = np.flatnonzero(~touched | ~np.isin(labels, labels[~touched]))
    pairs, parts = np.unique(
        np.stack([labels, before[trees.objects]])[:, counted], axis=1, return_inverse=True
    )
    votes = votes_for(
        part_of(trees.ensemble, counted), parts.ravel().astype(np.int64), trees.counting
    )
    model = VotingModel(
        offsets, votes, pairs[0], before=model, parts_before=pairs[1], tree_before=unrepaired
    )
    membership = model.of_ensemble(ensemble, before)
    # Objects that must be together have the mean of their shares.
    linked = np.flatnonzero(constraints.touched)
    group = canonical_labels(constraints.groups[linked])
    held = one_hot(group, int(group.max()) + 1)
    sums = held.T @ membership[linked]
    membership[linked] = (sums / np.bincount(group)[:, np.newaxis])[group]
    of_trees = membership[trees.objects]
    _exchange(of_trees, labels)
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
