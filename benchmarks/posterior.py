"""BayesEstimate: CPU seconds and memory on many draws, and on many objects; beside MedianPartition.

python -m benchmarks.posterior

Draws of a partition into ten clusters in which each label is another one with probability 0.15: 2,000 objects x
1,000 draws, then 100,000 x 200. Each line is a process of its own, so that the peak of its memory is its own.
"""

from __future__ import annotations

import subprocess
import sys

SIZES = ((2_000, 1_000), (100_000, 200))
MODELS = (
    *(
        f"BayesEstimate(loss={loss!r}, random_state=0, n_jobs=1)"
        for loss in ("vi", "binder", "omari", "nvi", "id", "nid")
    ),
    "MedianPartition(random_state=0)",
)

PROGRAM = """
import numpy as np
from benchmarks.timing import peak_megabytes, timed
from conclust import BayesEstimate, Ensemble, MedianPartition
from conclust.metrics import expected_loss
rng = np.random.default_rng(0)
truth = rng.integers(0, 10, {n}).astype(np.uint8)
draws = np.empty(({m}, {n}), dtype=np.uint8)
for draw in draws:
    draw[:] = np.where(rng.random({n}) < 0.15, rng.integers(0, 12, {n}), truth)
ensemble = Ensemble.from_draws(draws)
del draws
before, model = peak_megabytes(), {model}
taken = timed(lambda: model.fit(ensemble))
vi = expected_loss(ensemble, model.labels_)
print(f"{{taken.wall:>8.1f}} {{taken.cpu:>8.1f}} {{before:>8.0f}} {{peak_megabytes():>8.0f}} {{vi:>8.4f}}")
"""


def main() -> None:
    print(f"{'':<58} {'wall s':>8} {'CPU s':>8} {'MB before':>9} {'MB peak':>7} {'VI':>8}")
    for n, m in SIZES:
        for model in MODELS:
            program = PROGRAM.format(n=n, m=m, model=model)
            told = subprocess.run(
                [sys.executable, "-c", program], check=True, capture_output=True, text=True
            )
            print(f"{f'{n:,} x {m:,}, {model}':<58} {told.stdout.rstrip()}", flush=True)


if __name__ == "__main__":
    main()
