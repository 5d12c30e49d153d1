"""The consensus tree with its support: height, lifetime and p-value of every split."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conclust._types import Bools, Floats, Ints
from conclust._validation import check_int, check_real, count, pandas_for, refuse
from conclust.confidence.borders.merging import holm, level_of
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import InputError, ParameterError

_OWNER = "ConsensusTree"


@dataclass(frozen=True)
class Split:
    """A cluster of the tree that splits in two.

    Attributes
    ----------
    node, left, right : int
        Numbers of the cluster and of its two parts; 0 is the whole.
    n_left, n_right : int
        Number of objects in each part.
    height : float
        Share of the members that keep the two parts apart, mean over pairs of objects; at least as high as
        the splits below.
    lifetime : float
        Height above that of the higher part; the height of a part that is not split further is the share of the
        members that keep its own objects apart.
    p_value : float
        The p-value of the border between the parts, small where there is one; NaN without points.
    adjusted : float
        The same, adjusted for the number of splits (Holm 1979).
    """

    node: int
    left: int
    right: int
    n_left: int
    n_right: int
    height: float
    lifetime: float
    p_value: float
    adjusted: float


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusTree:
    """The top of the tree that `AutoConsensus` cuts: its splits, and whether each one holds.

    Attributes
    ----------
    splits : tuple of Split
        Splits from the top down, in the order in which clusters split: the first k - 1 make k clusters.
    leaves : ndarray of int64 of shape (n_samples,)
        Number of the lowest cluster that each object is in; -1 for objects in no cluster of a partition.
    alpha : float
        The default level of the methods.
    """

    splits: tuple[Split, ...]
    leaves: Ints = field(repr=False)
    alpha: float

    def _restored(self) -> bool:
        """Return whether splits that were read from a file are those of a tree with these leaves."""
        nodes = [split.node for split in self.splits]
        ends = [*set(range(2 * len(nodes) + 1)).difference(nodes), -1]
        return (
            len(set(nodes)) == len(nodes)
            and all(
                (split.left, split.right) == (2 * t + 1, 2 * t + 2) and 0 <= split.node <= 2 * t
                for t, split in enumerate(self.splits)
            )
            and bool(np.isin(self.leaves, ends).all())
            and 0 < self.alpha <= 1
        )

    @property
    def has_p_values(self) -> bool:
        """Whether points were given, so that splits have p-values."""
        return any(not np.isnan(split.p_value) for split in self.splits)

    def cut(
        self, k: int | None = None, *, height: float | None = None, alpha: float | None = None
    ) -> Ints:
        """Cut the tree: by the number of clusters, by height, or where borders hold.

        Parameters
        ----------
        k : int, default=None
            Number of clusters, at most ``len(splits) + 1``.
        height : float, default=None
            Height above which all splits are made; at least the lowest height of a split.
        alpha : float, default=None
            Level: splits with an adjusted p-value up to it are made. A split that does not hold,
            above one that does, is made where clusters hold on both sides; where they hold on one side only,
            the objects of the other join the largest cluster of that side. Without any of the three:
            ``self.alpha``.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            Clusters, consecutive from 0 by first appearance; -1 as in ``leaves``.

        Raises
        ------
        InputError
            If there are no p-values for the cut.
        ParameterError
            If more than one of the three is given, or one is out of its range.
        """
        criteria = [
            name for name, v in (("k", k), ("height", height), ("alpha", alpha)) if v is not None
        ]
        if len(criteria) > 1:
            raise ParameterError(
                f"{_OWNER}.cut takes one of 'k', 'height' and 'alpha'. Got {' and '.join(criteria)}."
            )
        if k is not None:
            made = check_int(k, "k", _OWNER, high=len(self.splits) + 1) - 1
            return self._labels({split.node for split in self.splits[:made]})
        if height is not None:
            check_real(height, "height", _OWNER)
            lowest = min((split.height for split in self.splits), default=0.0)
            if height < lowest:
                refuse("height", _OWNER, f"a float in the range [{lowest:g}, inf)", height)
            return self._labels({split.node for split in self.splits if split.height > height})
        return self._held(self._level(alpha))

    def holds(self, alpha: float | None = None) -> Bools:
        """Return whether the border of each split holds.

        Parameters
        ----------
        alpha : float, default=None
            The level. None: ``self.alpha``.

        Returns
        -------
        ndarray of bool of shape (n_splits,)
            False where there is no p-value.
        """
        level = self._level(alpha)
        return np.array([split.adjusted <= level for split in self.splits], dtype=np.bool_)

    def to_frame(self) -> Any:
        """Return the splits as a pandas DataFrame, one per row.

        Returns
        -------
        DataFrame
            Columns: n_clusters, then those of `Split`, and holds (at ``self.alpha``).

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pd = pandas_for("ConsensusTree.to_frame")
        names = list(Split.__dataclass_fields__)
        columns: dict[str, Any] = {"n_clusters": range(2, len(self.splits) + 2)}
        columns |= {name: [getattr(split, name) for split in self.splits] for name in names}
        return pd.DataFrame(columns | {"holds": self.holds()})

    def __repr__(self) -> str:
        """Return a table of the splits."""
        if self.has_p_values:
            n_holding = int(self.holds().sum())
            hold = "holds" if len(self.splits) == 1 else "hold"
            tested = count(len(self.splits), "split")
            head = f"{n_holding} of {tested} {hold} (p < {self.alpha:g}, Holm)"
        else:
            head = f"{count(len(self.splits), 'split')}, without p-values: no points were given"
        lines = [
            head,
            f"{'clusters':>8}  {'parts':>15}  {'height':>6}  {'lifetime':>8}  {'adjusted p':>10}",
        ]
        for k, split in enumerate(self.splits, 2):
            parts = f"{split.n_left} + {split.n_right}"
            p = "" if np.isnan(split.adjusted) else f"{split.adjusted:.2g}"
            lines.append(f"{k:8}  {parts:>15}  {split.height:6.3f}  {split.lifetime:8.3f}  {p:>10}")
        return "\n".join(lines)

    def _level(self, alpha: float | None) -> float:
        return level_of(alpha, self.alpha, _OWNER)

    def _below(self, splits: set[int]) -> dict[int, int]:
        """Return the cluster of each node of the tree where these nodes are split."""
        cluster = {0: 0}
        for split in self.splits:
            for part in (split.left, split.right):
                inside = split.node in splits and cluster[split.node] == split.node
                cluster[part] = part if inside else cluster[split.node]
        return cluster

    def _labels(self, splits: set[int]) -> Ints:
        return self._named(self._below(splits))

    def _named(self, cluster: dict[int, int]) -> Ints:
        names = np.array([cluster[node] for node in range(len(cluster))])
        labels = self.leaves.copy()
        inside = labels >= 0
        labels[inside] = canonical_labels(names[labels[inside]])
        return labels

    def _held(self, alpha: float) -> Ints:
        if self.splits and not self.has_p_values:
            raise InputError(
                "The tree has no p-values to cut by: give consensus_tree the points X, or cut by k or height."
            )
        below: dict[int, bool] = {}  # whether a split at the node or further down holds
        for split, holds in zip(self.splits[::-1], self.holds(alpha)[::-1], strict=True):
            below[split.node] = bool(
                holds or below.get(split.left, False) or below.get(split.right, False)
            )
        splits, joined = set(), {}
        for split, holds in zip(self.splits, self.holds(alpha), strict=True):
            left, right = below.get(split.left, False), below.get(split.right, False)
            if below[split.node]:
                splits.add(split.node)
            if below[split.node] and not holds and left != right:
                joined[split.right if left else split.left] = split.left if left else split.right
        cluster = self._below(splits)
        sizes: dict[int, int] = {}
        leaves, counts = np.unique(self.leaves[self.leaves >= 0], return_counts=True)
        for leaf, size in zip(leaves.tolist(), counts.tolist(), strict=True):
            sizes[cluster[leaf]] = sizes.get(cluster[leaf], 0) + size
        inside = self._inside()
        # From the bottom up, so that the cluster that a sliver joins contains no other sliver.
        for sliver, sibling in list(joined.items())[::-1]:
            neighbours = {cluster[node] for node in inside[sibling]} & set(sizes)
            largest = max(neighbours, key=lambda c: (sizes[c], -c))
            absorbed = cluster[sliver]
            cluster = {node: largest if c == absorbed else c for node, c in cluster.items()}
            sizes[largest] += sizes.pop(absorbed)
        return self._named(cluster)

    def _inside(self) -> dict[int, set[int]]:
        """Return each node with all nodes below it."""
        inside = {node: {node} for node in range(2 * len(self.splits) + 1)}
        for split in self.splits[::-1]:
            inside[split.node] |= inside[split.left] | inside[split.right]
        return inside


