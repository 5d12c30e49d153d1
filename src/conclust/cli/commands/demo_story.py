"""The first part of the demo: one set of points, without any parameters, up to a report."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from conclust import report
from conclust._types import Floats
from conclust._validation import count
from conclust.cli.requested import jobs
from conclust.cli.summary import sizes_line, sizes_of
from conclust.confidence import object_confidence
from conclust.exceptions import EnsembleWarning, SelectionWarning
from conclust.generation import EnsembleGenerator
from conclust.metrics import consistency_index
from conclust.pipeline import ConsensusClustering
from conclust.results.writing import OutputFolder

SET = "wine"
"""The data set shown, if it is among those requested."""

REPORT = "report.html"

_UNSURE = 0.6  # share of an object's membership in its own cluster, below which it is unsure
_NAMED = 5


def story(
    name: str, data: Any, X: Floats, arguments: argparse.Namespace, folder: OutputFolder
) -> str:
    """Find the number of clusters and the consensus of a set, write the report, and return the text to print.

    The known classes are read in the last sentence only.
    """
    generator = EnsembleGenerator(scale="standard", n_jobs=jobs(arguments))
    model = ConsensusClustering(generator=generator, n_clusters="auto", random_state=arguments.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)  # printed here instead: selection_.doubts
        warnings.simplefilter("ignore", EnsembleWarning)
        model.fit(X)
    columns = getattr(data, "feature_names", None)
    report.write(model, folder.file(REPORT), X=X, feature_names=columns)
    selection = model.selection_
    lines = [
        f"First, one set of points, without any further information: {name}, {count(len(X), 'object')} with "
        f"{count(X.shape[1], 'measurement')}, each scaled to mean 0 and variance 1.",
        "",
        f"How many clusters? {selection.reason}",
        *selection.doubts,
    ]
    if model.n_clusters_ > 1:
        lines += [sizes_line(sizes_of(model.labels_, model.n_clusters_)), _unsure(model)]
    lines.append(
        f"The full report is {arguments.out / REPORT}: open it in a browser. For your own points: conclust "
        "cluster points.csv -k auto --out result, then conclust report result."
    )
    classes = np.asarray(data.y)
    lines.append(
        f"(The {len(np.unique(classes))} known classes were not used: "
        f"{consistency_index(classes, model.labels_):.0%} of the objects are in the cluster of their "
        "class.)"
    )
    return "\n".join(lines)


def _unsure(model: ConsensusClustering) -> str:
    """Return a sentence on the objects that lie between two clusters."""
    sure = object_confidence(model)
    unsure = np.flatnonzero(sure.confidence < _UNSURE)
    if not len(unsure):
        return f"No object is less than {_UNSURE:.0%} in its cluster."
    least = unsure[np.argsort(sure.confidence[unsure], kind="stable")][:_NAMED]
    named = ", ".join(
        f"object {i} ({sure.confidence[i]:.0%} in cluster {sure.labels[i]}, else in {sure.second[i]})"
        for i in least
    )
    return f"Less than {_UNSURE:.0%} in their clusters, {len(unsure)} in all: {named}."
