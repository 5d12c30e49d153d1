"""FCA-Consensus, partitions and formal concepts: slow reference implementations by definition."""

from __future__ import annotations

from itertools import chain, combinations

MISSING, NOISE = -1, -2


def fca_consensus(labels, threshold, weights=None):
    """Run the resolved pseudo-code object by object, with sets.

    Returns a list with the concept of every object (None: no concept covers it), the list of
    the concepts' intents, sets of (partition, label), what `fca_labels` needs, and the number of passes.
    """
    m = len(labels[0])
    w = [1] * m if weights is None else list(weights)
    # A noise object is a singleton cluster.
    rows = [
        {(u, ("alone", g) if k == NOISE else k) for u, k in enumerate(row) if k != MISSING}
        for g, row in enumerate(labels)
    ]

    def weight(intent):
        return sum(w[u] for u, _ in intent)

    def extent_of(intent):
        return {g for g, row in enumerate(rows) if intent <= row}

    covered, queue = set(), []
    for g, row in enumerate(rows):
        if g not in covered and weight(row) >= threshold:
            queue.append((extent_of(row) - covered, row))
            covered |= extent_of(row)
    passes = 0
    while True:
        passes += 1
        actual, cover = [], set()
        for A, B in queue:
            if A & cover:
                continue
            cover |= A
            for g in range(len(rows)):
                if g in cover:
                    continue
                Y = B & rows[g]
                if weight(Y) < threshold:
                    continue
                Z = extent_of(Y)
                new = Z - A - {g}
                if any(h < g for h in new) or new & cover:
                    continue
                A, B = A | Z, Y
                cover |= Z
            actual.append((A, B))
        if actual == queue:
            break
        queue = actual

    concept = [None] * len(rows)
    for c, (A, _) in enumerate(queue):
        for g in A:
            concept[g] = c
    return concept, [B for _, B in queue], rows, w, [len(A) for A, _ in queue], passes


def fca_labels(labels, threshold, weights=None):
    """Cover the remaining objects; one hashable cluster per object."""
    concept, intents, rows, w, sizes, _ = fca_consensus(labels, threshold, weights)
    answer = []
    for g, c in enumerate(concept):
        if c is None:
            scores = [sum(w[u] for u, _ in B & rows[g]) for B in intents]
            best = max(scores, default=0)
            if best > 0:
                c = max(
                    (c for c in range(len(intents)) if scores[c] == best),
                    key=lambda c: (sizes[c], -c),
                )
            else:
                c = ("nobody", frozenset(rows[g]))
        answer.append(c)
    return answer


def by_size(labels):
    """List the objects by falling number of objects with their labels (noise: one), then given."""

    def count(g):
        return 1 if NOISE in labels[g] else sum(list(row) == list(labels[g]) for row in labels)

    first = {}
    for g, row in enumerate(labels):
        first.setdefault(tuple(row) if NOISE not in row else g, g)
    return sorted(
        range(len(labels)),
        key=lambda g: (-count(g), first[g if NOISE in labels[g] else tuple(labels[g])], g),
    )


def blocks(labels):
    actual = {}
    for g, k in enumerate(labels):
        actual.setdefault(k, set()).add(g)
    return set(map(frozenset, actual.values()))


def meet(a, b):
    return {A & B for A in blocks(a) for B in blocks(b)} - {frozenset()}


def join(a, b):
    """Merge blocks that overlap until none do."""
    merged = set(blocks(a))
    for B in blocks(b):
        touched = {A for A in merged if A & B}
        merged = (merged - touched) | {frozenset(chain.from_iterable(touched))}
    return merged


def is_finer(a, b):
    return all(any(A <= B for B in blocks(b)) for A in blocks(a))


def concepts(incidence):
    """Close every set of objects."""
    objects, attributes = range(len(incidence)), range(len(incidence[0]))
    actual = set()
    for size in range(len(incidence) + 1):
        for A in combinations(objects, size):
            B = frozenset(m for m in attributes if all(incidence[g][m] for g in A))
            actual.add((frozenset(g for g in objects if all(incidence[g][m] for m in B)), B))
    return actual


def covering_pairs(extents):
    """List (lower, upper) with nothing between."""
    return {
        (i, j)
        for i, A in enumerate(extents)
        for j, B in enumerate(extents)
        if A < B and not any(A < C < B for C in extents)
    }
