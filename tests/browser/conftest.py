"""The browser, which all tests of a run share."""

import pytest
from tests.browser.chromium import Browser, find


@pytest.fixture(scope="session")
def browser():
    path = find()
    assert path, "make test-browser needs chromium. Install it with: sudo apt-get install chromium"
    with Browser(path) as one:
        yield one
