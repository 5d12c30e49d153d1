"""The examples of conclust.sc and of its page run if anndata is installed."""

import doctest
import importlib

import pytest
from tests.test_architecture import ELSEWHERE, MODULES, name_of
from tests.test_docs import ELSEWHERE as PAGES
from tests.test_docs import run

HERE = [m for m in MODULES if m.startswith(ELSEWHERE)]


@pytest.mark.parametrize("module", HERE)
def test_examples_of_a_module_run(module):
    assert doctest.testmod(importlib.import_module(name_of(module)), report=True).failed == 0


def test_modules_have_examples():
    values = [doctest.testmod(importlib.import_module(name_of(m))).attempted for m in HERE]
    assert sum(values) > 20


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page_run(page):
    actual, _ = run(page)
    assert actual.attempted > 5
    assert actual.failed == 0
