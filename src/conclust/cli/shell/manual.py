"""The manual page, written from the parser: ``conclust help --man``, and conclust(1) when it is installed.

``python -m conclust.cli.shell VERSION FILE`` writes it: so the build makes the page that the wheel holds. It needs
nothing but Python.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator

from conclust.cli.shell.grammar import Command, Option, commands_of, options_of

_EXIT = (
    ("0", "done"),
    ("1", "the input, the data or the disk prevents a result"),
    ("2", "the command line is invalid"),
    ("70", "an error in conclust itself"),
    ("130", "interrupted by Ctrl-C; 143: by SIGTERM; 129: by SIGHUP"),
)
_ENVIRONMENT = (
    ("CONCLUST_DATA", "the folder of published data sets, for 'conclust demo'"),
    (
        "CONCLUST_KERNELS",
        "'portable': the kernels use only instructions that every processor has, to check that results are the same",
    ),
)


def page(parser: argparse.ArgumentParser, version: str) -> str:
    """Return the manual page as roff, for ``man``.

    Parameters
    ----------
    parser : ArgumentParser
        The whole grammar.
    version : str
        Version of conclust.
    """
    return "\n".join(_lines(parser, version)) + "\n"


def _lines(parser: argparse.ArgumentParser, version: str) -> Iterator[str]:
    commands = commands_of(parser)
    # No date: the same version gives the same page.
    yield f'.TH CONCLUST 1 "" "conclust {_escaped(version)}" "User Commands"'
    yield ".SH NAME"
    yield r"conclust \- many clusterings of the same objects into one"
    yield ".SH SYNOPSIS"
    yield ".B conclust"
    yield ".I COMMAND"
    yield r"[\fIOPTION\fR...]"
    yield ".SH DESCRIPTION"
    yield _text(parser.description or "")
    yield from _list((one.name, one.summary) for one in commands)
    for option in options_of(parser):
        yield from _option(option)
    yield ".SH COMMANDS"
    for command in commands:
        yield from _command(command)
    yield '.SH "EXIT STATUS"'
    yield from _list(_EXIT)
    yield ".SH ENVIRONMENT"
    yield from _list(_ENVIRONMENT)


def _command(command: Command) -> Iterator[str]:
    yield f'.SS "conclust {_escaped(command.name)}"'
    yield _text(command.description)
    for group in command.groups:
        options = [one for one in group.options if "--help" not in one.flags]
        if options and group.title not in ("positional arguments", "options"):
            yield ".PP"
            yield f"\\fI{_escaped(group.title)}\\fR"
        for option in options:
            yield from _option(option)
    if command.epilog:
        yield ".PP"
        yield from _verbatim(command.epilog)


def _option(option: Option) -> Iterator[str]:
    value = f" \\fI{_escaped(option.metavar)}\\fR" if option.metavar else ""
    yield ".TP"
    if option.flags:
        yield ", ".join(f"\\fB{_escaped(flag)}\\fR{value}" for flag in option.flags)
    else:
        yield value.strip()
    yield _text(option.help or "one of these")


def _list(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield ".TP"
        yield f"\\fB{_escaped(name)}\\fR"
        yield _text(text)


def _verbatim(text: str) -> Iterator[str]:
    """Yield lines that are not wrapped."""
    head, _, rest = text.partition("\n")
    yield _text(head)
    yield ".nf"
    yield from (_text(line) for line in rest.splitlines())
    yield ".fi"


def _text(text: str) -> str:
    """Return a line of text: a dot or a quote at its beginning is not a request of roff."""
    escaped = _escaped(text)
    return re.sub(r"^(?=[.'])", r"\\&", escaped)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
