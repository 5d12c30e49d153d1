"""The grammar of the command line. Imports nothing heavy, so that ``--help`` is immediate."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["build_parser"]

_INPUTS = "CSV (comma, semicolon or tab; UTF-8), NPY, NPZ or Parquet"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets ``run``, a function of the parsed arguments."""
    parser = argparse.ArgumentParser(
        prog="conclust",
        description="Many clusterings of the same objects into one, with probabilities.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_cluster(commands)
    _add_combine(commands)
    _add_compare(commands)
    _add_methods(commands)
    return parser


def _add_demo(commands: Any) -> None:
    parser = _command(
        commands,
        "demo",
        "consensus clustering of known real data, in a minute",
        "Cluster real data sets many times, combine, and compare with their known classes. Prints a "
        "table; writes the figures (CSV, JSON) and pictures into a folder.",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("demo-report"), metavar="DIR", help="folder [%(default)s]"
    )
    parser.add_argument("--force", action="store_true", help="use the folder even if not empty")
    parser.add_argument(
        "--data", metavar="NAME,...", help="data sets to use [all of the demo's that are here]"
    )
    _add_running(parser)
    parser.set_defaults(run=_run_demo)


def _add_cluster(commands: Any) -> None:
    parser = _command(
        commands,
        "cluster",
        "points in, consensus clusters out",
        "Cluster the points of a file many times and combine the clusterings into one.",
    )
    parser.add_argument("points", type=Path, metavar="FILE", help=f"one object a row: {_INPUTS}")
    group = parser.add_argument_group("ensemble")
    group.add_argument(
        "--generator",
        choices=("kmeans", "mixed"),
        default="kmeans",
        help="kmeans: random starts and numbers of clusters; mixed: linkages, k-means and spectral "
        "clustering, up to 20,000 objects [%(default)s]",
    )
    group.add_argument(
        "--partitions",
        type=_whole(1),
        metavar="M",
        help="how many clusterings to make [100; mixed: as many as it has]",
    )
    group.add_argument(
        "--sample-fraction",
        type=_share,
        default=1.0,
        metavar="F",
        help="share of the objects that each clustering sees [%(default)g]",
    )
    group.add_argument(
        "--feature-fraction",
        type=_share,
        default=1.0,
        metavar="F",
        help="share of the columns that each clustering sees [%(default)g]",
    )
    group.add_argument(
        "--scale",
        choices=("minmax", "standard", "none"),
        default="minmax",
        help="bring columns to one scale first: to [0, 1], or to mean 0 and deviation 1 [%(default)s]",
    )
    group.add_argument(
        "--cache", type=Path, metavar="DIR", help="keep finished clusterings here, to go on later"
    )
    _add_consensus(parser)
    _add_reading(parser)
    _add_writing(parser)
    _add_running(parser)
    parser.set_defaults(run=_run_cluster)


def _add_combine(commands: Any) -> None:
    parser = _command(
        commands,
        "combine",
        "your own clusterings in, consensus clusters out",
        "Combine the clusterings of a file into one. Columns are clusterings, rows are objects, "
        "cells are labels: whole numbers or names. Empty, NA or -1: the clustering did not see the "
        "object. -2: it saw it, and put it with nobody (noise).",
    )
    parser.add_argument(
        "labels", type=Path, metavar="FILE", help=f"{_INPUTS}, or a saved ensemble.npz"
    )
    group = parser.add_argument_group("ensemble")
    group.add_argument(
        "--missing",
        choices=("unobserved", "noise"),
        default="unobserved",
        help="what -1 means; noise for labels of DBSCAN or HDBSCAN [%(default)s]",
    )
    group.add_argument(
        "--weights", type=Path, metavar="FILE", help="one weight per clustering (CSV, NPY, NPZ)"
    )
    _add_consensus(parser)
    _add_reading(parser)
    _add_writing(parser)
    _add_running(parser)
    parser.set_defaults(run=_run_combine)


def _add_compare(commands: Any) -> None:
    parser = _command(
        commands,
        "compare",
        "how alike two clusterings are",
        "Compare two clusterings of the same objects, the first being the truth where one is. "
        "Takes the column 'label', or the only one. Objects are matched by name where both files "
        "have a column 'object' or --id-column, else by order; those that either left out are not "
        "compared.",
    )
    parser.add_argument("first", type=Path, metavar="A", help=_INPUTS)
    parser.add_argument("second", type=Path, metavar="B", help="the same")
    parser.add_argument("--column", metavar="NAME", help="column of labels, in both files")
    parser.add_argument("--second-column", metavar="NAME", help="that of B, where it differs")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    _add_reading(parser, classes=False)
    _add_talking(parser)
    parser.set_defaults(run=_run_compare)


def _add_methods(commands: Any) -> None:
    parser = _command(
        commands,
        "methods",
        "the consensus methods that there are",
        "List the consensus methods: what each needs, takes and gives; or, of one of them, also "
        "its cost, its source and its parameters.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="tell all of this one")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    _add_talking(parser)
    parser.set_defaults(run=_run_methods)


def _command(commands: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=description, allow_abbrev=False
    )
    parser.set_defaults(usage_error=parser.error)
    return parser


def _add_consensus(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("consensus")
    group.add_argument(
        "--method",
        default="pcc",
        metavar="NAME",
        help="any that 'conclust methods' lists: pcc (probabilities), eac (a tree), hbgf, voting, "
        "... [%(default)s]",
    )
    group.add_argument(
        "--max-clusters",
        type=_whole(1),
        metavar="K",
        help="at most so many clusters, for pcc and its kin [the most that any clustering has]",
    )
    group.add_argument(
        "-k",
        "--clusters",
        type=_whole(1),
        metavar="K",
        help="exactly so many clusters, for all other methods; eac and its kin can do without "
        "[where the tree is cut most clearly]",
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


def _add_reading(parser: argparse.ArgumentParser, *, classes: bool = True) -> None:
    group = parser.add_argument_group("input")
    group.add_argument("--id-column", metavar="NAME", help="column that names the objects")
    if classes:
        group.add_argument(
            "--label-column",
            metavar="NAME",
            help="column of known classes: no part of the data, used to score the result only",
        )
    group.add_argument("--header", choices=("auto", "yes", "no"), default="auto", help="of CSV")
    group.add_argument(
        "--delimiter", choices=("auto", "comma", "semicolon", "tab"), default="auto", help="of CSV"
    )
    group.add_argument("--key", metavar="NAME", help="which array of an NPZ file")


def _add_writing(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for labels.csv, memberships.csv (of methods that give probabilities), "
        "ensemble.npz and result.json",
    )
    group.add_argument(
        "--force", action="store_true", help="replace the results in a folder that is not empty"
    )
    group.add_argument(
        "--raw",
        action="store_true",
        help="write object names as they are; without it, a name that a spreadsheet would run as a "
        "formula gets a leading '",
    )


def _add_running(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("running")
    group.add_argument(
        "--seed", type=_whole(0), default=0, metavar="N", help="of all randomness [%(default)s]"
    )
    group.add_argument(
        "--jobs", type=_jobs, metavar="N", help="processors to use; -1: all [all that are free]"
    )
    _add_talking(group)


def _add_talking(parser: Any) -> None:
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("-q", "--quiet", action="store_true", help="errors only")
    talk.add_argument("-v", "--verbose", action="store_true", help="every step")
    parser.add_argument("--debug", action="store_true", help="errors with their traceback")


def _whole(low: int) -> Any:
    def whole_number(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low:
            raise argparse.ArgumentTypeError(f"must be a whole number from {low} on, got {text!r}")
        return number

    return whole_number


def _jobs(text: str) -> int:
    if text.removeprefix("-").isdigit() and int(text) != 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number other than 0, got {text!r}")


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.0 < share <= 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1, got {text!r}")
    return share


class _Version(argparse.Action):
    """Print the version; reads the package's metadata only when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        import conclust

        print(f"conclust {conclust.__version__}")
        parser.exit()


# Each command's module is imported when it runs: numpy and scikit-learn cost a second.


def _run_demo(arguments: argparse.Namespace) -> None:
    from conclust.cli.demo import run

    run(arguments)


def _run_cluster(arguments: argparse.Namespace) -> None:
    from conclust.cli.consensus import run_cluster

    run_cluster(arguments)


def _run_combine(arguments: argparse.Namespace) -> None:
    from conclust.cli.consensus import run_combine

    run_combine(arguments)


def _run_compare(arguments: argparse.Namespace) -> None:
    from conclust.cli.compare import run

    run(arguments)


def _run_methods(arguments: argparse.Namespace) -> None:
    from conclust.cli.listing import run

    run(arguments)
