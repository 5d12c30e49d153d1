"""Repair of a partition by loops over objects and pairs of objects."""

import itertools

import numpy as np


def ranks(S, pieces):
    """Return how many objects of its piece are less similar to it than an object, relative to the largest number."""
    found = np.ones(len(S))
    for piece in set(pieces.tolist()):
        inside = np.flatnonzero(pieces == piece)
        own = [sum(S[i, j] for j in inside) for i in inside]
        lower = [sum(other < each - 1e-9 for other in own) for each in own]
        if max(lower) > 0:
            found[inside] = np.array(lower) / max(lower)
    return found


def outvoted(pieces, labels, represents, groups, apart, touched):
    """Return objects whose pair breaks the partition, unless more pairs between their pieces do than do not."""
    speaking = np.flatnonzero(touched & represents)
    votes, pairs = {}, []
    for sign in (1, -1):
        seen = set()
        for i, j in itertools.product(speaking, speaking):
            between = tuple(sorted((pieces[i], pieces[j])))
            if sign == 1 and i != j and groups[i] == groups[j]:
                vote = (between, groups[i])
            elif sign == -1 and {groups[i], groups[j]} in apart:
                # Each pair of groups has one vote for every two pieces, first of one and then of the other group.
                first, second = (i, j) if groups[i] < groups[j] else (j, i)
                vote = (pieces[first], pieces[second], groups[first], groups[second])
            else:
                continue
            pairs.append((sign, between, i, j))
            if vote not in seen:
                seen.add(vote)
                votes[between] = votes.get(between, 0) + sign
    stays = dict.fromkeys(pieces, 0)
    # Pairs that keep a piece in its cluster then speak against joining it to another.
    if not apart:
        kept = {(between, groups[i]) for _, between, i, j in pairs if labels[i] == labels[j]}
        for between, _ in kept:
            for piece in set(between):
                stays[piece] += 1
    silent = set()
    for sign, between, i, j in pairs:
        same = labels[i] == labels[j]
        against = max(stays[piece] for piece in between)
        if (sign == 1 and not same and votes[between] <= against) or (
            sign == -1 and same and votes[between] >= 0
        ):
            silent |= {i, j}
    return silent


def units(pieces, rank, groups, apart, touched, represents):
    """Join pieces with groups of objects that must be together, the most typical objects first; return sets of objects."""
    n = len(pieces)
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

    for _, i in sorted((-rank[i], i) for i in np.flatnonzero(touched & represents)):
        one, other = ("group", groups[i]), ("piece", pieces[i])
        if holder[one] is not holder[other] and may_join(one, other):
            joined = holder[one] | holder[other]
            for each in joined:
                holder[each] = joined
    found = {frozenset(held) for held in holder.values()}
    of = {"piece": lambda p: sets[p], "group": lambda g: members[g]}
    whole = [set().union(*(of[kind](at) for kind, at in held)) for held in found]
    return [objects for objects in whole if objects]


def merged(S, units, labels, groups, apart, touched):
    """Return the clusters of the units, merged by the mean of similarity and equal labels.

    Those with pieces are merged, down to a mean of 1/2. The others join the clusters, and all move, until none does. Those that may be in
    none of the clusters are merged in the same way.
    """
    G = similarity(S, units, labels)
    alone = [unit for unit in units if all(touched[i] for i in unit)]
    clusters = []
    for some in ([unit for unit in units if unit not in alone], alone):
        new = [[frozenset(u)] for u in some if not any(frozenset(u) in held for held in clusters)]
        while True:
            allowed = [
                (mean(G, set().union(*a), set().union(*b)), at, by)
                for (at, a), (by, b) in itertools.combinations(enumerate(new), 2)
                if not separated(set().union(*a), set().union(*b), groups, apart)
            ]
            value, at, by = max(allowed, key=lambda one: one[0], default=(0.0, 0, 0))
            if value < 0.5:
                break
            new[at] += new.pop(by)
        clusters += new
        waiting = [frozenset(unit) for unit in units]
        waiting = [unit for unit in waiting if not any(unit in held for held in clusters)]
        settled(G, clusters, units, waiting, groups, apart)
    return {frozenset().union(*held) for held in clusters}


def similarity(S, units, labels):
    means = [mean(S, a, b) for a in units for b in units]
    return S / max(means) + (labels[:, None] == labels[None, :])


def mean(G, one, other):
    return G[np.ix_(sorted(one), sorted(other))].mean()


def separated(one, other, groups, apart):
    return any({groups[i], groups[j]} in apart for i in one for j in other)


def settled(G, clusters, units, waiting, groups, apart):
    """Move each unit, the largest first, to the most similar cluster where it may be, until none moves."""

    def likeness(unit, held):
        rest = {i for other in held if other != unit for i in other}
        return -np.inf if separated(unit, rest, groups, apart) else mean(G, unit, rest)

    moved = True
    while moved:
        moved = False
        for unit in sorted(map(frozenset, units), key=lambda unit: (-len(unit), min(unit))):
            own = next((held for held in clusters if unit in held), None)
            if (own is None and unit not in waiting) or (own is not None and len(own) == 1):
                continue
            best = max(clusters, key=lambda held: likeness(unit, held))
            here = -np.inf if own is None else likeness(unit, own)
            if likeness(unit, best) > here + 1e-9:
                if own is not None:
                    own.remove(unit)
                best.append(unit)
                moved = True
