"""Packages whose names load at first use: the stub beside ``__init__.py`` has their modules and types."""

import sys
from importlib import import_module

TYPE_CHECKING = False  # as typing.TYPE_CHECKING, whose import would come before signals are handled
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def homes(package: str) -> dict[str, str]:
    """Return the public names of a package, each with the module that its stub imports it from."""
    module: Any = sys.modules[package]
    stub = module.__spec__.loader.get_data(f"{module.__file__.removesuffix('c')}i").decode()
    words = [
        one.removeprefix("from ").replace("(", " ").split()
        for one in stub.split("\nfrom ")
        if one.strip()
    ]
    return {name: home for home, _, name, *_ in words}


def attach(package: str) -> "tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]":
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package that loads its names at first use."""
    home = homes(package)
    names = sorted(home)

    def load(name: str) -> "Any":
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return names, load, lambda: names
