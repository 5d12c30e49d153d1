"""Utilities of a consensus and the normalised cut, by their definitions, from one block per partition.

Blocks come from ``tests.naive.qmi.blocks``: NaN where missing, an extra column for each noise object.
"""

from __future__ import annotations

import numpy as np

PHI = {
    "U_c": lambda m: float(sum(x * x for x in m)),
    "U_H": lambda m: float(sum(x * np.log2(x) for x in m if x > 0)),
    "U_cos": lambda m: float(np.sqrt(sum(x * x for x in m))),
    "U_Lp": lambda m: float(sum(x**5 for x in m) ** 0.2),
}


def utility(blocks, consensus, name, weights=None, normalized=False):
    """Sum of weight x share observed x (sum_r p_r phi(m_r) - phi(P))."""
    phi, total = PHI[name], 0.0
    for u, P in enumerate(blocks):
        observed = ~np.isnan(P[:, 0])
        rows, clusters = P[observed], consensus[observed]
        everybody = phi(rows.mean(0))
        gain = -everybody
        for k in np.unique(clusters):
            part = rows[clusters == k]
            gain += len(part) / len(rows) * phi(part.mean(0))
        gain *= observed.mean() * (1 if weights is None else weights[u])
        total += gain / abs(everybody) if normalized and everybody else gain
    return total


def cut_loss(blocks, consensus, weights=None):
    """Sum of d |b / d - mean|^2, d the row sums of B W B', means weighted by d."""
    weights = np.ones(len(blocks)) if weights is None else np.asarray(weights)
    B = np.hstack([np.nan_to_num(P) * np.sqrt(w) for P, w in zip(blocks, weights, strict=True)])
    d = (B @ B.T).sum(1)
    loss = 0.0
    for k in np.unique(consensus):
        mine = (consensus == k) & (d > 0)
        points = B[mine] / d[mine, None]
        mean = (d[mine, None] * points).sum(0) / d[mine].sum()
        loss += (d[mine] * ((points - mean) ** 2).sum(1)).sum()
    return loss
