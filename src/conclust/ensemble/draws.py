"""Converts draws of a partition from sampling programs to a label matrix with one object per row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import plain_array
from conclust._validation import check_int, refuse, shown
from conclust.exceptions import InputError, OrientationWarning, warn

_OWNER = "from_draws"
_CHAIN, _DRAW = "chain", "draw"


def read_draws(
    draws: Any, variable: str | None, burn: int, thin: int, weights: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the labels (n_samples, n_draws) and the weights of the draws that are kept."""
    check_int(burn, "burn", _OWNER, low=0)
    check_int(thin, "thin", _OWNER)
    values = _chains(_variable(draws, variable))
    chains, length = values.shape[:2]
    used = np.arange(length)[burn::thin]
    if not len(used):
        advice = f"A chain has {length} draws."
        refuse("burn", _OWNER, f"an int in the range [0, {length - 1}]", burn, advice)
    labels = values[:, used].reshape(chains * len(used), -1).T
    if weights is None:
        return labels, None
    draw_weights = plain_array(weights, "'weights'", of="numbers")
    if draw_weights.shape == (chains, length):
        draw_weights = draw_weights.reshape(-1)
    if draw_weights.shape != (chains * length,):
        raise InputError(
            f"'weights' must be one number for each draw, before burn and thin: {chains * length} of "
            f"them. Got an array of shape {draw_weights.shape}."
        )
    return labels, draw_weights.reshape(chains, length)[:, used].reshape(-1)


def _variable(draws: Any, variable: str | None) -> Any:
    """Return the variable with the labels: from an ArviZ object, from a data set of xarray, or unchanged."""
    group = getattr(draws, "posterior", None)
    if group is not None:
        draws = group
    named = getattr(draws, "data_vars", draws if isinstance(draws, Mapping) else None)
    if named is None:
        if variable is not None:
            refuse("variable", _OWNER, "None for draws that are one array", variable)
        return draws
    if variable is not None:
        if variable not in named:
            variables = ", ".join(repr(str(name)) for name in named)
            refuse("variable", _OWNER, f"one of {{{variables}}}", variable)
        return named[variable]
    candidates = [name for name in named if _may_be_labels(named[name])]
    if len(candidates) != 1:
        raise InputError(
            "It is not clear which variable has the labels. Give its name as 'variable'. There are "
            f"{', '.join(repr(str(name)) for name in named)}"
            + (f", of which {_listed(candidates)} are whole numbers." if candidates else ".")
        )
    return named[candidates[0]]


def _listed(names: list[Hashable]) -> str:
    return " and ".join(repr(str(name)) for name in names)


def _may_be_labels(values: Any) -> bool:
    array = np.asarray(getattr(values, "values", values))
    return array.dtype.kind in "iu" and array.ndim >= 2


def _chains(draws: Any) -> NDArray[Any]:
    """Return an array (n_chains, n_draws, n_samples)."""
    dims = getattr(draws, "dims", None)
    if isinstance(dims, tuple) and _DRAW in dims:
        order = [name for name in (_CHAIN, _DRAW) if name in dims]
        order += [name for name in dims if name not in order]
        array = np.asarray(draws.transpose(*order).values)
        if len(order) - (_CHAIN in order) != 2:
            raise InputError(
                "The draws must have one dimension of objects besides 'chain' and 'draw'. Got the dimensions "
                f"{', '.join(map(str, dims))}: choose a variable with one label per object."
            )
    else:
        try:
            array = draws if np.ma.isMaskedArray(draws) else np.asarray(draws)
        except ValueError as error:
            raise InputError(
                "The draws must be of the same objects. Got rows of different lengths."
            ) from error
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise InputError(
            "The draws must be an array of shape (n_draws, n_samples) or (n_chains, n_draws, n_samples). "
            f"Got {f'one of shape {array.shape}' if array.ndim else shown(draws)}."
        )
    if array.ndim == 2:
        return array[np.newaxis]
    chains, length, n = array.shape
    if chains > length > 1 and not isinstance(dims, tuple):
        warn(
            f"The draws are read as {chains} chains of {length} draws of {n} objects. If the first axis runs over the draws, "
            "pass draws.transpose(1, 0, 2).",
            OrientationWarning,
        )
    return array
