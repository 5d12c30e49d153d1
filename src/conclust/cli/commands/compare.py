"""``conclust compare``: similarity of clusterings of the same objects, and which of several to keep."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import metrics
from conclust._files.spreadsheets import unguarded
from conclust._validation import count
from conclust.cli.console import plain
from conclust.cli.reading.inputs import read_ensemble
from conclust.cli.requested import Reading, reading
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError
from conclust.selection import choose_run
from conclust.words.shell import MEASURES, compared_line


def run(arguments: argparse.Namespace) -> None:
    """Print the measures of two label files."""
    how = reading(arguments)
    wanted = () if arguments.column is None else (arguments.column,)
    # When compared with a user's table, a result of conclust has its own name for the labels.
    others: tuple[str, ...] = (*wanted, "label") if wanted else ()
    if arguments.second_column is not None:
        others = (arguments.second_column,)
    paths = arguments.first, arguments.second
    (first, second), named = _aligned(paths, (wanted, others), how)
    table = metrics.contingency(first, second)
    if min(table.shape) == table.n_samples > 1:
        raise InputError(
            f"Every object is alone in both {arguments.first} and {arguments.second}, so no measure can compare them. "
            "Are the labels in another column (--column), or the columns not divided (--delimiter)?"
        )
    values = {name: float(getattr(metrics, name)(first, second)) for _, name, _ in MEASURES}
    if arguments.json:
        content = {
            "objects": table.n_samples,
            "left_out": len(first) - table.n_samples,
            "matched_by": "name" if named else "order",
            "clusters": table.shape,
            **values,
        }
        print(json.dumps(content, indent=2))
        return
    left_out = len(first) - table.n_samples
    print(f"A  {arguments.first}: {count(table.shape[0], 'cluster')}")
    print(f"B  {arguments.second}: {count(table.shape[1], 'cluster')}")
    print(compared_line(table.n_samples, left_out, named=named))
    print()
    for short, name, meaning in MEASURES:
        print(f"  {short:<9} {values[name]:7.4f}   {meaning}")


def run_all(arguments: argparse.Namespace) -> None:
    """Print how several runs differ, and which to keep."""
    paths, how = arguments.all, reading(arguments)
    wanted = () if arguments.column is None else (arguments.column,)
    if len(paths) == 1:
        table = read_ensemble(paths[0], replace(how, columns=wanted or None))
        runs, names = table.ensemble, table.names
    else:
        columns, _ = _aligned(paths, [wanted] * len(paths), how)
        runs = Ensemble(np.column_stack(columns))
        names = tuple(plain(path) for path in paths)
    found = replace(choose_run(runs), names=names)
    losses = [None if np.isnan(loss) else loss for loss in found.losses.tolist()]
    facts = names, found.n_clusters.tolist(), losses, found.groups.tolist()
    rows = list(zip(*facts, strict=True))
    if arguments.json:
        keys = ("name", "clusters", "mean_vi", "group")
        keep = {"nearest": names[found.run], "plateau": [names[u] for u in found.plateau]}
        content = {"runs": [dict(zip(keys, row, strict=True)) for row in rows], **keep}
        print(json.dumps(content | {"plateau_run": names[found.plateau_run]}, indent=2))
        return
    width = max(map(len, ("run", *names)))
    print(f"  {'run':<{width}}  clusters  mean VI  group")
    for name, K, loss, group in rows:
        mean = "" if loss is None else f"{loss:.4f}"
        print(f"  {name:<{width}}  {K:8,}  {mean:>7}  {group:5}")
    print(f"\n{count(runs.n_samples, 'object')}; {found.sentence}")


def _aligned(
    paths: Sequence[Path], wanted: Sequence[Sequence[str]], how: Reading
) -> tuple[list[NDArray[Any]], bool]:
    """Read a labelling of each file, objects in the order of the first; return whether they are matched by name."""
    runs = [read_ensemble(path, how, names) for path, names in zip(paths, wanted, strict=True)]
    labels = [run.ensemble.labels[:, 0] for run in runs]
    first, columns, named = runs[0], labels[:1], False
    for path, one, found in zip(paths[1:], runs[1:], labels[1:], strict=True):
        pair, same = (paths[0], path), how.id_column is not None or first.id_name == one.id_name
        named = first.ids is not None and one.ids is not None and same
        if named:
            columns.append(_align(pair, first.ids or [], one.ids or [], found))
            continue
        if len(found) != len(columns[0]):
            raise InputError(
                f"{pair[0]} has {len(columns[0])} objects and {path} has {len(found)}: "
                "without names, objects are compared in order. Name the objects in both files and give "
                "--id-column."
            )
        columns.append(found)
    return columns, named


def _align(
    paths: Sequence[Path], first: Sequence[str], second: Sequence[str], labels: NDArray[Any]
) -> NDArray[Any]:
    first, second = [unguarded(name) for name in first], [unguarded(name) for name in second]
    for path, names in zip(paths, (first, second), strict=True):
        name, times = Counter(names).most_common(1)[0]
        if times > 1:
            raise InputError(f"{path} has the object {name!r} more than once.")
    place = {name: row for row, name in enumerate(second)}
    strangers = [name for name in first if name not in place]
    if strangers or len(first) != len(second):
        stranger = strangers[0] if strangers else next(iter(set(second) - set(first)))
        where = paths[0] if strangers else paths[1]
        raise InputError(
            f"The two files do not have the same objects: {stranger!r} is only in {where}."
        )
    return np.asarray(labels[[place[name] for name in first]])
