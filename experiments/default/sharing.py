"""What is lost where spectral members share graphs of landmarks: the default above 10,000 objects.

python -m experiments.default.sharing [--quick] [--out FOLDER]

Each spectral member with a graph of its own, and five members to a graph, which is the default there. Adjusted Rand index of
`ConsensusClustering` with the number of classes given and not given, means of three seeds, on two real sets (where they
lie), blobs and moons. The number five was taken from experiments/usenc2020/graphs.py (20 members on four graphs); no
other number was tried here. Known classes serve for scoring only.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs, make_moons

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.datasets import load
from conclust.metrics import adjusted_rand_index
from experiments.output import Row, options, show, write

REAL = ("pendigits", "usps_11000")
ONE_EACH = 17  # spectral members of the default


def sets(quick: bool) -> Iterator[tuple[str, NDArray[np.float64], NDArray[Any]]]:
    """Yield the name, points and classes of each set."""
    for name in () if quick else REAL:
        data = load(name)
        yield name, np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    size = 10_500 if quick else 20_000
    yield "blobs, 8 features", *make_blobs(size, 8, centers=12, cluster_std=2.2, random_state=3)
    if not quick:
        yield "moons", *make_moons(30_000, noise=0.12, random_state=0)


def main(argv: Sequence[str] | None = None) -> None:
    arguments = options(__doc__).parse_args(argv)
    seeds = range(arguments.seed, arguments.seed + (1 if arguments.quick else 3))
    rows: list[Row] = []
    for name, X, y in sets(arguments.quick):
        row: Row = {"set": name, "objects": len(X)}
        for how, n_graphs in (("one each", ONE_EACH), ("five to a graph", None)):
            for given, K in (("K given", len(np.unique(y))), ("nothing given", None)):
                scores = []
                for seed in seeds:
                    generator = EnsembleGenerator(n_graphs=n_graphs, n_jobs=arguments.jobs)
                    model = ConsensusClustering(
                        n_clusters=K, generator=generator, random_state=seed
                    )
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UserWarning)
                        scores.append(adjusted_rand_index(y, model.fit_predict(X)))
                row[f"ARI {given}, {how}"] = float(np.mean(scores))
        rows.append(row)
    show(rows, "Spectral members that share graphs of landmarks")
    write(rows, "sharing", arguments)


if __name__ == "__main__":
    main()
