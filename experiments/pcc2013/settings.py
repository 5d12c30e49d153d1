"""What was chosen for the paper's section 7.2 where its text leaves it open.

Not blind: three scalings and ranges of numbers of clusters had been looked at by H before (README.md, "Log of settings").

The sets, their scaling and the ensembles are in ``experiments.paper_sets``. Every method is told the number of
classes; for PCC it is an upper bound. All have their defaults, which keep the best of several starts by their own
criterion, and those that start at random run with a single random start too: the paper averages over starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conclust import CSPA, EAC, HBGF, LWEA, PCC, QMI, AutoConsensus, MixtureModel, WeightedPCC

__all__ = ["ENSEMBLES", "METHODS", "ONE_START", "OURS", "PAPERS", "STARTS", "TOLERANCE"]

# Ensembles made of each set, and starts on the first of them.
ENSEMBLES = 20
STARTS = 20
# How far below the printed average, which has two decimals, a mean counts as reached.
TOLERANCE = 0.01

Make = Callable[[int, int], Any]

# From the number of classes and a seed to a method: the nine of the paper's tables,
PAPERS: dict[str, Make] = {
    "PCC-KL": lambda k, seed: PCC(k, random_state=seed),
    "PCC-l2": lambda k, seed: PCC(k, divergence="l2", random_state=seed),
    "QMI": lambda k, seed: QMI(k, random_state=seed),
    "MM": lambda k, seed: MixtureModel(k, random_state=seed),
    "HBGF": lambda k, seed: HBGF(k, random_state=seed),
    "EAC-SL": lambda k, seed: EAC(k, linkage="single"),
    "EAC-AL": lambda k, seed: EAC(k, linkage="average"),
    "EAC-WL": lambda k, seed: EAC(k, linkage="ward"),
    "CSPA": lambda k, seed: CSPA(k, random_state=seed),
}
# those of them that start at random, with a single start,
ONE_START: dict[str, Make] = {
    "PCC-KL, one start": lambda k, seed: PCC(k, init="random", n_init=1, random_state=seed),
    "PCC-l2, one start": lambda k, seed: PCC(
        k, divergence="l2", init="random", n_init=1, random_state=seed
    ),
    "QMI, one start": lambda k, seed: QMI(k, n_init=1, random_state=seed),
    "MM, one start": lambda k, seed: MixtureModel(k, n_init=1, random_state=seed),
    "HBGF, one start": lambda k, seed: HBGF(k, n_init=1, random_state=seed),
}
# and what came later, the recommended default last.
OURS: dict[str, Make] = {
    "WeightedPCC": lambda k, seed: WeightedPCC(k, random_state=seed),
    "LWEA": lambda k, seed: LWEA(k),
    "PCC (matched)": lambda k, seed: PCC(k, granularity="matched", random_state=seed),
    "AutoConsensus": lambda k, seed: AutoConsensus(k, random_state=seed),
}
METHODS = {**PAPERS, **ONE_START, **OURS}
