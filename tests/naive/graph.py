"""Cuts, hypergraphs and their best partitions, by definition."""

from __future__ import annotations

import itertools

import numpy as np
from tests.naive.partitions import all_partitions


def cut(W, labels):
    """Weight of the edges between parts."""
    n = len(labels)
    return sum(W[i][j] for i, j in itertools.combinations(range(n), 2) if labels[i] != labels[j])


def clusters(columns):
    """Member sets of every cluster of every partition, in order of first appearance."""
    values = []
    for column in np.asarray(columns).T:
        observed = []
        for label in column:
            if label >= 0 and label not in observed:
                observed.append(label)
        values += [{i for i, x in enumerate(column) if x == label} for label in observed]
    return values


def connectivity(columns, labels):
    """Sum over clusters of the number of parts that they meet, minus one."""
    return sum(len({labels[i] for i in members}) - 1 for members in clusters(columns))


def rounded(P, levels=10):
    """Memberships (n, clusters), rounded to parts of the largest of each cluster."""
    P = np.array(P, dtype=float)
    for column in P.T:
        if column.max() > 0:
            column[:] = np.rint(column * levels / column.max()) * column.max() / levels
    return P


def bipartite_cut(columns, labels):
    """Objects of each cluster that are not in the part of most of them."""
    total = 0
    for members in clusters(columns):
        parts = [labels[i] for i in members]
        total += len(parts) - max(parts.count(part) for part in set(parts))
    return total


def jaccard(columns):
    """Jaccard similarity of all clusters, over the objects that both partitions observed."""
    columns = np.asarray(columns)
    member, sets = [], []
    for u in range(columns.shape[1]):
        own = clusters(columns[:, [u]])
        member += [u] * len(own)
        sets += own
    J = np.zeros((len(sets), len(sets)))
    for a, b in itertools.permutations(range(len(sets)), 2):
        both = {
            i
            for i in range(len(columns))
            if columns[i, member[a]] != -1 and columns[i, member[b]] != -1
        }
        union = (sets[a] | sets[b]) & both
        J[a, b] = len(sets[a] & sets[b]) / len(union) if union else 0.0
    return J


def associations(columns, meta, k):
    """Share of the clusters of each meta-cluster, in partitions that observed the object, that hold it."""
    columns = np.asarray(columns)
    result = np.zeros((len(columns), k))
    for i in range(len(columns)):
        held, could = np.zeros(k), np.zeros(k)
        c = 0
        for u in range(columns.shape[1]):
            for members in clusters(columns[:, [u]]):
                if columns[i, u] != -1:
                    could[meta[c]] += 1
                    held[meta[c]] += i in members
                c += 1
        shares = np.divide(held, could, out=np.zeros(k), where=could > 0)
        result[i] = shares / shares.sum() if shares.any() else 1 / k
    return result


def best_balanced(criterion, n, k, capacity):
    """Lowest value of a criterion over all partitions into k parts of at most `capacity`."""
    return min(
        criterion(labels)
        for labels in all_partitions(n)
        if max(labels) == k - 1 and np.bincount(labels).max() <= capacity
    )


def singular_triplets(B):
    """All singular triplets of the degree-normalised B, by a dense SVD."""
    x, y = B.sum(axis=1), B.sum(axis=0)
    S = B / np.sqrt(x)[:, None] / np.sqrt(y)
    return np.linalg.svd(S, full_matrices=False)


def moved_hypergraph(members, weights, labels, mass, k, capacity, passes, patience, tries=32):
    """Move vertices between parts as ``PartRefiner.hypergraph`` does; all gains are computed again for each move.

    `members` (n, m) is the incidence of vertices and hyperedges. Returns the labels and the number of passes.
    """
    members, labels = np.asarray(members, dtype=bool), np.array(labels)

    def gains():
        inside = np.stack([members[labels == t].sum(axis=0) for t in range(k)])
        alone = np.stack([inside[labels[v]] == 1 for v in range(len(labels))])
        leaves = (members & alone) @ weights
        return leaves[:, None] - members @ ((inside == 0) * weights).T

    done = 0
    while done < passes:
        done += 1
        locked, held, moves = np.zeros(len(labels), bool), [set() for _ in range(k)], []
        total = best = kept = 0
        while len(moves) < kept + patience:
            now, found = gains(), None
            heavy, counts = np.bincount(labels, mass, k), np.bincount(labels, minlength=k)
            for t in range(k):
                if heavy[t] + mass.min() > capacity:
                    continue
                free = [v for v in np.flatnonzero(~locked & (labels != t)) if v not in held[t]]
                for v in sorted(free, key=lambda v, t=t: (-now[v, t], v))[:tries]:
                    if heavy[t] + mass[v] > capacity or counts[labels[v]] == 1:
                        held[t].add(v)
                        continue
                    rank = (now[v, t], -heavy[t])
                    if found is None or rank > found[0]:
                        found = rank, v, t
                    break
            if found is None:
                break
            (gain, _), v, t = found
            moves.append((v, labels[v]))
            held[labels[v]].clear()
            labels[v], locked[v], total = t, True, total + gain
            if total > best + 1e-9 * (weights.max() + best):
                best, kept = total, len(moves)
        for v, before in reversed(moves[kept:]):
            labels[v] = before
        if kept == 0:
            break
    return labels, done
