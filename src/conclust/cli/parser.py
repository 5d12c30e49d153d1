"""The grammar of the command line. Imports nothing heavy, so that ``--help`` is immediate."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from conclust.cli.completion import SHELLS
from conclust.cli.examples import told
from conclust.cli.options import (
    INPUTS,
    SCALES,
    SCALING,
    add_consensus,
    add_points,
    add_reading,
    add_running,
    add_talking,
    add_writing,
    end,
    numbers,
    share,
    whole,
)

__all__ = ["build_parser"]


class _Formatter(argparse.HelpFormatter):
    """Wraps what is prose, and leaves the examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return text
        return super()._fill_text(text, width, indent)


class _Parser(argparse.ArgumentParser):
    """A parser with errors of one line, which suggest the word that may have been meant."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            getattr(found, "refuse_rest", self.refuse_rest)(rest)
        return found

    def refuse_rest(self, rest: list[str]) -> NoReturn:
        """End with the words that no option takes, and the option that they may mean."""
        options = [name for name in self._option_string_actions if name.startswith("--")]
        wrong = next((word.partition("=")[0] for word in rest if word.startswith("-")), "")
        close = get_close_matches(wrong, options, n=1)
        lower = wrong.lower()
        if not close and lower != wrong and lower in self._option_string_actions:
            close = [lower]
        hint = f" Is it {close[0]}?" if close else ""
        what = f"there is no option {wrong}" if wrong else f"there is no place for {' '.join(rest)}"
        self.error(f"{what}.{hint}")

    def error(self, message: str) -> NoReturn:
        """End with one line, not with the usage."""
        end = "" if message.endswith((".", "?")) else "."
        self.exit(2, f"{self.prog}: {message}{end} See: {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            close = get_close_matches(str(value), known, n=1)
            hint = f"Is it {close[0]!r}? " if close else ""
            raise argparse.ArgumentError(
                action, f"there is no {value!r}. {hint}There are: {', '.join(known)}."
            )


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets ``run``, a function of the parsed arguments."""
    parser = _Parser(
        prog="conclust",
        description="Many clusterings of the same objects into one, with probabilities.",
        epilog="'conclust COMMAND --help' tells the options of one command.",
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="print the version, those of what it uses, and what the kernels run on",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_cluster(commands)
    _add_combine(commands)
    _add_select(commands)
    _add_report(commands)
    _add_predict(commands)
    _add_compare(commands)
    _add_methods(commands)
    _add_completion(commands, parser)
    _add_help(commands, parser)
    return parser


_FILES = (
    "labels.csv, memberships.csv (of methods that give probabilities), ensemble.npz and result.json"
)


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
    add_running(parser)
    parser.set_defaults(run=_run_demo)


def _add_cluster(commands: Any) -> None:
    parser = _command(
        commands,
        "cluster",
        "points in, consensus clusters out",
        "Cluster the points of a file many times and combine the clusterings into one.",
    )
    parser.add_argument("points", type=Path, metavar="FILE", help=f"one object a row: {INPUTS}")
    group = parser.add_argument_group("ensemble")
    group.add_argument(
        "--generator",
        choices=(
            "auto",
            "kmeans",
            "mixed",
            "spherical",
            "spectral",
            "multimetric",
            "graph",
            "density",
            "kmeans+spectral",
            "kmeans+multimetric",
            "kmeans+spectral+multimetric",
        ),
        default="auto",
        help="how clusterings are made. auto: graph, spectral and density, 17, 17 and 6 of 40 (kmeans for fewer than 50 objects); graph: communities of neighbour graphs; density: clusters of nearby points; kmeans: k-means++ starts, random numbers of clusters; spherical: k-means with the cosine and random starts, for texts; spectral: on landmarks, for groups that are "
        "not round; multimetric: spectral under metrics drawn at random, for many features, up to 100,000 "
        "objects; several by +: in turn; mixed: linkages, k-means and spectral clustering, up to 20,000 objects "
        "[%(default)s]",
    )
    group.add_argument(
        "--partitions",
        type=whole(1),
        metavar="M",
        help="how many clusterings to make [auto: 40; kmeans, graph, density: 100; spectral: 20; multimetric: 30; several: 20 of each, "
        "30 without spectral; mixed: all that it has]",
    )
    group.add_argument(
        "--sample-fraction",
        type=share,
        default=1.0,
        metavar="F",
        help="share of the objects that each clustering sees [%(default)g]",
    )
    group.add_argument(
        "--feature-fraction",
        type=share,
        default=1.0,
        metavar="F",
        help="share of the columns that each clustering sees [%(default)g]",
    )
    group.add_argument(
        "--fit-on",
        type=whole(2),
        metavar="N",
        help="fit each clustering on N objects, then label all objects for all clusterings (kmeans, spectral) "
        "[50000 where there are more than 200000 objects, else all]",
    )
    group.add_argument(
        "--graphs",
        type=whole(1),
        metavar="G",
        help="let spectral clusterings share G graphs of landmarks: less time, and clusterings differ less "
        "[each has its own]",
    )
    group.add_argument(
        "--scale",
        choices=SCALES,
        default="auto",
        help=SCALING,
    )
    group.add_argument(
        "--cache", type=Path, metavar="DIR", help="keep finished clusterings here, to go on later"
    )
    add_consensus(parser)
    add_points(add_reading(parser))
    add_writing(
        parser,
        "result",
        _FILES + ", features.csv, generator.npz (of members that label new points)",
    )
    add_running(parser)
    parser.set_defaults(run=_run_cluster)


def _add_combine(commands: Any) -> None:
    parser = _command(
        commands,
        "combine",
        "your own clusterings in, consensus clusters out",
        "Combine the clusterings of a file into one. Columns are clusterings, rows are objects, "
        "cells are labels: whole numbers or names. Empty, NA or -1: the clustering did not observe the "
        "object. -2: it observed it and put it apart from all others (noise).",
    )
    parser.add_argument(
        "labels", type=Path, metavar="FILE", help=f"{INPUTS}, or a saved ensemble.npz"
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
    group.add_argument(
        "--rows",
        choices=("objects", "draws"),
        default="objects",
        help="what a row is: draws for a posterior by MCMC, a clustering a row; an array may have chains "
        "before it [%(default)s]",
    )
    group.add_argument(
        "--burn",
        type=whole(0),
        metavar="B",
        help="with --rows draws: draws left out at the beginning of each chain [0]",
    )
    group.add_argument(
        "--thin",
        type=whole(1),
        metavar="T",
        help="with --rows draws: of the others every T-th is kept [1]",
    )
    group = parser.add_argument_group("many objects")
    group.add_argument(
        "--blocks",
        action="store_true",
        help="read NPY, Zarr or Parquet (a file, or a folder of parts) in blocks, of more objects than fit "
        "into the memory; writes labels.npy and result.json. Which methods: 'conclust methods', column blocks",
    )
    group.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="the same, and keep its state there: a second run of an interrupted one goes on",
    )
    add_consensus(parser)
    add_reading(parser)
    add_writing(parser, "result", _FILES)
    add_running(parser)
    parser.set_defaults(run=_run_combine)


def _add_select(commands: Any) -> None:
    parser = _command(
        commands,
        "select",
        "how many clusters points have, or one",
        "Cluster draws of the points again and again, for each number of clusters, and compare with random "
        "rotations of the points: clouds of the same covariance that have no clusters. One p-value says "
        "whether there is more than one cluster; the number with the most stable clusters is chosen.",
    )
    parser.add_argument("points", type=Path, metavar="FILE", help=f"one object a row: {INPUTS}")
    group = parser.add_argument_group("selection")
    group.add_argument(
        "-k",
        "--k",
        type=numbers,
        metavar="K",
        help="the numbers to try: 2:10 (maxK = 10 of the R packages), or 2,3,5 [2:10, as far as a draw has "
        "objects]",
    )
    group.add_argument(
        "--resamples",
        type=whole(2),
        default=50,
        metavar="B",
        help="draws for each number (reps of the R packages) [%(default)s]",
    )
    group.add_argument(
        "--sample-fraction",
        type=share,
        default=0.8,
        metavar="F",
        help="share of the objects in each draw (pItem of the R packages) [%(default)g]",
    )
    group.add_argument(
        "--window",
        nargs=2,
        type=end,
        default=[0.1, 0.9],
        metavar=("LO", "HI"),
        help="PAC counts the pairs that are together in more than LO of the draws and at most HI (pacx1 "
        "and pacx2 of M3C) [0.1 0.9]",
    )
    group.add_argument(
        "--null",
        choices=("rotation", "gaussian", "unimodal", "none"),
        default="rotation",
        help="references without clusters: rotations of the points; M3C's Gaussians; clouds of one mode; "
        "none: no p-value [%(default)s]",
    )
    group.add_argument(
        "--references",
        type=whole(1),
        default=99,
        metavar="R",
        help="how many of these at most; no p-value is below 1 / (R + 1) [%(default)s]",
    )
    group.add_argument(
        "--alpha",
        type=share,
        default=0.05,
        metavar="P",
        help="p-value up to which there is more than one cluster [%(default)g]",
    )
    group.add_argument(
        "--scale",
        choices=SCALES,
        default="auto",
        help=SCALING,
    )
    group.add_argument(
        "--cache", type=Path, metavar="DIR", help="keep finished references here, to go on later"
    )
    add_points(add_reading(parser), members=False)
    add_writing(
        parser,
        "selection",
        "labels.csv (of the number chosen), partitions.csv (of each), criteria.csv, ensemble.npz (the "
        "resamples of the number chosen), features.csv and result.json",
    )
    add_running(parser)
    parser.set_defaults(run=_run_select)


def _add_report(commands: Any) -> None:
    parser = _command(
        commands,
        "report",
        "a result as one HTML page",
        "Write a page of what 'conclust cluster', 'combine' or 'select' found: the number of clusters and why, "
        "how sure each cluster and object is, what tells clusters apart, pictures, how to cite and repeat it. "
        "One file that loads nothing: it can be opened anywhere and passed on.",
    )
    parser.add_argument(
        "result", type=Path, metavar="DIR", help="a folder that conclust has written"
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the page; -: standard output [report.html in the folder]",
    )
    group.add_argument("--force", action="store_true", help="replace a page that is there")
    group.add_argument(
        "--objects",
        type=whole(1),
        default=2000,
        metavar="N",
        help="objects that are listed at most, the most uncertain ones [%(default)s]",
    )
    group.add_argument("--no-pictures", action="store_true", help="draw none")
    add_talking(parser)
    parser.set_defaults(run=_run_report)


def _add_predict(commands: Any) -> None:
    parser = _command(
        commands,
        "predict",
        "new objects into the clusters of an earlier result",
        "Place new objects in the clusters that 'conclust cluster' (points in FILE) or 'conclust "
        "combine' (labels in FILE) found. Columns are matched by name where the file names them. "
        "The result folder holds no pickle: the consensus is found again from ensemble.npz, with the "
        "same seed and the same result, which takes as long as it took.",
    )
    parser.add_argument(
        "result", type=Path, metavar="DIR", help="a folder that conclust has written"
    )
    parser.add_argument("points", type=Path, metavar="FILE", help=f"the new objects: {INPUTS}")
    add_points(add_reading(parser, selection=False), imputing=False)
    add_writing(parser, "prediction", "labels.csv, memberships.csv (probabilities) and result.json")
    add_running(parser, seed=False)
    parser.set_defaults(run=_run_predict)


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
    parser.add_argument("first", type=Path, metavar="A", help=INPUTS)
    parser.add_argument("second", type=Path, metavar="B", help="the same")
    parser.add_argument("--column", metavar="NAME", help="column of labels, in both files")
    parser.add_argument("--second-column", metavar="NAME", help="column of B, where it differs")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_reading(parser, classes=False, selection=False)
    add_talking(parser)
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
    add_talking(parser)
    parser.set_defaults(run=_run_methods)


def _add_completion(commands: Any, top: argparse.ArgumentParser) -> None:
    parser = _command(
        commands,
        "completion",
        "what a shell needs to complete these commands",
        "Print a script by which a shell completes commands, options, their values and the names of "
        "methods when the tabulator key is pressed.",
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))

    def run(arguments: argparse.Namespace) -> None:
        _run_completion(arguments, top)

    parser.set_defaults(run=run, quiet=False, verbose=False, debug=False)


