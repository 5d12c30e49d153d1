"""The sets of points of the papers of 2013, and the two kinds of ensembles that they make of them.

Sizes and numbers of clusters are those of the papers' tables: of PCC (Table 3), PEACE (Table 1) and robust evidence
accumulation (Table 1), which agree. What no paper says, and what was chosen, once for all sets:

- **Scaling:** columns to [0, 1] where they are in different units, which of these sets only wine's are; else as they
  come. A missing value is the mean of its column.
- **Ensemble 1**, "k-means with random initialization and random number of clusters": 150 partitions, the number drawn
  from the range that robust evidence accumulation prints for the set.
- **Ensemble 2**, single, average, ward and centroid linkage, k-means, spectral clustering: each with every
  number of clusters that PCC and PEACE print for the set.
- rings, image-c and image-1 are not to be had: sets of the same size by a formula stand in. optdigits is a
  sample of 1,000 that is not the papers'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import EnsembleGenerator
from conclust.datasets import available, load

__all__ = ["KINDS", "SETS", "PaperSet", "here", "members", "originals", "points"]

KINDS = ("ensemble 1", "ensemble 2")
PARTITIONS = 150


@dataclass(frozen=True)
class PaperSet:
    """A set of the papers.

    Attributes
    ----------
    name : str
        In ``conclust.datasets``.
    k : int
        Its classes.
    drawn : range
        Numbers of clusters of ensemble 1.
    cuts : tuple of int
        Those of ensemble 2; empty where no paper prints them.
    stand_in : str
        In what it differs from the papers'.
    scaled : bool
        Whether its columns are in different units.
    """

    name: str
    k: int
    drawn: range
    cuts: tuple[int, ...]
    stand_in: str = ""
    scaled: bool = False


def _set(
    name: str,
    k: int,
    low: int,
    high: int,
    cuts: Sequence[int] = (),
    stand_in: str = "",
    scaled: bool = False,
) -> PaperSet:
    return PaperSet(name, k, range(low, high + 1), tuple(cuts), stand_in, scaled)


_FORMULA = "same size, by a formula of ours"
SETS = {
    "spiral": _set("spiral", 2, 2, 10, range(2, 9)),
    "cigar": _set("cigar", 4, 2, 10),
    "rings": _set("rings", 3, 2, 10, range(2, 9), _FORMULA),
    "image-c": _set("image_c", 7, 7, 40, (*range(8, 16), 20, 30), _FORMULA),
    "image-1": _set("image_1", 8, 8, 40, (*range(8, 16), 20, 30), _FORMULA),
    "iris": _set("iris", 3, 3, 20, (*range(3, 11), 15, 20)),
    "wine": _set("wine", 3, 4, 20, (*range(4, 11), 15, 20), scaled=True),
    "house-votes": _set("house_votes_232", 2, 2, 20, (*range(4, 11), 15, 20)),
    "ionosphere": _set("ionosphere", 2, 4, 20, (*range(4, 11), 15, 20)),
    "std-yeast-cell": _set("std_yeast_cell", 5, 5, 20, (*range(5, 11), 15, 20)),
    "breast-cancer": _set("breast_cancer_683", 2, 2, 20, (*range(3, 11), 15, 20)),
    "optdigits": _set(
        "optdigits_1000", 10, 10, 50, (10, 12, 15, 20, 35, 50), "another sample of 1,000"
    ),
}


def originals(names: Sequence[str]) -> list[str]:
    """Return those of the sets that are the papers' own, or a sample of theirs: no formula stands in."""
    return [name for name in names if SETS[name].stand_in != _FORMULA]


def here(names: Sequence[str]) -> list[str]:
    """Return those of the sets that are on this machine; tell which are not."""
    there = set(available())
    found = [name for name in names if SETS[name].name in there]
    absent = [name for name in names if name not in found]
    if absent:
        print(f"Not here, left out: {', '.join(absent)}")
    if not found:
        load(SETS[names[0]].name)  # says where it is published
    return found


def points(name: str, scaled: bool | None = None) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the points of a set, scaled where it is to be, and the known classes, for scoring."""
    data = load(SETS[name].name)
    X = np.where(np.isnan(data.X), np.nanmean(data.X, axis=0), data.X)
    if not (SETS[name].scaled if scaled is None else scaled):
        return X, data.y
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0), data.y


def members(
    kind: str,
    name: str,
    X: NDArray[np.float64],
    seed: int,
    *,
    n_partitions: int = PARTITIONS,
    sample_fraction: float = 1.0,
) -> NDArray[Any]:
    """Return the labels of an ensemble of a kind, one partition a column."""
    chosen = SETS[name]
    if kind == "ensemble 1":
        how: dict[str, Any] = {
            "method": "kmeans",
            "n_partitions": n_partitions,
            "n_clusters": chosen.drawn,
        }
    else:
        how = {"method": "mixed", "n_clusters": list(chosen.cuts)}
    generator = EnsembleGenerator(
        **how, sample_fraction=sample_fraction, init="random", random_state=seed, n_jobs=1
    )
    labels: NDArray[Any] = generator.fit_transform(X)
    return labels
