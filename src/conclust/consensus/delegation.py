"""Delegates methods of a clusterer of points to its consensus, if that has them."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar, cast

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
