"""A result folder of ``conclust cluster``, ``combine`` or ``select``, read back: complete, or refused."""

from __future__ import annotations

import csv
import io
import math
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from conclust._labels import canonical_labels
from conclust._spreadsheets import unguarded
from conclust._storage import entry_of, open_regular, read_json
from conclust.confidence import ClusterCategories, ClusterFeatures, ClusterGaps
from conclust.confidence.reading import Judged
from conclust.consensus.auto.number import Support
from conclust.consensus.base import Method
from conclust.consensus.registry import method_named
from conclust.ensemble import Ensemble
from conclust.exceptions import ConclustError, FileFormatError, InputError
from conclust.results.borders import Borders, read_borders
from conclust.results.entries import check_format, checked_entries
from conclust.results.result import (
    IMPUTED,
    Features,
    Filling,
    Record,
    Reported,
    StoredSelection,
)

__all__ = ["load"]

_COMMANDS = ("cluster", "combine", "select")
_FEATURES = [
    *("feature", "cluster", "inside", "outside", "deviation", "difference", "category", "filled"),
]


def load(path: str | os.PathLike[str]) -> Reported:
    """Read a result folder, as ``conclust report`` does.

    Parameters
    ----------
    path : path-like
        Folder given by ``--out``.

    Returns
    -------
    Reported
        The result: ``labels``, ``names`` of the objects, ``n_clusters``, ``record`` (command, method, settings, seed, versions,
        seconds, warnings), ``judged`` (the ensemble, ``members``, and the ``membership``), ``selection``, ``features``,
        ``gaps``, ``borders``. What the folder lacks is None.

    Raises
    ------
    InputError
        If it is not a result folder, lacks a file, or is from another command or version.
    FileFormatError
        A file is damaged, or does not fit the others.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from conclust import results
    >>> from conclust.cli import main
    >>> labels = np.repeat([[0, 0, 1], [1, 1, 0]], 10, axis=0)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     path = Path(home) / "labels.npy"
    ...     np.save(path, labels)
    ...     _ = main(["combine", str(path), "--quiet", "--out", str(Path(home) / "result")])
    ...     found = results.load(Path(home) / "result")
    2 clusters of 20 objects, from 3 clusterings. Sizes: 10, 10.
    >>> found.n_clusters, found.record.command, found.judged.members.shape
    (2, 'combine', (20, 3))
    """
    folder = Folder(Path(path))
    try:
        return _read(folder)
    except ConclustError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            f"{folder.path / 'result.json'} is not as expected ({error}): it is damaged, or of another "
            "version of conclust. Make the result again."
        ) from error


def _read(folder: Folder) -> Reported:
    command = folder.command()
    ids, labels = folder.labels()
    chosen = folder.selection(command, len(labels))
    n_clusters = int(folder.get("clusters"))
    if n_clusters != int(labels.max()) + 1:
        folder.damaged("labels.csv")
    method = _method(folder) if command != "select" else None
    judged = None
    if command != "select" or n_clusters > 1:
        members = Ensemble.load(folder.file("ensemble.npz"))
        if members.n_samples != len(labels):
            folder.damaged("ensemble.npz")
        shares = folder.memberships(labels) if method is not None and method.membership else None
        judged = Judged(labels, members, shares)
    return Reported(
        labels,
        _record(folder, command, method),
        judged,
        chosen,
        names=ids,
        features=folder.features(n_clusters),
        gaps=folder.gaps(n_clusters),
        borders=folder.borders(n_clusters),
    )


