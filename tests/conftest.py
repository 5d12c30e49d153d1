"""What every test runs under."""

import pytest

from conclust import _threads


@pytest.fixture(autouse=True)
def as_many_threads_as_asked_for(monkeypatch):
    """Let tests ask for more threads than this machine has processors."""
    monkeypatch.setattr(_threads, "_most", lambda: 16)
