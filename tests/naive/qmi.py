"""Losses of k-means on label vectors, by their definitions."""

from __future__ import annotations

import numpy as np


def blocks(labels):
    """One indicator (n, K_u) per partition: NaN where missing, a separate column for each noise object."""
    result = []
    for column in np.asarray(labels).T:
        names = [value for value in np.unique(column) if value >= 0]
        width = len(names) + int((column == -2).sum())
        P = np.zeros((len(column), width))
        alone = len(names)
        for i, value in enumerate(column):
            if value == -1:
                P[i] = np.nan
            elif value == -2:
                P[i, alone] = 1
                alone += 1
            else:
                P[i, names.index(value)] = 1
        result.append(P)
    return result


def squared_loss(blocks, consensus, weights=None):
    """Squared distances of the objects to the means of their clusters."""
    loss = 0.0
    for u, P in enumerate(blocks):
        for k in np.unique(consensus):
            rows = P[(consensus == k) & ~np.isnan(P[:, 0])]
            if len(rows):
                loss += (1 if weights is None else weights[u]) * ((rows - rows.mean(0)) ** 2).sum()
    return loss


def divergence_loss(blocks, consensus, weights=None):
    """Kullback-Leibler divergences of the objects from the means of their clusters."""
    loss = 0.0
    for u, P in enumerate(blocks):
        for k in np.unique(consensus):
            rows = P[(consensus == k) & ~np.isnan(P[:, 0])]
            if len(rows):
                mean = rows.mean(0)
                for row in rows:
                    for x, m in zip(row, mean, strict=True):
                        if x > 0:
                            loss += (1 if weights is None else weights[u]) * x * np.log(x / m)
    return loss


def quadratic_information(blocks, consensus, weights=None):
    """Sum over partitions of share observed x 2 (sum_r p_r sum_l p(l|r)^2 - sum_l p_l^2)."""
    total = 0.0
    for u, P in enumerate(blocks):
        observed = ~np.isnan(P[:, 0])
        rows, clusters = P[observed], consensus[observed]
        utility = -(rows.mean(0) ** 2).sum()
        for k in np.unique(clusters):
            part = rows[clusters == k]
            utility += len(part) / len(rows) * (part.mean(0) ** 2).sum()
        total += (1 if weights is None else weights[u]) * observed.mean() * 2 * utility
    return total