def _add_help(commands: Any, top: argparse.ArgumentParser) -> None:
    parser = _command(commands, "help", "the same as --help", "Tell how a command is used.")
    parser.add_argument(
        "about",
        nargs="?",
        choices=[*commands.choices],
        metavar="COMMAND",
        help="the command; none: what commands there are",
    )
    parser.add_argument("--man", action="store_true", help="print the manual page, of all commands")

    def run(arguments: argparse.Namespace) -> None:
        if arguments.man:
            _run_manual(top)
            return
        chosen = top if arguments.about is None else commands.choices[arguments.about]
        chosen.print_help()

    parser.set_defaults(run=run, quiet=False, verbose=False, debug=False)


def _command(commands: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    parser: _Parser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=told(name),
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.set_defaults(usage_error=parser.error, refuse_rest=parser.refuse_rest)
    return parser


class _Version(argparse.Action):
    """Print the version and the facts of the build; numpy and the kernels load only when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from conclust.cli.facts import lines

        print("\n".join(lines()))
        parser.exit()


# Each command's module is imported when it runs: numpy and scikit-learn cost a second.


def _run_demo(arguments: argparse.Namespace) -> None:
    from conclust.cli.demo import run

    run(arguments)


def _run_cluster(arguments: argparse.Namespace) -> None:
    from conclust.cli.consensus import run_cluster

    run_cluster(arguments)


def _run_combine(arguments: argparse.Namespace) -> None:
    if arguments.rows == "objects":
        for option, value in (("--burn", arguments.burn), ("--thin", arguments.thin)):
            if value is not None:
                arguments.usage_error(f"{option} is for draws: give --rows draws as well.")
    elif arguments.blocks or arguments.checkpoint is not None:
        arguments.usage_error("--rows draws: draws are read at once, not in blocks.")
    if arguments.blocks or arguments.checkpoint is not None:
        from conclust.cli.blocks import run_blocks

        run_blocks(arguments)
        return
    from conclust.cli.consensus import run_combine

    run_combine(arguments)


def _run_select(arguments: argparse.Namespace) -> None:
    from conclust.cli.select import run

    run(arguments)


def _run_report(arguments: argparse.Namespace) -> None:
    from conclust.cli.report import run

    run(arguments)


def _run_predict(arguments: argparse.Namespace) -> None:
    from conclust.cli.predict import run

    run(arguments)


def _run_compare(arguments: argparse.Namespace) -> None:
    from conclust.cli.compare import run

    run(arguments)


def _run_methods(arguments: argparse.Namespace) -> None:
    from conclust.cli.listing import run

    run(arguments)


def _run_completion(arguments: argparse.Namespace, top: argparse.ArgumentParser) -> None:
    from conclust.cli.completion import script
    from conclust.consensus.registry import methods

    names = [method.estimator.lower() for method in methods()]
    print(script(arguments.shell, top, names), end="")


def _run_manual(top: argparse.ArgumentParser) -> None:
    from importlib.metadata import version

    from conclust.cli.manual import page

    print(page(top, version("conclust")), end="")
