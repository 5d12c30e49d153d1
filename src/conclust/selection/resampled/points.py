"""Points as principal scores: centred, rotated to their principal axes, in units of the largest value."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from conclust._arrays.points import refuse_gaps
from conclust._types import Floats
from conclust._validation import check_column_names, check_int
from conclust.exceptions import InputError
from conclust.generation.labelling.labelling import scaled
from conclust.generation.points import read_points, warn_of_distances
from conclust.generation.scaling import Scale, Scaling, fitted_scaling
from conclust.spectra.eigenpairs import some_eigenpairs

# Directions with less than this share of the largest variation are rounding errors.
_RANK = 1e-10
# Objects for each feature below which distances are reduced to a few components first.
_OBJECTS_PER_FEATURE = 5
_COMPONENTS = 10


def read(X: ArrayLike, scale: Scale, owner: str) -> tuple[Floats, Scaling]:
    """Return points as finite numbers in the given scale, and the scale; refuse data that cannot be clustered."""
    check_column_names(X)
    reader = type(owner, (BaseEstimator,), {})()  # the name used by scikit-learn's validation of X
    points = read_points(reader, X, ensure_min_samples=0, ensure_all_finite=False)
    if len(points) < 2:
        raise InputError(
            f"{owner} needs at least two objects. Got {len(points)}: a row of X is an object."
        )
    refuse_gaps(points, X, "Input X")
    warn_of_distances(points)
    scaling = fitted_scaling(scale, [points], getattr(reader, "feature_names_in_", None))
    return scaled(points, scaling.scaler), scaling


def components_for(n: int, p: int, wanted: Any, owner: str) -> int | None:
    """Return the number of components to keep: as requested, ten with many features, or None for all."""
    most = min(p, n - 1)
    n_components = check_int(wanted, "n_components", owner, high=most, none=True)
    if n_components is None and p * _OBJECTS_PER_FEATURE > n:
        n_components = min(most, _COMPONENTS)
    return None if n_components == most else n_components


def scores_of(points: Floats, n_components: int | None) -> Floats:
    """Return the principal scores U s of the points, in units of the largest value.

    The scores have the distances of the points (of their leading components). Constant features and
    rotations of the features change nothing.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        Finite numbers.
    n_components : int, default=None
        Number of components to keep. None: all in which the points vary.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        Columns of mean 0, by falling variance.

    Raises
    ------
    InputError
        If all points are equal.
    """
    unit = float(np.abs(points).max())
    centred = points / unit if unit > 0 else points
    centred = centred - centred.mean(axis=0)
    largest = float(np.abs(centred).max())
    if not largest > 1e-14:  # the largest value is 1
        raise InputError(
            f"All {len(points)} objects of X are equal (every feature is constant): there is nothing to "
            "choose."
        )
    centred /= largest
    if n_components is None:
        U, s, _ = scipy.linalg.svd(centred, full_matrices=False, lapack_driver="gesdd")
    else:
        U, s = _leading(centred, n_components)
    above_rank = s > _RANK * s[0]
    return np.ascontiguousarray(U[:, above_rank] * s[above_rank])


def _leading(centred: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the leading singular triplets by the smaller of the two products."""
    n, p = centred.shape
    small = centred @ centred.T if n <= p else centred.T @ centred
    values, vectors = some_eigenpairs(small, len(small) - k, len(small))
    s = np.sqrt(np.maximum(values[::-1], 0.0))
    vectors = vectors[:, ::-1]
    if n > p:
        vectors = (centred @ vectors) / np.where(s > 0, s, 1.0)
    # The products square the condition number: values much smaller than the first are inaccurate.
    s = np.where(s > 1e-7 * s[0], s, 0.0)
    return vectors, s
