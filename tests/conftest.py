"""Settings for all tests."""

import os

# Set before the kernels load: parallel workers have fewer cores than threads, and spinning threads
# take a quarter of the time from the others.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import pytest

from conclust import _threads


@pytest.fixture(autouse=True)
def as_many_threads_as_asked_for(monkeypatch):
    """Let tests ask for more threads than this machine has processors."""
    monkeypatch.setattr(_threads, "_most", lambda: 16)
