"""Small ensembles and graphs that several tests share."""

from __future__ import annotations

import numpy as np

E1 = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
E2 = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]])


def planted(seed=0, n=90, m=15, k=3, flip=0.1, missing=0.0):
    """Labels of k planted clusters of equal size, some of them random, and the clusters."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = np.column_stack(
        [np.where(rng.random(n) < flip, rng.integers(0, k, n), truth) for _ in range(m)]
    )
    labels[rng.random(labels.shape) < missing] = -1
    labels[(labels == -1).all(axis=1), 0] = 0
    return labels, truth


def random_graph(rng, n, density=0.6):
    """A symmetric matrix of whole weights without a diagonal."""
    W = np.triu(rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < density), 1).astype(float)
    return W + W.T


# Partitions that say little or nothing of who belongs together.
DEGENERATE = ("noise only", "one object", "one noise object", "one cluster", "one pair")


def degenerate(kind, n):
    """One such partition of n objects."""
    column = np.full(n, -1 if kind in ("one object", "one noise object") else -2)
    if kind == "one cluster":
        column[:] = 0
    elif kind == "one object":
        column[n // 2] = 0
    elif kind == "one noise object":
        column[n // 2] = -2
    elif kind == "one pair":
        column[[n // 3, n // 2]] = 0
    return column
