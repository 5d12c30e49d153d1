"""Mixtures of multinomials by loops over objects."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import gammaln, psi

from conclust import Ensemble


def joint(labels, mixing, thetas, weights=None):
    """P(labels of i, component k): labels numbered by first appearance, below 0 left out."""
    n, m = labels.shape
    P = np.tile(mixing, (n, 1))
    for i in range(n):
        for u in range(m):
            if labels[i, u] >= 0:
                w = 1.0 if weights is None else weights[u]
                P[i] *= thetas[u][:, labels[i, u]] ** w
    return P


def log_likelihood(labels, mixing, thetas, weights=None):
    return np.log(joint(labels, mixing, thetas, weights).sum(1)).sum()


def step(labels, mixing, thetas, smoothing=0.0):
    """One iteration of EM."""
    z = joint(labels, mixing, thetas)
    z /= z.sum(1, keepdims=True)
    after = []
    for u, theta in enumerate(thetas):
        counts = np.full(theta.shape, smoothing)
        for i, label in enumerate(labels[:, u]):
            if label >= 0:
                counts[:, label] += z[i]
        after.append(counts / counts.sum(1, keepdims=True))
    return z.mean(0), after


def elbo(labels, alpha, betas, membership, weights=None):
    """The bound of Bayesian cluster ensembles, term by term, at the best q(z).

    q(theta_i) is Dirichlet with mean `membership`; its total is alpha's plus the labels observed.
    """
    total = 0.0
    for i, row in enumerate(labels):
        w = [
            0.0 if label < 0 else 1.0 if weights is None else weights[u]
            for u, label in enumerate(row)
        ]
        gamma = membership[i] * (alpha.sum() + sum(w))
        logs = psi(gamma) - psi(gamma.sum())
        total += gammaln(alpha.sum()) - gammaln(alpha).sum() + ((alpha - 1) * logs).sum()
        total -= gammaln(gamma.sum()) - gammaln(gamma).sum() + ((gamma - 1) * logs).sum()
        for u, label in enumerate(row):
            if label >= 0:
                phi = np.exp(logs) * betas[u][:, label]
                phi /= phi.sum()
                kept = phi > 0
                each = logs + np.log(betas[u][:, label])
                total += w[u] * (phi[kept] * (each[kept] - np.log(phi[kept]))).sum()
    return total


def naive_round(labels, offsets, weights, counts, alpha, beta, mass):
    """The bound without its constant, the new masses, the uses, the expectations, object by object."""
    bound, new, use, logs = 0.0, np.zeros(mass.shape), np.zeros(beta.shape), np.zeros(len(alpha))
    for i, row in enumerate(Ensemble(labels).codes.astype(int)):
        gamma = alpha + mass[i]
        expected = psi(gamma) - psi(gamma.sum())
        each = gammaln(gamma).sum() - gammaln(gamma.sum()) - mass[i] @ expected
        logs += counts[i] * expected
        for u, label in enumerate(labels[i]):
            if label >= 0:
                t = offsets[u] + row[u]
                q = np.exp(expected) * beta[t]
                each += weights[u] * np.log(q.sum())
                new[i] += weights[u] * q / q.sum()
                use[t] += counts[i] * q / q.sum()
        bound += counts[i] * each
    return bound, new, use, logs


def log_marginal(labels, consensus, concentration, b):
    """Log of P(labels, consensus) under the Dirichlet process, up to a constant."""
    clusters = np.unique(consensus)
    total = len(clusters) * np.log(concentration)
    for k in clusters:
        part = labels[consensus == k]
        total += gammaln(len(part))
        for u in range(labels.shape[1]):
            width = labels[:, u].max() + 1
            counts = np.bincount(part[part[:, u] >= 0, u], minlength=width)
            total += gammaln(b * width) - gammaln(b * width + counts.sum())
            total += (gammaln(b + counts) - gammaln(b)).sum()
    return total


def log_mixed(labels, z, alpha, b, weights):
    """Log of P(labels, z) in the mixed-membership model, theta and beta integrated out; by loops."""
    total = 0.0
    for row, clusters in zip(labels, z, strict=True):
        mass = np.zeros(len(alpha))
        for u, label in enumerate(row):
            if label >= 0:
                mass[clusters[u]] += weights[u]
        total += gammaln(alpha.sum()) - gammaln(alpha.sum() + mass.sum())
        total += (gammaln(alpha + mass) - gammaln(alpha)).sum()
    for u, w in enumerate(weights):
        width = labels[:, u].max() + 1
        for k in range(len(alpha)):
            cluster_labels = labels[(labels[:, u] >= 0) & (z[:, u] == k), u]
            counts = np.bincount(cluster_labels, minlength=width)
            total += w * (gammaln(b * width) - gammaln(b * width + counts.sum()))
            total += w * (gammaln(b + counts) - gammaln(b)).sum()
    return total


def every_z(labels, k):
    """Every assignment of clusters to the labels that are there (elsewhere 0)."""
    cells = np.argwhere(labels >= 0)
    for chosen in np.ndindex(*[k] * len(cells)):
        z = np.zeros(labels.shape, dtype=np.int32)
        z[cells[:, 0], cells[:, 1]] = chosen
        yield z


def thetas_given(labels, z, alpha, weights):
    """The mean of each object's theta, given the clusters behind its labels."""
    gamma = np.tile(alpha, (len(labels), 1)).astype(float)
    for i, row in enumerate(labels):
        for u, label in enumerate(row):
            if label >= 0:
                gamma[i, z[i, u]] += weights[u]
    return gamma / gamma.sum(1, keepdims=True)


