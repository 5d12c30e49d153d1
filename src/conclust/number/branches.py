"""The branches of a tree between which borders are tested, and the division into K of them with the most evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conclust._types import Bools, Floats, Ints
from conclust.number.constants import MOST_BORDERS, SMALLEST


@dataclass(frozen=True, eq=False)
class Branches:
    """The top of a tree. Its objects are put in an order in which each branch is a run of places.

    Branches 0 to n_ends - 1 are the ends, which are not divided; each further one joins two earlier ones.

    Attributes
    ----------
    order : ndarray of int64 of shape (n_objects,)
        The object at each place.
    spans : ndarray of int64 of shape (n_branches, 2)
        First place of each branch, and the one after its last.
    joined : ndarray of int64 of shape (n_joins, 2)
        The branches that each join has joined; their spans adjoin.
    tested : ndarray of bool of shape (n_joins,)
        Whether both have enough objects for a border between them.
    """

    order: Ints
    spans: Ints
    joined: Ints
    tested: Bools

    @classmethod
    def of(cls, tree: Floats) -> Branches:
        """Return the branches of a dendrogram in SciPy's format."""
        n = len(tree) + 1
        children = tree[:, :2].astype(np.int64)
        sizes = np.concatenate([np.ones(n, dtype=np.int64), tree[:, 3].astype(np.int64)])
        first = np.zeros(2 * n - 1, dtype=np.int64)
        for join in range(n - 2, -1, -1):  # from the root down
            left, right = children[join]
            first[left] = first[n + join]
            first[right] = first[left] + sizes[left]
        order = np.empty(n, dtype=np.int64)
        order[first[:n]] = np.arange(n)
        smaller = sizes[children].min(axis=1, initial=n)
        highest = np.flatnonzero(smaller >= SMALLEST)[-MOST_BORDERS:]
        tested = np.zeros(n - 1, dtype=np.bool_)
        tested[highest] = True
        divided = np.zeros(2 * n - 1, dtype=np.bool_)
        for join in range(n - 1):
            divided[n + join] = tested[join] or divided[children[join]].any()
        joins = np.flatnonzero(divided[n:])
        inner = n + joins
        ends = np.setdiff1d(children[joins], inner) if len(joins) else np.array([2 * n - 2])
        ends = ends[np.argsort(first[ends])]
        branches = np.concatenate([ends, inner])
        number = np.full(2 * n - 1, -1, dtype=np.int64)
        number[branches] = np.arange(len(branches))
        pairs = number[children[joins]].reshape(-1, 2)
        pairs = np.take_along_axis(pairs, np.argsort(first[branches][pairs], axis=1), axis=1)
        spans = np.column_stack([first[branches], first[branches] + sizes[branches]])
        return cls(order, spans, pairs, tested[joins])

    @property
    def n_ends(self) -> int:
        """Number of branches that are not divided."""
        return len(self.spans) - len(self.joined)

    def labels(self, branches: list[int]) -> Ints:
        """Return the clusters of the objects, by the places of some branches; -1 of objects in none."""
        of_place = np.full(len(self.order), -1, dtype=np.int64)
        for number, branch in enumerate(sorted(branches, key=lambda each: self.spans[each, 0])):
            of_place[slice(*self.spans[branch])] = number
        labels = np.empty_like(of_place)
        labels[self.order] = of_place
        return labels


class Divisions:
    """For each number of clusters, the branches that divide the objects with the most evidence.

    The evidence of a division is the sum over the joins that it undoes. At a join with too few objects for a border, the
    smaller branch is left out.

    Parameters
    ----------
    branches : Branches
        The branches.
    evidence : ndarray of shape (n_joins,)
        Evidence for a border between the branches of each join.
    most : int
        Largest number of clusters.
    """

    def __init__(self, branches: Branches, evidence: Floats, most: int) -> None:
        self._branches, self._evidence = branches, evidence
        sizes = np.diff(branches.spans, axis=1)[:, 0]
        best: list[Floats] = [np.zeros(1)] * branches.n_ends
        self._first: list[Ints | int] = [0] * branches.n_ends
        for (a, b), is_tested, gain in zip(branches.joined, branches.tested, evidence, strict=True):
            if not is_tested:
                larger = int(a if sizes[a] >= sizes[b] else b)
                best.append(best[larger])
                self._first.append(larger)
                continue
            some, others = best[a], best[b]
            totals = np.full((len(some) + len(others), len(some)), -np.inf)
            for k in range(len(some)):
                totals[k + 1 : k + 1 + len(others), k] = some[k] + others + gain
            totals = totals[:most]
            values = totals.max(axis=1)
            values[0] = 0.0
            best.append(values)
            self._first.append(totals.argmax(axis=1) + 1)
        self.evidence = best[-1]

    def branches_of(self, n_clusters: int) -> tuple[list[int], list[int]]:
        """Return the branches that are the clusters, and the joins that are undone."""
        clusters, undone = [], []
        open_ = [(len(self._first) - 1, n_clusters)]
        n_ends = self._branches.n_ends
        while open_:
            branch, k = open_.pop()
            if k == 1:
                clusters.append(branch)
                continue
            first = self._first[branch]
            if isinstance(first, int):
                open_.append((first, k))
                continue
            undone.append(branch - n_ends)
            a, b = self._branches.joined[branch - n_ends]
            open_ += [(int(a), int(first[k - 1])), (int(b), k - int(first[k - 1]))]
        return clusters, undone
