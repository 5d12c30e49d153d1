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

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import EnsembleGenerator
from conclust._random import RandomStateLike, generator
from conclust._types import Floats
from conclust.datasets import Dataset, available, load
from conclust.datasets.generators import arc, planar

__all__ = ["KINDS", "SETS", "PaperSet", "here", "loaded", "members", "originals", "points"]

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


def _bar(
    rng: np.random.Generator,
    size: int,
    centre: tuple[float, float],
    sides: tuple[float, float],
    tilt: float,
) -> Floats:
    """Draw points uniformly over a rectangle, turned by `tilt` radians."""
    flat = (rng.random((size, 2)) - 0.5) * np.array(sides)
    turn = np.array([[math.cos(tilt), math.sin(tilt)], [-math.sin(tilt), math.cos(tilt)]])
    bar: Floats = flat @ turn + np.array(centre)
    return bar


def image_c(random_state: RandomStateLike = 0) -> Dataset:
    """Make 739 points in 7 separated groups of mixed shapes.

    The papers have a set named "image-c": 739 points, 7 clusters, and a picture of the size of a
    stamp. The numbers of points and clusters are theirs; shapes and class sizes are ours: a ring, two
    interlocking crescents, a long bar, a tilted bar, and two discs of different density.
    """
    rng = generator(random_state, "image_c")
    parts = [
        arc(rng, 150, (2.3, 7.5), (1.5, 1.8), (0.0, 2 * math.pi)),
        arc(rng, 130, (6.8, 7.0), (1.4, 1.8), (0.0, math.pi)),
        arc(rng, 110, (8.2, 7.4), (1.2, 1.6), (math.pi, 2 * math.pi)),
        _bar(rng, 120, (5.0, 0.7), (8.0, 0.3), 0.0),
        _bar(rng, 80, (2.0, 3.4), (3.0, 0.3), math.pi / 4),
        arc(rng, 89, (5.0, 3.4), (0.0, 0.4), (0.0, 2 * math.pi)),
        arc(rng, 60, (8.0, 3.4), (0.0, 0.8), (0.0, 2 * math.pi)),
    ]
    return planar("image_c", parts, "separated groups of mixed shapes", "group")


def image_1(random_state: RandomStateLike = 0) -> Dataset:
    """Make 1000 points in 8 separated groups of mixed shapes, one inside another.

    The papers have a set named "image-1": 1000 points, 8 clusters, and a picture of the size of a
    stamp. The numbers of points and clusters are theirs; shapes and class sizes are ours: a ring with
    a disc inside, two interlocking crescents, a flat and an upright bar, and two discs.
    """
    rng = generator(random_state, "image_1")
    parts = [
        arc(rng, 200, (2.2, 7.5), (1.7, 2.0), (0.0, 2 * math.pi)),
        arc(rng, 100, (2.2, 7.5), (0.0, 0.7), (0.0, 2 * math.pi)),
        arc(rng, 150, (6.9, 7.0), (1.4, 1.8), (0.0, math.pi)),
        arc(rng, 150, (8.3, 7.4), (1.2, 1.6), (math.pi, 2 * math.pi)),
        _bar(rng, 120, (4.0, 0.7), (6.5, 0.3), 0.0),
        _bar(rng, 120, (9.2, 2.6), (0.3, 4.4), 0.0),
        arc(rng, 80, (2.2, 3.4), (0.0, 0.8), (0.0, 2 * math.pi)),
        arc(rng, 80, (5.6, 3.2), (0.0, 0.8), (0.0, 2 * math.pi)),
    ]
    return planar("image_1", parts, "separated groups of mixed shapes", "group")


DRAWN: dict[str, Callable[[], Dataset]] = {"image_1": image_1, "image_c": image_c}


def loaded(name: str) -> Dataset:
    """Return a set by its name, also one that is drawn here."""
    return DRAWN[name]() if name in DRAWN else load(name)


def originals(names: Sequence[str]) -> list[str]:
    """Return those of the sets that are the papers' own, or a sample of theirs: no formula stands in."""
    return [name for name in names if SETS[name].stand_in != _FORMULA]


def here(names: Sequence[str]) -> list[str]:
    """Return those of the sets that are on this machine; tell which are not."""
    there = {*available(), *DRAWN}
    found = [name for name in names if SETS[name].name in there]
    absent = [name for name in names if name not in found]
    if absent:
        print(f"Not here, left out: {', '.join(absent)}")
    if not found:
        load(SETS[names[0]].name)  # says where it is published
    return found


def points(name: str, scaled: bool | None = None) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the points of a set, scaled where it is to be, and the known classes, for scoring."""
    data = loaded(SETS[name].name)
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
