"""Reads matrices of memberships, one per file, as ADMIXTURE, STRUCTURE and CLUMPP write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from conclust._types import Floats
from conclust.cli.console import plain
from conclust.cli.reading.inputs import Labels, read_weights
from conclust.ensemble import Ensemble
from conclust.exceptions import FileFormatError, InputError


def read_membership_files(paths: Sequence[Path], *, weights: Path | None = None) -> Labels:
    """Read soft partitions of the same objects: in each file one object per line, and its share of each cluster.

    Parameters
    ----------
    paths : sequence of Path
        Files of numbers separated by blanks, tabs or commas, without a header.
    weights : Path, default=None
        A file of one weight per file.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        A file is not a matrix of numbers, or its rows are not memberships.
    """
    names = tuple(plain(path) for path in paths)
    of_members = None if weights is None else read_weights(weights, len(paths), names)
    matrices = [_matrix(path) for path in paths]
    try:
        ensemble = Ensemble.from_memberships(matrices, weights=of_members)
    except InputError as error:
        listed = ", ".join(f"{u}: {name}" for u, name in enumerate(names))
        raise InputError(f"{error} The memberships are {listed}.") from error
    return Labels(ensemble, names, None, "object", None, ())


def _matrix(path: Path) -> Floats:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines = [line.replace(",", " ") for line in file]
    if not any(line.strip() for line in lines):
        raise FileFormatError(f"{plain(path)} is empty.")
    try:
        return np.asarray(np.loadtxt(lines, ndmin=2, comments=None))
    except ValueError as error:
        raise FileFormatError(
            f"{plain(path)} must hold one object per line, with a number for each cluster and nothing else: {error}"
        ) from error
