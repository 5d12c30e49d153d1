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


def resampled(labels, consensus_of, draws, size):
    """Select by the agreement with the consensus of each of some draws of columns."""
    m = labels.shape[1]
    actual = [consensus_of(labels[:, sorted(drawn)]) for drawn in draws]
    score = np.zeros(m)
    for u in range(m):
        heard = [b for b, drawn in enumerate(draws) if u not in drawn]
        score[u] = np.mean(
            [
                normalized_mutual_info_score(labels[:, u], actual[b], average_method="geometric")
                for b in heard or range(len(draws))
            ]
        )
    return sorted(np.argsort(-np.round(score, 12), kind="stable")[:size].tolist())


def stabilities(labels, reruns, measure):
    """Recovery of each cluster by the same partition in other labels of some objects.

    `reruns` holds (objects, labels of these). Labels below 0: -1 missing, -2 noise.
    """
    result = []
    for u in range(labels.shape[1]):
        for c in range(labels[:, u].max() + 1):
            values, weights = [], []
            for objects, repeated in reruns:
                before, after = labels[objects, u], repeated[:, u]
                members = {i for i in range(len(objects)) if before[i] == c and after[i] != -1}
                if measure == "jaccard":
                    if not members:
                        continue
                    best = 0.0
                    for j in set(after[after >= 0]):
                        other = {
                            i for i in range(len(objects)) if after[i] == j and before[i] != -1
                        }
                        best = max(best, len(members & other) / len(members | other))
                    values.append(best)
                    weights.append(1)
                else:
                    pairs = list(combinations(sorted(members), 2))
                    together = [after[i] == after[j] >= 0 for i, j in pairs]
                    values.append(np.mean(together) if pairs else 0.0)
                    weights.append(len(pairs))
            result.append(np.average(values, weights=weights) if sum(weights) else 1.0)
    return np.array(result)
