"""Write the table of the dip's null distribution: uniform samples of many sizes, drawn with a fixed seed.

python -m tools.dip_table

Three minutes of one core. The same bytes every time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from conclust._kernels import dips_of_sorted
from conclust._random import spawn_generators

PAGE = (
    Path(__file__).resolve().parent.parent
    / "src"
    / "conclust"
    / "confidence"
    / "borders"
    / "dip_table.txt"
)
SIZES = (
    4,
    5,
    6,
    8,
    10,
    12,
    16,
    20,
    24,
    32,
    48,
    64,
    96,
    128,
    192,
    256,
    384,
    512,
    1024,
    2048,
    4096,
    12288,
)
DRAWS = 100_000
AT_ONCE = 1_000_000  # values
SEED = 1985
# Shares of samples with as large a dip.
SHARES = (
    [round(1 - 0.05 * i, 2) for i in range(1, 18)]
    + [0.125, 0.1]
    + [float(f"{10 ** (-1 - i / 8):.3g}") for i in range(1, 33)]
)


def quantiles(n: int, rng: np.random.Generator) -> list[float]:
    """Return sqrt(n) times the dip that each share of uniform samples of n values reaches."""
    dips = np.empty(DRAWS)
    rows = max(1, AT_ONCE // n)
    for begin in range(0, DRAWS, rows):
        part = dips[begin : begin + rows]
        dips_of_sorted(np.sort(rng.random((len(part), n)), axis=1), part, 1)
    falling = np.sort(dips)[::-1] * np.sqrt(n)
    return [float(falling[max(0, round(share * (DRAWS + 1)) - 2)]) for share in SHARES]


def page(quantiles_of: dict[int, list[float]]) -> str:
    """Return the file: the shares, then for each size sqrt(n) times the dip that these shares of the samples reach."""
    lines = ["shares: " + " ".join(f"{share:g}" for share in SHARES)]
    lines += [f"{n}: " + " ".join(f"{v:.5f}" for v in values) for n, values in quantiles_of.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Draw, and write the file."""
    generators = spawn_generators(np.random.SeedSequence(SEED), len(SIZES))
    found = {n: quantiles(n, rng) for n, rng in zip(SIZES, generators, strict=True)}
    PAGE.write_text(page(found), "utf-8")


if __name__ == "__main__":
    main()
