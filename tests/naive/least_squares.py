"""The least-squares objective by its definition: a loop over pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from tests.naive import evidence


def counts(labels, weights=None):
    """c_ij and N_ij of the pairs of different objects; 0 on the diagonal."""
    return tuple(x * (1.0 - np.eye(len(x))) for x in evidence.counts(labels, weights))


def objective(labels, Y, weights=None):
    """f(Y) = sum over pairs with N_ij > 0 of N_ij (c_ij / N_ij - y_i'y_j)^2."""
    c, N = counts(labels, weights)
    total = 0.0
    for i, j in combinations(range(len(Y)), 2):
        if N[i, j] > 0:
            total += N[i, j] * (c[i, j] / N[i, j] - Y[i] @ Y[j]) ** 2
    return total


def loss(labels, Y, weights=None):
    """F(Y) = sum over partitions and pairs both observed of w_u (1[together] - y_i'y_j)^2."""
    labels = np.asarray(labels)
    w = np.ones(labels.shape[1]) if weights is None else np.asarray(weights, float)
    total = 0.0
    for i, j in combinations(range(len(Y)), 2):
        a = Y[i] @ Y[j]
        for u in range(labels.shape[1]):
            x, z = labels[i, u], labels[j, u]
            if x != -1 and z != -1:
                total += w[u] * (float(x == z and x >= 0) - a) ** 2
    return total


def soft_objective(memberships, Y, weights=None):
    """As `objective`, with c_ij the sum of products of posteriors."""
    n, m = len(Y), len(memberships)
    w = np.ones(m) if weights is None else np.asarray(weights, float)
    total = 0.0
    for i, j in combinations(range(n), 2):
        c = sum(w[u] * memberships[u][i] @ memberships[u][j] for u in range(m))
        total += w.sum() * (c / w.sum() - Y[i] @ Y[j]) ** 2
    return total


def kkt_residual(labels, Y, weights=None):
    """Largest gap max over support - min of the gradient of f, per unit of evidence."""
    c, N = counts(labels, weights)
    worst = 0.0
    for i in range(len(Y)):
        if N[i].sum() == 0:
            continue
        W = 2 * (N[i] * (Y @ Y[i]) - c[i])
        W[i] = 0.0
        g = Y.T @ W
        worst = max(worst, (g[Y[i] > 0].max() - g.min()) / N[i].sum())
    return worst
