"""A network of millions of nodes with known communities: the consensus, its agreement, seconds and memory.

python -m experiments.networks.large [--quick] [--nodes 3000000] [--mixing 0.3] [--out FOLDER]

Degrees and sizes of communities have the power laws of `communities`; a share "mixing" of the edges of each node goes
elsewhere. Peak memory is measured for the whole process and includes the network.
"""

from __future__ import annotations

import argparse
import resource

import numpy as np
from numpy.typing import NDArray

from conclust import GraphConsensus
from conclust.metrics import adjusted_rand_index
from experiments.networks.communities import Edges, Made, graph_of, paired, power_law
from experiments.output import options, show, stopwatch, write

NODES = 3_000_000
QUICK = 20_000


def paired_within(
    rng: np.random.Generator, ends: NDArray[np.int64], groups: NDArray[np.int64]
) -> Edges:
    """Pair the ends of edges at random, each with another one of its group; one may be left over in each group."""
    order = np.lexsort((rng.random(len(ends)), groups))
    place = np.arange(len(ends)) - np.searchsorted(groups[order], groups[order])
    first = np.flatnonzero(place[:-1] % 2 == 0)
    first = first[groups[order[first]] == groups[order[first + 1]]]
    return np.column_stack([ends[order[first]], ends[order[first + 1]]])


def mixed(n: int, mixing: float, rng: np.random.Generator) -> Made:
    """Return a network and its communities."""
    degrees = power_law(rng, n, 2.5, 5, 100)
    sizes = power_law(rng, n // 20, 1.5, 20, 200)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)[:n])
    inside = np.round((1.0 - mixing) * degrees).astype(np.int64)
    inside = np.minimum(inside, np.bincount(labels)[labels] - 1)
    ends = np.repeat(np.arange(n), inside)
    near = paired_within(rng, ends, labels[ends])
    far = paired(rng, np.repeat(np.arange(n), degrees - inside))
    return graph_of(np.vstack([near, far[labels[far[:, 0]] != labels[far[:, 1]]]]), labels)


def run(arguments: argparse.Namespace) -> None:
    n = QUICK if arguments.quick else arguments.nodes
    graph, labels = mixed(n, arguments.mixing, np.random.default_rng(arguments.seed))
    with stopwatch() as taken:
        model = GraphConsensus(random_state=arguments.seed).fit(graph)
    row = {
        "nodes": n,
        "edges": graph.nnz // 2,
        "communities": len(np.unique(labels)),
        "found": model.n_clusters_,
        "single run": adjusted_rand_index(labels, model.ensemble_.labels[:, 0]),
        "ARI": adjusted_rand_index(labels, model.labels_),
        "CPU s": taken.cpu,
        "GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    formats = dict.fromkeys(("nodes", "edges", "communities", "found"), lambda x: f"{x:,}")
    show([row], "Communities of a large network", formats)
    write([row], "large", arguments, formats)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--nodes", type=int, default=NODES, help="number of nodes")
    parser.add_argument(
        "--mixing", type=float, default=0.3, help="share of edges that go elsewhere"
    )
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
