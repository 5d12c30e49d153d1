"""Reads and writes the record of a run, result.json."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from conclust._files.storage import entry_of, write_json
from conclust._files.versions import RESULT_FORMAT, versions
from conclust.confidence import ClusterGaps
from conclust.consensus.auto.number import Support
from conclust.consensus.method import Method
from conclust.consensus.registry import method_named
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError
from conclust.results.borders import Borders, border_record
from conclust.results.features import gaps_record
from conclust.results.selections import selection_record
from conclust.selection import Selection

IMPUTED = {"mean": "mean", "median": "median", "most_frequent": "most frequent value"}
"""What ``--impute`` puts into an empty cell, in words."""

_SUPPORT = ("lifetime", "straddling", "support")
_FIGURES = ("reason", "number_by", "objective", "kkt_residual", "n_iter", "converged", "solver")


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

    def entries(self) -> dict[str, Any]:
        """Return the entry of result.json, with the names of columns if there are any."""
        return {key: value for key, value in asdict(self).items() if value != ()}

    @classmethod
    def of(cls, entries: dict[str, Any]) -> Self:
        """Undo `entries`."""
        return cls(
            str(entries.get("file", "")),
            int(entries.get("objects", 0)),
            tuple(map(str, entries.get("columns", ()))),
            tuple(map(str, entries.get("categories", ()))),
            tuple(int(number) for number in entries.get("filled", ())),
            str(entries.get("id_name", "object")),
            tuple(map(str, entries.get("hashes", ()))),
        )


@dataclass(frozen=True)
class EnsembleFacts:
    """Summary statistics of the ensemble.

    Attributes
    ----------
    objects, partitions : int
        Their numbers.
    fingerprint : str
        SHA-256 of the labels.
    clusters : (int, int) or None
        Smallest and largest number of clusters of a partition.
    """

    objects: int
    partitions: int
    fingerprint: str
    clusters: tuple[int, int] | None = None

    @classmethod
    def of(cls, ensemble: Ensemble) -> Self:
        """Return the statistics of an ensemble in memory."""
        counts = ensemble.cluster_counts
        return cls(*ensemble.shape, ensemble.fingerprint, (int(counts.min()), int(counts.max())))

    def entries(self) -> dict[str, Any]:
        """Return the entry of result.json."""
        known_values = {key: value for key, value in asdict(self).items() if value is not None}
        if self.clusters is not None:
            known_values["clusters"] = dict(
                zip(("smallest", "largest"), self.clusters, strict=True)
            )
        return known_values


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of a run of the shell.

    Attributes
    ----------
    method : str or None
        Name of the consensus method.
    consensus, generator, selection : dict or None
        Parameters of the method, of the generator and of `choose`.
    missing, weights, rows
        Options for reading labels; None where they were not given or do not exist.
    scale, scale_reason : str or None
        Scale of the points, and the sentence about it.
    na : tuple of str or None
        Further spellings of an empty cell.
    notations : dict of str to str or None
        Notation of the columns of numbers that have an unusual one: decimal commas, units, dates.
    impute : str or None
        Rule that filled empty cells: a key of `IMPUTED`.
    filling : tuple of float or None
        Values that fill empty cells of new points.
    category_weight : float or None
        Weight of each column of categories, in numbers of clusterings.
    around_centers : bool or None
        Whether the clusters are those around centres.
    """

    method: str | None = None
    consensus: dict[str, Any] | None = None
    generator: dict[str, Any] | None = None
    selection: dict[str, Any] | None = None
    missing: str | None = None
    weights: str | None = None
    rows: str | None = None
    scale: str | None = None
    scale_reason: str | None = None
    na: tuple[str, ...] | None = None
    notations: dict[str, str] | None = None
    impute: str | None = None
    filling: tuple[float, ...] | None = None
    category_weight: float | None = None
    around_centers: bool | None = None

    def entries(self) -> dict[str, Any]:
        """Return the entry of result.json: the settings, and the scale of points."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        points = self.scale_reason is not None
        return {
            key: value
            for key, value in values.items()
            if value is not None or (points and key in ("scale", "impute"))
        }


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
        All parameters; for a run of the shell the entries of `Settings`.
    seed : int or None
        Seed of a run of the shell.
    asked_for : int or None
        The requested number of clusters.
    ensemble : EnsembleFacts or None
        Summary statistics of the ensemble.
    n_clusters : int or None
        Number of clusters.
    cluster_sizes : sequence of int
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
    placed_in, placed_by : str or None
        For ``predict``: the folder of the clusters, and the model that placed the objects.
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
    ensemble: EnsembleFacts | None = None
    n_clusters: int | None = None
    cluster_sizes: Sequence[int] = ()
    labels_hash: str | None = None
    n_unplaced: int = 0
    mean_confidence: float | None = None
    by_chance: float | None = None
    supports: tuple[Support, ...] = ()
    reason: str | None = None
    why: str | None = None
    number_by: str | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    scores: dict[str, float] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=versions)
    warnings: tuple[str, ...] = ()
    placed_in: str | None = None
    placed_by: str | None = None

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


def why_of(model: Any) -> str | None:
    """Return why a fitted method found its number of clusters, in a clause; None if it gives no reason."""
    parts = getattr(model, "reason_parts", None)
    return None if parts is None else str(parts.why)


def figures_of(model: Any) -> dict[str, Any]:
    """Return the fields of a record that come from a fitted method: its reason, its supports, its statistics."""
    attributes = {name: getattr(model, f"{name}_", None) for name in _FIGURES}
    reason, number_by = attributes.pop("reason"), attributes.pop("number_by")
    return {
        "reason": reason,
        "why": why_of(model),
        "number_by": number_by,
        "supports": tuple(getattr(model, "supports_", ())),
        "figures": {name: value for name, value in attributes.items() if value is not None},
    }


def write_record(
    path: Path,
    record: Record,
    *,
    selection: Selection | None = None,
    gaps: ClusterGaps | None = None,
    borders: Borders | None = None,
) -> None:
    """Write result.json of a run of the shell.

    Parameters
    ----------
    path : Path
        The file.
    record : Record
        The run.
    selection : Selection, default=None
        Choice of the number of clusters.
    gaps : ClusterGaps, default=None
        Between which clusters there are gaps.
    borders : Borders, default=None
        Tests of the borders between clusters.
    """
    chosen = {} if selection is None else selection_record(selection)
    content: dict[str, Any] = {
        "format": RESULT_FORMAT,
        "command": record.command,
        "arguments": list(record.arguments),
        "input": record.source.entries(),
        "settings": record.settings,
        "seed": record.seed,
        "ensemble": None if record.ensemble is None else record.ensemble.entries(),
        "clusters": record.n_clusters,
        "cluster_sizes": [int(size) for size in record.cluster_sizes],
        "labels_sha256": record.labels_hash,
        "objects_without_evidence": record.n_unplaced,
        "mean_confidence": record.mean_confidence,
        "mean_confidence_by_chance": record.by_chance,
        "supports": [asdict(support) for support in record.supports],
        "reason": record.reason,
        "why": record.why,
        "number_by": record.number_by,
        **record.figures,
        "selection": chosen or None,
        "gaps": None if gaps is None else gaps_record(gaps),
        "borders": None if borders is None else border_record(borders),
        "agreement_with_known_classes": record.scores,
        "warnings": list(record.warnings),
        "seconds": record.seconds,
        "versions": record.versions,
    }
    if record.command == "select":
        del content["selection"]
        content |= {**chosen, "settings": record.settings}
    if record.command == "predict":
        content |= {"result": record.placed_in, "placed_by": record.placed_by}
        content["method"] = record.settings.get("method")
    write_json(path, content)


def read_record(content: dict[str, Any], path: Path) -> Record:
    """Read what `write_record` wrote, except the selection, the gaps and the borders.

    Parameters
    ----------
    content : dict
        The checked content of the file.
    path : Path
        The file, for messages.

    Raises
    ------
    FileFormatError
        It lacks an entry.
    InputError
        It names a method that does not exist.
    """

    def get(*keys: str) -> Any:
        return entry_of(content, path, *keys)

    command = str(get("command"))
    settings = dict(get("settings"))
    consensus = settings.get("consensus")
    requested = consensus.get("n_clusters") if isinstance(consensus, dict) else None
    chosen = content.get("selection")
    if chosen is not None:  # passed to the method by the selection
        requested, settings["selection"] = None, chosen["settings"]
    source = Source.of(get("input"))
    points = command != "combine"
    return Record(
        command=command,
        arguments=tuple(map(str, content.get("arguments", ()))),
        call=_call(command, content.get("arguments"), source.file),
        method=_method(path, str(get("settings", "method"))) if command != "select" else None,
        source=source,
        features=len(source.columns) if points else None,
        settings={"seed": content.get("seed"), **settings},
        seed=content.get("seed"),
        asked_for=requested if isinstance(requested, int) else None,
        ensemble=_facts(content.get("ensemble")),
        n_clusters=int(get("clusters")),
        cluster_sizes=tuple(content.get("cluster_sizes", ())),
        labels_hash=content.get("labels_sha256"),
        n_unplaced=int(content.get("objects_without_evidence", 0)),
        mean_confidence=content.get("mean_confidence"),
        by_chance=content.get("mean_confidence_by_chance"),
        supports=tuple(
            Support(int(s["n_clusters"]), *(float(s[name]) for name in _SUPPORT))
            for s in content.get("supports", ())
        ),
        reason=content.get("reason"),
        why=content.get("why"),
        number_by=content.get("number_by"),
        figures={name: content[name] for name in _FIGURES[2:] if name in content},
        scores=content.get("agreement_with_known_classes"),
        seconds=dict(get("seconds")),
        versions={str(k): str(v) for k, v in get("versions").items()},
        warnings=tuple(map(str, content.get("warnings", ()))),
    )


def _facts(entries: dict[str, Any] | None) -> EnsembleFacts | None:
    if entries is None:
        return None
    clusters = entries.get("clusters")
    return EnsembleFacts(
        int(entries["objects"]),
        int(entries["partitions"]),
        str(entries["fingerprint"]),
        None if clusters is None else (int(clusters["smallest"]), int(clusters["largest"])),
    )


def _method(path: Path, name: str) -> Method:
    method = method_named(name)
    if method is None:
        raise InputError(
            f"{path.parent} was made by the method {name!r}, which this version of conclust does not have. "
            "Report it with the version that made it."
        )
    return method


def _call(command: str, arguments: Any, file: str) -> str:
    """Return the command line, or the recorded part of it."""
    if isinstance(arguments, list):
        return shlex.join(["conclust", *map(str, arguments)])
    return f"conclust {command} {shlex.quote(file)}"
