"""Obvious twins of the quantities of clusters: sets of objects, one cluster at a time."""

import math

import numpy as np


def blocks(labels):
    """List each partition's clusters by first appearance, as sets of objects; noise apart."""
    found = []
    for column in np.asarray(labels).T:
        names = list(dict.fromkeys(label for label in column.tolist() if label >= 0))
        found.append([{i for i, x in enumerate(column) if x == name} for name in names])
    return found


def certainty(labels, theta, weights=None, normalized=False):
    """Return H (reference form: a sum over the partitions) and the certainty of each cluster."""
    labels = np.asarray(labels)
    m = labels.shape[1]
    weights = [1.0] * m if weights is None else list(weights)
    parts = blocks(labels)
    H, E = [], []
    for u in range(m):
        for cluster in parts[u]:
            total, heard = 0.0, 0.0
            for v in range(m):
                seen = [i for i in cluster if labels[i, v] != -1]
                if not seen:
                    continue
                heard += weights[v]
                if v == u:
                    continue
                pieces = [len(set(seen) & other) for other in parts[v]]
                pieces += [1 for i in seen if labels[i, v] == -2]
                for piece in pieces:
                    if piece:
                        p = piece / len(seen)
                        total -= weights[v] * p * math.log2(p)
            h = total * sum(weights) / heard if heard else 0.0
            scale = math.log2(max(len(parts[u]), 2)) if normalized else 1.0
            H.append(h)
            E.append(math.exp(-h / (scale * theta * sum(weights))))
    return np.array(H), np.array(E)


def locally_weighted(labels, certainty, weights=None):
    """Return S_ij of all pairs, before the diagonal is set; NaN where nothing saw both."""
    labels = np.asarray(labels)
    n, m = labels.shape
    weights = [1.0] * m if weights is None else list(weights)
    parts = blocks(labels)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    S = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(n):
            total = heard = 0.0
            for u in range(m):
                if labels[i, u] == -1 or labels[j, u] == -1:
                    continue
                heard += weights[u]
                for k, cluster in enumerate(parts[u]):
                    if i in cluster and j in cluster:
                        total += weights[u] * certainty[starts[u] + k]
            if heard:
                S[i, j] = total / heard
    return S
