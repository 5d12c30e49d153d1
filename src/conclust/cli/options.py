"""The options that several commands share, and how their values are read. Imports nothing heavy."""

from __future__ import annotations

import argparse
import codecs
import csv
import json
from functools import partial
from pathlib import Path
from typing import Any

from conclust._files.formats import TABLE
from conclust.cli.choice import AUTO, DEFAULT_METHOD
from conclust.cli.reading.notation import EMPTY, EMPTY_NUMBER, SEPARATORS
from conclust.words.help import HELP

KINDS = Path(__file__).with_name("kinds.json")
"""The kinds of members, as ``make docs`` writes them."""


LEVEL = 0.05
"""Default significance level."""
_LARGEST_K = 1_000_000

SCALES = ("auto", "minmax", "standard", "none")


class Kinds(tuple[str, ...]):
    """The kinds of members; several may be joined by "+"."""

    __slots__ = ()

    def __contains__(self, word: object) -> bool:
        alone = ("auto", "mixed")
        kinds = str(word).split("+")
        return all(super(Kinds, self).__contains__(kind) for kind in kinds) and (
            len(kinds) == 1 or not any(kind in alone for kind in kinds)
        )


def described_kinds() -> dict[str, dict[str, Any]]:
    """Return the kinds of members for the help, by name; `make docs` writes them, because importing the kinds takes seconds."""
    kinds: dict[str, dict[str, Any]] = json.loads(KINDS.read_text(encoding="utf-8"))
    return kinds


def add_consensus(parser: argparse.ArgumentParser) -> None:
    """Add the options for combining clusterings."""
    group = parser.add_argument_group("consensus")
    group.add_argument("--method", metavar="NAME", help=f"{HELP['--method']} [{DEFAULT_METHOD}]")
    group.add_argument(
        "-k", "--clusters", type=whole(1, auto=True), metavar="K", help=HELP["--clusters"]
    )
    group.add_argument("--max-clusters", type=whole(1), metavar="K", help=HELP["--max-clusters"])
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help=HELP["--set"]
    )


def add_reading(
    parser: argparse.ArgumentParser, *, classes: bool = True, selection: bool = True
) -> Any:
    """Add the options for reading the input; return the group."""
    group = parser.add_argument_group("input")
    group.add_argument("--id-column", metavar="NAME", help=HELP["--id-column"])
    if classes:
        group.add_argument("--label-column", metavar="NAME", help=HELP["--label-column"])
    if selection:
        several(group, "--columns", names)
        several(group, "--drop", names)
    choice(group, "--header", ("auto", "yes", "no"))
    choice(group, "--delimiter", ("auto", *SEPARATORS))
    value(group, "--encoding", encoding_named, "NAME", None)
    several(group, "--na", spellings, empty=" ".join(EMPTY[1:]), numbers=" ".join(EMPTY_NUMBER))
    return group


def add_points(group: Any, *, imputing: bool = True, members: bool = True) -> None:
    """Add to the group of `add_reading` the options that only points need."""
    value(group, "--decimal", _decimal, "SIGN", None)
    if imputing:
        several(
            group,
            "--categories",
            names,
            becomes="each is added as a clustering"
            if members
            else "they are clustered with the numbers",
        )
        fillings = ("mean", "median", "most_frequent")
        group.add_argument("--impute", choices=fillings, help=HELP["--impute"])


def add_writing(parser: argparse.ArgumentParser, default: str, what: str) -> None:
    """Add the options for the output."""
    group = parser.add_argument_group("output")
    help = HELP["--out"].format(what=what, table=TABLE)
    path(group, "--out", "DIR", help, default=Path(default))
    flag(group, "--force", HELP["--force"])


def add_running(parser: argparse.ArgumentParser, *, seed: bool = True) -> None:
    """Add the options for running."""
    group = parser.add_argument_group("running")
    if seed:
        value(group, "--seed", whole(0), "N", 0)
    value(group, "--jobs", _jobs, "N", None)
    add_talking(group)


def add_talking(parser: Any) -> None:
    """Add the options for verbosity."""
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("-q", "--quiet", action="store_true", help=HELP["--quiet"])
    talk.add_argument("-v", "--verbose", action="store_true", help=HELP["--verbose"])
    flag(parser, "--debug", HELP["--debug"])