class Folder:
    """The files of a result folder, and the content of result.json."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir():
            what = "is a file" if path.exists() else "is not there"
            raise InputError(
                f"{path} {what}. A report needs a folder that 'conclust cluster', 'combine' or "
                "'select' has written."
            )
        if not (path / "result.json").exists():
            raise InputError(
                f"{path} is not a complete result folder: it has no result.json, which is written last. Make "
                "it again with 'conclust cluster', 'combine' or 'select'."
            )
        self.content = checked_entries(read_json(path / "result.json"), path / "result.json")

    def command(self) -> str:
        """Return the command that wrote the folder; refuse a command without a report."""
        command = self.content.get("command")
        if command not in _COMMANDS:
            raise InputError(
                f"{self.path} is not a result that can be reported"
                + (f", but the result of 'conclust {command}'" if isinstance(command, str) else "")
                + ". Give the folder of 'conclust cluster', 'combine' or 'select'."
            )
        check_format(self.content, self.path)
        self._check_held()
        return str(command)

    def _check_held(self) -> None:
        """Refuse a result of labels in blocks, which keeps no clusterings."""
        ensemble = self.content.get("ensemble")
        if isinstance(ensemble, dict) and "blocks" in ensemble:
            raise InputError(
                f"{self.path} was made from labels in blocks: it has labels.npy, but not the clusterings that "
                "a report needs. For a report run 'conclust combine' without --blocks, on a "
                "sample of the objects if not all fit into memory."
            )

    def get(self, *keys: str) -> Any:
        """Return an entry of result.json."""
        return entry_of(self.content, self.path / "result.json", *keys)

    def file(self, name: str) -> Path:
        """Return the path of a required file."""
        found = self.path / name
        if not found.exists():
            raise InputError(
                f"{self.path} lacks {name}: the result is incomplete, or of another version of conclust. "
                "Make it again."
            )
        return found

    def damaged(self, name: str) -> NoReturn:
        """Refuse a file that does not fit the others."""
        raise FileFormatError(
            f"{self.path / name} does not fit the other files of the result: it was changed or damaged. "
            "Make the result again."
        )

    def labels(self) -> tuple[list[str] | None, NDArray[np.int64]]:
        """Return the names of the objects, None if they are numbers from 0, and the labels."""
        with self._rows("labels.csv") as (header, rows):
            if header[1:2] != ["label"]:
                self.damaged("labels.csv")
            ids: list[str] = []
            cells: list[str] = []
            for row in rows:
                ids.append(row[0])
                cells.append(row[1])
        try:
            labels = np.fromiter(map(int, cells), np.int64, len(cells))
        except (ValueError, OverflowError):
            self.damaged("labels.csv")
        if not len(labels) or labels.max() < 0 or not _canonical(labels):
            self.damaged("labels.csv")
        if header[0] == "object" and all(map(str.__eq__, ids, map(str, range(len(ids))))):
            return None, labels
        return [unguarded(name) for name in ids], labels

    def memberships(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the memberships, rows scaled to sum 1 again: they are written in nine decimals."""
        with self._rows("memberships.csv") as (header, _):
            width = len(header) - 1
        if width <= labels.max():
            self.damaged("memberships.csv")
        # Names are not kept; a row of another length is an error.
        row = np.dtype([("object", "U1"), ("shares", np.float64, (width,))])
        try:
            with open_regular(self.file("memberships.csv")) as file:
                rows = np.loadtxt(
                    file,
                    row,
                    delimiter=",",
                    quotechar='"',
                    skiprows=1,
                    comments=None,
                    ndmin=1,
                    encoding="utf-8",
                )
        except ValueError:
            self.damaged("memberships.csv")
        shares: NDArray[np.float64] = np.array(rows["shares"])
        if len(shares) != len(labels) or not np.isfinite(shares).all() or shares.min() < 0:
            self.damaged("memberships.csv")
        total = shares.sum(axis=1, keepdims=True)
        if total.min() < 0.5:
            self.damaged("memberships.csv")
        shares /= total
        return shares

    def selection(self, command: str, n_samples: int) -> StoredSelection | None:
        """Return how the number of clusters was chosen, where the record says it."""
        content = self.content if command == "select" else self.content.get("selection")
        if content is None:
            return None
        ks = [int(k) for k in content["k"]]
        table = {str(name): _floats(column) for name, column in content["criteria"].items()}
        if not ks or any(column.shape != (len(ks),) for column in table.values()):
            self.damaged("result.json")
        null = _floats(content["null"]).reshape(-1, len(ks))
        curves = content["distribution"]
        p_value, clouds = content["p_value"], content.get("p_value_clouds")
        return StoredSelection(
            n_clusters=int(content["clusters"]),
            p_value=math.nan if p_value is None else float(p_value),
            n_references=int(content["references"]),
            n_borders=int(content.get("borders_tested", 0)),
            n_held=int(content.get("borders_held", 0)),
            p_value_clouds=math.nan if clouds is None else float(clouds),
            reason=str(content["reason"]),
            alternatives=tuple(int(k) for k in content["alternatives"]),
            doubts=tuple(str(doubt) for doubt in content["doubts"]),
            k=np.array(ks, dtype=np.int64),
            table=table,
            null=null,
            labels=self._partitions(command, ks, n_samples),
            settings=dict(content["settings"]),
            distribution={
                k: (_floats(curves[str(k)]["share"]), _floats(curves[str(k)]["pairs_up_to"]))
                for k in ks
                if str(k) in curves
            },
        )

    def _partitions(
        self, command: str, ks: list[int], n_samples: int
    ) -> dict[int, NDArray[np.int64]]:
        if command != "select" and not (self.path / "partitions.csv").exists():
            return {}
        header, rows = self._table("partitions.csv")
        if header[1:] != [f"k{k}" for k in ks] or len(rows) != n_samples:
            self.damaged("partitions.csv")
        return {
            k: np.array(self._numbers("partitions.csv", rows, at + 1, int), dtype=np.int64)
            for at, k in enumerate(ks)
        }

    def features(self, n_clusters: int) -> Features | None:
        """Return the features that tell the clusters apart, where points were clustered."""
        if not (self.path / "features.csv").exists():
            return None
        header, rows = self._table("features.csv")
        if header != _FEATURES or len(rows) % n_clusters:
            self.damaged("features.csv")
        values = [self._numbers("features.csv", rows, at, _number) for at in range(2, 6)]
        columns = [np.array(column).reshape(-1, n_clusters).T for column in values]
        listed = [[unguarded(row[at]) for at in (0, 6)] for row in rows[::n_clusters]]
        # Rows of numbers come first; a category is never empty.
        d = sum(not category for _, category in listed)
        if any(not category for _, category in listed[d:]):
            self.damaged("features.csv")
        means = ClusterFeatures(*(column[:, :d] for column in columns))
        names = tuple(name for name, _ in listed[:d])
        if d == len(listed):
            return Features(names, means)
        owners = list(dict.fromkeys(name for name, _ in listed[d:]))
        shares = ClusterCategories(
            np.array([owners.index(name) for name, _ in listed[d:]], dtype=np.int64),
            tuple(category for _, category in listed[d:]),
            ClusterFeatures(*(column[:, d:] for column in columns)),
        )
        return Features(names, means, tuple(owners), shares)

    def gaps(self, n_clusters: int) -> ClusterGaps | None:
        """Return which clusters have gaps between them, if points were clustered."""
        content = self.content.get("gaps")
        if content is None:
            return None
        dips, p_values = _floats(content["dip"]), _floats(content["p_value"])
        neighbours = np.array(
            content.get("neighbours", ~np.eye(n_clusters, dtype=np.bool_)), dtype=np.bool_
        )
        if not dips.shape == p_values.shape == neighbours.shape == (n_clusters, n_clusters):
            self.damaged("result.json")
        splits, draws = int(content["splits"]), int(content["draws"])
        return ClusterGaps(dips, p_values, splits, draws, neighbours)

    def borders(self, n_clusters: int) -> Borders | None:
        """Return which borders hold, where they were tested."""
        content = self.content.get("borders")
        if content is None:
            return None
        found = read_borders(content, *self._table("borders.csv"), n_clusters)
        return self.damaged("borders.csv") if found is None else found

    def _table(self, name: str) -> tuple[list[str], list[list[str]]]:
        with self._rows(name) as (header, rows):
            return header, list(rows)

    @contextmanager
    def _rows(self, name: str) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
        """Open a table; give its header and its rows, which are read one by one and as long as the header."""
        before = csv.field_size_limit(1 << 24)
        try:
            with open_regular(self.file(name)) as file:
                lines = csv.reader(
                    io.TextIOWrapper(file, encoding="utf-8", newline=""), strict=True
                )
                header = next(lines)
                yield (
                    header,
                    (row if len(row) == len(header) else self.damaged(name) for row in lines),
                )
        except (csv.Error, UnicodeDecodeError, StopIteration):
            self.damaged(name)
        finally:
            csv.field_size_limit(before)

    def _numbers(
        self, name: str, rows: list[list[str]], column: int, kind: Callable[[str], Any]
    ) -> list[Any]:
        try:
            return [kind(row[column]) for row in rows]
        except (ValueError, OverflowError):
            self.damaged(name)


