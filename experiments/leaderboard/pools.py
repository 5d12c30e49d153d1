"""The ten published pools: 100 k-means partitions of each of ten data sets, and how ensembles are drawn of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conclust import Ensemble
from conclust.datasets import load

__all__ = ["DRAWN", "POOLS", "PREFIX", "SETTLED", "Pool", "draws", "read"]

PREFIX = "pool_lwea_"
POOLS = (  # by number of objects
    "steel_plates",
    "mfeat",
    "caltech20",
    "covertype",
    "mnist",
    "texture",
    "optdigits",
    "isolet",
    "pendigits",
    "usps",
)
# Those that the power of AutoConsensus was settled on.
SETTLED = ("steel_plates", "caltech20", "mnist", "optdigits", "pendigits")
DRAWN = 10


class Pool(NamedTuple):
    """A pool's name, its partitions as columns, its known classes and their number."""

    name: str
    labels: NDArray[Any]
    classes: NDArray[Any]
    k: int


def read(name: str) -> Pool:
    data = load(PREFIX + name)
    return Pool(name, data.X, data.y, len(data.target_names))


def draws(pool: Pool, count: int, seed: int) -> list[Ensemble]:
    """Draw ensembles of ten partitions; the first ones are the same however many are drawn."""
    drawn = []
    for draw in range(count):
        columns = np.random.default_rng([seed, draw]).permutation(pool.labels.shape[1])[:DRAWN]
        drawn.append(Ensemble(pool.labels[:, np.sort(columns)]))
    return drawn
