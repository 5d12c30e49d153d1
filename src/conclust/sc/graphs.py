"""Graphs of cells as stored by scanpy, and the resolutions at which they are clustered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._random import generator
from conclust._types import Floats
from conclust._validation import check_real, refuse
from conclust.exceptions import InputError
from conclust.networks.reading import Network, read_network

__all__ = ["graph_of", "resolutions_of"]

# Range from which members draw their resolutions, log-uniformly.
_DRAWN = (0.3, 5.0)


def resolutions_of(
    given: Any, n: int, root: np.random.SeedSequence, owner: str
) -> tuple[Floats, Any]:
    """Return the resolution of each member, increasing, and the given value in plain form."""
    if given is None:
        low, high = np.log(_DRAWN)
        return np.sort(np.exp(generator(root).uniform(low, high, n))), "drawn"
    several = list(given) if isinstance(given, Sequence | np.ndarray) else [given]
    if not several or isinstance(given, str):
        refuse("resolution", owner, "a float, a sequence of floats or None", given)
    each = [check_real(value, "resolution", owner, closed="neither") for value in several]
    return np.sort(np.resize(np.array(each), n)), np.array(each)


def graph_of(adata: Any, neighbors_key: str | None, obsp: str | None, owner: str) -> Network:
    """Return scanpy's graph of neighbours, or the one stored in ``adata.obsp`` under the given key."""
    if obsp is not None and neighbors_key is not None:
        raise InputError(
            f"{owner} takes either 'neighbors_key' or 'obsp', the key of a graph in adata.obsp. Got both."
        )
    key, made = obsp, ""
    if key is None:
        named = "" if neighbors_key is None else f", key_added={neighbors_key!r}"
        made = (
            f": scanpy.pp.neighbors(adata{named}) writes it, and conclust.neighbours.neighbour_graph makes such a "
            "graph of points"
        )
        key = _recorded(adata, "neighbors" if neighbors_key is None else neighbors_key)
    held = getattr(adata, "obsp", {})
    if key not in held:
        raise InputError(
            f"The 'adata' of {owner} has no obsp[{key!r}]{made}. adata.obsp has {list(held) or 'nothing'}."
        )
    return read_network(sp.csr_array(held[key]))


def _recorded(adata: Any, neighbors_key: str) -> str:
    """Return the key of the graph that scanpy takes; where that is missing, of the one in its default record."""
    default = neighbors_key == "neighbors"
    usual = "connectivities" if default else f"{neighbors_key}_connectivities"
    if default and usual in getattr(adata, "obsp", {}):
        return usual  # scanpy takes it whatever the record says
    record = adata.uns.get(neighbors_key, {})
    return str(record.get("connectivities_key", usual)) if hasattr(record, "get") else usual
