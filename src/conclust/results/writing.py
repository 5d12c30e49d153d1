"""Writes the result folder: all of its files or none, with formulas escaped for spreadsheets."""

from __future__ import annotations

import csv
import io
import os
import platform
import secrets
import shutil
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from conclust._files.formats import RESULT_FILES, TABLE
from conclust._files.spreadsheets import guard_text
from conclust._files.storage import atomic_write, sync_folder
from conclust._types import Floats, Ints
from conclust.exceptions import OutputExistsError

_CHUNK = 50_000
# csv quotes a field with a character of the end of its lines: here those at which other readers begin a cell or a line.
_QUOTED = "\r;\t\n"


class OutputFolder:
    """A context manager for a folder whose files all appear at the end.

    On entry a hidden folder is made where the files will go, which shows at once whether writing
    is possible. Files are written there. When the block ends well they are moved to their places;
    when it does not, or is interrupted, nothing is left and nothing has changed. The hidden folder of a
    process that was killed is removed by the next one on the same machine. If several processes write to one folder,
    its files are those of one of them.

    Parameters
    ----------
    path : Path
        The folder; created, with its parents, if it does not exist.
    force : bool, default=False
        Whether a folder that is not empty may be used. Our own files in it are replaced (files of
        `names` that the new result lacks are removed); other files stay.
    names : sequence of str, default=RESULT_FILES
        The files that this kind of folder can have; the last one seals it.

    Raises
    ------
    OutputExistsError
        The folder is not empty and `force` is false, on exit if another process has written a result there; or
        the path is a file.
    OSError
        The folder cannot be written.
    """

    def __init__(
        self, path: Path, *, force: bool = False, names: Sequence[str] = RESULT_FILES
    ) -> None:
        self.path = path
        self._force = force
        self._names = names
        self._made: list[Path] = []
        self._held = ExitStack()

    def __enter__(self) -> Self:
        if self.path.is_symlink() and not self.path.exists():
            raise OutputExistsError(
                f"{self.path} is a broken link. Remove it, or give --out another folder."
            )
        if self.path.exists() and not self.path.is_dir():
            raise OutputExistsError(f"{self.path} is a file. Give --out the name of a folder.")
        _sweep(self.path if self.path.is_dir() else self.path.parent)
        if self.path.is_dir() and not self._force and any(self.path.iterdir()):
            raise OutputExistsError(
                f"The folder {self.path} is not empty. Choose another with --out, or give --force "
                "to replace the results in it."
            )
        blocked = [name for name in self._names if (self.path / name).is_dir()]
        if blocked:
            raise OutputExistsError(f"{self.path / blocked[0]} is a folder where a file will be.")
        missing = [folder for folder in self.path.parents if not folder.exists()]
        self._temporary = self.path.parent / f".conclust-{machine()}-{secrets.token_hex(8)}.new"
        try:
            for folder in reversed(missing):
                with suppress(FileExistsError):  # another process has made it
                    folder.mkdir()
                    self._made.append(folder)
            if self.path.is_dir():  # it may be a mount point
                self._temporary = self.path / self._temporary.name
            self._temporary.mkdir()
            self._held.enter_context(locked_folder(self._temporary))
            # Only now does it have a name by which `_sweep` finds it.
            self._temporary = self._temporary.rename(self._temporary.with_suffix(".tmp"))
        except BaseException as error:  # also Ctrl-C
            self._remove()
            if isinstance(error, OSError):
                error.filename = str(self.path)  # the path given by the user
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._publish()
                self._made.clear()
        finally:
            self._remove()
        if isinstance(error, OSError) and str(error.filename).startswith(str(self._temporary)):
            error.filename = str(self.path)  # the path given by the user

    def file(self, name: str) -> Path:
        """Return the temporary path of the file `name`."""
        if name not in self._names:
            raise ValueError(f"{name!r} is not a file of this folder.")
        return self._temporary / name

    def _publish(self) -> None:
        if not self.path.is_dir() and self._renamed():
            sync_folder(self.path.parent)
            return
        with locked_folder(self.path):
            if not self._force and any((self.path / name).exists() for name in self._names):
                raise OutputExistsError(
                    f"The folder {self.path} holds the result of another process, which ended first. Choose another "
                    "folder with --out, or give --force to replace the results in it."
                )
            # The seal is removed first and written last, so that a folder with a seal is always consistent.
            (self.path / self._names[-1]).unlink(missing_ok=True)
            for name in self._names:
                written = self._temporary / name
                if written.exists():
                    written.replace(self.path / name)
                else:
                    (self.path / name).unlink(missing_ok=True)
            sync_folder(self.path)

    def _renamed(self) -> bool:
        """Make the temporary folder the result, unless another process has made a folder of this name."""
        try:
            self._temporary.rename(self.path)
        except OSError:
            if not self.path.is_dir():
                raise
            return False
        return True

    def _remove(self) -> None:
        """Remove the temporary folder, and folders that were made for it and are empty."""
        self._held.close()
        shutil.rmtree(self._temporary, ignore_errors=True)
        for folder in reversed(self._made):
            with suppress(OSError):  # not empty
                folder.rmdir()