def top_of(matrix: Floats, most: int) -> tuple[list[tuple[int, int, int]], Ints]:
    """Return the top of a dendrogram.

    Parameters
    ----------
    matrix : ndarray of shape (s - 1, 4)
        A linkage matrix with rising heights.
    most : int
        Number of clusters of the lowest cut.

    Returns
    -------
    splits : list of (node, left, right)
        In the order in which clusters fall apart; the whole is node 0, split t makes nodes 2 t + 1 and
        2 t + 2, the larger part first.
    leaves : ndarray of int64 of shape (s,)
        The node that each object is in at the lowest cut.
    """
    s = len(matrix) + 1
    count = min(most, s) - 1
    number = {2 * s - 2: 0}
    sizes = np.concatenate([np.ones(s), matrix[:, 3]])
    splits = []
    for t in range(count):
        row = s - 2 - t
        left, right = (int(part) for part in matrix[row, :2])
        if sizes[right] > sizes[left]:
            left, right = right, left
        number[left], number[right] = 2 * t + 1, 2 * t + 2
        splits.append((number[s + row], 2 * t + 1, 2 * t + 2))
    leaves = np.empty(s, dtype=np.int64)
    of = np.full(2 * s - 1, -1)
    for node, name in number.items():
        of[node] = name
    split_rows = {s + s - 2 - t for t in range(count)}
    for node in range(2 * s - 2, -1, -1):
        if node >= s and node not in split_rows:
            parts = matrix[node - s, :2].astype(np.int64)
            of[parts] = of[node]
    leaves[:] = of[:s]
    return splits, leaves


def with_support(
    splits: list[tuple[int, int, int]], sizes: Ints, heights: Floats, p_values: Floats
) -> tuple[Split, ...]:
    """Make splits with their heights, lifetimes and p-values.

    Parameters
    ----------
    splits : list of (node, left, right)
        See `top_of`.
    sizes : ndarray of int64 of shape (n_nodes,)
        Objects of each node.
    heights : ndarray of shape (n_nodes,)
        Height of each node: of its split, or of its own objects.
    p_values : ndarray of shape (n_splits,)
        NaN where there are none.
    """
    adjusted = p_values if np.isnan(p_values).any() else holm(p_values)
    return tuple(
        Split(
            node,
            left,
            right,
            int(sizes[left]),
            int(sizes[right]),
            float(heights[node]),
            float(heights[node] - max(heights[left], heights[right])),
            float(p_values[t]),
            float(adjusted[t]),
        )
        for t, (node, left, right) in enumerate(splits)
    )
