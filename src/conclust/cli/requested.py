"""Converts options shared by several commands: how to read files, and arguments of the library."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conclust._threads import thread_count
from conclust.cli.console import words
from conclust.cli.reading.notation import SEPARATORS
from conclust.ensemble import Missing
from conclust.exceptions import InputError
from conclust.generation.scaling import Scale


@dataclass(frozen=True)
class Reading:
    """The user's settings for reading a file.

    Parameters
    ----------
    delimiter : str, default=None
        Separator of the columns of text files; None: detected.
    header : bool, default=None
        Whether text files have a header; None: detected.
    decimal : {"point", "comma"}, default=None
        Decimal sign of text files; None: detected for each column.
    id_column, label_column : str, default=None
        Columns of object names and of known classes, which are not data.
    columns : tuple of str, default=None
        Columns of data. None: all columns without another role.
    drop : tuple of str, default=()
        Columns to leave out.
    categories : tuple of str, default=()
        Columns of categories among points; ("all",): every column of text.
    gaps : bool, default=False
        Whether cells of points may be empty.
    na : tuple of str, default=()
        Further spellings of an empty cell in text files.
    encoding : str, default=None
        Encoding of text files without a byte order mark; None: UTF-8.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of the label -1.
    weights : Path, default=None
        A file of one weight per partition.
    notations : dict of str to str, default={}
        Notations in which an earlier file had its columns of numbers, which `readings` found.
    command : tuple of str, default=("cluster",)
        The words of the command, which a refusal repeats with what is missing; empty: it has no such options.
    """

    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    gaps: bool = False
    na: tuple[str, ...] = ()
    encoding: str | None = None
    missing: Missing = "unobserved"
    weights: Path | None = None
    notations: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ("cluster",)

    def refuse_text_options(self) -> None:
        """Refuse the options of text for a file of another format."""
        if self.encoding is not None or self.na:
            what = "--encoding and --na are for CSV files"
            raise InputError(f"{what}. Mark missing values in the file.")


def jobs(arguments: argparse.Namespace) -> int:
    """Return the number of processors to use: the number given, or all that this process may use."""
    return thread_count(None) if arguments.jobs is None else int(arguments.jobs)


def scale(arguments: argparse.Namespace) -> Scale:
    """Return the scale given; None: columns stay as they are."""
    scale_option: Scale = None if arguments.scale == "none" else arguments.scale
    return scale_option


def reading(arguments: argparse.Namespace) -> Reading:
    """Return how to read the input, as the arguments say; a command may lack some of them."""
    told: dict[str, Any] = {name: one for name, one in vars(arguments).items() if one is not None}
    alone = ("decimal", "id_column", "label_column", "encoding", "missing", "weights")
    lists = ("columns", "drop", "categories", "na")
    given: dict[str, Any] = {name: told[name] for name in alone if name in told}
    given |= {name: tuple(told[name]) for name in lists if name in told}
    return Reading(
        delimiter=SEPARATORS.get(arguments.delimiter),
        header={"auto": None, "yes": True, "no": False}[arguments.header],
        gaps="impute" in told,
        command=words(arguments),
        **given,
    )
