"""Small ensembles and graphs that several tests share."""

from __future__ import annotations

import numpy as np

E1 = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
E2 = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]])


def planted(seed=0, n=90, m=15, k=3, flip=0.1, missing=0.0, noise=0.0):
    """Labels of k planted clusters of equal size, some random, missing or noise, and the clusters.

    Every object is observed by some partition.
    """
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = np.column_stack(
        [np.where(rng.random(n) < flip, rng.integers(0, k, n), truth) for _ in range(m)]
    )
    labels[rng.random(labels.shape) < missing] = -1
    if noise:
        labels[rng.random(labels.shape) < noise] = -2
    labels[(labels == -1).all(axis=1), 0] = 0
    return labels, truth


def random_labels(seed, n, m, k, missing=0.0, noise=0.0):
    """Labels drawn independently; every object is observed by the first partition."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, (n, m))
    labels[rng.random((n, m)) < missing] = -1
    labels[rng.random((n, m)) < noise] = -2
    labels[:, 0] = rng.integers(0, k, n)
    return labels


def random_codes(rng, n, clusters, dtype, missing=0.0, noise=0.0):
    """Codes in the form of the kernels; column u has about clusters[u] clusters."""
    codes = np.column_stack([rng.integers(0, k, n) for k in clusters]).astype(dtype)
    codes[rng.random(codes.shape) < noise] = np.iinfo(dtype).max - 1
    codes[rng.random(codes.shape) < missing] = np.iinfo(dtype).max
    return codes


def labels_of_codes(codes):
    """The labels of codes that kernels read."""
    labels = codes.astype(np.int64)
    labels[codes == np.iinfo(codes.dtype).max] = -1
    labels[codes == np.iinfo(codes.dtype).max - 1] = -2
    return labels


def random_graph(rng, n, density=0.6):
    """A symmetric matrix of integer weights with a zero diagonal."""
    W = np.triu(rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < density), 1).astype(float)
    return W + W.T


# Partitions with little or no information about which objects belong together.
DEGENERATE = ("noise only", "one object", "one noise object", "one cluster", "one pair")


def degenerate(kind, n):
    """One such partition of n objects."""
    column = np.full(n, -1 if kind in ("one object", "one noise object") else -2)
    if kind == "one cluster":
        column[:] = 0
    elif kind == "one object":
        column[n // 2] = 0
    elif kind == "one noise object":
        column[n // 2] = -2
    elif kind == "one pair":
        column[[n // 3, n // 2]] = 0
    return column


def corrupt_graphs(graph):
    """Return copies of a CSR matrix with indices outside of it, which SciPy does not check."""
    copies = [graph.copy() for _ in range(3)]
    copies[0].indices[-1] = graph.shape[1]
    copies[1].indices[0] = -1
    copies[2].indptr[1] = graph.nnz + 1
    return copies


def superpixels(size, width, seed=0):
    """Return six fields of a map, and partitions into squares at different places, cut at the borders of the fields."""
    y, x = np.mgrid[:size, :size]
    fields = y * 3 // size + 3 * (x * 2 // size)
    shifts = np.random.default_rng(seed).integers(0, width, (10, 2))
    squares = [(y + a) // width * (size // width + 2) + (x + b) // width for a, b in shifts]
    return fields.ravel(), np.column_stack([(6 * one + fields).ravel() for one in squares])


# Seven pathologists (columns) on carcinoma in 118 slides of the uterine cervix, 1 if present: J. R. Landis and G. G. Koch,
# Biometrics 33, 1977, in A. Agresti, Categorical Data Analysis, 2002, Table 13.1; each row of answers with its number.
# fmt: off
_SLIDES = {
    "0000000": 34, "0000100": 2, "0100000": 6, "0100001": 1, "0100100": 4,
    "0100101": 5, "1000000": 2, "1010101": 1, "1100000": 2, "1100001": 1,
    "1100100": 2, "1100101": 7, "1100111": 1, "1101001": 1, "1101101": 2,
    "1101111": 3, "1110101": 13, "1110111": 5, "1111101": 10, "1111111": 16,
}
# fmt: on
PATHOLOGISTS = np.array([list(map(int, row)) for row, n in _SLIDES.items() for _ in range(n)])


def ragged(seed, n=40, m=7, missing=0.2, noise=0.1):
    """Labels with unequal numbers of clusters, some missing, some noise."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    columns = [
        np.where(rng.random(n) < 0.4, rng.integers(0, 2 + u % 4, n), truth % (2 + u % 4))
        for u in range(m)
    ]
    labels = np.column_stack(columns)
    labels[rng.random(labels.shape) < missing] = -1
    labels[rng.random(labels.shape) < noise] = -2
    labels[:, 0] = truth
    return labels
