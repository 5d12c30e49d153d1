"""``conclust cluster`` and ``conclust combine``: an ensemble, its consensus, a result folder."""

from __future__ import annotations

import argparse
import platform
import sys
import time
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._threads import thread_count
from conclust.cli.choice import Choice, choose
from conclust.cli.csvfile import DELIMITERS
from conclust.cli.inputs import Reading, read_ensemble, read_points
from conclust.cli.outputs import OutputFolder, write_labels, write_memberships, write_result
from conclust.ensemble import Ensemble
from conclust.metrics import adjusted_rand_index, consistency_index

__all__ = ["Talk", "count", "jobs", "reading", "run_cluster", "run_combine", "score", "versions"]

_SCALES = {
    "minmax": "columns scaled to [0, 1] (--scale minmax)",
    "standard": "columns scaled to mean 0 and deviation 1 (--scale standard)",
    "none": "columns not scaled (--scale none)",
}


class Talk:
    """What the person at the terminal hears: steps on standard error, results on standard out."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._quiet = arguments.quiet
        self.verbosity = 0 if arguments.quiet else 2 if arguments.verbose else 1

    def step(self, text: str) -> None:
        """Say what is being done."""
        if not self._quiet:
            print(text, file=sys.stderr, flush=True)

    def result(self, text: str) -> None:
        """Say what came out."""
        if not self._quiet:
            print(text, flush=True)


def run_cluster(arguments: argparse.Namespace) -> None:
    """Points in, consensus out."""
    from conclust.generation import EnsembleGenerator

    choice = choose(arguments)
    talk = Talk(arguments)
    clock = _Clock()
    with OutputFolder(arguments.out, force=arguments.force) as folder:
        points = read_points(arguments.points, reading(arguments))
        n_samples, n_columns = points.X.shape
        talk.step(
            f"Read {arguments.points}: {count(n_samples, 'object')}, {count(n_columns, 'column')}"
            + "".join(f"; {note}" for note in points.notes)
            + "."
        )
        talk.step(_SCALES[arguments.scale].capitalize() + ".")
        clock.lap("read")
        generator = EnsembleGenerator(
            arguments.generator,
            n_partitions=arguments.partitions,
            sample_fraction=arguments.sample_fraction,
            feature_fraction=arguments.feature_fraction,
            scale=None if arguments.scale == "none" else arguments.scale,
            random_state=arguments.seed,
            n_jobs=jobs(arguments),
            cache_dir=arguments.cache,
            verbose=talk.verbosity,
        )
        talk.step(f"Clustering many times ({arguments.generator}).")
        ensemble = Ensemble(generator.fit_transform(points.X))
        clock.lap("generate")
        _finish(
            arguments,
            talk,
            clock,
            folder,
            choice,
            ensemble,
            points.ids,
            points.classes,
            {"file": arguments.points, "objects": n_samples, "columns": list(points.names)},
            {"generator": _parameters(generator)},
        )


def run_combine(arguments: argparse.Namespace) -> None:
    """Label matrix in, consensus out."""
    choice = choose(arguments)
    talk = Talk(arguments)
    clock = _Clock()
    with OutputFolder(arguments.out, force=arguments.force) as folder:
        labels = read_ensemble(
            arguments.labels,
            reading(arguments),
            missing=arguments.missing,
            weights=arguments.weights,
        )
        ensemble = labels.ensemble
        talk.step(
            f"Read {arguments.labels}: {count(ensemble.n_samples, 'object')}, "
            f"{count(ensemble.n_partitions, 'clustering')}"
            + "".join(f"; {note}" for note in labels.notes)
            + "."
        )
        clock.lap("read")
        _finish(
            arguments,
            talk,
            clock,
            folder,
            choice,
            ensemble,
            labels.ids,
            labels.classes,
            {"file": arguments.labels, "objects": ensemble.n_samples},
            {"missing": arguments.missing, "weights": arguments.weights},
        )


def reading(arguments: argparse.Namespace) -> Reading:
    """Return how to read the input, as the arguments say."""
    return Reading(
        delimiter=DELIMITERS.get(arguments.delimiter),
        header={"auto": None, "yes": True, "no": False}[arguments.header],
        id_column=arguments.id_column,
        label_column=getattr(arguments, "label_column", None),
        key=arguments.key,
    )


def jobs(arguments: argparse.Namespace) -> int:
    """Return how many processors to use: those asked for, else all that this process may use."""
    return thread_count(None) if arguments.jobs is None else int(arguments.jobs)


def score(classes: Sequence[Any], labels: NDArray[np.int64]) -> dict[str, float]:
    """Return H and ARI against known classes; an empty class is one that is not known."""
    known = np.array([*(text or None for text in classes), None], dtype=object)[:-1]
    return {
        "consistency_index": consistency_index(known, labels),
        "adjusted_rand_index": adjusted_rand_index(known, labels),
    }


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    packages = ("conclust", "numpy", "scipy", "scikit-learn", "joblib")
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "platform": platform.platform(),
    }


def _finish(
    arguments: argparse.Namespace,
    talk: Talk,
    clock: _Clock,
    folder: OutputFolder,
    choice: Choice,
    ensemble: Ensemble,
    ids: list[str] | None,
    classes: list[str] | None,
    source: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    """Fit, write all files, and say what came out."""
    name = choice.method.estimator
    model = choice.estimator(seed=arguments.seed, jobs=jobs(arguments))
    talk.step(f"Combining {count(ensemble.n_partitions, 'clustering')} ({name}).")
    with _recorded_warnings() as told:
        model.fit(ensemble)
    clock.lap("combine")
    labels = model.labels_
    membership = getattr(model, "membership_", None)
    confidence = None if membership is None else membership.max(axis=1)
    scores = None if classes is None else score(classes, labels)
    sizes = np.bincount(labels[labels >= 0], minlength=model.n_clusters_)
    unplaced = int(np.count_nonzero(labels < 0))

    talk.step(f"Writing {arguments.out}.")
    write_labels(
        folder.file("labels.csv"), labels, ids=ids, confidence=confidence, raw=arguments.raw
    )
    if membership is not None:
        write_memberships(folder.file("memberships.csv"), membership, ids=ids, raw=arguments.raw)
    ensemble.save(folder.file("ensemble.npz"))
    clock.lap("write")
    figures = {
        name: getattr(model, f"{name}_", None)
        for name in ("objective", "kkt_residual", "n_iter", "converged", "solver")
    }
    content = {
        "command": arguments.command,
        "input": source,
        "settings": {**settings, "method": name.lower(), "consensus": _parameters(model)},
        "seed": arguments.seed,
        "ensemble": {
            "objects": ensemble.n_samples,
            "partitions": ensemble.n_partitions,
            "clusters": {
                "smallest": int(ensemble.cluster_counts.min()),
                "largest": int(ensemble.cluster_counts.max()),
            },
            "fingerprint": ensemble.fingerprint,
        },
        "clusters": int(model.n_clusters_),
        "cluster_sizes": sizes,
        "objects_without_evidence": unplaced,
        "mean_confidence": None if confidence is None else float(confidence.mean()),
        **{name: value for name, value in figures.items() if value is not None},
        "agreement_with_known_classes": scores,
        "warnings": told,
        "seconds": clock.seconds(),
        "versions": versions(),
    }
    write_result(folder.file("result.json"), content)
    talk.result(_summary(arguments, ensemble, sizes, unplaced, confidence, scores))


def _summary(
    arguments: argparse.Namespace,
    ensemble: Ensemble,
    sizes: NDArray[np.int64],
    unplaced: int,
    confidence: NDArray[np.float64] | None,
    scores: dict[str, float] | None,
) -> str:
    shown = ", ".join(f"{size:,}" for size in sizes[:10]) + (", ..." if len(sizes) > 10 else "")
    lines = [
        f"{count(len(sizes), 'cluster')} of {count(ensemble.n_samples, 'object')}, from "
        f"{count(ensemble.n_partitions, 'clustering')}. Sizes: {shown}."
    ]
    if unplaced:
        lines.append(f"{count(unplaced, 'object')} in no clustering at all: label -1.")
    if confidence is not None:
        unsure = int(np.count_nonzero(confidence < 0.5))
        lines.append(
            f"Mean confidence {confidence.mean():.3f}; below 0.5 for {count(unsure, 'object')}."
        )
    if scores is not None:
        lines.append(
            f"Against the known classes: H = {scores['consistency_index']:.3f} (share of objects "
            f"matched), ARI = {scores['adjusted_rand_index']:.3f}."
        )
    lines.append(f"Results are in {arguments.out}.")
    return "\n".join(lines)


def _parameters(estimator: Any) -> dict[str, Any]:
    return dict(estimator.get_params(deep=False))


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it needs one."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


class _Clock:
    """Seconds of each step."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self._laps[name] = round(now - self._last, 3)
        self._last = now

    def seconds(self) -> dict[str, float]:
        return {**self._laps, "total": round(time.perf_counter() - self._start, 3)}


class _recorded_warnings:  # noqa: N801  (used as a function)
    """Show warnings as before, and keep their sentences for result.json."""

    def __enter__(self) -> list[str]:
        self._show = warnings.showwarning
        told: list[str] = []

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            told.append(str(message))
            self._show(message, category, *rest, **more)

        warnings.showwarning = show
        return told

    def __exit__(self, *_: object) -> None:
        warnings.showwarning = self._show
