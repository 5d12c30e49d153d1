"""The factored solver's model of an ensemble, and memberships in the layout of its kernel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._kernels import FactoredSolver, LabelView, factored_stride
from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import label_view, noise_code


@dataclass(frozen=True)
class FactoredModel:
    """The quantities of an ensemble that the solver needs besides the labels.

    With the sums of a solution (`kept`) it is a Placement.

    Attributes
    ----------
    offsets : ndarray of shape (n_partitions + 1,)
        Column of the indicator at which each partition begins.
    weights : ndarray of shape (n_partitions,) or None
        Weight of each partition.
    group_of : ndarray of shape (n_partitions,), int32
        Partitions of one group observed the same objects.
    n_groups : int
        Number of groups.
    sums : ndarray of shape (T, n_clusters)
        Sums of memberships over each cluster of the ensemble.
    grams : ndarray of shape (n_groups, n_clusters, n_clusters)
        Y'Y over the objects that each group observed.
    group_sizes : ndarray of shape (n_groups,)
        Number of objects in each group.
    """

    offsets: Ints
    weights: Floats | None
    group_of: NDArray[np.int32]
    n_groups: int
    sums: Floats = field(default_factory=lambda: np.empty((0, 0)))
    grams: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))
    group_sizes: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, ensemble: Ensemble) -> FactoredModel:
        """Group the partitions by which objects they observed."""
        groups = ensemble.presence_groups
        return cls(ensemble.offsets, ensemble.weights, groups.of_partition, len(groups.first))

    def fits(self, counts: Ints, n_clusters: int) -> bool:
        """Return whether the model is one of partitions with these numbers of clusters."""
        m, n_groups = len(counts), self.n_groups
        return (
            np.array_equal(self.offsets, starts_of(counts))
            and (self.weights is None or holds(self.weights, m))
            and holds(self.group_of, m)
            and bool((self.group_of >= 0).all() and (self.group_of < n_groups).all())
            and holds(self.sums, counts.sum(), n_clusters)
            and holds(self.grams, n_groups, n_clusters, n_clusters)
            and holds(self.group_sizes, n_groups)
        )

    def solver(self, labels: LabelView, n_clusters: int) -> FactoredSolver:
        """Return the kernel's solver for some objects' labels, with the weights of the model."""
        return FactoredSolver(
            labels.reweighted(self.weights), self.group_of, self.n_groups, n_clusters
        )

    def kept(self, solver: FactoredSolver, n_clusters: int) -> FactoredModel:
        """Return the model with the sums of a solver."""
        return replace(
            self,
            sums=whole_sums(solver, n_clusters),
            grams=whole_grams(solver, n_clusters),
            group_sizes=solver.group_sizes.copy(),
        )

    def reordered(self, clusters: Ints) -> FactoredModel:
        """Return the model with these clusters only, in this order."""
        return replace(
            self, sums=self.sums[:, clusters], grams=self.grams[:, clusters][:, :, clusters]
        )

    def place(self, codes: NDArray[Any], tol: float, threads: int) -> Floats:
        """Return the memberships of objects from their codes, each to a gap of `tol`."""
        k = self.sums.shape[1]
        complete = not (codes >= noise_code(codes.dtype)).any()
        # Partitions that observed the same objects may not have observed the same new ones.
        model = self if complete else self._one_by_one()
        solver = model.solver(label_view(codes, self.offsets, complete=complete), k)
        model.write_sums(solver)
        Y = uniform(len(codes), k)
        solver.assign(Y, tol, threads)
        return np.ascontiguousarray(Y[:, :k])

    def write_sums(self, solver: FactoredSolver) -> None:
        """Write the sums of the model into a solver."""
        k = self.sums.shape[1]
        solver.sums.reshape(-1, factored_stride(k))[:, :k] = self.sums
        solver.write_grams(np.ascontiguousarray(self.grams).reshape(-1))
        solver.group_sizes[:] = self.group_sizes

    def _one_by_one(self) -> FactoredModel:
        """Return the model with a group for each partition."""
        m = len(self.group_of)
        return replace(
            self,
            group_of=np.arange(m, dtype=np.int32),
            n_groups=m,
            grams=self.grams[self.group_of],
            group_sizes=self.group_sizes[self.group_of],
        )


def whole_sums(solver: FactoredSolver, n_clusters: int) -> Floats:
    """Return a copy of the solver's sums without padding, (T, n_clusters)."""
    return solver.sums.reshape(-1, factored_stride(n_clusters))[:, :n_clusters].copy()


def whole_grams(solver: FactoredSolver, n_clusters: int) -> Floats:
    """Return the solver's Grams, (n_groups, n_clusters, n_clusters)."""
    grams = np.empty((len(solver.group_sizes), n_clusters, n_clusters))
    solver.read_grams(grams.reshape(-1))
    return grams


def padded(Y: Floats) -> Floats:
    """Return a copy of Y with the columns that the kernel needs, zeros in the padding."""
    wide = np.zeros((len(Y), factored_stride(Y.shape[1])))
    wide[:, : Y.shape[1]] = Y
    return wide


def uniform(n: int, n_clusters: int) -> Floats:
    """Return uniform memberships in the kernel's layout."""
    wide = np.zeros((n, factored_stride(n_clusters)))
    wide[:, :n_clusters] = 1.0 / n_clusters
    return wide
