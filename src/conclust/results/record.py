"""The record of a run, and its entries in result.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from conclust._files.versions import RESULT_FORMAT, versions
from conclust.consensus.auto.trees import Support
from conclust.consensus.method import Method
from conclust.ensemble import Ensemble
from conclust.words.reason import PYTHON, Door, Reason

IMPUTED = {"mean": "mean", "median": "median", "most_frequent": "most frequent value"}
"""What ``--impute`` puts into an empty cell, in words."""

_FIGURES = ("number_by", "objective", "bic", "kkt_residual", "n_iter", "converged", "solver")


@dataclass(frozen=True)
class Filling:
    """Empty cells that were filled before the points were clustered.

    Attributes
    ----------
    how : str
        A key of `IMPUTED`.
    columns : tuple of (str, int)
        The columns that had empty cells, and their counts.
    """

    how: str
    columns: tuple[tuple[str, int], ...]

    @property
    def cells(self) -> int:
        """All cells that were filled."""
        return sum(number for _, number in self.columns)


@dataclass(frozen=True)
class Source:
    """A description of the input.

    Attributes
    ----------
    file : str
        The file; empty for a result made in Python.
    objects : int
        Number of objects in it.
    columns : tuple of str
        Columns of data: of numbers, or of labels.
    categories : tuple of str
        Columns of categories: the last partitions of the ensemble.
    filled : tuple of int
        Empty cells of each column of numbers.
    id_name : str
        Name of the column of the names of objects; "object" if there is none.
    hashes : tuple of str
        SHA-256 of the values of each column, of `columns` and then of `categories`; its first 16 digits.
    """

    file: str = ""
    objects: int = 0
    columns: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    filled: tuple[int, ...] = ()
    id_name: str = "object"
    hashes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Record:
    """How a result was made, to the extent that it is known.

    Attributes
    ----------
    command : str
        The command of the shell; empty for a result made in Python.
    arguments : tuple of str
        The words of the command line.
    call : str
        A line that does it again.
    method : Method or None
        The consensus method. None: labels that came from elsewhere, or a selection.
    source : Source
        The input.
    features : int or None
        Columns of the points, of numbers.
    settings : dict
        All parameters; for a run of the shell also how it read the file.
    seed : int or None
        Seed of a run of the shell.
    asked_for : int or None
        The requested number of clusters.
    ensemble : dict or None
        Statistics of the ensemble, as of `facts_of`.
    n_clusters : int or None
        Number of clusters.
    cluster_sizes : tuple of int
        Number of objects in each.
    labels_hash : str or None
        SHA-256 of the labels.
    n_unplaced : int
        Objects without a cluster.
    mean_confidence, by_chance : float or None
        The mean confidence, and that of partitions drawn at random.
    supports : tuple of Support
        Support for numbers of clusters, from AutoConsensus.
    reason, why : str or None
        Reason for the number of clusters, and its part that says why, in a clause.
    next : str
        Its last part, which says what to do next.
    number_by : str or None
        Source of AutoConsensus' number of clusters: "given", "partitions" or "points".
    figures : dict
        The method's figures on its own work: objective, iterations, solver.
    scores : dict or None
        Agreement with known classes.
    seconds : dict of str to float
        Seconds of each step.
    versions : dict of str to str
        Versions of Python and packages.
    warnings : tuple of str
        Warnings of the run.
    """

    command: str = ""
    arguments: tuple[str, ...] = ()
    call: str = ""
    method: Method | None = None
    source: Source = Source()
    features: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    asked_for: int | None = None
    ensemble: dict[str, Any] | None = None
    n_clusters: int | None = None
    cluster_sizes: tuple[int, ...] = ()
    labels_hash: str | None = None
    n_unplaced: int = 0
    mean_confidence: float | None = None
    by_chance: float | None = None
    supports: tuple[Support, ...] = ()
    reason: str | None = None
    why: str | None = None
    next: str = ""
    number_by: str | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    scores: dict[str, float] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=versions)
    warnings: tuple[str, ...] = ()

    @property
    def categories(self) -> tuple[str, ...]:
        """Columns of categories."""
        return self.source.categories

    @property
    def category_weight(self) -> float | None:
        """Weight of each column of categories, in numbers of clusterings."""
        return self.settings.get("category_weight")

    @property
    def filling(self) -> Filling | None:
        """Imputed cells, if there were any."""
        how = self.settings.get("impute")
        gaps = [
            (name, number)
            for name, number in zip(self.source.columns, self.source.filled, strict=False)
            if number > 0
        ]
        return Filling(how, tuple(gaps)) if gaps and how in IMPUTED else None


def figures_of(model: Any, parts: Reason | None, door: Door = PYTHON) -> dict[str, Any]:
    """Return the fields of a record that come from a fitted method, and the reason for its number, in the terms of a door."""
    attributes = {name: getattr(model, f"{name}_", None) for name in _FIGURES}
    number_by = attributes.pop("number_by")
    return {
        "reason": None if parts is None else parts.text(door),
        "why": None if parts is None else parts.why,
        "next": "" if parts is None else parts.next(door),
        "number_by": number_by,
        "supports": tuple(getattr(model, "supports_", ())),
        "figures": {name: value for name, value in attributes.items() if value is not None},
    }


def facts_of(ensemble: Ensemble) -> dict[str, Any]:
    """Return the statistics of an ensemble that a record keeps: its size, and a fingerprint of its labels."""
    counts = ensemble.cluster_counts
    return {
        "objects": ensemble.n_samples,
        "partitions": ensemble.n_partitions,
        "fingerprint": ensemble.fingerprint,
        "clusters": {"smallest": int(counts.min()), "largest": int(counts.max())},
    }


def entries(record: Record) -> dict[str, Any]:
    """Return the content of result.json that every command writes."""
    return {
        "format": RESULT_FORMAT,
        "command": record.command,
        "arguments": list(record.arguments),
        "input": {name: value for name, value in asdict(record.source).items() if value != ()},
        "settings": record.settings,
        "seed": record.seed,
        "ensemble": record.ensemble,
        "clusters": record.n_clusters,
        "cluster_sizes": list(record.cluster_sizes),
        "labels_sha256": record.labels_hash,
        "objects_without_evidence": record.n_unplaced,
        "mean_confidence": record.mean_confidence,
        "mean_confidence_by_chance": record.by_chance,
        "supports": [asdict(support) for support in record.supports],
        "reason": record.reason,
        "why": record.why,
        "number_by": record.number_by,
        **record.figures,
        "agreement_with_known_classes": record.scores,
        "warnings": list(record.warnings),
        "seconds": record.seconds,
        "versions": record.versions,
    }
