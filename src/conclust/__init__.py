"""conclust: consensus clustering.

Combines many clusterings of the same objects into one partition, with probabilities, at any size.
Names load at first use, so that ``import conclust`` costs nothing: ``__init__.pyi`` has their modules and types.
"""

from conclust._lazy import homes, resolve

_HOMES = homes(__name__)
_MODULES = tuple(name for name, home in _HOMES.items() if home == __name__)
for _name in _MODULES:
    del _HOMES[_name]

__all__ = ["__version__", *sorted(_HOMES), *_MODULES]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value = resolve(_HOMES[name], name)
    elif name in _MODULES:
        value = resolve(f"conclust.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("conclust")
    else:
        raise AttributeError(f"module 'conclust' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
