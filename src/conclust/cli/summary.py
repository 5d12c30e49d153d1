"""The result in a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.confidence import ChanceConfidence
from conclust.metrics import adjusted_rand_index, consistency_index

# A mean confidence by chance that is nearer to 1 than this leaves nothing to be above it.
_PERFECT = 1e-9

__all__ = ["confidence_line", "number_line", "score", "sizes_line", "sizes_of"]


def score(classes: Sequence[Any], labels: NDArray[np.int64]) -> dict[str, float] | None:
    """Return H and ARI against known classes; an empty class is one that is not known.

    None where no object has both a known class and a label.
    """
    known = np.array([*(text or None for text in classes), None], dtype=object)[:-1]
    if not any(text is not None and k != -1 for text, k in zip(known, labels, strict=True)):
        return None
    return {
        "consistency_index": consistency_index(known, labels),
        "adjusted_rand_index": adjusted_rand_index(known, labels),
    }


def confidence_line(sure: ChanceConfidence) -> str:
    """Say how sure the labels are, beside how sure they would be of partitions drawn at random."""
    by_chance = float(sure.by_chance.mean())
    line = (
        f"Mean confidence {sure.mean:.3f}; combining partitions of the same sizes drawn at random "
        f"has {by_chance:.3f}."
    )
    if not sure.means_something:
        line += (
            " These are too few objects or clusterings to tell agreement from chance."
            if by_chance > 1 - _PERFECT
            else " It is no better than that: the clusterings do not agree on these clusters."
        )
    return line


def number_line(model: Any) -> str:
    """Say why this number of clusters, or which number would be chosen had none been given."""
    supports = getattr(model, "supports_", None)
    if supports is None:
        return ""
    if model.n_clusters is not None:
        shown = model.n_clusters_shown_
        if shown == model.n_clusters:
            return ""
        return f"By themselves the clusterings show {shown} cluster{'s' * (shown != 1)}."
    if model.n_clusters_ == 1:
        return (
            "No number of clusters has support: finer clusterings cut through every border. If there "
            "are clusters all the same, give their number with -k."
        )
    best = max(supports, key=lambda support: support.support)
    others = sorted(supports, key=lambda support: -support.support)[1:2]
    second = f"; next {others[0].n_clusters}, {others[0].support:.2f}" if others else ""
    return (
        f"Support for {best.n_clusters}: {best.support:.2f} (lifetime {best.lifetime:.2f}, borders "
        f"straddled {best.straddling:.2f} of chance, evenness {best.evenness:.2f}{second})."
    )


def sizes_of(labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Return how many objects each cluster has."""
    return np.bincount(labels[labels >= 0], minlength=n_clusters)


def sizes_line(sizes: NDArray[np.int64]) -> str:
    """Say how large the clusters are, the first ten of them."""
    shown = ", ".join(f"{size:,}" for size in sizes[:10]) + (", ..." if len(sizes) > 10 else "")
    return f"Sizes: {shown}."
