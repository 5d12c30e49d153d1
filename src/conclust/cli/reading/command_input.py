"""Converts the arguments of a command into settings for reading its input."""

from __future__ import annotations

import argparse

from conclust.cli.reading.csvfile import DELIMITERS
from conclust.cli.reading.tables import Reading

__all__ = ["reading"]


def reading(arguments: argparse.Namespace) -> Reading:
    """Return how to read the input, as the arguments say; a command may lack some of them."""
    options = vars(arguments)
    return Reading(
        delimiter=DELIMITERS.get(arguments.delimiter),
        header={"auto": None, "yes": True, "no": False}[arguments.header],
        decimal=options.get("decimal", "point"),
        id_column=arguments.id_column,
        label_column=options.get("label_column"),
        columns=options.get("columns"),
        drop=options.get("drop") or (),
        categories=options.get("categories") or (),
        gaps=options.get("impute") is not None,
        key=arguments.key,
    )
