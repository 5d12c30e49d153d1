"""The steps that ``cluster`` and ``select`` share: reading points, describing their clusters."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.cli.commands.fill import Filled, fill
from conclust.cli.console import STREAM, Talk
from conclust.cli.reading.inputs import Points, read_points
from conclust.cli.record import Clock
from conclust.cli.requested import reading
from conclust.confidence import ClusterGaps, cluster_categories, cluster_features, cluster_gaps
from conclust.points.doubts import doubts
from conclust.results.features import MOST_GAPS, Features, write_features


def points_read(arguments: argparse.Namespace, talk: Talk, clock: Clock) -> tuple[Points, Filled]:
    """Read the points of a command, and fill their empty cells by the rule of ``--impute``."""
    points = read_points(arguments.points, reading(arguments))
    points = replace(points, doubts=tuple(doubts(points.X, points.names, points.ids)))
    n_samples, n_columns = points.X.shape
    kinds = [count(n_samples, "object"), count(n_columns, "column")]
    if points.category_names:
        kinds.append(count(len(points.category_names), "column") + " of categories")
    talk.step(read_line(arguments.points, kinds, points.notes))
    for doubt in points.doubts:
        talk.step(doubt)
    filled = fill(points.X, arguments.impute, points.names)
    if filled.note:
        talk.step(filled.note[0].upper() + filled.note[1:] + ".")
    clock.lap("read")
    return points, filled


def read_line(path: Path, kinds: list[str], notes: tuple[str, ...]) -> str:
    """Return a line about what was read from a file."""
    name = "standard input" if path == STREAM else path
    return f"Read {name}: {', '.join(kinds)}" + "".join(f"; {note}" for note in notes) + "."


def features_written(path: Path, points: Points, filled: Filled, labels: Ints) -> Features:
    """Write, and return, the difference between each cluster and the other objects, for each feature or category.

    For a feature these are means over the cells that were not filled, for a category shares of the objects
    that have one.

    Parameters
    ----------
    path : Path
        The file.
    points : Points
        Points as read from the file.
    filled : Filled
        The points that were clustered, in their own units.
    labels : ndarray of shape (n_samples,)
        Their clusters.
    """
    means = cluster_features(filled.observed, labels)
    cells = np.array([filled.cells[labels == k].sum(axis=0) for k in range(len(means.difference))])
    shares = None
    if points.categories is not None:
        shares = cluster_categories(points.categories, labels)
    features = Features(tuple(points.names), means, tuple(points.category_names), shares)
    write_features(path, features, cells)
    return features


def gaps_between(points: Floats, labels: Ints) -> ClusterGaps | None:
    """Return which clusters of scaled points have gaps between them; None if there are too many clusters."""
    if not 1 < int(labels.max()) + 1 <= MOST_GAPS:
        return None
    return cluster_gaps(points, labels, random_state=0)
