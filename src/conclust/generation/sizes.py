"""Numbers of objects, features and clusters of each member, and the resulting plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conclust.exceptions import ParameterError
from conclust.generation.crew import Prefer
from conclust.generation.members import Member, Recipe, Task

OWNER = "EnsembleGenerator"


@dataclass(frozen=True)
class Plan:
    """All members to make, grouped into tasks."""

    tasks: tuple[Task, ...]
    n_partitions: int
    label_type: np.dtype[Any]  # the narrowest integer type for all labels that the plan can produce
    prefer: Prefer | None  # passed to joblib
    # Whether the numbers of clusters are known only when all members are made, and the type of labels with them.
    measured: bool = False


@dataclass(frozen=True)
class Sizes:
    """Numbers of objects and features that each member draws."""

    n: int
    n_objects: int
    d: int
    n_features: int
    sample_fraction: float
    n_fitted: int | None  # number of the drawn objects to fit; None: all

    @property
    def most_clusters(self) -> int:
        """Maximum number of clusters of a member."""
        return self.n_objects if self.n_fitted is None else self.n_fitted

    def task(
        self,
        recipe: Recipe,
        columns: Sequence[int],
        n_clusters: Sequence[int | None],
        seed: int,
    ) -> Task:
        """Return the task of a run that makes some members."""
        return Task(
            recipe,
            tuple(columns),
            tuple(n_clusters),
            seed,
            self.n_objects,
            self.n_features,
            self.n_fitted,
        )


def extent(choices: Sequence[int]) -> tuple[int, int]:
    """Return the smallest and the largest number; for a range, without iterating over it."""
    ends = (choices[0], choices[-1]) if isinstance(choices, range) else choices
    return min(ends), max(ends)


def check_choices(choices: Sequence[int] | None, sizes: Sizes) -> None:
    """Refuse more clusters than a member has objects."""
    if choices is None or extent(choices)[1] <= sizes.most_clusters:
        return
    drawn = f"n_samples={sizes.n}"
    if sizes.most_clusters < sizes.n_objects:
        drawn = f"{sizes.most_clusters} objects that a member is fitted on (fit_on)"
    elif sizes.n_objects < sizes.n:
        drawn = (
            f"{sizes.n_objects} objects that a member draws ({drawn}, "
            f"sample_fraction={sizes.sample_fraction:g})"
        )
    raise ParameterError(
        f"The 'n_clusters' parameter of {OWNER} must be at most {drawn}. "
        f"Got {extent(choices)[1]} instead."
    )


def clip(choices: range, distinct: int) -> range:
    """Drop numbers above that of the distinct points; one cluster is always possible."""
    return range(min(choices.start, distinct), min(choices.stop, distinct + 1))


def label_type(choices: Iterable[int]) -> np.dtype[Any]:
    """Return the narrowest signed type for labels of these numbers of clusters: a user may write -1 into them."""
    return np.min_scalar_type(-max(choices) - 1)


def type_for(members: Iterable[Member]) -> np.dtype[Any]:
    """Return the narrowest signed type for the labels of these members."""
    return label_type(member.n_clusters for member in members)
