"""Reference implementations for agglomerative linkage: everything is recomputed from all pairs at each merge."""

import numpy as np
from tests.naive.evidence import counts as evidence


def dissimilarity(labels, weights=None):
    """Return 1 - c / N, 1 where N = 0, and 0 on the diagonal."""
    c, N = evidence(labels, weights)
    D = np.ones_like(c)
    D[N > 0] = 1.0 - c[N > 0] / N[N > 0]
    np.fill_diagonal(D, 0.0)
    return D


def between(D, A, B, linkage):
    """Return the dissimilarity of two clusters from the dissimilarities of their objects."""
    values = D[np.ix_(A, B)]
    if linkage == "single":
        return values.min()
    if linkage == "complete":
        return values.max()
    if linkage == "average":
        return values.mean()
    # Ward: the squared distance of two centroids from all squared distances.
    a, b = len(A), len(B)
    inside_a, inside_b = ((D[np.ix_(X, X)] ** 2).sum() / 2 for X in (A, B))
    gap = (values**2).sum() / (a * b) - inside_a / a**2 - inside_b / b**2
    return np.sqrt(max(0.0, 2 * a * b / (a + b) * gap))


def replay(tree, distance, tolerance=1e-9):
    """Check that every row of a linkage matrix is a merge that a greedy method may make.

    `distance(A, B)` is the dissimilarity of two lists of leaves. Each merge must be of a pair that
    no other pair undercuts, at its own dissimilarity; any choice among tied pairs is valid.
    """
    n = len(tree) + 1
    clusters = {i: [i] for i in range(n)}
    table = {(i, j): distance([i], [j]) for i in range(n) for j in range(i + 1, n)}
    for t, (a, b, height, count) in enumerate(tree):
        a, b = int(a), int(b)
        assert a < b
        least = min(table.values())
        assert abs(table[a, b] - least) <= tolerance
        assert abs(height - table[a, b]) <= tolerance
        merged = clusters.pop(a) + clusters.pop(b)
        assert len(merged) == count
        table = {pair: d for pair, d in table.items() if not {a, b} & set(pair)}
        for other, members in clusters.items():
            table[other, n + t] = distance(merged, members)
        clusters[n + t] = merged
    assert len(clusters) == 1


def greedy(n, distance):
    """Return the heights of a greedy agglomeration; the first of tied pairs is merged."""
    clusters = [[i] for i in range(n)]
    heights = []
    while len(clusters) > 1:
        pairs = [(x, y) for x in range(len(clusters)) for y in range(x + 1, len(clusters))]
        values = [distance(clusters[x], clusters[y]) for x, y in pairs]
        x, y = pairs[int(np.argmin(values))]
        heights.append(min(values))
        clusters[x] = clusters[x] + clusters.pop(y)
    return np.array(heights)


def sparse_between(c, N, A, B):
    """Return 1 - (sum of c) / (sum of N) over the observed pairs between A and B; 1 if none."""
    n = N[np.ix_(A, B)].sum()
    return 1.0 - c[np.ix_(A, B)].sum() / n if n else 1.0


def random_labels(rng, n, m, k=4, missing=0.0, noise=0.0):
    """Noisy copies of three planted clusters, split at random: evidence of every strength."""
    truth = rng.integers(3, size=n)
    labels = (truth[:, None] + rng.integers(k, size=(n, m)) // 2) % k
    labels[rng.random((n, m)) < noise] = -2
    labels[rng.random((n, m)) < missing] = -1
    labels[0] = 0
    return labels
