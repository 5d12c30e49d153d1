"""The parser of the command line. Imports nothing heavy, so that ``--help`` is immediate."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from conclust._files.formats import INPUTS
from conclust.cli import options
from conclust.cli.examples import examples_of

_Command = Callable[[argparse.Namespace], None]


class _Formatter(argparse.HelpFormatter):
    """Wraps prose, and leaves the examples unchanged."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


# Names of options in other programs.
_ELSEWHERE = {"--overwrite": "--force", "--sep": "--delimiter", "-o": "--out", "--n-jobs": "--jobs"}


class _Parser(argparse.ArgumentParser):
    """A parser with one-line errors, which suggest the most similar word."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        arguments, unrecognised = self.parse_known_args(args, namespace)
        if unrecognised:
            getattr(arguments, "refuse_rest", self.refuse_rest)(unrecognised)
        return arguments

    def refuse_rest(self, unrecognised: list[str]) -> NoReturn:
        """End with the unrecognised words, and the option that was probably meant."""
        marked = (word for word in unrecognised if word.startswith("-") and word != "--")
        wrong = next((word.partition("=")[0] for word in marked), "")
        if wrong in self._option_string_actions:
            self.error(f"{wrong} comes after --, which ends the options. Give it before --.")
        meant, known = _ELSEWHERE.get(wrong, wrong).lower(), self._option_string_actions
        close = [meant] if meant in known else get_close_matches(meant, known, n=1)
        hint = f" Is it {close[0]}?" if close else ""
        what = f"option {wrong}" if wrong else f"place for {' '.join(unrecognised)}"
        self.error(f"there is no {what}.{hint}")

    def error(self, message: str) -> NoReturn:
        """End with one line, not with the usage."""
        end = "" if message.endswith((".", "?")) else "."
        self.exit(2, f"{self.prog}: {message}{end} See: {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            close = get_close_matches(str(value), choices, n=1)
            hint = f"Is it {close[0]!r}? " if close else ""
            raise argparse.ArgumentError(
                action, f"there is no {value!r}. {hint}Choose from: {', '.join(choices)}."
            )


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets ``command_of``, which imports and returns a function of the parsed arguments."""
    parser = _Parser(
        prog="conclust",
        description="Combine many clusterings of the same objects into one, with probabilities.",
        epilog="'conclust COMMAND --help' lists the options of a command.",
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="print the versions of conclust and its dependencies, and the environment",
    )
    parser.add_argument(
        "--methods",
        action=_Methods,
        nargs="?",
        metavar="NAME",
        help="print the consensus methods with their input and output, or one of them with its cost, source and parameters",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_cluster(commands)
    _add_combine(commands)
    _add_select(commands)
    _add_report(commands)
    _add_predict(commands)
    _add_repeat(commands)
    _add_compare(commands)
    return parser


_FILES = "labels.csv, memberships.csv (for methods with probabilities), ensemble.npz, model.npz and result.json"


def _add_demo(commands: Any) -> None:
    parser = _command(
        commands,
        "demo",
        "cluster known real data sets, without any parameters",
        "Cluster real data sets with the default, which receives nothing but the points, by five seeds each, and compare with the "
        "known classes. Prints a table and the reasons; writes a page of the answers, a report and the figures (JSON) into a folder.",
    )
    options.path(parser, "--out", "DIR", "folder [%(default)s]", default=Path("demo-report"))
    options.flag(parser, "--force", "use the folder even if it is not empty")
    parser.add_argument(
        "--data",
        metavar="NAME,...",
        help="data sets to use [six, or those of them that are available]",
    )
    options.add_running(parser)


def _add_cluster(commands: Any) -> None:
    parser = _command(
        commands,
        "cluster",
        "cluster points many times and combine the clusterings",
        "Cluster the points of a file many times and combine the clusterings into one.",
    )
    _of_points(parser)
    group = parser.add_argument_group("ensemble")
    kinds = options.described_kinds()
    group.add_argument(
        "--generator",
        choices=options.Kinds(("auto", *kinds, "mixed")),
        default="auto",
        help="kind of clusterings. auto: graph, spectral and density, 17, 17 and 6 of 40 (kmeans for fewer than 50 objects); "
        + "".join(f"{name}: {kind['help']}; " for name, kind in kinds.items())
        + "several joined by +: in turn; mixed: linkages, k-means and spectral clustering, up to 20,000 objects "
        "[%(default)s]",
    )
    group.add_argument(
        "--partitions",
        type=options.whole(1),
        metavar="M",
        help="number of clusterings [auto: 40; "
        + "".join(f"{name}: {kind['members']}; " for name, kind in kinds.items())
        + "several: the smallest of these for each, at most 100; mixed: all of its kinds]",
    )
    options.add_scale(group)
    options.path(
        group,
        "--cache",
        "DIR",
        "folder that keeps finished clusterings, so that an interrupted run can be resumed",
    )
    options.add_consensus(parser)
    group = parser.add_argument_group("borders")
    options.add_borders(group)
    options.flag(
        group,
        "--calibrate",
        "measure how often such objects keep their companions in a fresh sample: halves of the points are clustered "
        "ten times, and labels.csv has the probability in the column kept",
    )
    options.add_points(options.add_reading(parser))
    options.add_writing(
        parser,
        "result",
        _FILES
        + ", features.csv, alternatives.csv (the next best numbers of clusters), borders.csv (--borders)",
    )
    options.add_running(parser)
    parser.set_defaults(command_of=_runs("consensus", "run_cluster"))


def _add_combine(commands: Any) -> None:
    parser = _command(
        commands,
        "combine",
        "combine your own clusterings",
        "Combine the clusterings of a file into one. Columns are clusterings, rows are objects, "
        "cells are labels: integers or names. Empty, NA, '.' or -1: the clustering did not observe the "
        "object (--na adds further codes). -2: it observed the object and put it apart from all others (noise).",
    )
    options.path(parser, "labels", "FILE", f"{INPUTS}, or a saved ensemble.npz", nargs="?")
    group = parser.add_argument_group("ensemble")
    options.path(
        group,
        "--memberships",
        "FILE",
        "instead of labels: files of memberships, as ADMIXTURE, fastSTRUCTURE, STRUCTURE and CLUMPP write them "
        "(.Q, .meanQ, _f, .indfile): one object per line",
        nargs="+",
    )
    group.add_argument(
        "--missing",
        choices=("unobserved", "noise"),
        default="unobserved",
        help="meaning of -1; noise for labels of DBSCAN or HDBSCAN [%(default)s]",
    )
    options.path(group, "--weights", "FILE", "a file of one weight per clustering")
    group.add_argument(
        "--rows",
        choices=("objects", "draws", "answers"),
        default="objects",
        help="meaning of a row: an object; a draw of a posterior by MCMC (one clustering per row; an array may have a "
        "leading axis of chains); or an answer, with an object, a clustering and a label in the three columns "
        "that --columns names in this order [%(default)s]",
    )
    options.add_consensus(parser)
    options.flag(
        parser,
        "--latent-classes",
        "latent class analysis of a survey (MixtureModel, maximum likelihood); without -k BIC chooses, up to --max-clusters [10]",
    )
    options.add_reading(parser)
    options.add_writing(parser, "result", f"{_FILES}, profiles.csv (--latent-classes)")
    options.add_running(parser)
    parser.set_defaults(command_of=_run_combine)


def _add_select(commands: Any) -> None:
    parser = _command(
        commands,
        "select",
        "estimate the number of clusters",
        "Repeatedly cluster subsamples of the points for each number of clusters, and compare with random "
        "rotations of the points: clouds of the same covariance without clusters. One p-value tests "
        "whether there is more than one cluster; the number with the most stable clusters is chosen.",
    )
    _of_points(parser)
    group = parser.add_argument_group("selection")
    group.add_argument(
        "-k",
        "--k",
        type=options.numbers,
        metavar="K",
        help="numbers of clusters to try: 2:10 (maxK = 10 in R packages), or 2,3,5 [2:10, at most the objects of a "
        "subsample]",
    )
    group.add_argument(
        "--resamples",
        type=options.whole(2),
        default=50,
        metavar="B",
        help="subsamples for each number (reps in R packages) [%(default)s]",
    )
    group.add_argument(
        "--sample-fraction",
        type=options.share,
        default=0.8,
        metavar="F",
        help="share of the objects in each subsample (pItem in R packages) [%(default)g]",
    )
    group.add_argument(
        "--null",
        choices=("rotation", "gaussian", "unimodal", "none"),
        default="rotation",
        help="references without clusters: rotations of the points; M3C's Gaussians; unimodal clouds; "
        "none: no p-value [%(default)s]",
    )
    group.add_argument(
        "--references",
        type=options.whole(1),
        default=99,
        metavar="R",
        help="maximum number of references; the smallest possible p-value is 1 / (R + 1) [%(default)s]",
    )
    group.add_argument(
        "--alpha",
        type=options.share,
        default=options.LEVEL,
        metavar="P",
        help="significance level of the p-value; a border holds up to P [%(default)g]",
    )
    options.add_borders(group)
    options.flag(
        group,
        "--power",
        "estimate the number of objects with which each border would hold (power.csv); includes --borders",
    )
    options.add_scale(group)
    options.add_points(options.add_reading(parser), members=False)
    options.add_writing(
        parser,
        "selection",
        "labels.csv (for the chosen number), partitions.csv (for each number), criteria.csv, ensemble.npz (the "
        "subsamples for the chosen number), features.csv, result.json, borders.csv (--borders) and power.csv (--power)",
    )
    options.add_running(parser)


def _add_report(commands: Any) -> None:
    parser = _command(
        commands,
        "report",
        "write a result as one HTML page",
        "Write a page about a result of 'conclust cluster', 'combine' or 'select': the clusters, their number and the "
        "reason for it, the confidence of each cluster and object, the features that distinguish clusters, pictures, "
        "citations and settings. The page is a single self-contained HTML file.",
    )
    _of_result(parser)
    group = parser.add_argument_group("output")
    options.path(
        group,
        "--out",
        "FILE",
        "file of the page; .csv or .md: only the reporting checklist; - for standard output [report.html in DIR]",
    )
    options.flag(group, "--force", "replace an existing page")
    group.add_argument(
        "--objects",
        type=options.whole(1),
        default=2000,
        metavar="N",
        help="maximum number of objects listed, the most uncertain ones [%(default)s]",
    )
    options.flag(group, "--no-pictures", "omit pictures")
    group.add_argument(
        "--names",
        type=options.cluster_names,
        metavar="NAME,...",
        help="names of the clusters, in the order of their labels, separated by commas, or a file with one name per line "
        "[labels from 0]",
    )
    options.add_talking(parser)


def _add_predict(commands: Any) -> None:
    parser = _command(
        commands,
        "predict",
        "assign new objects to the clusters of an earlier result",
        "Assign new objects to the clusters found by 'conclust cluster' (points in FILE) or 'conclust "
        "combine' (labels in FILE). Columns are matched by name if the file names them. "
        "The model is read from model.npz in the result folder, which contains no pickle; nothing is computed again.",
    )
    _of_result(parser)
    _of_points(parser, "new objects")
    options.add_points(options.add_reading(parser, selection=False), imputing=False)
    options.add_writing(
        parser, "prediction", "labels.csv, memberships.csv (probabilities) and result.json"
    )
    options.add_running(parser, seed=False)


def _add_repeat(commands: Any) -> None:
    parser = _command(
        commands,
        "repeat",
        "make an earlier result again, and say whether it is the same",
        "Run the command of a result of 'conclust cluster' again, with its options and its seed, on the points in FILE. "
        "Prints 'the same, to the bit', or the first difference: of the data, of the labels of the result, of the versions, of the new "
        "labels. The exit code is 1 if there is one.",
    )
    _of_result(parser)
    _of_points(parser, "the points")
    options.add_talking(parser)


def _add_compare(commands: Any) -> None:
    parser = _command(
        commands,
        "compare",
        "measure the similarity of clusterings, and which of several to keep",
        "Compare two clusterings of the same objects; if one of them is the ground truth, give it first. With --all: list several "
        "runs with their mean variation of information to the others (bits), and say which to keep: the one nearest to the "
        "consensus, and, of runs in the order of a resolution, one within the longest plateau. "
        "Reads the column 'label', or the only column. Objects are matched by name if both files "
        "have a column of names with the same header (or --id-column), otherwise by order; objects without a label in either file are "
        "left out.",
    )
    options.path(parser, "first", "A", INPUTS, nargs="?")
    options.path(parser, "second", "B", "the same", nargs="?")
    options.path(
        parser,
        "--all",
        "FILE",
        "instead of A and B: files of one run each, in the order of their parameter; or one table with a run per column",
        nargs="+",
    )
    parser.add_argument(
        "--column",
        metavar="NAME",
        help="column of labels, in all files; of one table, columns such as 'leiden_*'",
    )
    parser.add_argument(
        "--second-column", metavar="NAME", help="column of B, if it has another name"
    )
    options.flag(parser, "--json", "print JSON instead of a table")
    options.add_reading(parser, classes=False, selection=False)
    options.add_talking(parser)
    parser.set_defaults(command_of=_run_compare)


def _command(commands: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    parser: _Parser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=examples_of(name),
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.set_defaults(
        command_of=_runs(name), usage_error=parser.error, refuse_rest=parser.refuse_rest
    )
    return parser


def _of_result(parser: argparse.ArgumentParser) -> None:
    options.path(parser, "result", "DIR", "result folder of conclust")


def _of_points(parser: argparse.ArgumentParser, what: str = "one object per row") -> None:
    options.path(parser, "points", "FILE", f"{what}: {INPUTS}")


class _Version(argparse.Action):
    """Print the version, and everything that may affect speed and results, one line each."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        # Numpy and the kernels load only when needed.
        import platform
        from importlib.metadata import version

        from conclust._kernels import bitslice_forms
        from conclust._threads import thread_count

        fastest, *others = bitslice_forms()
        packages = [f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn")]
        print(f"conclust {version('conclust')}")
        print(f"Python {platform.python_version()}, {', '.join(packages)}")
        print(f"kernels: {fastest}" + (f" (also {', '.join(others)})" if others else ""))
        print(f"threads: {thread_count(None)}")
        print(platform.platform())
        parser.exit()


class _Methods(argparse.Action):
    """Print the table of methods, or the description of one."""

    def __call__(
        self, parser: argparse.ArgumentParser, _: Any, name: Any, option: str | None = None
    ) -> NoReturn:
        from conclust.cli.listing import listed

        print(listed(name, parser.error))
        parser.exit()


def _run_combine(arguments: argparse.Namespace) -> _Command:
    if (arguments.labels is None) == (arguments.memberships is None):
        arguments.usage_error("Give a file of labels, or --memberships with files of memberships.")
    if arguments.memberships is not None and arguments.rows != "objects":
        arguments.usage_error("--memberships: files of memberships have objects as rows.")
    return _runs("consensus", "run_combine")(arguments)


def _run_compare(arguments: argparse.Namespace) -> _Command:
    if (arguments.second is None) == (arguments.all is None) or (arguments.all and arguments.first):
        arguments.usage_error("Give two files, or --all with files of runs.")
    return _runs("compare", "run_all" if arguments.all else "run")(arguments)


def _runs(module: str, name: str = "run") -> Callable[[argparse.Namespace], _Command]:
    """Return a function that imports the module of a command and returns what runs it: numpy and scikit-learn cost a second."""

    def command_of(arguments: argparse.Namespace) -> _Command:
        command: _Command = getattr(import_module(f"conclust.cli.commands.{module}"), name)
        return command

    return command_of
