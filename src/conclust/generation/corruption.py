"""Corrupts an ensemble on purpose, to test how robust a method is to poor partitions."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._types import Ints
from conclust._validation import check_bool, check_real
from conclust.ensemble import Ensemble
from conclust.measures.losses import hard_draws


@overload
def corrupt(
    ensemble: Ensemble,
    fraction: float,
    *,
    random_state: RandomStateLike = ...,
    return_indices: Literal[False] = ...,
) -> Ensemble: ...
@overload
def corrupt(
    ensemble: ArrayLike,
    fraction: float,
    *,
    random_state: RandomStateLike = ...,
    return_indices: Literal[False] = ...,
) -> Ints: ...
@overload
def corrupt(
    ensemble: Ensemble,
    fraction: float,
    *,
    random_state: RandomStateLike = ...,
    return_indices: Literal[True],
) -> tuple[Ensemble, Ints]: ...
@overload
def corrupt(
    ensemble: ArrayLike,
    fraction: float,
    *,
    random_state: RandomStateLike = ...,
    return_indices: Literal[True],
) -> tuple[Ints, Ints]: ...
def corrupt(
    ensemble: Any,
    fraction: float,
    *,
    random_state: RandomStateLike = None,
    return_indices: bool = False,
) -> Any:
    """Replace a share of the partitions by random ones.

    A replaced partition keeps its number of clusters and which objects are missing or noise in it;
    each other object gets a cluster drawn uniformly. (Where that leaves a cluster empty, it gets
    one object from a cluster that has several.) Source: the noisy ensembles of Lourenco, Rota Bulo,
    Fred & Pelillo (2013), "Consensus clustering with robust evidence accumulation", section 4.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        Ensemble to corrupt; it is not changed.
    fraction : float in [0, 1]
        Share of the partitions to replace, rounded to the nearest number of them (a half up).
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the draws.
    return_indices : bool, default=False
        Whether to return also which partitions were replaced.

    Returns
    -------
    corrupted : Ensemble or ndarray of shape (n_samples, n_partitions)
        An Ensemble, with the same weights, if one was given; else int64 labels, each partition's
        clusters numbered by first appearance, -1 for missing, -2 for noise.
    indices : ndarray of shape (n_replaced,)
        Indices of the replaced partitions, in increasing order. Only with ``return_indices=True``.

    Raises
    ------
    ParameterError
        If `fraction` is not in [0, 1].
    InputError
        If the labels are malformed.
    UnsupportedEnsembleError
        If the ensemble is soft.

    Examples
    --------
    >>> from conclust import corrupt
    >>> labels = [[0, 0], [0, 0], [1, 1], [1, -1]]
    >>> corrupted, indices = corrupt(labels, 0.5, random_state=0, return_indices=True)
    >>> indices
    array([1])
    >>> corrupted[:, 0]
    array([0, 0, 1, 1])
    """
    share = check_real(fraction, "fraction", "corrupt", low=0.0, high=1.0)
    assert share is not None
    check_bool(return_indices, "return_indices", "corrupt")
    given = hard_draws(ensemble, "corrupt")
    m = given.n_partitions
    generators = spawn_generators(seed_sequence(random_state, "corrupt"), m + 1)
    chosen = np.sort(generators[m].choice(m, size=math.floor(share * m + 0.5), replace=False))
    labels = given.labels.copy()
    for u in chosen:
        clustered = labels[:, u] >= 0
        drawn = _random_labels(int(clustered.sum()), int(given.cluster_counts[u]), generators[u])
        labels[clustered, u] = drawn
    result = Ensemble(labels, weights=given.weights)
    out = result if isinstance(ensemble, Ensemble) else result.labels
    return (out, chosen.astype(np.int64)) if return_indices else out


def _random_labels(n: int, k: int, rng: np.random.Generator) -> Ints:
    """Draw n labels of 0..k-1 uniformly, then give each label that is absent one object."""
    labels = rng.integers(k, size=n) if k else np.zeros(n, dtype=np.int64)
    counts = np.bincount(labels, minlength=k)
    absent = np.flatnonzero(counts == 0)
    if absent.size == 0:
        return labels
    places = iter(rng.permutation(n))
    for label in absent:
        place = next(i for i in places if counts[labels[i]] > 1)
        counts[labels[place]] -= 1
        labels[place] = label
        counts[label] = 1
    return labels
