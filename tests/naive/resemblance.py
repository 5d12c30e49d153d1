"""The kernel of partitions by its definition: a loop over all subsets of the objects."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def kernel(first, second, largest=None, smallest=1):
    """Sum |S|^2 / (|C| |C'|) over the subsets S in a cluster of both; -2: a singleton."""
    first, second = alone(first), alone(second)
    total = 0.0
    for size in range(smallest, (largest or len(first)) + 1):
        for subset in combinations(range(len(first)), size):
            c, d = set(first[list(subset)]), set(second[list(subset)])
            if len(c) == len(d) == 1:
                C, D = np.sum(first == c.pop()), np.sum(second == d.pop())
                total += size * size / (C * D)
    return total


def alone(labels):
    labels = np.array(labels)
    noise = np.flatnonzero(labels == -2)
    labels[noise] = labels.max() + 1 + np.arange(len(noise))
    return labels


def resemblance(consensus, partition, pairs=True):
    """The kernel over its norms, among the objects that the partition observed (not -1)."""
    observed = np.asarray(partition) != -1
    a, b = np.asarray(consensus)[observed], np.asarray(partition)[observed]
    sizes = {"smallest": 2, "largest": 2} if pairs else {}
    norm = kernel(a, a, **sizes) * kernel(b, b, **sizes)
    return kernel(a, b, **sizes) / np.sqrt(norm) if norm > 0 else 0.0
