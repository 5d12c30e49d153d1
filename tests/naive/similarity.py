"""Reference implementations of the quantities of clusters: sets of objects, one cluster at a time."""

import math

import numpy as np
from tests.naive.graph import jaccard


def blocks(labels):
    """List each partition's clusters by first appearance, as sets of objects; noise apart."""
    values = []
    for column in np.asarray(labels).T:
        names = list(dict.fromkeys(label for label in column.tolist() if label >= 0))
        values.append([{i for i, x in enumerate(column) if x == name} for name in names])
    return values


def certainty(labels, theta, weights=None, normalized=False):
    """Return H (reference form: a sum over the partitions) and the certainty of each cluster."""
    labels = np.asarray(labels)
    m = labels.shape[1]
    weights = [1.0] * m if weights is None else list(weights)
    parts = blocks(labels)
    H, E = [], []
    for u in range(m):
        for cluster in parts[u]:
            total, observed_weight = 0.0, 0.0
            for v in range(m):
                observed = [i for i in cluster if labels[i, v] != -1]
                if not observed:
                    continue
                observed_weight += weights[v]
                if v == u:
                    continue
                pieces = [len(set(observed) & other) for other in parts[v]]
                pieces += [1 for i in observed if labels[i, v] == -2]
                for piece in pieces:
                    if piece:
                        p = piece / len(observed)
                        total -= weights[v] * p * math.log2(p)
            h = total * sum(weights) / observed_weight if observed_weight else 0.0
            scale = math.log2(max(len(parts[u]), 2)) if normalized else 1.0
            H.append(h)
            E.append(math.exp(-h / (scale * theta * sum(weights))))
    return np.array(H), np.array(E)


def locally_weighted(labels, certainty, weights=None):
    """Return S_ij of all pairs, before the diagonal is set; NaN where no partition observed both."""
    labels = np.asarray(labels)
    n, m = labels.shape
    weights = [1.0] * m if weights is None else list(weights)
    parts = blocks(labels)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    S = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(n):
            total = observed_weight = 0.0
            for u in range(m):
                if labels[i, u] == -1 or labels[j, u] == -1:
                    continue
                observed_weight += weights[u]
                for k, cluster in enumerate(parts[u]):
                    if i in cluster and j in cluster:
                        total += weights[u] * certainty[starts[u] + k]
            if observed_weight:
                S[i, j] = total / observed_weight
    return S


def _clusters(labels):
    """List the clusters of all partitions, and the partition of each."""
    parts = blocks(labels)
    return [c for part in parts for c in part], [u for u, part in enumerate(parts) for _ in part]


def triples(labels, weights=None, decay=0.8, quality=False):
    """Return W (T, T) of connected triples, or of their quality, from a loop over the thirds."""
    J = jaccard(labels)
    clusters, of = _clusters(labels)
    T = len(clusters)
    w = [1.0 if weights is None else weights[u] for u in of]
    actual = np.zeros((T, T))
    for a in range(T):
        for b in range(T):
            if a == b or of[a] != of[b]:
                continue
            for k in range(T):
                if quality and J[a, k] > 0 and J[b, k] > 0:
                    actual[a, b] += w[k] / sum(w[x] * J[k, x] for x in range(T))
                elif not quality:
                    actual[a, b] += w[k] * min(J[a, k], J[b, k])
    counted = [a for a in range(T) if w[a] > 0]
    largest = actual[np.ix_(counted, counted)].max() if counted else 0.0
    W = np.minimum(decay * actual / largest, 1.0) if largest > 0 else np.zeros((T, T))
    np.fill_diagonal(W, 1.0)
    return W


def trajectories(labels, n_steps, weights=None, lazy=False):
    """Return R (T, T) from the powers of P, one after the other."""
    J = jaccard(labels)
    _, of = _clusters(labels)
    T = len(of)
    w = np.array([1.0 if weights is None else weights[u] for u in of])
    P = J * w
    total = P.sum(axis=1)
    walking = (total > 0) & (w > 0)
    P = np.divide(P, total[:, None], out=np.zeros_like(P), where=walking[:, None])
    if lazy:
        P = 0.5 * (P + np.eye(T))
    share = np.divide(1.0, w, out=np.zeros(T), where=w > 0)
    M, power = np.zeros((T, T)), np.eye(T)
    for _ in range(n_steps):
        power = power @ P
        M += (power * share) @ power.T  # a partition of weight 2 is two partitions
    R = np.eye(T)
    for k in np.flatnonzero(walking):
        for x in np.flatnonzero(walking):
            R[k, x] = M[k, x] / np.sqrt(M[k, k] * M[x, x])
    return R


def simrank(labels, n_iter, weights=None, decay=0.8):
    """Return S of the objects and C of the clusters that it is found from, object by object."""
    labels = np.asarray(labels)
    n, m = labels.shape
    weights = [1.0] * m if weights is None else list(weights)
    clusters, of = _clusters(labels)
    T = len(clusters)
    S, C, before = np.eye(n), np.eye(T), None
    for _ in range(n_iter - 1):
        newer, turned = np.eye(n), np.eye(T)
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                total = sum(
                    weights[of[k]] * weights[of[x]] * C[k, x]
                    for k in range(T)
                    for x in range(T)
                    if i in clusters[k] and j in clusters[x]
                )
                weights_of_both = [
                    sum(weights[u] for u in range(m) if labels[one, u] != -1) for one in (i, j)
                ]
                newer[i, j] = (
                    decay * total / (weights_of_both[0] * weights_of_both[1]) if total else 0.0
                )
        for k in range(T):
            for x in range(T):
                if k != x:
                    total = sum(S[i, j] for i in clusters[k] for j in clusters[x])
                    turned[k, x] = decay * total / (len(clusters[k]) * len(clusters[x]))
        before, S, C = C, newer, turned
    return S, before


def approximate_simrank(labels, weights=None, decay=0.8):
    """Return W (T, T) from sums over the clusters that both resemble."""
    J = jaccard(labels)
    _, of = _clusters(labels)
    T = len(of)
    w = [1.0 if weights is None else weights[u] for u in of]
    near = [sum(w[x] for x in range(T) if J[k, x] > 0) for k in range(T)]
    actual = np.zeros((T, T))
    for k in range(T):
        for x in range(T):
            if k != x and near[k] and near[x]:
                both = sum(w[y] * J[k, y] * J[x, y] for y in range(T))
                actual[k, x] = both / (near[k] * near[x])
    counted = [a for a in range(T) if w[a] > 0]
    largest = actual[np.ix_(counted, counted)].max() if counted else 0.0
    W = np.minimum(decay * actual / largest, 1.0) if largest > 0 else actual
    np.fill_diagonal(W, 1.0)
    return W
