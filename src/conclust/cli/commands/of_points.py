"""The steps that ``cluster`` and ``select`` share: reading points, describing their clusters, testing the borders between them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Bools, Floats, Ints
from conclust._validation import count
from conclust.cli.console import Talk
from conclust.cli.reading.inputs import Points, read_points
from conclust.cli.record import Clock
from conclust.cli.requested import jobs, reading
from conclust.confidence import (
    BorderTests,
    border_tests,
    cluster_categories,
    cluster_features,
    cluster_gaps,
    consensus_tree,
    power,
)
from conclust.confidence.borders.power import BorderPower
from conclust.exceptions import InputError
from conclust.generation.points import doubts
from conclust.results.features import MOST_GAPS, Features, write_features
from conclust.results.record import IMPUTED
from conclust.results.writing import OutputFolder, write_numbers
from conclust.words import borders as words
from conclust.words.points import of_doubts, of_filling
from conclust.words.shell import STEPS, read_line


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


@dataclass(frozen=True)
class Filled:
    """Points without gaps.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
        The points that are clustered.
    values : ndarray of shape (n_columns,) or None
        Values that fill empty cells.
    cells : ndarray of bool of shape (n_samples, n_columns)
        Mask of the cells of `X` that were filled.
    note : str
        Description of the filling, for the terminal; empty if nothing was filled.
    """

    X: Floats
    values: Floats | None
    cells: Bools
    note: str

    @property
    def observed(self) -> Floats:
        """The points with NaN in the cells that were filled."""
        return np.where(self.cells, np.nan, self.X) if self.cells.any() else self.X


def fill(X: Floats, how: str | None, names: Sequence[str]) -> Filled:
    """Fill NaN in X by the rule of ``--impute``.

    Raises
    ------
    InputError
        A column is empty.
    """
    if how is None:
        return Filled(X, None, np.zeros(X.shape, dtype=np.bool_), "")
    empty = np.isnan(X)
    gaps = int(np.count_nonzero(empty))
    bare = np.flatnonzero(empty.all(axis=0))
    if bare.size:
        raise InputError(f"The column {names[bare[0]]!r} is empty in every row. --drop it.")
    from sklearn.impute import SimpleImputer

    imputer = SimpleImputer(strategy=how).fit(X)
    cells = empty.sum(axis=0)
    filled = {names[j]: int(cells[j]) for j in np.flatnonzero(cells).tolist()}
    note = of_filling(filled, IMPUTED[how])
    values = np.asarray(imputer.statistics_, dtype=np.float64)
    return Filled(imputer.transform(X) if gaps else X, values, empty, note if gaps else "")


def tested_borders(
    arguments: argparse.Namespace,
    talk: Talk,
    clock: Clock,
    X: ArrayLike,
    clusters: Any,
    level: float,
    tested: BorderTests | None,
) -> dict[str, Any]:
    """Test the borders between clusters, with ``--borders``, and estimate the number of objects that they need, with ``--power``.

    Parameters
    ----------
    arguments : Namespace
        The command line.
    talk, clock : Talk and Clock
        For progress and timings.
    X : array-like of shape (n_samples, n_features)
        The points that were clustered, as they were read.
    clusters : fitted ConsensusClustering or array-like of shape (n_samples,)
        Estimator that found the clusters (the splits of its tree are then tested too), or labels.
    level : float
        Level at which a border holds.
    tested : BorderTests or None
        The tests, if they have been run.

    Returns
    -------
    dict
        The parts of a `Reported`: the tests, None without ``--borders``; the tree, if the clusters are cut from one; the
        power, with ``--power``.
    """
    with_power = getattr(arguments, "power", False)  # of 'select' only
    if not (arguments.borders or with_power):
        return {"borders": None}
    talk.step(STEPS["borders"])
    more: dict[str, Any] = {"random_state": arguments.seed, "n_jobs": jobs(arguments)}
    with talk.during("testing borders"):
        tests = tested or border_tests(X, clusters, alpha=level, **more)
        tree = needs = None
        if tests.n_clusters > 1 and hasattr(clusters, "ensemble_"):
            tree = consensus_tree(
                clusters,
                X,
                max_clusters=max(10, tests.n_clusters),
                alpha=level,
                random_state=arguments.seed,
            )
        if with_power:
            needs = power(clusters, X, alpha=level, **more)
    clock.lap("borders")
    return {"borders": tests, "border_tree": tree, "power": needs}


def write_borders(folder: OutputFolder, parts: dict[str, Any]) -> None:
    """Write borders.csv and power.csv, where borders were tested."""
    for name, part in (("borders.csv", parts["borders"]), ("power.csv", parts.get("power"))):
        if part is not None:
            write_numbers(folder.file(name), part.table)


def border_lines(parts: dict[str, Any], *, more_than_gaussian: bool = False) -> list[str]:
    """Return the lines printed about the borders."""
    borders: BorderTests | None = parts.get("borders")
    power: BorderPower | None = parts.get("power")
    lines = (
        [] if borders is None else [words.described(borders, more_than_gaussian=more_than_gaussian)]
    )
    return lines if power is None else [*lines, power.told()]
