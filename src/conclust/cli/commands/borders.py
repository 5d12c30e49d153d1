"""``--borders``: whether there is a border between each two neighbouring clusters of points."""

from __future__ import annotations

import argparse
from typing import Any

from numpy.typing import ArrayLike

from conclust.cli.console import Talk
from conclust.cli.record import Clock
from conclust.cli.requested import jobs
from conclust.confidence import BorderTests, border_tests, consensus_tree, power
from conclust.confidence.borders.power import BorderPower
from conclust.results.writing import OutputFolder, write_numbers
from conclust.words.borders import described
from conclust.words.shell import STEPS

BORDERS, POWER = "borders.csv", "power.csv"


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
    for name, part in ((BORDERS, parts["borders"]), (POWER, parts.get("power"))):
        if part is not None:
            write_numbers(folder.file(name), part.table)


def border_lines(parts: dict[str, Any], *, more_than_gaussian: bool = False) -> list[str]:
    """Return the lines printed about the borders."""
    borders: BorderTests | None = parts.get("borders")
    power: BorderPower | None = parts.get("power")
    lines = [] if borders is None else [described(borders, more_than_gaussian=more_than_gaussian)]
    return lines if power is None else [*lines, power.told()]
