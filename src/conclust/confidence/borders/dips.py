"""The dip: the distance of a sample from having one mode, and its p-value for uniform samples."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import plain_array
from conclust._kernels import dips_of_sorted
from conclust._types import Floats, Ints
from conclust.exceptions import InputError

_ROUNDED = 1e-5  # precision of the numbers in the table


def dip(values: ArrayLike) -> float:
    """Measure the distance of a sample from having one mode.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        Finite numbers, in any order.

    Returns
    -------
    float
        The largest distance between the sample's distribution function and the nearest one of a
        distribution with one mode: 0 for values that are all equal, at least 1 / (2 n) for n different
        ones, below 0.25.

    Raises
    ------
    InputError
        If there is no value, or one that is not finite.

    Notes
    -----
    The mode may be an atom: a value that is repeated many times is one mode. O(n log n).

    References
    ----------
    J. A. Hartigan, P. M. Hartigan: The dip test of unimodality. Annals of Statistics 13, 1985.

    Examples
    --------
    >>> from conclust.confidence import dip
    >>> dip([0, 1, 2, 3]), round(dip([0, 0.1, 2.9, 3]), 3)
    (0.125, 0.241)
    """
    array = plain_array(values, "The values of dip", of="numbers")
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "biuf":
        raise InputError(
            f"dip needs a vector of numbers. Got an array of shape {array.shape} and type {array.dtype}."
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise InputError("dip needs finite numbers. Got NaN or infinity.")
    return float(dips_of_rows(array[np.newaxis], 1)[0])


def dips_of_rows(samples: Floats, threads: int) -> Floats:
    """Return the dip of each row, whose values are finite and in any order; each has at least one."""
    dips = np.empty(len(samples))
    dips_of_sorted(np.sort(samples, axis=1), dips, threads)
    return dips


def dip_p_value(value: float, n: int) -> float:
    """Return the share of uniform samples with a dip at least as large.

    Parameters
    ----------
    value : float
        The dip of a sample.
    n : int
        Its size. Fewer than four values have p-value 1.

    Returns
    -------
    float
        In [1e-5, 1]: by 100,000 samples of each of some sizes (`tools/dip_table.py`), between these sizes
        and shares by interpolation of the dip times sqrt(n).

    Notes
    -----
    No distribution of one mode has larger dips than the uniform one asymptotically (Hartigan and Hartigan
    1985), so that the p-value is valid, or too large, for all of them.

    Examples
    --------
    >>> from conclust.confidence.borders.dips import dip_p_value
    >>> round(dip_p_value(0.04, 200), 2), dip_p_value(0.01, 200)
    (0.02, 1.0)
    """
    logs, sizes, curves = _table()
    if n < sizes[0]:
        return 1.0
    at = float(np.interp(np.log(n), np.log(sizes), np.arange(len(sizes))))
    low = min(int(at), len(sizes) - 2)
    curve = (1.0 - (at - low)) * curves[low] + (at - low) * curves[low + 1]
    at_size = np.sqrt(n) * value
    # Many of the smallest samples have the minimum dip.
    if at_size <= curve[0] + _ROUNDED:
        return 1.0
    return float(np.exp(np.interp(at_size, curve, logs)))


@cache
def _table() -> tuple[Floats, Ints, Floats]:
    """Return the logarithms of the shares, the sizes, and for each size sqrt(n) times the dips."""
    text = Path(__file__).with_name("dip_table.txt").read_text("utf-8")
    (_, shares), *curves = [line.split(":") for line in text.splitlines()]
    sizes = np.array([int(n) for n, _ in curves])
    table = np.array([[float(value) for value in curve.split()] for _, curve in curves])
    return np.log([float(share) for share in shares.split()]), sizes, table
