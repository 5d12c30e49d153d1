"""Sets of statistics textbooks: the default beside k-means that is given the number, and HDBSCAN.

python -m experiments.default.textbook --folder COPY [--quick] [--out FOLDER]

COPY is the folder csv of a copy of github.com/vincentarelbundock/Rdatasets (`PACKAGE/NAME.csv`), whose files are no part of this repository. Each
set has the numeric columns that are measurements, without identifiers, dates and sites, and its classes; objects with gaps are left out. Three sets
have no classes, but clusters that everybody sees; the classes are then those of k-means on standardised columns with the number below. The columns of the table are
those of `battery`, with k-means and HDBSCAN on standardised columns.

None of these sets was seen before November 2026. Two of them, faithful and ruspini, then led to changes of the default; no other did.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from conclust.exceptions import DatasetNotFoundError
from experiments.default.battery import WAYS, Benchmark, row_of
from experiments.output import Row, options, show, write

LOOKED_AT = ("faithful", "ruspini")


class Set(NamedTuple):
    """A table: its package and name, the classes, and the columns that are measured.

    Attributes
    ----------
    package, table : str
        Folder and name of the file.
    classes : tuple of str or int
        The columns that together are the classes, or the number of clusters that everybody sees.
    columns : tuple of str
        The measurements; empty: all numeric columns.
    without : tuple of str
        Numeric columns that are no measurements.
    """

    package: str
    table: str
    classes: tuple[str, ...] | int
    columns: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


SETS = {
    "penguins": Set("palmerpenguins", "penguins", ("species",), without=("year",)),
    "iris": Set("datasets", "iris", ("Species",)),
    "crabs": Set("MASS", "crabs", ("sp", "sex"), without=("index",)),
    "olive oils, regions": Set("dslabs", "olive", ("region",)),
    "olive oils, areas": Set("dslabs", "olive", ("area",)),
    "tissues": Set("dslabs", "tissue_gene_expression", ("y",)),
    "NCI60": Set("ISLR", "NCI60", ("labs",)),
    "breast cancer": Set("dslabs", "brca", ("y",)),
    "hawks": Set(
        "Stat2Data", "Hawks", ("Species",), ("Wing", "Weight", "Culmen", "Hallux", "Tail")
    ),
    "diabetes": Set("heplots", "Diabetes", ("group",), without=("relwt",)),
    "bees": Set("heplots", "Bees", ("caste",), without=("time",)),
    "skulls": Set("HSAUR", "skulls", ("epoch",)),
    "heads": Set("heplots", "FootHead", ("group",)),
    "cuckoos": Set("DAAG", "cuckoos", ("species",), ("length", "breadth")),
    "vegetable oils": Set("modeldata", "oils", ("class",)),
    "scat": Set("modeldata", "scat", ("Species",), without=("Year",)),
    "biopsies": Set("MASS", "biopsy", ("class",)),
    "glass": Set("MASS", "fgl", ("type",)),
    "leaves": Set("modeldata", "leaf_id_flavia", ("shape",)),
    "cells": Set("modeldata", "cells", ("class",)),
    "athletes": Set("DAAG", "ais", ("sex",)),
    "possums": Set("DAAG", "possum", ("Pop",), without=("case", "site", "age")),
    "liver injury": Set("modeldata", "hepatic_injury_qsar", ("class",)),
    "colleges": Set("ISLR", "College", ("Private",)),
    "spam": Set("DAAG", "spam7", ("yesno",)),
    "faithful": Set("datasets", "faithful", 2, ("eruptions", "waiting")),
    "xclara": Set("cluster", "xclara", 3),
    "ruspini": Set("cluster", "ruspini", 4),
}


def textbook_sets(folder: Path) -> Iterator[Benchmark]:
    """Yield the sets of which the folder has the tables."""
    for name, (package, table, classes, columns, without) in SETS.items():
        file = folder / package / f"{table}.csv"
        if not file.exists():
            print(f"Not here, left out: {file}")
            continue
        frame = pd.read_csv(file)
        numeric = frame.select_dtypes("number").drop(
            columns=["rownames", *without], errors="ignore"
        )
        measured = frame[list(columns)] if columns else numeric
        complete = measured.notna().all(axis=1)
        if isinstance(classes, int):
            X = measured[complete].to_numpy(float)
            seen = KMeans(classes, n_init=20, random_state=0)
            y = seen.fit_predict(StandardScaler().fit_transform(X))
        else:
            complete &= frame[list(classes)].notna().all(axis=1)
            X = measured[complete].to_numpy(float)
            words = frame.loc[complete, list(classes)].astype(str).agg("/".join, axis=1)
            y = np.unique(words, return_inverse=True)[1]
        yield Benchmark(name, X, [np.asarray(y, dtype=np.int64) + 1])


def run(arguments: argparse.Namespace) -> None:
    warnings.simplefilter("ignore", UserWarning)
    sets = list(textbook_sets(Path(arguments.folder)))
    if not sets:
        raise DatasetNotFoundError(
            f"{arguments.folder} has none of the tables: copy csv of github.com/vincentarelbundock/Rdatasets."
        )
    rows = [row_of(each, scaled=True) for each in sets[: 2 if arguments.quick else None]]
    new = [row for row in rows if row["set"] not in LOOKED_AT]
    means: list[Row] = []
    for what, some in (("all", rows), ("not looked at", new)):
        mean: Row = {
            "set": f"mean of {len(some)}, {what}",
            "n": "",
            "d": "",
            "K": "",
            "found K": "",
        }
        means.append(
            mean | {way: float(np.mean([row[way] for row in some])) for way in (*WAYS, "CPU s")}
        )
    show([*rows, *means], "Adjusted Rand index: number found, given, and others")
    write([*rows, *means], "textbook", arguments)


def main(given: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--folder", default="build/rdatasets", help="the copy")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
