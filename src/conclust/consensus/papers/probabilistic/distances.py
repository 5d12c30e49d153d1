"""Distances d_u(Y) between partitions and a consensus, over all pairs or a pattern of pairs.

    d_u(Y) = s_u sum over ordered pairs i != j that partition u observed of (x_ui'x_uj - y_i'y_j)^2

with x_ui the indicator (or the posterior) of object i in partition u. The factor s_u = n (n - 1) /
(pairs counted) makes partitions comparable that observed different numbers of objects; it is 1
for a partition that observed all. A consensus that weighs the partitions by alpha_u s_u and weights
that are chosen by d_u minimise the same sum, alpha'd.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from conclust import divergences
from conclust._kernels import FactoredSolver
from conclust._types import Bools, Floats
from conclust.consensus.papers.probabilistic.descent import descend
from conclust.consensus.papers.probabilistic.placements.factored_model import FactoredModel, padded
from conclust.consensus.papers.probabilistic.problem import Stopping
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import Derived, within_range
from conclust.ensemble.labels import missing_code, noise_code
from conclust.evidence import SparseEvidence, pair_counts

# Number of cells (objects or pairs times partitions) formed at once.
_CELLS = 1 << 21


class AllPairs:
    """All pairs, none of them formed: from cluster sums and K x K Grams.

    With G_u = sum_i y_i y_i' and S_u = sum_i x_ui y_i' over the objects that u observed::

        d_u / s_u = |G_u|^2 - sum_i |y_i|^4 - 2 (|S_u|^2 - sum_i |x_ui|^2 |y_i|^2)
                    + |X_u X_u'|^2 - sum_i |x_ui|^4

    in O(n (N K + K^2)) altogether.
    """

    def __init__(self, ensemble: Ensemble, n_clusters: int, threads: int) -> None:
        self.ensemble, self.n_clusters, self.threads = ensemble, n_clusters, threads
        self._soft = ensemble.indicator if ensemble.is_soft else None
        # Unweighted: each partition has its own distance.
        self.model = FactoredModel.of(ensemble.reweighted(None))
        self._measure = self._solver(self.model)
        n = ensemble.n_samples
        observed = ensemble.observed_counts.astype(np.float64)
        self.scale = scale_of(n, observed * (observed - 1))
        self._together = self._constants()

    def _solver(self, model: FactoredModel) -> FactoredSolver:
        return model.solver(self.ensemble.label_view, self.n_clusters)

    def _constants(self) -> Floats:
        """Return ``|X_u X_u'|^2 - sum_i |x_ui|^4``: for labels, the ordered pairs put together."""
        ensemble = self.ensemble
        if self._soft is None:
            return together(ensemble)
        total = np.empty(ensemble.n_partitions)
        for u in range(ensemble.n_partitions):
            P = self._soft[:, ensemble.offsets[u] : ensemble.offsets[u + 1]]
            self_pairs = np.asarray(P.multiply(P).sum(axis=1)).ravel()
            total[u] = np.sum((P.T @ P).toarray() ** 2) - np.sum(self_pairs**2)
        return total

    def distances(self, Y: Floats) -> Floats:
        """Return d_u(Y) of every partition; 0 for one that observed no pair."""
        self._measure.rebuild(padded(Y), self.threads)
        self.model = self.model.kept(self._measure, self.n_clusters)
        self_pairs = of_self_pairs(self.ensemble, (Y**2).sum(axis=1))
        return distances_of(self.ensemble, self.model, self_pairs, self._together) * self.scale

    def descend(self, Y: Floats, weights: Floats, max_iter: int, tol: float) -> Floats:
        """Sweep over all objects with the factored solver."""
        solver = self._solver(replace(self.model, weights=weights))
        wide = padded(Y)
        solver.rebuild(wide, self.threads)
        loss = solver.objective() + 0.5 * float(weights @ self._together)
        for _ in range(max_iter):
            enough = tol * max(loss, 0.0)
            change, _residual, _ = solver.sweep(
                wide, 1e-9, enough / self.ensemble.n_samples, self.threads
            )
            loss += change
            if -change <= enough:
                break
        return np.ascontiguousarray(wide[:, : self.n_clusters])


