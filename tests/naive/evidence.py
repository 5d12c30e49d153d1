"""Reference implementations of the evidence kernels: one comparison at a time, in plain Python."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

MISSING, NOISE = -1, -2


def counts(labels, weights=None):
    """c and N of label rows (-1 missing, -2 noise), as arrays."""
    rows = np.asarray(labels).tolist()
    n = len(rows)
    c, present = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for u, (a, b) in enumerate(zip(rows[i], rows[j], strict=True)):
                weight = 1.0 if weights is None else weights[u]
                if MISSING not in (a, b):
                    present[i, j] += weight
                    if a == b and a >= 0:
                        c[i, j] += weight
    return c, present


def clusterwise(labels, own, voice):
    """1 - c / N where being in one cluster of partition u counts own[i][u], and u has voice(u, i, j).

    Also the pairs i < j for which nothing has a voice.
    """
    n, m = len(labels), len(labels[0])
    D = [[0.0] * n for _ in range(n)]
    unseen = []
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            both = [u for u in range(m) if MISSING not in (labels[i][u], labels[j][u])]
            c = sum(own[i][u] for u in both if labels[i][u] == labels[j][u] >= 0)
            N = sum(voice(u, i, j) for u in both)
            D[i][j] = min(max(1 - c / N, 0.0), 1.0) if N > 0 else 1.0
            if i < j and N <= 0:
                unseen.append((i, j))
    return D, unseen


def soft_counts(memberships, weights):
    """C = sum over u of w_u P_u P_u' by its definition."""
    n = len(memberships[0])
    return [
        [
            sum(
                w * sum(p * q for p, q in zip(P[i], P[j], strict=True))
                for w, P in zip(weights, memberships, strict=True)
            )
            for j in range(n)
        ]
        for i in range(n)
    ]


def spanning_tree(labels, weights=None):
    """Prim's tree from object 0: visiting order and the heights at which objects joined."""
    c, present = counts(labels, weights)
    n = len(c)

    def distance(i, j):
        return 1 - Fraction(c[i][j]) / Fraction(present[i][j]) if present[i][j] else Fraction(1)

    order, heights = [0], []
    left = set(range(1, n))
    while left:
        height, chosen = min((min(distance(i, j) for i in order), j) for j in left)
        order.append(chosen)
        heights.append(height)
        left.remove(chosen)
    return order, heights


def contingency(a, b, n_rows, n_columns):
    """Number of objects with label k in a and l in b; objects with a negative label in either are ignored."""
    table = [[0] * n_columns for _ in range(n_rows)]
    for k, l in zip(a, b, strict=True):  # noqa: E741
        if k >= 0 and l >= 0:
            table[k][l] += 1
    return table
