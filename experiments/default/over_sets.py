"""Each set of the groups of `answer_sets` scored once: what `answer` and `settle` share."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from experiments.default.answer_sets import GROUPS
from experiments.default.sets import Points
from experiments.kept import fill, opened
from experiments.output import Row, options

Score = Callable[[Points, int, Path], Row]


def over_sets(
    description: str, name: str, seeds: Sequence[int], score: Score, argv: Sequence[str] | None
) -> tuple[list[Row], argparse.Namespace]:
    """Read the options of an experiment, and return the line of each set, from what was kept where it was.

    Parameters
    ----------
    description : str
        The docstring of the experiment.
    name : str
        Its name: of the file of kept lines, and of the lines in it.
    seeds : sequence of int
        Default of ``--seeds``.
    score : callable
        Given a set, its seed and a folder to keep members in, it returns the line.
    argv : sequence of str or None
        The command line.
    """
    parser = options(description)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(seeds))
    parser.add_argument("--cache", type=Path, help="folder to keep members in")
    arguments: argparse.Namespace = parser.parse_args(argv)
    wanted = {
        f"{group}, {seed}: {points.name}": [name]
        for group in arguments.groups
        for seed in (arguments.seeds[:1] if arguments.quick else arguments.seeds)
        for points in _points_of(group, seed, arguments.quick)
    }
    kept = opened(arguments, f"{name}.kept.json", {"quick": arguments.quick})
    with tempfile.TemporaryDirectory() as folder:
        cache = arguments.cache or Path(folder)
        fill(kept, wanted, partial(_line, score, cache, arguments.quick), arguments.jobs)
    del arguments.cache
    return [kept.found[unit][name] for unit in wanted], arguments


def _points_of(group: str, seed: int, quick: bool) -> Iterator[Points]:
    """Yield the sets of a group; of the quick version two."""
    yield from islice(GROUPS[group](seed), 2 if quick else None)


def _line(score: Score, cache: Path, quick: bool, unit: str, names: list[str]) -> dict[str, Row]:
    """Return the line of a set, "GROUP, SEED: SET"."""
    of, name = unit.split(": ", 1)
    group, seed = of.split(", ")
    points = next(each for each in _points_of(group, int(seed), quick) if each.name == name)
    return dict.fromkeys(names, score(points, int(seed), cache))
