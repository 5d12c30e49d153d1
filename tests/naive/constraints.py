"""Constraints by loops: closures by repeated merging, chains by search in breadth, trees by trying all pairs."""

import itertools

import numpy as np


def closure(n, must_link):
    """Merge sets of objects until no pair is left."""
    sets = [{i} for i in range(n)]
    for a, b in must_link:
        one = next(s for s in sets if a in s)
        other = next(s for s in sets if b in s)
        if one is not other:
            sets.remove(other)
            one |= other
    return sets


def shortest_chain(must_link, start, end):
    """Extend all chains by one pair at a time."""
    chains, seen = [[start]], {start}
    while chains:
        longer = []
        for chain in chains:
            if chain[-1] == end:
                return chain
            for a, b in must_link:
                for here, there in ((a, b), (b, a)):
                    if here == chain[-1] and there not in seen:
                        seen.add(there)
                        longer.append([*chain, there])
        chains = longer
    return None


def agglomerate(D, linkage, must_link, cannot_link):
    """Return the clusters after each merge, until no allowed pair is left; every distance from all pairs of objects."""
    clusters = [frozenset(s) for s in closure(len(D), must_link)]

    def distance(a, b):
        values = [D[i, j] for i in a for j in b]
        return {"average": np.mean, "single": np.min, "complete": np.max}[linkage](values)

    def allowed(a, b):
        return not any((i in a and j in b) or (i in b and j in a) for i, j in cannot_link)

    steps = [set(clusters)]
    while True:
        pairs = [(a, b) for a, b in itertools.combinations(clusters, 2) if allowed(a, b)]
        if not pairs:
            return steps
        a, b = min(pairs, key=lambda pair: distance(*pair))
        clusters = [c for c in clusters if c not in (a, b)] + [a | b]
        steps.append(set(clusters))


def first_free_colours(n, pairs, n_colours):
    """Colour the unit with the most colours beside it, then with the most neighbours, next; None if no colour is free."""
    others = [{int(b if a == i else a) for a, b in pairs if i in (a, b)} for i in range(n)]
    colours = [None] * n
    while any(colours[i] is None and others[i] for i in range(n)):
        left = [i for i in range(n) if colours[i] is None and others[i]]
        beside = {i: {colours[j] for j in others[i]} - {None} for i in left}
        unit = max(left, key=lambda i: (len(beside[i]), len(others[i]), -i))
        free = set(range(n_colours)) - beside[unit]
        if not free:
            return None
        colours[unit] = min(free)
    return colours