def random_bits(seed, i, draw):
    """The 64 bits of ``_kernels/base/random.h``."""
    golden, all_bits = 0x9E3779B97F4A7C15, 2**64 - 1

    def mixed(x):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & all_bits
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & all_bits
        return x ^ (x >> 31)

    return mixed(mixed(seed + golden * (i + 1) & all_bits) + golden * (draw + 1) & all_bits)


def gibbs_sweep(labels, weights, b, concentration, seed, clusters):
    """Draw the cluster of each object given all others, which are counted again at every object.

    `clusters` are -1 at first, and then numbered by first appearance.
    """
    widths = labels.max(axis=0) + 1
    clusters = clusters.copy()
    used, free = clusters.max() + 1, []
    for i, row in enumerate(labels):
        own, clusters[i] = clusters[i], -1
        if own >= 0 and not np.any(clusters == own):
            free.append(own)
        scores = []
        for k in range(used):
            inside = clusters == k
            scores.append(np.log(inside.sum()) if inside.any() else -np.inf)
            for u in np.flatnonzero(row >= 0):
                same, observed = np.sum(labels[inside, u] == row[u]), np.sum(labels[inside, u] >= 0)
                scores[k] += weights[u] * np.log((same + b) / (observed + b * widths[u]))
        scores.append(np.log(concentration) - (weights * np.log(widths))[row >= 0].sum())
        odds = np.exp(np.array(scores) - max(scores))
        chosen = odds.sum() * (random_bits(seed, i, 0) >> 11) / 2**53
        drawn = int(np.argmax(np.cumsum(odds) > chosen))
        if drawn == used:
            drawn = free.pop() if free else used
            used = max(used, drawn + 1)
        clusters[i] = drawn
    names = {k: name for name, k in enumerate(dict.fromkeys(clusters.tolist()))}
    return np.array([names[k] for k in clusters.tolist()])


def log_unbounded(labels, z, concentration, b):
    """log P(z, labels) of the hierarchical Dirichlet process, for objects with at most two labels.

    By the tables of a Chinese restaurant franchise; the concentration A of the objects is integrated over a grid.
    """
    t = np.linspace(-40, 5, 2_000)
    A, density = np.exp(t), np.exp(concentration * t - np.exp(t) - gammaln(concentration))
    seen = labels >= 0
    z = np.where(seen, z, -1)
    k = z.max() + 1
    counts = np.array([(z == c).sum(axis=1) for c in range(k)]).T
    total = np.zeros(len(A))
    # An object with two labels of one cluster has them at one table or at two, in one way each.
    for tables in product(*[range(1, c + 1) for c in counts[counts > 0]]):
        of = np.zeros(counts.shape)
        of[counts > 0] = tables
        both = of.sum()
        rises = gammaln(concentration) - gammaln(concentration + both) + gammaln(of.sum(0)).sum()
        total += A**both * np.exp(k * np.log(concentration) + rises)
    for here in seen.sum(axis=1):
        total *= np.exp(gammaln(A) - gammaln(A + here))
    log = np.log((total * density).sum() * (t[1] - t[0]))
    for u, column in enumerate(labels.T):
        n_labels = column.max() + 1
        for c in range(k):
            use = np.bincount(column[z[:, u] == c], minlength=n_labels)
            log += gammaln(b * n_labels) - gammaln(b * n_labels + use.sum())
            log += (gammaln(b + use) - gammaln(b)).sum()
    return log
