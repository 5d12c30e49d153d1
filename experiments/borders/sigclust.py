"""SigClust, from its paper: how likely one Gaussian is to be cut in two as well as a set is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conclust.generation.runs import run_kmeans

__all__ = ["sigclust"]

# The median absolute deviation of a Gaussian is this share of its standard deviation.
_MAD = 0.6744897501960817
_STARTS = 3


def cluster_index(X: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the sum of squares within two clusters over the whole sum of squares."""
    within = sum(float(((P - P.mean(axis=0)) ** 2).sum()) for P in (X[labels == 0], X[labels == 1]))
    return within / float(((X - X.mean(axis=0)) ** 2).sum())


def sigclust(
    X: NDArray[np.float64], labels: NDArray[np.int64], rng: np.random.Generator, n_draws: int = 100
) -> float:
    """Return the share of Gaussian samples that 2-means cuts as well.

    Y. Liu, D. N. Hayes, A. Nobel and J. S. Marron: Statistical significance of clustering for
    high-dimension, low-sample size data. JASA 103, 2008. The Gaussian has the eigenvalues of the sample
    covariance, none below the variance of the background noise (by the median absolute deviation of all
    entries).
    """
    centred = X - X.mean(axis=0)
    noise = np.median(np.abs(centred - np.median(centred))) / _MAD
    eigenvalues = np.maximum(np.linalg.eigvalsh(centred.T @ centred / len(X)), noise**2)
    # The cluster index is the within-cluster sum of squares over the total. Each draw has its own total.
    index = cluster_index(X, labels)
    everything = np.tile(np.arange(len(X), dtype=np.int32), (_STARTS, 1))
    as_good = 0
    for _ in range(n_draws):
        drawn = rng.normal(size=X.shape) * np.sqrt(eigenvalues)
        total = float(((drawn - drawn.mean(axis=0)) ** 2).sum())
        seeds = rng.integers(2**63, size=_STARTS, dtype=np.uint64)
        as_good += run_kmeans(drawn, 2, everything, seeds).inertia.min() / total <= index
    return (1 + as_good) / (1 + n_draws)
