"""The networks that FastEnsemble was published with: our consensus beside the published one.

python -m experiments.networks.published [--quick] --folder COPY [--conditions lfr_training/default ring_mod ...] [--seeds 8] [--iterations 2] [--out FOLDER]

COPY is a copy of github.com/ytabatabaee/ensemble-clustering-data, whose files are no part of this repository: networks by
the generator of Lancichinetti, Fortunato and Radicchi, mixing .1 to .9 in steps of .1, and rings and trees of cliques of ten
nodes. The largest ones, whose edges some copies lack, are made by `experiments.networks.formulas`. Each comes with the known
communities, a run of Leiden by modularity or CPM, and the consensus of such runs: by a threshold of their share, weighted or
not, and those on which all runs agree. `GraphConsensus(split=False)` is fitted to the same edges with the same parameters and
several seeds. A published consensus is one run.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust import Ensemble, GraphConsensus
from conclust.exceptions import DatasetNotFoundError
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from conclust.networks.estimator import Kind
from experiments.networks.formulas import edges_by_formula, has_formula
from experiments.output import Row, options, show, write

CONDITIONS = (
    "lfr_training/default",
    "lfr_training/d_20",
    "lfr_training/d_5",
    "lfr_training/n_1000",
    "lfr_training/n_100000",
    "tandon_et_al",
    "erdos_renyi",
    "erdos_renyi_lfr",
    "erdos_renyi_ring",
    "ring_mod",
    "tree_mod",
    "ring_cpm",
    "ring_cpm_res",
)
# Names of files with a published consensus: of ten runs and at the threshold .8, where the name has no other.
CONSENSUS = re.compile(
    r"(?P<kind>fec_nw|fec|strict)(_(?P<runs>\d+))?(_np(?P<n_runs>\d+))?(_leiden)?(_(?P<threshold>\d\.\d))?"
    r"(_(?P<quality>mod|cpm_r?(?P<resolution>[\d.]+(e-\d+)?)))?(_np(?P<last_runs>\d+))?(_(?P<last_threshold>\d\.\d))?\.dat"
)
RINGS = "ring_mod", "ring_cpm"
KINDS: dict[str, Kind] = {"fec": "fast", "fec_nw": "threshold", "strict": "strict"}


@dataclass(frozen=True)
class Published:
    """A network with a published consensus of its communities."""

    folder: Path
    consensus: str
    iterations: int = 2

    def name_in(self, copy: Path) -> str:
        """Return its condition and its name, without the copy's."""
        parts = [*self.folder.relative_to(copy).parts[-2:], self.consensus.removesuffix(".dat")]
        return ", ".join(parts)

    @property
    def runs(self) -> dict[str, Any]:
        """The parameters of the runs."""
        name = parsed(self.consensus)
        return {
            "n_runs": int(name["runs"] or name["n_runs"] or name["last_runs"] or 10),
            "quality": "cpm" if name["resolution"] else "modularity",
            "resolution": float(name["resolution"]) if name["resolution"] else None,
            "n_iterations": 2 if name["resolution"] else self.iterations,
        }

    @property
    def method(self) -> dict[str, Any]:
        """The parameters of the consensus."""
        name, runs = parsed(self.consensus), self.runs
        threshold = float(name["threshold"] or name["last_threshold"] or 0.8)
        return {
            "kind": KINDS[name["kind"]],
            "threshold": least_share(runs["n_runs"], threshold),
            **runs,
        }

    @property
    def run(self) -> Path:
        """The file with a single run of Leiden by the same quality."""
        return self.folder / f"leiden_{parsed(self.consensus)['quality'] or 'mod'}.dat"


def least_share(n_runs: int, threshold: float) -> float:
    """Return the smallest share of runs in which the ends of an edge that FastEnsemble keeps are together.

    It subtracts 1 / N from 1 for each run that separates them, and compares the rest with the threshold. Of 50 or 100 runs,
    ten or twenty leave .7999999999999998 by rounding, so that an edge together in exactly .8 of these runs is removed.
    """
    weight, apart = 1.0, 0
    while weight - 1 / n_runs >= threshold:
        weight, apart = weight - 1 / n_runs, apart + 1
    return (n_runs - apart) / n_runs


def parsed(name: str) -> dict[str, str]:
    """Return what the name of a file with a consensus says; empty for other files."""
    match = CONSENSUS.fullmatch(name)
    return match.groupdict() if match else {}


def published_in(folder: Path, condition: str, iterations: int = 2) -> list[Published]:
    """Return the networks of a condition, each with each consensus of its communities.

    By modularity, each of our runs has at most this number of iterations.
    """
    top = folder / condition
    found = []
    for known in sorted(top.rglob("community.dat"), key=lambda path: (len(path.parent.name), path)):
        if not (known.with_name("network.dat").exists() or has_formula(known.parent)):
            continue
        for file in sorted(known.parent.iterdir()):
            entry = Published(known.parent, file.name, iterations)
            if parsed(file.name) and (entry.run.exists() or known.parent.parent.name in RINGS):
                found.append(entry)
    return found


