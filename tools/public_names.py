"""Write what follows from the public names: the stubs, which are also where the names load from, and README's number.

A consensus method is public by its place in ``__all__`` of its family in ``conclust/consensus``; other names are added to
the stub by hand, and stay.

python -m tools.public_names
"""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import conclust
from conclust.consensus.base import ConsensusClusterer

__all__ = ["README", "STUBS", "families", "methods", "number", "public"]

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
NUMBER = re.compile(r"any of \d+ consensus methods")
_PACKAGE = ROOT / "src" / "conclust"
_LINE = 100


def methods() -> dict[str, str]:
    """Return the consensus methods of all families: names and modules."""
    homes = {}
    for folder in ("conclust.consensus", "conclust.consensus.papers"):
        for family in pkgutil.iter_modules(import_module(folder).__path__, f"{folder}."):
            module = import_module(family.name)
            for name in getattr(module, "__all__", ()):
                value = getattr(module, name)
                if isinstance(value, type) and issubclass(value, ConsensusClusterer):
                    homes |= {name: family.name} if hasattr(value, "method") else {}
    return homes


def public() -> str:
    """Return the stub of conclust, with the methods that there are now."""
    # Of the families the classes follow; functions stay as they are.
    known = conclust._HOMES.items()
    of_families = {
        pair for pair in known if pair[1].startswith("conclust.consensus.") and pair[0][0].isupper()
    }
    homes = {name: home for name, home in known if (name, home) not in of_families} | methods()
    modules = dict.fromkeys(conclust._MODULES, "conclust")
    imports = sorted({**modules, **homes}.items(), key=lambda pair: (pair[1], _rank(pair[0])))
    names = sorted([*homes, *modules, "__version__"], key=_rank)
    more = "_HOMES: dict[str, str]\n_MODULES: tuple[str, ...]\n__version__: str\n"
    return _imports(imports) + "\n" + more + _listed(names)


def families() -> str:
    """Return the stub of conclust.consensus: its modules."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(_PACKAGE / "consensus")]))
    return _imports([(name, "conclust.consensus") for name in names]) + "\n" + _listed(names)


def number() -> str:
    """Return the README with the number of methods."""
    return NUMBER.sub(f"any of {len(methods())} consensus methods", README.read_text("utf-8"))


STUBS = {
    _PACKAGE / "__init__.pyi": public,
    _PACKAGE / "consensus" / "__init__.pyi": families,
    README: number,
}
"""The files, and what writes each."""


def _rank(name: str) -> tuple[int, str]:
    """Order names as ruff does: constants, classes, functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _imports(pairs: list[tuple[str, str]]) -> str:
    text = ""
    for name, home in pairs:
        line = f"from {home} import {name} as {name}\n"
        wrapped = f"from {home} import (\n    {name} as {name},\n)\n"
        text += line if len(line) <= _LINE + 1 else wrapped
    return text


def _listed(names: list[str]) -> str:
    return "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"


if __name__ == "__main__":
    for path, text in STUBS.items():
        path.write_text(text(), encoding="utf-8")
