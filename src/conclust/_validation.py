"""Validates user input; the only source of the sentences of parameter errors, and of numbers with their nouns.

The sentence is scikit-learn's: "The 'n_clusters' parameter of PCC must be an int in the range
[1, inf). Got -1 instead."
"""

from __future__ import annotations

import math
import numbers
import re
from collections import Counter
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Literal, NoReturn, TypeGuard, get_args, overload

from conclust.exceptions import DenseLimitError, InputError, MissingExtraError, ParameterError

__all__ = [
    "check_bool",
    "check_column_names",
    "check_dense",
    "check_int",
    "check_option",
    "check_real",
    "count",
    "count_range",
    "interval",
    "is_it",
    "is_whole",
    "largest_number",
    "listed",
    "optional",
    "refuse",
    "refuse_arguments",
    "shown",
]

_PLURALS = {"category": "categories", "class": "classes", "latent class": "latent classes"}
_LONGEST = 200  # characters of a value in a message
# Limit of numbers of repetitions, whose seeds and results are all stored: a larger number is a mistake.
_REPETITIONS = frozenset(
    f"n_{what}"
    for what in [
        "init",
        "draws",
        "burn_in",
        "splits",
        "resamples",
        "references",
        "partitions",
        "steps",
        "runs",
        "rebuilds",
        "members",
        "iter",
    ]
)
_MOST_REPETITIONS = 1_000_000
_MOST_ITERATIONS = 1_000_000_000  # far above any use, and within the kernels' ints


