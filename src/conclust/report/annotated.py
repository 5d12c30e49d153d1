"""The consensus that an AnnData holds, as labels, ensemble and names for a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.ensemble import Ensemble
from conclust.exceptions import InputError
from conclust.sc.columns import categorical, read_columns

__all__ = ["is_annotated", "read_annotated"]

_OWNER = "report"


def is_annotated(result: Any) -> bool:
    """Return whether this is an AnnData or a MuData."""
    return all(hasattr(result, part) for part in ("obs", "obsm", "uns"))


def read_annotated(
    adata: Any, key: str | None
) -> tuple[NDArray[np.int64], Ensemble, Sequence[str]]:
    """Return labels, ensemble and names of the cells of a consensus that ``sc.tl.consensus`` has written.

    Raises
    ------
    InputError
        If there is none of this name, or no name was given.
    """
    key_columns = [
        str(name)
        for name, held in adata.uns.items()
        if name in adata.obs and hasattr(held, "get") and "keys" in held.get("params", {})
    ]
    if key is None or key not in key_columns:
        got = "No key was given" if key is None else f"There is no {key!r}"
        raise InputError(
            f"A report of an AnnData is of a consensus in it: key='consensus'. {got}; sc.tl.consensus "
            f"has written {key_columns or 'none'}."
        )
    params = adata.uns[key]["params"]
    columns = [str(name) for name in np.atleast_1d(params["keys"])]
    read = read_columns(adata, columns, missing=str(params["missing"]), owner=_OWNER)  # type: ignore[arg-type]
    labels = categorical(adata.obs[key]).codes.astype(np.int64)
    names = [str(name) for name in adata.obs.index]
    return labels, read.named_ensemble(params.get("weights")), names
