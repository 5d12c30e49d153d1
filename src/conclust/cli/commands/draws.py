"""``conclust combine --rows draws``: clusterings in the rows of a file, as written by samplers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.cli.reading.columns import OBJECT, roles_of
from conclust.cli.reading.inputs import Labels, read_weights
from conclust.cli.reading.sources import opened
from conclust.cli.reading.tables import Reading, read_array, table_of
from conclust.ensemble import Ensemble, Missing
from conclust.exceptions import InputError

# Usual names of the arrays in an NPZ or MAT file.
_USUAL = ("draws", "labels", "cls", "z")


def read_draws(
    path: Path,
    how: Reading,
    *,
    missing: Missing = "unobserved",
    weights: Path | None = None,
    burn: int = 0,
    thin: int = 1,
) -> Labels:
    """Read a file with one draw per row; an array may have a leading axis of chains.

    Parameters
    ----------
    path : Path
        A table, or an array (n_draws, n_samples) or (n_chains, n_draws, n_samples).
    how : Reading
        Options for reading.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1.
    weights : Path, default=None
        A file of one weight per draw, those that are left out included.
    burn, thin : int, default=0 and 1
        See `Ensemble.from_draws`.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        Its shape or content is not valid for draws.
    """
    ids: list[str] | None = None
    notes: tuple[str, ...] = ()
    draws: NDArray[Any]
    with opened(path) as source:
        if source.has_columns:
            with table_of(source, how, labels=True) as table:
                roles = roles_of(table, how, labels=True)
                draws = table.labels(roles.data, noise=missing == "noise")
                if table.named:
                    ids = [table.names[j] for j in roles.data]
                notes = (*table.notes, *roles.notes)
        else:
            draws = read_array(source, how, _USUAL)
        draw_weights = None
        if weights is not None:
            draw_weights = read_weights(
                weights, int(np.prod(draws.shape[:-1])), encoding=how.encoding
            )
        try:
            ensemble = Ensemble.from_draws(
                draws, burn=burn, thin=thin, weights=draw_weights, missing=missing
            )
        except InputError as error:
            raise InputError(f"{source}: {error}") from error
    names = tuple(str(s + 1) for s in range(ensemble.n_partitions))
    return Labels(ensemble, names, ids, OBJECT, None, ("one draw per row", *notes))
