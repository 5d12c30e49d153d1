"""``adata.conclust``: the functions of this package as methods of an AnnData."""

from __future__ import annotations

from typing import Any

from conclust._validation import missing_extra
from conclust.sc import get, pl, tl

__all__ = ["Methods", "register"]


class Methods:
    """The functions of ``conclust.sc`` on one AnnData.

    Parameters
    ----------
    adata : AnnData
        Data to work on.
    """

    def __init__(self, adata: Any) -> None:
        self._adata = adata

    def consensus(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.tl.consensus`."""
        return tl.consensus(self._adata, *arguments, **options)

    def predict(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.tl.predict`."""
        return tl.predict(self._adata, *arguments, **options)

    def stability(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.tl.stability`."""
        return tl.stability(self._adata, *arguments, **options)

    def members(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.tl.members`."""
        return tl.members(self._adata, *arguments, **options)

    def inconsistency(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.tl.inconsistency`."""
        return tl.inconsistency(self._adata, *arguments, **options)

    def clustree(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.pl.clustree`."""
        return pl.clustree(self._adata, *arguments, **options)

    def resolutions(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.pl.resolutions`."""
        return pl.resolutions(self._adata, *arguments, **options)

    def membership(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.pl.membership`."""
        return pl.membership(self._adata, *arguments, **options)

    def coassociation(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.pl.coassociation`."""
        return pl.coassociation(self._adata, *arguments, **options)

    def ensemble(self, *arguments: Any, **options: Any) -> Any:
        """See :func:`conclust.sc.get.ensemble`."""
        return get.ensemble(self._adata, *arguments, **options)


def register(name: str = "conclust") -> None:
    """Make the functions methods of every AnnData: ``adata.conclust.consensus(...)``.

    Parameters
    ----------
    name : str, default="conclust"
        Name of the namespace. Nothing is registered by an import.

    Raises
    ------
    MissingExtraError
        If anndata is not installed, or older than 0.12.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> ccs.register()
    >>> adata = anndata.AnnData(obs=pd.DataFrame({"a": [0, 0, 1], "b": [1, 1, 0]}, index=list("xyz")))
    >>> adata.conclust.ensemble(["a", "b"])
    Ensemble(3 objects, 2 partitions of 2 clusters)
    """
    try:
        from anndata import AnnData, register_anndata_namespace
    except ImportError:
        missing_extra("anndata 0.12 or newer", "anndata", "Registering a namespace")
    existing = getattr(AnnData, name, None)
    if isinstance(existing, type) and issubclass(existing, Methods):
        return
    # anndata requires this annotation, which is not known before anndata is imported.
    kind = type("Methods", (Methods,), {"__init__": _begun(AnnData), "__doc__": Methods.__doc__})
    register_anndata_namespace(name)(kind)


def _begun(annotated: type) -> Any:
    def __init__(self: Any, adata: Any) -> None:  # noqa: N807
        Methods.__init__(self, adata)

    __init__.__annotations__ = {"adata": annotated}
    return __init__
