"""Memory that runs out in a kernel raises MemoryError, also in a parallel loop, and never ends the process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("g++") is None,
    reason="g++ builds a preloaded allocator",
)

# After fail_after(k), the allocation of C++ code that has number k fails, counted over all threads.
ALLOCATOR = r"""
#include <atomic>
#include <cstdlib>
#include <new>
static std::atomic<long> left{-1};
extern "C" void fail_after(long allocations) { left = allocations; }
extern "C" long allocations_left() { return left; }
static void* allocate(std::size_t size, std::size_t alignment) {
    if (left.load(std::memory_order_relaxed) >= 0 && left.fetch_sub(1) == 0) throw std::bad_alloc();
    void* p = nullptr;
    if (posix_memalign(&p, alignment, size == 0 ? 1 : size) != 0) throw std::bad_alloc();
    return p;
}
void* operator new(std::size_t size) { return allocate(size, 16); }
void* operator new[](std::size_t size) { return allocate(size, 16); }
void* operator new(std::size_t size, std::align_val_t a) {
    return allocate(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
    return allocate(size, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
"""

TRIAL = """
import ctypes, faulthandler
import numpy as np
import conclust as cc
from conclust import _kernels as kernels
from conclust._kernels import *
from conclust.consensus.papers.probabilistic.placements.factored_model import FactoredModel, padded
from conclust.generation.runs import run_kmeans
from conclust.neighbours import find_neighbours
from tests.cases import planted

faulthandler.enable()
allocator = ctypes.CDLL(None)
allocator.allocations_left.restype = ctypes.c_long
rng = np.random.default_rng(0)
labels = planted(0, 700, 12, 5, flip=0.2)[0]
far = planted(0, 700, 12, 5, flip=0.8)[0]
ensemble = cc.Ensemble(labels)
view = ensemble.label_view
points = rng.normal(size=(700, 4))


def factored(k):
    solver = FactoredModel.of(ensemble).solver(view, k)
    Y = padded(rng.dirichlet(np.ones(k), 700))
    def run():
        solver.rebuild(Y, 2)
        solver.sweep(Y, 0.0, 0.0, 2)
        return solver.residual(Y, 2)
    return run


def new_ensemble(labels, call):
    return lambda: call(cc.Ensemble(labels))


CALLS = {
    "bit slices": lambda: kernels.BitSlices(view, 2),
    "pair sample": lambda: kernels.PairSample(700, 20, 1, 2),
    "gram": lambda: kernels.contingency_gram(view, np.empty((view.n_clusters,) * 2, np.int64), 2),
    "dips": lambda: kernels.dips_of_sorted(np.sort(rng.random((9, 100)), axis=1), np.empty(9), 2),
    "nearest": lambda: kernels.NearestPairs(view, 5, 0, 700, 1 << 40, 2),
    "nearest, counted": lambda: kernels.NearestPairs(cc.Ensemble(far).label_view, 5, 0, 700, 1 << 40, 2),
    "nearest, weights": lambda: kernels.NearestPairs(view.reweighted(np.linspace(1, 2, 12)), 5, 0, 700, 1 << 40, 2),
    "coassociation": new_ensemble(labels, lambda e: cc.evidence.coassociation(e, n_jobs=2)),
    "coassociation, weights": new_ensemble(
        labels, lambda e: cc.evidence.coassociation(cc.Ensemble(labels, weights=np.linspace(1, 2, 12)))
    ),
    "factored": factored(5),
    "factored, many clusters": factored(40),
    "kmeans": lambda: run_kmeans(points, 6, np.array([np.arange(700, dtype=np.int32)] * 4),
                                 np.arange(4, dtype=np.uint64), threads=2, max_iter=20),
    "neighbours": lambda: find_neighbours(points, 5, n_jobs=2),
    "landmarks": lambda: cc.PCC(4, n_init=1, random_state=0, n_jobs=2, max_iter=3).fit(ensemble),
    "losses": lambda: cc.BayesEstimate(n_jobs=2).fit(ensemble),
    "trees": lambda: cc.LWEA(4).fit(ensemble),
}

for name, call in CALLS.items():
    print(name, flush=True)  # the last one printed is that of a process that ends here
    call()
    failed = 0
    for number in [*range(80), *(int(80 * 1.25**step) for step in range(25))]:
        allocator.fail_after(number)
        try:
            call()
        except MemoryError:
            failed += 1
        left = allocator.allocations_left()
        allocator.fail_after(-1)
        if left >= 0:
            break
    assert failed, name
    call()
print("all raised")
"""


def test_failed_allocations_raise_memory_errors(tmp_path):
    source, library = tmp_path / "allocator.cpp", tmp_path / "allocator.so"
    source.write_text(ALLOCATOR)
    subprocess.run(
        ["g++", "-O1", "-shared", "-fPIC", "-std=c++20", "-o", library, source], check=True
    )
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    tried = subprocess.run(
        [sys.executable, "-c", TRIAL],
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr[-2000:]
    assert tried.stdout.endswith("all raised\n")
