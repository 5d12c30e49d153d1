"""Doubts from the shape of the points: clusters without a gap between them may be one cloud."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from conclust.confidence.gaps import cluster_gaps

__all__ = ["NO_GAP", "gap_doubts"]

NO_GAP = "No cluster is separated from all others by a gap"
"""How the doubt begins."""

_DRAWS = 199  # uniform samples: enough to tell a mean p-value from 0.05


def gap_doubts(
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    seed: np.random.SeedSequence,
    threads: int,
) -> tuple[str, ...]:
    """Return a doubt where no cluster is apart: pairs without a gap join all clusters.

    k-means cuts a flat square, or a skewed cloud, into stable parts, and these are more stable than parts of a
    Gaussian cloud; then no gap is seen between neighbours.
    """
    gaps = cluster_gaps(points, labels, n_draws=_DRAWS, random_state=seed, n_jobs=threads)
    # False, too, where a cluster is too small to say.
    touching = sp.csr_matrix((gaps.p_value > 0.05).astype(np.float64))
    if connected_components(touching, directed=False)[0] > 1:
        return ()
    return (
        f"{NO_GAP}: one cloud that is not Gaussian, flat or skewed, is cut into stable parts like these, too "
        "(compare null='unimodal').",
    )
