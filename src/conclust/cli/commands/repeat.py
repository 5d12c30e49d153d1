"""``conclust repeat``: an earlier result made again, and the first difference."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from conclust._files.formats import RESULT_FILES, TABLE
from conclust._files.versions import versions
from conclust._validation import count, listed
from conclust.cli.console import Talk
from conclust.exceptions import InputError
from conclust.metrics import consistency_index
from conclust.results.folder import load
from conclust.results.result import Reported
from conclust.words.shell import DIFFERENCES, STEPS, of_versions


def run(arguments: argparse.Namespace) -> None:
    """Make the result again in a temporary folder, and compare."""
    talk = Talk(arguments)
    before = load(arguments.result)
    if before.record.command != "cluster" or before.rows is None:
        raise InputError(
            f"{arguments.result} cannot be repeated: 'conclust repeat' is for results of 'conclust cluster' of this version. "
            "Run its command again; result.json has it."
        )
    talk.step(STEPS["again"].format(arguments.result, before.record.call))
    with TemporaryDirectory() as home:
        after = _again(before, arguments.points, Path(home) / "result")
        difference = _difference(before, after) or _edited(arguments.result, Path(home) / "result")
        compared = listed(_files(Path(home) / "result"))
    other = of_versions(before.record.versions, versions())
    if difference is not None:
        kind, *facts = difference
        raise InputError(f"{DIFFERENCES[kind].format(*facts)} {other}".rstrip())
    n, seed = count(len(after.labels), "label"), after.record.seed
    line = STEPS["same"].format(n, compared, seed)
    talk.result(f"{line} {other}".strip(), line)


def _again(before: Reported, points: Path, out: Path) -> Reported:
    """Run the command of a result on a file of points."""
    from conclust.cli.parser import build_parser

    words = list(before.record.arguments)
    repeated = build_parser().parse_args(words)
    repeated.words, repeated.points, repeated.out = words, points, out
    repeated.quiet, repeated.debug = True, False
    with contextlib.redirect_stdout(io.StringIO()):
        repeated.command_of(repeated)(repeated)
    return load(out)


def _edited(was: Path, now: Path) -> tuple[str, ...] | None:
    """Return which file of the result differs from the one made again, and in which rows; None: none does."""
    for name in _files(now):
        if (was / name).exists() and (was / name).read_bytes() == (now / name).read_bytes():
            continue
        if not (was / name).exists() or not name.endswith(TABLE):
            return "file", name
        texts = ((folder / name).read_text("utf-8-sig") for folder in (was, now))
        tables = zip_longest(*(csv.reader(text.splitlines()) for text in texts), fillvalue=[])
        differ = (both for both in tables if [*map(_cell, both[0])] != [*map(_cell, both[1])])
        if rows := [(one or other)[0] for one, other in differ]:
            return "table", name, count(len(rows), "row"), _quoted(rows)
    return None


def _files(folder: Path) -> list[str]:
    """Return the files that are compared: all but the page, and the record with its times."""
    tables = [name for name in RESULT_FILES if name.endswith(TABLE)]
    return [name for name in ("ensemble.npz", "model.npz", *tables) if (folder / name).exists()]


def _cell(text: str) -> str | float:
    """Return a cell; a number as such, however a spreadsheet wrote it."""
    return float(text) if text.replace(".", "", 1).isdecimal() else text


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:4])) + " and more" * (len(names) > 4) if names else "none"


def _difference(before: Reported, after: Reported) -> tuple[Any, ...] | None:
    """Return what differs first, as a kind with its facts, or None if nothing does."""
    was, now, n = before.record.source, after.record.source, len(after.labels)
    if was.objects != now.objects:
        return "objects", was.objects, now.objects
    names, others = [*was.columns, *was.categories], [*now.columns, *now.categories]
    if names != others:
        gone = [name for name in names if name not in others]
        new = [name for name in others if name not in names]
        return "columns", *map(_quoted, (gone, new) if gone or new else (names, others))
    assert before.rows is not None
    assert after.rows is not None
    ids = before.names or [f"object {i}" for i in range(n)]
    rows = [ids[i] for i in np.flatnonzero(before.rows != after.rows)]
    if rows and np.array_equal(np.sort(before.rows), np.sort(after.rows)):
        return "order", f"{len(rows):,}", count(n, "row"), _quoted(rows)
    hashes = zip(names, was.hashes, now.hashes, strict=True)
    changed = [name for name, one, other in hashes if one != other]
    if changed:
        columns = len(changed), count(len(names), "column"), _quoted(changed)
        return "cells", *columns, f"{len(rows):,}", count(n, "row"), _quoted(rows)
    if before.names != after.names:
        return ("names",)
    if not np.array_equal(before.labels, after.labels):
        moved = round(n * (1.0 - consistency_index(before.labels, after.labels)))
        return "labels", count(moved, "object"), n
    return None
