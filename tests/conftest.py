"""What every test runs under."""

import os

# Before the kernels load: workers side by side have fewer cores than threads, and threads that spin while
# they wait take a quarter of the time from the others.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import pytest

from conclust import _threads


@pytest.fixture(autouse=True)
def as_many_threads_as_asked_for(monkeypatch):
    """Let tests ask for more threads than this machine has processors."""
    monkeypatch.setattr(_threads, "_most", lambda: 16)
