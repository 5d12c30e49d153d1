"""Algorithms each run for given numbers of clusters: "mixed", and lists of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conclust._random import spawn_seeds
from conclust._types import Floats
from conclust._validation import refuse
from conclust.generation.kinds.mixed import TREES, SpectralRecipe, TreeRecipe
from conclust.generation.members import (
    Init,
    KMeansRecipe,
    Recipe,
    Task,
    count_distinct,
    drawn_points,
)
from conclust.generation.sizes import OWNER, Plan, Sizes, clip, label_type

# Algorithms of "mixed" that use all pairs of objects: one tree, or one embedding, serves all numbers.
ALL_PAIRS: dict[str, Recipe] = {
    **{name: TreeRecipe(name) for name in TREES},
    "dense_spectral": SpectralRecipe(),
}


@dataclass(frozen=True)
class Run:
    """An algorithm and its requested numbers of clusters.

    ``times``: number of runs, which cycle through the numbers of clusters. None: once for each number.
    """

    recipe: Recipe
    numbers: tuple[int, ...]
    times: int | None = None

    def parts(self) -> list[range]:
        """Return the numbers of clusters of each run."""
        count = len(self.numbers)
        times = count if self.times is None else min(self.times, count)
        return [range(first, count, times) for first in range(times)]


def plan_runs(sizes: Sizes, runs: Sequence[Run], root: np.random.SeedSequence) -> list[Task]:
    """Return the tasks of the runs, members in order of the runs and of their numbers."""
    starts = np.cumsum([0, *(len(run.numbers) for run in runs)]).tolist()
    each = [(run, at, part) for run, at in zip(runs, starts, strict=False) for part in run.parts()]
    tasks = []
    for (run, at, part), seed in zip(each, spawn_seeds(root, len(each)), strict=True):
        columns, numbers = [at + i for i in part], [run.numbers[i] for i in part]
        tasks.append(sizes.task(run.recipe, columns, numbers, seed))
    return tasks


def plan_mixed(
    points: Floats,
    sizes: Sizes,
    choices: Sequence[int] | None,
    n_partitions: int | None,
    root: np.random.SeedSequence,
    init: Init,
) -> Plan:
    """Plan six algorithms, each for the same numbers of clusters.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        The data.
    sizes : Sizes
        Objects and features, of the data and of a member.
    choices : sequence of int or None
        Numbers of clusters. None: 2 to a cube root.
    n_partitions : int or None
        The number of members, if it is given.
    root : SeedSequence
        Source of all seeds.
    init : {"k-means++", "random"}
        Starts of k-means.
    """
    if choices is None:
        wide = _few_choices(sizes.n)
        seeds = spawn_seeds(root, len(ALL_PAIRS) + len(wide))
        # A tree would separate equal points at random, so the number of clusters is at most that of the distinct points drawn.
        distinct = min(
            count_distinct(
                drawn_points(points, sizes.n_objects, sizes.n_features, seed)[0], wide.stop
            )
            for seed in seeds
        )
        choices = clip(wide, distinct)
    ks = tuple(sorted(set(choices)))
    total = (len(ALL_PAIRS) + 1) * len(ks)
    if n_partitions not in (None, total):
        refuse(
            "n_partitions",
            OWNER,
            f"None or {total} with method='mixed' ({len(ALL_PAIRS) + 1} algorithms, {len(ks)} numbers of "
            "clusters)",
            n_partitions,
        )
    runs = [Run(recipe, ks, times=1) for recipe in ALL_PAIRS.values()]
    runs.append(Run(KMeansRecipe(init=init), ks))
    return Plan(tuple(plan_runs(sizes, runs, root)), total, label_type(ks), None)


def _few_choices(n: int) -> range:
    """2 .. min(50, max(10, cube root of n)): each number costs a run of six algorithms."""
    return range(2, min(50, max(10, round(n ** (1 / 3)))) + 1)
