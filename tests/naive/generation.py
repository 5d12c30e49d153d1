"""Slow reference implementations of the generator."""

import numpy as np


def cut(tree, k):
    """Merge sets one by one, in the order of the tree, until k are left."""
    n = len(tree) + 1
    clusters = {i: {i} for i in range(n)}
    for step in range(n - k):
        a, b = int(tree[step][0]), int(tree[step][1])
        clusters[n + step] = clusters.pop(a) | clusters.pop(b)
    assert len(clusters) == k
    labels = np.empty(n, dtype=int)
    for label, members in enumerate(clusters.values()):
        labels[list(members)] = label
    return labels


def nearest(points, centers):
    return np.array([np.argmin([((p - c) ** 2).sum() for c in centers]) for p in points])


def canonical(labels):
    """Number clusters by first appearance; negative labels stay."""
    numbers = {}
    return [x if x < 0 else numbers.setdefault(x, len(numbers)) for x in labels]
