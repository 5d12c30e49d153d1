"""Delegates methods of a clusterer of points to its consensus, if that has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any, TypeVar, cast

from conclust._validation import shown
from conclust.consensus.registry import method_named
from conclust.exceptions import ParameterError

F = TypeVar("F", bound=Callable[..., Any])


class _WhereConsensus:
    """A method that exists only if the consensus has another one; otherwise the error explains why."""

    def __init__(self, function: Callable[..., Any], needed: str) -> None:
        self.function, self.needed = function, needed
        self.__doc__ = function.__doc__

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self.function
        consensus = model._consensus_now()
        try:
            getattr(consensus, self.needed)
        except AttributeError as error:
            name = self.function.__name__
            raise AttributeError(
                f"{type(model).__name__!r} object has no attribute {name!r}: its consensus has no "
                f"{self.needed!r}. {error}",
                name=name,
                obj=model,
            ) from error
        return MethodType(self.function, model)


def where_consensus_has(needed: str) -> Callable[[F], F]:
    """Make a method available only if the consensus has the attribute `needed`."""

    def decorate(function: F) -> F:
        return cast(F, _WhereConsensus(function, needed))

    return decorate


def check_nested(model: Any, params: Mapping[str, Any], **parts: str) -> None:
    """Refuse parameters of a part, such as "generator__n_partitions", if the part is None or a name.

    Parameters
    ----------
    model : estimator
        The whole.
    params : dict of str to object
        Parameters to be set.
    **parts : str
        The parts, and the class that stands for each if it is None.

    Raises
    ------
    ParameterError
        If the part is not an estimator.
    """
    for name in params:
        part, _, nested = name.partition("__")
        value = params.get(part, getattr(model, part, None))
        if not nested or part not in parts or hasattr(value, "set_params"):
            continue
        named = method_named(value) if isinstance(value, str) else None
        way = f"{part}={parts[part] if named is None else named.estimator}()"
        raise ParameterError(
            f"{type(model).__name__} has no parameter {name!r} if {part!r} is {shown(value)}: make it with {way}."
        )
