"""Ctrl-C while numbers of clusters are compared: it ends the work."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import pytest

from conclust.selection import choose

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="POSIX signals"),
    pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning"),
]


class Interrupting:
    """Standard error that simulates Ctrl-C when a line with these words is written."""

    def __init__(self, words: str) -> None:
        self.words = words

    def write(self, text: str) -> None:
        if self.words in text:
            signal.raise_signal(signal.SIGINT)

    def flush(self) -> None:
        """Do nothing."""


@pytest.fixture
def listening():
    """Handle Ctrl-C like a foreground process; one started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("n_jobs", [2])
@pytest.mark.parametrize("words", ["resampled K = 2", " references", "measured K = 3"])
@pytest.mark.usefixtures("listening")
def test_ctrl_c_ends_every_stage(monkeypatch, words, n_jobs):
    X = np.random.default_rng(0).normal(size=(60, 3))
    monkeypatch.setattr(sys, "stderr", Interrupting(words))
    with pytest.raises(KeyboardInterrupt):
        choose(X, [2, 3], n_resamples=10, n_references=40, random_state=0, verbose=1, n_jobs=n_jobs)
