"""``conclust select``: estimates the number of clusters of points."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from conclust._types import Ints
from conclust.cli.commands import of_points
from conclust.cli.commands.consensus import folder_of, read_as, send, source_of
from conclust.cli.console import Talk
from conclust.cli.reading.inputs import Points
from conclust.cli.record import Clock, record_of, recorded_warnings, score, sizes_of
from conclust.cli.requested import jobs, scale
from conclust.exceptions import SelectionWarning
from conclust.generation.labelling.labelling import scaled
from conclust.generation.scaling import fitted_scaling
from conclust.results.folder import write_result
from conclust.results.result import Reported
from conclust.results.writing import write_labels, write_numbers, write_partitions
from conclust.selection import Selection, choose
from conclust.words.shell import STEPS, last_lines, sizes_line

_SHOWN = (("PAC", "pac"), ("RCSI", "rcsi"), ("sharp", "sharp"), ("mean ARI", "mean_ari"))


def run(arguments: argparse.Namespace) -> None:
    """Estimate the number of clusters of points, with the criteria for each number."""
    talk, clock = Talk(arguments), Clock()
    with folder_of(arguments) as folder:
        points, filled = of_points.points_read(arguments, talk, clock)
        references = STEPS["references"] * (arguments.null != "none")
        talk.step(STEPS["subsamples"].format(arguments.resamples, references))
        with recorded_warnings() as messages, talk.during("choosing"):
            selection = _choose(arguments, talk, points, filled)
        clock.lap("choose")
        scaling = fitted_scaling(scale(arguments), [filled.X], points.names)
        talk.step(scaling.reason)
        X = scaled(filled.X, scaling.scaler)
        chosen, K = selection.labels_, selection.n_clusters
        tests = selection.borders if K > 1 else None
        parts = of_points.tested_borders(arguments, talk, clock, X, chosen, arguments.alpha, tests)
        scores = score(points.classes, chosen)
        table = points
        if folder is None:
            send(chosen, table, arguments)
        else:
            talk.step(f"Writing {arguments.out}.")
            write_labels(folder.file("labels.csv"), chosen, table)
            write_partitions(folder.file("partitions.csv"), selection.labels, table)
            write_numbers(folder.file("criteria.csv"), {"k": selection.k, **selection.table})
            of_points.write_borders(folder, parts)
            parts |= of_points.described(folder, points, filled, X, chosen)
            if K > 1:
                selection.ensembles[K].save(folder.file("ensemble.npz"))
            clock.lap("write")
            used = selection.settings
            settings = read_as(arguments, points, used["scale"], scaling.reason)
            record = record_of(
                arguments,
                source=source_of(arguments.points, points, filled),
                features=len(points.names),
                settings={**used, **settings},
                seed=arguments.seed,
                n_clusters=K,
                cluster_sizes=tuple(sizes_of(chosen, K).tolist()),
                n_unplaced=int(np.count_nonzero(chosen < 0)),
                reason=selection.reason,
                why=selection.why,
                scores=scores,
                warnings=(*points.doubts, *messages),
                seconds=clock.seconds(),
            )
            reported = Reported(chosen, record, selection=selection, names=points.ids, **parts)
            write_result(folder, reported)
    talk.result(_summary(arguments, selection, parts, chosen, scores), selection.reason)


def _choose(
    arguments: argparse.Namespace, talk: Talk, points: Points, filled: of_points.Filled
) -> Selection:
    X = filled.X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)  # printed with the result
        return choose(
            X,
            arguments.k,
            categories=points.categories,
            n_resamples=arguments.resamples,
            sample_fraction=arguments.sample_fraction,
            null=None if arguments.null == "none" else arguments.null,
            n_references=arguments.references,
            alpha=arguments.alpha,
            scale=scale(arguments),
            random_state=arguments.seed,
            n_jobs=jobs(arguments),
            verbose=int(talk.verbosity > 1),
        )


def _summary(
    arguments: argparse.Namespace,
    selection: Selection,
    parts: dict[str, Any],
    chosen: Ints,
    scores: dict[str, float] | None,
) -> str:
    lines_on_borders = of_points.border_lines(parts) if selection.n_clusters > 1 else []
    lines = [*lines_on_borders, selection.reason, *selection.doubts, ""]
    columns = [(title, selection.table[name]) for title, name in _SHOWN if name in selection.table]
    lines.append("   K" + "".join(f"{title:>10}" for title, _ in columns))
    for at, k in enumerate(selection.k):
        mark = "*" if k == selection.n_clusters else " "
        lines.append(f"{mark}{k:>3}" + "".join(f"{column[at]:>10.4g}" for _, column in columns))
    lines += ["", sizes_line(sizes_of(chosen, selection.n_clusters))]
    return "\n".join(lines + last_lines(scores, arguments.out))
