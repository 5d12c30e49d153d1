"""How the adjusted Rand index grows with the number of answers about random pairs.

python -m experiments.answers.many [--quick] [--points mfeat ...] [--draws 3] [--objects 800] [--out FOLDER]

Objects of each set are drawn. The known classes answer whether two objects drawn at random belong together, and the
answers go into ``fit`` of ConsensusClustering as must_link and cannot_link, all of them true. The number of classes is
given, or found.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from conclust.datasets import available
from conclust.exceptions import DatasetNotFoundError
from experiments.answers.questions import POINTS, answered, of_points, score
from experiments.output import Row, options, show, write

NUMBERS = (50, 250, 1000, 3000)


def rows_of(name: str, draws: int, objects: int, seed: int) -> list[Row]:
    rows: list[Row] = []
    for draw, (rng, classes, number, fit) in enumerate(of_points(name, draws, objects, seed)):
        pairs = rng.integers(0, len(classes), (max(NUMBERS), 2))
        for told, k in (("number of classes", number), ("nothing", None)):
            row: Row = {"set": name, "told": told, "draw": draw}
            row["no answers"] = score(fit, k, classes, answered(pairs[:0], classes))
            for size in NUMBERS:
                some = pairs[:size]
                given = answered(some[some[:, 0] != some[:, 1]], classes)
                row[str(size)] = score(fit, k, classes, given) - row["no answers"]
            rows.append(row)
    print(name, flush=True)
    return rows


def means(rows: list[Row]) -> list[Row]:
    """Return a row for each set and number told."""
    found: list[Row] = []
    for name, told in dict.fromkeys((row["set"], row["told"]) for row in rows):
        own = [row for row in rows if (row["set"], row["told"]) == (name, told)]
        keys = ("no answers", *map(str, NUMBERS))
        mean = {key: float(np.mean([row[key] for row in own])) for key in keys}
        found.append({"set": name, "told": told, **mean})
    return found


def run(arguments: argparse.Namespace) -> None:
    draws, objects = (1, 200) if arguments.quick else (arguments.draws, arguments.objects)
    names = [name for name in arguments.points if name in available()]
    if not names:
        raise DatasetNotFoundError(f"None of the sets is here: {', '.join(arguments.points)}.")
    names = names[:1] if arguments.quick else names
    rows = [row for name in names for row in rows_of(name, draws, objects, arguments.seed)]
    table = means(rows)
    formats: dict[str, Any] = dict.fromkeys(map(str, NUMBERS), lambda x: f"{x:+.3f}")
    show(table, "Adjusted Rand index, and what answers about random pairs add to it", formats)
    note = (
        f"Means over {draws} draws of {objects:,} objects. 'no answers': the adjusted Rand index without; the other columns: "
        "what as many answers about random pairs add."
    )
    write(table, "many", arguments, formats, note=note)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--points", nargs="*", default=list(POINTS), help="sets of points")
    parser.add_argument("--draws", type=int, default=3, help="draws of each set")
    parser.add_argument("--objects", type=int, default=800, help="objects drawn of a set")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
