"""Partitioners of other packages, imported on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._types import Floats, Ints
from conclust._validation import missing_extra

# Scale of integer weights made from floats: METIS and Mt-KaHyPar take only integers.
_LEVELS = 10_000


def whole_weights(weights: Floats) -> Ints:
    """Return proportional integers: exact for integers, positive for positive weights."""
    largest = float(weights.max()) if weights.size else 0.0
    if largest <= _LEVELS and (weights == np.floor(weights)).all():
        return weights.astype(np.int64)
    whole = np.rint(weights * (_LEVELS / largest)).astype(np.int64)
    return np.where(weights > 0, np.maximum(whole, 1), 0)


def metis_parts(W: Any, k: int, mass: Floats, balance: float, seed: int) -> Ints:
    """Partition a checked graph by METIS (k-way, the best of five cuts)."""
    try:
        import pymetis
    except ImportError:
        missing_extra("pymetis", "graph", "partitioner='metis'")
    n = W.shape[0]
    if k == 1:
        return np.zeros(n, dtype=np.int64)
    if k == n:
        return np.arange(n)
    graph = sp.csr_array(W, copy=True)
    graph.setdiag(0)
    graph.eliminate_zeros()
    if graph.nnz == 0:
        return np.arange(n) % k
    options = pymetis.Options(
        seed=seed >> 1, ufactor=max(1, round(1000 * balance)), ncuts=5, contig=0
    )
    _, labels = pymetis.part_graph(
        k,
        adjacency=pymetis.CSRAdjacency(
            graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
        ),
        vweights=whole_weights(mass).tolist(),
        eweights=whole_weights(graph.data).tolist(),
        recursive=False,
        options=options,
    )
    return np.asarray(labels, dtype=np.int64)


def mtkahypar_parts(
    H: sp.csr_array, k: int, edge_weights: Floats, mass: Floats, balance: float, seed: int
) -> Ints:
    """Partition a hypergraph by Mt-KaHyPar's deterministic preset, objective km1.

    Parameters
    ----------
    H : csr_array of shape (n, m)
        Incidence of vertices in hyperedges.
    k : int
        Number of parts.
    edge_weights : ndarray of shape (m,)
        Weights of the hyperedges.
    mass : ndarray of shape (n,)
        Weights of the vertices in the balance.
    balance : float
        Tolerated excess weight of a part over the mean, as a share of the mean.
    seed : int
        Seed.
    """
    try:
        import mtkahypar
    except ImportError:
        missing_extra("mtkahypar", "hypergraph", "partitioner='mtkahypar'")
    n = H.shape[0]
    if k == 1:
        return np.zeros(n, dtype=np.int64)
    if k == n:
        return np.arange(n)
    pins = sp.csc_array(H)
    sizes = np.diff(pins.indptr)
    useful = np.flatnonzero((sizes > 1) & (edge_weights > 0))
    if len(useful) == 0:
        return np.arange(n) % k
    nets = [pins.indices[pins.indptr[e] : pins.indptr[e + 1]].tolist() for e in useful]
    engine = _mtkahypar()
    context = engine.context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(k, balance, mtkahypar.Objective.KM1)
    context.logging = False
    mtkahypar.set_seed(seed >> 1)
    hypergraph = engine.create_hypergraph(
        context,
        n,
        len(nets),
        nets,
        whole_weights(mass).tolist(),
        whole_weights(edge_weights[useful]).tolist(),
    )
    return np.asarray(hypergraph.partition(context).get_partition(), dtype=np.int64)


_engines: list[Any] = []


def _mtkahypar() -> Any:
    """Return Mt-KaHyPar's engine, with one thread; there can be only one per process."""
    import mtkahypar

    if not _engines:
        _engines.append(mtkahypar.initialize(1, False))
    return _engines[0]
