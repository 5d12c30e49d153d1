"""Places objects in clusters after parts have moved from one cluster to another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from conclust._arrays.containers import holds
from conclust._arrays.ratios import shares_of_rows
from conclust._types import Bools, Floats, Ints
from conclust.consensus.auto.votes import votes_for
from conclust.consensus.constraints import Constraints
from conclust.ensemble import Ensemble


@dataclass(frozen=True, eq=False)
class Parts:
    """The intersections of the clusters of two partitions: objects that moved together.

    Objects with constraints, which may have moved alone, count only in clusters without others.

    Attributes
    ----------
    votes : ndarray of shape (n_columns, n_parts)
        Amount that membership in each cluster of the ensemble adds to the mean similarity with each part.
    before, after : ndarray of int64 of shape (n_parts,)
        The clusters that each part belongs to. Those after are in increasing order.
    votes_before : ndarray of shape (n_columns, n_clusters_before)
        The same for the clusters before.
    """

    votes: Floats
    before: Ints
    after: Ints
    votes_before: Floats

    @classmethod
    def of(
        cls, ensemble: Ensemble, counting: Floats, before: Ints, after: Ints, touched: Bools
    ) -> Parts:
        """Return the parts of two partitions of the objects of an ensemble.

        `counting` is as in `votes_for`, `touched` a mask of the objects with constraints.
        """
        counted = ~touched | ~np.isin(after, after[~touched])
        objects = np.flatnonzero(counted)
        pairs, parts = np.unique(np.stack([after, before])[:, objects], axis=1, return_inverse=True)
        part = ensemble if counted.all() else ensemble.part(objects)
        votes = votes_for(part, parts.ravel().astype(np.int64), counting)
        return cls(votes, pairs[1], pairs[0], votes_for(ensemble, before, counting))

    def fits(self, n_columns: int, n_clusters: int) -> bool:
        """Return whether the parts are parts of `n_columns` clusters of an ensemble and of `n_clusters` of the consensus."""
        n_before, n_parts = self.votes_before.shape[1], len(self.after)
        return (
            holds(self.votes, n_columns, n_parts)
            and holds(self.votes_before, n_columns, n_before)
            and holds(self.before, n_parts)
            and bool((self.before >= 0).all() and (self.before < n_before).all())
            and bool((np.diff(self.after) >= 0).all())
            and np.array_equal(np.unique(self.after), np.arange(n_clusters))
        )

    def rows(self, indicator: sp.csr_array, before: Ints | None = None) -> Floats:
        """Return memberships (n, n_clusters_after) by the clusters that objects have in an ensemble.

        An object goes with the part that is most similar to it, of those of its cluster before. Its share of a cluster is
        its mean similarity with the most similar part. If that is largest elsewhere, the two shares are exchanged.

        Parameters
        ----------
        indicator : sparse array of shape (n, n_columns)
            The clusters in the ensemble.
        before : ndarray of int64 of shape (n,), default=None
            The clusters before. None: those of the largest mean similarity.
        """
        if before is None:
            before = (indicator @ self.votes_before).argmax(axis=1)
        sums = indicator @ self.votes
        clusters = range(int(self.after[-1]) + 1)
        nearest = [sums[:, self.after == cluster].max(axis=1) for cluster in clusters]
        shares = shares_of_rows(np.column_stack(nearest))
        elsewhere = self.before != before[:, np.newaxis]
        elsewhere[elsewhere.all(axis=1)] = False  # a cluster without objects in the trees
        sums[elsewhere] = -1.0
        exchange(shares, self.after[sums.argmax(axis=1)])
        return shares

    def keep(self, clusters: Ints) -> Parts:
        """Return the parts of these clusters after, numbered in this order."""
        number = np.full(int(self.after[-1]) + 1, -1, dtype=np.int64)
        number[clusters] = np.arange(len(clusters))
        after = number[self.after]
        order = np.argsort(after, kind="stable")[np.count_nonzero(after < 0) :]
        return replace(
            self,
            votes=np.ascontiguousarray(self.votes[:, order]),
            before=self.before[order],
            after=after[order],
        )


def exchange(rows: Floats, labels: Ints) -> None:
    """Exchange shares, so that each object has its largest share in its own cluster."""
    largest = rows.argmax(axis=1)
    at = np.flatnonzero(largest != labels)
    there, here = largest[at], labels[at]
    rows[at, there], rows[at, here] = rows[at, here], rows[at, there]
    tied = at[rows[at].argmax(axis=1) != here]
    rows[tied, labels[tied]] = np.nextafter(rows[tied, labels[tied]], 2.0)


def share_rows(rows: Floats, constraints: Constraints) -> None:
    """Set the rows of objects with constraints to the mean of their group, or to one cluster where that is another's."""
    touched = np.flatnonzero(constraints.touched)
    clusters = rows[touched].argmax(axis=1)
    _, group = np.unique(constraints.groups[touched], return_inverse=True)
    counts = np.bincount(group).astype(np.float64)
    means = np.zeros((len(counts), rows.shape[1]))
    np.add.at(means, group, rows[touched])
    group_means = (means / counts[:, np.newaxis])[group]
    elsewhere = np.flatnonzero(group_means.argmax(axis=1) != clusters)
    group_means[elsewhere] = 0.0
    group_means[elsewhere, clusters[elsewhere]] = 1.0
    rows[touched] = group_means
