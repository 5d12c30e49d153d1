"""Slow reference implementations of the voting methods. Labels: -1 missing, -2 noise."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np


def one_hot(column, k):
    """Return the (n, k) indicator of a column of labels; rows of zeros for missing and noise."""
    rows = np.zeros((len(column), k))
    for i, label in enumerate(column):
        if label >= 0:
            rows[i, label] = 1.0
    return rows


def squared_distance(members, observed, weights, votes, M):
    """Return sum_u w_u sum_{i observed} |M_i - member_u[i] votes_u|^2, object by object."""
    total = 0.0
    for u, member in enumerate(members):
        for i in range(len(M)):
            if observed[i, u]:
                total += weights[u] * ((M[i] - member[i] @ votes[u]) ** 2).sum()
    return total


def best_soft(members, observed, weights, votes):
    """Return the M on the simplex nearest to all partitions, by the shift of the mean."""
    n, k = len(members[0]), votes[0].shape[1]
    M = np.zeros((n, k))
    for i in range(n):
        observed_weight = sum(weights[u] for u in range(len(members)) if observed[i, u])
        if observed_weight:
            M[i] = sum(
                weights[u] * members[u][i] @ votes[u] for u in range(len(members)) if observed[i, u]
            )
            M[i] /= observed_weight
        M[i] += (1.0 - M[i].sum()) / k
    return M


def best_hard(members, observed, weights, votes):
    """Return the 0/1 M nearest to all partitions."""
    n, k = len(members[0]), votes[0].shape[1]
    M = np.zeros((n, k))
    for i in range(n):
        sums = sum(
            weights[u] * members[u][i] @ votes[u] for u in range(len(members)) if observed[i, u]
        )
        M[i, int(np.argmax(sums))] = 1.0
    return M


def matchings(k_own, k):
    """Yield every one-to-one matching of min(k_own, k) clusters to columns."""
    if k_own <= k:
        for columns in permutations(range(k), k_own):
            V = np.zeros((k_own, k))
            V[np.arange(k_own), columns] = 1.0
            yield V
    else:
        for rows in permutations(range(k_own), k):
            V = np.zeros((k_own, k))
            V[rows, np.arange(k)] = 1.0
            yield V


def best_of_all(labels, k, hard=False):
    """Return the least squared distance over all matchings; complete labels, each of k clusters.

    The mean is the best soft M, the plurality the best 0/1 one; the names of the first are kept.
    """
    labels = np.asarray(labels)
    n, m = labels.shape
    members = [one_hot(column, k) for column in labels.T]
    options = [[member[:, list(p)] for p in permutations(range(k))] for member in members[1:]]
    least = np.inf
    for choice in product(*options):
        sums = sum(choice, members[0])
        distances = {
            True: 2.0 * (n * m - sums.max(axis=1).sum()),
            False: n * m - (sums**2).sum() / m,
        }
        least = min(least, distances[hard])
    return least


def one_pass(labels, k):
    """Match in the given order to the mean of the earlier ones; complete labels. Return M (n, k)."""
    labels = np.asarray(labels)
    M = one_hot(labels[:, 0], k)
    for b in range(1, labels.shape[1]):
        member = one_hot(labels[:, b], k)
        best = max(permutations(range(k)), key=lambda p: float((M * member[:, list(p)]).sum()))
        M = b / (b + 1) * M + member[:, list(best)] / (b + 1)
    return M


def cumulative(members, observed, weights, k0, scheme):
    """Cumulative voting before the compression: list of (n, K_u) members in their order, to (n, k0).

    The first is the reference. Noise (a row of zeros that was observed) is a cluster of one.
    """
    n = len(members[0])
    first = np.zeros((n, k0))
    voted = observed[:, 0].copy()
    for i in range(n):
        if voted[i]:
            row = members[0][i]
            first[i, : len(row)] = row
            if row.sum() == 0:
                first[i] = 1.0 / k0
    U, observed_weight = first.copy(), np.where(voted, weights[0], 0.0)
    for u in range(1, len(members)):
        target = first if scheme in ("urcv", "rcv") else U.copy()
        target_known = observed[:, 0] if scheme in ("urcv", "rcv") else observed_weight > 0
        rows = [None] * members[u].shape[1]
        for c in range(members[u].shape[1]):
            share = members[u][:, c] * target_known
            if share.sum() == 0:
                continue
            rows[c] = share @ target
            if scheme == "rcv":
                rows[c] = np.divide(
                    rows[c], first.sum(axis=0), out=np.zeros(k0), where=first.sum(axis=0) > 0
                )
            rows[c] = rows[c] / rows[c].sum()
        for i in range(n):
            if not observed[i, u]:
                continue
            vote, mass = np.zeros(k0), 0.0
            for c, row in enumerate(rows):
                if row is not None:
                    vote += members[u][i, c] * row
                    mass += members[u][i, c]
            if members[u][i].sum() == 0 and target_known[i]:
                vote, mass = target[i], 1.0
            if mass > 0:
                new = observed_weight[i] + weights[u] * mass
                U[i] = (observed_weight[i] * U[i] + weights[u] * vote) / new
                observed_weight[i] = new
    return U


def locally_weighted(members, weights, k0, certainty):
    """Cumulative voting by certain clusters, twice, before the compression: (n, k0); 0: no votes.

    Noise and missing are rows of zeros: no vote. `certainty` has an array for each member.
    """
    n = len(members[0])
    U, a = np.zeros((n, k0)), np.zeros(n)
    for u, member in enumerate(members):
        votes = np.eye(member.shape[1], k0)
        if u > 0:
            votes = _mean_of_members(member, U, a > 0)
        for i in range(n):
            g = weights[u] * member[i] * certainty[u] * (votes.sum(axis=1) > 0)
            if g.sum() > 0:
                U[i] = (a[i] * U[i] + g @ votes) / (a[i] + g.sum())
                a[i] += g.sum()
    every = [_mean_of_members(member, U, a > 0) for member in members]
    actual = np.zeros((n, k0))
    for i in range(n):
        gs = [
            w * m[i] * c * (v.sum(axis=1) > 0)
            for w, m, c, v in zip(weights, members, certainty, every, strict=True)
        ]
        if sum(g.sum() for g in gs) > 0:
            actual[i] = sum(g @ v for g, v in zip(gs, every, strict=True)) / sum(
                g.sum() for g in gs
            )
    return actual


def _mean_of_members(member, U, known):
    votes = np.zeros((member.shape[1], U.shape[1]))
    for c in range(member.shape[1]):
        share = member[:, c] * known
        if share.sum() > 0:
            votes[c] = share @ U / share.sum()
    return votes


def information_merges(joint, k):
    """Merge columns of p(x, q) until k remain, each time those that lose least information."""
    groups = [[q] for q in range(joint.shape[1])]

    def information(columns):
        total = 0.0
        for column in columns:
            mass = column.sum()
            for x in range(len(column)):
                if column[x] > 0:
                    total += column[x] * np.log(column[x] / (joint[x].sum() * mass))
        return total

    while len(groups) > k:
        best = None
        for a in range(len(groups)):
            for b in range(a + 1, len(groups)):
                merged = [g for t, g in enumerate(groups) if t not in (a, b)]
                merged.append(groups[a] + groups[b])
                value = information([joint[:, g].sum(axis=1) for g in merged])
                if best is None or value > best[0] + 1e-12:
                    best = (value, a, b)
        _, a, b = best
        groups[a] = groups[a] + groups.pop(b)
    return groups


def positional(members, observed, weights, method):
    """Score clusters from aligned memberships, object by object, pair by pair."""
    n, k = members[0].shape
    scores = np.zeros((n, k))
    for i in range(n):
        wins = np.zeros((k, k))
        observed_weight = 0.0
        for u, member in enumerate(members):
            if not observed[i, u]:
                continue
            observed_weight += weights[u]
            for a in range(k):
                ahead = sum(member[i, b] > member[i, a] for b in range(k))
                level = sum(member[i, b] == member[i, a] for b in range(k))
                # ranks ahead + 1 .. ahead + level are shared; rank t has k - t + 1 points
                if method == "borda":
                    points = [k - t + 1 for t in range(ahead + 1, ahead + level + 1)]
                    scores[i, a] += weights[u] * np.mean(points)
                for b in range(k):
                    if a != b:
                        wins[a, b] += weights[u] * (
                            0.5
                            if member[i, a] == member[i, b]
                            else float(member[i, a] > member[i, b])
                        )
        if method == "condorcet":
            for a in range(k):
                scores[i, a] = sum(
                    wins[a, b] > observed_weight / 2 + 1e-9 for b in range(k) if b != a
                )
        total = scores[i].sum()
        scores[i] = scores[i] / total if total > 0 else 1.0 / k
    return scores
