"""``conclust compare-methods``: compares several consensus methods on one label matrix."""

from __future__ import annotations

import argparse
import json
from contextlib import nullcontext
from typing import Any

import numpy as np

from conclust._validation import count
from conclust.cli.choice import find
from conclust.cli.console import Talk, plain
from conclust.cli.reading.inputs import read_ensemble
from conclust.cli.requested import jobs, reading
from conclust.exceptions import InputError
from conclust.results.writing import LabelTable, OutputFolder, write_numbers
from conclust.trials import Comparison, compare
from conclust.trials.entries import ALL

_FILES = ("labels.csv", "methods.csv")


def run(arguments: argparse.Namespace) -> None:
    """Run the methods, and print their results as a table."""
    talk = Talk(arguments)
    methods = _methods(arguments)
    folder = (
        nullcontext(None)
        if arguments.out is None
        else OutputFolder(arguments.out, force=arguments.force, names=_FILES)
    )
    with folder as files:
        labels = read_ensemble(
            arguments.labels,
            reading(arguments),
            missing=arguments.missing,
            weights=arguments.weights,
        )
        ensemble = labels.ensemble
        read = (
            f"{count(ensemble.n_samples, 'object')}, {count(ensemble.n_partitions, 'clustering')}"
        )
        talk.step(f"Read {plain(arguments.labels)}: {'; '.join([read, *labels.notes])}.")
        truth = None
        if labels.classes is not None:
            truth = np.array([*(text or None for text in labels.classes), None], dtype=object)[:-1]
        comparison = compare(
            ensemble,
            methods,
            n_clusters=arguments.clusters,
            truth=truth,
            random_state=arguments.seed,
            n_jobs=jobs(arguments),
            verbose=int(talk.verbosity > 1),
        )
        if not comparison.labels:
            raise InputError(
                f"No method found a consensus. {comparison[0].method}: {comparison[0].status}"
            )
        if files is not None:
            table = LabelTable(labels.ids, labels.id_name, None, arguments.raw)
            objects = {table.id_column(): table.object_names(ensemble.n_samples)}
            write_numbers(files.file("labels.csv"), {**objects, **comparison.labels})
            write_numbers(files.file("methods.csv"), _columns(comparison))
    if arguments.json:
        print(json.dumps(_rows(comparison), indent=2, ensure_ascii=False))
        return
    # Without a folder the table is the whole result.
    talk.result(str(comparison), str(comparison) if arguments.out is None else "")
    if comparison.told_by_auto:
        talk.result("Give -k for another number.")
    if arguments.out is not None:
        talk.result(f"Results are in {arguments.out}.")


def _methods(arguments: argparse.Namespace) -> list[str] | str | None:
    """Return the methods named on the command line; exit with the usage if one is unknown."""
    if arguments.methods is None:
        return None
    if [name.lower() for name in arguments.methods] == [ALL]:
        return ALL
    return [find(name, arguments.usage_error).estimator for name in arguments.methods]


def _columns(comparison: Comparison) -> dict[str, list[Any]]:
    """Return the table with empty cells where there is no value."""
    return {
        name: ["" if cell is None or cell != cell else cell for cell in column]
        for name, column in comparison.columns().items()
    }


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the table as rows, null where there is no value."""
    columns = comparison.columns()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [{k: None if cell != cell else cell for k, cell in row.items()} for row in rows]
