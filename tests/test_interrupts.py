"""Ctrl-C inside of long fits takes effect within a second, and leaves the estimator unchanged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from tests.cases import planted

import conclust as cc
from conclust._kernels import dips_of_sorted
from conclust._threads import UnwantedError, heeding, side_by_side
from conclust.consensus.mixture import nonparametric
from conclust.consensus.probabilistic.placements.factored_model import FactoredModel, padded
from conclust.generation.crew import Crew
from conclust.generation.runs import run_kmeans
from conclust.neighbours import find_neighbours

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

# Each takes more than two seconds, most of it in one or few calls of a kernel.
FITS = {
    "factored": (cc.PCC(60, divergence="l2", n_init=1, n_jobs=1), 100_000, 100),
    "factored, two threads": (cc.PCC(60, divergence="l2", n_init=1, n_jobs=2), 100_000, 100),
    "landmarks": (cc.PCC(20, n_jobs=1), 60_000, 40),
    "linkage of rows": (cc.LWEA(6), 30_000, 20),
    "walks": (cc.PTGP(6, n_jobs=1), 30_000, 20),
    "nearest": (cc.MDEC(6), 30_000, 20),
    "aspects": (cc.DyadicAspect(6, max_dense=10_000), 10_000, 20),
    "mixed draws": (cc.BayesianEnsemble(6, solver="gibbs", n_init=1, max_iter=2), 60_000, 20),
    "expected loss": (cc.BayesEstimate(n_jobs=1), 60_000, 100),
    "expected loss, two threads": (cc.BayesEstimate(loss="nid", n_jobs=2), 60_000, 100),
    "draws": (cc.NonparametricBayesianEnsemble(), 60_000, 20),
}


def seeded(estimator):
    return (
        estimator.set_params(random_state=0)
        if "random_state" in estimator.get_params()
        else estimator
    )


def interrupted(run):
    """Send Ctrl-C after 0.7 CPU seconds of `run`; return the additional seconds, and the traceback."""
    begun, pressed, ended = time.process_time(), [], threading.Event()

    def press():
        # By the CPU's clock: on a busy machine the work may have had little of a second.
        while time.process_time() < begun + 0.7 and not ended.wait(0.01):
            pass
        if not ended.is_set():
            pressed.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)

    def pressed_in():
        presser.start()
        try:
            run()
        finally:
            ended.set()
            presser.join()

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            pressed_in()
        return time.process_time() - pressed[0], caught.traceback
    finally:
        signal.signal(signal.SIGINT, handler)


def heard(run, within=1.0):
    """Return the traceback of a Ctrl-C that took effect in time, at the first, second or third try.
    Code that does not check is late every time; a busy machine may be late once.
    """
    for _ in range(3):
        late, trace = interrupted(run)
        if late < within:
            break
    assert late < within
    return trace


@pytest.mark.parametrize("name", FITS)
def test_ctrl_c_ends_a_fit_without_traces(name):
    estimator, n, m = FITS[name]
    labels, _ = planted(0, n, m, 8, flip=0.4)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    before = dict(vars(estimator))
    trace = heard(lambda: estimator.fit(labels))
    assert vars(estimator) == before
    assert any(entry.name == "_fit" for entry in trace)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_one_kernel_call(threads):
    n, k = 120_000, 100
    ensemble = cc.Ensemble(planted(0, n, 20, 8, flip=0.4)[0])
    solver = FactoredModel.of(ensemble).solver(ensemble.label_view, k)
    Y = padded(np.random.default_rng(0).dirichlet(np.ones(k), n))
    solver.rebuild(Y, threads)
    heard(lambda: solver.sweep(Y, 0.0, 0.0, threads))


def long_means(threads):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 8))
    runs = [np.arange(len(X), dtype=np.int32)] * 4
    return lambda: run_kmeans(
        X, 60, np.array(runs), np.arange(4, dtype=np.uint64), threads=threads, max_iter=300
    )


def long_dips(threads):
    samples = np.sort(np.random.default_rng(0).random((3000, 4000)), axis=1)
    out = np.empty(len(samples))
    return lambda: [dips_of_sorted(samples, out, threads) for _ in range(100)]


def long_pairs(threads):
    ensemble = cc.Ensemble(planted(0, 20_000, 200, 8, flip=0.4)[0])
    i = np.random.default_rng(0).integers(0, 20_000, 30_000_000)
    return lambda: cc.evidence.pair_counts(ensemble, i, i[::-1].copy(), n_jobs=threads)


def long_nearest(threads):
    """Objects are counted with all others: a kernel in the parallel loop of another."""
    ensemble = cc.Ensemble(planted(0, 60_000, 20, 8, flip=0.4)[0])
    return lambda: cc.evidence.nearest_pairs(ensemble, 20, n_jobs=threads)


def long_ties(threads):
    """A third of the objects are the nearest of each."""
    objects = np.arange(12_000)
    ensemble = cc.Ensemble(np.column_stack([objects, objects // 2, objects % 3]))
    return lambda: cc.evidence.nearest_pairs(ensemble, 3, n_jobs=threads)


def long_bounded_ties(threads):
    ensemble = cc.Ensemble(planted(0, 8_000, 5, 8, flip=0.3)[0])
    return lambda: cc.evidence.nearest_pairs(ensemble, 20, max_partners=30, n_jobs=threads)


def long_searches(threads):
    points = np.random.default_rng(0).normal(size=(14_000, 900))
    return lambda: find_neighbours(points, 20, n_jobs=threads)


def long_communities(threads):
    points = np.random.default_rng(0).normal(size=(9000, 3))
    generator = cc.EnsembleGenerator("graph", 200, random_state=0, n_jobs=threads)
    return lambda: generator.fit(points)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "work",
    [
        long_means,
        long_dips,
        long_pairs,
        long_nearest,
        long_ties,
        long_bounded_ties,
        long_searches,
        long_communities,
    ],
)
def test_ctrl_c_ends_kernels_outside_fits(work, threads):
    heard(work(threads))


def test_workers_in_threads_are_cancelled():
    begun = []

    def member(stopped, number):
        begun.append(number)
        long_means(1)()

    def members():
        begun.clear()
        with Crew(2, "threads", "test") as crew:
            list(crew.run(member, ((number,) for number in range(20))))

    heard(members)
    assert len(begun) < 10


def test_starts_that_were_not_begun_are_skipped():
    labels, _ = planted(0, 5000, 60, 8, flip=0.6)
    model = cc.QMI(20, n_init=400, random_state=0, n_jobs=2, tol=0.0)
    heard(lambda: model.fit(labels), within=1.5)


def test_a_pool_starts_nothing_after_an_error():
    begun = []

    def work(item):
        begun.append(item)
        time.sleep(0.02)
        if item == 1:
            raise ValueError("on purpose")
        return item

    with pytest.raises(ValueError, match="on purpose"), side_by_side(2) as mapped:
        list(mapped(work, range(100)))
    assert len(begun) < 50


def test_a_kernel_ends_in_a_thread_that_is_cancelled():
    stop = threading.Event()
    done = []

    def work():
        with heeding(stop.is_set), pytest.raises(UnwantedError):
            long_means(1)()
        done.append("unwanted")

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    stop.set()
    thread.join(30)
    assert done == ["unwanted"]


# ---- the command during imports

# The start of the script written by pip. The first import after the handlers are set is reported to the test.
SCRIPT = """
import re, sys
class Listed:
    def find_spec(self, name, *_):
        if name == "conclust.cli":
            print("handled", flush=True)
