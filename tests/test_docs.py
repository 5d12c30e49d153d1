"""The pages of docs/: their examples run, and the names in them exist."""

from __future__ import annotations

import ast
import builtins
import contextlib
import doctest
import functools
import importlib
import inspect
import re
import shlex
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Self, get_type_hints

import numpy as np
import pytest
import sklearn.metrics
from sklearn.utils import all_estimators

import conclust
from conclust.cli.parser import build_parser
from conclust.selection import choose

DOCS = Path(__file__).resolve().parent.parent / "docs"
# Pages that need anndata: tests/sc/test_examples.py.
ELSEWHERE = ("how-to/combine_cells.md", "how-to/combine_domains.md")
PAGES = sorted(
    path.relative_to(DOCS).as_posix()
    for path in DOCS.rglob("*.md")
    if "made" not in path.parts and ">>>" in path.read_text("utf-8")
    if path.relative_to(DOCS).as_posix() not in ELSEWHERE
)


@functools.cache
def run(page: str) -> tuple[doctest.TestResults, dict[str, Any]]:
    """Run the examples of a page; return the outcome, and the names that they define."""
    text = (DOCS / page).read_text("utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page, str(DOCS / page), 0)
    with warnings.catch_warnings():
        # Depends on the clock, also on a busy machine.
        warnings.filterwarnings("ignore", message=".* references will take about")
        actual = doctest.DocTestRunner().run(test, clear_globs=False)
    return actual, test.globs


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page_run(page):
    actual, _ = run(page)
    assert actual.attempted > 0
    assert actual.failed == 0


# A page of tables: the first column has names of R, the other columns names of conclust, as expressions with
# the names that the page's examples define; text may have either. Each name must be found, with its
# parameters.


@dataclass
class Spot:
    """The code spans of one place, a cell or a paragraph, with the context that they refer to."""

    spans: list[str]
    header: str | None = None
    words: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Of:
    """An instance of a class that was not created."""

    cls: type


ANY = object()


def spots(text: str) -> tuple[list[Spot], set[str]]:
    """Return the places of a page that name something of conclust, and the words of the first columns."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    places: list[Spot] = []
    theirs: set[str] = set()
    for paragraph in re.split(r"\n\s*\n|\n(?=[-#] )", text):
        lines = paragraph.strip().splitlines()
        if not lines or not lines[0].startswith("|"):
            places.append(Spot(spans_of(" ".join(lines))))
            continue
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        headers = [spans_of(cell) for cell in rows[0]]
        for row in rows[:1] + rows[2:]:
            assert len(row) == len(headers), row
            first = {
                word for span in spans_of(row[0]) for word in [span, *re.findall(r"[\w.]+", span)]
            }
            theirs |= first
            for cell, header in zip(row[1:], headers[1:], strict=True):
                places.append(Spot(spans_of(cell), header[0] if header else None, frozenset(first)))
    return places, theirs


def spans_of(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


class Unknown(Exception):
    """A name that does not exist."""


class Names:
    """The names of a page, and their attributes."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = {**vars(sklearn.metrics), **dict(all_estimators()), **given}

    def resolve(self, node: ast.AST, words: frozenset[str]) -> Any:
        """Evaluate an expression without calls: a value, `Of` the type that a call returns, or ANY."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name(name):
                if name in self.given:
                    return self.given[name]
                if name in words:
                    return ANY
                if hasattr(builtins, name):
                    return getattr(builtins, name)
                with contextlib.suppress(ImportError):
                    return importlib.import_module(name)
                raise Unknown(name)
            case ast.Attribute(value, attribute):
                return member(self.resolve(value, words), attribute)
            case ast.Call(function, arguments, keywords):
                called = self.resolve(function, words)
                for argument in [*arguments, *[keyword.value for keyword in keywords]]:
                    self.resolve(argument, words)
                given = outcome(called, len(arguments), [keyword.arg for keyword in keywords])
                if isinstance(function, ast.Attribute) and gives_itself(called):
                    return self.resolve(function.value, words)
                return given
            case ast.Subscript(value, index):
                base = self.resolve(value, words)
                self.resolve(index, words)
                if base is ANY or isinstance(base, Of):
                    return ANY
                return eval(compile(ast.Expression(node), "page", "eval"), dict(self.given))
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.resolve(child, words)
                return ANY


def member(base: Any, name: str) -> Any:
    """Return an attribute of a value, or of the documented attributes of a class."""
    if base is ANY:
        return ANY
    if not isinstance(base, Of):
        if isinstance(base, ModuleType) and not hasattr(base, name):
            with contextlib.suppress(ImportError):
                return importlib.import_module(f"{base.__name__}.{name}")
        if not hasattr(base, name):
            raise Unknown(f"{base!r:.60} has no {name}")
        return getattr(base, name)
    if name in hints_of(base.cls):
        hint = hints_of(base.cls)[name]
        return Of(hint) if inspect.isclass(hint) else ANY
    if hasattr(base.cls, name):
        actual = inspect.getattr_static(base.cls, name)
        return getattr(base.cls, name) if callable(actual) else ANY
    documented = re.findall(
        r"^ {4}(\w+(?:, \w+)*) : ", inspect.getdoc(base.cls) or "", re.MULTILINE
    )
    documented += re.findall(r"^(\w+(?:, \w+)*) : ", inspect.getdoc(base.cls) or "", re.MULTILINE)
    if name not in {word for words in documented for word in words.split(", ")}:
        raise Unknown(f"{base.cls.__name__} has no {name}")
    return ANY


def hints_of(thing: Any) -> dict[str, Any]:
    try:
        return get_type_hints(thing)
    except (NameError, TypeError):
        return {}


def outcome(called: Any, n_arguments: int, keywords: list[str | None]) -> Any:
    """Return the result of a call; Unknown if it does not accept an argument."""
    if called is ANY:
        return ANY
    if not callable(called):
        raise Unknown(f"{called!r:.60} cannot be called")
    try:
        signature = inspect.signature(called)
    except ValueError:  # some built-in functions have none
        return ANY
    unbound = inspect.isfunction(called) and "self" in signature.parameters
    try:
        signature.bind_partial(
            *[ANY] * (n_arguments + unbound), **{word: ANY for word in keywords if word}
        )
    except TypeError as error:
        raise Unknown(f"{called!r:.60}: {error}") from None
    if inspect.isclass(called):
        return Of(called)
    returned = hints_of(called).get("return")
    return Of(returned) if inspect.isclass(returned) else ANY


def gives_itself(called: Any) -> bool:
    return getattr(called, "__annotations__", {}).get("return") in ("Self", Self)


def parameters(thing: Any) -> set[str]:
    target = thing.cls if isinstance(thing, Of) else thing
    try:
        return set(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        return set()


def wrong(spot: Spot, names: Names, theirs: set[str]) -> Iterator[str]:
    """Yield the names that do not exist."""
    header = None
    if spot.header is not None:
        with contextlib.suppress(Unknown, SyntaxError):
            header = names.resolve(ast.parse(spot.header, mode="eval").body, frozenset())
    documented: list[Any] = [] if header is None else [header]
    waiting: list[str] = []
    for span in spot.spans:
        if span.startswith("conclust "):
            try:
                build_parser().parse_args(shlex.split(span)[1:])
            except SystemExit:
                yield span
            continue
        if not spot.words and span in theirs:
            continue
        try:
            tree: ast.AST = ast.parse(span, mode="eval").body
        except SyntaxError:  # a parameter and its value, of what the column is about
            try:
                call = ast.parse(f"f({span})", mode="eval").body
                assert isinstance(call, ast.Call)
                if header is None:
                    raise Unknown("a parameter of what?")
                outcome(header, 0, [keyword.arg for keyword in call.keywords])
                for keyword in call.keywords:
                    names.resolve(keyword.value, spot.words)
            except (SyntaxError, Unknown) as error:
                yield f"{span}: {error}"
            continue
        try:
            documented.append(names.resolve(tree, spot.words))
            if isinstance(tree, ast.Call):
                documented.append(names.resolve(tree.func, spot.words))
        except Unknown as error:
            if isinstance(tree, ast.Name):
                waiting.append(span)
            else:
                yield f"{span}: {error}"
    for word in waiting:  # a parameter or an attribute of something that is named beside it
        for thing in documented:
            with contextlib.suppress(Unknown):
                if word in parameters(thing):
                    break
                if thing is not ANY and member(
                    Of(thing) if inspect.isclass(thing) else thing, word
                ):
                    break
        else:
            yield word


@pytest.mark.parametrize(
    ("page", "least"),
    [("coming_from_r.md", 300), ("coming_from_python.md", 60), ("coming_from_salso.md", 60)],
)
def test_names_on_the_page_for_r_users_exist(page, least):
    _, given = run(page)
    places, theirs = spots((DOCS / page).read_text("utf-8"))
    names = Names(given)
    assert sum(len(spot.spans) for spot in places) > least
    assert [
        f"{error} in {spot.spans}" for spot in places for error in wrong(spot, names, theirs)
    ] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("`choose(X, n_resample=5)`", "n_resample"),
        ("`choose(X).n_cluster`", "n_cluster"),
        ("`metrics.rand`", "rand"),
        ("`cc.EAK`", "EAK"),
        ("`cc.EAC(k).fit(X).label_`", "label_"),
        ("`linkage` of `cc.QMI`", "linkage"),
        ("`nowhere`", "nowhere"),
        ("`conclust select points.csv --ks 2:10`", "--ks"),
        ("| `a` | `choose` |\n| --- | --- |\n| `b` | `reps=b` |", "reps"),
        ("| `a` | `choose` |\n| --- | --- |\n| `b` | `n_resamples=c` |", "c"),
        ("`choose(X, n_resamples=5)`, `n_jobs` of it; `cc.EAC(k).fit(X).labels_`", None),
        ("| `a` | `choose` |\n| --- | --- |\n| `b` | `n_resamples=b` |", None),
    ],
)
def test_missing_names_are_detected(text, said):
    given = {"choose": choose, "cc": conclust, "metrics": conclust.metrics, "X": np.eye(3), "k": 2}
    places, theirs = spots(text)
    values = [error for spot in places for error in wrong(spot, Names(given), theirs)]
    assert bool(values) == (said is not None)
    assert said is None or said in values[0]
