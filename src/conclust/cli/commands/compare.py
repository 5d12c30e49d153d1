"""``conclust compare``: similarity of two clusterings of the same objects."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import metrics
from conclust._files.spreadsheets import unguarded
from conclust._validation import count
from conclust.cli.reading.inputs import Labelling, read_labelling
from conclust.cli.requested import reading
from conclust.exceptions import InputError

_MEASURES = (
    ("H", "consistency_index", "share of objects in matched clusters, best matching"),
    ("Rand", "rand_index", "share of pairs on which both agree"),
    ("ARI", "adjusted_rand_index", "Rand corrected for chance: 0 expected, 1 equal"),
    ("NMI", "normalized_mutual_information", "shared information over the geometric mean"),
    ("F1 pairs", "pairwise_f1", "of the pairs put together"),
    ("FM", "fowlkes_mallows_index", "Fowlkes-Mallows: of these pairs, by the geometric mean"),
    ("F1 B3", "bcubed_f1", "B-cubed: object by object"),
    ("F1 class", "class_f1", "each cluster of A against the best of B"),
    ("purity", "purity", "share of objects in their B cluster's most frequent A cluster"),
    ("VI", "variation_of_information", "bits lost and gained: 0 equal"),
)


def run(arguments: argparse.Namespace) -> None:
    """Print the measures of two label files."""
    one, other, by_name = _read(arguments)
    first, second = one.labels, other.labels
    if by_name:
        paths = arguments.first, arguments.second
        second = _align(paths, one.ids or [], other.ids or [], second)
    elif len(first) != len(second):
        raise InputError(
            f"{arguments.first} has {len(first)} objects and {arguments.second} has {len(second)}: "
            "without names, objects are compared in order. Name the objects in both files and give "
            "--id-column."
        )
    table = metrics.contingency(first, second)
    if min(table.shape) == table.n_samples > 1:
        raise InputError(
            f"Every object is alone in both {arguments.first} and {arguments.second}, so no measure says how alike they are. "
            "Are the labels in another column (--column), or the columns not divided (--delimiter)?"
        )
    values = {name: float(getattr(metrics, name)(first, second)) for _, name, _ in _MEASURES}
    if arguments.json:
        content = {
            "objects": table.n_samples,
            "left_out": len(first) - table.n_samples,
            "matched_by": "name" if by_name else "order",
            "clusters": table.shape,
            **values,
        }
        print(json.dumps(content, indent=2))
        return
    left_out = len(first) - table.n_samples
    print(f"A  {arguments.first}: {count(table.shape[0], 'cluster')}")
    print(f"B  {arguments.second}: {count(table.shape[1], 'cluster')}")
    print(
        f"{table.n_samples:,} objects compared, matched by {'name' if by_name else 'order'}"
        + (f"; {left_out:,} without a label in one of them left out" if left_out else "")
    )
    print()
    for short, name, meaning in _MEASURES:
        print(f"  {short:<9} {values[name]:7.4f}   {meaning}")


def _read(arguments: argparse.Namespace) -> tuple[Labelling, Labelling, bool]:
    """Read both files; return whether their objects are matched by name."""
    how = reading(arguments)
    wanted = () if arguments.column is None else (arguments.column,)
    # When compared with a user's table, a result of conclust has its own name for the labels.
    second: tuple[str, ...] = (*wanted, "label") if wanted else ()
    if arguments.second_column is not None:
        second = (arguments.second_column,)
    one = read_labelling(arguments.first, how, wanted)
    other = read_labelling(arguments.second, how, second)
    both = one.ids is not None and other.ids is not None
    return one, other, both and (how.id_column is not None or one.id_name == other.id_name)


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
