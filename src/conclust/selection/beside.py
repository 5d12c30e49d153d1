"""The number of clusters of points with existing members, for ``n_clusters="auto"``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust.ensemble import Ensemble
from conclust.generation.generator import EnsembleGenerator
from conclust.selection.choosing import choose
from conclust.selection.selection import Selection

# Fewer references, with fewer objects, than the defaults of `choose`: with 1,500 objects it then
# costs about five times as much as the members and their consensus (experiments/selection).
_REFERENCES = 39
_MAX_TEST = 1000


def choose_beside(
    X: Any,
    generator: Any,
    ensemble: Ensemble,
    n_made: int,
    *,
    seed: int,
    verbose: int,
) -> Selection:
    """Choose the number of clusters by resamples of the points, in the scale of the members.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points.
    generator : fitted transformer
        Generator of the members: the scale and threads of an `EnsembleGenerator` are used.
    ensemble : Ensemble
        The members, and behind them further partitions, which count as categories.
    n_made : int
        Number of members.
    seed : int
        Source of all randomness.
    verbose : int
        1: progress on standard error.

    Returns
    -------
    Selection
        The selection by at most 39 references, on 1,000 objects at most.
    """
    ours = isinstance(generator, EnsembleGenerator)
    categories, weight = None, 1.0
    if ensemble.n_partitions > n_made:
        part = ensemble.subset(partitions=np.arange(n_made, ensemble.n_partitions))
        categories = part.labels
        weight = float(part.partition_weights.mean()) * int(np.shape(X)[1]) / n_made
    return choose(
        X,
        categories=categories,
        category_weight=weight,
        n_references=_REFERENCES,
        max_test=_MAX_TEST,
        scale=generator.scale_ if ours else None,
        n_jobs=generator.n_jobs if ours else None,
        random_state=seed,
        verbose=verbose,
    )
