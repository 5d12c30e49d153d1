"""Converts the arguments of a command into settings for reading its input."""

from __future__ import annotations

import argparse

from conclust.cli.reading.csvfile import DELIMITERS
from conclust.cli.reading.tables import Reading

__all__ = ["reading"]


def reading(arguments: argparse.Namespace) -> Reading:
    """Return how to read the input, as the arguments say; a command may lack some of them."""
    given = vars(arguments)
    return Reading(
        delimiter=DELIMITERS.get(arguments.delimiter),
        header={"auto": None, "yes": True, "no": False}[arguments.header],
        decimal=given.get("decimal", "point"),
        id_column=arguments.id_column,
        label_column=given.get("label_column"),
        columns=given.get("columns"),
        drop=given.get("drop") or (),
        categories=given.get("categories") or (),
        gaps=given.get("impute") is not None,
        key=arguments.key,
    )
