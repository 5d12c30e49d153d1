"""Declares parameters once: type, choices and default in the signature of a class, ranges in its table.

The annotation of a parameter says what it takes: one word of a ``Literal``, a bool, an int (1 or more) or a float (0 or
more), or a word or one of these, and whether None. Other ranges are in ``parameters`` of the class::

    parameters: ClassVar[Parameters] = {"theta": Range(above=0), "p": Range(above=1, at_most=16), "rho": None}

None: the class checks it itself, since it depends on the data or on other parameters. Estimators, ``--set`` of the command
line, the tests of all methods and of their docstrings read this. A function instead of a range refuses what does not fit.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import NoneType
from typing import Any, Literal, TypeAlias, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from conclust._threads import within_machine
from conclust._validation import (
    check_bool,
    check_int,
    check_option,
    check_real,
    interval,
    is_it,
    largest_number,
    refuse,
)
from conclust.exceptions import ParameterError

__all__ = ["Parameter", "Parameters", "Range", "check_parameters", "parameters_of"]

# These are checked when the labels, the number of clusters, the seed and messages are read.
_CHECKED_ELSEWHERE = frozenset({"n_clusters", "missing", "random_state", "verbose"})


@dataclass(frozen=True)
class Range:
    """The numbers that a parameter takes; without an end an int is at least 1, a float at least 0."""

    above: float | None = None
    at_least: float | None = None
    at_most: float = math.inf
    below: float | None = None

    def reals(self) -> tuple[float, float, str]:
        """Return the interval of a float, and the ends that belong to it."""
        closed = {(0, 0): "both", (0, 1): "left", (1, 0): "right", (1, 1): "neither"}
        ends = closed[int(self.above is not None), int(self.below is not None)]
        low = self.above if self.above is not None else self.at_least or 0.0
        return low, self.at_most if self.below is None else self.below, ends

    def whole(self, name: str) -> tuple[int, int | None]:
        """Return the smallest and the largest int; None: no end."""
        low = 1 if self.at_least is None else int(self.at_least)
        return low, largest_number(name) if self.at_most == math.inf else int(self.at_most)


Check: TypeAlias = Callable[[Any, str], Any]
"""Refuses a value that does not fit; the other argument is the name of the class."""
Parameters: TypeAlias = Mapping[str, Range | Check | None]


@dataclass(frozen=True)
class Parameter:
    """The valid values of one parameter.

    Attributes
    ----------
    name : str
        The parameter.
    default : object
        Its default.
    kinds : frozenset of type
        The types among int, float, bool, str and NoneType that it takes.
    words : tuple
        All words, if there is a list.
    rule : Range, callable or None
        Its range; a function that refuses what does not fit; None: the class checks it.
    others : bool
        Whether it also takes arrays or objects.
    """

    name: str
    default: Any
    kinds: frozenset[type]
    words: tuple[Any, ...]
    rule: Range | Check | None
    others: bool

    @property
    def none(self) -> bool:
        """Whether None is valid."""
        return NoneType in self.kinds

    def check(self, value: Any, owner: str) -> None:
        """Raise ParameterError if a value does not fit."""
        name, rule = self.name, self.rule
        if rule is None or (self.others and self.words and not isinstance(value, str)):
            return
        if not isinstance(rule, Range):
            rule(value, owner)
        elif self.words and self.kinds & {bool, int, float}:
            self._check_word_or_number(value, owner)
        elif self.words:
            check_option(value, name, owner, self.words)
        elif int in self.kinds:
            low, high = rule.whole(name)
            check_int(value, name, owner, low=low, high=high, none=self.none)
        elif value is None and self.none:
            return
        elif bool in self.kinds:
            check_bool(value, name, owner)
        else:
            least, most, closed = rule.reals()
            check_real(value, name, owner, low=least, high=most, closed=closed)

    def _check_word_or_number(self, value: Any, owner: str) -> None:
        if (self.none and value is None) or (isinstance(value, str) and value in self.words):
            return
        number = replace(self, words=(), kinds=self.kinds - {str, NoneType})
        try:
            number.check(bool(value) if isinstance(value, np.bool_) else value, owner)
        except ParameterError:
            article = "an" if int in self.kinds else "a"
            text = f"{article} {number.takes()}".replace(" in ", " in the range ")
            *first, last = [text, *map(repr, self.words), *["None"] * self.none]
            similar = is_it(value, self.words)
            refuse(self.name, owner, f"{', '.join(first)} or {last}", value, similar)

    def takes(self) -> str:
        """Return the type and the range for help; empty for words, and if the class checks the value itself."""
        if not isinstance(self.rule, Range) or self.words:
            return ""
        if bool in self.kinds:
            text = "bool"
        elif int in self.kinds:
            low, high = self.rule.whole(self.name)
            text = f"int in [{low}, {'inf)' if high is None else f'{high}]'}"
        else:
            text = f"float in {interval(*self.rule.reals())}"
        return text + " or none" * self.none


@cache
def parameters_of(kind: type) -> Mapping[str, Parameter]:
    """Return the parameters of an estimator by name, in the order of its signature."""
    ranges: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        ranges |= vars(base).get("parameters", {})
    signature = inspect.signature(kind, eval_str=True).parameters
    return {name: _parameter(one, ranges) for name, one in signature.items()}


def _parameter(one: inspect.Parameter, ranges: Parameters) -> Parameter:
    types = set(get_args(one.annotation) or [one.annotation])
    if get_origin(one.annotation) is Literal:
        types = {one.annotation}
    arrays = set(get_args(ArrayLike))
    others = arrays <= types
    types -= arrays if others else set()
    words = tuple(word for part in types if get_origin(part) is Literal for word in get_args(part))
    kinds = frozenset(types & {int, float, bool, str, NoneType}) | {str for _ in words[:1]}
    others = others or any(part not in kinds and get_origin(part) is not Literal for part in types)
    rule: Range | Check | None = None
    if one.name in ranges:
        rule = ranges[one.name]
    elif one.name == "n_jobs":
        rule = _check_jobs
    elif one.name not in _CHECKED_ELSEWHERE and (
        words or (len(kinds - {NoneType}) == 1 and not others)
    ):
        rule = None if kinds - {NoneType} == {str} and not words else Range()
    return Parameter(one.name, one.default, kinds, words, rule, others)


def _check_jobs(n_jobs: Any, owner: str) -> None:
    if n_jobs is not None:
        within_machine(n_jobs, owner)


def check_parameters(estimator: Any) -> None:
    """Raise ParameterError for the first parameter of an estimator that is out of its range."""
    kind: Any = type(estimator)
    for parameter in parameters_of(kind).values():
        parameter.check(getattr(estimator, parameter.name), kind.__name__)
