"""The consensus tree with its support: height, lifetime and p-value of every split."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone

from conclust._arrays.rows import cross_counts
from conclust._progress import tracked
from conclust._random import (
    RandomStateLike,
    seed_sequence,
    spawn_generators,
    spawn_seeds,
    spawn_sequences,
)
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_int, check_real, count, pandas_for, refuse
from conclust.borders import leading_components
from conclust.confidence.borders.parts import PART, Part, in_own_scale, split_of
from conclust.confidence.borders.result import SUREST, combined, holm, level_of
from conclust.confidence.reading import read_features
from conclust.consensus.auto.estimator import AutoConsensus
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import InputError, ParameterError
from conclust.generation.generator import EnsembleGenerator

_OWNER, _FUNCTION = "ConsensusTree", "consensus_tree"


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
        return clusters_below([(one.node, one.left, one.right) for one in self.splits], splits)

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


def clusters_below(splits: list[tuple[int, int, int]], chosen: set[int]) -> dict[int, int]:
    """Return the cluster of each node of a tree, a node itself, where only the chosen nodes are split."""
    cluster = {0: 0}
    for node, *parts in splits:
        inside = node in chosen and cluster[node] == node
        cluster |= {part: part if inside else cluster[node] for part in parts}
    return cluster


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
    parts = matrix[:, :2].astype(np.int64)
    sizes = np.concatenate([np.ones(s), matrix[:, 3]])
    of = np.zeros(2 * s - 1, dtype=np.int64)
    splits: list[tuple[int, int, int]] = []
    for row in range(s - 2, -1, -1):  # from the root down
        node, t = int(of[s + row]), len(splits)
        of[parts[row]] = node
        if t < most - 1:
            left, right = parts[row]
            if sizes[right] > sizes[left]:
                left, right = right, left
            of[left], of[right] = 2 * t + 1, 2 * t + 2
            splits.append((node, 2 * t + 1, 2 * t + 2))
    return splits, of[:s]


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


# Minimum number of points of a part.
_FEWEST = 2
# A split of a part matches one of the whole if at least this share of their common objects is on the same sides.
_SAME = 0.5

Top = tuple[list[tuple[int, int, int]], Ints]


def consensus_tree(
    consensus: Any,
    X: ArrayLike | None = None,
    *,
    max_clusters: int = 10,
    generator: Any = None,
    n_splits: int = 15,
    alpha: float = 0.05,
    max_samples: int = 2000,
    random_state: RandomStateLike = None,
) -> ConsensusTree:
    """Return the tree of clusters, with a test of the border at each split.

    The tree is the one that :class:`conclust.AutoConsensus` cuts: average linkage on the evidence of the
    members. With the points X each split has a p-value, as in `border_tests`: in each of several random splits of the points, a
    part A is clustered separately, with new members and their tree; the split of A's tree that puts the objects of A on the
    same sides determines the line and the region, and the other points are tested for one mode.

    Parameters
    ----------
    consensus : Ensemble, array-like of labels, or fitted ConsensusClustering
        The members.
    X : array-like of shape (n_samples, n_features), default=None
        Points. None: heights and lifetimes only.
    max_clusters : int, default=10
        Number of clusters of the lowest cut that is kept, at least 2.
    generator : transformer, default=None
        Generator of the members of A. None: that of the model, whose scaling is then applied to the points, or
        :class:`conclust.EnsembleGenerator` with its defaults.
    n_splits : int, default=15
        Number of random splits of the points.
    alpha : float, default=0.05
        Default level of the result, at least 0.001.
    max_samples : int, default=2000
        Maximum number of points in A, which otherwise has a third of them.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the splits, and seeds members of A.

    Returns
    -------
    ConsensusTree
        The splits; labels by number, height or level.

    Raises
    ------
    InputError
        If X is not a row of finite numbers for each object.
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    If no split of A's tree resembles one of the whole (half of the objects of both on the same sides), its
    p-value is 1 in that split of the points. Twice the median over splits is the p-value.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from conclust import ConsensusClustering, EnsembleGenerator
    >>> from conclust.confidence import consensus_tree
    >>> centres = [[0, 0], [5, 0], [30, 0]]
    >>> X, _ = make_blobs(600, centers=centres, random_state=0)
    >>> members = EnsembleGenerator("kmeans", n_partitions=20, random_state=0)
    >>> tree = consensus_tree(members.fit_transform(X), X, generator=members, random_state=0)
    >>> [(split.n_left, split.n_right) for split in tree.splits[:2]], tree.holds()[:3]
    ([(400, 200), (202, 198)], array([ True,  True, False]))
    >>> int(tree.cut().max()) + 1
    3
    """
    check_int(max_clusters, "max_clusters", _FUNCTION, low=2)
    check_int(n_splits, "n_splits", _FUNCTION)
    check_real(alpha, "alpha", _FUNCTION, low=SUREST, high=1.0)
    check_int(max_samples, "max_samples", _FUNCTION, low=4)
    members = getattr(consensus, "ensemble_", consensus)
    if hasattr(members, "fit"):
        raise InputError(
            f"{_FUNCTION} needs the members, which {type(consensus).__name__} does not keep: pass the "
            "ensemble that it was fitted to."
        )
    ensemble = as_ensemble(members)
    points: Floats | None = None
    if generator is None and X is not None and hasattr(consensus, "generator_"):
        points, model = in_own_scale(consensus, X, ensemble.n_samples, rows="objects")
        generator = getattr(model, "generator", None) or consensus.generator_
    elif X is not None:
        points = np.asarray(read_features(X, ensemble.n_samples, rows="objects"), dtype=np.float64)
    if generator is None:
        generator = getattr(consensus, "generator_", None)
        generator = EnsembleGenerator() if generator is None else generator
    if not hasattr(generator, "fit_transform") or not hasattr(generator, "get_params"):
        refuse("generator", _FUNCTION, "None or a transformer with fit_transform", generator)
    splits, leaves = _grown(ensemble, max_clusters)
    p_values = np.full(len(splits), np.nan)
    if points is not None and splits:
        size = min(max_samples, round(PART * len(points)))
        if size < _FEWEST:
            raise InputError(
                f"{_FUNCTION} clusters a third of the points, and needs 5 points or more. Got {len(points)}."
            )
        drawing, seeding = spawn_sequences(seed_sequence(random_state, _FUNCTION), 2)
        rngs = spawn_generators(drawing, n_splits)
        p_of_splits = []
        for rng, seed in tracked(
            zip(rngs, spawn_seeds(seeding, n_splits, bits=32), strict=True), "parts", n_splits
        ):
            drawn, first = split_of(rng, len(points), size)
            top = _grown(_new_members(generator, points[first], seed), max_clusters)
            with one_library_thread():
                p_of_splits.append(
                    _tested(points[drawn], first[drawn], (splits, leaves[first]), top)
                )
        p_values = combined(np.array(p_of_splits))
    nodes = 2 * len(splits) + 1
    sizes = _nodes_of(splits, nodes) @ np.bincount(leaves[leaves >= 0], minlength=nodes)
    heights = _heights(ensemble, splits, leaves)
    return ConsensusTree(with_support(splits, sizes, heights, p_values), leaves, alpha)


def _new_members(generator: Any, points: Floats, seed: int) -> Ensemble:
    fresh = clone(generator)
    if "random_state" in fresh.get_params(deep=False):
        fresh.set_params(random_state=seed)
    return Ensemble(fresh.fit_transform(points))


def _grown(ensemble: Ensemble, max_clusters: int) -> Top:
    """Return the top of the tree, and the leaf of every object."""
    leaves = np.full(ensemble.n_samples, -1, dtype=np.int64)
    if not ensemble.observed.any():
        return [], leaves
    if not ensemble.observed.all():
        splits, leaves[ensemble.observed] = _grown(ensemble.observed_only(), max_clusters)
        return splits, leaves
    model = AutoConsensus(min(max_clusters, ensemble.n_samples), random_state=0).fit(ensemble)
    objects = model.tree_objects_
    if not len(objects):
        return [], leaves
    splits, inside = top_of(model.linkage_matrix_, max_clusters)
    # Objects outside the tree go where most objects of their cluster in the tree are.
    placed = model.labels_
    shape = int(placed.max()) + 1, 2 * len(splits) + 1
    table = cross_counts(placed[objects], inside, shape)
    assigned = placed >= 0
    leaves[assigned] = table.argmax(axis=1)[placed[assigned]]
    leaves[objects] = inside
    return splits, leaves


def _heights(ensemble: Ensemble, splits: list[tuple[int, int, int]], leaves: Ints) -> Floats:
    """Return the share of members that keep pairs apart: across the parts of a node, or within a leaf."""
    nodes = 2 * len(splits) + 1
    inside = _nodes_of(splits, nodes)
    held = np.flatnonzero(leaves >= 0)
    Z = sp.csr_array((np.ones(len(held)), (held, leaves[held])), shape=(len(leaves), nodes))
    B, present = ensemble.indicator, np.asarray(ensemble.present, dtype=np.float64)
    in_clusters, in_members = np.asarray((B.T @ Z).toarray()), np.asarray((Z.T @ present).T)
    columns, members = ensemble.column_weights, ensemble.partition_weights
    joined = inside @ (in_clusters.T * columns @ in_clusters) @ inside.T
    shared = inside @ (in_members.T * members @ in_members) @ inside.T
    # An object does not form a pair with itself.
    own_joined = inside @ (Z.T @ (B.multiply(B) @ columns))
    own_seen = inside @ (Z.T @ (present @ members))
    heights = np.zeros(nodes)
    numbers = np.diag(shared) - own_seen
    pairs = numbers > 0
    heights[pairs] = 1.0 - (np.diag(joined) - own_joined)[pairs] / numbers[pairs]
    for node, left, right in splits[::-1]:
        if shared[left, right] > 0:
            heights[node] = 1.0 - joined[left, right] / shared[left, right]
        heights[node] = max(heights[[node, left, right]])
    return np.asarray(heights)


def _nodes_of(splits: list[tuple[int, int, int]], nodes: int) -> Ints:
    """Return which nodes lie within each node (nodes, nodes)."""
    inside = np.eye(nodes, dtype=np.int64)
    for node, left, right in splits[::-1]:
        inside[node] += inside[left] + inside[right]
    return inside


def _tested(points: Floats, first: Bools, whole: Top, part: Top) -> Floats:
    """Return the p-value of each split of the whole by the tree of a part."""
    splits, leaves = whole
    own_splits, own_leaves = part
    table = cross_counts(leaves, own_leaves, (2 * len(splits) + 1, 2 * len(own_splits) + 1))
    common = _nodes_of(splits, len(table)) @ table @ _nodes_of(own_splits, table.shape[1]).T
    sizes, own_sizes = common[:, 0], common[0]
    reduced = leading_components(points, first=first)
    p_values = np.ones(len(splits))
    for s, (node, left, right) in enumerate(splits):
        best, t = 0.0, -1
        for u, (part_node, a, b) in enumerate(own_splits):
            sides = max(common[left, a] + common[right, b], common[left, b] + common[right, a])
            share = sides / max(1, sizes[node] + own_sizes[part_node] - common[node, part_node])
            if share > best:
                best, t = share, u
        if best >= _SAME:
            clusters = _siblings(own_splits, t, own_leaves)
            tests = Part(reduced, first, clusters).tested(np.array([[0, 1]]), np.arange(2))
            p_values[s] = tests.dip[0]
    return p_values


def _siblings(splits: list[tuple[int, int, int]], t: int, leaves: Ints) -> Ints:
    """Cut a tree just below a split: its parts are 0 and 1, the other clusters 2, 3, ..."""
    cluster = clusters_below(splits, {node for node, _, _ in splits[: t + 1]})
    _, left, right = splits[t]
    names = [left, right, *sorted(set(cluster.values()) - {left, right})]
    codes = np.array([names.index(cluster[node]) for node in range(len(cluster))])
    return np.where(leaves >= 0, codes[leaves], -1).astype(np.int64)
