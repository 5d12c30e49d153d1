"""``conclust methods``: lists the consensus methods, and the parameters of one of them."""

from __future__ import annotations

import argparse
import inspect
import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import conclust
from conclust.cli.choice import DEFAULT_METHOD, find, settable
from conclust.consensus.base import Method
from conclust.consensus.registry import methods

__all__ = ["run"]

_CLUSTERS = {
    "exact": "-k",
    "optional": "-k or found",
    "upper bound": "at most -k",
    "emerges": "found",
}
_ROLE = re.compile(r":\w+:`~?([^`]*)`|`+([^`]*)`+")
_REFERENCE = re.compile(
    r" \[\d+\]_"
)  # the source of the method is told; others are in the docstring
_WIDTH = 88
_INDENT = " " * 6


def run(arguments: argparse.Namespace) -> None:
    """Print the table of all methods, or all that there is to know of one."""
    chosen = methods()
    if arguments.name is not None:
        chosen = [find(arguments.name, arguments.usage_error)]
    if arguments.json:
        told = [{**asdict(method), "parameters": _parameters(method)} for method in chosen]
        print(json.dumps(told, indent=2, ensure_ascii=False))
    elif arguments.name is not None:
        print("\n".join(_described(chosen[0])))
    else:
        print("\n".join(_table(chosen)))


def _table(chosen: Sequence[Method]) -> list[str]:
    head = ("method", "clusters", "gives", "missing", "weights", "blocks", "what it is")
    rows = [
        (
            method.estimator,
            _CLUSTERS[method.n_clusters],
            _gives(method),
            _yes(method.missing),
            _yes(method.weights),
            _yes(method.blocks),
            method.title,
        )
        for method in chosen
    ]
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head) - 1)]
    lines = [
        "  ".join([*(text.ljust(w) for text, w in zip(row, widths, strict=False)), row[-1]])
        for row in (head, *rows)
    ]
    return [
        *lines,
        "",
        f"Without --method: {DEFAULT_METHOD}. 'conclust methods NAME' tells the parameters of one, for "
        "--set.",
    ]


def _described(method: Method) -> list[str]:
    facts = (
        ("clusters", _CLUSTERS[method.n_clusters]),
        ("gives", _gives(method)),
        ("missing labels", _missing(method)),
        ("weights", _yes(method.weights)),
        ("--blocks", _yes(method.blocks)),
        ("time", method.cost),
        ("source", method.citation),
    )
    lines = [f"{method.estimator}: {method.title}", ""]
    for name, text in facts:
        lines += textwrap.wrap(
            text, _WIDTH, initial_indent=f"{name:<16}", subsequent_indent=" " * 16
        )
    lines += ["", "parameters, for --set NAME=VALUE, with their defaults:"]
    for name, told in _parameters(method).items():
        lines += ["", f"  {name}={_spelled(told['default'])}"]
        for text in (told["takes"], told["meaning"]):
            lines += textwrap.wrap(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return lines


def _parameters(method: Method) -> dict[str, dict[str, Any]]:
    """Return the parameters for ``--set``: defaults, allowed values and meanings, from the docstring."""
    documented = _documented(inspect.getdoc(getattr(conclust, method.estimator)) or "")
    found = {}
    for name, parameter in settable(method).items():
        takes, meaning = documented.get(name, ("", ""))
        found[name] = {"default": parameter.default, "takes": takes, "meaning": meaning}
    return found


def _documented(text: str) -> dict[str, tuple[str, str]]:
    """Read the parameters of a numpydoc docstring: their types and descriptions."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", text, re.DOTALL | re.MULTILINE
    )
    found: dict[str, tuple[str, str]] = {}
    if section is None:
        return found
    for entry in re.split(r"\n(?=\S)", section[1].strip()):
        head, _, body = entry.partition("\n")
        names, _, takes = head.partition(" : ")
        takes = re.sub(r", default=.*", "", takes)
        meaning = _ROLE.sub(lambda m: m[1] or m[2], _REFERENCE.sub("", " ".join(body.split())))
        found |= {name.strip(): (takes, meaning) for name in names.split(",")}
    return found


def _spelled(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _gives(method: Method) -> str:
    return "probabilities" if method.membership else "labels"


def _missing(method: Method) -> str:
    if method.missing or not method.missing_with:
        return _yes(method.missing)
    return f"with --set {method.missing_with}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
