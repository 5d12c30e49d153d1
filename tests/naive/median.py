"""Criteria of median and least-squares consensus by their definitions: loops over pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def disagreements(labels, partition, weights=None):
    """Pairs that one of the two puts together and the other apart, over all partitions."""
    labels = np.asarray(labels)
    w = np.ones(labels.shape[1]) if weights is None else np.asarray(weights, float)
    total = 0.0
    for i, j in combinations(range(len(labels)), 2):
        for u in range(labels.shape[1]):
            a, b = labels[i, u], labels[j, u]
            if a != -1 and b != -1:
                total += w[u] * ((a == b and a >= 0) != (partition[i] == partition[j]))
    return total


def similarity(labels, criterion="ensemble", weights=None):
    """(a, N): similarities of all pairs, the diagonal too, with the partitions that observed both."""
    labels = np.asarray(labels)
    n, m = labels.shape
    w = np.ones(m) if weights is None else np.asarray(weights, float)
    a, N = np.zeros((n, n)), np.zeros((n, n))
    for u in range(m):
        for i in range(n):
            for j in range(n):
                x, y = labels[i, u], labels[j, u]
                if x != -1 and y != -1:
                    N[i, j] += w[u]
                    if x == y and x >= 0:
                        size = np.count_nonzero(labels[:, u] == x)
                        a[i, j] += w[u] / (size if criterion == "combined" else 1)
    return a, N


def shifted(a, N, shift="mean"):
    """Subtract the shift, clear the diagonal."""
    off = ~np.eye(len(a), dtype=bool)
    if shift == "mean":
        a = a - a[off].sum() / N[off].sum() * N
    elif shift == "modularity":
        degree = np.where(off, a, 0).sum(axis=1)
        a = a - np.outer(degree, degree) / degree.sum()
    return np.where(off, a, 0.0)


def semi_averages(a, partition, explained=False):
    """Sum over clusters of the sum inside per object, or of that times its size without sign."""
    partition = np.asarray(partition)
    total = 0.0
    for k in np.unique(partition):
        inside = np.flatnonzero(partition == k)
        g = a[np.ix_(inside, inside)].sum() / len(inside)
        total += g * abs(g) if explained else g
    return total


def add_rem_add(a, start):
    """One extraction from an object, every gain by recomputation."""
    members = {start}

    def average(S):
        return a[np.ix_(sorted(S), sorted(S))].sum() / len(S)

    while True:
        tries = [members ^ {i} for i in range(len(a)) if members ^ {i}]
        best = max(tries, key=average)
        if average(best) <= average(members) + 1e-12:
            return members, average(members)
        members = best