sys.meta_path.insert(0, Listed())
from conclust.__main__ import process
process()
"""


@pytest.fixture(scope="module")
def long_command(tmp_path_factory):
    """Return a command that takes seconds, most of them outside of imports."""
    folder = tmp_path_factory.mktemp("early")
    np.save(folder / "points.npy", np.random.default_rng(0).normal(size=(20_000, 12)))
    return ["cluster", str(folder / "points.npy"), "--out", str(folder / "out"), "-q"]


@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_prints_one_line_from_its_first_import_on(
    long_command, seconds, number, code
):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *long_command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout.readline() == b"handled\n"
    time.sleep(seconds)
    process.send_signal(number)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == code
    assert printed.startswith(b"conclust")
    assert printed.count(b"\n") == 1, printed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_an_import_that_hides_exceptions_ends_the_command(number, tmp_path):
    """Extension modules, such as NumPy's, turn each exception of their imports into ImportError."""
    (tmp_path / "hiding.py").write_text(
        "import os, signal, time\n"
        "try:\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "    time.sleep(0.05)\n"
        "except BaseException as error:\n"
        "    raise ImportError('hidden') from error\n"
    )
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from conclust.cli import _terminable\n"
        "try:\n"
        "    with _terminable(ending=False):\n"
        "        import hiding\n"
        "        time.sleep(30)\n"
        "except BaseException as error:\n"
        "    print(type(error).__name__, 'hiding' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20
    )
    name = "KeyboardInterrupt" if number == signal.SIGINT else "_Terminated"
    assert done.stdout == f"{name} True\n"


def test_nothing_is_imported_before_signals_are_handled():
    code = (
        "import re, sys, contextlib, importlib.machinery, importlib.util; before = set(sys.modules); import conclust.__main__\n"
        "print(sorted(set(sys.modules) - before))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert set(eval(printed.stdout)) <= {"conclust", "conclust.__main__", "signal"}


@pytest.mark.parametrize(
    "module", ["conclust.cli.parser", "conclust.exceptions", "argparse", "numpy"]
)
def test_ctrl_c_in_the_middle_of_an_import(module, tmp_path):
    """Tests each slow module, and those of the command that imports them."""
    np.save(tmp_path / "labels.npy", np.tile([[0], [1]], (5, 3)))
    script = SCRIPT.replace('"conclust.cli"', repr(module)).replace(
        'print("handled", flush=True)', "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    )
    command = [
        "combine",
        str(tmp_path / "labels.npy"),
        "-k",
        "2",
        "-q",
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", script, *command],
        capture_output=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        check=False,
    )
    assert done.returncode == 130
    assert done.stderr.startswith(b"conclust")
    assert done.stderr.count(b"\n") == 1, done.stderr
    assert not (tmp_path / "out").exists()


def test_ctrl_c_ends_the_division_of_counts_of_all_pairs(monkeypatch):
    model = cc.NonparametricBayesianEnsemble(n_draws=2, n_burn_in=0, random_state=0)
    model.fit(np.zeros((4, 2), dtype=int))
    counts = np.ones((12_000, 12_000), dtype=np.int16)
    model.labels_ = np.zeros(len(counts), dtype=int)
    monkeypatch.setattr(nonparametric, "coassociation", lambda *_, **__: counts)

    def run():
        for _ in range(20):
            cc.posterior_coclustering(model)

    heard(run)
