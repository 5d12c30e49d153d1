"""The pair objective, Algorithm 1 and a growth transformation, by their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import brentq

LEAST = 1e-12


def gradient(c, N, Y, divergence):
    """g_i = sum over j != i of N_ij d'(c_ij / N_ij, y_i'y_j) y_j."""
    g = np.zeros_like(Y)
    for i in range(len(Y)):
        for j in range(len(Y)):
            if i != j and N[i, j] > 0:
                q = min(max(Y[i] @ Y[j], LEAST), 1 - LEAST)
                slope = divergence.derivative(np.array([c[i, j] / N[i, j]]), np.array([q]))[0]
                g[i] += N[i, j] * slope * Y[j]
    return g


def objective(c, N, Y, divergence):
    total = 0.0
    for i, j in combinations(range(len(Y)), 2):
        if N[i, j] > 0:
            q = min(max(Y[i] @ Y[j], LEAST), 1 - LEAST)
            total += N[i, j] * divergence.value(np.array([c[i, j] / N[i, j]]), np.array([q]))[0]
    return total


def gaps(c, N, Y, divergence):
    g = gradient(c, N, Y, divergence)
    held = np.where(Y > 0, g, -np.inf)
    return held.max(axis=1) - g.min(axis=1)


def residual(c, N, Y, divergence):
    evidence = (N - np.diag(np.diag(N))).sum(axis=1).astype(float)
    actual = gaps(c, N, Y, divergence)
    return max(gap / total for gap, total in zip(actual, evidence, strict=True) if total > 0)


def step(c, N, Y, divergence):
    """One step of Algorithm 1: the object with the largest gap, its best pair, the best length."""
    Y = Y.copy()
    g = gradient(c, N, Y, divergence)
    held = np.where(Y > 0, g, -np.inf)
    J = int(np.argmax(held.max(axis=1) - g.min(axis=1)))
    U, V = int(np.argmin(g[J])), int(np.argmax(held[J]))

    def rho(length):
        moved = Y.copy()
        moved[J, V] -= length
        moved[J, U] += length
        slopes = gradient(c, N, moved, divergence)[J]
        return slopes[U] - slopes[V]

    most = Y[J, V]
    if rho(most) <= 0:
        length, Y[J, V] = most, 0.0
    else:
        length = brentq(rho, 0.0, most, xtol=1e-15, rtol=1e-14)
        Y[J, V] -= length
    Y[J, U] += length
    return Y


def growth(c, N, Y):
    """One growth transformation of every membership at once."""
    new = np.empty_like(Y)
    n, k = Y.shape
    for i in range(n):
        h = np.zeros(k)
        for j in range(n):
            if i != j and N[i, j] > 0:
                h += N[i, j] * ((c[i, j] / N[i, j] - Y[i] @ Y[j]) * Y[j] + 1)
        new[i] = Y[i] * h / (Y[i] @ h) if h.any() else Y[i]
    return new


def placement(c, N, prototypes, divergence, steps):
    """The best membership of one object on a grid of the simplex of three clusters."""
    best, actual = np.inf, None
    some = N > 0
    p = c[some] / N[some]
    for a in range(steps + 1):
        for b in range(steps + 1 - a):
            y = np.array([a, b, steps - a - b]) / steps
            q = np.clip(prototypes[some] @ y, LEAST, 1 - LEAST)
            loss = float(N[some] @ divergence.value(p, q))
            if loss < best:
                best, actual = loss, y
    return best, actual
