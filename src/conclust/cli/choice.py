"""From ``--method`` and what belongs to it to an estimator: the methods are those of the registry."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn

import conclust
from conclust.consensus.base import Method
from conclust.consensus.registry import methods

__all__ = ["Choice", "choose", "find", "settable"]

# What the command line says in its own words, so that --set does not.
_SAID_ELSEWHERE = {
    "n_clusters": "--clusters or --max-clusters",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "missing": "--missing",
    "verbose": "--verbose",
}


class Choice(NamedTuple):
    """A method and the parameters that were given for it."""

    method: Method
    parameters: dict[str, Any]

    def estimator(self, *, seed: int, jobs: int) -> Any:
        """Return the estimator, not fitted."""
        kind = getattr(conclust, self.method.estimator)
        running = {"random_state": seed, "n_jobs": jobs}
        has = inspect.signature(kind).parameters
        return kind(**{k: v for k, v in running.items() if k in has}, **self.parameters)


def find(name: str, refuse: Callable[[str], NoReturn]) -> Method:
    """Return the method of a name, by the name of its class, in letters of any size."""
    known = {method.estimator.lower(): method for method in methods()}
    plain = name.lower().replace("-", "").replace("_", "")
    if plain not in known:
        close = [known[other].estimator for other in get_close_matches(plain, known)]
        hint = f" Is it {' or '.join(close)}?" if close else ""
        refuse(f"There is no method {name!r}.{hint} 'conclust methods' lists them all.")
    return known[plain]


def settable(method: Method) -> dict[str, inspect.Parameter]:
    """Return the parameters that ``--set`` can give: those that a word or a number can say."""
    has = inspect.signature(getattr(conclust, method.estimator)).parameters
    return {
        name: parameter
        for name, parameter in has.items()
        if name not in _SAID_ELSEWHERE and _kinds(parameter) & {"int", "float", "bool", "str"}
    }


def choose(arguments: argparse.Namespace) -> Choice:
    """Return what the command line chose; end with its usage where it contradicts itself."""
    refuse: Callable[[str], NoReturn] = arguments.usage_error
    method = find(arguments.method, refuse)
    parameters = _number_of_clusters(method, arguments, refuse)
    can = settable(method)
    if arguments.linkage is not None:
        if "linkage" not in can:
            refuse(f"--linkage: {method.estimator} builds no tree.")
        parameters["linkage"] = arguments.linkage
    for name, text in _split(arguments.set, refuse):
        if name in _SAID_ELSEWHERE:
            refuse(f"--set {name}: give {_SAID_ELSEWHERE[name]} instead.")
        if name not in can:
            refuse(
                f"--set: {method.estimator} has no parameter {name!r}. It has: "
                f"{', '.join(can) or 'none'}."
            )
        if name in parameters:
            refuse(f"The parameter {name!r} is given twice.")
        parameters[name] = _value(text, _kinds(can[name]))
    return Choice(method, parameters)


def _number_of_clusters(
    method: Method, arguments: argparse.Namespace, refuse: Callable[[str], NoReturn]
) -> dict[str, Any]:
    """Return n_clusters as the method takes it: exactly, at most, or not at all."""
    name = method.estimator
    exactly, at_most = arguments.clusters, arguments.max_clusters
    if method.n_clusters == "emerges":
        if exactly is not None or at_most is not None:
            refuse(f"{name} finds by itself how many clusters there are: leave their number out.")
        return {}
    if method.n_clusters == "upper bound":
        if exactly is not None:
            refuse(
                f"--clusters asks for exactly so many, and {name} finds how many are needed: give "
                "--max-clusters."
            )
        return {} if at_most is None else {"n_clusters": at_most}
    if at_most is not None:
        refuse(
            f"--max-clusters: {name} makes exactly so many clusters as it is told: give --clusters."
        )
    if exactly is not None:
        return {"n_clusters": exactly}
    if method.n_clusters == "exact":
        refuse(f"{name} must be told how many clusters to make: give --clusters.")
    return {}


def _split(given: Sequence[str], refuse: Callable[[str], NoReturn]) -> list[tuple[str, str]]:
    pairs = []
    for text in given:
        name, equals, value = text.partition("=")
        if not (equals and name.strip() and value.strip()):
            refuse(f"--set takes NAME=VALUE, got {text!r}.")
        pairs.append((name.strip(), value.strip()))
    return pairs


def _value(text: str, kinds: set[str]) -> Any:
    """Read a value as what the parameter takes: nothing, a truth, a number; else it is a word."""
    words: dict[str, Any] = {}
    if "None" in kinds:
        words |= {"none": None}
    if "bool" in kinds:
        words |= {"true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind, numbers in ((int, {"int", "float"}), (float, {"float"})):
        if kinds & numbers:
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _kinds(parameter: inspect.Parameter) -> set[str]:
    """Return the types that a parameter is annotated with, as words."""
    return {part.strip() for part in str(parameter.annotation).split("|")}
