"""``conclust repeat``: an earlier result made again, and the first difference."""

from __future__ import annotations

import argparse
import contextlib
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from conclust._files.versions import versions
from conclust._validation import count
from conclust.cli.console import Talk
from conclust.exceptions import InputError
from conclust.metrics import consistency_index
from conclust.results.folder import load
from conclust.results.result import Reported


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
    talk.step(f"Making {arguments.result} again: {before.record.call}.")
    with TemporaryDirectory() as home:
        after = _again(before, arguments.points, Path(home) / "result")
    difference = _difference(before, after)
    if difference:
        raise InputError(difference)
    n, seed = count(len(after.labels), "label"), after.record.seed
    other = _of_versions(before)
    line = f"The same, to the bit: {n}, with the seed {seed}."
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


def _difference(before: Reported, after: Reported) -> str:
    """Return the first difference in a sentence; "" if there is none."""
    was, now = before.record.source, after.record.source
    for what in ("objects", "columns", "categories"):
        if getattr(was, what) != getattr(now, what):
            return f"The data differ: {getattr(was, what)} {what} then, {getattr(now, what)} now."
    names = [*was.columns, *was.categories]
    changed = [
        name
        for name, *hashes in zip(names, was.hashes, now.hashes, strict=True)
        if len({*hashes}) > 1
    ]
    if changed:
        listed = ", ".join(map(repr, changed[:4])) + (", ..." if len(changed) > 4 else "")
        return f"The data differ in {len(changed)} of {count(len(names), 'column')}: {listed}."
    if before.names != after.names:
        return "The data differ: the objects have other names, or another order."
    other = _of_versions(before)
    if not np.array_equal(before.labels, after.labels):
        moved = round(len(after.labels) * (1.0 - consistency_index(before.labels, after.labels)))
        return f"{count(moved, 'object')} of {len(after.labels):,} moved to another cluster. {other}".strip()
    one, again = before.record.ensemble, after.record.ensemble
    if one != again:
        return (
            f"The labels are the same, but not the clusterings that they come from. {other}".strip()
        )
    return ""


def _of_versions(before: Reported) -> str:
    """Return which versions differ from those of the result, in a sentence."""
    now = versions()
    changed = [
        f"{name} {was} (now {now.get(name, 'missing')})"
        for name, was in before.record.versions.items()
        if now.get(name) != was
    ]
    return f"The result was made with {', '.join(changed)}." if changed else ""
