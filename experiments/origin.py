"""What a result was made from: the commit, and a fingerprint of all code that the experiment uses.

A result keeps both (``output.py``, ``kept.py``); ``python -m experiments.stale`` compares them with the code that
there is now.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from experiments.definitions import Source, digest_of, kernel_digest, read_source

__all__ = ["Tree", "at_commit", "commit", "experiment_of", "here", "origin"]

ROOT = Path(__file__).resolve().parent.parent
_RUN = re.compile(r"python -m experiments\.([\w.]+)")
_PACKAGES = {"conclust": "src/conclust", "experiments": "experiments", "tools": "tools"}
_KERNELS = "src/conclust/_kernels/"
# Code that does not change numbers: it writes, keeps and draws results, or reads and checks input, or prints.
_NO_SOURCES = (
    *(f"experiments/{name}.py" for name in ("definitions", "drawing", "kept", "origin", "output")),
    *(f"src/conclust/{name}.py" for name in ("_parameters", "_progress", "_validation")),
    *(
        f"src/conclust/ensemble/{name}.py"
        for name in ("communities", "draws", "orientation", "tables")
    ),
    "src/conclust/_files/",
    "src/conclust/_arrays/containers.py",
    "src/conclust/blocks/sources.py",
    "src/conclust/consensus/suitability.py",
    "src/conclust/exceptions.py",
)
_INCLUDED = re.compile(r'#include "([^"]+)"')
# Names the methods in the text of errors.
_WORDS = {"_those_that"}
_DEEP = 20  # imports of imports that are followed
# Homes of the names that ``from conclust import NAME`` finds.
_HOMES = "src/conclust/__init__.pyi"


class Tree:
    """The sources at one moment.

    Parameters
    ----------
    paths : set of str
        All files, relative to the root.
    read : callable
        From a path to the text of the file.
    """

    def __init__(self, paths: set[str], read: Callable[[str], str]) -> None:
        self.paths, self._read = paths, read
        self._texts: dict[str, str] = {}
        self._sources: dict[str, Source] = {}
        self._public: dict[str, str] | None = None

    def read(self, path: str) -> str:
        """Return the text of a file."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def sources(self, experiment: str) -> dict[str, str]:
        """Return what an experiment uses, by name, each with the digest of its code (``definitions.py``).

        From the statements of the experiment's file on, all functions, classes and variables that are used by what is
        used. A class is used as a whole; so is a folder of kernels, with what it includes. Names, not places: what has
        moved to another file has not changed.
        """
        begin = f"experiments/{experiment.replace('.', '/')}.py"
        if begin not in self.paths:
            return {}
        todo = [(begin, name) for name in self._source(begin).definitions]
        found, digests = set(todo), dict[str, set[str]]()
        while todo:
            path, name = todo.pop()
            if path.startswith(_KERNELS):
                digests.setdefault(name, set()).add(kernel_digest(self.read(path)))
                continue
            definition = self._source(path).definitions[name]
            if name:  # other statements are of a module, not of what is used of it
                digests.setdefault(name, set()).add(definition.digest)
            for use in definition.uses - _WORDS:
                new = self._resolved(path, use) - found
                found |= new
                todo += new
        return {name: digest_of(" ".join(sorted(each))) for name, each in sorted(digests.items())}

    def fingerprint(self, experiment: str) -> str:
        """Return one digest of all that an experiment uses."""
        lines = "\n".join(f"{name} {digest}" for name, digest in self.sources(experiment).items())
        return digest_of(lines)

    def _source(self, path: str) -> Source:
        if path not in self._sources:
            self._sources[path] = read_source(self.read(path))
        return self._sources[path]

    def _resolved(self, path: str, use: str) -> set[tuple[str, str]]:
        """Return the definitions that a name used in a file may stand for."""
        source = self._source(path)
        if use.startswith("'"):  # an experiment may give a method by its name
            words = path.startswith("experiments/") and use[1:2].isupper()
            home = self._homes().get(use[1:]) if words else None
            return set() if home is None else self._named(home)
        first, *rest = use.split(".")
        if first in source.definitions:
            return {(path, first)}
        if first not in source.imports:
            return set()
        dotted = ".".join([source.imports[first], *rest])
        if dotted == "conclust._HOMES":  # all methods
            return {found for home in self._homes().values() for found in self._named(home)}
        return self._named(dotted)

    def _named(self, dotted: str, depth: int = 0) -> set[tuple[str, str]]:
        """Return the definitions behind a dotted name; those of a class or function for its attributes."""
        parts = dotted.split(".")
        if parts[0] not in _PACKAGES or depth > _DEEP:
            return set()
        if len(parts) > 1 and parts[0] == "conclust" and parts[1] in self._homes():
            home = self._homes()[parts[1]]
            if home != f"conclust.{parts[1]}":
                return self._named(".".join([home, *parts[2:]]), depth + 1)
        for count in range(len(parts), 0, -1):
            file = self._file(parts[:count])
            if file is None or file.startswith(_NO_SOURCES):
                continue
            if count == len(parts):  # a module: what is used of it, is used by attributes
                return set()
            name = parts[count]
            if file.startswith(_KERNELS):
                return {
                    (kernel, f"kernels: {kernel.removeprefix(_KERNELS)}")
                    for kernel in self._kernels_of(name)
                }
            source = self._source(file)
            if name in source.definitions:
                return {(file, name)}
            if name in source.imports:
                return self._named(".".join([source.imports[name], *parts[count + 1 :]]), depth + 1)
            return set()
        return set()

    def _file(self, parts: list[str]) -> str | None:
        at = "/".join([_PACKAGES[parts[0]], *parts[1:]])
        return next(
            (path for path in (f"{at}.py", f"{at}/__init__.py") if path in self.paths), None
        )

    def _kernels_of(self, name: str) -> list[str]:
        """Return the C++ files of the folders whose bindings have a name, and those that they include."""
        cpp = {p for p in self.paths if p.startswith(_KERNELS) and p.endswith((".h", ".cpp"))}
        todo = [
            p
            for path in cpp
            if f'"{name}"' in self.read(path)
            for p in cpp
            if _folder(p) == _folder(path)
        ]
        found = set[str]()
        while todo:
            path = todo.pop()
            if path not in found:
                found.add(path)
                for included in _INCLUDED.findall(self.read(path)):
                    at = _KERNELS + included
                    todo += {at, at.removesuffix(".h") + ".cpp"} & cpp
        return sorted(found)

    def _homes(self) -> dict[str, str]:
        """Return the public names, each with the dotted name of its definition."""
        if self._public is None:
            stub = ast.parse(self.read(_HOMES) if _HOMES in self.paths else "")
            self._public = {
                alias.asname or alias.name: f"{node.module}.{alias.name}"
                for node in stub.body
                if isinstance(node, ast.ImportFrom) and node.module
                for alias in node.names
            }
        return self._public


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def here(root: Path = ROOT) -> Tree:
    """Return the sources as they lie in the folder."""
    paths = {
        path.relative_to(root).as_posix()
        for folder in _PACKAGES.values()
        for path in (root / folder).rglob("*")
        if path.suffix in {".py", ".pyi", ".h", ".cpp"}
    }
    return Tree(paths, lambda path: (root / path).read_text(encoding="utf-8"))


