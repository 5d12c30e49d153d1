"""Sources of labels: anything whose rows can be read a range at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conclust._files.formats import FORMATS, IN_BLOCKS
from conclust._files.parquetfile import index_columns
from conclust.ensemble.columns import is_arrow_text, label_array, stacked, stay_exact
from conclust.exceptions import ConclustError, FileFormatError, InputError

_LONGEST = 300  # characters of another library's message


class Source(Protocol):
    """A label matrix that is read some rows at a time. It can be sent to another process."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_partitions)."""

    def rows(self, begin: int, end: int) -> Any:
        """Return the labels of the objects from `begin` to before `end`."""


def open_source(labels: Any, columns: list[str] | None = None) -> Source:
    """Return the source of labels in a file, a folder, or an array that can be sliced.

    Parameters
    ----------
    labels : path-like or array
        An NPY file, a Zarr array, a Parquet file or a folder of them; an array with rows to slice: of
        NumPy, Zarr, HDF5, Dask.
    columns : list of str, default=None
        Columns to read from Parquet files and data frames. None: all.

    Raises
    ------
    InputError
        If it is not one of these.
    """
    if isinstance(labels, str | Path):
        return _open_path(Path(labels), columns)
    if type(labels).__module__.split(".")[0] in ("dask", "dask_expr"):
        return DaskLabels.of(labels, columns)
    if columns is not None:
        raise InputError("Columns can be chosen in Parquet files and data frames only.")
    if len(getattr(labels, "shape", ())) == 2 and hasattr(labels, "__getitem__"):
        return ArrayRows(labels)
    raise InputError(
        f"Labels to be read in blocks must be in {IN_BLOCKS}, or a two-dimensional array of NumPy, Zarr, HDF5 "
        f"or Dask. Got {type(labels).__name__} instead."
    )


def _open_path(path: Path, columns: list[str] | None) -> Source:
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    for form in FORMATS.values():
        if form.rows is None:
            continue
        if form.holds == "frame":
            parts = sorted(
                (file for end in form.endings[:1] for file in path.glob("*" + end)), key=_in_order
            )
            if path.suffix.lower() in form.endings and not path.is_dir():
                parts = [path]
            if parts:
                return FrameFiles.of(parts, columns, form.rows)
        elif path.suffix.lower() in form.endings and columns is None:
            return Reopened.of(path, form.rows)
    raise InputError(f"Labels to be read in blocks must be in {IN_BLOCKS}. Got {path} instead.")


def _in_order(path: Path) -> list[Any]:
    """Return the order of a part: Dask writes part.2 before part.10."""
    texts = re.split(r"(\d+)", path.name)
    return [*(int(text) if i % 2 else text for i, text in enumerate(texts)), path.name]


@dataclass(frozen=True)
class ArrayRows:
    """The rows of an array, of NumPy, Zarr or HDF5, or of a frame."""

    array: Any

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_partitions)."""
        n, m = self.array.shape
        return int(n), int(m)

    def rows(self, begin: int, end: int) -> Any:
        """Return the labels of the objects from `begin` to before `end`."""
        # A frame of pandas whose index is of floats is sliced by the index otherwise.
        some = getattr(self.array, "iloc", self.array)[begin:end]
        return some if hasattr(some, "columns") else _with_mask(some)


def _with_mask(array: Any) -> NDArray[Any]:
    """Return an array of NumPy; masked cells stay masked, as they are missing labels."""
    return array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)


@dataclass(frozen=True)
class Reopened:
    """An array in a file, that every process opens for itself.

    Attributes
    ----------
    path : path-like
        The file, or the folder.
    shape : tuple of int
        (n_samples, n_partitions).
    opens : callable
        Opens it.
    """

    path: Path
    shape: tuple[int, int]
    opens: Callable[[Path], Any]

    @classmethod
    def of(cls, path: Path, opens: Callable[[Path], Any]) -> Reopened:
        """Open a file to see its shape."""
        with _reading(path):
            shape = opens(path).shape
        if len(shape) != 2:
            raise InputError(
                f"Expected a 2D array of labels (n_samples, n_partitions) in {path}, got {len(shape)}D: "
                f"shape {shape}."
            )
        return cls(path.resolve(), (int(shape[0]), int(shape[1])), opens)

    def rows(self, begin: int, end: int) -> NDArray[Any]:
        """Return the labels of the objects from `begin` to before `end`."""
        # Opened again, because pages read from a mapped file count as memory until it is closed.
        with _reading(self.path):
            return np.asarray(self.opens(self.path)[begin:end])


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Refuse a damaged file with an error of this library: readers of Zarr and Parquet raise errors of many types."""
    try:
        yield
    except (ConclustError, MemoryError):
        raise
    except Exception as error:
        # An error of the disk, not in the content.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        message = " ".join(str(error).split())[:_LONGEST] or type(error).__name__
        raise FileFormatError(
            f"{path} is damaged, or does not have the format of its suffix ({message})."
        ) from error


