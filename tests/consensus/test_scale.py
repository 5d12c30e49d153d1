"""Labels in files larger than memory, and fits that are interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.cases import planted

from conclust import PCC, Ensemble, FCAConsensus, NonparametricBayesianEnsemble, Voting

# ------------------------------------------------------------------------- files larger than memory

N, M, K = 240_000, 300, 3

# The process may allocate `room` more bytes of private memory, which excludes mapped files.
FIT = """
import re, resource, sys
from pathlib import Path
import numpy as np
from conclust import Ensemble, PCC

def private():
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmData:\\s+(\\d+) kB", status)[1]) * 1024

path, room = sys.argv[1], int(sys.argv[2])
def model():
    return PCC(3, divergence="l2", n_init=1, tol=1e-3, random_state=0, n_jobs=1)
small = np.load(path, mmap_mode="r")[:500]
model().fit(Ensemble(np.array(small)))  # imports and allocates once
resource.setrlimit(resource.RLIMIT_DATA, (private() + room, resource.RLIM_INFINITY))
labels = np.load(path, mmap_mode="r")
assert labels.nbytes > room
ensemble = Ensemble(labels)
assert np.shares_memory(ensemble.codes, labels)
found = model().fit(ensemble).labels_
print(" ".join(str(np.mean(found == k)) for k in range(3)))
try:
    np.array(labels)
except MemoryError:
    print("no room for the labels")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits and /proc are Linux's")
@pytest.mark.parametrize("missing", [False, True])
def test_labels_in_a_file_need_no_memory(tmp_path, missing):
    rng = np.random.default_rng(0)
    truth = np.arange(N) % 20 % K  # 7, 7 and 6 of 20
    path = tmp_path / "labels.npy"
    labels = np.lib.format.open_memmap(path, "w+", np.int8 if missing else np.uint8, (N, M))
    for start in range(0, N, 10_000):
        part = slice(start, start + 10_000)
        labels[part] = truth[part, np.newaxis]
        flipped = rng.integers(0, 10, (10_000, M), dtype=np.uint8) == 0
        labels[part][flipped] = rng.integers(0, K, np.count_nonzero(flipped))
        if missing:
            labels[part][rng.integers(0, 2, (10_000, M), dtype=np.uint8) == 0] = -1
    labels[:K] = truth[:K, np.newaxis]  # numbered by first appearance
    del labels
    # Three memberships in the kernel's layout, and a sample for the start.
    room = 3 * N * 4 * 8 + (30 << 20)
    assert room < 0.8 * N * M
    done = subprocess.run(
        [sys.executable, "-c", FIT, str(path), str(room)],
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    shares, end = done.stdout.splitlines()
    np.testing.assert_allclose([float(s) for s in shares.split()], [0.35, 0.35, 0.3], atol=1e-4)
    assert end == "no room for the labels"


# ------------------------------------------------------------------------------------ interruption


class Interrupting:
    """Standard error that simulates Ctrl-C when a line is written."""

    def __init__(self, after: int) -> None:
        self.left = after

    def write(self, text: str) -> None:
        if text.strip():
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)

    def flush(self) -> None:
        """Do nothing."""


@pytest.fixture
def listening():
    """Handle Ctrl-C like a foreground process; one started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def state(model):
    return {name: value for name, value in vars(model).items() if not name.startswith("__")}


@pytest.mark.parametrize("solver", ["factored", "pairwise", "landmark", "greedy"])
@pytest.mark.parametrize("after", [1, 3, 4])
@pytest.mark.usefixtures("listening")
def test_ctrl_c_leaves_the_estimator_consistent(monkeypatch, solver, after):
    labels, _ = planted(n=300, m=12, flip=0.2, missing=0.2)
    ensemble = Ensemble(labels)
    divergence = "l2" if solver == "factored" else "kl"
    model = PCC(3, divergence=divergence, solver=solver, random_state=0, verbose=1, tol=0.0)
    monkeypatch.setattr(sys, "stderr", Interrupting(after))
    fresh = state(model)
    with pytest.raises(KeyboardInterrupt):
        model.fit(ensemble)
    assert state(model) == fresh  # the same as before the call of fit
    assert ensemble == Ensemble(labels)

    monkeypatch.setattr(sys, "stderr", Interrupting(0))
    model.set_params(tol=1e-5).fit(ensemble)
    expected = PCC(3, divergence=divergence, solver=solver, random_state=0).fit(Ensemble(labels))
    np.testing.assert_array_equal(model.membership_, expected.membership_)

    fitted = state(model)
    monkeypatch.setattr(sys, "stderr", Interrupting(after))
    with pytest.raises(KeyboardInterrupt):
        model.fit(planted(1, n=200, m=7, flip=0.2, missing=0.2)[0])
    assert fitted.keys() == state(model).keys()
    assert all(fitted[name] is value for name, value in state(model).items())
    np.testing.assert_array_equal(model.predict(labels[:5]), PCC.predict(expected, labels[:5]))


@pytest.mark.parametrize(
    "model", [FCAConsensus(), Voting(2), NonparametricBayesianEnsemble(random_state=0, n_draws=2)]
)
def test_a_failed_fit_keeps_the_previous_one(model):
    labels = np.repeat([[0, 0, 0], [1, 1, 0], [1, 1, 1]], 4, axis=0)
    model.fit(labels)
    fitted = state(model)
    monster = np.array([[0, 1], [-7, 0]])
    with pytest.raises(ValueError, match="Negative"):
        model.fit(monster)
    assert all(fitted[name] is value for name, value in state(model).items())
    assert fitted.keys() == state(model).keys()


def test_many_objects_are_sampled_in_the_memory_of_their_labels(tmp_path):
    path = tmp_path / "heatmap.png"
    code = (
        "import resource, sys, numpy as np\n"
        "from conclust import Ensemble\n"
        "from conclust.plotting import coassociation_heatmap\n"
        "z = np.random.default_rng(0).integers(0, 5, 200_000).astype(np.uint8)\n"
        "ensemble = Ensemble(np.column_stack([z] * 8))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "for order in ('cluster', 'dendrogram'):\n"
        "    ax = coassociation_heatmap(ensemble, labels=z, order=order)\n"
        "    ax.figure.savefig(sys.argv[1])\n"
        "    shares = ax.images[0].get_array()\n"
        "    assert shares.shape == (1000, 1000)\n"
        "    assert abs(shares.mean() - 0.2) < 0.01\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert (after - before) < 1_000_000, after - before\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=300)