def at_commit(name: str, root: Path = ROOT) -> Tree | None:
    """Return the sources at a commit; None where this clone does not have it."""
    listed = _git(root, "ls-tree", "-r", "--name-only", name, "--", *_PACKAGES.values())
    if not listed:
        return None
    return Tree(set(listed.split("\n")), lambda path: _git(root, "show", f"{name}:{path}") or "")


def commit(root: Path = ROOT) -> str:
    """Return the commit of the sources, "-dirty" after it if they differ from it; "unknown" without Git."""
    name = _git(root, "rev-parse", "--short=10", "HEAD")
    if not name:
        return "unknown"
    sources = [*_PACKAGES.values(), ":!experiments/*/result/*", ":!*.md", ":!*.md.in"]
    changed = _git(root, "status", "--porcelain", "--", *sources)
    return f"{name.strip()}-dirty" if changed else name.strip()


def _git(root: Path, *given: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *given], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip("\n")


def experiment_of(doc: str | None) -> str:
    """Return the name of an experiment, as the docstring of its script says how it is run."""
    found = _RUN.search(doc or "")
    if found is None:
        raise ValueError(
            "The docstring does not say how the experiment is run: python -m experiments..."
        )
    return found[1]


@cache
def origin(experiment: str) -> dict[str, Any]:
    """Return what results are made from that are made now."""
    return {
        "experiment": experiment,
        "commit": commit(),
        "sources": here().fingerprint(experiment),
    }
