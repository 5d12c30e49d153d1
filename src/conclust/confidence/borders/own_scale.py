"""Points and a fitted pipeline in the scale that the pipeline's members used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from conclust._arrays.scale import moderate
from conclust._types import Floats
from conclust.confidence.reading import read_features
from conclust.generation.generator import EnsembleGenerator
from conclust.generation.labelling.labelling import scaled
from conclust.generation.points import read_points


def in_own_scale(
    model: Any, X: ArrayLike, n_samples: int, *, rows: str = "labels"
) -> tuple[Floats, Any]:
    """Return the points in the scale of a fitted model's members, and a model that does not scale them again.

    Parameters
    ----------
    model : estimator or None
        A fitted :class:`conclust.ConsensusClustering` of an :class:`conclust.EnsembleGenerator` has a scale; other
        estimators take the points as they are.
    X : array-like of shape (n_samples, n_features)
        The points.
    n_samples : int
        Required number of points.
    rows : str, default="labels"
        The word for them in errors.

    Returns
    -------
    points : ndarray of shape (n_samples, n_features)
        The points, scaled as a whole: the same linear map for all of them. Without a scale as they are; numbers
        whose squares are infinite or 0 are divided by a power of two.
    model : estimator or None
        Estimator that clusters parts of these points: an unfitted copy without scale, cache and progress;
        other estimators are returned as they are.

    Raises
    ------
    InputError
        If X does not have one row of finite numbers per object, or its features differ from those of the model.
    """
    generator = getattr(model, "generator_", None)
    if not isinstance(generator, EnsembleGenerator):
        points = np.asarray(read_features(X, n_samples, rows=rows), dtype=np.float64)
        return moderate(points)[0], model
    points = read_points(generator, X, reset=False)
    points = np.asarray(read_features(points, n_samples, rows=rows), dtype=np.float64)
    plain = clone(generator).set_params(scale=None, cache_dir=None, verbose=0)
    return scaled(points, generator.scaler_), clone(model).set_params(generator=plain)
