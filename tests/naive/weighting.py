"""Slow reference implementations of the selections: scores recomputed from sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score


def similarities(labels, measure="nmi"):
    """Compare all columns by scikit-learn's measures; complete labels."""
    m = labels.shape[1]
    S = np.eye(m)
    for u, v in combinations(range(m), 2):
        if measure == "nmi":
            S[u, v] = normalized_mutual_info_score(
                labels[:, u], labels[:, v], average_method="geometric"
            )
        else:
            S[u, v] = adjusted_rand_score(labels[:, u], labels[:, v])
        S[v, u] = S[u, v]
    return S


def quality(S):
    return np.array([np.mean(np.delete(S[u], u)) for u in range(len(S))])


def joint_score(S, chosen, alpha):
    q = quality(S)
    similarity = np.mean([S[u, v] for u, v in combinations(chosen, 2)])
    return alpha * np.mean(q[list(chosen)]) - (1 - alpha) * similarity


def joint_criterion(S, size, alpha):
    chosen = [int(np.argmax(quality(S)))]
    while len(chosen) < size:
        rest = [u for u in range(len(S)) if u not in chosen]
        chosen.append(max(rest, key=lambda u: round(joint_score(S, [*chosen, u], alpha), 12)))
    return sorted(chosen)
