"""Repair of a partition by loops over objects and pairs of objects."""

import itertools

import numpy as np


def units(S, pieces, groups, apart, touched, typical):
    """Join pieces with groups of objects that must be together, the most typical objects first; return sets of objects."""
    n = len(S)
    sets = [
        {i for i in range(n) if pieces[i] == p and not touched[i]} for p in range(max(pieces) + 1)
    ]
    members = {
        g: {i for i in range(n) if touched[i] and groups[i] == g} for g in set(groups[touched])
    }
    holder = {("piece", p): {("piece", p)} for p in range(len(sets))}
    holder |= {("group", g): {("group", g)} for g in members}

    def may_join(one, other):
        named = [{g for kind, g in holder[each] if kind == "group"} for each in (one, other)]
        return not any({a, b} in apart for a, b in itertools.product(*named))

    ranked = []
    for i in np.flatnonzero(touched):
        inside = np.flatnonzero(pieces == pieces[i])
        own = S[np.ix_(inside, inside)].sum(axis=1)
        rank = np.mean(own < S[i, inside].sum() - 1e-9)
        if rank >= typical:
            ranked.append((-rank, i))
    for _, i in sorted(ranked):
        one, other = ("group", groups[i]), ("piece", pieces[i])
        if holder[one] is not holder[other] and may_join(one, other):
            joined = holder[one] | holder[other]
            for each in joined:
                holder[each] = joined
    found = {frozenset(held) for held in holder.values()}
    of = {"piece": lambda p: sets[p], "group": lambda g: members[g]}
    whole = [set().union(*(of[kind](at) for kind, at in held)) for held in found]
    return [objects for objects in whole if objects]


def merged(S, units, labels, groups, apart):
    """Merge the units with the largest mean of similarity and equal labels; return the clusters after every merge."""
    means = [S[np.ix_(sorted(a), sorted(b))].mean() for a in units for b in units]
    G = S / max(means) + (labels[:, None] == labels[None, :])
    clusters = [frozenset(unit) for unit in units]
    steps = [set(clusters)]
    while True:
        best = None
        for a, b in itertools.combinations(clusters, 2):
            if any({groups[i], groups[j]} in apart for i in a for j in b):
                continue
            value = G[np.ix_(sorted(a), sorted(b))].mean()
            if best is None or value > best[0]:
                best = value, a, b
        if best is None:
            return steps
        clusters = [c for c in clusters if c not in best[1:]] + [best[1] | best[2]]
        steps.append(set(clusters))
