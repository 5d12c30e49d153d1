"""Losses between two partitions from their definitions: entropies and pairs of objects, one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import log2


def shared(estimate, draw):
    """Return labels of the objects that both observed, each noise object with a separate label."""
    kept = [i for i, (c, s) in enumerate(zip(estimate, draw, strict=True)) if c != -1 and s != -1]
    return tuple(
        [("noise", i) if labels[i] == -2 else int(labels[i]) for i in kept]
        for labels in (estimate, draw)
    )


def entropy(items):
    n = len(items)
    return -sum(count / n * log2(count / n) for count in Counter(items).values())


def loss(estimate, draw, name, a=1.0):
    c, s = shared(estimate, draw)
    n = len(c)
    if name in ("binder", "omari"):
        return _pairs(c, s, name, a, n)
    h_c, h_s, h_both = entropy(c), entropy(s), entropy(list(zip(c, s, strict=True)))
    mutual, larger = h_c + h_s - h_both, max(h_c, h_s)
    if name == "vi":
        return a * (h_both - h_s) + (2 - a) * (h_both - h_c)
    if name == "nvi":
        return (2 * h_both - h_c - h_s) / h_both if h_both > 1e-12 else 0.0
    if name == "id":
        return larger - mutual
    return (larger - mutual) / larger if larger > 1e-12 else 0.0


def _pairs(c, s, name, a, n):
    separated = merged = together = both = 0
    for i, j in combinations(range(n), 2):
        in_c, in_s = c[i] == c[j], s[i] == s[j]
        separated += in_s and not in_c
        merged += in_c and not in_s
        together += in_c + in_s
        both += in_c and in_s
    if name == "binder":
        return 2 * (a * separated + (2 - a) * merged) / n**2
    pairs = n * (n - 1) / 2
    first, second = both + merged, both + separated
    expected = first * second / pairs if pairs else 0.0
    most = (first + second) / 2
    return 1 - (both - expected) / (most - expected) if abs(most - expected) > 1e-12 else 0.0


def expected_loss(estimate, ensemble, name, a=1.0, weights=None):
    """Return the mean over the columns, by weight and observed objects (Binder: pairs)."""
    total = share_sum = 0.0
    for u, draw in enumerate(ensemble.T):
        n = len(shared(estimate, draw)[0])
        if n:
            share = (1.0 if weights is None else weights[u]) * (n * n if name == "binder" else n)
            total += share * loss(estimate, draw, name, a)
            share_sum += share
    return total / share_sum