def refuse(name: str, owner: str, expected: str, got: object, advice: str = "") -> NoReturn:
    """Raise the parameter error: the parameter, the expected values, the value given, and advice."""
    error = ParameterError(f"{expected}. Got {shown(got)} instead. {advice}".rstrip())
    error.owner, error.parameter = owner, name
    raise error


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1: "1 cluster", "2,000 objects"."""
    return f"{number:,} {noun if number == 1 else _PLURALS.get(noun, noun + 's')}"


def count_range(low: int, high: int, noun: str) -> str:
    """Return "2 to 5 clusters", or `count` if both numbers are the same."""
    return count(low, noun) if low == high else f"{low:,} to {count(high, noun)}"


def listed(values: Iterable[object], word: str = "and") -> str:
    """Return values in words: "2, 5 and 9"."""
    texts = [str(value) for value in values]
    return f" {word} ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def brief(value: float) -> str:
    """Format a number with three digits for readers: 70,300, and 0.0123; very small ones as 1.2e-09."""
    if not math.isfinite(value) or value == 0 or not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3g}"
    places = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    if places <= 0:
        return f"{rounded:,.0f}"
    return f"{rounded:,.{places}f}".rstrip("0").rstrip(".")


def shown(value: object) -> str:
    """Return a value for a message: its `repr`, shortened if it is long."""
    try:
        text = repr(value)
    except ValueError:  # an int of more digits than Python writes, alone or in a container
        kind = type(value).__name__
        return f"an int of {value.bit_length()} bits" if isinstance(value, int) else f"a {kind}"
    if "\n" in text:  # a table or an array, whose lines would tear the sentence apart
        kind, shape = type(value).__name__, getattr(value, "shape", None)
        article = "an" if kind[0].lower() in "aeiou" or kind == "ndarray" else "a"
        return f"{article} {kind}" + (f" of shape {shape}" if isinstance(shape, tuple) else "")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def check_dense(n: int, max_dense: int, needs: str, instead: str, *, fixed: bool = False) -> None:
    """Refuse a matrix of all pairs of n distinct rows of labels that ``max_dense`` does not allow.

    `needs` is the beginning of the sentence, `instead` what to use that needs no such matrix. A limit that is `fixed` is no
    parameter.
    """
    if n > max_dense:
        allowed = f"the {max_dense} allowed" if fixed else f"max_dense={max_dense} allows"
        raise DenseLimitError(
            f"{needs} all pairs of the {n} distinct rows of labels ({8 * n * n / 1e9:.1f} GB), more than {allowed}. "
            f"Use {instead}{'' if fixed else ', or a larger max_dense'}."
        )


def refuse_arguments(unknown: dict[str, Any], owner: str, weights: str) -> None:
    """Refuse arguments that a method does not have; `weights` is the advice on where weights belong.

    Raises
    ------
    TypeError
        There is one.
    """
    for name in unknown:
        advice = f": {weights}" if name in ("weights", "sample_weight") else ""
        raise TypeError(f"{owner}() got an unexpected keyword argument {name!r}{advice}")


def largest_number(name: str) -> int | None:
    """Return the maximum of a parameter of repetitions or iterations; None: no maximum."""
    if name in _REPETITIONS:
        return _MOST_REPETITIONS
    return _MOST_ITERATIONS if name == "max_iter" else None


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an int, of Python or NumPy, and not a bool."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


@overload
def check_int(
    value: Any,
    name: str,
    owner: str,
    *,
    low: int = ...,
    high: int | None = ...,
    none: Literal[False] = ...,
    advice: str = ...,
) -> int: ...
@overload
def check_int(
    value: Any,
    name: str,
    owner: str,
    *,
    low: int = ...,
    high: int | None = ...,
    none: bool,
    advice: str = ...,
) -> int | None: ...
def check_int(
    value: Any,
    name: str,
    owner: str,
    *,
    low: int = 1,
    high: int | None = None,
    none: bool = False,
    advice: str = "",
) -> int | None:
    """Return `value` as an int in [low, high] (``high=None``: no upper end), or None if allowed.

    Parameters
    ----------
    value : object
        Value given.
    name, owner : str
        The parameter, and what takes it.
    low, high : int, default=1 and None
        The range, ends included; no upper end with None, but for numbers of repetitions (`n_init`, `n_draws`, ...):
        at most a million, and for `max_iter` a thousand million.
    none : bool, default=False
        Whether None is allowed.
    advice : str, default=""
        Advice, added to the message if an int is out of range.
    """
    if none and value is None:
        return None
    high = largest_number(name) if high is None else high
    whole = is_whole(value)
    if not whole or value < low or (high is not None and value > high):
        end = "inf)" if high is None else f"{high}]"
        expected = f"an int in the range [{low}, {end}{' or None' * none}"
        refuse(name, owner, expected, value, advice if whole else "")
    return int(value)


def check_real(
    value: Any,
    name: str,
    owner: str,
    *,
    low: float = 0.0,
    high: float = math.inf,
    closed: str = "both",
) -> float:
    """Return `value` as a finite float in the interval.

    Parameters
    ----------
    value : object
        Value given.
    name, owner : str
        The parameter, and what takes it.
    low, high : float, default=0 and inf
        The interval.
    closed : {"both", "left", "right", "neither"}, default="both"
        Ends that belong to the interval.
    """
    truth = isinstance(value, bool)
    real = not truth and isinstance(value, numbers.Real) and _is_finite(value)
    above = real and (value > low or (value == low and closed in ("both", "left")))
    below = real and (value < high or (value == high and closed in ("both", "right")))
    if not (above and below):
        refuse(name, owner, f"a float in the range {interval(low, high, closed)}", value)
    return float(value)


def interval(low: float, high: float, closed: str) -> str:
    """Return an interval as text for messages and help."""
    left = "[" if closed in ("both", "left") and low > -math.inf else "("
    right = "]" if closed in ("both", "right") and high < math.inf else ")"
    return f"{left}{low:.8g}, {high:.8g}{right}"


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int that no float64 holds
        return False


def check_bool(value: Any, name: str, owner: str) -> bool:
    """Return `value` if it is a bool."""
    if not isinstance(value, bool):
        refuse(name, owner, "a bool", value)
    return value


def check_option(value: Any, name: str, owner: str, options: Any) -> str | None:
    """Return `value` if it is one of `options`: a collection of words, or a ``Literal`` type of them."""
    options = get_args(options) or options
    if not (value is None or isinstance(value, str)) or value not in options:
        choices = ", ".join(sorted(repr(option) for option in options))
        refuse(name, owner, f"one of {{{choices}}}", value, is_it(value, options))
    return value


def is_it(value: Any, options: Collection[str | None]) -> str:
    """Return a suggestion of the most similar word; empty if none is similar."""
    words = [option for option in options if option is not None]
    near = get_close_matches(value, words, 1) if isinstance(value, str) else []
    return f"Is it {near[0]!r}?" if near else ""


def check_column_names(X: Any) -> None:
    """Refuse a table with two columns of one name, or with names only some of which are strings."""
    if type(X).__name__ == "LazyFrame":
        raise InputError("A lazy frame has no rows yet. Pass X.collect() instead.")
    # Columns of Arrow are columns, not names.
    names = list(getattr(X, "column_names", getattr(X, "columns", ())))
    counts = Counter(name for name in names if isinstance(name, str | int))
    twice = [name for name, times in counts.items() if times > 1]
    if twice:
        raise InputError(
            f"The columns of a table must have different names. Got {shown(twice[0])} more than once."
        )
    kinds = {type(name).__name__ for name in names}
    if "str" in kinds and len(kinds) > 1:
        raise InputError(
            "The columns of a table must all be named by strings, or none of them. Got names of the "
            f"types {', '.join(sorted(kinds))} instead: set X.columns = X.columns.astype(str)."
        )


def pandas_for(what: str) -> Any:
    """Return pandas, or raise the error that `what` needs it."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs pandas. Install it with: pip install pandas"
        ) from error


def optional(module: str, extra: str, what: str) -> Any:
    """Return a module of an optional dependency, or raise the error that `what` needs the extra."""
    package = module.split(".")[0]
    try:
        return import_module(package) and import_module(module)
    except ImportError as error:
        from importlib.metadata import requires

        named = (
            re.fullmatch(r"(.*?);.*extra == ['\"](.*)['\"]", one)
            for one in requires("conclust") or ()
        )
        needed = " ".join(f"'{one[1].strip()}'" for one in named if one and one[2] == extra)
        raise MissingExtraError(
            f"{what} needs {package}. Install it with: pip install {needed} (conclust's extra {extra!r})"
        ) from error