@lru_cache(maxsize=1)
def edges_of(folder: Path) -> NDArray[np.int64]:
    """Return the edges of a network, each once with its smaller end first, and its self-loops.

    The largest networks have no file in some copies, and are made by their formulas.
    """
    file = folder / "network.dat"
    if not file.exists():
        return edges_by_formula(folder)
    first = int(np.loadtxt(folder / "community.dat", dtype=np.int64)[:, 0].min())
    edges = np.sort(np.loadtxt(file, dtype=np.int64) - first, axis=1)
    return np.unique(edges, axis=0)


def labels_of(path: Path, first: int, n: int) -> NDArray[np.int64]:
    """Read the community of each node; nodes that are not in the file are communities of their own."""
    table = np.loadtxt(path, dtype=np.int64)
    labels = -1 - np.arange(n)
    labels[table[:, 0] - first] = table[:, 1]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


@lru_cache(maxsize=64)
def runs_of(folder: Path, parameters: tuple[tuple[str, Any], ...]) -> dict[int, Ensemble]:
    """Return the runs made so far with equal parameters, by seed; the caller adds to them."""
    del folder, parameters  # the key
    return {}


def fitted(network: Published, graph: sp.csr_array, seed: int) -> GraphConsensus:
    """Fit a consensus; those of one network that differ in the threshold share their runs."""
    made = runs_of(network.folder, tuple(network.runs.items()))
    model = GraphConsensus(**network.method, split=False, random_state=seed, n_jobs=1)
    model.fit(graph, ensemble=made.get(seed))
    made[seed] = model.ensemble_
    return model


def single_run(network: Published, classes: NDArray[np.int64], first: int) -> float | None:
    """Return the adjusted Rand index of the published run of Leiden, where there is one."""
    if not network.run.exists():
        return None
    return float(adjusted_rand_index(classes, labels_of(network.run, first, len(classes))))


def row_of(network: Published, copy: Path, seeds: int) -> Row:
    folder = network.folder
    known = np.loadtxt(folder / "community.dat", dtype=np.int64)
    first, n = int(known[:, 0].min()), len(known)
    classes = labels_of(folder / "community.dat", first, n)
    published = labels_of(folder / network.consensus, first, n)
    edges = edges_of(folder)
    graph = sp.coo_array((np.ones(len(edges)), edges.T), shape=(n, n)).tocsr()
    models = [fitted(network, graph, seed) for seed in range(seeds)]
    ari = [adjusted_rand_index(classes, model.labels_) for model in models]
    nmi = [normalized_mutual_information(classes, model.labels_) for model in models]
    runs = [adjusted_rand_index(classes, model.ensemble_.labels[:, 0]) for model in models]
    return {
        "network": network.name_in(copy),
        "mean degree": 2 * len(edges) / n,
        "Leiden, published": single_run(network, classes, first),
        "Leiden": float(np.mean(runs)),
        "ARI, published": float(adjusted_rand_index(classes, published)),
        "ARI": float(np.mean(ari)),
        "lowest": float(min(ari)),
        "highest": float(max(ari)),
        "NMI, published": float(normalized_mutual_information(classes, published)),
        "NMI": float(np.mean(nmi)),
        "found, published": int(published.max()) + 1,
        "found": float(np.mean([model.n_clusters_ for model in models])),
    }


def run(arguments: argparse.Namespace) -> None:
    networks = [
        network
        for condition in arguments.conditions
        for network in published_in(Path(arguments.folder), condition, arguments.iterations)
    ]
    if not networks:
        raise DatasetNotFoundError(
            f"{arguments.folder} has no networks in {arguments.conditions[0]}: clone "
            "github.com/ytabatabaee/ensemble-clustering-data."
        )
    seeds = 1 if arguments.quick else arguments.seeds
    rows = [row_of(network, Path(arguments.folder), seeds) for network in networks]
    whole = dict.fromkeys(("found, published", "found"), lambda x: f"{x:.0f}")
    formats: dict[str, Any] = {**whole, "mean degree": lambda x: f"{x:.1f}"}
    show(rows, "Scores with the known communities", formats)
    note = (
        f"Adjusted Rand index of a Leiden run and of the consensus, and NMI of the consensus; ours are means of {seeds} seeds, "
        "'lowest' and 'highest' of them. 'found': number of communities. Runs by modularity have at most "
        f"{arguments.iterations} iterations, by CPM two."
    )
    write(rows, arguments.name, arguments, formats, note=note)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--folder", default="ensemble-clustering-data", help="copy of ensemble-clustering-data"
    )
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), help="conditions")
    parser.add_argument("--seeds", type=int, default=8, help="seeds of each network")
    parser.add_argument(
        "--iterations",
        type=int,
        default=2,
        help="maximum of the iterations of a run by modularity",
    )
    parser.add_argument("--name", default="published", help="name of the files of the result")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
