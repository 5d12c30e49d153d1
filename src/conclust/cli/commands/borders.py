"""``--borders``: whether there is a border between each two neighbouring clusters of points."""

from __future__ import annotations

import argparse
from typing import Any

from numpy.typing import ArrayLike

from conclust.cli.console import Talk
from conclust.cli.record import Clock
from conclust.cli.requested import jobs
from conclust.confidence import BorderTests, border_tests, consensus_tree
from conclust.confidence.borders.result import described
from conclust.results.writing import OutputFolder, write_numbers

BORDERS = "borders.csv"


def tested_borders(
    arguments: argparse.Namespace,
    talk: Talk,
    clock: Clock,
    X: ArrayLike,
    clusters: Any,
    level: float,
) -> dict[str, Any]:
    """Test the borders between clusters, with ``--borders``.

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

    Returns
    -------
    dict
        The parts of a `Reported`: the tests, None without ``--borders``; and the tree, if the clusters are cut from one.
    """
    if not arguments.borders:
        return {"borders": None}
    talk.step("Testing the borders: parts of the points are clustered separately (--borders).")
    with talk.during("testing borders"):
        tests = border_tests(
            X, clusters, alpha=level, random_state=arguments.seed, n_jobs=jobs(arguments)
        )
        tree = None
        if tests.n_clusters > 1 and hasattr(clusters, "ensemble_"):
            tree = consensus_tree(
                clusters,
                X,
                max_clusters=max(10, tests.n_clusters),
                alpha=level,
                random_state=arguments.seed,
            )
    clock.lap("borders")
    return {"borders": tests, "border_tree": tree}


def write_borders(folder: OutputFolder, borders: BorderTests | None) -> None:
    """Write borders.csv, where borders were tested."""
    if borders is not None:
        write_numbers(folder.file(BORDERS), borders.table)


def border_lines(borders: BorderTests | None, *, more_than_gaussian: bool = False) -> list[str]:
    """Return the lines printed about the borders."""
    return [] if borders is None else [described(borders, more_than_gaussian=more_than_gaussian)]
