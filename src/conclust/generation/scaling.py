"""Columns of very different spread: how they are scaled; unscaled, the widest decide alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from conclust._warnings import warn
from conclust.exceptions import ScaleWarning

__all__ = ["Scale", "Scaler", "scaler_of", "warn_of_spread"]

Scale: TypeAlias = Literal["minmax", "standard", None]
Scaler: TypeAlias = MinMaxScaler | StandardScaler

_FACTOR = 20.0  # a column narrower by it has 1/400 of the widest one's share in squared distances
_SHARE = 0.1  # of such columns, from which it is said


def scaler_of(scale: Scale) -> Scaler | None:
    """Return the scaler to [0, 1], or to mean 0 and variance 1; None: columns stay as they are."""
    if scale is None:
        return None
    return MinMaxScaler() if scale == "minmax" else StandardScaler()


def warn_of_spread(points: NDArray[np.float64], names: Sequence[str] | None) -> None:
    """Warn once if many columns count for next to nothing beside the widest.

    A column is narrow if its standard deviation and its range are both below a twentieth of the
    largest ones. (By the deviation alone, indicators of rare things would be narrow.) Constant
    columns do not count.
    """
    largest = float(np.abs(points).max())  # the unit: squares of large values would overflow
    if not largest > 0:
        return
    spread = np.std(points / largest, axis=0)
    extent = np.ptp(points / largest, axis=0)
    varying = np.flatnonzero(extent > 0)
    if not varying.size:
        return
    spread, extent = spread[varying], extent[varying]
    narrow = (spread * _FACTOR < spread.max()) & (extent * _FACTOR < extent.max())
    n_narrow = int(np.count_nonzero(narrow))
    if n_narrow == 0 or n_narrow < _SHARE * len(varying):
        return

    def told(j: int) -> str:
        column = int(varying[j])
        return repr(str(names[column])) if names is not None else f"{column} (from 0)"

    widest, least = int(spread.argmax()), int(spread.argmin())
    warn(
        f"The columns of X differ much in spread: column {told(widest)} has standard deviation "
        f"{spread[widest] * largest:.3g}, column {told(least)} {spread[least] * largest:.3g}. Without "
        f"scaling, {n_narrow} of {len(varying)} columns count for next to nothing. Give "
        'scale="standard" (or "minmax") to bring them to one scale.',
        ScaleWarning,
    )
