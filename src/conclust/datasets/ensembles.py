"""Ensembles drawn from a known model: a soft membership, or no structure at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conclust._random import RandomStateLike, generator
from conclust._validation import check_int, check_real
from conclust.ensemble import MISSING, NOISE, Ensemble
from conclust.membership import check_membership

_MOST_OBJECTS = 10**9


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


def random_ensemble(
    n_samples: int,
    n_partitions: int,
    n_clusters: int = 5,
    *,
    missing: float = 0.0,
    noise: float = 0.0,
    random_state: RandomStateLike = None,
) -> Ensemble:
    """Draw partitions without any structure: every label uniformly, independently.

    Parameters
    ----------
    n_samples : int
        Objects, at least 2.
    n_partitions : int
        Partitions.
    n_clusters : int, default=5
        Labels to draw from, in every partition.
    missing : float, default=0.0
        Share of the objects that each partition does not observe, in [0, 1).
    noise : float, default=0.0
        Share of the objects that each partition observes and puts apart from all others, in [0, 1);
        together with `missing` below 1.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Ensemble
        (n_samples, n_partitions).

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from conclust.datasets import random_ensemble
    >>> random_ensemble(50, 10, 3, missing=0.2, random_state=0)
    Ensemble(50 objects, 10 partitions of 3 clusters, 20.0% missing)
    """
    owner = "random_ensemble"
    n = check_int(n_samples, "n_samples", owner, low=2, high=_MOST_OBJECTS)
    m = check_int(n_partitions, "n_partitions", owner)
    k = check_int(n_clusters, "n_clusters", owner, high=_MOST_OBJECTS)
    absent = check_real(missing, "missing", owner, high=1.0, closed="left")
    alone = check_real(noise, "noise", owner, high=1.0 - absent, closed="left")
    rng = generator(random_state, owner)
    # Shares are rounded down, so that at least one label remains in every partition.
    n_absent, n_alone = int(absent * n), int(alone * n)
    labels = rng.integers(k, size=(n, m))
    for u in range(m):
        order = rng.permutation(n)
        labels[order[:n_absent], u] = MISSING
        labels[order[n_absent : n_absent + n_alone], u] = NOISE
    return Ensemble(labels)
