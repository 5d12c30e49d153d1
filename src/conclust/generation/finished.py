"""Facts about finished members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from conclust._sklearn import ConvergenceWarning
from conclust._warnings import warn
from conclust.generation.kinds.communities import NeighbourRecipe
from conclust.generation.labelling.labelling import Labelling
from conclust.generation.members import Labelled, Member, Task, drawn_features
from conclust.generation.scaling import Scaler
from conclust.generation.sizes import narrowest

__all__ = ["describe", "labelling_of", "type_for", "warn_of_fewer"]


def describe(task: Task, result: Labelled, d: int) -> Member:
    """Return the record of how a member of points with d features was made."""
    features = drawn_features(d, task.n_features, task.seed)
    return Member(
        task.recipe.name,
        result.n_clusters,
        task.seed,
        task.n_objects,
        task.n_objects if task.n_fitted is None else task.n_fitted,
        None if features is None else tuple(features.tolist()),
        result.model,
    )


def labelling_of(
    members: Sequence[Member], d: int, dtype: Any, scaler: Scaler | None = None
) -> Labelling:
    """Return a function that labels points by some members, which all have a model."""
    models = [member.model for member in members if member.model is not None]
    assert len(models) == len(members)
    return Labelling(models, [member.features for member in members], d, dtype, scaler)


def type_for(members: Iterable[Member], n: int) -> np.dtype[Any]:
    """Return the narrowest integer type for the labels of n objects by these members."""
    every = list(members)
    whole = all(member.n_objects == n for member in every)
    return narrowest(max(member.n_clusters for member in every), whole=whole)


def warn_of_fewer(tasks: Sequence[Task], members: Sequence[Member]) -> None:
    """Warn about members with fewer clusters than requested."""
    short = sum(
        requested is not None and members[u].n_clusters < requested
        for task in tasks
        if not isinstance(task.recipe, NeighbourRecipe)  # the number is approximate
        for u, requested in zip(task.columns, task.n_clusters, strict=True)
    )
    if short:
        warn(
            f"{short} of {len(members)} members found fewer clusters than requested, probably because "
            "the points drawn have fewer distinct ones. members_ has the number of each; a smaller 'n_clusters' "
            "avoids this.",
            ConvergenceWarning,
        )
