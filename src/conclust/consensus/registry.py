"""The list of consensus methods, read from the estimators themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from typing import Any

import conclust
from conclust.consensus.method import Method

_TITLES = ("method", "clusters", "memberships", "missing", "weights", "description")


class _Methods(list[Method]):
    """Methods that are displayed as a table."""

    def __repr__(self) -> str:
        yes = {True: "yes", False: "no"}
        rows = [
            (m.estimator, m.n_clusters, yes[m.membership], yes[m.missing], yes[m.weights], m.title)
            for m in self
        ]
        widths = [max(len(row[k]) for row in (_TITLES, *rows)) for k in range(len(_TITLES))]
        lines = (
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in (_TITLES, *rows)
        )
        return "\n".join(lines)


def methods() -> list[Method]:
    """List the consensus methods with their requirements, inputs, results and costs.

    Returns
    -------
    list of Method
        One entry per estimator, in order of class names (``estimator``); displayed as a table.

    Examples
    --------
    >>> import conclust
    >>> [m.estimator for m in conclust.methods() if m.n_clusters == "upper bound"]
    ['BaumEagon', 'PCC', 'PEACE', 'WeightedPCC']
    """
    homes = conclust._HOMES
    listed = _Methods()
    for name, home in sorted(homes.items()):
        if home.startswith("conclust.consensus") and home != __name__:
            estimator = getattr(import_module(home), name)
            method = getattr(estimator, "method", None)
            if isinstance(method, Method):
                listed.append(replace(method, estimator=name))
    return listed


def method_named(name: str) -> Method | None:
    """Return the method of a name: "auto", or its class's name in any case, with or without hyphens."""
    by_name = {method.estimator.lower(): method for method in methods()}
    return by_name.get(plain_name(name))


def class_of(name: str) -> Any:
    """Return the class of a method, as `method_named` finds it, or None."""
    method = method_named(name)
    return None if method is None else getattr(conclust, method.estimator)


def make(name: str, running: Mapping[str, Any] | None = None, **parameters: Any) -> Any:
    """Return an unfitted method; of `running` (seed, threads, ...) it gets the parameters that it has."""
    kind = class_of(name)
    has = signature(kind).parameters
    return kind(**{k: v for k, v in (running or {}).items() if k in has}, **parameters)


def near_names(name: str) -> list[str]:
    """Return the methods that a misspelled name may mean: by name, or else by a word of the title."""
    plain = plain_name(name)
    by_name = {method.estimator.lower(): method for method in methods()}
    close = [by_name[other].estimator for other in get_close_matches(plain, by_name)]
    if close:
        return close
    near = [
        method.estimator
        for method in by_name.values()
        if plain in method.estimator.lower()
        or get_close_matches(plain.rstrip("s"), _words(method.title), 1, 0.8)
    ]
    return near[:4]


def advice_on(name: str) -> str:
    """Return the last sentence of an error about the name of a method that does not exist."""
    near = " or ".join(map(repr, near_names(name)))
    return f"{f'Is it {near}? ' if near else ''}conclust.methods() lists them all."


def _words(title: str) -> list[str]:
    return [word.rstrip("s") for word in re.findall(r"[a-z]{4,}", title.lower())]


def plain_name(name: str) -> str:
    """Return a name in lowercase letters without hyphens; "auto" is AutoConsensus."""
    plain = name.lower().replace("-", "").replace("_", "")
    return "autoconsensus" if plain == "auto" else plain


def names_of_those(kind: type) -> str:
    """Return the names of the public estimators of a kind, in words."""
    import conclust

    names = [method.estimator for method in methods()]
    names = [name for name in names if issubclass(getattr(conclust, name), kind)]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def names_in_blocks() -> list[str]:
    """Return the names of the public estimators that read labels in blocks."""
    return [method.estimator for method in methods() if method.blocks]
