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
    """Merge the units by the mean of similarity and equal labels; return the clusters after every merge, and the number to keep.

    First those with pieces, down to a mean of 1/2; then those without join one with, and last all.
    """
    means = [S[np.ix_(sorted(a), sorted(b))].mean() for a in units for b in units]
    G = S / max(means) + (labels[:, None] == labels[None, :])
    clusters = [frozenset(unit) for unit in units]
    alone = {cluster for cluster in clusters if all(touched[i] for i in cluster)}
    steps, kept = [set(clusters)], None
    for stage in ("pieces", "alone", "all"):
        while True:
            best = None
            for a, b in itertools.combinations(clusters, 2):
                n_alone = (a in alone) + (b in alone)
                value = G[np.ix_(sorted(a), sorted(b))].mean()
                if stage == "pieces" and (n_alone or value < 0.5):
                    continue
                if stage == "alone" and n_alone != 1:
                    continue
                if any({groups[i], groups[j]} in apart for i in a for j in b):
                    continue
                if best is None or value > best[0]:
                    best = value, a, b
            if best is None:
                break
            if stage == "all" and best[0] < 0.5 and kept is None:
                kept = len(clusters)
            clusters = [c for c in clusters if c not in best[1:]] + [best[1] | best[2]]
            steps.append(set(clusters))
    return steps, len(clusters) if kept is None else kept


def settled(S, clusters, units, labels, groups, apart):
    """Move each unit, the largest first, to the most similar cluster where it may be, until none moves."""
    means = [S[np.ix_(sorted(a), sorted(b))].mean() for a in units for b in units]
    G = S / max(means) + (labels[:, None] == labels[None, :])
    parts = [[frozenset(unit) for unit in units if unit <= cluster] for cluster in clusters]
    order = sorted((frozenset(unit) for unit in units), key=lambda unit: -len(unit))

    def likeness(unit, part):
        rest = [i for other in part if other != unit for i in other]
        if any({groups[i], groups[j]} in apart for i in unit for j in rest):
            return -np.inf
        return G[np.ix_(sorted(unit), sorted(rest))].mean()

    moved = True
    while moved:
        moved = False
        for unit in order:
            (own,) = [part for part in parts if unit in part]
            if len(own) == 1:
                continue
            best = max(parts, key=lambda part: likeness(unit, part))
            if likeness(unit, best) > likeness(unit, own) + 1e-9:
                own.remove(unit)
                best.append(unit)
                moved = True
    return {frozenset().union(*part) for part in parts}
