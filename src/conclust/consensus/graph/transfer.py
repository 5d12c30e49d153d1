"""The transfer cut: objects parted by the leading eigenvectors of their graph with the clusters."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._threads import one_library_thread
from conclust.consensus.graph.kmeans import Points, kmeans, nearest_center
from conclust.spectral import bipartite_spectrum, unit_rows

__all__ = ["transfer_cut"]


def transfer_cut(
    edges: sp.csr_array,
    k: int,
    seed: np.random.SeedSequence,
    *,
    n_init: int,
    mixing: sp.csr_array | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Part the objects of a bipartite graph into at most `k`.

    Parameters
    ----------
    edges : csr_array of shape (n, T)
        Non-negative weights of objects and clusters, not all 0.
    k : int
        Number of parts.
    seed : SeedSequence
        Of the starts of k-means.
    n_init : int
        Starts of k-means.
    mixing : csr_array of shape (T, T), default=None
        W, where the graph is edges W in the place of edges.

    Returns
    -------
    tuple of ndarray
        The part of each object, and the leading singular values of the degree-normalised graph.
    """
    with one_library_thread():
        spectrum = bipartite_spectrum(edges, k, mixing=mixing)
        # The transfer cut's eigenvectors: left singular vectors times singular values.
        objects = unit_rows(spectrum.objects * spectrum.values)
        points = Points(objects, np.ones(len(objects)))
        centers = kmeans(points, k, seed, n_init=n_init)
        return nearest_center(objects, centers)[0], spectrum.values
