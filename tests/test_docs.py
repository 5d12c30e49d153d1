"""The pages of docs/: their examples run, and the names in them exist."""

from __future__ import annotations

import ast
import contextlib
import doctest
import functools
import inspect
import re
import shlex
import warnings
from pathlib import Path
from typing import Any

import pytest

from conclust.cli.parser import build_parser

DOCS = Path(__file__).resolve().parent.parent / "docs"
# Pages that need anndata: tests/sc/test_examples.py.
ELSEWHERE = ("how-to/combine_cells.md", "how-to/combine_domains.md")
PAGES = sorted(
    path.relative_to(DOCS).as_posix()
    for path in DOCS.rglob("*.md")
    if "made" not in path.parts and ">>>" in path.read_text("utf-8")
    if path.relative_to(DOCS).as_posix() not in ELSEWHERE
)


def run(page: str) -> tuple[doctest.TestResults, dict[str, Any]]:
    """Run the examples of a page; return the outcome, and the names that they define."""
    text = (DOCS / page).read_text("utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page, str(DOCS / page), 0)
    with warnings.catch_warnings():
        # Depends on the clock, also on a busy machine.
        warnings.filterwarnings("ignore", message=".* references will take about")
        actual = doctest.DocTestRunner().run(test, clear_globs=False)
    return actual, test.globs


def spans_of(page: str) -> list[str]:
    """Return the code spans of a page's text, without the first columns of tables, which name other packages."""
    text = re.sub(r"^```.*?^```", "", (DOCS / page).read_text("utf-8"), flags=re.M | re.S)
    return re.findall(r"`([^`\n]+)`", re.sub(r"^\|[^|\n]*\|", "|", text, flags=re.M))


def check_calls(page: str, names: dict[str, Any]) -> None:
    """Check that the calls and commands in the text of a page for users of another package exist."""
    checked = 0
    for span in spans_of(page):
        if span.startswith("conclust "):
            build_parser().parse_args(shlex.split(span)[1:])
            continue
        with contextlib.suppress(SyntaxError):
            for node in ast.walk(ast.parse(span, mode="eval")):
                path = ast.unparse(node.func if isinstance(node, ast.Call) else node).split(".")
                known = names.get(path[0])
                if not isinstance(node, ast.Call | ast.Attribute) or not hasattr(known, "__name__"):
                    continue
                if not re.fullmatch(r"[\w.]+", ".".join(path)) or "conclust" not in str(known):
                    continue
                thing = functools.reduce(getattr, path[1:], known)
                checked += 1
                if isinstance(node, ast.Call):
                    keywords = {word.arg: None for word in node.keywords if word.arg}
                    inspect.signature(thing).bind_partial(*[None] * len(node.args), **keywords)
    assert checked > 15


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page_run(page):
    actual, names = run(page)
    assert actual.attempted > 0
    assert actual.failed == 0
    if page.startswith("coming_from_"):
        check_calls(page, names)
