"""Slow reference implementations of the criteria: loops over pairs of objects and resamples."""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np


def evidence(labels):
    """Return {pair: (c, N)} of labels (n, m); -1 missing, -2 noise."""
    actual = {}
    for i, j in combinations(range(len(labels)), 2):
        both = [(a, b) for a, b in zip(labels[i], labels[j], strict=True) if a != -1 and b != -1]
        actual[i, j] = sum(a == b and a >= 0 for a, b in both), len(both)
    return actual


def known(labels):
    return {pair: (c, N) for pair, (c, N) in evidence(labels).items() if N > 0}


def shares(labels):
    return [Fraction(c, N) for c, N in known(labels).values()]


def pac(labels, low=Fraction(1, 10), high=Fraction(9, 10), strict=False):
    values = shares(labels)
    within = [low < v < high if strict else low < v <= high for v in values]
    return sum(within) / len(values)


def area(labels):
    """Integrate the distribution function step by step."""
    values = sorted(shares(labels))
    points = sorted({Fraction(0), Fraction(1), *values})
    total = Fraction(0)
    for a, b in pairwise(points):
        total += (b - a) * Fraction(sum(v <= a for v in values), len(values))
    return float(total)


def sharp(labels, consensus):
    x_w = n_w = x_b = n_b = 0
    for (i, j), (c, N) in evidence(labels).items():
        if consensus[i] == consensus[j]:
            x_w, n_w = x_w + c, n_w + N
        else:
            x_b, n_b = x_b + c, n_b + N
    p_w, p_b, p_0 = x_w / n_w, x_b / n_b, (x_w + x_b) / (n_w + n_b)
    return (p_w - p_b) / np.sqrt(p_0 * (1 - p_0) * (1 / n_w + 1 / n_b))


def consensus_matrix(labels):
    M = np.full((len(labels), len(labels)), np.nan)
    for (i, j), (c, N) in known(labels).items():
        M[i, j] = M[j, i] = c / N
    return M
