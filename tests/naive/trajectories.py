"""Reference implementations of elite neighbours and probability trajectories: rows of labels, one pair at a time."""

import numpy as np
from tests.naive import evidence


def distinct(labels):
    """Return the distinct rows of labels by first appearance, their counts, and the row of each object.

    Rows with noise are each their own.
    """
    rows, counts, inverse = [], [], []
    for row in map(tuple, np.asarray(labels).tolist()):
        if -2 not in row and row in rows:
            place = rows.index(row)
        else:
            place = len(rows)
            rows.append(row)
            counts.append(0)
        counts[place] += 1
        inverse.append(place)
    return np.array(rows), np.array(counts), np.array(inverse)


def similarity(rows, weights=None):
    """Return c / N of all pairs of rows, 0 on the diagonal and where no partition observed both."""
    c, N = evidence.counts(rows, weights)
    S = np.divide(c, N, out=np.zeros_like(c), where=N > 0)
    np.fill_diagonal(S, 0.0)
    return S


def elite(S, k):
    """Keep the entries of each row from its k-th largest on, ties included, in both directions."""
    n = len(S)
    kept = np.zeros_like(S)
    for i in range(n):
        row = S[i].tolist()
        others = sorted(row[:i] + row[i + 1 :], reverse=True)
        least = others[min(k, n - 1) - 1] if n > 1 else 0.0
        for j in range(n):
            if j != i and row[j] > 0 and row[j] >= least - 1e-12:
                kept[i, j] = row[j]
    return np.maximum(kept, kept.T)


def walk(S, counts):
    """Return the probabilities of a step: to each row by its similarity and by how many objects have it."""
    P = S * counts
    total = P.sum(axis=1, keepdims=True)
    return np.divide(P, total, out=np.zeros_like(P), where=total > 0)


def gram(P, n_steps):
    """Return the sum of P^s (P^s)' over the steps, power after power."""
    M, power = np.zeros_like(P), np.eye(len(P))
    for _ in range(n_steps):
        power = power @ P
        M += power @ power.T
    return M


def cosines(M):
    """Return M_ij / sqrt(M_ii M_jj), and 1 on the diagonal; rows without a length are similar to none."""
    n = len(M)
    R = np.eye(n)
    for i in range(n):
        for j in range(n):
            if i != j and M[i, i] > 0 and M[j, j] > 0:
                R[i, j] = M[i, j] / np.sqrt(M[i, i] * M[j, j])
    return R


def usual(n):
    """Return the number of neighbours and steps of the published program."""
    return max(1, min(20, int(np.floor(np.sqrt(n) / 2))))


def trajectories(labels, weights=None, n_neighbors=None, n_steps=None):
    """Return R of the distinct rows, and `distinct`."""
    rows, counts, inverse = distinct(labels)
    k, steps = n_neighbors or usual(len(rows)), n_steps or usual(len(rows))
    P = walk(elite(similarity(rows, weights), k), counts)
    return cosines(gram(P, steps)), (rows, counts, inverse)


def graph(R, rows, weights=None):
    """Return the mean similarity of each row to the rows of each cluster, clusters by first appearance.

    Rows that are like none have no edge.
    """
    alone = (R - np.eye(len(R)) == 0).all(axis=1)
    columns = []
    for u, column in enumerate(rows.T):
        for name in dict.fromkeys(label for label in column.tolist() if label >= 0):
            inside = column == name
            mean = R[:, inside & ~alone].sum(axis=1) / inside.sum()
            mean[alone] = 0.0
            columns.append(mean * (1.0 if weights is None else weights[u]))
    return np.column_stack(columns)
