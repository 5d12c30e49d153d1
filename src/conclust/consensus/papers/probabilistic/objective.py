"""The parts of the least-squares objective that do not depend on the membership.

With c_ij = sum_u w_u s_uij, where s_uij is 1 if partition u puts i and j together (the product of
their posteriors if it is soft), the sum over partitions and pairs of w_u (s_uij - y_i'y_j)^2
exceeds f(Y) = sum N_ij (c_ij / N_ij - y_i'y_j)^2 by `together` - `squared`.
"""

from __future__ import annotations

import numpy as np

from conclust._kernels import squared_evidence
from conclust._types import Floats
from conclust.ensemble import Ensemble
from conclust.evidence import coassociation_blocks
from conclust.evidence.dense import unsigned
from conclust.spectra.gram import scaled_gram_norm

# Small blocks stay in the cache between counting and squaring.
_BLOCK_CELLS = 1 << 22


def together(ensemble: Ensemble, sizes: Floats | None = None) -> float:
    """Return the sum over pairs and partitions of w_u s_uij^2: no pair is formed.

    `sizes` (T,): the sizes of all clusters; None: they are counted.
    """
    if not ensemble.is_soft:
        if sizes is None:
            sizes = ensemble.cluster_sizes
        pairs = sizes * (sizes - 1) / 2
        return float(ensemble.column_weights @ pairs)
    total = 0.0
    for u, weight in enumerate(ensemble.partition_weights):
        P = ensemble.indicator[:, ensemble.offsets[u] : ensemble.offsets[u + 1]]
        self_pairs = np.asarray(P.multiply(P).sum(axis=1)).ravel()
        gram = (P.T @ P).toarray()
        total += weight * (np.sum(gram**2) - self_pairs @ self_pairs) / 2
    return float(total)


def squared_of_clusters(ensemble: Ensemble) -> float:
    """Return the sum over pairs of c_ij^2 / N_ij, without missing labels: no pair is formed.

    N_ij is the sum W of all weights, and the squared norm of C = B diag(w) B' that of diag(w)^1/2 B'B diag(w)^1/2, to
    which each object's own c_ii^2 belongs, too.
    """
    B, weights = ensemble.indicator, ensemble.column_weights
    self_pairs = B.multiply(B) @ weights
    norm = scaled_gram_norm(ensemble, np.sqrt(weights))
    return (norm - float(self_pairs @ self_pairs)) / (2.0 * float(ensemble.partition_weights.sum()))


def squared(ensemble: Ensemble, threads: int) -> float:
    """Return the sum over pairs of c_ij^2 / N_ij: all pairs are formed, block by block, unless members are soft and complete."""
    if ensemble.is_soft and not ensemble.has_missing:
        return squared_of_clusters(ensemble)
    rows = max(1, _BLOCK_CELLS // ensemble.n_samples)
    total = 0.0
    for block in coassociation_blocks(ensemble, block_rows=rows, n_jobs=threads):
        N = block.copresence.astype(block.counts.dtype, copy=False)
        total += squared_evidence(unsigned(block.counts), unsigned(N), block.rows.start)
    return total / 2
