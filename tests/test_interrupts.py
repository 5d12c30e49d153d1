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
import scipy.sparse as sp
from tests.cases import planted

import conclust as cc
from conclust._kernels import (
    GreedySolver,
    PairCounts,
    PairwiseSolver,
    PartRefiner,
    Relabeller,
    SymmetricPattern,
    add_rem_add,
    dips_of_sorted,
    seed_points,
    sparse_single,
)
from conclust._threads import UnwantedError, heeding, side_by_side
from conclust.consensus.mixture import nonparametric
from conclust.consensus.papers.probabilistic.placements.factored_model import FactoredModel, padded
from conclust.generation.crew import Crew
from conclust.generation.runs import run_kmeans
from conclust.neighbours import find_neighbours
from conclust.similarity import jaccard

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

# Each takes more than two seconds, most of it in one or few calls of a kernel.
FITS = {
    "factored, two threads": (cc.PCC(60, divergence="l2", n_init=1, n_jobs=2), 100_000, 100),
    "landmarks": (cc.PCC(20, n_jobs=1), 60_000, 40),
    "linkage of rows": (cc.LWEA(6), 30_000, 20),
    "aspects": (cc.DyadicAspect(6, max_dense=10_000), 10_000, 20),
    "mixed draws": (cc.BayesianEnsemble(6, solver="gibbs", n_init=1, max_iter=2), 60_000, 20),
    "expected loss, two threads": (cc.BayesEstimate(loss="nid", n_jobs=2), 60_000, 100),
    "draws": (cc.NonparametricBayesianEnsemble(), 60_000, 20),
}


def interrupted(run, after=0.7):
    """Send Ctrl-C after some CPU seconds of `run`; return the additional seconds, and the traceback."""
    begun, pressed, ended = time.process_time(), [], threading.Event()

    def press():
        # By the CPU's clock: on a busy machine the work may have had little of a second.
        while time.process_time() < begun + after and not ended.wait(0.01):
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


def heard(run, within=1.0, after=0.7):
    """Return the traceback of a Ctrl-C that took effect in time, at the first, second or third try.
    Code that does not check is late every time; a busy machine may be late once.
    """
    for _ in range(3):
        late, trace = interrupted(run, after)
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


def test_ctrl_c_ends_one_kernel_call():
    n, k, threads = 120_000, 100, 1
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


def long_searches(threads):
    points = np.random.default_rng(0).normal(size=(14_000, 900))
    return lambda: find_neighbours(points, 20, n_jobs=threads)


def long_communities(threads):
    points = np.random.default_rng(0).normal(size=(9000, 3))
    generator = cc.EnsembleGenerator("graph", 200, random_state=0, n_jobs=threads)
    return lambda: generator.fit(points)


@pytest.mark.parametrize(
    "work", [long_means, long_dips, long_pairs, long_nearest, long_searches, long_communities]
)
def test_ctrl_c_ends_kernels_outside_fits(work):
    heard(work(2))


# ---- one call of a kernel that takes seconds: the rest of it does not wait


def long_pattern(threads):
    """An object is chosen by a third of all: the lists are transposed, merged twice and read."""
    n, each = 16_000, 5_000
    indptr = np.arange(n + 1, dtype=np.int64) * each
    indices = (
        3 * np.arange(each, dtype=np.int32) + np.arange(n, dtype=np.int32)[:, None] % 3
    ).ravel()
    return lambda: SymmetricPattern(indptr, indices, threads)


def all_pairs(n):
    counts = np.random.default_rng(0).integers(0, 21, (n, n)).astype(np.uint8)
    return PairCounts(np.minimum(counts, counts.T), np.full((n, n), 20, dtype=np.uint8))


def memberships(n, k):
    return np.random.default_rng(0).dirichlet(np.ones(k), n)


def long_visits(slot):
    def work(threads):
        solver = PairwiseSolver(all_pairs(3_000), 80, 1, 2.0, None, threads)
        Y, gaps, objects = memberships(3_000, 80), np.zeros(3_000), np.arange(3_000, dtype=np.int32)
        solver.take(Y)
        return lambda: solver.visit(Y, objects, slot, 0.0, 0.0, False, gaps)

    return work


def long_greedy_steps(_):
    solver = GreedySolver(all_pairs(2_000), memberships(2_000, 60), 1, 2.0, None, 0.0, 10**9)
    return lambda: solver.run(10**12)


def long_single_linkage_of_pairs(_):
    """Most of the time goes into sorting the pairs."""
    n, each = 200_000, 100
    indptr = np.arange(n + 1, dtype=np.int64) * each
    indices = np.full(n * each, n - 1, dtype=np.int32)
    counts = np.random.default_rng(0).integers(1, 1000, n * each, dtype=np.uint32)
    out = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
    return lambda: sparse_single(indptr, indices, counts, np.full_like(counts, 1000), *out)


def long_extraction(_):
    similarity = np.random.default_rng(0).normal(size=(3_000, 3_000))
    similarity += similarity.T
    ones, members = np.ones(3_000), np.empty(3_000, dtype=np.uint8)
    return lambda: add_rem_add(similarity, ones, members * 0 + 1, np.arange(3_000), members)


