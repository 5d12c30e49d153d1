"""Weighted consensus by its definitions: loops over pairs, and n x n matrices."""

from __future__ import annotations

import numpy as np


def ordered_pairs(labels):
    """Return masks of the ordered pairs that a partition observed and put together (n x n, no diagonal)."""
    labels = np.asarray(labels)
    n = len(labels)
    both, same = np.zeros((n, n), bool), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j and labels[i] != -1 and labels[j] != -1:
                both[i, j] = True
                same[i, j] = labels[i] == labels[j] and labels[i] >= 0
    return both, same


def distance(labels, Y, pattern=None):
    """d_u = s_u sum over ordered pairs of (together - y_i'y_j)^2, on a pattern of pairs or on all."""
    both, same = ordered_pairs(labels)
    if pattern is not None:
        both &= pattern
    n = len(Y)
    A = Y @ Y.T
    if not both.any():
        return 0.0
    return n * (n - 1) / both.sum() * ((same - A)[both] ** 2).sum()


def distances(labels, Y, pattern=None):
    return np.array([distance(column, Y, pattern) for column in np.asarray(labels).T])


def soft_distance(P, Y):
    """As `distance`, for a membership; a row of zeros is missing."""
    observed = P.sum(axis=1) > 0
    both = np.outer(observed, observed)
    np.fill_diagonal(both, False)
    n = len(Y)
    return n * (n - 1) / both.sum() * ((P @ P.T - Y @ Y.T)[both] ** 2).sum()


def project(v):
    """The nearest point of the simplex, by trying every support."""
    v = np.asarray(v, float)
    best, where = np.inf, None
    for bits in range(1, 1 << len(v)):
        chosen = np.array([bool(bits >> k & 1) for k in range(len(v))])
        x = np.where(chosen, v - (v[chosen].sum() - 1) / chosen.sum(), 0.0)
        if (x >= -1e-15).all() and ((x - v) ** 2).sum() < best:
            best, where = ((x - v) ** 2).sum(), np.maximum(x, 0)
    return where


def proposition_2(d, lam):
    """The paper's Proposition 2, line by line."""
    d = np.asarray(d, float)
    order = np.argsort(d, kind="stable")
    s = d[order]
    y = [(1 + sum(s[: u + 1]) / lam) / (u + 1) for u in range(len(s))]
    w = max(u for u in range(len(s)) if y[u] > s[u] / lam)
    alpha = np.zeros(len(d))
    for u in range(w + 1):
        alpha[order[u]] = y[w] - s[u] / lam
    return alpha
