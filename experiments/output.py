"""What every experiment does alike: its options, its table on the screen and in a folder."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.markdown import table

import conclust
from experiments.origin import experiment_of, origin

Row = dict[str, Any]
Formats = dict[str, str | Callable[[Any], str]]


@dataclass
class Seconds:
    """How long something took."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def stopwatch() -> Iterator[Seconds]:
    """Measure the time of the block."""
    taken = Seconds()
    wall, cpu = time.perf_counter(), time.process_time()
    yield taken
    taken.wall, taken.cpu = time.perf_counter() - wall, time.process_time() - cpu


def options(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all experiments have; the first line of `doc` is told."""
    first = (doc or "").splitlines()[0]
    parser = argparse.ArgumentParser(
        description=first, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="folder to write the tables to")
    parser.add_argument("--quick", action="store_true", help="a small version, in seconds")
    parser.add_argument("--seed", type=int, default=0, help="where all randomness comes from")
    parser.add_argument("--jobs", type=int, help="threads; all processors where it is not given")
    parser.set_defaults(experiment=experiment_of(doc))
    return parser


def as_text(rows: Sequence[Row], formats: Formats | None) -> tuple[list[list[str]], list[bool]]:
    """Return names and rows as words, and which columns hold words to begin with."""
    formats = formats or {}

    def cell(name: str, value: Any) -> str:
        if value is None:
            return "-"
        form = formats.get(name, ".3f" if isinstance(value, float) else "")
        return format(value, form) if isinstance(form, str) else form(value)

    names = list(rows[0])
    lines = [names, *([cell(name, row[name]) for name in names] for row in rows)]
    return lines, [isinstance(rows[0][name], str) for name in names]


def show(rows: Sequence[Row], title: str, formats: Formats | None = None) -> None:
    """Print rows of the same keys as a table."""
    lines, left = as_text(rows, formats)
    widths = [max(len(line[k]) for line in lines) for k in range(len(left))]
    print(f"\n{title}")
    for line in lines:
        cells = (
            text.ljust(width) if is_text else text.rjust(width)
            for text, width, is_text in zip(line, widths, left, strict=True)
        )
        print("  " + "  ".join(cells).rstrip())
    sys.stdout.flush()


def write(
    rows: Sequence[Row],
    name: str,
    arguments: argparse.Namespace,
    formats: Formats | None = None,
    note: str = "",
) -> None:
    """Write rows as NAME.csv and NAME.md, what they were made with and from as NAME.json, if --out was given.

    The note goes below the table.
    """
    if arguments.out is None:
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    with (arguments.out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (head, *lines), left = as_text(rows, formats)
    right = [k for k, is_text in enumerate(left) if not is_text]
    page = table(head, lines, right=right) + (f"\n{note}\n" if note else "")
    (arguments.out / f"{name}.md").write_text(page, encoding="utf-8")
    left_out = {"out", "experiment", "made"}
    made_with = {key: value for key, value in vars(arguments).items() if key not in left_out}
    # Of results that are kept: what these were made from.
    made_from = getattr(arguments, "made", None) or [origin(arguments.experiment)]
    text = json.dumps(
        {"conclust": conclust.__version__, "options": made_with, "made": made_from}, indent=2
    )
    (arguments.out / f"{name}.json").write_text(text + "\n", encoding="utf-8")
