"""Neighbours of points, one pair after the other; communities and density by their definitions."""

from collections import deque

import numpy as np


def squared_distances(points, query):
    """Add up the squared differences feature by feature."""
    squares = np.zeros(len(points))
    for j in range(points.shape[1]):
        squares += (query[j] - points[:, j]) ** 2
    return squares


def nearest(points, k, queries=None):
    """Return names and squares of the k nearest points, the lower name of a tie first; never a point itself."""
    actual, squared = [], []
    for i, query in enumerate(points if queries is None else queries):
        squares = squared_distances(points, query)
        names = [j for j in range(len(points)) if queries is not None or j != i]
        names.sort(key=lambda j, squares=squares: (squares[j], j))
        actual.append(names[:k])
        squared.append([squares[j] for j in names[:k]])
    return np.array(actual), np.array(squared)


def graph(found, k, jaccard):
    """Return the weights of all pairs of points."""
    n = len(found)
    near = [{i, *found[i][:k]} for i in range(n)]
    weights = np.zeros((n, n))
    for i in range(n):
        for j in near[i] - {i}:
            weight = len(near[i] & near[j]) / len(near[i] | near[j]) if jaccard else 1.0
            weights[i, j] = weights[j, i] = weight
    return weights


def quality(weights, labels, loads, rate):
    """Return the objective of the Leiden algorithm."""
    total = 0.0
    for c in set(labels.tolist()):
        inside = labels == c
        total += weights[np.ix_(inside, inside)].sum() / 2 - rate * loads[inside].sum() ** 2 / 2
    return total


def modularity(weights, labels, resolution=1.0):
    """Return the modularity of a partition."""
    degrees = weights.sum(axis=1)
    total = degrees.sum()
    together = labels[:, None] == labels[None, :]
    expected = resolution * np.outer(degrees, degrees) / total
    return ((weights - expected) * together).sum() / total


def parts(ties, n):
    """Number the connected components by first appearance."""
    beside = {i: [] for i in range(n)}
    for a, b in ties:
        beside[a].append(b)
        beside[b].append(a)
    part = [-1] * n
    count = 0
    for i in range(n):
        if part[i] >= 0:
            continue
        part[i] = count
        waiting = deque([i])
        while waiting:
            for j in beside[waiting.popleft()]:
                if part[j] < 0:
                    part[j] = count
                    waiting.append(j)
        count += 1
    return np.array(part)


def density_clusters(points, k, m, n_clusters, least, masses):
    """Cut the longest ties of the spanning forest that leave enough on both sides."""
    n = len(points)
    actual, squares = nearest(points, k)
    cores = []
    for i in range(n):
        copies = [0.0] * (int(masses[i]) - 1)
        for j, square in zip(actual[i], squares[i], strict=True):
            copies += [square] * int(masses[j])
        cores.append(copies[min(m, len(copies)) - 1])
    ties = {}
    for i in range(n):
        for j, square in zip(actual[i].tolist(), squares[i], strict=True):
            ties[min(i, j), max(i, j)] = max(square, cores[i], cores[j])
    forest = []
    for pair in sorted(ties, key=lambda pair: (ties[pair], pair)):
        before = parts(forest, n)
        if before[pair[0]] != before[pair[1]]:
            forest.append(pair)
    cuts = n_clusters - (n - len(forest))
    for pair in forest[::-1]:
        if cuts <= 0:
            break
        rest = [tie for tie in forest if tie != pair]
        after = parts(rest, n)
        if min(masses[after == after[end]].sum() for end in pair) >= least:
            forest, cuts = rest, cuts - 1
    return parts(forest, n)