def _number(text: str) -> float:
    return float(text) if text else math.nan


def _canonical(labels: NDArray[np.int64]) -> bool:
    held = labels[labels >= 0]
    return bool(np.array_equal(canonical_labels(held), held))


def _floats(values: Any) -> NDArray[np.float64]:
    """Return numbers of JSON as an array; null is NaN."""
    return np.array(values, dtype=np.float64)


def _method(folder: Folder) -> Method | None:
    name = str(folder.get("settings", "method"))
    method = method_named(name)
    if method is None:
        raise InputError(
            f"{folder.path} was made by the method {name!r}, which this version of conclust does not have. "
            "Report it with the version that made it."
        )
    return method


def _record(folder: Folder, command: str, method: Method | None) -> Record:
    settings = dict(folder.get("settings"))
    consensus = settings.get("consensus")
    asked = consensus.get("n_clusters") if isinstance(consensus, dict) else None
    chosen = folder.content.get("selection")
    if chosen is not None:  # told to the method by it
        asked, settings["selection"] = None, chosen["settings"]
    source = folder.get("input")
    points = command != "combine"
    return Record(
        command=command,
        method=method,
        source=str(source.get("file", "")),
        features=len(source.get("columns", ())) if points else None,
        categories=tuple(map(str, source.get("categories", ()))) if points else (),
        category_weight=settings.get("category_weight"),
        filling=_filling(settings.get("impute"), source) if points else None,
        asked_for=asked if isinstance(asked, int) else None,
        call=_call(folder, command),
        settings={"seed": folder.content.get("seed"), **settings},
        supports=tuple(
            Support(int(s["n_clusters"]), *(float(s[name]) for name in _SUPPORT))
            for s in folder.content.get("supports", ())
        ),
        reason=folder.content.get("reason"),
        number_by=folder.content.get("number_by"),
        by_chance=folder.content.get("mean_confidence_by_chance"),
        scores=folder.content.get("agreement_with_known_classes"),
        seconds=dict(folder.get("seconds")),
        versions={str(k): str(v) for k, v in folder.get("versions").items()},
        warnings=tuple(map(str, folder.content.get("warnings", ()))),
    )


def _filling(how: Any, source: dict[str, Any]) -> Filling | None:
    """Return which columns had empty cells that were filled."""
    gaps = [
        (str(name), int(number))
        for name, number in zip(source["columns"], source.get("filled", ()), strict=False)
        if number > 0
    ]
    return Filling(how, tuple(gaps)) if gaps and how in IMPUTED else None


_SUPPORT = ("lifetime", "straddling", "evenness", "support")


def _call(folder: Folder, command: str) -> str:
    """Return the command line, as far as it is recorded."""
    arguments = folder.content.get("arguments")
    if isinstance(arguments, list):
        return shlex.join(["conclust", *map(str, arguments)])
    return f"conclust {command} {shlex.quote(str(folder.get('input').get('file', '')))}"