def _separated(text: str, what: str) -> tuple[str, ...]:
    try:
        (cells,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        cells = []
    values = tuple(cell.strip() for cell in cells)
    if not values or not all(values):
        raise argparse.ArgumentTypeError(f"must be {what} separated by commas, got {text!r}")
    return values


names = partial(_separated, what="column names")
"""Read names of columns, separated by comma; a name with a comma is enclosed in double quotes."""
spellings = partial(_separated, what="spellings of an empty cell")
"""Read spellings of an empty cell, separated by comma."""


def path(group: Any, name: str, metavar: str, help: str, **more: Any) -> None:
    """Add an option or argument that names a file or folder."""
    group.add_argument(name, type=path_of, metavar=metavar, help=help, **more)


def flag(group: Any, name: str, help: str) -> None:
    """Add an option without a value."""
    group.add_argument(name, action="store_true", help=help)


def choice(group: Any, name: str, choices: tuple[str, ...]) -> None:
    """Add an option with some values, the first of which is the default."""
    group.add_argument(name, choices=choices, default=choices[0], help=HELP[name])


def value(group: Any, name: str, kind: Any, metavar: str, default: Any) -> None:
    """Add an option with a value."""
    group.add_argument(name, type=kind, metavar=metavar, default=default, help=HELP[name])


def several(group: Any, name: str, kind: Any, **facts: str) -> None:
    """Add an option of values separated by commas, which may be given several times."""
    text = HELP[name].format(**facts) if facts else HELP[name]
    group.add_argument(name, type=kind, action="extend", metavar="A,B", help=text)


def path_of(text: str) -> Path:
    """Read the path of a file or folder; an empty one, as of a variable that is not set, would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("must name a file or folder, got ''")
    return Path(text)


def cluster_names(text: str) -> tuple[str, ...]:
    """Read names of clusters: separated by commas, or the lines of a file."""
    file = Path(text)
    try:
        is_file = file.is_file()
    except OSError:  # a list of names may be too long for the name of a file
        is_file = False
    try:
        lines = file.read_text("utf-8-sig").splitlines() if is_file else None
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"must be a text file, got {text!r}: {error}") from error
    if lines is not None:
        given_names = tuple(line.strip() for line in lines if line.strip())
    else:
        given_names = names(text)
    if not given_names or len(set(given_names)) < len(given_names):
        raise argparse.ArgumentTypeError(f"must be different names, got {', '.join(given_names)!r}")
    return given_names


def _parsed(kind: Any, text: str) -> Any:
    """Return a number, or None if the text holds none."""
    try:
        return kind(text)
    except ValueError:
        return None


def whole(low: int, *, auto: bool = False) -> Any:
    """Return a parser of integers of at least `low`, or of "auto" as well."""

    def whole_number(text: str) -> int | str:
        if auto and text.strip().lower() == AUTO:
            return AUTO
        number: int | None = _parsed(int, text)
        if number is None or number < low:
            also = ", or auto" * auto
            raise argparse.ArgumentTypeError(
                f"must be an integer of at least {low}{also}, got {text!r}"
            )
        return number

    return whole_number


def numbers(text: str) -> list[int]:
    """Read numbers of clusters: 2:10 (both ends), 2,3,5 or 4."""
    first, colon, last = text.partition(":")
    ks = [_parsed(int, part) for part in ((first, last) if colon else text.split(","))]
    if None in ks or min(ks) < 2 or max(ks) > _LARGEST_K or (colon and ks[0] > ks[1]):
        raise argparse.ArgumentTypeError(
            f"must be numbers of clusters from 2 to {_LARGEST_K:,}, like 2:10 or 2,3,5, got {text!r}"
        )
    return list(range(ks[0], ks[1] + 1)) if colon else ks


def share(text: str) -> float:
    """Read a share above 0, at most 1."""
    value: float | None = _parsed(float, text)
    if value is None or not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1, got {text!r}")
    return value


def _jobs(text: str) -> int:
    number: int | None = _parsed(int, text)
    if not number:
        raise argparse.ArgumentTypeError(f"must be an integer other than 0, got {text!r}")
    return number


def _decimal(text: str) -> str:
    mark = {"point": "point", ".": "point", "comma": "comma", ",": "comma"}.get(text)
    if mark is None:
        raise argparse.ArgumentTypeError(f"must be point or comma, got {text!r}")
    return mark


_SIGNS = "09aZ.,;\t\r\n\"'-"  # characters that every text encoding has


def encoding_named(name: str) -> str:
    """Return the usual name of an encoding in which tables can be read."""
    try:
        usual = codecs.lookup(name).name
        readable = _SIGNS.encode(usual).decode(usual) == _SIGNS
        readable = readable and usual not in ("utf-16", "utf-32")  # a byte order mark says more
    except (LookupError, UnicodeError, ValueError):
        readable = False
    if not readable:
        raise argparse.ArgumentTypeError(
            f"must be an encoding of text that Python knows, such as cp1252, latin-1 or utf-16-le, got {name!r}"
        )
    return usual
