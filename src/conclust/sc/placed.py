"""Places new cells in clusters, by a method that places new objects or by shared labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats, Ints
from conclust.confidence.items import company_of_new
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError
from conclust.placing import labels_by_shares

__all__ = ["Placed", "place"]


@dataclass(frozen=True)
class Placed:
    """Clusters of new cells (-1: no information), their confidence, and how they were found."""

    labels: Ints
    confidence: Floats
    membership: Floats | None
    way: str


def place(model: Any, ensemble: Ensemble, labels: Ints, new: NDArray[Any], key: str) -> Placed:
    """Place new cells in the clusters that an estimator found in an ensemble.

    Raises
    ------
    InputError
        If the estimator finds other clusters than it did.
    """
    name = type(model).__name__
    if not hasattr(model, "predict_proba"):
        placed_labels = labels_by_shares(ensemble, labels, new)
        confidence = company_of_new(labels, ensemble, new, placed_labels)
        return Placed(placed_labels, confidence, None, "shared clusterings")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # already warned when the consensus was computed
        model.fit(ensemble)
    category_of = _category_of_clusters(model.labels_, labels)
    if category_of is None:
        raise InputError(
            f"Fitting {name} to the reference again gives other clusters than obs[{key!r}] has: cells or columns "
            "were changed since, or it was made by another version. Find the consensus again."
        )
    placed_labels = model.predict(new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same as that of predict
        membership = model.predict_proba(new)
    sure = np.where(placed_labels < 0, np.nan, membership.max(axis=1))
    return Placed(category_of[placed_labels], sure, membership, name)


def _category_of_clusters(clusters: Ints, categories: Ints) -> Ints | None:
    """Return the category of each cluster, and at the end -1 for none; None if they are not the same partition.

    Categories may be in another order than the clusters.
    """
    found, first = np.unique(clusters, return_index=True)
    category_of = np.full(int(clusters.max()) + 2, -1)
    category_of[found] = categories[first]
    same = category_of[-1] == -1 and np.array_equal(category_of[clusters], categories)
    return category_of if same and len(np.unique(category_of)) == len(category_of) else None
