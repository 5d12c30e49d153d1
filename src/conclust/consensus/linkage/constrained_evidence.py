"""Constrained trees of an ensemble, from shares of partitions or with clusters weighted by their certainty."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from conclust._threads import one_library_thread
from conclust._types import Floats
from conclust.consensus.constraints import Constraints
from conclust.consensus.linkage.constrained import ConstrainedTree, Growth, constrained_tree
from conclust.ensemble import DistinctRows, Ensemble
from conclust.exceptions import DenseLimitError
from conclust.trees.agglomeration import cluster_dissimilarities, starting_clusters
from conclust.trees.clusterwise import pairs_of


class DenseLimit(NamedTuple):
    """The number of rows above which an estimator refuses a matrix of all pairs, and the estimator's name."""

    max_dense: int
    owner: str


def constrained_evidence_tree(
    ensemble: Ensemble,
    growth: Growth,
    *,
    limit: DenseLimit,
    n_jobs: int | None = None,
) -> ConstrainedTree:
    """Grow a tree on 1 - c_ij / N_ij that keeps the constraints.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    growth : Growth
        Linkage, constraints on the objects, and the number of clusters.
    limit : DenseLimit
        Maximum number of distinct rows and constrained objects.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    """
    alike = np.ones(int(ensemble.offsets[-1]))
    return constrained_certain_tree(
        ensemble,
        alike,
        growth,
        normalized=False,
        limit=limit,
        n_jobs=n_jobs,
    )


def constrained_certain_tree(
    ensemble: Ensemble,
    certainty: Floats,
    growth: Growth,
    *,
    normalized: bool,
    limit: DenseLimit,
    n_jobs: int | None = None,
) -> ConstrainedTree:
    """Grow a tree on 1 - S, with clusters weighted by their certainty, that keeps the constraints.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    certainty : ndarray of shape (n_columns,)
        The certainty of the clusters of the partitions.
    growth : Growth
        Linkage, constraints on the objects, and the number of clusters.
    normalized : bool
        Whether similarities are divided by the largest one.
    limit : DenseLimit
        Maximum number of distinct rows and constrained objects.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Raises
    ------
    DenseLimitError
        If there are more distinct rows and constrained objects than the limit allows.
    """
    start = _start(ensemble, growth.constraints)
    n = len(start)
    if n > limit.max_dense:
        raise DenseLimitError(
            f"{limit.owner} with constraints needs a matrix of all pairs of the {n} distinct rows of labels and constrained "
            f"objects ({8 * n * n / 1e9:.1f} GB), more than max_dense={limit.max_dense} allows. Raise max_dense, or use "
            "AutoConsensus, which grows its trees on a part of the objects."
        )
    self_similarity = pairs_of(ensemble, sp.csr_array(sp.diags_array(certainty))).own
    if normalized:  # divided by the largest entry of S, which is on the diagonal
        certainty, self_similarity = (
            certainty / (float(self_similarity.max()) or 1.0),
            self_similarity / (float(self_similarity.max()) or 1.0),
        )

    def dissimilarities() -> Floats:
        with one_library_thread():
            return cluster_dissimilarities(ensemble, certainty, None, start, n_jobs=n_jobs)[0]

    tree = constrained_tree(dissimilarities, start, growth)
    return replace(tree, born=max(0.0, 1.0 - float(self_similarity.min())))


def _start(ensemble: Ensemble, constraints: Constraints) -> DistinctRows:
    """Return objects with equal rows as starting clusters, those with constraints alone."""
    start = starting_clusters(ensemble)
    alone = np.zeros(len(start), dtype=np.bool_)
    alone[start.inverse[constraints.touched]] = True
    return start.apart(alone)
