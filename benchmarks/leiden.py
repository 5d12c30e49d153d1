"""Modularity of our Leiden communities beside those of graspologic-native, on ten graphs.

make peers                    # installs the peer, in an environment of its own
python -m benchmarks.leiden

Graphs of the fifteen nearest neighbours with Jaccard weights (digits, wine, breast cancer, blobs and moons by
formula), stochastic block models, a ring of cliques, a random graph without communities. Each library runs with ten
seeds at resolution 1: ours in two rounds, as the members of an ensemble have it, and in ten; the peer for one iteration, its
default, and for ten. Means over seeds of the modularity, computed for all by one formula, and medians of CPU seconds. One
thread.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

import graspologic_native
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs, make_moons
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import timed
from conclust.neighbours.graph import CommunityGraph, neighbour_graph

SEEDS = range(10)


def graphs() -> Iterator[tuple[str, sp.csr_array]]:
    """Yield the name and the symmetric matrix of each graph."""
    scaled = StandardScaler().fit_transform
    points = {
        "digits": load_digits().data,
        "wine": scaled(load_wine().data),
        "breast cancer": scaled(load_breast_cancer().data),
        "blobs 1,500 x 16": make_blobs(1500, 16, centers=10, cluster_std=4.0, random_state=0)[0],
        "blobs 10,000 x 2": make_blobs(10_000, 2, centers=20, random_state=1)[0],
        "moons 5,000": make_moons(5000, noise=0.1, random_state=2)[0],
    }
    for name, X in points.items():
        graph = neighbour_graph(X, 15, weights="jaccard")
        shape = (len(X), len(X))
        yield name, sp.csr_array((graph.weights, graph.ends, graph.starts), shape=shape)
    yield "blocks 2,000, mixed .2", blocks(2000, 20, 16.0, 4.0, 3)
    yield "blocks 10,000, mixed .5", blocks(10_000, 50, 10.0, 10.0, 4)
    yield "ring of 200 cliques", ring(200, 6)
    yield "random 3,000", blocks(3000, 1, 12.0, 0.0, 5)


def blocks(n: int, count: int, inside: float, outside: float, seed: int) -> sp.csr_array:
    """Return a stochastic block model, given the mean degrees inside of a block and out of it."""
    rng = np.random.default_rng(seed)
    block = rng.integers(count, size=n)
    ends = rng.integers(n, size=(int(n * outside / 2), 2))
    within = rng.integers(n, size=int(n * inside / 2))
    order = np.argsort(block, kind="stable")
    starts = np.searchsorted(block[order], np.arange(count + 1))
    sizes = np.diff(starts)[block[within]]
    partners = order[starts[block[within]] + (rng.random(len(within)) * sizes).astype(np.int64)]
    edges = np.vstack([ends, np.column_stack([within, partners])])
    edges = edges[edges[:, 0] != edges[:, 1]]
    matrix = sp.coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(n, n)).tocsr()
    matrix = sp.csr_array(matrix + matrix.T)
    matrix.data[:] = 1.0
    return matrix


def ring(count: int, size: int) -> sp.csr_array:
    """Return cliques in a ring, neighbours tied by one edge."""
    clique = np.ones((size, size)) - np.eye(size)
    matrix = sp.block_diag([clique] * count, format="lil")
    for c in range(count):
        one, other = c * size, ((c + 1) % count) * size + 1
        matrix[one, other] = matrix[other, one] = 1.0
    return sp.csr_array(matrix)


def modularity(graph: sp.csr_array, labels: NDArray[np.int64]) -> float:
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    total = float(degrees.sum())
    sources = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    inside = float(graph.data[labels[sources] == labels[graph.indices]].sum())
    loads = np.bincount(labels, degrees)
    return inside / total - float((loads**2).sum()) / total**2


def ours(graph: sp.csr_array, rounds: int | None) -> Callable[[int], NDArray[np.int64]]:
    community_graph = CommunityGraph.of(
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int32),
        graph.data,
        np.ones(graph.shape[0]),
        "modularity",
    )
    return lambda seed: community_graph.communities(1.0, seed, rounds)[0].astype(np.int64)


def theirs(graph: sp.csr_array, iterations: int) -> Callable[[int], NDArray[np.int64]]:
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)

    def run(seed: int) -> NDArray[np.int64]:
        found = graspologic_native.leiden_csr(
            indptr,
            indices,
            graph.data,
            graph.shape[0],
            resolution=1.0,
            iterations=iterations,
            use_modularity=True,
            seed=seed + 1,
        )
        labels = np.arange(graph.shape[0])
        labels[list(found[1])] = list(found[1].values())
        return np.asarray(np.unique(labels, return_inverse=True)[1])

    return run


def main() -> None:
    print(f"{'':<26}{'ours':>8}{'10':>8}{'peer':>8}{'10':>8}{'ratio':>9}{'CPU ms':>9}{'peer':>8}")
    for name, graph in graphs():
        ways = [ours(graph, None), ours(graph, 10), theirs(graph, 1), theirs(graph, 10)]
        means, seconds = [], []
        for way in ways:
            runs: list[NDArray[np.int64]] = []
            seconds.append(
                statistics.median(timed(lambda: runs.append(way(seed))).cpu for seed in SEEDS)  # noqa: B023
            )
            means.append(np.mean([modularity(graph, labels) for labels in runs]))
        row = "".join(f"{mean:>8.4f}" for mean in means)
        print(
            f"{name:<26}{row}{means[0] / means[2]:>9.4f}{1e3 * seconds[0]:>9.1f}{1e3 * seconds[2]:>8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
