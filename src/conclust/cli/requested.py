"""Converts options shared by several commands to arguments of the library."""

from __future__ import annotations

import argparse

from conclust._threads import thread_count
from conclust.cli.console import words
from conclust.cli.reading.notation import SEPARATORS, Reading
from conclust.generation.scaling import Scale


def jobs(arguments: argparse.Namespace) -> int:
    """Return the number of processors to use: the number given, or all that this process may use."""
    return thread_count(None) if arguments.jobs is None else int(arguments.jobs)


def scale(arguments: argparse.Namespace) -> Scale:
    """Return the scale given; None: columns stay as they are."""
    scale_option: Scale = None if arguments.scale == "none" else arguments.scale
    return scale_option


def reading(arguments: argparse.Namespace) -> Reading:
    """Return how to read the input, as the arguments say; a command may lack some of them."""
    options = vars(arguments)
    return Reading(
        delimiter=SEPARATORS.get(arguments.delimiter),
        header={"auto": None, "yes": True, "no": False}[arguments.header],
        decimal=options.get("decimal"),
        id_column=arguments.id_column,
        label_column=options.get("label_column"),
        columns=options.get("columns") and tuple(arguments.columns),
        drop=tuple(options.get("drop") or ()),
        categories=tuple(options.get("categories") or ()),
        gaps=options.get("impute") is not None,
        na=tuple(options.get("na") or ()),
        encoding=arguments.encoding,
        missing=options.get("missing") or "unobserved",
        weights=options.get("weights"),
        command=words(arguments),
    )
