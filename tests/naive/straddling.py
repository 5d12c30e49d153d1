"""Straddling as sets of objects."""

from __future__ import annotations

from collections.abc import Sequence


def straddling(
    columns: Sequence[Sequence[int]], labels: Sequence[int], weights: Sequence[float]
) -> float:
    """Of members given as columns (-1: missing, -2: noise) across the borders of a partition."""
    actual = expected = 0.0
    for column, weight in zip(columns, weights, strict=True):
        observed = {i for i, label in enumerate(column) if label != -1}
        n = len(observed)
        for cluster in sorted(set(column) - {-1, -2}):
            C = {i for i in observed if column[i] == cluster}
            for part in sorted(set(labels)):
                A = {i for i in observed if labels[i] == part}
                if not A:
                    continue
                both = len(A & C)
                actual += weight * both * min(1 - both / len(A), 1 - both / len(C)) / n
                expected += weight * len(A) * len(C) / n * min(1 - len(C) / n, 1 - len(A) / n) / n
    return actual / expected if expected else 0.0
