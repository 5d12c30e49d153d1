"""Contents of an AnnData as objects of conclust."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from conclust.ensemble import Ensemble
from conclust.ensemble.labels import Missing
from conclust.sc.columns import chosen_keys, read_columns

__all__ = ["ensemble"]

_OWNER = "sc.get.ensemble"


def ensemble(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    prefix: str | None = None,
    weights: ArrayLike | None = None,
    missing: Missing = "unobserved",
) -> Ensemble:
    """Return columns of ``adata.obs`` as an ensemble.

    Parameters
    ----------
    adata : AnnData or MuData
        Data with the columns.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs`` that hold labels.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so, in the order of what follows ("leiden_0.5" before
        "leiden_10"), except those written by conclust.
    weights : array-like of shape (n_keys,), default=None
        Weight of each column; a pandas Series with their names is matched by name. None: all equal.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 and of the category "-1". NaN is always missing, and -2 noise.

    Returns
    -------
    Ensemble
        Its clusters have the names of the categories.

    Raises
    ------
    InputError
        If a column does not exist, or holds numbers that are not labels.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> runs = pd.DataFrame({"leiden_1": ["0", "0", "1"], "leiden_2": ["a", "b", None]}, index=list("xyz"))
    >>> found = ccs.get.ensemble(anndata.AnnData(obs=runs), prefix="leiden_")
    >>> found
    Ensemble(3 objects, 2 partitions of 2 clusters, 16.7% missing)
    >>> found.names
    (('0', '1'), ('a', 'b'))
    """
    columns = chosen_keys(adata, keys, prefix, _OWNER)
    return read_columns(adata, columns, missing=missing, owner=_OWNER).named_ensemble(weights)


def __dir__() -> list[str]:
    return __all__
