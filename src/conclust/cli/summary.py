"""Summarises the result in a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from conclust._types import Ints
from conclust.cli.console import STREAM
from conclust.confidence import ChanceConfidence
from conclust.metrics import adjusted_rand_index, consistency_index

# If the mean confidence by chance is closer to 1 than this, no confidence can be higher.
_PERFECT = 1e-9


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


def confidence_line(sure: ChanceConfidence) -> str:
    """Return a line that compares the confidence of the labels with that of random partitions."""
    by_chance = float(sure.by_chance.mean())
    line = (
        f"Mean confidence {sure.mean:.2f} ({by_chance:.2f} expected from random partitions with the same cluster "
        "sizes)."
    )
    if not sure.means_something:
        line += (
            " It cannot distinguish agreement from chance, because it is just as high for random partitions."
            if by_chance > 1 - _PERFECT
            else " It is not higher than expected: the clusterings do not agree on these clusters."
        )
    return line


def last_lines(scores: dict[str, float] | None, out: Path) -> list[str]:
    """Return the lines about known classes, if there are some, and the place of the results, if it is a file."""
    lines = []
    if scores is not None:
        lines.append(
            f"Against the known classes: H = {scores['consistency_index']:.3f} (share of objects "
            f"matched), ARI = {scores['adjusted_rand_index']:.3f}."
        )
    return lines if out == STREAM else [*lines, f"Results are in {out}."]


def sizes_of(labels: Ints, n_clusters: int) -> Ints:
    """Return the number of objects in each cluster."""
    return np.bincount(labels[labels >= 0], minlength=n_clusters)


def sizes_line(sizes: Ints) -> str:
    """Return a line with the sizes of the first ten clusters."""
    texts = [f"{size:,}" for size in sizes[:10]]
    more = f" and {len(sizes) - 10:,} more" if len(sizes) > 10 else ""
    return f"Sizes: {', '.join(texts)}{more}."
