"""CEs2 as in the paper, on all pairs of objects: sets, graphs and loops."""

from itertools import combinations, pairwise

import numpy as np
from tests.naive.confidence import shares


def otsu(values):
    """The threshold that separates values with the largest variance between the two groups."""
    values = np.asarray(values, dtype=float)
    at = np.unique(np.round(values, 12))
    if len(at) == 1:
        return at[0]
    actual = []
    for low, high in pairwise(at):
        t = 0.5 * (low + high)
        a, b = values[values < t], values[values >= t]
        actual.append((len(a) * len(b) * (a.mean() - b.mean()) ** 2, t))
    best = max(value for value, _ in actual)
    return min(t for value, t in actual if value >= best * (1 - 1e-12))


def stability(p, determinacy="linear"):
    """Stability of the objects from 0 to 1, of shares with NaN on the diagonal."""
    th = otsu(p[~np.isnan(p)])
    with np.errstate(divide="ignore", invalid="ignore"):
        f = np.where(p < th, (th - p) / th, (p - th) / (1 - th))
    f[~np.isnan(p) & np.isnan(f)] = 1.0
    raw = np.nanmean(f**2 if determinacy == "quadratic" else f, axis=1)
    length = raw.max() - raw.min()
    return (raw - raw.min()) / length if length > 1e-12 else np.ones_like(raw)


def components(near):
    """Sets of objects connected by chains."""
    left, actual = set(range(len(near))), []
    while left:
        group, new = set(), {min(left)}
        while new:
            group |= new
            new = {j for i in new for j in range(len(near)) if near[i, j]} - group
        left -= group
        actual.append(frozenset(group))
    return actual


def links(D):
    """The links of single linkage: every cluster formed at a height, with that height."""
    heights = sorted({round(D[i, j], 9) for i, j in combinations(range(len(D)), 2)})
    actual, before = [], {frozenset([i]) for i in range(len(D))}
    for h in heights:
        now = set(components(h + 1e-9 >= D))
        actual += [(group, h) for group in now - before]
        before = now
    return actual


def inconsistency(D, depth=4):
    """Height and coefficient of every link."""
    tree = links(D)

    def above(group):
        return min((g for g, _ in tree if g > group), key=len, default=None)

    parents = {group: above(group) for group, _ in tree}
    under = {group: [] for group, _ in tree}
    for group, h in tree:
        at = group
        for _ in range(depth):
            if at is None:
                break
            under[at].append(h)
            at = parents[at]
    values = []
    for group, h in tree:
        heights = np.array(under[group])
        sd = heights.std(ddof=1) if len(heights) > 1 else 0.0
        values.append((h, (h - heights.mean()) / sd if sd > 1e-12 else 0.0))
    return values


def pieces_of(D, k):
    """Groups of the core: below the most inconsistent link, and at least k."""
    values = [(h, c) for h, c in inconsistency(D) if h > 1e-9]
    best = max((c for _, c in values), default=0.0)
    cuts = sorted({h for _, h in links(D)})
    at = min((h for h, c in values if c >= best - 1e-9), default=np.inf)
    for h in [at, *reversed([c for c in cuts if c < at])]:
        groups = components(h - 1e-9 > D)
        if len(groups) >= k:
            return groups
    return groups


def ces2(ensemble, k, determinacy="linear"):
    """The clusters of the objects, as sets. For ensembles where all weights are above 0."""
    p = shares(ensemble)
    np.fill_diagonal(p, np.nan)
    n = len(p)
    rows = [tuple(row) if -2 not in row else i for i, row in enumerate(ensemble.labels.tolist())]
    first = [rows.index(row) for row in rows]
    s = stability(p, determinacy)
    of_rows = sorted((s[i] for i in set(first)), reverse=True)
    if len(of_rows) <= k:
        return [frozenset(i for i in range(n) if first[i] == r) for r in set(first)]
    core = [i for i in range(n) if s[i] >= min(otsu(s), of_rows[k - 1])]
    heads = sorted({first[i] for i in core})
    D = 1 - np.nan_to_num(p[np.ix_(heads, heads)])
    np.fill_diagonal(D, 0.0)
    pieces = [
        {i for i in core if first[i] in {heads[place] for place in group}}
        for group in pieces_of(D, k)
    ]
    rest = [i for i in range(n) if i not in core]
    while rest:
        fits = np.zeros((len(rest), len(pieces)))
        for c, piece in enumerate(pieces):
            values = p[np.ix_(rest, sorted(piece))]
            finite = values[~np.isnan(values)]
            if len(finite):
                above = values >= otsu(finite)
                fits[:, c] = np.where(above, values, 0).sum(axis=1) / (above.sum(axis=1) + 1)
        best = fits.max(axis=1)
        if best.max() <= 0:
            near = np.nan_to_num(p[np.ix_(rest, rest)]) > 0
            same = np.array([[first[i] == first[j] for j in rest] for i in rest])
            pieces += [{rest[i] for i in group} for group in components(near | same)]
            break
        limit = otsu(best)
        joined = []
        for i, value, row in zip(rest, best, fits, strict=True):
            if value >= limit - 1e-12:
                tied = [c for c, fit in enumerate(row) if fit >= value - 1e-9]
                joined.append((i, max(tied, key=lambda c: len(pieces[c]))))
        for i, c in joined:
            pieces[c].add(i)
        rest = [i for i in rest if i not in {j for j, _ in joined}]
    while len(pieces) > k:
        pieces = merged(p, pieces, k)
    return [frozenset(piece) for piece in pieces]


def merged(p, pieces, k):
    """Single linkage of mean similarities: chains of the largest ones until k groups are left."""
    between = {}
    for a, b in combinations(range(len(pieces)), 2):
        values = p[np.ix_(sorted(pieces[a]), sorted(pieces[b]))]
        between[a, b] = 0.0 if np.isnan(values).all() else np.nanmean(values)
    group = list(range(len(pieces)))
    for a, b in sorted(between, key=between.get, reverse=True):
        if len(set(group)) == k:
            break
        group = [group[a] if g == group[b] else g for g in group]
    return [
        set().union(*(pieces[i] for i, g in enumerate(group) if g == one)) for one in set(group)
    ]
