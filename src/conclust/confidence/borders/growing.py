"""The consensus tree of an ensemble, and p-values of its splits from trees of parts of the points."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone

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
from conclust._validation import check_int, check_real, refuse
from conclust.borders import leading_components
from conclust.confidence.borders.merging import SUREST, combined
from conclust.confidence.borders.own_scale import in_own_scale
from conclust.confidence.borders.parts import Part
from conclust.confidence.borders.tree import ConsensusTree, top_of, with_support
from conclust.confidence.reading import read_features
from conclust.consensus.auto.estimator import AutoConsensus
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import InputError
from conclust.generation.generator import EnsembleGenerator

_OWNER = "consensus_tree"
_PART = 1 / 3
# Minimum number of points of a part.
_FEWEST = 2
# Maximum number of points counted per clustered point.
_COUNTED = 10
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
    members. With the points X each split has a p-value, as in `border_tests`: in each of several random
    splits of the points, a part A is clustered by itself, by new members and their tree; the split of A's tree
    that puts the objects of A on the same sides gives line and region, and the other points are tested for one
    mode.

    Parameters
    ----------
    consensus : Ensemble, array-like of labels, or fitted ConsensusClustering
        The members.
    X : array-like of shape (n_samples, n_features), default=None
        Points. None: heights and lifetimes only.
    max_clusters : int, default=10
        Number of clusters of the lowest cut that is kept, at least 2.
    generator : transformer, default=None
        Generator of the members of A. None: that of the model, in whose scale the points are then read, or
        :class:`conclust.EnsembleGenerator` with its
        defaults.
    n_splits : int, default=15
        Number of random splits of the points.
    alpha : float, default=0.05
        Default level of the result, at least 0.001.
    max_samples : int, default=2000
        Maximum number of points in A, which otherwise holds a third of them.
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
    check_int(max_clusters, "max_clusters", _OWNER, low=2)
    check_int(n_splits, "n_splits", _OWNER)
    check_real(alpha, "alpha", _OWNER, low=SUREST, high=1.0)
    check_int(max_samples, "max_samples", _OWNER, low=4)
    members = getattr(consensus, "ensemble_", consensus)
    if hasattr(members, "fit"):
        raise InputError(
            f"{_OWNER} needs the members, which {type(consensus).__name__} does not keep: pass the "
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
        refuse("generator", _OWNER, "None or a transformer with fit_transform", generator)
    splits, leaves = _grown(ensemble, max_clusters)
    p_values = np.full(len(splits), np.nan)
    if points is not None and splits:
        size = min(max_samples, round(_PART * len(points)))
        if size < _FEWEST:
            raise InputError(
                f"{_OWNER} clusters a third of the points, and needs 5 points or more. Got {len(points)}."
            )
        root = seed_sequence(random_state, _OWNER)
        drawing, seeding = spawn_sequences(root, 2)
        rngs = spawn_generators(drawing, n_splits)
        p_of_splits = []
        for rng, seed in tracked(
            zip(rngs, spawn_seeds(seeding, n_splits, bits=32), strict=True), "parts", n_splits
        ):
            drawn = rng.permutation(len(points))[: (1 + _COUNTED) * size]
            part = _new_members(generator, points[np.sort(drawn[:size])], seed)
            first = np.zeros(len(points), dtype=np.bool_)
            first[drawn[:size]] = True
            top = _grown(part, max_clusters)
            drawn = np.sort(drawn)
            with one_library_thread():
                p_of_splits.append(
                    _tested(points[drawn], first[drawn], (splits, leaves[first]), top)
                )
        p_values = combined(np.array(p_of_splits))
    nodes = 2 * len(splits) + 1
    inside = _nodes_of(splits, nodes)
    sizes = inside @ np.bincount(leaves[leaves >= 0], minlength=nodes)
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
    table = np.zeros((int(placed.max()) + 1, 2 * len(splits) + 1), dtype=np.int64)
    np.add.at(table, (placed[objects], inside), 1)
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
    table = np.zeros((2 * len(splits) + 1, 2 * len(own_splits) + 1), dtype=np.int64)
    both = (leaves >= 0) & (own_leaves >= 0)
    np.add.at(table, (leaves[both], own_leaves[both]), 1)
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
    cluster = {0: 0}
    for u, (node, left, right) in enumerate(splits):
        cluster[left] = left if u <= t else cluster[node]
        cluster[right] = right if u <= t else cluster[node]
    names = np.array([cluster[node] for node in range(len(cluster))])
    _, left, right = splits[t]
    others = [name for name in np.unique(names) if name not in (left, right)]
    order = {left: 0, right: 1} | {int(name): 2 + i for i, name in enumerate(others)}
    codes = np.array([order[int(name)] for name in names])
    return np.where(leaves >= 0, codes[np.maximum(leaves, 0)], -1).astype(np.int64)
