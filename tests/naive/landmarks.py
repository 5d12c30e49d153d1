"""Slow reference implementations of landmark-spectral members."""

import numpy as np


def nearest(points, search, k):
    """The landmarks nearest to each point, the lower number first of equally near ones; all are compared."""
    squares = ((points[:, None] - search.points) ** 2).sum(axis=2)
    return np.argsort(squares, axis=1, kind="stable")[:, :k]


def ties(points, places, search, k):
    """The weights of the k landmarks nearest, sigma the mean of these distances."""
    actual = nearest(points, search, k)
    d = np.linalg.norm(points[:, None] - places[actual], axis=2)
    A = np.zeros((len(points), len(places)))
    for i, row in enumerate(actual):
        A[i, row] = weights(d[i] ** 2, d.mean())
    return A


def weights(squares, sigma):
    """exp(-d^2 / 2 s^2), s sigma or the root mean square of the distances, whichever is larger."""
    width = max(sigma**2, sum(squares) / len(squares))
    return np.array([np.exp(-square / (2 * width)) if width > 0 else 1.0 for square in squares])


def bridged(A, places, sigma):
    """The graph with a further object for each tie between components: the shortest that join all (Kruskal)."""
    part = list(range(len(places)))
    for row in A:
        joined = {part[j] for j in np.flatnonzero(row)}
        part = [min(joined) if p in joined else p for p in part]
    pairs = [(a, b) for a in range(len(places)) for b in range(a)]
    squares = {(a, b): ((places[a] - places[b]) ** 2).sum() for a, b in pairs}
    rows = [A]
    for a, b in sorted(pairs, key=squares.get):
        if part[a] != part[b]:
            part = [part[a] if p == part[b] else p for p in part]
            row = np.zeros((1, len(places)))
            row[0, [a, b]] = max(1e-9, 1 / (1 + squares[a, b] / sigma**2))
            rows.append(row)
    return np.vstack(rows)


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
    """Return the nearest centre to the embedding of each point, and the margin. The embedding is
    the mean of those of its landmarks, weighted by its ties, at unit length.
    """
    actual = nearest(points, model.search, model.n_nearest)
    labels, margins = [], []
    for x, which in zip(points, actual, strict=True):
        squares = ((x - model.search.points[which]) ** 2).sum(axis=1)
        tie_weights = weights(squares, model.sigma)
        row = (tie_weights[:, None] * model.loads[which]).sum(axis=0) / tie_weights.sum()
        row /= np.linalg.norm(row)
        far = np.array([((row - center) ** 2).sum() for center in model.centers])
        labels.append(far.argmin())
        margins.append(np.diff(np.sort(far)[:2])[0])
    return np.array(labels), np.array(margins)
