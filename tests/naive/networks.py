"""Consensus on the edges of a network, a dict of edges at a time."""

from itertools import combinations
from math import comb, factorial, log, prod


def shares(edges, runs):
    """Return the share of the runs (lists of labels) in which both ends of each edge are together."""
    return {(a, b): sum(labels[a] == labels[b] for labels in runs) / len(runs) for a, b in edges}


def two_core(edges, n):
    """Return the nodes that remain when nodes with fewer than two edges are removed again and again."""
    inside = set(range(n))
    while True:
        degree = dict.fromkeys(inside, 0)
        for a, b in edges:
            if a in inside and b in inside:
                degree[a] += 1
                degree[b] += 1
        leaves = {v for v in inside if degree[v] < 2}
        if not leaves:
            return inside
        inside -= leaves


def weights(kind, edges, runs, n, threshold=0.8, least=0.05):
    """Return the weights of the edges that are clustered at the end; `edges`: a dict of edges to weights."""
    actual = shares(edges, runs)
    core = two_core(edges, n)
    result = {}
    for (a, b), weight in edges.items():
        share = actual[a, b]
        if kind == "ecg":
            inside = a in core and b in core
            result[a, b] = weight * (least + (1 - least) * share if inside else least)
        elif (kind == "strict" and share == 1) or (kind == "threshold" and share >= threshold):
            result[a, b] = weight
        elif kind == "fast" and share >= threshold:
            result[a, b] = weight * share
    return result


def modularity(edges, labels, resolution=1.0):
    """Return the modularity of labels on a dict of edges to weights."""
    total = sum(edges.values())
    degree = [0.0] * len(labels)
    inside = 0.0
    for (a, b), weight in edges.items():
        degree[a] += weight
        degree[b] += weight
        inside += weight * (labels[a] == labels[b])
    pairs = sum(
        degree[i] * degree[j]
        for i in range(len(labels))
        for j in range(len(labels))
        if labels[i] == labels[j]
    )
    return inside / total - resolution * pairs / (4 * total**2)


def potts(edges, labels, resolution):
    """Return the weight inside of the communities less the resolution times their pairs of nodes."""
    inside = sum(weight for (a, b), weight in edges.items() if labels[a] == labels[b])
    pairs = sum(labels[i] == labels[j] for i, j in combinations(range(len(labels)), 2))
    return inside - resolution * pairs


def description(edges, nodes, groups):
    """Return the nats of a graph without weights by the degree-corrected block model of Peixoto, and of its groups.

    `groups` is a list of sets that cover the nodes. Numbers of edges: uniform within groups and between pairs of groups.
    """

    def log_multisets(kinds, count):
        return log(comb(kinds + count - 1, count))

    def double_factorial(even):
        return prod(range(2, even + 1, 2))

    of = {v: r for r, group in enumerate(groups) for v in group}
    b = len(groups)
    counts = [[0] * b for _ in range(b)]
    for a, c in edges:
        r, s = sorted((of[a], of[c]))
        counts[r][s] += 1
    within = sum(counts[r][r] for r in range(b))
    between = len(edges) - within
    nats = 0.0
    for r, group in enumerate(groups):
        degree = 2 * counts[r][r] + sum(counts[min(r, s)][max(r, s)] for s in range(b) if s != r)
        nats += log(factorial(degree)) - log(double_factorial(2 * counts[r][r]))
        nats += log_multisets(len(group), degree)
        nats -= sum(log(factorial(counts[r][s])) for s in range(r + 1, b))
    if b > 1:
        nats += log(len(edges) + 1) + log_multisets(b, within)
        nats += log_multisets(b * (b - 1) // 2, between)
    n = len(nodes)
    nats += log(comb(n - 1, b - 1)) + log(factorial(n))
    return nats - sum(log(factorial(len(group))) for group in groups)
