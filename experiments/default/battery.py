"""Published batteries of benchmark sets: the default beside k-means that is given the number, and HDBSCAN.

python -m experiments.default.battery --folder COPY [--under wut ...] [--part 0] [--without NAME ...] [--quick] [--name battery] [--out FOLDER]

COPY is a folder with the sets of one of two repositories, whose files are no part of this one:
github.com/gagolews/clustering-data-v1 (`set.data.gz` beside one or more `set.labels*.gz`) or
github.com/deric/clustering-benchmark (`set.arff` with an attribute "class"). Sets of 100 to 11,000 points with at least two classes are
clustered by `ConsensusClustering()` without a number and with the number of classes, by k-means with the number of classes (ten starts), and by
HDBSCAN with scikit-learn's defaults, whose noise counts as a cluster. A score is the adjusted Rand index with the classes, of several with those that suit
best; points that the classes call noise are left out. ``--part 0`` takes the first, third, ... of these sets by name, 1 the others.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import arff
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.preprocessing import StandardScaler

from conclust import ConsensusClustering
from conclust.exceptions import DatasetNotFoundError
from conclust.metrics import adjusted_rand_index
from experiments.output import Row, options, show, stopwatch, write

FEWEST, MOST = 100, 11_000
WAYS = ("found", "given", "k-means", "HDBSCAN")


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Points with one or more divisions into classes, 1, 2, ..., and 0 for noise."""

    name: str
    X: NDArray[np.float64]
    classes: list[NDArray[np.int64]]

    @property
    def numbers(self) -> list[int]:
        """The numbers of classes, ascending."""
        return sorted({int(each.max()) for each in self.classes})

    def score(self, labels: NDArray[Any]) -> float:
        """Return the adjusted Rand index with the classes that suit best."""
        return max(
            float(adjusted_rand_index(each[each > 0], labels[each > 0])) for each in self.classes
        )


def benchmarks(folder: Path, under: Sequence[str] = (".",)) -> Iterator[Benchmark]:
    """Yield the sets of a folder by name; those of other sizes or without two classes are left out."""
    found = {
        file
        for name in under
        for form in ("*.data.gz", "*.arff")
        for file in (folder / name).rglob(form)
    }
    for file in sorted(found, key=lambda path: path.relative_to(folder).as_posix()):
        read = _read_arff if file.suffix == ".arff" else _read_text
        benchmark = read(file)
        if benchmark and FEWEST <= len(benchmark.X) <= MOST and benchmark.numbers[-1] > 1:
            yield benchmark


def _read_text(file: Path) -> Benchmark:
    stem = file.name.removesuffix(".data.gz")
    paths = sorted(file.parent.glob(f"{stem}.labels*.gz"))
    classes = [np.loadtxt(path, dtype=np.int64) for path in paths]
    return Benchmark(f"{file.parent.name}/{stem}", np.loadtxt(file, ndmin=2), classes)


def _read_arff(file: Path) -> Benchmark | None:
    # Some files have comments among their data, a declaration without braces, or no class at all.
    try:
        table, meta = arff.loadarff(file)
    except (NotImplementedError, ValueError, StopIteration, arff.ParseArffError):
        return None
    *features, last = meta.names()
    if not re.fullmatch("class", last, re.IGNORECASE) or not features:
        return None
    if any(meta[name][0] != "numeric" for name in features):
        return None
    X = np.column_stack([table[name].astype(np.float64) for name in features])
    names, codes = np.unique(table[last], return_inverse=True)
    is_noise = np.isin(names, [b"noise", b"-1"])
    codes = np.where(is_noise, 0, np.cumsum(~is_noise))[codes]
    return Benchmark(file.stem, X, [codes.astype(np.int64)]) if np.isfinite(X).all() else None


def row_of(benchmark: Benchmark, *, scaled: bool = False) -> Row:
    """Return the line of a set; if `scaled`, k-means and HDBSCAN get standardised columns."""
    warnings.simplefilter("ignore")
    X, numbers = benchmark.X, benchmark.numbers
    points = StandardScaler().fit_transform(X) if scaled else X

    def best_of(labels_of: Any) -> float:
        return max(benchmark.score(labels_of(number)) for number in numbers)

    with stopwatch() as taken:
        model = ConsensusClustering(random_state=0).fit(X)
    return {
        "set": benchmark.name,
        "n": len(X),
        "d": X.shape[1],
        "K": " or ".join(map(str, numbers)),
        "found K": model.n_clusters_,
        "found": benchmark.score(model.labels_),
        "given": best_of(
            lambda k: ConsensusClustering(n_clusters=k, random_state=0).fit(X).labels_
        ),
        "k-means": best_of(lambda k: KMeans(k, n_init=10, random_state=0).fit_predict(points)),
        "HDBSCAN": benchmark.score(HDBSCAN(copy=True).fit_predict(points) + 1),
        "CPU s": taken.cpu,
    }


def run(arguments: argparse.Namespace) -> None:
    every = benchmarks(Path(arguments.folder), arguments.under)
    others = [each for each in every if each.name not in arguments.without]
    wanted = others if arguments.part is None else others[arguments.part :: 2]
    if not wanted:
        raise DatasetNotFoundError(
            f"{arguments.folder} has no benchmark sets: clone github.com/gagolews/clustering-data-v1."
        )
    rows = [row_of(each) for each in wanted[: 2 if arguments.quick else None]]
    mean: Row = {"set": f"mean of {len(rows)}", "n": "", "d": "", "K": "", "found K": ""}
    mean |= {way: float(np.mean([row[way] for row in rows])) for way in (*WAYS, "CPU s")}
    show([*rows, mean], "Adjusted Rand index: number found, given, and others")
    write([*rows, mean], arguments.name, arguments)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--folder", default="build/clustering-data-v1", help="copy of a battery")
    parser.add_argument("--under", nargs="+", default=["."], help="folders of the copy")
    parser.add_argument("--part", type=int, choices=(0, 1), help="half of the sets")
    parser.add_argument("--without", nargs="+", default=[], help="names of sets to leave out")
    parser.add_argument("--name", default="battery", help="name of the files of the result")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
