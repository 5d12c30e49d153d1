"""Confidence of objects, clusters and partitions by definition, pair by pair."""

from itertools import pairwise, permutations

import numpy as np
from scipy.optimize import linprog
from tests.naive.evidence import counts


def weights_of(ensemble):
    return np.ones(ensemble.n_partitions) if ensemble.weights is None else ensemble.weights


def shares(ensemble):
    """c_ij / N_ij of hard partitions, NaN where no partition observed both."""
    c, N = counts(ensemble.labels, weights_of(ensemble))
    return np.divide(c, N, out=np.full_like(c, np.nan), where=N > 0)


def item_consensus(labels, ensemble):
    M = shares(ensemble)
    K = max(labels) + 1
    actual = np.full((len(labels), K), np.nan)
    for i in range(len(labels)):
        for k in range(K):
            values = [
                M[i, j]
                for j in range(len(labels))
                if j != i and labels[j] == k and not np.isnan(M[i, j])
            ]
            if values:
                actual[i, k] = sum(values) / len(values)
    return actual


def cluster_consensus(labels, ensemble):
    M = shares(ensemble)
    actual = []
    for k in range(max(labels) + 1):
        objects = [i for i in range(len(labels)) if labels[i] == k]
        values = [M[i, j] for i in objects for j in objects if i < j and not np.isnan(M[i, j])]
        actual.append(sum(values) / len(values) if values else np.nan)
    return np.array(actual)


def company(labels, ensemble, alone=False):
    L, w = ensemble.labels, weights_of(ensemble)
    n, m = L.shape
    K = max(labels) + 1
    actual = np.full((n, K), np.nan)
    for i in range(n):
        total, observed_weight = np.zeros(K), 0.0
        alone_in_consensus = sum(labels[j] == labels[i] for j in range(n)) == 1 and not alone
        for u in range(m):
            if L[i, u] == -1 or (L[i, u] == -2 and not alone_in_consensus):
                continue
            others = [i] if L[i, u] == -2 else [j for j in range(n) if L[j, u] == L[i, u]]
            counts = alone or (alone_in_consensus and sum(L[j, u] != -1 for j in range(n)) > 1)
            if len(others) == 1 and not counts:
                continue
            for k in range(K):
                total[k] += w[u] * sum(labels[j] == k for j in others) / len(others)
            observed_weight += w[u]
        if observed_weight:
            actual[i] = total / observed_weight
    return actual


def agreement(labels, ensemble, matching):
    L, w = ensemble.labels, weights_of(ensemble)
    n, m = L.shape
    K = max(labels) + 1
    votes, observed_weight = np.zeros(n), np.zeros(n)
    for u in range(m):
        T = max(int(L[:, u].max()) + 1, 0)
        table = [
            [sum(L[i, u] == t and labels[i] == k for i in range(n)) for k in range(K)]
            for t in range(T)
        ]
        if matching == "majority":
            stands = [row.index(max(row)) if max(row) else None for row in table]
        else:
            seats = [*range(K), *[None] * T]
            stands = max(
                permutations(seats, T),
                key=lambda chosen: sum(table[t][k] for t, k in enumerate(chosen) if k is not None),
            )
        for i in range(n):
            if L[i, u] == -1:
                continue
            observed_weight[i] += w[u]
            votes[i] += w[u] * (L[i, u] >= 0 and stands[L[i, u]] == labels[i])
    return np.array([v / h if h else np.nan for v, h in zip(votes, observed_weight, strict=True)])


def jaccard(labels, ensemble):
    L, w = ensemble.labels, weights_of(ensemble)
    n, m = L.shape
    values = []
    for k in range(max(labels) + 1):
        total, observed_weight = 0.0, 0.0
        for u in range(m):
            A = {i for i in range(n) if labels[i] == k and L[i, u] != -1}
            if not A:
                continue
            groups = {}
            for i in range(n):
                if L[i, u] != -1:
                    groups.setdefault(L[i, u] if L[i, u] >= 0 else ("noise", i), set()).add(i)
            total += w[u] * max(len(A & B) / len(A | B) for B in groups.values())
            observed_weight += w[u]
        values.append(total / observed_weight if observed_weight else np.nan)
    return np.array(values)


def dip(sample):
    """The least largest distance of the distribution function from one of one mode: linear programs.

    For a mode at each of the values: heights just left of the mode and from it on, the former convex,
    the latter concave, and how far they are from the steps is least.
    """
    x, counts = np.unique(sample, return_counts=True)
    upto = np.cumsum(counts) / len(sample)
    below = upto - counts / len(sample)
    d = len(x)
    best = np.inf
    for mode in range(d):
        # Variables: left heights 0 .. mode, right heights mode .. d - 1, the distance.
        left = {i: i for i in range(mode + 1)}
        right = {i: mode + 1 + i - mode for i in range(mode, d)}
        size = d + 2
        rows, bounds = [], []

        def at_most(terms, bound, size=size, rows=rows, bounds=bounds):
            row = np.zeros(size)
            for place, value in terms:
                row[place] += value
            rows.append(row)
            bounds.append(bound)

        far = size - 1
        for i in range(d):
            # Just left of a value and at it: the function is continuous there, except at the mode.
            before = left[i] if i <= mode else right[i]
            after = right[i] if i >= mode else left[i]
            at_most([(before, 1), (far, -1)], below[i])
            at_most([(before, -1), (far, -1)], -below[i])
            at_most([(after, 1), (far, -1)], upto[i])
            at_most([(after, -1), (far, -1)], -upto[i])
        at_most([(left[mode], 1), (right[mode], -1)], 0)
        for places, sign in ((left, 1.0), (right, -1.0)):
            index = sorted(places)
            for a, b in pairwise(index):
                at_most([(places[a], 1), (places[b], -1)], 0)
            for a, b, c in zip(index, index[1:], index[2:], strict=False):
                u, v = 1 / (x[b] - x[a]), 1 / (x[c] - x[b])
                terms = [(places[a], -u), (places[b], u + v), (places[c], -v)]
                at_most([(place, sign * value) for place, value in terms], 0)
        answer = linprog(
            np.eye(size)[far],
            A_ub=np.array(rows),
            b_ub=bounds,
            bounds=[(0, 1)] * size,
            method="highs",
        )
        best = min(best, answer.fun)
    return best