@dataclass(frozen=True)
class FrameFiles:
    """Tables in files with row groups (Parquet), one after the other; every column is a partition.

    Attributes
    ----------
    opens : callable
        Opens a file.
    groups : tuple of (path, row group, first object)
        Pieces of the files that are read at once.
    columns : tuple of str
        The partitions.
    shape : tuple of int
        (n_samples, n_partitions).
    """

    opens: Callable[[Path], Any]
    groups: tuple[tuple[Path, int, int], ...]
    columns: tuple[str, ...]
    shape: tuple[int, int]

    @classmethod
    def of(
        cls, parts: list[Path], columns: list[str] | None, opens: Callable[[Path], Any]
    ) -> FrameFiles:
        """Read the sizes of the pieces."""
        groups, n = [], 0
        for part in parts:
            with _reading(part):
                file = opens(part)
                index = index_columns(file.schema_arrow)
            column_names = [name for name in file.schema_arrow.names if name not in index]
            if columns is None:
                columns = column_names
            lacking = [name for name in columns if name not in column_names]
            if lacking:
                raise InputError(f"{part} has no column {lacking[0]!r}. It has {column_names}.")
            for group in range(file.metadata.num_row_groups):
                groups.append((part.resolve(), group, n))
                n += file.metadata.row_group(group).num_rows
        chosen = tuple(columns or ())
        return cls(opens, tuple(groups), chosen, (n, len(chosen)))

    def rows(self, begin: int, end: int) -> Any:
        """Return the labels of the objects from `begin` to before `end`; with text, as a table of Arrow."""
        ends = [first for _, _, first in self.groups[1:]] + [self.shape[0]]
        pieces = []
        for (path, group, first), last in zip(self.groups, ends, strict=True):
            if first < end and last > begin:
                with _reading(path):
                    table = self.opens(path).read_row_group(group, columns=list(self.columns))
                pieces.append(
                    table.slice(max(0, begin - first), min(end, last) - max(begin, first))
                )
        with _reading(self.groups[0][0]):
            if len(pieces) == 1 and any(map(is_arrow_text, pieces[0].schema.types)):
                return pieces[0].select(list(self.columns))
            read = [
                [label_array(piece.column(name), name) for name in self.columns] for piece in pieces
            ]
        return stacked([_joined(same) for same in zip(*read, strict=True)])

    def head(self) -> Any:
        """Return the first row group as a table of Arrow."""
        path, group, _ = self.groups[0]
        with _reading(path):
            return self.opens(path).read_row_group(group, columns=list(self.columns))


def _joined(pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the pieces of a column; integers that floats do not hold stay as they are."""
    if stay_exact(pieces):
        return np.concatenate(pieces)
    return np.concatenate([piece.astype(object) for piece in pieces])


@dataclass(frozen=True)
class DaskLabels:
    """A Dask array, in chunks of any number of rows."""

    array: Any

    @classmethod
    def of(cls, labels: Any, columns: list[str] | None) -> DaskLabels:
        """Return an array or a data frame; the sizes of its partitions are counted."""
        if hasattr(labels, "columns"):
            frame = labels[columns] if columns is not None else labels
            # Categories become their values.
            labels = frame.astype(object).to_dask_array(lengths=True)
        elif columns is not None:
            raise InputError("Columns can be chosen in Parquet files and data frames only.")
        if labels.ndim != 2 or np.isnan(labels.shape[0]):
            raise InputError(
                "An array of labels in blocks must be two-dimensional, (n_samples, n_partitions), with "
                f"chunks of known sizes. Got shape {labels.shape}: x.compute_chunk_sizes() finds them."
            )
        return cls(labels)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_partitions)."""
        n, m = self.array.shape
        return int(n), int(m)

    def rows(self, begin: int, end: int) -> NDArray[Any]:
        """Return the labels of the objects from `begin` to before `end`."""
        return _with_mask(self.array[begin:end].compute(scheduler="synchronous"))
