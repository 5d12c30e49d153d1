"""Labels in blocks, from a file, beside the same labels in memory: CPU seconds and memory.

    python -m benchmarks blocks                    1,000,000 x 50, in memory and in blocks
    python -m benchmarks.blocks 100000000          in blocks only; the file takes 50 bytes an object

Every fit is a process of its own, with two threads; where Dask is installed also one with two Dask workers, whose
CPU seconds and memory count. The labels are made by a formula: eight groups, each partition
merges some of them into 2 to 10 clusters, and 15 of 100 labels are drawn at random.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.timing import peak_megabytes

PARTITIONS, GROUPS, NOISE = 50, 8, 0.15
STEP = 1_000_000
IN_MEMORY = 20_000_000  # objects up to which the fit in memory is run beside


def make(path: Path, n: int) -> None:
    """Write the labels as codes, numbered by first appearance: they are read without a copy."""
    rng = np.random.default_rng(0)
    counts = rng.integers(2, 11, PARTITIONS)
    merged = [rng.integers(0, count, GROUPS).astype(np.uint8) for count in counts]
    tables: list[np.ndarray] = []
    labels = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=(n, PARTITIONS))
    for begin in range(0, n, STEP):
        rng = np.random.default_rng([1, begin])
        size = min(STEP, n - begin)
        groups = rng.integers(0, GROUPS, size)
        block = np.empty((size, PARTITIONS), dtype=np.uint8)
        for u, count in enumerate(counts):
            block[:, u] = merged[u][groups]
            some = np.flatnonzero(rng.random(size, dtype=np.float32) < NOISE)
            block[some, u] = rng.integers(0, count, len(some))
            if begin == 0:
                first = [np.argmax(block[:, u] == c) for c in range(count)]
                tables.append(np.argsort(np.argsort(first)).astype(np.uint8))
            block[:, u] = tables[u][block[:, u]]
        labels[begin : begin + size] = block
    labels.flush()


def fit(method: str, how: str, path: Path) -> None:
    """Fit in this process, write the labels, and print CPU seconds, seconds and megabytes."""
    from conclust import HBGF, PCC
    from conclust.blocks import LabelStore

    model = {
        "PCC, l2": PCC(GROUPS, divergence="l2", random_state=0),
        "HBGF": HBGF(GROUPS, random_state=0),
    }[method]
    began = time.monotonic()
    out = path.with_name("consensus.npy")
    if how == "memory":
        model.fit(np.load(path, mmap_mode="r"))
        np.save(out, model.labels_)
    elif how == "blocks":
        model.fit(LabelStore(path))
        model.labels_.save(out)
    else:
        from dask.distributed import Client

        with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
            began = time.monotonic()
            model.fit(LabelStore(path))
            model.labels_.save(out)
            taken = time.monotonic() - began
        began = time.monotonic() - taken  # without the workers' start and end
    seconds = time.monotonic() - began
    # Workers that have ended count as children.
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(each.ru_utime + each.ru_stime for each in used)
    megabytes = peak_megabytes() + 2 * used[1].ru_maxrss / 1024
    print(f"{cpu} {seconds} {megabytes} {model.objective_}")


def main(n: int = 1_000_000) -> None:
    """Fit both methods every way; a line each."""
    ways = (
        ["memory"] * (n <= IN_MEMORY)
        + ["blocks"]
        + ["workers"] * (find_spec("distributed") is not None)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.npy"
        make(path, n)
        for method in ("PCC, l2", "HBGF"):
            for how in ways:
                told = subprocess.run(
                    [sys.executable, "-m", "benchmarks.blocks", method, how, str(path)],
                    check=True,
                    capture_output=True,
                    text=True,
                    env={**os.environ, "OMP_NUM_THREADS": "2"},
                ).stdout.split()
                cpu, wall, megabytes, objective = map(float, told)
                print(
                    f"{n:,} x {PARTITIONS}, {method:8} in {how}: {cpu:7.1f} CPU s, {wall:6.1f} s, "
                    f"{megabytes:6.0f} MB, objective {objective:.10g}"
                )


if __name__ == "__main__":
    if len(sys.argv) == 4:
        fit(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        main(*map(int, sys.argv[1:]))
