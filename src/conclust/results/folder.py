"""A result folder of ``conclust cluster``, ``combine`` or ``select``: written by these, and read back complete or refused.

The tables are for users. What is read back is report.npz, a `Reported` in the form in which models are saved, with the
members in ensemble.npz; result.json seals the folder.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from conclust._files import saving
from conclust._files.storage import json_numbers, read_json, write_json
from conclust._files.versions import RESULT_FORMAT
from conclust._types import Floats
from conclust.confidence import BorderTests, ClusterGaps
from conclust.confidence.reading import Judged
from conclust.ensemble import Ensemble
from conclust.exceptions import FileFormatError, InputError
from conclust.results.record import entries
from conclust.results.result import Reported
from conclust.results.writing import OutputFolder
from conclust.selection import Selection

_COMMANDS = ("cluster", "combine", "select")
_MADE_BY = "'conclust cluster', 'combine' or 'select'"


def load(path: str | os.PathLike[str]) -> Reported:
    """Read a result folder, as ``conclust report`` does.

    Parameters
    ----------
    path : path-like
        Folder given by ``--out``.

    Returns
    -------
    Reported
        The result: ``labels``, ``names`` of the objects, ``n_clusters``, ``record`` (command, method, settings, seed, versions,
        seconds, warnings), ``judged`` (the ensemble, ``members``, and the ``membership``), ``selection``, ``features``,
        ``gaps``, ``borders``. What the folder lacks is None.

    Raises
    ------
    InputError
        If it is not a result folder, lacks a file, or is from another command or version.
    FileFormatError
        A file is damaged, or does not fit the others.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from conclust import results
    >>> from conclust.cli import main
    >>> labels = np.repeat([[0, 0, 1], [1, 1, 0]], 10, axis=0)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     path = Path(home) / "labels.npy"
    ...     np.save(path, labels)
    ...     _ = main(["combine", str(path), "--quiet", "--out", str(Path(home) / "result")])
    ...     found = results.load(Path(home) / "result")
    2 clusters of 20 objects, from 3 clusterings. Sizes: 10, 10.
    >>> found.n_clusters, found.record.command, found.judged.members.shape
    (2, 'combine', (20, 3))
    """
    folder = Path(path)
    reported, membership = _stored(folder)
    record, selection = reported.record, reported.selection
    settings = {"seed": record.seed, **record.settings}
    if selection is not None and record.command != "select":
        settings["selection"] = selection.settings
    reported = replace(reported, record=replace(record, settings=settings))
    if record.command == "select" and reported.n_clusters == 1:
        return reported
    members = Ensemble.load(_file(folder, "ensemble.npz"))
    if members.n_samples != reported.n_samples:
        raise FileFormatError(
            f"{folder / 'ensemble.npz'} does not fit the other files of the result: it was changed or damaged. "
            "Make the result again."
        )
    return replace(reported, judged=Judged(reported.labels, members, membership))


def load_alone(folder: Path) -> Reported:
    """Read a result folder without its ensemble."""
    return _stored(folder)[0]


def _stored(folder: Path) -> tuple[Reported, Floats | None]:
    """Read report.npz of a complete folder of this version: the result, and its memberships."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}. Give a folder that {_MADE_BY} has written.")
    seal = folder / "result.json"
    if not seal.exists():
        raise InputError(
            f"{folder} is not a complete result folder: it has no result.json, which is written last. Make "
            f"it again with {_MADE_BY}."
        )
    content = read_json(seal)
    if not isinstance(content, dict):
        raise FileFormatError(f"{seal} is damaged: it is not a JSON object. Make the result again.")
    command, version = content.get("command"), content.get("format")
    if command not in _COMMANDS:
        raise InputError(
            f"{folder} is not a result that can be reported"
            + (f", but the result of 'conclust {command}'" if isinstance(command, str) else "")
            + f". Give the folder of {_MADE_BY}."
        )
    if version != RESULT_FORMAT:
        versions = content.get("versions")
        made = versions.get("conclust") if isinstance(versions, dict) else None
        raise InputError(
            f"{folder} has format {version!r}, written by {f'conclust {made}' if made else 'another version of conclust'}; "
            f"this version reads format {RESULT_FORMAT}. Make the result again, or read it with that version."
        )
    stored: tuple[Reported, Floats | None] = saving.load(_file(folder, "report.npz"))
    seconds = content.get("seconds")
    if not (
        saving.fits(stored, tuple[Reported, Floats | None])
        and _fit(*stored)
        and isinstance(seconds, dict)
        and all(isinstance(each, float) for each in seconds.values())
    ):
        raise FileFormatError(
            f"{folder / 'report.npz'} is damaged, or of another result. Make the result again."
        )
    reported, membership = stored
    return replace(reported, record=replace(reported.record, seconds=seconds)), membership


