"""The trees that AutoConsensus grows, cut at any number of clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from conclust._types import Floats, Ints
from conclust.consensus.auto.number import Support
from conclust.ensemble import Ensemble
from conclust.trees.dendrogram import clusters_at, lifetimes


@dataclass(frozen=True, eq=False)
class CutOfTree:
    """A cut into one number of clusters, from the tree whose borders are straddled less.

    Attributes
    ----------
    evidence : str
        The evidence that the tree was grown from.
    straddling : float
        Extent to which fine partitions straddle the borders.
    votes : ndarray of shape (n_columns, n_clusters)
        Amount that membership in each cluster of the ensemble adds to the similarity with each consensus cluster.
    labels : ndarray of int64 of shape (n_objects,)
        The clusters of the objects of the trees.
    """

    evidence: str
    straddling: float
    votes: Floats
    labels: Ints


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """Trees over some objects of an ensemble.

    Attributes
    ----------
    objects : ndarray of int64 of shape (n_objects,)
        The objects, in rising order.
    matrices : dict of str to ndarray of shape (n_objects - 1, 4)
        A dendrogram for each form of the evidence. The first one gives the lifetimes.
    n_clusters_shown : int
        The number of clusters that the ensemble shows.
    supports : list of Support
        Supports of the numbers considered.
    choose : callable
        Function that chooses the tree that is straddled less, given the labels from each.
    ensemble : Ensemble
        The members, for these objects.
    counting : ndarray of shape (n_columns,)
        Weight of co-clustering in each cluster of the ensemble.
    smallest, largest : int
        Numbers of clusters that keep the constraints; a largest of None: the number of objects.
    """

    objects: Ints
    matrices: dict[str, Floats]
    n_clusters_shown: int
    supports: list[Support]
    choose: Callable[[dict[str, Ints]], CutOfTree] = field(repr=False)
    ensemble: Ensemble = field(repr=False)
    counting: Floats = field(repr=False)
    smallest: int = 1
    largest: int | None = None
    _cuts: dict[int, CutOfTree] = field(default_factory=dict, repr=False, compare=False)

    def possible(self, n_clusters: int) -> int:
        """Return the nearest number of clusters that keeps the constraints."""
        return max(self.smallest, min(n_clusters, self.largest or self.n_objects))

    @property
    def n_objects(self) -> int:
        """Number of objects in the trees."""
        return len(self.objects)

    @property
    def n_numbers(self) -> int:
        """Largest number of clusters that a tree can be cut into without separating objects with equal labels."""
        return 1 + int(np.count_nonzero(next(iter(self.matrices.values()))[:, 2] > 0))

    def cut_at(self, n_clusters: int) -> CutOfTree:
        """Cut both trees into a number of clusters, and take the one whose borders are straddled less."""
        K = min(n_clusters, self.n_objects)
        if K not in self._cuts:
            self._cuts[K] = self.choose(
                {name: clusters_at(tree, K) for name, tree in self.matrices.items()}
            )
        return self._cuts[K]

    def cut_along(self, labels: Ints) -> CutOfTree:
        """Use given clusters of the objects, of shape (n_objects,), instead of a cut."""
        return self.choose(dict.fromkeys(self.matrices, labels))

    def possible_number(self) -> int:
        """Return the number with the largest support among those that keep the constraints."""
        allowed = [one for one in self.supports if self.possible(one.n_clusters) == one.n_clusters]
        best = max(allowed, key=lambda one: one.support, default=None)
        if best is not None and best.support > 0:
            return best.n_clusters
        return self.possible(self.n_clusters_shown)

    def cut(self, n_clusters: int) -> Ints:
        """Return the clusters of the objects, of shape (n_objects,), at a number of clusters."""
        return self.cut_at(n_clusters).labels

    def lifetime(self, n_clusters: int) -> float:
        """Return the lifetime of a number of clusters in the first tree, from 0 to 1; 0 for one cluster."""
        return float(self._lifetimes[n_clusters - 2]) if 2 <= n_clusters <= self.n_objects else 0.0

    @cached_property
    def _lifetimes(self) -> Floats:
        return np.minimum(lifetimes(next(iter(self.matrices.values()))), 1.0)


class ChosenNumber(NamedTuple):
    """A number of clusters, with its reason, source, alternatives, labels if they are not a cut, and the minimum given."""

    n_clusters: int
    reason: str
    by: Literal["given", "partitions", "points"]
    alternatives: tuple[int, ...] = ()
    labels: Ints | None = None
    at_least: int = 1


NumberChooser: TypeAlias = Callable[[GrownTrees], ChosenNumber]
