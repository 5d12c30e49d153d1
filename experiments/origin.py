"""What a result was made from: the commit, and a fingerprint of all code that the experiment imports.

A result keeps both (``output.py``, ``kept.py``); ``python -m experiments.stale`` compares them with the code that
there is now.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["Tree", "at_commit", "commit", "experiment_of", "here", "origin"]

ROOT = Path(__file__).resolve().parent.parent
_RUN = re.compile(r"python -m experiments\.([\w.]+)")
_PACKAGES = {"conclust": "src/conclust", "experiments": "experiments", "tools": "tools"}
_KERNELS = "src/conclust/_kernels/"
# How results are written, kept and drawn decides no number.
_NO_SOURCES = frozenset(
    f"experiments/{name}.py" for name in ("drawing", "kept", "origin", "output")
)
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
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
        self.paths, self.read = paths, read
        self._imports: dict[str, set[str]] = {}
        self._digests: dict[str, str] = {}

    def sources(self, experiment: str) -> dict[str, str]:
        """Return the files that an experiment depends on, each with the digest of its code.

        Comments, docstrings and layout do not count, nor what writes, keeps and draws results. Of the kernels all count.
        """
        todo, found = [f"experiments/{experiment.replace('.', '/')}.py"], set[str]()
        while todo:
            path = todo.pop()
            if path not in found and path in self.paths and path not in _NO_SOURCES:
                found.add(path)
                todo += self._imported(path)
        if any(path.startswith(_KERNELS) for path in found):
            found |= {
                p for p in self.paths if p.startswith(_KERNELS) and p.endswith((".h", ".cpp"))
            }
        return {path: self._digest(path) for path in sorted(found)}

    def fingerprint(self, experiment: str) -> str:
        """Return one digest of all sources of an experiment."""
        lines = "\n".join(f"{path} {digest}" for path, digest in self.sources(experiment).items())
        return hashlib.sha256(lines.encode()).hexdigest()[:16]

    def _digest(self, path: str) -> str:
        if path not in self._digests:
            text = self.read(path)
            code = (
                _python(text) if path.endswith(".py") else " ".join(_COMMENTS.sub("", text).split())
            )
            self._digests[path] = hashlib.sha256(code.encode()).hexdigest()[:16]
        return self._digests[path]

    def _imported(self, path: str) -> set[str]:
        if path not in self._imports:
            text = self.read(path)
            names = {name for name in _names(ast.parse(text)) if name.split(".")[0] in _PACKAGES}
            if "conclust._HOMES" in text:  # all methods
                names |= set(self._homes().values())
            homes = self._homes()
            names |= {
                homes[last] for name in names if (last := name.removeprefix("conclust.")) in homes
            }
            self._imports[path] = {file for name in names for file in self._files(name)}
        return self._imports[path]

    def _homes(self) -> dict[str, str]:
        stub = ast.parse(self.read(_HOMES) if _HOMES in self.paths else "")
        return {
            alias.name: str(node.module)
            for node in stub.body
            if isinstance(node, ast.ImportFrom) and node.module != "conclust"
            for alias in node.names
        }

    def _files(self, name: str) -> set[str]:
        """Return the files that an import of a dotted name loads: packages on the way, too."""
        first, *rest = name.split(".")
        at = _PACKAGES[first]
        files = {f"{at}/__init__.py"}
        for part in rest:
            at = f"{at}/{part}"
            files |= {f"{at}/__init__.py", f"{at}.py"}
        return files & self.paths


def _python(text: str) -> str:
    """Return the code without comments, docstrings and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                body[0] = ast.Pass()
    return ast.dump(tree)


def _names(tree: ast.AST) -> set[str]:
    """Return the dotted names that a module imports; of ``from a import b`` both a and a.b."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


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
    sources = [*_PACKAGES.values(), ":!experiments/*/result", ":!*.md", ":!*.md.in"]
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
