"""``conclust repeat``: an earlier result made again, and the first difference."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from conclust._files.versions import versions
from conclust._validation import count
from conclust.cli.console import Talk
from conclust.exceptions import InputError
from conclust.metrics import consistency_index
from conclust.results.folder import load
from conclust.results.result import Reported
from conclust.words.shell import STEPS, of_difference, of_versions


def run(arguments: argparse.Namespace) -> None:
    """Make the result again in a temporary folder, and compare."""
    talk = Talk(arguments)
    before = load(arguments.result)
    source = before.record.source
    n_columns = len(source.columns) + len(source.categories)
    if before.record.command != "cluster" or len(source.hashes) != n_columns:
        raise InputError(
            f"{arguments.result} cannot be repeated: 'conclust repeat' is for results of 'conclust cluster' of this version. "
            "Run its command again; result.json has it."
        )
    talk.step(STEPS["again"].format(arguments.result, before.record.call))
    with TemporaryDirectory() as home:
        after = _again(before, arguments.points, Path(home) / "result")
        difference = _difference(before, after) or _edited(arguments.result, Path(home) / "result")
    other = of_versions(before.record.versions, versions())
    if difference is not None:
        own = other if difference[0] in ("labels", "members") else ""
        raise InputError(f"{of_difference(*difference)} {own}".rstrip())
    n, seed = count(len(after.labels), "label"), after.record.seed
    line = STEPS["same"].format(n, seed)
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


def _edited(*folders: Path) -> tuple[str, str] | None:
    """Return in how many rows the names or labels of the tables for people differ, if in any."""
    texts = ((folder / "labels.csv").read_text("utf-8-sig") for folder in folders)
    tables = [csv.reader(text.splitlines()) for text in texts]
    rows = sum(one[:2] != two[:2] for one, two in zip_longest(*tables, fillvalue=[]))
    return ("table", count(rows, "row")) if rows else None


def _difference(before: Reported, after: Reported) -> tuple[Any, ...] | None:
    """Return what differs first, as a kind with its facts, or None if nothing does."""
    was, now = before.record.source, after.record.source
    for what in ("objects", "columns", "categories"):
        if getattr(was, what) != getattr(now, what):
            return what, getattr(was, what), getattr(now, what)
    names = [*was.columns, *was.categories]
    hashes = zip(names, was.hashes, now.hashes, strict=True)
    changed = [name for name, one, other in hashes if one != other]
    if changed:
        listed = ", ".join(map(repr, changed[:4])) + (", ..." if len(changed) > 4 else "")
        return "cells", len(changed), count(len(names), "column"), listed
    if before.names != after.names:
        return ("names",)
    if not np.array_equal(before.labels, after.labels):
        moved = round(len(after.labels) * (1.0 - consistency_index(before.labels, after.labels)))
        return "labels", count(moved, "object"), len(after.labels)
    return None if before.record.ensemble == after.record.ensemble else ("members",)
