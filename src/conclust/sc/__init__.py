"""Consensus of the columns of an AnnData, by scanpy's conventions: ``import conclust.sc as ccs``.

``tl`` writes into ``adata``, ``pl`` draws, ``get`` returns. Only labels in ``adata.obs`` are read, so that backed,
Dask-backed and MuData objects cost no more. Needs the extra "anndata"; scanpy is not needed.
"""

from conclust.sc import get, pl, tl
from conclust.sc.namespace import register

__all__ = ["get", "pl", "register", "tl"]


def __dir__() -> list[str]:
    return __all__
