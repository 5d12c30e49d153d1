"""Places new cells in clusters, by a method that places new objects or by shared labels."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.saving import to_bytes
from conclust._types import Floats, Ints
from conclust.confidence.items import company_of_new
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError
from conclust.placing import labels_by_shares
from conclust.sc.columns import categorical

__all__ = ["Placed", "category_of_clusters", "kept", "place", "place_by_shares"]

# Attributes with rows of cells, which adata has in obs and obsm, or which place no new cell.
_OF_CELLS = ("labels_", "membership_", "linkage_matrix_", "tree_objects_")
# Memberships are kept as float32.
_ALIKE = 1e-6


@dataclass(frozen=True)
class Placed:
    """Clusters of new cells (-1: no information), their confidence, and how they were found."""

    labels: Ints
    confidence: Floats
    membership: Floats | None
    way: str


def kept(model: Any) -> NDArray[np.uint8] | None:
    """Return a fitted method without its cells, in the form of a file; None if it does not place new cells."""
    if not hasattr(model, "predict_proba"):
        return None
    light = copy(model)
    for name in _OF_CELLS:
        if hasattr(model, name):
            setattr(light, name, getattr(model, name)[:0])
    return to_bytes(light)


def place(model: Any, new: NDArray[Any], category_of: Ints) -> Placed:
    """Place new cells by a fitted method; `category_of` has the category of each of its clusters."""
    labels = model.predict(new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same as that of predict
        membership = model.predict_proba(new)
    sure = np.where(labels < 0, np.nan, membership.max(axis=1))
    categories = np.where(labels < 0, -1, category_of[labels])
    return Placed(categories, sure, membership, type(model).__name__)


def place_by_shares(ensemble: Ensemble, labels: Ints, new: NDArray[Any]) -> Placed:
    """Place new cells in the clusters with which they share most labels."""
    placed = labels_by_shares(ensemble, labels, new)
    sure = company_of_new(labels, ensemble, new, placed)
    return Placed(placed, sure, None, "shared clusterings")


def category_of_clusters(reference: Any, key: str, n_clusters: int) -> Ints:
    """Return the category of each cluster of a consensus, of those that its column has now.

    Raises
    ------
    InputError
        If the column does not follow the memberships: it was changed by hand.
    """
    column, rows = categorical(reference.obs[key]), held_membership(reference, key)
    if rows is not None and rows.shape[1] >= n_clusters:
        category_of = category_of_columns(rows, column)
        placed = np.flatnonzero(column.codes >= 0)
        own = np.where(category_of == column.codes[placed, None], rows[placed], 0.0).max(axis=1)
        if (category_of[:n_clusters] >= 0).all() and (
            own >= rows[placed].max(axis=1) - _ALIKE
        ).all():
            return category_of
    raise InputError(
        f"obs[{key!r}] of the reference are not the clusters whose memberships are in obsm['{key}_membership']: cells or "
        "columns were changed since. Find the consensus again."
    )


def held_membership(adata: Any, key: str) -> Floats | None:
    """Return the memberships of a consensus with rows that sum to 1, or None if it has none."""
    held = f"{key}_membership"
    if held not in adata.obsm:
        return None
    rows: Floats = np.asarray(adata.obsm[held], dtype=np.float64)
    normalised: Floats = rows / rows.sum(
        axis=1, keepdims=True
    )  # float32 values, whose sums are 1 only nearly
    return normalised


def category_of_columns(rows: Floats, column: Any) -> Ints:
    """Return the category of each column of the memberships, -1 for a column that is largest for no cell.

    Categories may have been renamed, reordered or merged since the consensus was found, so that their order is not
    that of the columns. A column belongs to the category of most of the cells for which it is largest.

    Parameters
    ----------
    rows : ndarray of shape (n_cells, n_held)
        The memberships.
    column : pandas.Categorical
        The clusters of the cells.
    """
    largest, K = rows.argmax(axis=1), max(1, len(column.categories))
    placed = column.codes >= 0
    cells = largest[placed] * K + column.codes[placed].astype(np.int64)
    table = np.bincount(cells, minlength=rows.shape[1] * K).reshape(-1, K)
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)
