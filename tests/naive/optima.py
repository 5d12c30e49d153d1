"""The criteria of consensus methods for every partition of seven objects."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from tests.naive.median import shifted, similarity
from tests.naive.partitions import all_partitions

ALL = np.array(list(all_partitions(7)))
CLUSTERS = ALL.max(axis=1) + 1
MEMBER = (ALL[:, None, :] == np.arange(7)[:, None]).astype(float)  # partition, cluster, object
SIZE = MEMBER.sum(axis=2)
_PER = 1 / np.maximum(SIZE, 1)


def random_ensembles(count, seed=0):
    """Ensembles of five to nine partitions of seven objects, two to four labels in each."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        m = rng.integers(5, 10)
        yield np.column_stack([rng.integers(0, rng.integers(2, 5), 7) for _ in range(m)])


def place_of(labels):
    """Return the index of a partition in ALL."""
    return int(np.flatnonzero((labels == ALL).all(axis=1))[0])


def tables(labels):
    """The contingency table of every partition with every member."""
    for column in labels.T:
        yield np.einsum("pki,li->pkl", MEMBER, column == np.unique(column)[:, None])


def disagreements(labels):
    together = ALL[:, :, None] == ALL[:, None, :]
    theirs = labels[:, None, :] == labels[None, :, :]
    i, j = np.triu_indices(7, 1)
    return (together[:, i, j, None] != theirs[None, i, j]).sum(axis=(1, 2))


def semi_averages(labels, criterion="ensemble", explained=False):
    """The sum over clusters of g, or of g |g|; the mean similarity subtracted."""
    a = shifted(*similarity(labels, criterion))
    g = np.einsum("pki,ij,pkj->pk", MEMBER, a, MEMBER, optimize=True) * _PER
    return (g * np.abs(g) if explained else g).sum(axis=1)


def quadratic_information(labels):
    total = 0.0
    for both in tables(labels):
        given = (both**2).sum(axis=2) * _PER / 7
        total = total + 2 * (given.sum(axis=1) - ((both.sum(axis=1) / 7) ** 2).sum(axis=1))
    return total


def divergence(labels):
    """Mean over objects of the summed entropies of labels within clusters, in nats."""
    total = 0.0
    for both in tables(labels):
        share = both * _PER[:, :, None]
        total = total - (both * np.log(np.where(share > 0, share, 1))).sum(axis=(1, 2)) / 7
    return total


def utilities(labels, phi, normalized=False):
    """Sum over members of the mean phi of shares within clusters, less phi of all objects' shares."""
    total = 0.0
    for both in tables(labels):
        given = phi(both * _PER[:, :, None]) * SIZE / 7
        everybody = phi(both.sum(axis=1) / 7)[0]
        gain = given.sum(axis=1) - everybody
        # A member with one cluster has no entropy, and no utility.
        total = total + gain / (abs(everybody) if normalized and everybody else 1)
    return total


def normalized_cut(labels):
    """Normalised cut of the co-association, up to a constant, from the matrix of all pairs."""
    S = sum((column[:, None] == column).astype(float) for column in labels.T)
    degrees = S.sum(axis=1)
    inside = np.einsum("pki,ij,pkj->pk", MEMBER, S, MEMBER, optimize=True)
    volume = np.maximum(MEMBER @ degrees, 1)
    return (np.diag(S) / degrees).sum() - (inside / volume).sum(axis=1)


def votes(labels, k):
    """Squared distance to the members under the best one-to-one matching; inf above k clusters."""
    total = np.where(k >= CLUSTERS, 0.0, np.inf)
    for both in tables(labels):
        sizes = both[0].sum(axis=0)
        for p in np.flatnonzero(k >= CLUSTERS):
            cost = sizes - 2 * both[p, :k]
            total[p] += 7 + cost[linear_sum_assignment(cost)].sum()
    return total


def resemblances(labels, weights, kernel):
    """The weighted sum of resemblances by the kernel of partitions, in its closed form."""
    s = np.arange(8)
    f = 2.0 * s * (s - 1) if kernel == "pairs" else s * (s + 1) * 2.0 ** (s - 2)
    self_kernel = f / np.maximum(s, 1) ** 2
    total = 0.0
    for w, both in zip(weights, tables(labels), strict=True):
        sizes = both[0].sum(axis=0)
        norm = self_kernel[SIZE.astype(int)].sum(axis=1) * self_kernel[sizes.astype(int)].sum()
        shared = (f[both.astype(int)] * _PER[:, :, None] / sizes).sum(axis=(1, 2))
        total = total + w * shared * (norm > 0) / np.sqrt(np.where(norm > 0, norm, 1))
    return total


def expected_losses(labels, loss, a=1.0):
    """The mean loss over the members, of entropies in bits or of pairs."""
    n, total = 7.0, 0.0

    def entropy(counts):
        share = counts / n
        return -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=-1)

    def ratio(part, whole):
        return np.where(whole > 1e-9, part / np.where(whole > 1e-9, whole, 1), 0.0)

    for both in tables(labels):
        h_c, h_s = entropy(SIZE), entropy(both[0].sum(axis=0))
        h_both = entropy(both.reshape(len(ALL), -1))
        mutual, larger = h_c + h_s - h_both, np.maximum(h_c, h_s)
        pairs_c, pairs_s, shared = (
            (sizes * (sizes - 1) / 2).sum(axis=-1)
            for sizes in (SIZE, both[0].sum(axis=0), both.reshape(len(ALL), -1))
        )
        mean, chance = (pairs_c + pairs_s) / 2, pairs_c * pairs_s / 21
        total = (
            total
            + {
                "vi": a * (h_both - h_s) + (2 - a) * (h_both - h_c),
                "nvi": ratio(2 * h_both - h_c - h_s, h_both),
                "id": larger - mutual,
                "nid": ratio(larger - mutual, larger),
                "binder": 2 * (a * (pairs_s - shared) + (2 - a) * (pairs_c - shared)) / n**2,
                "omari": ratio(mean - shared, mean - chance),
            }[loss]
        )
    return total / labels.shape[1]