def _sweep(folder: Path) -> None:
    """Remove temporary folders of processes of this machine that were killed."""
    for path in folder.glob(f".conclust-{machine()}-*.tmp"):
        if is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class LabelTable:
    """Names of the objects in the tables of a result.

    Parameters
    ----------
    ids : list of str or None, default=None
        Their names; None: numbers from 0.
    id_name : str, default="object"
        Header of the column of names.
    confidence : ndarray of shape (n_samples,), default=None
        Confidence of the label of each object.
    kept : ndarray of shape (n_samples,), default=None
        The probability that its pairs hold in a fresh sample.
    clusters : sequence or None, default=None
        The names of the clusters; None: numbers from 0.
    """

    ids: list[str] | None = None
    id_name: str = "object"
    confidence: Floats | None = None
    kept: Floats | None = None
    clusters: Sequence[Any] | None = None

    def named(self, n: int) -> dict[str, Sequence[Any]]:
        """Return the first column: the names of n objects."""
        names = range(n) if self.ids is None else [guard_text(text) for text in self.ids]
        return {guard_text(self.id_name): names}


def is_label_file(names: Sequence[str]) -> bool:
    """Return whether a table has the columns of a labels.csv written by conclust, with names first."""
    return tuple(names[1:]) in (
        ("label",),
        ("label", "confidence"),
        ("label", "confidence", "kept"),
    )


def is_table_name(path: Path) -> bool:
    """Return whether ``--out`` names a file for the labels, by its suffix, and not an existing folder."""
    return path.name.lower().endswith(TABLE) and not path.is_dir()


def write_labels(path: Path, labels: Ints, table: LabelTable) -> None:
    """Write a file of labels; the same labels give the same bytes."""
    atomic_write(path, lambda file: send_labels(file, labels, table))


def send_labels(file: BinaryIO, labels: Ints, table: LabelTable) -> None:
    """Write a line of CSV per object: its name (or number from 0), its label and confidence; none for one in no cluster."""
    if table.clusters is not None:
        names = [*map(guard_text, map(str, table.clusters)), -1]  # -1 is the last one
        labels = np.array(names, dtype=object)[labels]
    measured = {"confidence": table.confidence, "kept": table.kept}
    shares = {name: np.round(values, 6) for name, values in measured.items() if values is not None}
    _send(file, {**table.named(len(labels)), "label": labels, **shares})


def write_memberships(path: Path, membership: Floats, table: LabelTable) -> None:
    """Write one line per object: its name (or number from 0), its probability of each cluster."""
    clusters = range(membership.shape[1]) if table.clusters is None else table.clusters
    columns = {f"cluster_{clusters[k]}": of for k, of in enumerate(np.round(membership, 9).T)}
    write_numbers(path, table.named(len(membership)) | columns)


def write_partitions(path: Path, partitions: Mapping[int, Ints], table: LabelTable) -> None:
    """Write one line per object: its name (or number from 0), its label for each number of clusters."""
    names = table.named(len(next(iter(partitions.values()))))
    write_numbers(path, names | {f"k{k}": labels for k, labels in partitions.items()})


def write_numbers(path: Path, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
    """Write columns of numbers with a header; the first column may hold names, and NaN becomes an empty cell."""
    atomic_write(path, lambda file: _send(file, columns))


def _send(file: BinaryIO, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
    lines = SimpleNamespace(write=lambda line: text.write(line[: -len(_QUOTED)] + "\n"))
    n = len(next(iter(columns.values())))
    try:
        writer = csv.writer(lines, lineterminator=_QUOTED)
        writer.writerow(columns)
        for start in range(0, n, _CHUNK):
            cells = (_cells(values[start : start + _CHUNK]) for values in columns.values())
            writer.writerows(zip(*cells, strict=True))
        text.flush()
    finally:
        text.detach()


def _cells(values: Sequence[Any] | NDArray[Any]) -> Iterable[Any]:
    if not isinstance(values, np.ndarray):
        return values
    return ["" if cell != cell else cell for cell in values.tolist()]


if sys.platform != "win32":
    import fcntl


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold a folder, after waiting for other processes that hold it; the system releases it if the process dies.

    Without effect where there are no such locks: on Windows and on some network file systems.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):  # processes forked meanwhile have the descriptor, too
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def machine() -> str:
    """Return a short name of this machine, for folders that only its processes may take for abandoned."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def is_abandoned(folder: Path) -> bool:
    """Return whether no process of this machine holds a folder; False where that is unknown.

    Locks of other machines do not count on network file systems that are mounted with local locks.
    """
    if sys.platform == "win32":
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
