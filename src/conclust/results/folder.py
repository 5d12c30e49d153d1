"""A result folder of ``conclust cluster``, ``combine`` or ``select``, read back: complete, or refused."""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from conclust._files.spreadsheets import unguarded
from conclust._files.storage import open_regular, read_json
from conclust._types import Floats, Ints
from conclust.confidence import ClusterGaps
from conclust.confidence.reading import Judged
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import ConclustError, FileFormatError, InputError
from conclust.results.borders import Borders, read_borders
from conclust.results.entries import check_format, checked_entries
from conclust.results.features import Features, read_features, read_gaps
from conclust.results.record import Record, read_record
from conclust.results.result import Reported
from conclust.results.selections import StoredSelection, read_selection

_COMMANDS = ("cluster", "combine", "select")


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
    command = folder.reported_command()
    ids, labels = folder.labels()
    chosen = folder.selection(command, len(labels))
    record = folder.record()
    method, n_clusters = record.method, int(labels.max()) + 1
    if record.n_clusters != n_clusters:
        folder.damaged("labels.csv")
    judged = None
    if command != "select" or n_clusters > 1:
        members = Ensemble.load(folder.file("ensemble.npz"))
        if members.n_samples != len(labels):
            folder.damaged("ensemble.npz")
        shares = folder.memberships(labels) if method is not None and method.membership else None
        judged = Judged(labels, members, shares)
    return Reported(
        labels,
        record,
        judged,
        chosen,
        names=ids,
        features=folder.features(n_clusters),
        gaps=folder.gaps(n_clusters),
        borders=folder.borders(n_clusters),
        kept=folder.kept(),
    )


