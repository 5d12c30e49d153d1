"""Borders point by point, in the whitened space itself."""

import numpy as np


def whitened(X, first, pieces, estimated=False):
    """Points after whitening by the first part, and the centres of its pieces there."""
    K = max(pieces) + 1
    A = [i for i in range(len(X)) if first[i] and pieces[i] >= 0]
    centres = [np.mean([X[i] for i in A if pieces[i] == k], axis=0) for k in range(K)]
    d = X.shape[1]
    C = np.zeros((d, d))
    for i in A:
        C += np.outer(X[i] - centres[pieces[i]], X[i] - centres[pieces[i]]) / len(A)
    if np.trace(C) == 0:
        W = np.eye(d)
    else:
        share, mu = 0.1, np.trace(C) / d
        if estimated:
            # Ledoit and Wolf 2004: the distance of products of single points from C, relative to that of C from mu I.
            rest = [X[i] - centres[pieces[i]] for i in A]
            off = np.mean([np.sum((np.outer(r, r) - C) ** 2) for r in rest]) / len(A)
            share = max(share, min(1.0, off / np.sum((C - mu * np.eye(d)) ** 2)))
        values, vectors = np.linalg.eigh((1 - share) * C + share * mu * np.eye(d))
        W = vectors / np.sqrt(values) @ vectors.T
    return X @ W, np.array(centres) @ W


def places(Z, centres, p, q):
    """The place of each point along the border of p and q, NaN outside of its region."""
    axis = centres[q] - centres[p]
    length = axis @ axis
    actual = np.full(len(Z), np.nan)
    for i, z in enumerate(Z):
        inside = True
        for c, centre in enumerate(centres):
            if c in (p, q):
                continue
            along = min(1.0, max(0.0, (centre - centres[p]) @ axis / length))
            nearest = centres[p] + along * axis
            if np.linalg.norm(z - nearest) > np.linalg.norm(z - centre):
                inside = False
        if inside:
            actual[i] = (z - centres[p]) @ axis / length
    return actual


def counts(t, first):
    """The points of the second part in the windows that the first part chooses."""
    t, first = np.asarray(t), np.asarray(first)

    def within(window, part):
        low = round(-0.45 + 0.1 * window, 10)
        return sum(1 for x, a in zip(t, first, strict=True) if a == part and low <= x < low + 0.3)

    valleys = sorted(range(6, 11), key=lambda w: (within(w, True), abs(w - 8), w))
    valley = valleys[0]
    left = max(range(valley - 2), key=lambda w: (within(w, True), w))
    right = max(range(valley + 3, 17), key=lambda w: (within(w, True), -w))
    return [within(w, False) for w in (left, valley, right)]
