"""The examples of docs/ do what they say."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md") if ">>>" in path.read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page(page):
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0
