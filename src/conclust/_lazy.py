"""Packages whose names load at first use: the stub beside ``__init__.py`` has their modules and types."""

import sys
from importlib import import_module
from time import sleep

TYPE_CHECKING = False  # as typing.TYPE_CHECKING, whose import would come before signals are handled
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def homes(package: str) -> dict[str, str]:
    """Return the public names of a package, each with the module that its stub imports it from."""
    module: Any = sys.modules[package]
    stub = module.__spec__.loader.get_data(f"{module.__file__.removesuffix('c')}i").decode()
    lines = stub.removeprefix("from ").replace("(", " ").split("\nfrom ")
    return {name: home for home, _, name, *_ in map(str.split, filter(str.strip, lines))}


def resolve(home: str, name: str = "") -> "Any":
    """Return a module, or a name of it.

    While another thread imports, Python may return a module that is not complete: one that its package does not have as an attribute
    yet, or, where two threads would wait for each other, one with names missing. So a failed import is tried once more after a pause.
    """

    def value() -> "Any":
        return getattr(import_module(home), name) if name else import_module(home)

    try:
        return value()
    except (AttributeError, ImportError):  # raised below if it comes again
        sleep(0.1)
    try:
        return value()
    except AttributeError as error:  # which `from conclust import name` would hide
        raise ImportError(f"cannot import {name or home!r}: {error}") from error


def attach(package: str) -> "tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]":
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package that loads its names at first use."""
    home = homes(package)
    names = sorted(home)

    def attribute(name: str) -> "Any":
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = resolve(home[name], name)
        setattr(sys.modules[package], name, value)
        return value

    return names, attribute, lambda: names
