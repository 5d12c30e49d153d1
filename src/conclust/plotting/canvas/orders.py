"""Orders of the objects in a heatmap, with similar ones next to each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust._arrays.containers import plain_array
from conclust._arrays.rows import EqualRows
from conclust._types import Floats, Ints
from conclust._validation import refuse
from conclust.exceptions import InputError
from conclust.membership import vat_order
from conclust.trees.agglomeration import linkage_of

# Labels of the axis.
ALONG = {
    "dendrogram": "objects, by their dendrogram",
    "vat": "objects, each next to its nearest (VAT)",
    "cluster": "objects, by cluster",
    None: "objects, in the order given",
}


def check_order(order: Any, options: tuple[str, ...], n: int, owner: str) -> Any:
    """Return an option unchanged, and an array as the objects from first to last."""
    if order is None or (isinstance(order, str) and order in options):
        return order
    objects = plain_array(order, "'order'", of="numbers")
    if objects.ndim == 0:
        choices = ", ".join(repr(option) for option in options)
        refuse("order", owner, f"one of {{{choices}, None}} or an array of the objects", order)
    whole = objects.dtype.kind in "iu" and objects.shape == (n,)
    if not whole or not np.array_equal(np.sort(objects), np.arange(n)):
        raise InputError(
            f"'order' must hold each of the {n} objects once. Got an array of shape {objects.shape} "
            f"and dtype {objects.dtype} that does not."
        )
    return objects.astype(np.int64)


def placed_by(order: str, apart: Floats) -> Ints:
    """Return the objects in VAT order, or in dendrogram order; dissimilarities in [0, 1]."""
    return vat_order(apart) if order == "vat" else dendrogram_order(apart)


def dendrogram_order(apart: Floats) -> Ints:
    """Return the leaves of the dendrogram of average linkage, with branches turned so that similar leaves are adjacent.

    At each merge either part may be turned round: of the four ways the one is taken in which the
    two objects that come to stand side by side are nearest (Gruvaeus and Wainer, Two additions to
    hierarchical cluster analysis, British Journal of Mathematical and Statistical Psychology 25,
    1972).
    """
    n = len(apart)
    tree = linkage_of(apart.copy(), EqualRows.each_alone(n), "average")
    runs: list[Any] = [np.array([i]) for i in range(n)]
    for a, b in tree[:, :2].astype(np.int64):
        left, right = runs[a], runs[b]
        runs[a] = runs[b] = None
        meets = apart[np.ix_([left[-1], left[0]], [right[0], right[-1]])]
        turn_left, turn_right = divmod(int(np.argmin(meets)), 2)
        left = left[::-1] if turn_left else left
        right = right[::-1] if turn_right else right
        runs.append(np.concatenate([left, right]))
    order: Ints = runs[-1]
    # As in a list: the end with the earlier objects comes first.
    half = n // 2
    return order if order[:half].sum() <= order[-half:].sum() else order[::-1]
