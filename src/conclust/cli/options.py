"""The options that several commands share, and how their values are read. Imports nothing heavy."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

from conclust.cli.choice import AUTO, DEFAULT_METHOD

__all__ = [
    "INPUTS",
    "SCALES",
    "SCALING",
    "add_consensus",
    "add_points",
    "add_reading",
    "add_running",
    "add_talking",
    "add_writing",
    "end",
    "names",
    "numbers",
    "share",
    "weight",
    "whole",
]

INPUTS = (
    "CSV (comma, semicolon or tab; UTF-8; .gz and .bz2 too), NPY, NPZ, MAT or Parquet; - for standard "
    "input"
)


SCALES = ("auto", "minmax", "standard", "none")
SCALING = (
    "bring columns to one scale first: to [0, 1], or to mean 0 and deviation 1; auto: to mean 0 and deviation 1 where "
    "their spreads differ as those of different units do [%(default)s]"
)


def add_consensus(parser: argparse.ArgumentParser) -> None:
    """Add how the clusterings are combined."""
    group = parser.add_argument_group("consensus")
    group.add_argument(
        "--method",
        metavar="NAME",
        help="the consensus method. auto: number of clusters and evidence by what the clusterings show; or any that "
        f"'conclust methods' lists: pcc, eac (a tree), hbgf, voting, ... [{DEFAULT_METHOD}]",
    )
    group.add_argument(
        "-k",
        "--clusters",
        type=whole_or_auto,
        metavar="K",
        help="number of clusters; for pcc and its kin, which use no more than needed, the most. auto "
        "(of points): 2 to 10 or one, by resampling and a p-value",
    )
    group.add_argument(
        "--max-clusters",
        type=whole(1),
        metavar="K",
        help="the same, for methods that find how many are needed [the most that any clustering has]",
    )
    group.add_argument(
        "--linkage",
        choices=("single", "average", "complete", "ward"),
        help="how a tree is built, for eac and its kin [average]",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the method, as 'conclust methods NAME' lists them; as often as needed",
    )


def add_reading(
    parser: argparse.ArgumentParser, *, classes: bool = True, selection: bool = True
) -> Any:
    """Add how the input is read; return the group."""
    group = parser.add_argument_group("input")
    group.add_argument(
        "--id-column",
        metavar="NAME",
        help="column that names the objects [one that is called so, like 'id', and has another "
        "value in every row]",
    )
    if classes:
        group.add_argument(
            "--label-column",
            metavar="NAME",
            help="column of known classes: no part of the data, used to score the result only",
        )
    if selection:
        choice = group.add_mutually_exclusive_group()
        choice.add_argument(
            "--columns", type=names, metavar="A,B", help="the columns of data, by name or number"
        )
        choice.add_argument("--drop", type=names, metavar="A,B", help="leave these columns out")
    group.add_argument(
        "--header",
        choices=("auto", "yes", "no"),
        default="auto",
        help="whether CSV begins with names",
    )
    group.add_argument(
        "--delimiter",
        choices=("auto", "comma", "semicolon", "tab"),
        default="auto",
        help="what separates the columns of CSV",
    )
    group.add_argument("--key", metavar="NAME", help="which array of an NPZ or MAT file")
    return group


def add_points(group: Any, *, imputing: bool = True, members: bool = True) -> None:
    """Add to the group of `add_reading` the options that only points need."""
    group.add_argument(
        "--decimal",
        type=_decimal,
        default="point",
        metavar="SIGN",
        help="point or comma: what stands before the decimals in CSV [%(default)s]",
    )
    if imputing:
        becomes = (
            "each becomes one more clustering" if members else "they are clustered with the numbers"
        )
        group.add_argument(
            "--categories",
            type=names,
            metavar="A,B",
            help=f"columns of categories: {becomes}; all: every column of text",
        )
        each = "how many {} a column of categories counts for [{}]"
        group.add_argument(
            "--category-weight",
            type=weight,
            metavar="W",
            help=each.format(
                "clusterings",
                "the same as a column of numbers: clusterings made over such columns",
            )
            if members
            else each.format("columns of numbers", "1"),
        )
    if imputing:
        group.add_argument(
            "--impute",
            choices=("mean", "median", "most_frequent", "drop"),
            help="fill empty cells by this value of their column, or drop such objects: these get "
            "label -1 [empty cells are refused]",
        )


def add_writing(parser: argparse.ArgumentParser, default: str, what: str) -> None:
    """Add where the results go."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out",
        type=Path,
        default=Path(default),
        metavar="DIR",
        help=f"folder for {what}; a name that ends in .csv, .csv.gz or .csv.bz2: labels.csv under this name, "
        "no folder; -: labels.csv on standard output [%(default)s]",
    )
    group.add_argument("--force", action="store_true", help="replace results that are there")
    group.add_argument(
        "--raw",
        action="store_true",
        help="write object names as they are; without it, a name that a spreadsheet would run as a "
        "formula gets a leading '",
    )


