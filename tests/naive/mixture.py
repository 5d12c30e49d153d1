"""Mixtures of multinomials by loops over objects."""

from __future__ import annotations

import numpy as np


def joint(labels, mixing, thetas, weights=None):
    """P(labels of i, component k): labels numbered by first appearance, below 0 left out."""
    n, m = labels.shape
    P = np.tile(mixing, (n, 1))
    for i in range(n):
        for u in range(m):
            if labels[i, u] >= 0:
                w = 1.0 if weights is None else weights[u]
                P[i] *= thetas[u][:, labels[i, u]] ** w
    return P


def log_likelihood(labels, mixing, thetas, weights=None):
    return np.log(joint(labels, mixing, thetas, weights).sum(1)).sum()


def step(labels, mixing, thetas, smoothing=0.0):
    """One iteration of EM."""
    z = joint(labels, mixing, thetas)
    z /= z.sum(1, keepdims=True)
    after = []
    for u, theta in enumerate(thetas):
        counts = np.full(theta.shape, smoothing)
        for i, label in enumerate(labels[:, u]):
            if label >= 0:
                counts[:, label] += z[i]
        after.append(counts / counts.sum(1, keepdims=True))
    return z.mean(0), after
