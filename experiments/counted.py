"""The numbers in the prose of RESULTS.md, counted from the results that are kept.

RESULTS.md.in names them, ``<!-- count NAME -->``; ``python -m experiments.results`` puts them in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from experiments.fca2016 import figures as fca
from experiments.kept import Kept
from experiments.paper_sets import KINDS, SETS, originals
from experiments.pcc2013 import tables as pcc
from experiments.pcc2013.settings import OURS, PAPERS
from experiments.peace2013 import figures as peace
from experiments.robust2013 import figures as robust

__all__ = ["HERE", "counts", "kept_in"]

HERE = Path(__file__).parent
# A difference of mean scores below this counts as none.
_SAME = 0.005


def kept_in(path: str) -> Kept:
    """Return results as they are kept below this folder."""
    file = HERE / path
    return Kept(file, json.loads(file.read_text(encoding="utf-8"))["settings"])


def number(value: float) -> str:
    """Return a score or a difference of scores in the page's form: .12, -.003."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".", 1) if text not in ("", "0", "-0") else "0"


def signed(value: float) -> str:
    """Return a difference with its sign."""
    return number(value) if value < 0 else f"+{number(value)}"


def some(names: Sequence[str]) -> str:
    """Return names in words."""
    return ", ".join(names) if names else "none"


def of_pcc() -> dict[str, str]:
    """Return the counts of PCC 2013, section 7.2."""
    kept, sets = kept_in("pcc2013/result/tables.json"), list(pcc.COLUMNS)
    words = {}
    cells = pcc.reached(kept, sets)
    met = sum(row["reached"] == "yes" for row in cells)
    words["pcc cells"] = f"{met} of {len(cells)}"
    for kind in KINDS:
        number_of = kind[-1]
        H = {
            method: {
                name: float(np.mean(pcc.scores(kept, kind, name, method, "H", starts=False)))
                for name in sets
            }
            for method in (*PAPERS, *OURS)
        }
        best = {name: max(of[name] for of in H.values()) for name in sets}
        for within in (0.02, 0.03):
            near = [name for name in sets if H["AutoConsensus"][name] >= best[name] - within]
            key = f"default within {within} on {number_of}"
            words[key] = f"{len(near)} of the {len(sets)}"
            words[f"{key}, originals"] = f"{len(originals(near))} of the {len(originals(sets))}"
            words[f"{key}, sets"] = some(near)
        for divergence in ("KL", "l2"):
            mine = H[f"PCC-{divergence}"]
            for other in ("EAC-SL", "EAC-AL", "CSPA"):
                below = [name for name in sets if mine[name] < H[other][name] - _SAME]
                key = f"PCC-{divergence} below {other} on {number_of}"
                words[key] = f"{len(originals(below))} of {len(originals(sets))}"
    wide = []
    for kind in KINDS:
        for name in sets:
            for divergence in ("KL", "l2"):
                method = f"PCC-{divergence}, one start"
                sd = float(np.std(pcc.scores(kept, kind, name, method, "H", starts=True)))
                if sd > 0.01:
                    wide.append(f"{name}, {kind}, {divergence}: {number(round(sd, 3))}")
    words["single starts that spread"] = "; ".join(wide)
    both = [
        float(np.std(pcc.scores(kept, kind, name, f"PCC-{divergence}", "H", starts=True)))
        for kind in KINDS
        for name in sets
        for divergence in ("KL", "l2")
    ]
    words["largest sd of PCC"] = number(max(both))
    return words


def of_peace() -> dict[str, str]:
    """Return the counts of PEACE 2013, section 5.1."""
    kept, sets = kept_in("peace2013/result/figures.json"), list(peace.NINE)
    uci = [name for name in sets if name not in peace.SYNTHETIC]
    words = {}
    for kind in KINDS:
        rows = {row["set"]: row for row in peace.means(kept, kind, "CI", sets)}
        apart = max(abs(row["PEACE"] - row["BE"]) for row in rows.values())
        words[f"PEACE from BE on {kind[-1]}"] = number(apart)
        for method in ("PEACE", "BE"):
            better = [
                name
                for name in uci
                if rows[name][method] > max(rows[name]["EAC-SL"], rows[name]["EAC-AL"]) + _SAME
            ]
            words[f"{method} above EAC on {kind[-1]}"] = f"{len(better)} of {len(uci)}"
    return words


def of_robust() -> dict[str, str]:
    """Return the counts of robust evidence accumulation 2013, section 4."""
    kept, sets = kept_in("robust2013/result/figures.json"), list(SETS)
    words = {}
    for row in robust.claims(kept, sets):
        if row["partitions"] == "clean":
            key = f"{row['weights']}, {row['ensembles']}"
            words[f"gain of {key}"] = signed(row["mean gain"])
            words[f"gain of {key}, originals"] = signed(row["originals: mean gain"])
    for kind in robust.KINDS:
        clean, noisy = (
            {row["set"]: row for row in robust.means(kept, kind, state, sets)}
            for state in robust.STATES
        )
        for method in robust.METHODS:
            held = [
                name for name in sets if abs(noisy[name][method] - clean[name][method]) <= _SAME
            ]
            words[f"{method} held, {kind}"] = f"{len(held)}"
        for name in ("rho", "l2"):
            weights = {one: row[f"random weight, {name}"] for one, row in noisy.items()}
            most = max(weights, key=lambda one: weights[one])
            words[f"random weight, {name}, {kind}"] = number(weights[most])
    return words


def of_fca() -> dict[str, str]:
    """Return the counts of FCA-Consensus 2016: data sets on which all runs find the clusters."""
    kept = kept_in("fca2016/result/figures.json")
    return {
        f"whole, {row['reading']}, {row['clusters']}, {how}": str(row[how])
        for row in fca.whole(kept, list(fca.NAMES))
        for how in ("best share", "half of the votes")
    }


_COUNTED: tuple[Callable[[], dict[str, str]], ...] = (of_pcc, of_peace, of_robust, of_fca)


def counts() -> dict[str, str]:
    """Return all numbers, by name."""
    return {name: text for count in _COUNTED for name, text in count().items()}


if __name__ == "__main__":
    for name, text in counts().items():
        print(f"{name}: {text}")
