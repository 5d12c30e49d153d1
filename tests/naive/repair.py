"""Merges of pieces by loops over objects and pairs of objects."""

import itertools

import numpy as np


def similarity(S, labels):
    """Return the similarity of objects, the largest one of an object with itself being 1, plus 1 in the same cluster."""
    return S / S.diagonal().max() + (labels[:, None] == labels[None, :])


def typical(S, pieces):
    """Return the objects of the upper three tenths of their piece, by their similarity with it."""
    found = np.zeros(len(S), dtype=bool)
    for piece in set(pieces.tolist()):
        inside = np.flatnonzero(pieces == piece)
        own = np.array([np.mean([S[i, j] for j in inside]) for i in inside])
        found[inside] = own >= np.quantile(own, 0.7) - 1e-9
    return found


def votes(pieces, speaks, must, cannot, groups):
    """Return the votes of constraints for two pieces: each group, and each two groups apart, has one for two pieces."""
    P = max(pieces) + 1
    found = np.zeros((P, P), dtype=int)
    for p, q in itertools.permutations(range(P), 2):
        at_p, at_q = ({groups[i] for i in np.flatnonzero(speaks & (pieces == x))} for x in (p, q))
        found[p, q] = len({g for g in at_p & at_q if g in must})
        found[p, q] -= sum({g, h} in cannot for g in at_p for h in at_q)
    return found


def merged(G, pieces, votes):
    """Return the clusters of pieces after each merge, until all that are left have votes against them.

    Two pieces with votes for being together are nearer, by twice their share of the most such votes.
    """
    P = max(pieces) + 1
    near = np.empty((P, P))
    for p, q in itertools.product(range(P), repeat=2):
        near[p, q] = G[np.ix_(pieces == p, pieces == q)].mean()
        near[p, q] += 2.0 * max(votes[p, q], 0) / max(1, votes.max())
    sizes = np.bincount(pieces)
    clusters = [frozenset([p]) for p in range(P)]
    steps = [set(clusters)]
    while True:
        allowed = [
            (np.average([[near[p, q] for q in b] for p in a], weights=_pairs(sizes, a, b)), a, b)
            for a, b in itertools.combinations(clusters, 2)
            if not any(votes[p, q] < 0 for p in a for q in b)
        ]
        if not allowed:
            return steps
        _, a, b = max(allowed, key=lambda one: one[0])
        clusters = [each for each in clusters if each not in (a, b)] + [a | b]
        steps.append(set(clusters))


def _pairs(sizes, one, other):
    return [[sizes[p] * sizes[q] for q in other] for p in one]
