"""Generalizability: whether a classifier that learned the clusters of one half finds those of the other half."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust._random import spawn_generators, spawn_seeds, spawn_sequences
from conclust._types import Floats
from conclust.generation.members import ClustererRecipe, seeded_clone
from conclust.measures.comparison import adjusted_rand_index
from conclust.selection.resampled.resampling import KMeansResamples, Settings


def generalizability(
    points: Floats, settings: Settings, classifier: Any, seed: np.random.SeedSequence
) -> dict[int, Floats]:
    """Return the ARI between the clusters of one half and those predicted from the other half, of each split, by K.

    Parameters
    ----------
    points : ndarray of shape (n_samples, r)
        The points.
    settings : Settings
        Numbers of clusters, clusterer, and number of splits (`n_resamples`).
    classifier : classifier
        Learns the clusters of the first half.
    seed : SeedSequence
        Source of the splits, of the runs and of the classifiers.
    """
    splitting, running, learning = spawn_sequences(seed, 3)
    n, m = len(points), settings.n_resamples
    size = n // 2
    # Rows 2 b and 2 b + 1 are the halves of split b; of an odd number, one object is left out.
    orders = [rng.permutation(n)[: 2 * size] for rng in spawn_generators(splitting, m)]
    halves = np.sort(np.array(orders).reshape(2 * m, size), axis=1).astype(np.int32)
    scores = {k: np.empty(0) for k in settings.ks}  # none where a half has fewer objects
    for k in (k for k in settings.ks if k <= size):
        if settings.fast:
            seeds = {k: np.array(spawn_seeds(running, 2 * m), dtype=np.uint64)}
            columns = KMeansResamples(halves, seeds).labels(points, k, threads=settings.threads)
            labels = [column[half] for column, half in zip(columns.T, halves, strict=True)]
        else:
            recipe, runs = ClustererRecipe(settings.clusterer), spawn_generators(running, 2 * m)
            labels = [
                recipe.run(points[half], [k], rng)[0].labels
                for half, rng in zip(halves, runs, strict=True)
            ]
        scores[k] = np.empty(m)
        for b, rng in enumerate(spawn_generators(learning, m)):
            model = seeded_clone(classifier, rng).fit(points[halves[2 * b]], labels[2 * b])
            predicted = model.predict(points[halves[2 * b + 1]])
            scores[k][b] = adjusted_rand_index(labels[2 * b + 1], predicted)
    return scores