def long_seeding(_):
    columns, uniform = np.random.default_rng(0).normal(size=(20, 300_000)), np.full(2_000, 0.5)
    chosen = np.empty(200, dtype=np.int64)
    return lambda: seed_points(columns, np.ones(300_000), uniform, 6, chosen)


def long_refinement(_):
    n, k = 4_000, 60
    matrix = np.random.default_rng(0).random((n, n))
    matrix += matrix.T
    np.fill_diagonal(matrix, 0.0)
    labels = np.arange(n) % k
    refiner = PartRefiner(np.ones(n), k, 1.1 * n / k, 100, n)
    return lambda: refiner.dense(matrix, labels)


def long_reading(_):
    labels = np.random.default_rng(0).integers(0, 2**23, (1_000_000, 10))
    return lambda: Relabeller(10, -1, -2).observe(labels)


def long_products(_):
    """SimRank multiplies matrices of all clusters that are nearly full."""
    C = np.random.default_rng(0).random((2_500, 2_500))
    A = sp.csr_array(C)
    return lambda: jaccard._product(A, C)


ALONE = (
    long_products,
    long_reading,
    long_greedy_steps,
    long_single_linkage_of_pairs,
    long_extraction,
    long_seeding,
    long_refinement,
)


@pytest.mark.parametrize(
    ("work", "threads"),
    [
        *((work, 1) for work in ALONE),
        (long_pattern, 2),
        (long_visits(1), 1),
        (long_visits(3_000), 2),
    ],
)
def test_ctrl_c_does_not_wait_for_the_end_of_a_kernel(work, threads):
    heard(work(threads), within=0.5, after=0.2)


def test_ties_are_sorted_in_blocks(monkeypatch):
    """Ctrl-C has no effect while NumPy sorts: 36 million ties at once take more than ten seconds."""
    sorted_at_once = []

    def lexsort(keys):
        sorted_at_once.append(len(keys[0]))
        return np.argsort(keys[-1], kind="stable")

    n = 2_000
    monkeypatch.setattr(np, "lexsort", lexsort)
    cc.evidence.nearest_pairs(np.zeros((n, 3), dtype=int), 3, max_partners=30, n_jobs=1)
    assert sum(sorted_at_once) == n * (n - 1)
    assert max(sorted_at_once) <= 2**20 + n


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


@pytest.mark.parametrize(
    ("seconds", "number", "code"),
    [(0.0, signal.SIGINT, 130), (0.02, signal.SIGTERM, 143), (0.2, signal.SIGINT, 130)],
)
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


HIDDEN = "raise ImportError('hidden') from error"


@pytest.mark.parametrize(
    ("number", "then"), [(signal.SIGINT, HIDDEN), (signal.SIGTERM, HIDDEN), (signal.SIGINT, "pass")]
)
def test_a_signal_during_an_import_that_hides_exceptions_ends_the_command(number, then, tmp_path):
    """Extension modules, such as NumPy's, turn exceptions of their imports into ImportError; some drop them, until the next Ctrl-C."""
    send = f"    os.kill(os.getpid(), {int(number)}); time.sleep(0.05)\n"
    (tmp_path / "hiding.py").write_text(
        f"import os, time\ntry:\n{send}except BaseException as error:\n    {then}\n"
    )
    code = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from conclust.cli import _terminable\n"
        "try:\n"
        "    with _terminable(ending=False):\n"
        f"        import hiding\n    {send}"
        "        print('lost')\n"
        "except BaseException as error:\n"
        "    print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20
    )
    name = "KeyboardInterrupt" if number == signal.SIGINT else "_Terminated"
    assert done.stdout == f"{name}\n"


def test_nothing_is_imported_before_signals_are_handled():
    code = (
        "import re, sys, contextlib, importlib.machinery, importlib.util; before = set(sys.modules); import conclust.__main__\n"
        "print(sorted(set(sys.modules) - before))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert set(eval(printed.stdout)) <= {
        "conclust",
        "conclust._lazy",
        "conclust.__main__",
        "signal",
    }


@pytest.mark.parametrize("module", ["conclust.exceptions", "numpy"])
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


# ---- the end of the process


def test_daemon_threads_do_not_disturb_the_end_of_the_process():
    """CPython ends such a thread when it takes the GIL, which C++ code must survive."""
    code = (
        "import threading, time, numpy as np, conclust as cc\n"
        "labels = np.random.default_rng(0).integers(0, 8, (3000, 20))\n"
        "ensemble = cc.Ensemble(labels)\n"
        "def value(p, q):\n    return (p - q) ** 2\n"
        "def derivative(p, q):\n    return 2 * (q - p)\n"
        "def kernels():\n    while True: cc.coassociation(ensemble, n_jobs=1)\n"
        "def kernel_with_a_function_of_the_user():\n"
        "    divergence = cc.divergences.Divergence(value, derivative)\n"
        "    cc.PCC(4, divergence=divergence, solver='greedy').fit(ensemble)\n"
        "def no_kernel():\n    ensemble.label_view; time.sleep(60)\n"
        "for work in (kernels, kernel_with_a_function_of_the_user, no_kernel):\n"
        "    threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(1.5)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
