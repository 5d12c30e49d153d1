"""Ensembles drawn from a known model: a soft membership."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conclust._random import RandomStateLike, generator
from conclust._validation import check_int
from conclust.ensemble import Ensemble
from conclust.membership import check_membership


def planted_ensemble(
    membership: ArrayLike, n_partitions: int = 100, *, random_state: RandomStateLike = None
) -> Ensemble:
    """Draw partitions from a soft membership, which a probabilistic consensus should recover.

    In every partition every object draws its cluster from its own row, independently.

    Parameters
    ----------
    membership : (n_samples, n_clusters) array-like of float
        Probabilities of the clusters for every object; rows sum to 1.
    n_partitions : int, default=100
        Partitions to draw. The paper draws 1000.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Ensemble
        (n_samples, n_partitions).

    Raises
    ------
    InputError
        If the rows are not probabilities.
    ParameterError
        If `n_partitions` is not a positive int.

    References
    ----------
    A. Lourenco et al.: Probabilistic consensus clustering using evidence accumulation. Machine
    Learning 98, 2015, section 7.1.

    Examples
    --------
    >>> from conclust.datasets import planted_ensemble
    >>> planted_ensemble([[1, 0], [0.5, 0.5], [0, 1]], 10, random_state=0)
    Ensemble(3 objects, 10 partitions of 2 clusters)
    """
    rows = check_membership(membership)
    m = check_int(n_partitions, "n_partitions", "planted_ensemble")
    rng = generator(random_state, "planted_ensemble")
    # The last cluster of positive probability has no upper end, so that sums which rounding left
    # below 1 cannot lead beyond it.
    positive = rows > 0
    from_here_on = np.cumsum(positive[:, ::-1], axis=1)[:, ::-1]
    ends = np.where(from_here_on - positive == 0, np.inf, np.cumsum(rows, axis=1))
    labels = np.empty((len(rows), m), dtype=np.int64)
    for u in range(m):
        labels[:, u] = (rng.random(len(rows))[:, np.newaxis] >= ends).sum(axis=1)
    return Ensemble(labels)
