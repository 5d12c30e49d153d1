"""Docstrings are valid reStructuredText, checked without Sphinx."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import conclust

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "conclust"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Parts that are not prose: literals, roles, quoted code, doctests.
LITERAL = re.compile(r"``.+?``|:\w+:`[^`]+`|`[^`]+`_?", re.DOTALL)
REFERENCE = re.compile(r"(?<![\w`])[A-Za-z]\w*_(?![\w`])")
SUBSTITUTION = re.compile(r"(?<![\w|])\|(?=[^\s|])")
EMPHASIS = re.compile(r"(?<![\w*/)\]])\*{1,2}(?=[\w(])(?![^*\n]*\w\*)")

# Sections of running text, where only a list is set in; "" is what stands before the first.
RUNNING = ("", "Notes", "References")


def docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            doc = ast.get_docstring(node)
            if doc:
                yield getattr(node, "name", "the module"), doc


def prose(doc):
    """Return the text without doctests and literal blocks, and with "…" for literals."""
    lines, code, literal, indent = [], False, False, 0
    for line in doc.splitlines():
        here = len(line) - len(line.lstrip())
        if code and line.strip() and here <= indent:
            code = False
        if line.lstrip().startswith((">>>", "...")):
            code, literal, indent = True, False, here - 1
        if code and not line.strip():
            code = literal
        if not code:
            # The name that a section describes is set as a literal: only its type is prose.
            lines.append(re.sub(r"^[\w*][\w, *]* : ", "", line))
            literal = line.rstrip().endswith("::")
            if literal:
                code, indent = True, here
    return LITERAL.sub("…", "\n".join(lines))


def unexpected_indents(text):
    """Return lines of running text that are set in from the line before, as no list is meant to be."""
    found, section, before = [], "", ""
    lines = text.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"-{3,}", after.strip()):
            section = line.strip()
        deeper = len(line) - len(line.lstrip()) > len(before) - len(before.lstrip())
        marked = re.match(r"\s*([-*]|\d+\.|\.\.|>>>) ", before)
        if section in RUNNING and line.strip() and before.strip() and deeper and not marked:
            found.append(f"{line.strip()!r} is set in")
        before = line
    return found


def defects(doc):
    text = prose(doc)
    underlines = re.compile(r"^[-=]{3,}$")
    found = unexpected_indents(text)
    for line in text.splitlines():
        if underlines.match(line.strip()) or (
            re.fullmatch(r"[\w, *]+", line.strip()) and "_" in line
        ):
            continue  # the underline of a heading; the names of attributes without a type
        for what in (REFERENCE, SUBSTITUTION, EMPHASIS):
            found += [f"{match.group()!r} in {line.strip()!r}" for match in what.finditer(line)]
    return found


def test_docstrings_are_valid():
    found = [
        f"{path.relative_to(PACKAGE)}, {name}: {what}"
        for path in MODULES
        for name, doc in docstrings(ast.parse(path.read_text("utf-8")))
        for what in defects(doc)
    ]
    assert len(MODULES) > 400
    assert not found, "write names and formulas as ``literals``:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "doc",
    [
        "See n_iter_ for more.",
        "The sum |S| of all.",
        "    Passes, at most n_iter_.",
        "x : ndarray of shape (n_clusters_, 2)",
        "The *args are gone.",
        "It is so, for every one of\n    them.",
        "Notes\n-----\nIt is so, for every one of\n    them.",
    ],
)
def test_docstrings_that_sphinx_cannot_parse_are_detected(doc):
    assert defects(doc)


@pytest.mark.parametrize(
    "doc",
    [
        "See ``n_iter_`` and `labels_`, ``|S|``, :class:`a_`.",
        "labels_ : ndarray of shape (n_samples,)",
        "*Process* goes on; a * b; 2**k; a | b.",
        "It is::\n\n    |S| = n_\n\n    |T| = 2\n\nor so.",
        "References\n----------\n1. Someone: A\n   paper.\n\n- a\n  list",
        "Parameters\n----------\nx : int\n    A number.",
        "Text\n\n>>> x_ = 3\n>>> x_\n3",
    ],
)
def test_valid_docstrings_pass(doc):
    assert not defects(doc)


# How the methods declare the parameters that most of them have: type, default and, if it is always the same, the sentence.
COMMON = {
    "random_state": r"int, Generator, SeedSequence or RandomState, default=None",
    "n_jobs": r"int, default=None",
    "verbose": r"int, default=0\n +1: .*",
    "missing": r'\{"unobserved", "noise"\}, default="unobserved"\n +Meaning of -1 in label arrays given to ``fit``; see .*',
}


@pytest.mark.parametrize("name", COMMON)
def test_methods_declare_common_parameters_in_one_way(name):
    docs = {m.estimator: inspect.getdoc(getattr(conclust, m.estimator)) for m in conclust.methods()}
    having = {method: doc for method, doc in docs.items() if f"\n{name} : " in doc}
    assert len(having) > 15
    pattern = re.compile(rf"\n{name} : ({COMMON[name]})\n")
    assert not [method for method, doc in having.items() if not pattern.search(doc)]
