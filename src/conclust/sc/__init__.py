"""Consensus of the columns of an AnnData, by scanpy's conventions: ``import conclust.sc as ccs``.

``tl`` writes into ``adata``, ``get`` returns. Only labels in ``adata.obs`` are read, so that backed,
Dask-backed and MuData objects cost no more. Needs the extra "anndata"; scanpy is not needed.
"""

from conclust.sc import get, tl

__all__ = ["get", "tl"]


def __dir__() -> list[str]:
    return __all__