class Folder:
    """The files of a result folder, and the content of result.json."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir():
            what = "is a file" if path.exists() else "does not exist"
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

    @property
    def command(self) -> Any:
        """The command that wrote the folder."""
        return self.content.get("command")

    def check_format(self) -> None:
        """Refuse a folder that another version of conclust wrote, in another format."""
        check_format(self.content, self.path)

    def reported_command(self) -> str:
        """Return the command that wrote the folder; refuse a command without a report."""
        command = self.command
        if command not in _COMMANDS:
            raise InputError(
                f"{self.path} is not a result that can be reported"
                + (f", but the result of 'conclust {command}'" if isinstance(command, str) else "")
                + ". Give the folder of 'conclust cluster', 'combine' or 'select'."
            )
        self.check_format()
        return str(command)

    def record(self) -> Record:
        """Return the record of the run."""
        return read_record(self.content, self.path / "result.json")

    def file(self, name: str) -> Path:
        """Return the path of a required file."""
        required = self.path / name
        if not required.exists():
            raise InputError(
                f"{self.path} lacks {name}: the result is incomplete, or of another version of conclust. "
                "Make it again."
            )
        return required

    def damaged(self, name: str) -> NoReturn:
        """Refuse a file that does not fit the others."""
        raise FileFormatError(
            f"{self.path / name} does not fit the other files of the result: it was changed or damaged. "
            "Make the result again."
        )

    def labels(self) -> tuple[list[str] | None, Ints]:
        """Return the names of the objects (None if they are numbered from 0) and the labels."""
        numbered = self._numbered()
        if numbered is not None:
            return None, numbered
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
        if not _are_labels(labels):
            self.damaged("labels.csv")
        if header[0] == "object" and all(map(str.__eq__, ids, map(str, range(len(ids))))):
            return None, labels
        return [unguarded(name) for name in ids], labels

    def kept(self) -> Floats | None:
        """Return the probability that the pairs of each object hold in a fresh sample, or None."""
        with self._rows("labels.csv") as (header, rows):
            if header[3:] != ["kept"]:
                return None
            try:
                return np.array([float(row[3] or "nan") for row in rows])
            except ValueError:
                self.damaged("labels.csv")

    def _numbered(self) -> Ints | None:
        """Return the labels of objects that are numbers from 0, or None: then the rows are read one by one."""
        with open_regular(self.file("labels.csv")) as file:
            content = file.read()
        header = content[: content.find(b"\n")].rstrip(b"\r").split(b",")
        # What the reader of rows refuses, a quote that is not closed or an empty line, is left to it.
        n_rows = content.count(b"\n") - 1
        if header[:2] != [b"object", b"label"] or b'"' in content or n_rows < 1:
            return None
        others = [(str(at), "S1") for at in range(2, len(header))]
        row = np.dtype([("object", "S10"), ("label", np.int64), *others])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DeprecationWarning)  # of 1.0, which is not an int
                rows = np.loadtxt(
                    io.BytesIO(content),
                    row,
                    delimiter=",",
                    skiprows=1,
                    comments=None,
                    ndmin=1,
                    encoding="utf-8",
                )
        except (ValueError, OverflowError, DeprecationWarning):
            return None
        labels = np.ascontiguousarray(rows["label"])
        if len(rows) != n_rows or not np.array_equal(rows["object"], _numerals(n_rows)):
            return None
        return labels if _are_labels(labels) else None

    def memberships(self, labels: Ints) -> Floats:
        """Return the memberships, with rows rescaled to sum to 1, because they are written with nine decimals."""
        with self._rows("memberships.csv") as (header, _):
            width = len(header) - 1
        if width <= labels.max():
            self.damaged("memberships.csv")
        # Names are not stored; a row of another length is an error.
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
        shares: Floats = np.array(rows["shares"])
        if len(shares) != len(labels) or not np.isfinite(shares).all() or shares.min() < 0:
            self.damaged("memberships.csv")
        total = shares.sum(axis=1, keepdims=True)
        if total.min() < 0.5:
            self.damaged("memberships.csv")
        shares /= total
        return shares

    def selection(self, command: str, n_samples: int) -> StoredSelection | None:
        """Return how the number of clusters was chosen, if it is recorded."""
        entries = self.content if command == "select" else self.content.get("selection")
        if entries is None:
            return None
        labels = self._partitions(command, [int(k) for k in entries["k"]], n_samples)
        stored = read_selection(entries, labels)
        return self.damaged("result.json") if stored is None else stored

    def _partitions(self, command: str, ks: list[int], n_samples: int) -> dict[int, Ints]:
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
        """Return the features that distinguish the clusters, if points were clustered."""
        if not (self.path / "features.csv").exists():
            return None
        try:
            stored = read_features(*self._table("features.csv"), n_clusters)
        except (ValueError, OverflowError):
            stored = None
        return self.damaged("features.csv") if stored is None else stored

    def gaps(self, n_clusters: int) -> ClusterGaps | None:
        """Return which clusters have gaps between them, if points were clustered."""
        entries = self.content.get("gaps")
        if entries is None:
            return None
        stored = read_gaps(entries, n_clusters)
        return self.damaged("result.json") if stored is None else stored

    def borders(self, n_clusters: int) -> Borders | None:
        """Return which borders hold, if they were tested."""
        content = self.content.get("borders")
        if content is None:
            return None
        stored = read_borders(content, *self._table("borders.csv"), n_clusters)
        return self.damaged("borders.csv") if stored is None else stored

    def _table(self, name: str) -> tuple[list[str], list[list[str]]]:
        with self._rows(name) as (header, rows):
            return header, list(rows)

    @contextmanager
    def _rows(self, name: str) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
        """Open a table; yield its header and an iterator of rows, which must be as long as the header."""
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


def _numerals(n: int) -> NDArray[np.bytes_]:
    """Return the numbers from 0 to n - 1 as text of at most ten digits."""
    text = np.zeros((n, 10), dtype=np.uint8)
    for digits in range(1, len(str(n)) + 1):
        part = slice(0 if digits == 1 else 10 ** (digits - 1), 10**digits)
        values = np.arange(n)[part]
        for at in range(digits - 1, -1, -1):
            values, last = np.divmod(values, 10)
            text[part, at] = last + ord("0")
    return text.view("S10").ravel()


def _are_labels(labels: Ints) -> bool:
    """Return whether these are labels of a consensus: clusters are numbered by first appearance."""
    in_cluster = labels[labels >= 0]
    return bool(in_cluster.size) and bool(np.array_equal(canonical_labels(in_cluster), in_cluster))
