"""The projection onto the probability simplex, implemented only here."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conclust._kernels import project_rows
from conclust._types import Floats
from conclust._validation import shown
from conclust.exceptions import InputError


def project_simplex(V: ArrayLike, scale: ArrayLike | None = None) -> Floats:
    """Project rows onto the probability simplex.

    Each row v becomes max(v - theta, 0), with the theta that makes its sum 1: the point of the
    simplex that is nearest to v.

    Parameters
    ----------
    V : array-like of float of shape (n_rows, k) or (k,)
        The rows. They may be far from the simplex; no value may be NaN or +inf.
    scale : array-like of float of shape (k,), default=None
        Positive prices of the coordinates: the result is then ``scale * max(v - theta, 0)``, which
        minimises sum_k x_k^2 / (2 scale_k) - x_k v_k over the simplex. None: all 1.

    Returns
    -------
    ndarray of the shape of `V`
        Rows at least 0 that sum to 1.

    Raises
    ------
    InputError
        If a value is NaN or +inf, a row holds nothing above -inf, or `scale` is not positive.

    Notes
    -----
    The threshold theta is found without sorting, in at most k passes over a row. Proposition 2 of
    Lourenco, Rota Bulo, Fred & Pelillo, "Consensus clustering with robust evidence accumulation"
    (EMMCVPR 2013) is this projection of -d / lambda.

    Examples
    --------
    >>> from conclust._arrays.simplex import project_simplex
    >>> project_simplex([[0.5, 0.5, 0.5, -1.0], [2.0, 0.0, 0.0, 0.0]]).round(3)
    array([[0.333, 0.333, 0.333, 0.   ],
           [1.   , 0.   , 0.   , 0.   ]])
    """
    values = np.asarray(V, dtype=np.float64)
    if values.ndim not in (1, 2) or values.shape[-1] == 0:
        raise InputError(
            "project_simplex needs rows of at least one number, shape (k,) or (n_rows, k). Got an "
            f"array of shape {values.shape}."
        )
    rows = np.atleast_2d(values)
    k = rows.shape[1]
    prices = np.ones(k) if scale is None else np.array(scale, dtype=np.float64)
    if prices.shape != (k,) or not ((prices > 0) & np.isfinite(prices)).all():
        raise InputError(
            f"The scale of project_simplex must be {k} positive numbers. Got {shown(scale)} instead."
        )
    if not np.isfinite(rows).all():
        top = rows.max(axis=1)  # NaN passes through max
        if not np.isfinite(top).all():
            raise InputError(
                "project_simplex needs numbers below inf, and at least one above -inf in each row. Got a row "
                f"with the largest value {top[~np.isfinite(top)][0]}."
            )
    X = np.empty(rows.shape)
    project_rows(np.ascontiguousarray(rows), prices, X)
    return X.reshape(values.shape)
