"""Users' graphs for members by neighbours, the resulting recipes, and their errors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._arrays.containers import refuse_corrupt
from conclust._validation import refuse
from conclust.exceptions import InputError
from conclust.generation.kinds.communities import DensityRecipe, GraphRecipe, NeighbourRecipe
from conclust.generation.kinds.searched import GivenGraph, Searches
from conclust.generation.sizes import OWNER

# Weights of the two directions of a tie may differ by rounding.
_ROUNDING = 1e-5


def check_graph_alone(generator: Any, kinds: Sequence[Any], graph: GivenGraph | None) -> None:
    """Refuse parameters that do not suit a graph given to fit.

    Parameters
    ----------
    generator : EnsembleGenerator
        Its parameters.
    kinds : sequence
        The kinds of members.
    graph : GivenGraph or None
        The user's graph.
    """
    if graph is None:
        return
    if "graph" not in [kind for kind in kinds if isinstance(kind, str)]:
        raise InputError(
            f"{OWNER}.fit takes a graph only for members by 'graph'; other members are made from the points. "
            f"Use method='graph'. Got method={generator.method!r} instead."
        )
    if generator.sample_fraction != 1.0:
        expected = "1.0 with a graph given to fit, which is clustered as a whole"
        refuse("sample_fraction", OWNER, expected, generator.sample_fraction)
    if generator.fit_on is not None:
        expected = "None with a graph given to fit, which is clustered as a whole"
        refuse("fit_on", OWNER, expected, generator.fit_on)


def neighbour_recipes(sample_seed: int, given: GivenGraph | None) -> dict[str, NeighbourRecipe]:
    """Return the recipes of a fit, which share one search.

    Parameters
    ----------
    sample_seed : int
        Seed of the objects on which members are fitted, if there are too many.
    given : GivenGraph or None
        The user's graph.
    """
    searches = Searches(sample_seed)
    return {
        "graph": GraphRecipe(searches=searches, given=given),
        "density": DensityRecipe(searches=searches),
    }


def read_graph(graph: Any, n: int) -> GivenGraph:
    """Return the user's graph after checks, without self-loops."""
    shape = getattr(graph, "shape", None)
    if not sp.issparse(graph) or shape != (n, n):
        got = f"a {type(graph).__name__}"
        if shape is not None:
            got += f" of the shape {tuple(shape)}"
        raise InputError(
            f"The graph given to {OWNER}.fit must be a sparse matrix of weights with a row and a column for each of "
            f"{n} objects, such as adata.obsp['connectivities']. Got {got} instead."
        )
    sparse: Any = graph
    refuse_corrupt(sparse, f"The graph given to {OWNER}.fit")
    matrix = sp.csr_array(sparse, dtype=np.float64)
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise InputError(
            f"The graph given to {OWNER}.fit must have finite weights that are not negative."
        )
    apart = abs(matrix - matrix.T)
    if apart.nnz and apart.max() > _ROUNDING * matrix.max():
        raise InputError(
            f"The graph given to {OWNER}.fit must be symmetric. Got a weight that differs by "
            f"{apart.max():.3g} from that of the other direction: graph.maximum(graph.T) is symmetric."
        )
    both = sp.coo_array(0.5 * (matrix + matrix.T))
    off = (both.row != both.col) & (both.data > 0)
    whole = sp.csr_array((both.data[off], (both.row[off], both.col[off])), shape=(n, n))
    whole.sort_indices()
    starts, ends = whole.indptr.astype(np.int64), whole.indices.astype(np.int32)
    digest = hashlib.sha256()
    for part in (starts, ends, whole.data):
        digest.update(part.tobytes())
    return GivenGraph(starts, ends, whole.data, digest.hexdigest())
