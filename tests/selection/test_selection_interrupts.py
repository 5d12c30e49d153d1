"""Ctrl-C while numbers of clusters are compared: it ends the work, and finished parts are kept."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time

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
def test_ctrl_c_ends_every_stage_and_the_cache_resumes(tmp_path, monkeypatch, words, n_jobs):
    X = np.random.default_rng(0).normal(size=(60, 3))
    given = {"k": [2, 3], "n_resamples": 10, "n_references": 40, "random_state": 0}
    plain = choose(X, **given)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", Interrupting(words))
        with pytest.raises(KeyboardInterrupt):
            choose(X, **given, cache_dir=tmp_path, verbose=1, n_jobs=n_jobs)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("reference-*.json")}
    least, most = {"resampled K = 2": (0, 0), " references": (1, 39), "measured K = 3": (40, 40)}[
        words
    ]
    assert least <= len(kept) <= most
    repeated = choose(X, **given, cache_dir=tmp_path)
    assert repeated.null.tobytes() == plain.null.tobytes()
    assert repeated.p_value == plain.p_value
    assert all(path.stat().st_mtime_ns == at for path, at in kept.items())  # not made again


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_the_shell_reports_the_signal_and_resumes(tmp_path, number):
    X = np.random.default_rng(0).normal(size=(150, 3))
    np.save(tmp_path / "x.npy", X)
    main = (
        "import signal, sys\nfrom conclust.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", main, "select", str(tmp_path / "x.npy"), "--k", "2:5", "--out"]
    command += [str(tmp_path / "out"), "--jobs", "2", "--cache", str(tmp_path / "kept")]
    # Enough references for about a minute: the signal comes when some of them are finished.
    process = subprocess.Popen(
        [*command, "--references", "4999"], stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + 120
        while len(list((tmp_path / "kept").rglob("reference-*.json"))) < 5:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(number)
        _, printed = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + number, printed
    assert "nothing was written" in printed
    assert str(tmp_path / "kept") in printed
    assert "Traceback" not in printed
    assert not (tmp_path / "out").exists()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("reference-*")}
    assert 5 <= len(before) < 4999
    done = subprocess.run([*command, "--references", "19", "--quiet"], check=True)
    assert done.returncode == 0
    # The numbering of references does not depend on their total number: finished ones are reused.
    assert all(path.stat().st_mtime_ns == at for path, at in before.items())
    with (tmp_path / "out" / "criteria.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    selection = choose(X, range(2, 6), n_references=19, random_state=0)
    assert [float(row["rcsi"]) for row in rows] == selection.table["rcsi"].tolist()
