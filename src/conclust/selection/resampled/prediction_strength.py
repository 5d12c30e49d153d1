"""Prediction strength: to what extent clusters of one half of the objects are recovered from the other."""

from __future__ import annotations

import numpy as np

from conclust._random import spawn_generators, spawn_seeds, spawn_sequences
from conclust._types import Floats, Ints
from conclust.generation.labelling.nearest import nearest_center
from conclust.generation.runs import run_kmeans

_SPLITS = 6


def prediction_strength(
    points: Floats, k: int, root: np.random.SeedSequence, threads: int
) -> Floats:
    """Return the prediction strength of k-means for each of six splits into halves.

    Share of the pairs of a cluster of one half that the centres of the other half keep together;
    the smallest over clusters (Tibshirani and Walther, JCGS 14:511, 2005). NaN where a half has fewer
    objects than clusters.
    """
    n = len(points)
    half = n // 2
    if half < k:
        return np.full(_SPLITS, np.nan)
    splits, runs = spawn_sequences(root, 2)
    drawn = np.empty((2 * _SPLITS, half), dtype=np.int32)
    for s, rng in enumerate(spawn_generators(splits, _SPLITS)):
        order = rng.permutation(n)
        drawn[2 * s] = np.sort(order[:half])
        drawn[2 * s + 1] = np.sort(order[half : 2 * half])
    seeds = np.array(spawn_seeds(runs, 2 * _SPLITS), dtype=np.uint64)
    made = run_kmeans(points, k, drawn, seeds, centers=True, threads=threads)
    assert made.centers is not None
    strengths = np.empty(_SPLITS)
    for s in range(_SPLITS):
        train, test = 2 * s, 2 * s + 1
        centers = made.centers[train][: made.found[train]]
        rows = drawn[test]
        nearest = nearest_center(points[rows], centers)
        strengths[s] = kept_together(made.labels[rows, test].astype(np.int64), nearest)
    return strengths


def kept_together(labels: Ints, predicted: Ints) -> float:
    """Return the smallest share, over clusters of `labels`, of pairs that `predicted` puts together.

    Clusters of one object have no pair.
    """
    table = np.zeros((int(labels.max()) + 1, int(predicted.max()) + 1))
    np.add.at(table, (labels, predicted), 1.0)
    sizes = table.sum(axis=1)
    pairs = sizes * (sizes - 1)
    together = (table * (table - 1)).sum(axis=1)
    return float((together[pairs > 0] / pairs[pairs > 0]).min(initial=1.0))
