"""The steps that ``cluster`` and ``select`` share: reading points, describing their clusters."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.cli.commands.fill import Filled, fill
from conclust.cli.console import Talk
from conclust.cli.reading.inputs import Points, read_points
from conclust.cli.record import Clock
from conclust.cli.requested import reading
from conclust.confidence import cluster_categories, cluster_features, cluster_gaps
from conclust.generation.points import doubts
from conclust.results.features import MOST_GAPS, Features, write_features
from conclust.results.writing import OutputFolder
from conclust.words.points import of_doubts
from conclust.words.shell import read_line


def points_read(arguments: argparse.Namespace, talk: Talk, clock: Clock) -> tuple[Points, Filled]:
    """Read the points of a command, and fill their empty cells by the rule of ``--impute``."""
    points = read_points(arguments.points, reading(arguments))
    said = of_doubts(doubts(points.X, points.ids), points.names, points.ids)
    points = replace(points, doubts=tuple(said))
    n_samples, n_columns = points.X.shape
    kinds = [count(n_samples, "object"), count(n_columns, "column")]
    if points.category_names:
        kinds.append(count(len(points.category_names), "column") + " of categories")
    talk.step(read_line(arguments.points, kinds, points.notes))
    for doubt in points.doubts:
        talk.step(doubt)
    filled = fill(points.X, arguments.impute, points.names)
    if filled.note:
        talk.step(filled.note)
    clock.lap("read")
    return points, filled


def described(
    folder: OutputFolder, points: Points, filled: Filled, scaled: Floats, labels: Ints
) -> dict[str, Any]:
    """Describe the clusters of points by the parts of a `Reported`, and write features.csv; one cluster has nothing to tell.

    For a feature, clusters differ in means over the cells that were not filled, for a category in shares of the objects
    that have one.

    Parameters
    ----------
    folder : OutputFolder
        The folder.
    points : Points
        Points as read from the file.
    filled : Filled
        The points that were clustered, in their own units.
    scaled : ndarray of shape (n_samples, n_columns)
        The same in the scale in which they were clustered, for the gaps between clusters.
    labels : ndarray of shape (n_samples,)
        Their clusters.
    """
    K = int(labels.max()) + 1
    if K == 1:
        return {}
    cells = np.array([filled.cells[labels == k].sum(axis=0) for k in range(K)])
    shares = points.categories
    features = Features(
        tuple(points.names),
        cluster_features(filled.observed, labels),
        tuple(points.category_names),
        None if shares is None else cluster_categories(shares, labels),
        tuple(name for name, notation in points.notations.items() if "YYYY" in notation),
    )
    write_features(folder.file("features.csv"), features, cells)
    gaps = cluster_gaps(scaled, labels, random_state=0) if K <= MOST_GAPS else None
    return {"features": features, "gaps": gaps}
