"""What was chosen for the paper's section 5 where its text leaves it open, before anything was scored.

The sets, their scaling and the ensembles are in ``experiments.paper_sets``; members of ensemble 2 see 90 % of the
objects each. PEACE, Baum-Eagon and evidence accumulation are told the number of classes.

"F1" has two readings: over pairs of objects, and over classes (each with the cluster that fits it best, weighed by size).
Both are here.

For the texts, the paper's spread comes from runs from random starts: PEACE's likelihood, from one random membership each,
to convergence, and by the paper's algorithm for nK steps.
Tokens are words of letters, at least two, in lower case, without scikit-learn's English stop words. The stemmer
and the variance below which a word is left out are not printed: the words that vary least in tf-idf are left out until as
many are left as the paper has dimensions (500 and 335), of those in 40 documents or more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conclust import EAC, LWEA, PCC, PEACE, AutoConsensus, BaumEagon

__all__ = [
    "DIMENSIONS",
    "ENSEMBLES",
    "LEAST_DOCUMENTS",
    "METHODS",
    "RUNS",
    "SHARE",
    "TEXT_LATER",
    "TEXT_METHODS",
]

ENSEMBLES = 20
SHARE = 0.9  # share of the objects in a member of ensemble 2
RUNS = 20  # from random starts, on one ensemble of texts
LEAST_DOCUMENTS = 40
DIMENSIONS = {"miniN": 500, "webkb": 335}

METHODS: dict[str, Callable[[int, int], Any]] = {
    "PEACE": lambda k, seed: PEACE(k, random_state=seed),
    "BE": lambda k, seed: BaumEagon(k, random_state=seed),
    "EAC-SL": lambda k, seed: EAC(k, linkage="single"),
    "EAC-AL": lambda k, seed: EAC(k, linkage="average"),
    "AutoConsensus": lambda k, seed: AutoConsensus(k, random_state=seed),
}
# A run each from a random start; `objective_` says which is the best.
TEXT_METHODS: dict[str, Callable[[int, int], Any]] = {
    "PEACE": lambda k, seed: PCC(k, init="random", n_init=1, random_state=seed),
    "PEACE, nK steps": lambda k, seed: PCC(
        k, solver="greedy", init="random", n_init=1, max_iter=k, random_state=seed
    ),
    "BE": lambda k, seed: BaumEagon(k, random_state=seed),
}
# Not the paper's: one run each, since no random start decides.
TEXT_LATER: dict[str, Callable[[int, int], Any]] = {
    "EAC-AL": METHODS["EAC-AL"],
    "LWEA": lambda k, seed: LWEA(k),
    "PCC (matched)": lambda k, seed: PCC(k, granularity="matched", random_state=seed),
    "AutoConsensus": METHODS["AutoConsensus"],
}
