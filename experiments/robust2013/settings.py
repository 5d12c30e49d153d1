"""What was chosen for the paper's section 4 where its text leaves it open, before anything was scored.

The sets, their scaling and the k-means ensembles are in ``experiments.paper_sets``. The paper's mixed ensembles have 56
partitions of six algorithms "with different number of clusters", which six times anything is not: here the four
linkages have 9 numbers each, k-means and spectral clustering 10, evenly spread over the range that its Table 1 prints. The
regularisation parameters are the paper's, which are the library's defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conclust import LWEA, PCC, AutoConsensus, WeightedPCC

__all__ = ["ENSEMBLES", "LATER", "METHODS", "NOISE", "SAME", "TREES", "even"]

ENSEMBLES = 20
NOISE = 0.2  # share of the partitions that are replaced by random ones
# A difference of mean H below this counts as none.
SAME = 0.005
TREES = ("single", "average", "ward", "centroid")

METHODS: dict[str, Callable[[int, int], Any]] = {
    "UN-WEIGHTED": lambda k, seed: PCC(k, divergence="l2", random_state=seed),
    "WEIGHTED+rho": lambda k, seed: WeightedPCC(k, random_state=seed),
    "WEIGHTED+l2": lambda k, seed: WeightedPCC(k, regularization="l2", random_state=seed),
}
# Not the paper's: in the tables of H alone.
LATER: dict[str, Callable[[int, int], Any]] = {
    "LWEA": lambda k, seed: LWEA(k),
    "PCC (matched)": lambda k, seed: PCC(
        k, divergence="l2", granularity="matched", random_state=seed
    ),
    "AutoConsensus": lambda k, seed: AutoConsensus(k, random_state=seed),
}


def even(drawn: range, count: int) -> list[int]:
    """Return numbers of clusters, evenly spread over a range."""
    return [int(k) for k in np.round(np.linspace(drawn.start, drawn.stop - 1, count))]
