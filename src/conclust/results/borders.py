"""Reads and writes the tests of borders of a result: borders.csv, and their entry in result.json."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.storage import json_numbers
from conclust._validation import count
from conclust.confidence import BorderTests, ConsensusTree
from conclust.confidence.borders import Split
from conclust.confidence.borders.headline import headline

BORDER_COLUMNS = (
    *("first", "second", "p_value", "adjusted", "valley_p_value"),
    *("first_peak", "valley", "second_peak", "holds"),
)
"""The columns of borders.csv."""

_SPLIT = ("node", "left", "right", "n_left", "n_right", "height", "lifetime", "p_value", "adjusted")


@dataclass(frozen=True, eq=False)
class Borders:
    """The borders between the clusters of a result, and the tree that the clusters are cut from.

    Attributes
    ----------
    n_clusters : int
        Number of clusters.
    table : dict of ndarray of shape (n_borders,)
        The columns of borders.csv: pairs of neighbouring clusters, the largest p-value first.
    alpha : float
        Level at which a border holds.
    n_splits : int
        Random splits of the points.
    agreement : float
        Mean share of points whose cluster in a part is the one matched with their own.
    n_left : int
        Number of clusters that remain after removing borders that do not hold.
    tree : ConsensusTree or None
        The consensus tree with a p-value for each split.
    """

    n_clusters: int
    table: dict[str, NDArray[Any]]
    alpha: float
    n_splits: int
    agreement: float
    n_left: int
    tree: ConsensusTree | None = None

    @property
    def n_held(self) -> int:
        """Number of borders that hold."""
        return int(np.count_nonzero(self.table["holds"]))

    def headline(self, *, more_than_gaussian: bool = False) -> str:
        """Return the result in one line; see `conclust.confidence.BorderTests.headline`.

        Parameters
        ----------
        more_than_gaussian : bool, default=False
            Whether a test has rejected that the points are one Gaussian.
        """
        n_borders = len(self.table["holds"])
        return headline(
            self.n_clusters,
            self.n_held,
            n_borders,
            self.alpha,
            more_than_gaussian=more_than_gaussian,
        )

    @property
    def merging(self) -> str:
        """Clusters that remain after removing borders that do not hold, in a sentence; empty if all hold."""
        if self.n_held == len(self.table["holds"]) or not self.n_held:
            return ""
        clusters = count(self.n_left, "cluster")
        return f"Merging across borders that do not hold, and testing again, leaves {clusters}."


def borders_of(tests: BorderTests, tree: ConsensusTree | None = None) -> Borders:
    """Return tests of borders in the form of a result folder."""
    agreement = float(tests.agreement.mean()) if len(tests.agreement) else math.nan
    left = int(tests.merged().max()) + 1
    return Borders(
        tests.n_clusters, tests.table, tests.alpha, len(tests.agreement), agreement, left, tree
    )


def border_record(borders: Borders) -> dict[str, Any]:
    """Return the entry of result.json: all but the table, which is borders.csv."""
    return {
        "clusters": borders.n_clusters,
        "alpha": borders.alpha,
        "adjusted_by": "Holm",
        "splits": borders.n_splits,
        "agreement": json_numbers(borders.agreement),
        "borders": len(borders.table["holds"]),
        "held": borders.n_held,
        "clusters_left": borders.n_left,
        "tree": None if borders.tree is None else _tree_record(borders.tree),
    }


def _tree_record(tree: ConsensusTree) -> dict[str, Any]:
    held = tree.leaves[tree.leaves >= 0]
    leaves, first, counts = np.unique(held, return_index=True, return_counts=True)
    order = np.argsort(first)
    return {
        "alpha": tree.alpha,
        "splits": [
            json_numbers([getattr(split, name) for name in _SPLIT]) for split in tree.splits
        ],
        "leaves": [[int(leaves[at]), int(counts[at])] for at in order],
    }


def read_borders(
    record: dict[str, Any], header: Sequence[str], rows: Sequence[Sequence[str]], n_clusters: int
) -> Borders | None:
    """Return the borders of a result folder.

    Parameters
    ----------
    record : dict
        Their entry in result.json.
    header, rows : list of str, list of list of str
        The cells of borders.csv.
    n_clusters : int
        Number of clusters of the result.

    Returns
    -------
    Borders or None
        None where file and entry do not fit each other or the result.
    """
    if tuple(header) != BORDER_COLUMNS or int(record["clusters"]) != n_clusters:
        return None
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(BORDER_COLUMNS)
    table: dict[str, NDArray[Any]] = {}
    for name, cells in zip(BORDER_COLUMNS, columns, strict=True):
        kind: Any = np.int64 if name in ("first", "second") else np.float64
        if name == "holds":
            if not set(cells) <= {"True", "False"}:
                return None
            table[name] = np.array([cell == "True" for cell in cells], dtype=np.bool_)
        else:
            table[name] = np.array([float(cell) for cell in cells]).astype(kind)
    pairs = np.column_stack([table["first"], table["second"]])
    tree = record.get("tree")
    borders = Borders(
        n_clusters,
        table,
        float(record["alpha"]),
        int(record["splits"]),
        math.nan if record["agreement"] is None else float(record["agreement"]),
        int(record["clusters_left"]),
        None if tree is None else _tree(tree),
    )
    fits = len(rows) == int(record["borders"]) and borders.n_held == int(record["held"])
    inside = not len(pairs) or (pairs.min() >= 0 and pairs.max() < n_clusters)
    return borders if fits and inside else None


def _tree(record: dict[str, Any]) -> ConsensusTree:
    """Return a tree with these numbers of objects in its leaves, in order of first appearance."""
    splits: list[Split] = []
    for t, row in enumerate(record["splits"]):
        node, left, right, n_left, n_right, *values = (
            math.nan if value is None else value for value in row
        )
        numbered = (int(left), int(right)) == (2 * t + 1, 2 * t + 2) and 0 <= int(node) <= 2 * t
        if not numbered or int(node) in {split.node for split in splits}:
            raise ValueError(f"split {t} of the tree of borders")
        splits.append(
            Split(int(node), int(left), int(right), int(n_left), int(n_right), *map(float, values))
        )
    split_nodes = {split.node for split in splits}
    names, counts = np.array(record["leaves"], dtype=np.int64).reshape(-1, 2).T
    ends = set(range(2 * len(splits) + 1)) - split_nodes
    if not set(names.tolist()) <= ends or (counts < 1).any():
        raise ValueError("leaves of the tree of borders")
    return ConsensusTree(tuple(splits), np.repeat(names, counts), float(record["alpha"]))
