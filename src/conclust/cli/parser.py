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
from conclust.words.help import HELP

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
        prog="conclust", description=HELP["about conclust"], epilog=HELP["after conclust"]
    )
    parser.add_argument("--version", action=_Version, nargs=0, help=HELP["--version"])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_cluster(commands)
    _add_combine(commands)
    _add_select(commands)
    _add_report(commands)
    _add_predict(commands)
    _add_repeat(commands)
    _add_compare(commands)
    _add_methods(commands)
    return parser


def _add_demo(commands: Any) -> None:
    parser = _command(commands, "demo")
    options.path(parser, "--out", "DIR", HELP["demo --out"], default=Path("demo-report"))
    options.flag(parser, "--force", HELP["demo --force"])
    parser.add_argument("--data", metavar="NAME,...", help=HELP["--data"])
    options.add_running(parser)


def _add_cluster(commands: Any) -> None:
    parser = _command(commands, "cluster")
    _of_points(parser)
    group = parser.add_argument_group("ensemble")
    kinds = options.described_kinds()
    group.add_argument(
        "--generator",
        choices=options.Kinds(("auto", *kinds, "mixed")),
        default="auto",
        help=HELP["--generator"].format(
            kinds="".join(f"{k}: {kind['help']}; " for k, kind in kinds.items())
        ),
    )
    members = "".join(f"{name}: {kind['members']}; " for name, kind in kinds.items())
    group.add_argument(
        "--partitions",
        type=options.whole(1),
        metavar="M",
        help=HELP["--partitions"].format(kinds=members),
    )
    options.choice(group, "--scale", options.SCALES)
    options.path(group, "--cache", "DIR", HELP["--cache"])
    options.add_consensus(parser)
    group = parser.add_argument_group("borders")
    options.flag(group, "--borders", HELP["--borders"])
    options.flag(group, "--calibrate", HELP["--calibrate"])
    options.add_points(options.add_reading(parser))
    options.add_writing(parser, "result", HELP["files"] + HELP["files cluster"])
    options.add_running(parser)
    parser.set_defaults(command_of=_runs("consensus", "run_cluster"))


def _add_combine(commands: Any) -> None:
    parser = _command(commands, "combine")
    options.path(parser, "labels", "FILE", f"{INPUTS}, or a saved ensemble.npz", nargs="?")
    group = parser.add_argument_group("ensemble")
    options.path(group, "--memberships", "FILE", HELP["--memberships"], nargs="+")
    options.choice(group, "--missing", ("unobserved", "noise"))
    options.path(group, "--weights", "FILE", HELP["--weights"])
    options.choice(group, "--rows", ("objects", "draws", "answers"))
    options.add_consensus(parser)
    options.flag(parser, "--latent-classes", HELP["--latent-classes"])
    options.add_reading(parser)
    options.add_writing(parser, "result", HELP["files"] + HELP["files combine"])
    options.add_running(parser)
    parser.set_defaults(command_of=_run_combine)


def _add_select(commands: Any) -> None:
    parser = _command(commands, "select")
    _of_points(parser)
    group = parser.add_argument_group("selection")
    group.add_argument("-k", "--k", type=options.numbers, metavar="K", help=HELP["--k"])
    options.value(group, "--resamples", options.whole(2), "B", 50)
    options.value(group, "--sample-fraction", options.share, "F", 0.8)
    options.choice(group, "--null", ("rotation", "gaussian", "unimodal", "none"))
    options.value(group, "--references", options.whole(1), "R", 99)
    options.value(group, "--alpha", options.share, "P", options.LEVEL)
    options.flag(group, "--borders", HELP["--borders"])
    options.flag(group, "--power", HELP["--power"])
    options.choice(group, "--scale", options.SCALES)
    options.add_points(options.add_reading(parser), members=False)
    options.add_writing(parser, "selection", HELP["files select"])
    options.add_running(parser)


def _add_report(commands: Any) -> None:
    parser = _command(commands, "report")
    _of_result(parser)
    group = parser.add_argument_group("output")
    options.path(group, "--out", "FILE", HELP["report --out"])
    options.flag(group, "--force", HELP["report --force"])
    options.value(group, "--objects", options.whole(1), "N", 2000)
    options.flag(group, "--no-pictures", HELP["--no-pictures"])
    group.add_argument(
        "--names", type=options.cluster_names, metavar="NAME,...", help=HELP["--names"]
    )
    options.add_talking(parser)


def _add_predict(commands: Any) -> None:
    parser = _command(commands, "predict")
    _of_result(parser)
    _of_points(parser, "new objects")
    options.add_points(options.add_reading(parser, selection=False), imputing=False)
    options.add_writing(parser, "prediction", HELP["files predict"])
    options.add_running(parser, seed=False)


def _add_repeat(commands: Any) -> None:
    parser = _command(commands, "repeat")
    _of_result(parser)
    _of_points(parser, "the points")
    options.add_talking(parser)


def _add_compare(commands: Any) -> None:
    parser = _command(commands, "compare")
    options.path(parser, "first", "A", INPUTS, nargs="?")
    options.path(parser, "second", "B", "the same", nargs="?")
    options.path(parser, "--all", "FILE", HELP["--all"], nargs="+")
    parser.add_argument("--column", metavar="NAME", help=HELP["--column"])
    parser.add_argument("--second-column", metavar="NAME", help=HELP["--second-column"])
    options.flag(parser, "--json", HELP["--json"])
    options.add_reading(parser, classes=False, selection=False)
    options.add_talking(parser)
    parser.set_defaults(command_of=_run_compare)


def _add_methods(commands: Any) -> None:
    parser = _command(commands, "methods")
    parser.add_argument("name", metavar="NAME", nargs="?", help=HELP["methods NAME"])
    options.add_talking(parser)


def _command(commands: Any, name: str) -> argparse.ArgumentParser:
    parser: _Parser = commands.add_parser(
        name,
        help=HELP[name],
        description=HELP[f"about {name}"],
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