def _fit(reported: Reported, membership: Floats | None) -> bool:
    """Return whether memberships are of the objects and clusters of a result."""
    if membership is None:
        return True
    n, width = membership.shape
    return bool(n == reported.n_samples and width >= reported.n_clusters)


def _file(folder: Path, name: str) -> Path:
    """Return the path of a required file."""
    if not (folder / name).exists():
        raise InputError(
            f"{folder} lacks {name}: the result is incomplete, or of another version of conclust. "
            "Make it again."
        )
    return folder / name


def write_result(
    folder: OutputFolder, reported: Reported, membership: Floats | None = None
) -> None:
    """Write report.npz, and result.json, which seals the folder.

    Parameters
    ----------
    folder : OutputFolder
        The folder; the tables and ensemble.npz are in it.
    reported : Reported
        The result, without its ensemble.
    membership : ndarray of shape (n_samples, n_held) or None
        Memberships, if there are any.
    """
    selection, gaps, borders = reported.selection, reported.gaps, reported.borders
    if selection is not None:  # the resamples of all numbers are large, and no report shows them
        selection = replace(selection, ensembles={})
    # The seconds are in result.json only, so that the same result is the same file.
    kept = replace(reported, selection=selection, record=replace(reported.record, seconds={}))
    saving.save(folder.file("report.npz"), (kept, membership))
    content = entries(reported.record)
    chosen = {} if selection is None else _of_selection(selection)
    if reported.record.command == "select":
        content |= {**chosen, "settings": reported.record.settings}
    else:
        content["selection"] = chosen or None
    content["gaps"] = None if gaps is None else _of_gaps(gaps)
    content["borders"] = None if borders is None else _of_borders(borders)
    write_json(folder.file("result.json"), content)


def _of_selection(found: Selection) -> dict[str, Any]:
    """Return the entry of a selection: its answer and its criteria."""
    return {
        "clusters": found.n_clusters,
        "p_value": json_numbers(found.p_value),
        "references": found.n_references,
        "p_value_clouds": json_numbers(found.p_value_clouds),
        "reason": found.reason,
        "why": found.why,
        "doubts": found.doubts,
        "alternatives": found.alternatives,
        "settings": found.settings,
        "borders_tested": found.n_borders,
        "borders_held": found.n_held,
        "k": found.k,
        "criteria": {name: json_numbers(column) for name, column in found.table.items()},
        "null": json_numbers(found.null),
    }


def _of_gaps(gaps: ClusterGaps) -> dict[str, Any]:
    return {
        "dip": json_numbers(gaps.dip),
        "p_value": json_numbers(gaps.p_value),
        "splits": gaps.n_splits,
        "draws": gaps.n_draws,
        "neighbours": gaps.neighbours,
    }


def _of_borders(tests: BorderTests) -> dict[str, Any]:
    """Return the entry of tests of borders: all but the table, which is borders.csv."""
    return {
        "clusters": tests.n_clusters,
        "alpha": tests.alpha,
        "adjusted_by": "Holm",
        "splits": len(tests.agreement),
        "agreement": json_numbers(tests.agreement.mean() if len(tests.agreement) else float("nan")),
        "borders": tests.n_borders,
        "held": tests.n_held(),
        "clusters_left": int(tests.merged().max()) + 1,
    }
