"""What a solver of the pair objective is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conclust.divergences import Divergence
from conclust.ensemble import Ensemble

__all__ = ["Task"]


@dataclass(frozen=True)
class Task:
    """What a solver is asked for."""

    ensemble: Ensemble
    n_clusters: int
    divergence: Divergence
    seed: np.random.SeedSequence
    threads: int
    report: Callable[[str], None]
    n_init: int = 5
    max_iter: int = 200
    tol: float = 1e-5
    tol_kkt: float = 1e-8
