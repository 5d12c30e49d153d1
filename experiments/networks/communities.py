"""Communities of networks by formula: single runs, the consensus as published, and with communities split.

python -m experiments.networks.communities [--quick] [--draws 2] [--out FOLDER]

Rings of cliques of ten nodes; networks with power laws of degrees (5 to 100, exponent 2.5) and of sizes of communities (20
to 200, exponent 1.5) in the way of Lancichinetti, Fortunato and Radicchi, a share "mixing" of the edges of each node going
elsewhere; equal groups, 8 edges of a node inside and 4 anywhere; and the nearest neighbours of points of a uniform square,
which have no communities. Known communities serve for scoring only.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust import GraphConsensus
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.output import Row, options, show, stopwatch, write

RINGS = (50, 500, 5000)
MIXING = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
NODES = 10000

Edges = NDArray[np.int64]
Made = tuple[Any, NDArray[np.int64]]


def graph_of(edges: Edges, labels: NDArray[np.int64]) -> Made:
    """Return the graph without loops and repeated edges."""
    n = len(labels)
    kept = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    return sp.coo_array((np.ones(len(kept)), kept.T), shape=(n, n)).tocsr(), labels


def ring(number: int, size: int = 10) -> Made:
    one, other = np.triu_indices(size, 1)
    first = np.arange(number)[:, None] * size
    inside = np.column_stack([(first + one).ravel(), (first + other).ravel()])
    ties = np.column_stack([first[:, 0], np.roll(first[:, 0], -1) + 1])
    return graph_of(np.vstack([inside, ties]), np.repeat(np.arange(number), size))


def power_law(
    rng: np.random.Generator, count: int, exponent: float, low: int, high: int
) -> NDArray[np.int64]:
    values = np.arange(low, high + 1)
    weights = values.astype(np.float64) ** -exponent
    return rng.choice(values, count, p=weights / weights.sum())


def paired(rng: np.random.Generator, ends: NDArray[np.int64]) -> Edges:
    drawn = rng.permutation(ends)
    return drawn[: len(drawn) // 2 * 2].reshape(-1, 2)


def mixed(n: int, mixing: float, rng: np.random.Generator) -> Made:
    degrees = power_law(rng, n, 2.5, 5, 100)
    sizes = power_law(rng, n // 20, 1.5, 20, 200)
    labels = np.repeat(np.arange(len(sizes)), sizes)[:n]
    if np.count_nonzero(labels == labels[-1]) < 20:  # the last one is cut short
        labels[labels == labels[-1]] -= 1
    labels = rng.permutation(labels)
    inside = np.round((1.0 - mixing) * degrees).astype(np.int64)
    inside = np.minimum(inside, np.bincount(labels)[labels] - 1)
    parts = []
    for community in range(int(labels.max()) + 1):
        nodes = np.flatnonzero(labels == community)
        parts.append(paired(rng, np.repeat(nodes, inside[nodes])))
    far = paired(rng, np.repeat(np.arange(n), degrees - inside))
    parts.append(far[labels[far[:, 0]] != labels[far[:, 1]]])
    return graph_of(np.vstack(parts), labels)


def equal(number: int, size: int, rng: np.random.Generator) -> Made:
    n = number * size
    one = rng.integers(0, n, 4 * n)
    other = one // size * size + rng.integers(0, size, len(one))
    far = rng.integers(0, n, (2 * n, 2))
    return graph_of(np.vstack([np.column_stack([one, other]), far]), np.arange(n) // size)


def square(n: int, rng: np.random.Generator) -> Made:
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=11).fit(rng.random((n, 2)))
    near = found.kneighbors(return_distance=False)
    edges = np.column_stack([np.repeat(np.arange(n), near.shape[1]), near.ravel()])
    return graph_of(edges, np.zeros(n, dtype=np.int64))


def networks(n: int, rng: np.random.Generator) -> dict[str, Made]:
    made = {f"ring of {number:,} cliques": ring(number) for number in RINGS if 10 * number <= 5 * n}
    made |= {f"mixing {mixing}": mixed(n, mixing, rng) for mixing in MIXING}
    made[f"{n // 50} groups of 50"] = equal(n // 50, 50, rng)
    made[f"{n // 500} groups of 500"] = equal(n // 500, 500, rng)
    made["points of a square"] = square(n, rng)
    return made


def row_of(name: str, made: Made, seed: int) -> Row:
    graph, labels = made
    with stopwatch() as published:
        before = GraphConsensus(split=False, random_state=seed).fit(graph)
    with stopwatch() as now:
        after = GraphConsensus(random_state=seed).fit(graph)
    single = [adjusted_rand_index(labels, run) for run in before.ensemble_.labels.T]
    return {
        "network": name,
        "communities": int(labels.max()) + 1,
        "single run": float(np.mean(single)),
        "as published": float(adjusted_rand_index(labels, before.labels_)),
        "default": float(adjusted_rand_index(labels, after.labels_)),
        "NMI as published": float(normalized_mutual_information(labels, before.labels_)),
        "NMI": float(normalized_mutual_information(labels, after.labels_)),
        "found as published": before.n_clusters_,
        "found": after.n_clusters_,
        "times as long": now.cpu / max(published.cpu, 1e-9),
    }


def run(arguments: argparse.Namespace) -> None:
    draws, n = (1, 1000) if arguments.quick else (arguments.draws, NODES)
    each: dict[str, list[Row]] = {}
    for draw in range(draws):
        rng = np.random.default_rng([arguments.seed, draw])
        for name, made in networks(n, rng).items():
            each.setdefault(name, []).append(row_of(name, made, draw))
    rows: list[Row] = []
    for name, own in each.items():
        means = {
            key: float(np.mean([row[key] for row in own])) for key in own[0] if key != "network"
        }
        rows.append({"network": name, **means})
    whole = dict.fromkeys(("communities", "found as published", "found"), lambda x: f"{x:.0f}")
    formats: dict[str, Any] = {**whole, "times as long": lambda x: f"{x:.1f}"}
    show(rows, "Adjusted Rand index and NMI with the known communities", formats)
    note = (
        f"Means over {draws} draws of {n:,} nodes (rings: ten nodes a clique). 'single run': mean ARI of ten Leiden runs; 'as "
        "published': split=False; 'default': communities are split. 'times as long': CPU time of the default beside that."
    )
    write(rows, "communities", arguments, formats, note=note)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--draws", type=int, default=2, help="networks of each kind")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
