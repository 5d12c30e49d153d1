"""Slow reference implementations of multi-metric members."""

import numpy as np


def graph(points, k, width):
    """exp(-d / (mu eps)) between each point and its k nearest, in both directions; all pairs are looked at."""
    n = len(points)
    d = np.array([[np.sqrt(((a - b) ** 2).sum()) for b in points] for a in points])
    near = [sorted((j for j in range(n) if j != i), key=lambda j: d[i, j])[:k] for i in range(n)]
    rho = [np.mean([d[i, j] for j in near[i]]) for i in range(n)]
    W = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            eps = (rho[i] + rho[j] + d[i, j]) / 3
            W[i, j] = W[j, i] = np.exp(-d[i, j] / (width * eps)) if eps > 0 else 1.0
    return W


def embedding(W, k):
    """Rows of unit length of the k leading eigenvectors of D^-1/2 W D^-1/2."""
    root = 1 / np.sqrt(W.sum(axis=1))
    rows = np.linalg.eigh(W * root[:, None] * root)[1][:, ::-1][:, :k]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