class PairPattern:
    """A symmetric pattern of pairs: they are formed, block by block, and compared one by one."""

    def __init__(self, ensemble: Ensemble, pattern: SparseEvidence, threads: int) -> None:
        self.ensemble, self.pattern, self.threads = ensemble, pattern, threads
        n = ensemble.n_samples
        first = np.repeat(np.arange(n), np.diff(pattern.indptr))
        once = first < pattern.indices
        self._i, self._j = first[once], pattern.indices[once].astype(np.int64)
        counted = np.zeros(ensemble.n_partitions)
        for rows in _blocks(len(self._i), ensemble.n_partitions):
            counted += self._both(rows).sum(axis=0)
        self.scale = scale_of(n, 2.0 * counted)

    def _both(self, rows: slice) -> Bools:
        """Return which partitions observed both objects of some pairs."""
        codes, missing = self.ensemble.codes, missing_code(self.ensemble.codes.dtype)
        return np.asarray(
            (codes[self._i[rows]] != missing) & (codes[self._j[rows]] != missing), dtype=np.bool_
        )

    def _together(self, rows: slice) -> Floats:
        """Return x_ui'x_uj for some pairs: 1 where u puts them together."""
        ensemble = self.ensemble
        i, j = self._i[rows], self._j[rows]
        if ensemble.is_soft:
            B = ensemble.indicator
            m, T = ensemble.n_partitions, int(ensemble.offsets[-1])
            columns = (np.arange(T), ensemble.column_partitions)
            by_partition = csr_array((np.ones(T), columns), shape=(T, m))
            return np.asarray((B[i].multiply(B[j]).tocsr() @ by_partition).toarray())
        codes = ensemble.codes
        a, b = codes[i], codes[j]
        return np.asarray((a == b) & (a < noise_code(codes.dtype)), dtype=np.float64)

    def distances(self, Y: Floats) -> Floats:
        """Return d_u(Y) of every partition; 0 for one that observed no pair."""
        d = np.zeros(self.ensemble.n_partitions)
        for rows in _blocks(len(self._i), max(self.ensemble.n_partitions, Y.shape[1])):
            a = (Y[self._i[rows]] * Y[self._j[rows]]).sum(axis=1)
            apart = self._together(rows) - a[:, np.newaxis]
            d += (apart**2 * self._both(rows)).sum(axis=0)
        return 2.0 * d * self.scale

    def descend(self, Y: Floats, weights: Floats, max_iter: int, tol: float) -> Floats:
        """Visit the objects with the pairwise solver."""
        stopping = Stopping(max_iter, tol, 1e-9)
        evidence = self._evidence(weights)
        return descend(evidence, Y, divergences.l2, stopping, threads=self.threads).membership

    def _evidence(self, weights: Floats) -> SparseEvidence:
        """Return the weighted counts of the pattern, without pairs of zero weight."""
        weighted = self.ensemble.reweighted(within_range(weights))
        indptr, indices = self.pattern.indptr, self.pattern.indices
        i = np.repeat(np.arange(self.ensemble.n_samples), np.diff(indptr))
        c, N = pair_counts(weighted, i, indices, n_jobs=self.threads)
        observed = N > 0
        if not observed.all():
            n_known = np.concatenate([[0], np.cumsum(observed)])
            indptr, indices, c, N = n_known[indptr], indices[observed], c[observed], N[observed]
        return SparseEvidence._of(indptr, indices, c, N)


# The pairs of objects over which partitions and consensus are compared.
PairSet: TypeAlias = AllPairs | PairPattern


def distances_of(
    ensemble: Derived,
    model: FactoredModel,
    self_pairs: tuple[Floats, Floats],
    pairs_together: Floats,
) -> Floats:
    """Return d_u / s_u of all pairs from S and G in a model, and the contribution of the pairs i = j to them."""
    fourths, products = self_pairs
    grams = (model.grams**2).sum(axis=(1, 2))[model.group_of]
    sums = _per_partition(ensemble, (model.sums**2).sum(axis=1))
    return np.asarray(np.maximum(grams - fourths - 2.0 * (sums - products) + pairs_together, 0.0))


def of_self_pairs(ensemble: Ensemble, norms: Floats) -> tuple[Floats, Floats]:
    """Return for each partition the sums over the objects it observed of ``|y_i|^4``, ``|x_ui|^2 |y_i|^2``."""
    n, m = ensemble.shape
    if ensemble.label_view.complete and not ensemble.is_soft:
        return np.full(m, np.sum(norms**2)), np.full(m, np.sum(norms))
    fourths, products = np.zeros(m), np.zeros(m)
    dtype = ensemble.codes.dtype
    for rows in _blocks(n, m):
        codes = ensemble.codes[rows]
        part = norms[rows][:, np.newaxis]
        fourths += (part**2 * (codes != missing_code(dtype))).sum(axis=0)
        if not ensemble.is_soft:
            products += (part * (codes < noise_code(dtype))).sum(axis=0)
    if ensemble.is_soft:
        squares = ensemble.indicator.multiply(ensemble.indicator)
        products = _per_partition(ensemble, np.asarray(squares.T @ norms).ravel())
    return fourths, products


def together(ensemble: Derived) -> Floats:
    """Return the ordered pairs that each partition puts together."""
    return _per_partition(ensemble, ensemble.cluster_sizes * (ensemble.cluster_sizes - 1))


def _per_partition(ensemble: Derived, values: Floats) -> Floats:
    """Add up one value per cluster to one per partition."""
    sums = np.zeros(ensemble.n_partitions)
    np.add.at(sums, ensemble.column_partitions, values)
    return sums


def scale_of(n: int, pairs: Floats) -> Floats:
    """Return s_u, of the ordered pairs that each partition observed."""
    return np.divide(n * (n - 1.0), pairs, out=np.zeros_like(pairs), where=pairs > 0)


def _blocks(count: int, width: int) -> Iterator[slice]:
    step = max(1, _CELLS // max(width, 1))
    for begin in range(0, count, step):
        yield slice(begin, begin + step)
