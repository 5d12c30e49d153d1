"""The networks that FastEnsemble was published with: our consensus beside the published one.

python -m experiments.networks.published [--quick] --folder COPY [--conditions default d_20 d_5] [--seeds 8] [--out FOLDER]

COPY is a copy of github.com/ytabatabaee/ensemble-clustering-data, whose files are no part of this repository: networks by
the generator of Lancichinetti, Fortunato and Radicchi, 10,000 nodes, mixing .1 to .9 in steps of .1, with the known communities, a run
of Leiden by modularity, and the consensus of ten such runs at the threshold .8. `GraphConsensus(split=False)` is fitted to the same edges
with several seeds. The published consensus is one run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust import GraphConsensus
from conclust.exceptions import DatasetNotFoundError
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.output import Row, options, show, write

CONDITIONS = ("default", "d_20", "d_5")


def labels_of(path: Path, first: int, n: int) -> NDArray[np.int64]:
    """Read the community of each node; nodes that are not in the file are communities of their own."""
    table = np.loadtxt(path, dtype=np.int64)
    labels = -1 - np.arange(n)
    labels[table[:, 0] - first] = table[:, 1]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def row_of(folder: Path, seeds: int) -> Row:
    known = np.loadtxt(folder / "community.dat", dtype=np.int64)
    first, n = int(known[:, 0].min()), len(known)
    classes = labels_of(folder / "community.dat", first, n)
    published = labels_of(folder / "fec_leiden_mod_0.8.dat", first, n)
    single = labels_of(folder / "leiden_mod.dat", first, n)
    edges = np.sort(np.loadtxt(folder / "network.dat", dtype=np.int64) - first, axis=1)
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    graph = sp.coo_array((np.ones(len(edges)), edges.T), shape=(n, n)).tocsr()
    models = [
        GraphConsensus(split=False, random_state=seed, n_jobs=1).fit(graph) for seed in range(seeds)
    ]
    ari = [adjusted_rand_index(classes, model.labels_) for model in models]
    nmi = [normalized_mutual_information(classes, model.labels_) for model in models]
    runs = [adjusted_rand_index(classes, model.ensemble_.labels[:, 0]) for model in models]
    return {
        "network": f"{folder.parent.name}, {folder.name.removeprefix('mu_')}",
        "mean degree": 2 * len(edges) / n,
        "Leiden, published": float(adjusted_rand_index(classes, single)),
        "Leiden": float(np.mean(runs)),
        "ARI, published": float(adjusted_rand_index(classes, published)),
        "ARI": float(np.mean(ari)),
        "deviation": float(np.std(ari, ddof=1)) if seeds > 1 else 0.0,
        "NMI, published": float(normalized_mutual_information(classes, published)),
        "NMI": float(np.mean(nmi)),
        "found, published": int(published.max()) + 1,
        "found": float(np.mean([model.n_clusters_ for model in models])),
    }


def run(arguments: argparse.Namespace) -> None:
    files = ("network.dat", "community.dat", "leiden_mod.dat", "fec_leiden_mod_0.8.dat")
    folders = [
        folder
        for condition in arguments.conditions
        for folder in sorted(Path(arguments.folder, "lfr_training", condition).glob("mu_*"))
        if all((folder / name).exists() for name in files)
    ]
    if not folders:
        raise DatasetNotFoundError(
            f"{arguments.folder} has no networks in lfr_training/{arguments.conditions[0]}: clone "
            "github.com/ytabatabaee/ensemble-clustering-data."
        )
    seeds = 1 if arguments.quick else arguments.seeds
    rows = [row_of(folder, seeds) for folder in folders]
    whole = dict.fromkeys(("found, published", "found"), lambda x: f"{x:.0f}")
    formats: dict[str, Any] = {**whole, "mean degree": lambda x: f"{x:.1f}"}
    show(rows, "Scores with the known communities", formats)
    note = (
        f"Adjusted Rand index of a Leiden run and of the consensus, and NMI of the consensus; ours are means of {seeds} seeds, "
        "'deviation' is the standard deviation of one of them. 'found': number of communities."
    )
    write(rows, "published", arguments, formats, note=note)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--folder", default="ensemble-clustering-data", help="copy of ensemble-clustering-data"
    )
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), help="conditions")
    parser.add_argument("--seeds", type=int, default=8, help="seeds of each network")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
