"""Threads in processes: interrupts, forks, absurd numbers of threads."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from conclust import PCC, EnsembleGenerator, _threads
from conclust.exceptions import ParameterError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals and forks")

# A member spends about a second in C++ that releases Python's lock every few milliseconds. Shutting
# down the interpreter also takes a second, in which remaining threads would request the lock.
_MEMBERS = """
import os, signal, sys, time
import joblib, numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from conclust import EnsembleGenerator, _threads
signal.signal(signal.SIGINT, signal.default_int_handler)  # not so in a background job
_threads._most = lambda: 2
class Last:
    sleep = staticmethod(time.sleep)
    def __del__(self):
        self.sleep(1)
last = Last()
B = np.ones((200, 200))
class Slow(ClusterMixin, BaseEstimator):
    def __init__(self, random_state=None):
        self.random_state = random_state
    def fit_predict(self, X, y=None):
        os.write(1, b"at work\\n")  # whole, whoever else writes
        end = time.monotonic() + 1
        while time.monotonic() < end:
            cdist(B, B, "sqeuclidean")
        if FAIL:
            raise RuntimeError("failed")
        return np.arange(len(X)) % 3
    def fit(self, X, y=None):
        self.labels_ = self.fit_predict(X)
        return self
try:
    with joblib.parallel_config(backend="threading"):
        EnsembleGenerator([Slow()], 1000, n_jobs=2, random_state=0).fit(np.ones((9, 2)))
except KeyboardInterrupt:
    sys.exit(130)
except RuntimeError:
    sys.exit(3)
"""


def _begin(command):
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


def _ended(process, *, send=(), between=0.0):
    """Send signals; return the exit code, the output, and the elapsed seconds."""
    start = time.monotonic()
    try:
        for number in send:
            process.send_signal(number)
            time.sleep(between)
        _, printed = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, printed, time.monotonic() - start


def test_an_interrupt_waits_for_running_members():
    process = _begin([sys.executable, "-c", "FAIL = False" + _MEMBERS])
    assert [process.stdout.readline() for _ in range(2)] == ["at work\n"] * 2
    code, printed, seconds = _ended(process, send=[signal.SIGINT])
    assert (code, printed) == (130, "")
    assert seconds < 30  # a thousand members would take eight minutes


def test_repeated_interrupts_do_not_abort_the_process():
    process = _begin([sys.executable, "-c", "FAIL = False" + _MEMBERS])
    assert [process.stdout.readline() for _ in range(2)] == ["at work\n"] * 2
    code, printed, _ = _ended(process, send=[signal.SIGINT] * 3, between=0.15)
    # During interpreter shutdown another interrupt ends the process by its signal.
    assert code in (130, -signal.SIGINT), printed


def test_an_error_waits_for_running_members():
    process = _begin([sys.executable, "-c", "FAIL = True" + _MEMBERS])
    code, printed, _ = _ended(process)
    assert (code, printed) == (3, "")


@pytest.mark.parametrize(
    ("signals", "code"), [([signal.SIGINT] * 4, 130), ([signal.SIGTERM], 143)], ids=["many", "term"]
)
def test_the_shell_reports_the_signal_that_ended_it(tmp_path, signals, code):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(20_000, 2)))
    main = (
        "import signal, sys\nfrom conclust import _threads\nfrom conclust.cli import process\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n_threads._most = lambda: 2\n"
        "process()"
    )
    words = ["cluster", str(tmp_path / "x.npy"), "--partitions", "2000", "--jobs", "2", "-v"]
    process = _begin([sys.executable, "-c", main, *words, "--out", str(tmp_path / "out")])
    while " members," not in (line := process.stderr.readline()):
        assert line, "ended before it began"
    actual, printed, _ = _ended(process, send=signals, between=0.02)
    # A signal that meets Python's last steps ends it by itself, for which a shell says the same code.
    assert actual in (code, -signals[0]), printed
    assert "nothing was written" in printed
    assert "Traceback" not in printed
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


_FORK = """
import multiprocessing, os, sys, warnings
import numpy as np
import conclust as cc
from conclust import _threads
_threads._most = lambda: 2
warnings.simplefilter("ignore")  # of threads and forks, and of two sweeps
L = np.random.default_rng(0).integers(0, 5, (20_000, 12))
def fit(_):
    pcc = cc.PCC(5, divergence="l2", n_jobs=2, max_iter=2, random_state=0).fit(L)
    qmi = cc.QMI(5, random_state=0, n_jobs=2, n_init=2).fit(L[:2000])
    gram = cc.Ensemble(L).gram.sum()
    made = cc.EnsembleGenerator("kmeans", n_partitions=4, n_jobs=2, random_state=0).fit_transform(L[:300])
    return pcc.labels_.tobytes(), qmi.labels_.tobytes(), gram, made.tobytes()
here = fit(0)
with multiprocessing.get_context("fork").Pool(2) as pool:
    there = pool.map_async(fit, range(2)).get(timeout=100)
assert all(found == here for found in there)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_forked_children_give_the_results_of_their_parent():
    done = subprocess.run(
        [sys.executable, "-c", _FORK], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_forked_child_uses_one_thread(monkeypatch):
    assert _threads.thread_count(3) == 3
    monkeypatch.setattr(_threads, "_forked", False)
    _threads._hold_to_one()
    assert [_threads.thread_count(n_jobs) for n_jobs in (None, 3, -1)] == [1, 1, 1]


def test_there_are_at_most_as_many_threads_as_processors(monkeypatch):
    monkeypatch.setattr(_threads, "_most", _threads._processors)
    processors = _threads._processors()
    asked = (100_000, 2**40, 2**70, np.int64(10**6), -1, None)
    assert [_threads.thread_count(n_jobs) for n_jobs in asked] == [processors] * 6
    assert [_threads.thread_count(n_jobs) for n_jobs in (-(2**40), -(2**70), np.int8(1))] == [1] * 3
    labels = [[0, 0], [1, 1], [1, 0]]
    points = np.random.default_rng(0).normal(size=(10, 2))
    for n_jobs in (100_000, 2**40, np.int64(2), -(2**70)):
        actual = PCC(2, divergence="l2", n_jobs=n_jobs, random_state=0).fit(labels).membership_
        assert np.array_equal(
            actual, PCC(2, divergence="l2", random_state=0).fit(labels).membership_
        )
        generator = EnsembleGenerator(
            "kmeans", n_partitions=4, n_clusters=[2], n_jobs=n_jobs, random_state=0
        )
        made = generator.fit_transform(points)
        assert np.array_equal(made, generator.set_params(n_jobs=1).fit_transform(points))
        assert np.array_equal(made, generator.set_params(n_jobs=n_jobs).transform(points))


@pytest.mark.parametrize("n_jobs", [0, True, 2.0, "2", np.float64(2), np.int64(0)])
def test_invalid_numbers_of_threads_are_refused(n_jobs):
    with pytest.raises(ParameterError, match="'n_jobs' parameter of PCC must be a non-zero int"):
        PCC(2, n_jobs=n_jobs).fit([[0, 0], [1, 1], [1, 0]])
    with pytest.raises(ParameterError, match="'n_jobs' parameter of EnsembleGenerator must be a"):
        EnsembleGenerator("kmeans", n_jobs=n_jobs).fit(np.ones((9, 2)))


@pytest.mark.parametrize(("text", "count"), [("1", 1), ("1,2", 1), ("²", None), ("x", None)])
def test_the_environment_sets_the_number_of_threads(monkeypatch, text, count):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert _threads.thread_count(None) == (count or _threads._processors())
