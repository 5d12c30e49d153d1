"""``conclust methods``: lists the consensus methods, and the parameters of one of them.

The text is read from ``methods.json``, which ``make docs`` writes from the methods: they themselves take seconds
to import.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conclust.cli.choice import DEFAULT_METHOD, find, settable
from conclust.consensus.method import Method, plain_name, registered

TABLE = Path(__file__).parents[1] / "methods.json"

_CLUSTERS = {
    "exact": "-k",
    "optional": "-k or found",
    "upper bound": "at most -k",
    "emerges": "found",
}
_GIVES = ("labels", "probabilities")
_WIDTH = 88
_INDENT = " " * 6


def run(arguments: argparse.Namespace) -> None:
    """Print the table of all methods, or the full description of the one with this name, ignoring case."""
    methods = json.loads(TABLE.read_text(encoding="utf-8"))
    name = arguments.name
    if name is None:
        print("\n".join(_table(methods)))
        return
    named = [method for method in methods if method["estimator"].lower() == plain_name(name)]
    one = named[0] if named else told(find(name, arguments.usage_error), {})
    print("\n".join(_described(one)))


def told(method: Method, meanings: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Return what is printed of a method, with the parameters that ``--set`` takes."""
    found = {}
    for name, parameter in settable(method).items():
        takes, meaning = meanings.get(name, ("", ""))
        takes = takes if parameter.words and takes else parameter.takes() or takes
        found[name] = {"default": parameter.default, "takes": takes, "meaning": meaning}
    return {**asdict(method), "dois": method.dois, "parameters": found}


def _table(chosen: Sequence[dict[str, Any]]) -> list[str]:
    head = ("method", "rank", "clusters", "gives", "missing", "weights", "description")
    rows = [
        (
            method["estimator"],
            method["rank"],
            _clusters(method),
            _GIVES[method["membership"]],
            _yes(method["missing"]),
            _yes(method["weights"]),
            method["title"],
        )
        for method in chosen
    ]
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head) - 1)]
    lines = [
        "  ".join([*(text.ljust(w) for text, w in zip(row, widths, strict=False)), row[-1]])
        for row in (head, *rows)
    ]
    end = "'conclust methods NAME' describes the parameters of one, for --set."
    own = {method["estimator"].lower() for method in chosen}
    others = ", ".join(entry.name for name, entry in registered().items() if name not in own)
    more = [f"Of other packages: {others}."] if others else []
    return [*lines, "", *more, f"Without --method: {DEFAULT_METHOD}. {end}"]


def _described(method: dict[str, Any]) -> list[str]:
    facts = (
        *([("use it if", method["use"])] if method["use"] else []),
        ("clusters", _clusters(method)),
        ("gives", _GIVES[method["membership"]]),
        ("missing labels", _missing(method)),
        ("weights", _yes(method["weights"])),
        ("time", method["cost"]),
        ("source", method["citation"]),
        *(("doi", f"https://doi.org/{doi}") for doi in method["dois"]),
    )
    lines = [f"{method['estimator']}: {method['title']}", ""]
    for name, text in facts:
        lines += textwrap.wrap(
            text, _WIDTH, initial_indent=f"{name:<16}", subsequent_indent=" " * 16
        )
    lines += ["", "parameters, for --set NAME=VALUE, with their defaults:"]
    for name, description in method["parameters"].items():
        lines += ["", f"  {name}={_spelled(description['default'])}"]
        for text in (description["takes"], description["meaning"]):
            lines += textwrap.wrap(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return lines


def _spelled(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _clusters(method: dict[str, Any]) -> str:
    return _CLUSTERS[method["n_clusters"]] + (", or fewer" if method["fewer"] else "")


def _missing(method: dict[str, Any]) -> str:
    if method["missing"] or not method["missing_with"]:
        return _yes(method["missing"])
    return f"with --set {method['missing_with']}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
