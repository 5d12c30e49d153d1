"""Formats of input files: their names, how a file is recognised, and their readers.

A new format is a file with its reader, and an entry of ``FORMATS``: help, refusals and the reading of points,
labels, weights and draws follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["FORMATS", "INPUTS", "WEIGHTS", "Format"]


def _read_npy(path: Path, name: str, mmap: bool) -> Any:
    from conclust._files.storage import read_npy

    return {name: read_npy(path, mmap=mmap)}


def _read_npz(path: Path, name: str, mmap: bool) -> Any:
    from conclust._files.storage import read_npz

    return read_npz(path)[0]


def _read_mat(path: Path, name: str, mmap: bool) -> Any:
    from conclust.cli.reading.matfile import read_mat

    return read_mat(path)


def _read_parquet(path: Path, name: str, mmap: bool) -> Any:
    from conclust.cli.reading.parquetfile import read_parquet

    return read_parquet(path, name)


@dataclass(frozen=True)
class Format:
    """A format of input files.

    Attributes
    ----------
    kind, title : str
        Its name in code, and in help and messages.
    endings : tuple of str
        Endings of the names of its files.
    holds : {"text", "frame", "array", "arrays"}
        Content: lines of text, a table of Arrow, one array, or arrays with names.
    beginning : bytes, default=b""
        First bytes of a file, by which standard input is recognised. Empty: text.
    read : callable, default=None
        Reader of a file, called with its path, its name in messages and whether arrays may be mapped from the file;
        returns a table of Arrow, or a dict of arrays. None: read line by line.
    hint : str, default=""
        Text that follows the title in help.
    """

    kind: str
    title: str
    endings: tuple[str, ...]
    holds: Literal["text", "frame", "array", "arrays"]
    beginning: bytes = b""
    read: Callable[[Path, str, bool], Any] | None = None
    hint: str = ""

    @property
    def has_columns(self) -> bool:
        """Whether it is a table, whose columns may have names."""
        return self.holds in ("text", "frame")


FORMATS = {
    one.kind: one
    for one in (
        Format(
            "csv",
            "CSV",
            (".csv", ".tsv", ".txt"),
            "text",
            hint=" (comma, semicolon or tab; UTF-8; .gz and .bz2 too)",
        ),
        Format("npy", "NPY", (".npy",), "array", b"\x93NUMPY", _read_npy),
        Format("npz", "NPZ", (".npz",), "arrays", b"PK", _read_npz),
        Format("mat", "MAT", (".mat",), "arrays", b"MATLAB", _read_mat),
        Format("parquet", "Parquet", (".parquet", ".pq"), "frame", b"PAR1", _read_parquet),
    )
}


def _listed(titles: list[str]) -> str:
    return f"{', '.join(titles[:-1])} or {titles[-1]}"


INPUTS = _listed([one.title + one.hint for one in FORMATS.values()]) + "; - for standard input"
WEIGHTS = _listed([one.title for one in FORMATS.values() if one.holds != "frame"])
"""Formats of weights."""
