"""Reference implementations of refined similarities, on all pairs of objects."""

import numpy as np


def self_enhanced(A, H, penalty, steps=20_000, pull=1.0):
    """Return C of EC-CMS by plain ADMM, box constraint and all; A is NaN where nothing was observed.

    min tr(C' L C) + penalty / 2 |C - A|^2 over the observed pairs, C = Z, with Z symmetric, in [0, 1], and A
    where H > 0 and on the diagonal.
    """
    n = len(A)
    L = np.diag(H.sum(axis=1)) - H
    observed = ~np.isnan(A)
    A = np.where(observed, A, 0.0)
    fixed = (H > 0) | np.eye(n, dtype=bool)
    Z, U = A.copy(), np.zeros((n, n))
    solve = np.linalg.inv(2 * L + pull * np.eye(n))
    for _ in range(steps):
        C = solve @ (pull * (Z - U))
        V = C + U
        V = 0.5 * (V + V.T)
        drawn = penalty * observed
        Z = np.clip((drawn * A + pull * V) / (drawn + pull), 0.0, 1.0)
        Z[fixed] = A[fixed]
        U += C - Z
    return Z


def residual(C, A, H, penalty):
    """Return L C + C L + penalty (C - A) of the free entries, 0 elsewhere."""
    L = np.diag(H.sum(axis=1)) - H
    left = L @ C + C @ L + penalty * np.where(np.isnan(A), 0.0, C - A)
    left[(H > 0) | np.eye(len(A), dtype=bool)] = 0.0
    return left


def dense_representation(X, penalty, steps=5):
    """Return the affinity of DREC, with each column of Z solved separately; X has rows."""
    n = len(X)
    K = X @ X.T
    d = np.ones(n)
    for _ in range(steps):
        Z = np.column_stack(
            [np.linalg.solve(K + penalty / d[j] * np.eye(n), K[:, j]) for j in range(n)]
        )
        d = np.array([1 / (2 * np.linalg.norm(X[j] - X.T @ Z[:, j])) for j in range(n)])
    U, s, _ = np.linalg.svd(Z)
    kept = s > 1e-4 * s[0]
    rows = U[:, kept] * np.sqrt(s[kept])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows @ rows.T) ** 4


def self_paced(labels, k, gamma, floor):
    """Return S of SPCE on all objects with complete labels, eigenvectors by a plain eigh; Zhou et al. 2021."""
    labels = np.asarray(labels)
    m = labels.shape[1]
    A = [(column[:, None] == column).astype(float) for column in labels.T]
    S = CA = sum(A) / m

    def smallest(S):
        return np.linalg.eigh(np.diag(S.sum(axis=1)) - S)

    (values, F), p, strength = smallest(S), np.full(m, 1 / m), 1.0
    F = F[:, :k]
    if values[:k].sum() < 1e-9:
        return S
    for q in (0.9, 0.8, 0.7, 0.6, 0.5):
        spread = 2 * sum((S - A[u]) ** 2 / p[u] for u in range(m))
        rho = 2 * ((q - 1) ** 2 * q + q**2 * (1 - q)) * m**2
        with np.errstate(divide="ignore"):
            W = np.minimum(1.0, rho / spread)
        for step in range(20 if q == 0.5 else 5):
            distances = ((F[:, None, :] - F[None, :, :]) ** 2).sum(axis=2)
            total = sum(1 / p)
            S = (sum(A[u] / p[u] for u in range(m)) - strength * distances / (2 * W**2)) / total
            S[np.sqrt(gamma) / (W * np.sqrt(total)) > S] = 0.0
            S = np.minimum(S, 1.0)
            S[CA == 1] = 1.0
            S[CA == 0] = 0.0
            S = (S + S.T) / 2
            before = F
            values, F = smallest(S)
            F = F[:, :k]
            phi = np.array([np.linalg.norm((S - A[u]) * W) for u in range(m)])
            p = np.maximum(phi / phi.sum(), floor)
            if values[:k].sum() > 1e-9:
                strength *= 2
            elif values[: k + 1].sum() < 1e-11:
                strength, F = strength / 2, before
            elif step > 0:
                break
    return S
