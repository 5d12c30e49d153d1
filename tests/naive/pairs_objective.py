"""The objective over pairs by its definition, for any divergence: a loop over pairs."""

from __future__ import annotations

from itertools import combinations
from math import log


def kl(p, q):
    """The binary Kullback-Leibler divergence, 0 log 0 = 0."""
    total = 0.0
    for x, y in ((p, q), (1 - p, 1 - q)):
        if x > 0:
            total += x * log(x / y)
    return total


def l2(p, q):
    """The squared distance."""
    return (p - q) ** 2


def power(a):
    """The power divergence from its convex function h and the derivative of h."""

    def h(t):
        return (t**a + (1 - t) ** a - 1) / (a * (a - 1))

    def slope(t):
        return (t ** (a - 1) - (1 - t) ** (a - 1)) / (a - 1)

    return lambda p, q: h(p) - h(q) - (p - q) * slope(q)


def objective(c, N, Y, d):
    """f(Y) = sum over pairs with N_ij > 0 of N_ij d(c_ij / N_ij, y_i'y_j)."""
    return sum(
        N[i, j] * d(c[i, j] / N[i, j], float(Y[i] @ Y[j]))
        for i, j in combinations(range(len(Y)), 2)
        if N[i, j] > 0
    )


def log_likelihood(c, N, Y):
    """Sum over pairs of c log y_i'y_j + (N - c) log(1 - y_i'y_j)."""
    total = 0.0
    for i, j in combinations(range(len(Y)), 2):
        a = float(Y[i] @ Y[j])
        total += c[i, j] * log(a) if c[i, j] > 0 else 0.0
        total += (N[i, j] - c[i, j]) * log(1 - a) if N[i, j] > c[i, j] else 0.0
    return total
