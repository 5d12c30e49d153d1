"""``conclust methods``: which consensus methods there are, and what one of them takes."""

from __future__ import annotations

import argparse
import inspect
import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict

from conclust.cli.choice import find, settable
from conclust.consensus.base import Method
from conclust.consensus.registry import methods

__all__ = ["run"]

_CLUSTERS = {
    "exact": "--clusters",
    "optional": "--clusters or found",
    "upper bound": "--max-clusters",
    "emerges": "found",
}
_WIDTH = 88


def run(arguments: argparse.Namespace) -> None:
    """Print the table of all methods, or all that there is to know of one."""
    chosen = methods()
    if arguments.name is not None:
        chosen = [find(arguments.name, arguments.usage_error)]
    if arguments.json:
        print(json.dumps([asdict(method) for method in chosen], indent=2, ensure_ascii=False))
    elif arguments.name is not None:
        print("\n".join(_described(chosen[0])))
    else:
        print("\n".join(_table(chosen)))


def _table(chosen: Sequence[Method]) -> list[str]:
    head = ("method", "clusters", "gives", "missing", "weights", "what it is")
    rows = [
        (
            method.estimator,
            _CLUSTERS[method.n_clusters],
            _gives(method),
            _yes(method.missing),
            _yes(method.weights),
            method.title,
        )
        for method in chosen
    ]
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head) - 1)]
    lines = [
        "  ".join([*(text.ljust(w) for text, w in zip(row, widths, strict=False)), row[-1]])
        for row in (head, *rows)
    ]
    return [*lines, "", "'conclust methods NAME' tells the parameters of one, for --set."]


def _described(method: Method) -> list[str]:
    facts = (
        ("clusters", _CLUSTERS[method.n_clusters]),
        ("gives", _gives(method)),
        ("missing labels", _missing(method)),
        ("weights", _yes(method.weights)),
        ("time", method.cost),
        ("source", method.citation),
    )
    lines = [f"{method.estimator}: {method.title}", ""]
    for name, text in facts:
        lines += textwrap.wrap(
            text, _WIDTH, initial_indent=f"{name:<16}", subsequent_indent=" " * 16
        )
    lines += ["", "parameters, for --set NAME=VALUE, with their defaults:"]
    lines += [f"  {name}={_default(p)}" for name, p in settable(method).items()]
    lines += ["", f"help(conclust.{method.estimator}) in Python says what they mean."]
    return lines


def _default(parameter: inspect.Parameter) -> str:
    value = parameter.default
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _gives(method: Method) -> str:
    return "probabilities" if method.membership else "labels"


def _missing(method: Method) -> str:
    if method.missing or not method.missing_with:
        return _yes(method.missing)
    return f"with --set {method.missing_with}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
