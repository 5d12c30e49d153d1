"""A table of customers as a spreadsheet in Germany writes it, with what such files have."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np

HEADER = "Kundennr;Tarif;Kanal;Newsletter;Umsatz (EUR);Bestellungen;Retourenquote;Alter;Kunde seit;letzte Bestellung"


def amount(value: float) -> str:
    """Return 2707.91 as 2.707,91."""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def segments(n: int, seed: int = 0) -> tuple[list[list[str]], np.ndarray]:
    """Return the cells of n customers of four segments, and their segments."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    rows = []
    for i, k in enumerate(truth):
        revenue = np.exp(rng.normal([4, 5.5, 6.5, 7.8][k], 0.2))
        since = date(2015, 1, 1) + timedelta(days=int(rng.integers(0, 700) + 700 * (k // 2)))
        last = date(2024, 1, 1) + timedelta(days=int(rng.integers(0, 90) + 90 * k))
        rows.append(
            [
                f"K-{i:05}",
                str(rng.choice(["Basic", "Plus", "Pro"])),
                str(rng.choice(["Web", "Filiale"])),
                str(rng.choice(["ja", "nein"])),
                amount(revenue),
                str(rng.poisson([2, 8, 20, 45][k])),
                f"{rng.normal([30, 20, 10, 3][k], 1.5):.1f} %".replace(".", ","),
                str(int(rng.normal([25, 40, 55, 68][k], 3))),
                f"{since:%d.%m.%Y}",
                f"{last:%Y-%m-%d}",
            ]
        )
    for i in rng.choice(n, n // 20, replace=False):
        rows[i][7] = "k.A."
    return rows, truth


def write(
    path: Path, n: int = 800, *, repeats: int = 0, total: bool = False, seed: int = 0
) -> np.ndarray:
    """Write the file in Windows' encoding of Western Europe; the last row is repeated, and a total may follow."""
    rows, truth = segments(n, seed)
    rows += [rows[-1]] * repeats
    lines = [";".join(row) for row in rows]
    if total:
        whole = sum(float(row[4].replace(".", "").replace(",", ".")) for row in rows)
        lines.append(f"Summe;;;;{amount(whole)};;;;;")
    path.write_bytes("\r\n".join([HEADER, *lines, ""]).encode("cp1252"))
    return truth
