"""Slow, obvious twins of landmark-spectral members."""

import numpy as np


def nearest(points, search, k):
    """The nearest group, the nearest landmark in it, the nearest of those around that one."""
    found = []
    for x in points:
        group = np.argmin([((x - head) ** 2).sum() for head in search.heads])
        members = search.grouped[search.starts[group] : search.starts[group + 1]]
        first = min(members, key=lambda j: ((x - search.points[j]) ** 2).sum())
        around = sorted(
            search.around[first], key=lambda j: (((x - search.points[j]) ** 2).sum(), j)
        )
        found.append(around[:k])
    return np.array(found)


def ties(points, places, search, k):
    """exp(-d^2 / 2 sigma^2) to the k landmarks nearest, sigma the mean of these distances."""
    found = nearest(points, search, k)
    d = np.linalg.norm(points[:, None] - places[found], axis=2)
    A = np.zeros((len(points), len(places)))
    for i, row in enumerate(found):
        for at, j in enumerate(row):
            A[i, j] = np.exp(-(d[i, at] ** 2) / (2 * d.mean() ** 2))
    return A


def embedding(A, k):
    """Rows of unit length of the leading eigenvectors of the graph of objects and landmarks."""
    n, p = A.shape
    W = np.zeros((n + p, n + p))
    W[:n, n:], W[n:, :n] = A, A.T
    degrees = W.sum(axis=1)
    root = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0)
    _, vectors = np.linalg.eigh(W * root[:, None] * root)
    rows = (vectors[:, ::-1][:, :k] * root[:, None])[:n]
    values = np.linalg.eigvalsh(W * root[:, None] * root)[::-1][:k]
    rows = rows * values  # D_x^-1 A times the landmarks' side
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def place(points, model):
    """The nearest centre to the place of each point, and by how much it is the nearest.

    The place is the mean of those of its landmarks, weighted by its ties, at unit length.
    """
    found = nearest(points, model.search, model.n_nearest)
    labels, margins = [], []
    for x, which in zip(points, found, strict=True):
        squares = ((x - model.search.points[which]) ** 2).sum(axis=1)
        weights = np.maximum(np.exp(-squares / (2 * model.sigma**2)), np.finfo(float).eps)
        row = (weights[:, None] * model.loads[which]).sum(axis=0) / weights.sum()
        row /= np.linalg.norm(row)
        far = np.array([((row - center) ** 2).sum() for center in model.centers])
        labels.append(far.argmin())
        margins.append(np.diff(np.sort(far)[:2])[0])
    return np.array(labels), np.array(margins)