def add_running(parser: argparse.ArgumentParser, *, seed: bool = True) -> None:
    """Add how the work is done."""
    group = parser.add_argument_group("running")
    if seed:
        group.add_argument(
            "--seed", type=whole(0), default=0, metavar="N", help="of all randomness [%(default)s]"
        )
    group.add_argument(
        "--jobs", type=_jobs, metavar="N", help="processors to use; -1: all [all that are free]"
    )
    add_talking(group)


def add_talking(parser: Any) -> None:
    """Add how much is said."""
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("-q", "--quiet", action="store_true", help="errors only")
    talk.add_argument("-v", "--verbose", action="store_true", help="every step")
    parser.add_argument("--debug", action="store_true", help="errors with their traceback")


def names(text: str) -> tuple[str, ...]:
    """Read names of columns, separated by comma; one that holds a comma stands in double quotes."""
    try:
        (found,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        found = []
    columns = tuple(name.strip() for name in found)
    if not columns or not all(columns):
        raise argparse.ArgumentTypeError(
            f"takes names of columns, separated by comma, got {text!r}"
        )
    return columns


def whole(low: int) -> Any:
    """Return a reader of whole numbers from `low` on."""

    def whole_number(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low:
            raise argparse.ArgumentTypeError(f"must be a whole number from {low} on, got {text!r}")
        return number

    return whole_number


def whole_or_auto(text: str) -> int | str:
    """Read a number of clusters, or that it is to be chosen."""
    if text.strip().lower() == AUTO:
        return AUTO
    try:
        return int(whole(1)(text))
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(
            f"must be a whole number from 1 on or auto, got {text!r}"
        ) from error


def numbers(text: str) -> list[int]:
    """Read numbers of clusters: 2:10 (both ends), 2,3,5 or 4."""
    try:
        first, colon, last = text.partition(":")
        found = (
            list(range(int(first), int(last) + 1))
            if colon
            else [int(part) for part in text.split(",")]
        )
    except ValueError:
        found = []
    if not found or min(found) < 2:
        raise argparse.ArgumentTypeError(
            f"takes numbers of clusters from 2 on, like 2:10 or 2,3,5, got {text!r}"
        )
    return found


def share(text: str) -> float:
    """Read a share above 0, at most 1."""
    found = _float(text)
    if not 0.0 < found <= 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1, got {text!r}")
    return found


def end(text: str) -> float:
    """Read an end of a range of shares, from 0 to 1."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0.0 <= found <= 1.0:
        raise argparse.ArgumentTypeError(f"must be from 0 to 1, got {text!r}")
    return found


def weight(text: str) -> float:
    """Read a weight above 0."""
    found = _float(text)
    if not 0.0 < found <= 1e6:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1e6, got {text!r}")
    return found


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _jobs(text: str) -> int:
    if text.removeprefix("-").isdigit() and int(text) != 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number other than 0, got {text!r}")


def _decimal(text: str) -> str:
    found = {"point": "point", ".": "point", "comma": "comma", ",": "comma"}.get(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"must be point or comma, got {text!r}")
    return found
