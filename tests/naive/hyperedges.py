"""K-hyperedge medoids by definition: sets of objects, one partition after the other."""

from itertools import combinations

import numpy as np


def clusters_of(labels):
    """The clusters of all partitions, in order, as sets of objects."""
    return [
        {i for i, label in enumerate(column) if label == c}
        for column in np.asarray(labels).T
        for c in range(column.max() + 1)
    ]


def likeness(clusters, chosen, weights):
    """Similarity of the clusters to the nearest chosen ones, summed."""
    return sum(
        w * max((len(a & clusters[m]) / len(a | clusters[m]) for m in chosen), default=0.0)
        for w, a in zip(weights, clusters, strict=True)
    )


def best_medoids(clusters, k, weights):
    """The largest sum that k clusters reach."""
    return max(
        likeness(clusters, chosen, weights) for chosen in combinations(range(len(clusters)), k)
    )


def votes_on(clusters, labels, i, k, weights):
    """The votes for each label on object i: of each of its clusters by the labels of its objects."""
    return [
        sum(
            w * sum(labels[j] == c for j in a) / len(a)
            for w, a in zip(weights, clusters, strict=True)
            if i in a
        )
        for c in range(k)
    ]


def held(clusters, chosen, n, weights):
    """Labels in the end, from the objects that are in one of the chosen clusters only."""
    k = len(chosen)
    within = [[c for c in range(k) if i in clusters[chosen[c]]] for i in range(n)]
    labels = [own[0] if len(own) == 1 else -1 for own in within]
    done = sum(label >= 0 for label in labels)
    step = max(int(np.sqrt(n)), int(np.ceil((n - done) / k)))
    while done < n:
        done = min(n, done + step)
        votes = [sorted(votes_on(clusters, labels, i, k, weights)) for i in range(n)]
        clear = np.round([v[-1] - (v[-2] if k > 1 else 0.0) for v in votes], 10)
        least = np.sort(clear)[::-1][done - 1]
        best = [
            int(np.argmax(np.round(votes_on(clusters, labels, i, k, weights), 10)))
            for i in range(n)
        ]
        labels = [b if c >= least else -1 for b, c in zip(best, clear, strict=True)]
    for _ in range(50):
        new = []
        for i in range(n):
            votes = np.round(votes_on(clusters, labels, i, k, weights), 10)
            new.append(labels[i] if votes[labels[i]] == votes.max() else int(votes.argmax()))
        if new == labels:
            break
        labels = new
    return labels
