"""Sizes of the clusters of a result, and how well they fit known classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conclust._types import Ints
from conclust.metrics import adjusted_rand_index, consistency_index


def score(classes: Sequence[Any] | None, labels: Ints) -> dict[str, float] | None:
    """Return H and ARI against known classes; an empty class is unknown.

    None if no object has both a known class and a label.
    """
    if classes is None:
        return None
    known_classes = np.array([*(text or None for text in classes), None], dtype=object)[:-1]
    if not any(text is not None and k != -1 for text, k in zip(known_classes, labels, strict=True)):
        return None
    return {
        "consistency_index": consistency_index(known_classes, labels),
        "adjusted_rand_index": adjusted_rand_index(known_classes, labels),
    }


def sizes_of(labels: Ints, n_clusters: int) -> Ints:
    """Return the number of objects in each cluster."""
    return np.bincount(labels[labels >= 0], minlength=n_clusters)
