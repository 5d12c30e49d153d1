"""The command line as plain data, read from the parser, for completions and the manual page."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from conclust.cli.options import path_of


@dataclass(frozen=True)
class Option:
    """An option or a positional argument.

    Attributes
    ----------
    flags : tuple of str
        Spellings of the option; empty for a positional argument.
    metavar : str
        Name of its values in the help; empty if it takes none.
    takes : {"nothing", "file", "folder", "method", "setting", "words", "text"}
        Kind of its values.
    words : tuple of str
        Allowed values, if they are a fixed list.
    values : int
        Number of values.
    again : bool
        Whether it may be given more than once.
    help : str
        Its help text.
    """

    flags: tuple[str, ...]
    metavar: str
    takes: str
    words: tuple[str, ...]
    values: int
    again: bool
    help: str


@dataclass(frozen=True)
class Group:
    """A group of options."""

    title: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Command:
    """A command: its name, a line, a paragraph, the text at its end, its options in groups."""

    name: str
    summary: str
    description: str
    epilog: str
    groups: tuple[Group, ...]

    @property
    def flagged(self) -> tuple[Option, ...]:
        """The options with flags."""
        return tuple(one for group in self.groups for one in group.options if one.flags)

    @property
    def places(self) -> tuple[Option, ...]:
        """The positional arguments."""
        return tuple(one for group in self.groups for one in group.options if not one.flags)


def commands_of(parser: argparse.ArgumentParser) -> tuple[Command, ...]:
    """Return the commands of the parser, in its order."""
    (choices,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    summaries = {action.dest: action.help or "" for action in choices._choices_actions}
    return tuple(
        Command(
            name,
            summaries[name],
            one.description or "",
            one.epilog or "",
            tuple(_groups(one, name)),
        )
        for name, one in choices.choices.items()
    )


def options_of(parser: argparse.ArgumentParser) -> tuple[Option, ...]:
    """Return the options of the parser itself, before any command."""
    return tuple(one for group in _groups(parser, "") for one in group.options if one.flags)


def _groups(parser: argparse.ArgumentParser, command: str) -> Iterator[Group]:
    for group in parser._action_groups:
        options = tuple(
            _option(parser, action, command)
            for action in group._group_actions
            if not isinstance(action, argparse._SubParsersAction)
        )
        if options:
            yield Group(group.title or "", options)


def _option(parser: argparse.ArgumentParser, action: argparse.Action, command: str) -> Option:
    words = tuple(str(word) for word in action.choices or ())
    values = action.nargs if isinstance(action.nargs, int) else 1
    metavar = action.metavar
    if isinstance(metavar, tuple):
        metavar = " ".join(metavar)
    elif metavar is None:
        metavar = "{" + ",".join(words) + "}" if words else action.dest.upper()
    help_text = parser._get_formatter()._expand_help(action) if action.help else ""
    return Option(
        tuple(action.option_strings),
        metavar if values else "",
        _taken(action, command, values),
        words,
        values,
        isinstance(action, argparse._AppendAction),
        " ".join(help_text.split()),
    )


def _taken(action: argparse.Action, command: str, values: int) -> str:
    if values == 0:
        return "nothing"
    if action.choices:
        return "words"
    if action.type is path_of:
        return "folder" if action.metavar == "DIR" else "file"
    if action.dest == "method" or (command, action.dest) == ("methods", "name"):
        return "method"
    return "setting" if action.dest == "set" else "text"
