"""The consensus of other packages beside ours, on the same labels: CPU seconds and adjusted Rand index.

make peers                            # in an environment of its own
python -m benchmarks.peers [N ...]    # those that are installed

Planted labels of ten clusters in 20 partitions, 20 % of the labels at random. The peers: sc3s (k-means on mini-batches
of the one-hot labels), METIS by pymetis (HBGF and CSPA as Strehl and Ghosh have them: cuts of the bipartite graph, and of
the co-association, with equal parts), scikit-learn's KMeans and SpectralCoclustering of the one-hot labels. Building
what a peer reads counts as its time, scoring does not. One thread each, the fastest of five runs, by turns.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.every import K, planted
from benchmarks.timing import timed
from conclust import CSPA, HBGF, KCC, SEC, coassociation
from conclust.metrics import adjusted_rand_index

SIZES = (2_000, 10_000, 100_000)
RUNS = 5
MOST_PAIRS = 2_000  # objects of which METIS cuts the co-association
Labels = NDArray[np.int64]
Way = Callable[[Labels], NDArray[np.int64]]


def one_hot(labels: Labels) -> sp.csr_array:
    n, N = labels.shape
    columns = (labels + K * np.arange(N)).ravel().astype(np.int32)
    starts = np.arange(0, n * N + 1, N, dtype=np.int32)
    return sp.csr_array((np.ones(n * N), columns, starts), shape=(n, K * N))


def sc3s(labels: Labels) -> NDArray[np.int64]:
    from sc3s._cluster import cluster_consensus_matrix

    # Its own convert_dict_into_binary_matrix takes longer.
    matrix = one_hot(labels).toarray()
    return np.asarray(cluster_consensus_matrix(matrix, K, min(100, len(labels)), 0))


def metis(graph: sp.csr_array, k: int = K) -> NDArray[np.int64]:
    """Cut a graph into k parts of equal size."""
    import pymetis

    adjacency = pymetis.CSRAdjacency(graph.indptr, graph.indices)
    found = pymetis.part_graph(
        k, adjacency=adjacency, recursive=True, eweights=graph.data.astype(np.int64)
    )
    return np.asarray(found.vertex_part)


def metis_hbgf(labels: Labels) -> NDArray[np.int64]:
    B = one_hot(labels)
    return metis(sp.csr_array(sp.block_array([[None, B], [B.T, None]])))[: len(labels)]


def metis_cspa(labels: Labels) -> NDArray[np.int64]:
    counts = coassociation(labels, n_jobs=1)
    np.fill_diagonal(counts, 0)
    return metis(sp.csr_array(counts))


def kmeans(labels: Labels) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(K, n_init=10, random_state=0).fit(one_hot(labels)).labels_)


def coclustering(labels: Labels) -> NDArray[np.int64]:
    from sklearn.cluster import SpectralCoclustering

    return np.asarray(SpectralCoclustering(K, random_state=0).fit(one_hot(labels)).row_labels_)


def ours(kind: type) -> Way:
    def fit(labels: Labels) -> NDArray[np.int64]:
        has = {"random_state": 0, "n_jobs": 1}
        model = kind(K)
        model.set_params(**{key: value for key, value in has.items() if key in model.get_params()})
        return np.asarray(model.fit(labels).labels_)

    return fit


# Ours, the peer, the package that it needs, and objects up to which it is run.
PAIRS: tuple[tuple[str, Way, str, Way, str, int], ...] = (
    ("KCC", ours(KCC), "sc3s", sc3s, "sc3s", 1 << 30),
    ("SEC", ours(SEC), "sc3s", sc3s, "sc3s", 1 << 30),
    ("KCC", ours(KCC), "scikit-learn KMeans", kmeans, "sklearn", 1 << 30),
    ("HBGF", ours(HBGF), "METIS", metis_hbgf, "pymetis", 1 << 30),
    ("HBGF", ours(HBGF), "scikit-learn SpectralCoclustering", coclustering, "sklearn", 1 << 30),
    ("CSPA", ours(CSPA), "METIS", metis_cspa, "pymetis", MOST_PAIRS),
)


def main(sizes: tuple[int, ...] = SIZES) -> None:
    print(
        f"{'':<14}{'objects':>9} {'CPU s':>7} {'ARI':>5}   beside{'':<30}{'CPU s':>7} {'ARI':>5} {'ratio':>6}"
    )
    labels, truth = planted(max(sizes), 20)
    for n in sizes:
        for name, own, peer, other, package, most in PAIRS:
            if n > most:
                continue
            if find_spec(package) is None:
                print(f"{name:<14}{n:>9,}   {peer}: {package} is not installed (make peers)")
                continue
            seconds, rights = _by_turns((own, other), labels[:n], truth[:n])
            print(
                f"{name:<14}{n:>9,} {seconds[0]:>7.4f} {rights[0]:>5.3f}   {peer:<36}{seconds[1]:>7.4f} "
                f"{rights[1]:>5.3f} {seconds[1] / seconds[0]:>6.2f}",
                flush=True,
            )


def _by_turns(
    ways: tuple[Way, Way], labels: Labels, truth: NDArray[np.int64]
) -> tuple[list[float], list[float]]:
    seconds = [np.inf, np.inf]
    found = [truth, truth]

    def run(at: int) -> None:
        found[at] = ways[at](labels)

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for at in (0, 1):  # what a first use imports is not timed
            ways[at](labels[:200])
        for _ in range(RUNS):
            for at in (0, 1):
                seconds[at] = min(seconds[at], timed(lambda: run(at)).cpu)  # noqa: B023
    numbered = [np.unique(one, return_inverse=True)[1] for one in found]
    return seconds, [float(adjusted_rand_index(truth, one)) for one in numbered]


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
