"""The definitions of a source: functions, classes and variables, what each uses, and a digest of what it does.

The digest leaves out what decides no number: comments, docstrings, annotations, layout, the names of local variables,
messages (errors, warnings, progress), and the place of the definition.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

__all__ = ["Definition", "Source", "digest_of", "kernel_digest", "read_source"]

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Their arguments are words for users.
_SAYING = frozenset({"Method", "advance", "refuse", "say", "stage", "warn"})
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Definition:
    """A name, a digest of what stands behind it, and the names that this uses."""

    name: str
    digest: str
    uses: frozenset[str]


@dataclass
class Source:
    """The definitions of a file, and what its imported names stand for.

    Attributes
    ----------
    definitions : dict of str to Definition
        By name. The statements of a module that define nothing are "".
    imports : dict of str to str
        From a name in the file to the dotted name imported.
    """

    definitions: dict[str, Definition] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)


@cache  # files that are the same at several commits are read once
def read_source(text: str) -> Source:
    """Return the definitions and imports of a Python source."""
    tree, found = ast.parse(text), Source()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                found.imports[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found.imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    parts: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _defined(statement):
            parts.setdefault(name, []).append(statement)
    for name, statements in parts.items():
        code = [_plain(statement) for statement in statements]
        uses = frozenset(use for statement in code for use in _used(statement))
        text = "\n".join(ast.dump(statement) for statement in code)
        found.definitions[name] = Definition(name, digest_of(text), uses - {name})
    return found


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines; "" where it is run for something else."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [
            node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
        ]
        return [name for name in names if name != "__all__"]
    if isinstance(statement, ast.Import | ast.ImportFrom) or _is_text(statement):
        return []
    if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
        return []
    return [""]


def _plain(statement: ast.stmt) -> ast.stmt:
    """Return a statement without what decides no number."""
    # A copy: a statement may define several names.
    node = _Plain().visit(copy.deepcopy(statement))
    for inner in ast.walk(node):
        if isinstance(inner, _FUNCTIONS):
            _number_locals(inner)
    return ast.fix_missing_locations(node)


class _Plain(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if _is_text(node) else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise(exc=None, cause=None)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in _SAYING:
            return ast.Call(func=node.func, args=[], keywords=[])
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(arg=node.arg, annotation=None)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.generic_visit(ast.Assign(targets=[node.target], value=node.value, lineno=0))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Declared parameters are those of a constructor that only stores them."""
        body: list[ast.stmt] = []
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                body += _stored(part) or [part]
            elif ast.unparse(getattr(part, "value", None) or part) != "field(init=False)":
                body.append(part)
        node.body = body
        keep = "dataclass(eq=False, repr=False)"
        node.decorator_list = [one for one in node.decorator_list if ast.unparse(one) != keep]
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None


def _stored(constructor: ast.FunctionDef) -> list[ast.stmt]:
    """Return the parameters and defaults of a constructor as variables of the class, if it only stores them."""
    given = constructor.args
    names = [one.arg for one in (*given.args[1:], *given.kwonlyargs)]
    defaults = [*given.defaults, *given.kw_defaults]
    lines = [ast.unparse(line) for line in constructor.body]
    if lines != [f"self.{name} = {name}" for name in names] or len(defaults) != len(names):
        return []
    return [
        ast.Assign(targets=[ast.Name(name, ast.Store())], value=default, lineno=0)
        for name, default in zip(names, defaults, strict=True)
        if default is not None
    ]


def _number_locals(function: ast.AST) -> None:
    """Number the variables that a function assigns, in the order of their first assignment."""
    stored = [
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    number = {name: f"local {place}" for place, name in enumerate(dict.fromkeys(stored))}
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            node.id = number.get(node.id, node.id)


def _used(node: ast.AST) -> Iterator[str]:
    """Yield names that code uses, alone ("pools") and with attributes ("pools.read"), and words that may be names."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield ast.unparse(inner)
        elif (
            isinstance(inner, ast.Constant)
            and isinstance(inner.value, str)
            and inner.value.isidentifier()
        ):
            yield f"'{inner.value}"


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def digest_of(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def kernel_digest(text: str) -> str:
    """Return the digest of a C++ source without comments and layout."""
    return digest_of(" ".join(_COMMENTS.sub("", text).split()))
