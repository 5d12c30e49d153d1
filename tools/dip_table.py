"""Write the table of the dip's null distribution: uniform samples of many sizes, drawn with a fixed seed.

python -m tools.dip_table

Three minutes of one core. The same bytes every time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from conclust._kernels import dips_of_sorted
from conclust._random import spawn_generators

PAGE = Path(__file__).resolve().parent.parent / "src" / "conclust" / "confidence" / "dip_table.py"
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


def module(quantiles_of: dict[int, list[float]]) -> str:
    """Return the source of the module."""
    rows = []
    for n, values in quantiles_of.items():
        words = [f"{value:.5f}" for value in values]
        rows += [f"{n}:", *("  " + " ".join(words[i : i + 12]) for i in range(0, len(words), 12))]
    shares = [f"{share:g}" for share in SHARES]
    lines = [
        '"""The null distribution of the dip: quantiles of uniform samples. Written by tools/dip_table.py."""',
        "",
        "# Shares of samples with as large a dip.",
        '_SHARES = """',
        *(" ".join(shares[i : i + 12]) for i in range(0, len(shares), 12)),
        '"""',
        "",
        f"# For each size of a sample sqrt(n) times the dip that these shares of {DRAWS:,} samples reach.",
        '_QUANTILES = """',
        *rows,
        '"""',
        "",
        "SHARES = tuple(map(float, _SHARES.split()))",
        "QUANTILES: dict[int, tuple[float, ...]] = {}",
        "for _word in _QUANTILES.split():",
        '    if _word.endswith(":"):',
        "        _size = int(_word[:-1])",
        "        QUANTILES[_size] = ()",
        "    else:",
        "        QUANTILES[_size] += (float(_word),)",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Draw, and write the module."""
    generators = spawn_generators(np.random.SeedSequence(SEED), len(SIZES))
    found = {n: quantiles(n, rng) for n, rng in zip(SIZES, generators, strict=True)}
    PAGE.write_text(module(found), "utf-8")


if __name__ == "__main__":
    main()
